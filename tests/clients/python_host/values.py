"""Values of the contract as plain Python.

A record is a dict, in a reply an object with attributes; a variant is a tuple `(case, payload)` or `(case,)`, an enum a
string, an absent option `None`. Fields of records and commands are spelled with `_` in place of `-`. An option that is
left out of a record is `None`.
"""

from types import SimpleNamespace

from wasmtime import component as wasm


class Shape:
    """A type of the contract, and how its values are spelled for wasmtime and for people.

    wasmtime leaves the case of a variant out where the class of the payload tells it.
    """

    def __init__(self, of):
        self.fields = self.cases = self.element = None
        self.option = isinstance(of, wasm.OptionType)
        if isinstance(of, wasm.RecordType):
            self.fields = {name: Shape(field) for name, field in of.fields}
        elif isinstance(of, wasm.ListType) and not isinstance(of.element, wasm.U8):
            self.element = Shape(of.element)
        elif isinstance(of, wasm.OptionType):
            self.element = Shape(of.payload)
        elif isinstance(of, (wasm.VariantType, wasm.ResultType)):
            cases = of.cases if isinstance(of, wasm.VariantType) else [("ok", of.ok), ("err", of.err)]
            self.cases = {name: Shape(payload) if payload is not None else None for name, payload in cases}
            self.classes = {}
            for name, payload in cases:
                found = set()
                payload.add_classes(found) if payload is not None else found.add(type(None))
                self.classes[name] = tuple(found)
            every = [one if one is not type(None) else object for found in self.classes.values() for one in found]
            self.tagged = len(set(every)) < len(every)

    def lower(self, value):
        if self.fields is not None:
            value = vars(value) if isinstance(value, SimpleNamespace) else value
            unknown = {key.replace("_", "-") for key in value} - set(self.fields)
            if unknown:
                raise TypeError(f"no such fields: {unknown}; there are {set(self.fields)}")
            record = wasm.Record()
            for name, shape in self.fields.items():
                setattr(record, name, shape.lower(value.get(name.replace("-", "_"))))
            return record
        if self.option:
            return None if value is None else self.element.lower(value)
        if self.element is not None:
            return [self.element.lower(one) for one in value]
        if self.cases is not None:
            name = value[0].replace("_", "-")
            payload = self.cases[name].lower(value[1]) if self.cases[name] is not None else None
            return wasm.Variant(name, payload) if self.tagged else payload
        return value

    def lift(self, value):
        if self.fields is not None:
            fields = self.fields.items()
            return SimpleNamespace(**{name.replace("-", "_"): of.lift(getattr(value, name)) for name, of in fields})
        if self.option:
            return None if value is None else self.element.lift(value)
        if self.element is not None:
            return [self.element.lift(one) for one in value]
        if self.cases is not None:
            if self.tagged:
                name, value = value.tag, value.payload
            else:
                name = next(case for case, classes in self.classes.items() if isinstance(value, classes))
            return (name, self.cases[name].lift(value)) if self.cases[name] is not None else (name,)
        return value

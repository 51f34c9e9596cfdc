//! The names of `wit/`, held against the reserved words of the languages that hosts are written in.
//!
//! A bindings generator has to change a name that its language reserves, and each one does so differently: `from_`,
//! `` `from` ``, `@from`, `%from`. So no name of the package is a reserved word of any of these languages.
//!
//! Names are compared as they are in lower camel case and in snake case: so bindings have fields, functions and
//! parameters. Bindings in Swift have cases in lower camel case, and bindings in JavaScript have them as they are in
//! `wit/`; those in Python, Go, C# and Kotlin begin them with a capital or write them in capitals, where nothing is
//! reserved. Cases are held against all six lists all the same, so that a generator may do as it likes. Types are also
//! compared in upper camel case, in which Python reserves `None` and Swift `Self`.

use wit_parser::{FunctionKind, Resolve, TypeDefKind};

use super::wit::{camel, contract, snake};

/// The reserved words of one language, and where it lists them.
struct Language {
    name: &'static str,
    source: &'static str,
    reserved: &'static str,
}

const LANGUAGES: [Language; 7] = [
    Language {
        name: "WIT",
        source: "Component Model, WIT.md, keywords and built-in types, which `%` escapes",
        reserved: "as async bool borrow char constructor enum error-context export f32 f64 flags from func future import \
                   include interface list map option own package record resource result s16 s32 s64 s8 static stream \
                   string tuple type u16 u32 u64 u8 use variant with world",
    },
    Language {
        name: "JavaScript",
        source: "ECMA-262, 12.7.2 Keywords and Reserved Words, those of strict mode included, and 13.1.1",
        reserved: "arguments await break case catch class const continue debugger default delete do else enum eval export \
                   extends false finally for function if implements import in instanceof interface let new null package \
                   private protected public return static super switch this throw true try typeof var void while with \
                   yield",
    },
    Language {
        name: "Python",
        source: "The Python Language Reference, 2.3.1 Keywords",
        reserved: "False None True and as assert async await break class continue def del elif else except finally for \
                   from global if import in is lambda nonlocal not or pass raise return try while with yield",
    },
    Language {
        name: "Go",
        source: "The Go Programming Language Specification, Keywords",
        reserved: "break case chan const continue default defer else fallthrough for func go goto if import interface map \
                   package range return select struct switch type var",
    },
    Language {
        name: "Swift",
        source: "swift-syntax, Keyword.swift, the keywords that the lexer classifies: the others are names elsewhere",
        reserved: "Any Self as associatedtype break case catch class continue default defer deinit do else enum extension \
                   fallthrough false fileprivate for func guard if import in init inout internal is let nil operator \
                   precedencegroup private protocol public repeat rethrows return self static struct subscript super \
                   switch throw throws true try typealias var where while",
    },
    Language {
        name: "C#",
        source: "C# language specification, 6.4.4 Keywords",
        reserved: "abstract as base bool break byte case catch char checked class const continue decimal default delegate \
                   do double else enum event explicit extern false finally fixed float for foreach goto if implicit in \
                   int interface internal is lock long namespace new null object operator out override params private \
                   protected public readonly ref return sbyte sealed short sizeof stackalloc static string struct switch \
                   this throw true try typeof uint ulong unchecked unsafe ushort using virtual void volatile while",
    },
    Language {
        name: "Kotlin",
        source: "Kotlin documentation, Keywords and operators, hard keywords",
        reserved: "as break class continue do else false for fun if in interface is null object package return super this \
                   throw true try typealias typeof val var when while",
    },
];

/// A name of the package, with its place.
struct Name {
    text: String,
    place: String,
    is_type: bool,
}

fn names(contract: &Resolve) -> Vec<Name> {
    let mut names = Vec::new();
    let mut add = |text: &str, place: &str, is_type: bool| {
        names.push(Name { text: text.into(), place: place.into(), is_type });
    };
    for (_, interface) in &contract.interfaces {
        let own = interface.name.as_deref().expect("every interface has a name");
        add(own, "an interface", false);
        for (name, id) in &interface.types {
            add(name, &format!("a type of {own}"), true);
            let place = format!("{own}.{name}");
            match &contract.types[*id].kind {
                TypeDefKind::Record(record) => record.fields.iter().for_each(|field| add(&field.name, &place, false)),
                TypeDefKind::Enum(cases) => cases.cases.iter().for_each(|case| add(&case.name, &place, false)),
                TypeDefKind::Variant(cases) => cases.cases.iter().for_each(|case| add(&case.name, &place, false)),
                TypeDefKind::Flags(flags) => flags.flags.iter().for_each(|flag| add(&flag.name, &place, false)),
                _ => {}
            }
        }
        for function in interface.functions.values() {
            let name = function.item_name();
            add(name, &format!("a function of {own}"), false);
            let is_method = matches!(function.kind, FunctionKind::Method(_) | FunctionKind::AsyncMethod(_));
            // The first parameter of a method is the resource, which `wit/` does not name.
            for parameter in function.params.iter().skip(usize::from(is_method)) {
                add(&parameter.name, &format!("{own}.{name}"), false);
            }
        }
    }
    for (_, world) in &contract.worlds {
        add(&world.name, "a world", false);
    }
    names
}

/// A name in the spellings of bindings.
fn spellings(name: &Name) -> Vec<String> {
    let upper = camel(&name.text);
    let lower = upper[..1].to_lowercase() + &upper[1..];
    let mut spellings = vec![lower, snake(&name.text), name.text.clone()];
    spellings.extend(name.is_type.then_some(upper));
    spellings
}

fn clashes(names: &[Name]) -> Vec<String> {
    let mut clashes = Vec::new();
    for language in &LANGUAGES {
        let reserved: Vec<&str> = language.reserved.split_ascii_whitespace().collect();
        for name in names {
            if spellings(name).iter().any(|spelling| reserved.contains(&spelling.as_str())) {
                let Language { name: language, source, .. } = language;
                clashes.push(format!("`{}` ({}) is reserved in {language}: {source}", name.text, name.place));
            }
        }
    }
    clashes
}

/// No name of the contract is a reserved word of a language that hosts are written in.
#[test]
fn no_name_is_a_reserved_word_of_a_language_that_hosts_are_written_in() {
    let names = names(&contract());
    assert!(names.len() > 500, "{} names were checked", names.len());
    for (text, place) in [("prepare", "a function of journal"), ("now", "engine.submit"), ("path", "fs.read-op")] {
        assert!(names.iter().any(|name| name.text == text && name.place == place), "{text} was not checked");
    }
    let clashes = clashes(&names);
    assert!(clashes.is_empty(), "{}", clashes.join("\n"));
}

#[test]
fn a_reserved_word_is_found_in_each_spelling() {
    for (text, is_type, language) in [
        ("from", false, "Python"),
        ("base", false, "C#"),
        ("init", false, "Swift"),
        ("delete", false, "JavaScript"),
        ("range", false, "Go"),
        ("fun", false, "Kotlin"),
        ("none", true, "Python"),
        ("error-context", false, "WIT"),
    ] {
        let found = clashes(&[Name { text: text.into(), place: "a test".into(), is_type }]);
        assert!(found.iter().any(|clash| clash.contains(language)), "`{text}`: {found:?}");
    }
    let plain = Name { text: "none-of-these".into(), place: "a test".into(), is_type: true };
    assert!(clashes(&[plain]).is_empty());
}

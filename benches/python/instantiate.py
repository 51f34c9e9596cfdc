"""Prints the least and the median time of an instantiation of the component, in microseconds, in wasmtime for Python.

    pip install --requirement cli/tests/clients/requirements.txt
    python benches/python/instantiate.py saddlebag.wasm
"""

import statistics
import sys
import time

from wasmtime import Engine, Store
from wasmtime import component as wasm

engine = Engine()
component = wasm.Component.from_file(engine, sys.argv[1])
linker = wasm.Linker(engine)
times = []
for _ in range(401):
    store = Store(engine)
    start = time.perf_counter_ns()
    linker.instantiate(store, component)
    times.append((time.perf_counter_ns() - start) / 1000)
print(f"{min(times):.1f}, {statistics.median(times):.1f}")

#!/usr/bin/env python3
"""Measures generated C++ beside Ingot's engine and ONNX Runtime, one thread each, in the same run.

usage: bench/compiled.py --ingot build/release/cli/ingot --make-models build/release/bench/models/ingot_make_models
                         [--models DIR] [--flags "-O3 -march=native"] [row...]

Generated code and the others take turns; a ratio is ONNX Runtime's least processor time of a run through that of the code,
so that other work on the machine counts little. It is compiled once with -O2 to see how long that takes, and once with
--flags to be measured. First results are by the clock, with the start of the program and the reading of weights; the least
ones are compared. --native measures what LLVM makes of it (--emit so) in place of C++. A result that is wrong ends with 1.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

# name, model, options, runs of a turn, least ratio wanted
ROWS = [
    ("resnet50", "resnet50", [], 5, 0.7),
    ("mobilenet_v2", "mobilenet_v2", [], 20, 0.7),
    ("bert_base", "bert_base", [], 3, 0.7),
    ("lstm", "lstm", [], 20, 0.7),
    ("mlp_1", "mlp", ["--input-shape", "x:1,784"], 1000, 2),
    ("mlp_1024", "mlp", ["--input-shape", "x:1024,784"], 10, 0.7),
    ("elementwise", "elementwise", [], 10, 0.7),
    ("forest_1", "forest", ["--input-shape", "x:1,30"], 2000, 2),
    ("forest_1000", "forest", ["--input-shape", "x:1000,30"], 10, 2),
]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, **options).stdout


def run_of_code(folder, runs):
    said = run("./program", "net_test.bin", runs, cwd=folder)
    return float(re.search(r"(\S+) ms of processor time", said).group(1))


def run_of_library(folder, runs):
    """The same of the library, called as `ingot run --native` does, on the first inputs that the test program reads."""
    data, at, given = pathlib.Path(folder, "net_test.bin").read_bytes(), 0, []
    while at < len(data):
        rank = struct.unpack_from("<q", data, at + 16)[0]
        dims = struct.unpack_from(f"<{rank}q", data, at + 24)
        size = struct.unpack_from("<q", data, at + 24 + 8 * rank)[0]
        at += 32 + 8 * rank + size
        given.append((ctypes.create_string_buffer(data[at - size:at], size), (ctypes.c_int64 * max(rank, 1))(*dims)))
    pointers = [(ctypes.c_void_p * len(given))(*(ctypes.addressof(x[i]) for x in given)) for i in range(2)]
    made = [(ctypes.c_void_p * len(given))() for _ in range(2)]
    made_dims = [(ctypes.c_int64 * 64)() for _ in given]
    made[1][:] = [ctypes.addressof(d) for d in made_dims]
    call = ctypes.CDLL(folder + "/net.so").net_call
    least = float("inf")
    for _ in range(runs + 1):
        start = time.process_time_ns()
        if call(pointers[0], pointers[1], made[0], made[1]) != 0:
            raise SystemExit("the library cannot run")
        least = min(least, (time.process_time_ns() - start) / 1e6)
    return least


def run_of_ort(model, runs, options):
    shapes = [o for o in options if o != "--input-shape"]
    node = {**os.environ, "NODE_PATH": os.environ["INGOT_PEERS"]}
    script = pathlib.Path(__file__).with_name("zoo_ort.mjs")
    return json.loads(run("node", script, model, runs, *shapes, env=node))["least_ms"]


def measure(args, folder, name, model, options, runs):
    path = (args.models / f"{model}.onnx").resolve()
    run(args.ingot, "compile", path, "-o", "net", *options, cwd=folder)
    start = os.times()
    run("g++", "-std=c++17", "-O2", "-c", "net.cpp", "-o", "net.o", cwd=folder)
    seconds = os.times().children_user - start.children_user
    run("g++", "-std=c++17", *args.flags.split(), "net.cpp", "net_test.cpp", "-o", "program", "-lm", cwd=folder)
    if args.native:
        run(args.ingot, "compile", path, "-o", "net", "--emit", "so", *options, cwd=folder)
    own, ingot, ort, first, ort_first = [], [], [], [], []
    for _ in range(args.turns):
        own.append(run_of_library(folder, runs) if args.native else run_of_code(folder, runs))
        got = json.loads(run(args.ingot, "bench", path, "--threads", 1, "--json", "--vs", "ort", "--runs", 3, *options))
        ort_first.append(got["ort"]["first_result_ms"])
        got = json.loads(run(args.ingot, "bench", path, "--threads", 1, "--json", "--runs", runs, *options))
        ingot.append(got["ingot"]["cpu_ms"])
        ort.append(run_of_ort(path, runs, options))
        began = time.perf_counter()
        run("./program", "net_test.bin", cwd=folder)
        first.append(1e3 * (time.perf_counter() - began))
    return seconds, min(own), min(ingot), min(ort), min(ort_first) / min(first)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--make-models", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("build/bench/models"))
    parser.add_argument("--flags", default="-O3 -march=native")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("row", nargs="*")
    args = parser.parse_args()
    if not os.environ.get("INGOT_PEERS"):
        print("**** SKIPPED: no ONNX Runtime to measure beside (script/bootstrap installs it)", file=sys.stderr)
        return 1
    rows = [r for r in ROWS if not args.row or r[0] in args.row]
    missing = sorted({r[1] for r in rows if not (args.models / f"{r[1]}.onnx").exists()})
    if missing:
        args.models.mkdir(parents=True, exist_ok=True)
        run(args.make_models, args.models, *missing)
    below = []
    print(f"{'model':14} {'g++ -O2 s':>9} {'code ms':>9} {'engine ms':>9} {'ORT ms':>9} {'ORT/code':>8} {'wanted':>6} {'first result':>12}")
    for name, model, options, runs, wanted in rows:
        with tempfile.TemporaryDirectory() as folder:
            seconds, own, ingot, ort, first = measure(args, folder, name, model, options, runs)
        print(f"{name:14} {seconds:9.1f} {own:9.4g} {ingot:9.4g} {ort:9.4g} {ort / own:8.2f} {0.3 if args.native else wanted:6} {first:11.0f}x", flush=True)
        if ort / own < (0.3 if args.native else wanted):
            below.append(name)
    print("below what is wanted: " + (", ".join(below) or "none"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

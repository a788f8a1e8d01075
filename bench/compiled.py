#!/usr/bin/env python3
"""Measures generated code (C++, and what LLVM makes of MLIR) beside Ingot's engine and ONNX Runtime, one thread each.

usage: bench/compiled.py --ingot build/release/cli/ingot --make-models build/release/bench/models/ingot_make_models
                         [--models DIR] [--flags "-O3 -march=native"] [--turns N] [--out FILE] [row...]

`script/bench --compiled` calls it and writes bench/COMPILED.md. All take turns; a ratio is ONNX Runtime's least processor time
of a run through that of the code, so that other work on the machine counts little; runs of less than a millisecond are timed
several at once. C++ is compiled once with -O2 to see how long that takes, and once with --flags to be measured.

A first result is what it takes with reading the weights; in ONNX Runtime with creating the session. Start-up is that without a
run. A result that is wrong ends with 1.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

from table import commit, machine

# name, model, options, runs of a turn, least ratio wanted
ROWS = [
    ("resnet50", "resnet50", [], 10, 0.7),
    ("mobilenet_v2", "mobilenet_v2", [], 40, 0.7),
    ("bert_base", "bert_base", [], 5, 0.7),
    ("lstm", "lstm", [], 100, 0.7),
    ("mlp_1", "mlp", ["--input-shape", "x:1,784"], 10_000, 2),
    ("mlp_1024", "mlp", ["--input-shape", "x:1024,784"], 40, 0.7),
    ("elementwise", "elementwise", [], 20, 0.7),
    ("forest_1", "forest", ["--input-shape", "x:1,30"], 20_000, 2),
    ("forest_1000", "forest", ["--input-shape", "x:1000,30"], 40, 2),
]
NATIVE, START = 0.3, 20  # the least ratios wanted of native code, and of start-up


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, **options).stdout


def run_of_code(folder, runs):
    """Milliseconds of a run, and until the first result."""
    said = run("./program", "net_test.bin", runs, cwd=folder)
    return (float(re.search(r"(\S+) ms of processor time at least", said).group(1)),
            float(re.search(r"first result after .* (\S+) ms of processor time", said).group(1)))


def run_of_library(folder, runs):
    """The least of native code, called as `ingot run --native` does, on the inputs that the test program reads."""
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
    least, each, done = float("inf"), 1, 0
    while done <= runs:
        start = time.process_time_ns()
        for _ in range(each):
            if call(pointers[0], pointers[1], made[0], made[1]) != 0:
                raise SystemExit("the library cannot run")
        took = (time.process_time_ns() - start) / 1e6
        done += each
        least = min(least, took / each)
        each = max(1, int(1 / (took / each + 1e-4)))
    return least


def run_of_ort(model, runs, options):
    shapes = [o for o in options if o != "--input-shape"]
    node = {**os.environ, "NODE_PATH": os.environ["INGOT_PEERS"]}
    script = pathlib.Path(__file__).with_name("zoo_ort.mjs")
    return json.loads(run("node", script, model, runs, *shapes, env=node))


def measure(args, folder, model, options, runs):
    path = (args.models / f"{model}.onnx").resolve()
    run(args.ingot, "compile", path, "-o", "net", "--emit", "so", *options, cwd=folder)
    run(args.ingot, "compile", path, "-o", "net", *options, cwd=folder)
    start = os.times()
    run("g++", "-std=c++17", "-O2", "-c", "net.cpp", "-o", "net.o", cwd=folder)
    seconds = os.times().children_user - start.children_user
    run("g++", "-std=c++17", *args.flags.split(), "net.cpp", "net_test.cpp", "-o", "program", "-lm", cwd=folder)
    seen = {name: [] for name in ("code", "native", "engine", "ort", "first", "ort_first")}
    for _ in range(args.turns):
        code, first = run_of_code(folder, runs)
        seen["code"].append(code)
        seen["first"].append(first)
        seen["native"].append(run_of_library(folder, runs))
        got = run_of_ort(path, runs, options)
        seen["ort"].append(got["least_ms"])
        seen["ort_first"].append(got["first_ms"])
        got = json.loads(run(args.ingot, "bench", path, "--threads", 1, "--json", "--runs", min(runs, 1000), *options))
        seen["engine"].append(got["ingot"].get("cpu_ms", got["ingot"]["latency_ms"]["min"]))
    return seconds, {name: min(values) for name, values in seen.items()}


def row_of(name, seconds, ms, wanted):
    start = (ms["ort_first"] - ms["ort"]) / max(ms["first"] - ms["code"], 1e-3)
    return (f"| {name} | {ms['code']:.3g} | {ms['native']:.3g} | {ms['engine']:.3g} | {ms['ort']:.3g} | "
            f"**{ms['ort'] / ms['code']:.2f}** ({wanted}) | {ms['ort'] / ms['native']:.2f} ({NATIVE}) | {ms['first']:.3g} / "
            f"{ms['ort_first']:.3g} | {ms['ort_first'] / ms['first']:.0f} | {start:.0f} ({START}) | {seconds:.1f} |"), start


def heading(args):
    return ["# Generated code", "",
            f"Written by `script/bench --compiled` on {datetime.date.today()} for commit {commit()}.",
            f"The machine: {machine()}; its load at the end: {os.getloadavg()[0]:.1f}.", "",
            f"Milliseconds of processor time on one thread, the least of {args.turns} turns: C++ compiled by g++ {args.flags}, native "
            "code that LLVM 22 made of MLIR, Ingot's engine, ONNX Runtime (npm onnxruntime-node). Ratios are ONNX Runtime's time "
            "through that of the code, in brackets what is wanted. First results, C++ / ONNX Runtime, are with reading weights and "
            "creating the session; start-up is that without the run itself, which nobody can do without.", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--make-models", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("build/bench/models"))
    parser.add_argument("--flags", default="-O3 -march=native")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, help="write the table there too")
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
    lines = ["| model | C++ | native | engine | ORT | ORT / C++ | ORT / native | first result | times as early | start-up | "
             "g++ -O2 s |", "|" + "---|" * 11]
    print("\n".join(lines))
    below = []
    for name, model, options, runs, wanted in rows:
        with tempfile.TemporaryDirectory() as folder:
            seconds, ms = measure(args, folder, model, options, runs)
        line, start = row_of(name, seconds, ms, wanted)
        lines.append(line)
        print(line, flush=True)
        for what, ratio, least in (("C++", ms["ort"] / ms["code"], wanted), ("native", ms["ort"] / ms["native"], NATIVE),
                                   ("start-up", start, START)):
            if ratio < least:
                below.append(f"{name} ({what})")
    lines += ["", "Below what is wanted: " + (", ".join(below) or "none") + "."]
    print(lines[-1])
    if args.out:
        args.out.write_text("\n".join(heading(args) + lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

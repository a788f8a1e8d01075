#!/usr/bin/env python3
"""Measures generated C++ beside Ingot's engine and ONNX Runtime, one thread each, in the same run.

usage: bench/compiled.py --ingot build/release/cli/ingot --make-models build/release/bench/models/ingot_make_models
                         [--models DIR] [--flags "-O3 -march=native"] [row...]

Generated code and the others take turns; a ratio is ONNX Runtime's least time through that of the code. It is compiled
once with -O2 to see how long that takes, and once with --flags to be measured. A result that is wrong ends with 1.
"""
import argparse
import json
import os
import pathlib
import re
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


def turn(folder, runs):
    said = run("./program", "net_test.bin", runs, cwd=folder)
    return float(re.search(r"runs: (\S+) ms at least", said).group(1))


def measure(args, folder, name, model, options, runs):
    path = args.models / f"{model}.onnx"
    run(args.ingot, "compile", path.resolve(), "-o", "net", *options, cwd=folder)
    start = os.times()
    run("g++", "-std=c++17", "-O2", "-c", "net.cpp", "-o", "net.o", cwd=folder)
    seconds = os.times().children_user - start.children_user
    run("g++", "-std=c++17", *args.flags.split(), "net.cpp", "net_test.cpp", "-o", "program", "-lm", cwd=folder)
    own, ingot, ort, first = [], [], [], []
    for _ in range(args.turns):
        own.append(turn(folder, runs))
        got = json.loads(run(args.ingot, "bench", path, "--threads", 1, "--json", "--vs", "ort", "--runs", max(runs // 4, 3), *options))
        ingot.append(got["ingot"]["latency_ms"]["min"])
        ort.append(got["ort"]["latency_ms"]["min"])
        first.append(got["ort"]["first_result_ms"])
        began = time.perf_counter()
        run("./program", "net_test.bin", cwd=folder)
        first[-1] /= 1e3 * (time.perf_counter() - began)
    return seconds, min(own), min(ingot), min(ort), max(first)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--make-models", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("build/bench/models"))
    parser.add_argument("--flags", default="-O3 -march=native")
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
        print(f"{name:14} {seconds:9.1f} {own:9.4g} {ingot:9.4g} {ort:9.4g} {ort / own:8.2f} {wanted:6} {first:11.0f}x", flush=True)
        if ort / own < wanted:
            below.append(name)
    print("below what is wanted: " + (", ".join(below) or "none"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Graph work on every ONNX model of the corpus: does optimize change a result, do partitions run to the same numbers?

usage: corpus_graphs.py PATH_TO_INGOT optimize|partition [--every N] [--largest BYTES] [--targets a,b,...]

A model that Ingot refuses to read or run is counted by its reason; what is left must give the same. Exits with 1 where
something differs.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
TARGETS = "onnx-mlir,openvino,tensorrt-10,tfjs-4,tflite"


def run(*arguments, seconds=120):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", "takes too long")


def reason(done):
    lines = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr.strip()[-100:]]
    return f"exit {done.returncode}: {lines[0].split(': ', 2)[-1][:70]}"


def optimize(ingot, model, folder):
    out = f"{folder}/small.onnx"
    done = run(ingot, "optimize", str(model), "-o", out, "--json")
    if done.returncode not in (0, 1):
        return "refused", reason(done)
    answer = json.loads(done.stdout)
    said = (answer.get("verification") or {}).get("answer")
    if done.returncode == 1 or said == "different":
        return "DIFFERENT", done.stderr.strip()[-300:]
    nodes = answer["nodes"]
    return ("same" if said == "same" else "not verified"), f"{nodes['before']} -> {nodes['after']}"


def outputs_of(ingot, model):
    done = run(ingot, "run", str(model), "--random", "1", "--json")
    return (json.loads(done.stdout)["outputs"], "") if done.returncode == 0 else (None, reason(done))


def differ(a, b):
    for name, x in a.items():
        y = b.get(name)
        if y is None or x.get("type") != y.get("type"):
            return name
        for u, v in zip(x.get("first", []), y.get("first", [])):
            if isinstance(u, float) and isinstance(v, float) and abs(u - v) > 1e-4 * max(1, abs(u)):
                return name
            if not isinstance(u, float) and u != v:
                return name
    return ""


def partition(ingot, model, folder, target):
    expected, why = outputs_of(ingot, model)
    if expected is None:
        return "not run whole", why
    done = run(ingot, "partition", str(model), "--targets", f"{target},ingot", "-o", f"{folder}/parts", "--json")
    if done.returncode != 0:
        return "refused", reason(done)
    got, why = outputs_of(ingot, f"{folder}/parts/plan.json")
    if got is None:
        return "NOT RUN", why
    wrong = differ(expected, got)
    plan = json.loads(done.stdout)
    return ("DIFFERENT", wrong) if wrong else ("same", f"{len(plan['parts'])} parts")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("what", choices=["optimize", "partition"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--largest", type=int, default=1 << 30)
    parser.add_argument("--targets", default=TARGETS)
    options = parser.parse_args()
    models = sorted(p for p in (SHARED / "corpus" / "onnx").rglob("*.onnx") if p.stat().st_size <= options.largest)
    counts, reasons, before, after = collections.Counter(), collections.Counter(), 0, 0
    for model in models[:: options.every]:
        for target in [""] if options.what == "optimize" else options.targets.split(","):
            with tempfile.TemporaryDirectory() as folder:
                if options.what == "optimize":
                    word, text = optimize(options.ingot, model, folder)
                else:
                    word, text = partition(options.ingot, model, folder, target)
            counts[word] += 1
            if word in ("DIFFERENT", "NOT RUN"):
                print(f"{word}: {model.relative_to(SHARED)} {target}: {text}", flush=True)
            elif word != "same":
                reasons[f"{word}: {text}"] += 1
            elif options.what == "optimize":
                before += int(text.split()[0])
                after += int(text.split()[2])
    for word, count in counts.most_common():
        print(f"{count:6} {word}")
    if before:
        print(f"nodes {before} -> {after}")
    for text, count in reasons.most_common(20):
        print(f"{count:6} {text}")
    sys.exit(1 if counts["DIFFERENT"] or counts["NOT RUN"] else 0)


if __name__ == "__main__":
    main()

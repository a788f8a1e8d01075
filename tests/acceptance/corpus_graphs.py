#!/usr/bin/env python3
"""Graph work on every ONNX model of the corpus and the light models of ONNX's own tests: does optimize change a result, do
partitions run to the same numbers, do random cuts merge again, does float16 stay within its own noise in ONNX Runtime?

usage: corpus_graphs.py PATH_TO_INGOT optimize|partition|cuts|half [--every N] [--from N] [--largest BYTES]
                        [--targets a,b,...] [--level basic|extended|all]

A model that Ingot refuses to read or run is counted by its reason; what is left must give the same. Exits with 1 where
something differs.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
HALF = 0.004  # of an output's scale: what float16 has (docs/verify.md)
TARGETS = "onnx-mlir,openvino,tensorrt-10,tfjs-4,tflite"


def run(*arguments, seconds=120):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", "takes too long")


def reason(done):
    lines = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr.strip()[-100:]]
    return f"exit {done.returncode}: {lines[0].split(': ', 2)[-1][:70]}"


def optimize(ingot, model, folder, level):
    out = f"{folder}/small.onnx"
    done = run(ingot, "optimize", str(model), "-o", out, "--level", level, "--json")
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
    """The first output that differs: in its type, its first elements, or what it has on the whole."""
    for name, x in a.items():
        y = b.get(name)
        if y is None or x.get("type") != y.get("type"):
            return name
        scale = max([1] + [abs(x[key]) for key in ("min", "max") if isinstance(x.get(key), float)])
        pairs = [*zip(x.get("first", []), y.get("first", [])), *((x.get(key), y.get(key)) for key in ("min", "mean", "max"))]
        for u, v in pairs:
            if isinstance(u, float) and isinstance(v, float):
                if abs(u - v) > 1e-4 * scale:
                    return name
            elif u != v:
                return name
    return ""


def values_inside(ingot, model):
    """Names of values that nodes of the model's graph make."""
    done = run(ingot, "inspect", str(model), "--text")
    body = done.stdout.partition("\n{\n")[2].partition("\n}")[0]
    names = []
    for line in body.splitlines():
        found = re.match(r"  (?:\[[^\]]*\] )?([^\s,=]+)(?:, [^=]*)? = ", line)
        if found:
            names.append(found[1])
    return names


def cuts(ingot, model, folder):
    """Split behind one to three random values, and merge what comes of it."""
    names = [name for name in values_inside(ingot, model) if re.fullmatch(r"[\w./:-]+", name)]
    if len(names) < 3:
        return "too small", ""
    about = json.loads(run(ingot, "inspect", str(model), "--json").stdout)
    outputs = [one["name"] for one in about["outputs"]]
    draw = random.Random(model.name)
    at = draw.sample(names[:-1], min(len(names) - 1, draw.randint(1, 3)))
    done = run(ingot, "split", str(model), "-o", f"{folder}/parts", "--at", ",".join(at), "--json")
    if done.returncode != 0:
        return "refused", reason(done)
    files = [f"{folder}/parts/{part['file']}" for part in json.loads(done.stdout)["parts"]]
    if len(files) != 2:
        return "one part", ""
    whole = f"{folder}/whole.onnx"
    done = run(ingot, "merge", *files, "-o", whole, "--share-inputs", "--outputs", ",".join(outputs))
    if "no output of the first model has the name of an input" in done.stderr:
        return "two parts that need nothing of each other", ""
    if done.returncode != 0:
        return "NOT MERGED", f"at {at}: {reason(done)}"
    done = run(ingot, "verify", str(model), whole, "--with", "ingot", "--json")
    if done.returncode not in (0, 1):
        return "not run whole", reason(done)
    return ("same", "") if done.returncode == 0 else ("DIFFERENT", f"at {at}")


def half(ingot, model, folder):
    """In float16, judged in ONNX Runtime."""
    out = f"{folder}/half.onnx"
    done = run(ingot, "convert", str(model), "-o", out, "--float16", "--no-verify", "--json")
    if done.returncode != 0:
        return "refused", reason(done)
    done = run(ingot, "verify", str(model), out, "--with", "ort", "--no-bisect", "--json", seconds=300)
    if done.returncode not in (0, 1):
        return "not run in ONNX Runtime", reason(done)
    if done.returncode == 0:
        return "same", ""
    outputs = json.loads(done.stdout).get("outputs", [])
    wrong = [o for o in outputs if not o.get("agrees", True) and not (o.get("distance") or 1e9) <= HALF * o["scale"]]
    operators = json.loads(run(ingot, "inspect", str(model), "--json").stdout)["operators"]
    if wrong and any("QuantizeLinear" in name for name in operators):
        return "quantised", "a rounding decides which step a number falls on"
    if wrong and re.search(r"(bool|int8) \S+ = \{1\}.*\bDropout \(", run(ingot, "inspect", str(model), "--text").stdout, re.S):
        return "draws numbers", "Dropout in training"
    if wrong and run(ingot, "verify", str(model), str(model), "--with", "ort", "--no-bisect", seconds=300).returncode != 0:
        return "draws numbers", ""
    return ("DIFFERENT", json.dumps(wrong)[:300]) if wrong else ("same", "")


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


def outcome(options, model, folder, target):
    if options.what == "optimize":
        return optimize(options.ingot, model, folder, options.level)
    if options.what == "partition":
        return partition(options.ingot, model, folder, target)
    return (cuts if options.what == "cuts" else half)(options.ingot, model, folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("what", choices=["optimize", "partition", "cuts", "half"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--largest", type=int, default=1 << 30)
    parser.add_argument("--targets", default=TARGETS)
    parser.add_argument("--level", default="extended")
    options = parser.parse_args()
    places = ((SHARED / "corpus" / "onnx").rglob("*.onnx"), (SHARED / "onnx-backend-tests" / "light").glob("*.onnx"))
    models = [p for place in places for p in sorted(place) if p.stat().st_size <= options.largest]
    counts, reasons, before, after = collections.Counter(), collections.Counter(), 0, 0
    for model in models[options.first:: options.every]:
        for target in options.targets.split(",") if options.what == "partition" else [""]:
            with tempfile.TemporaryDirectory() as folder:
                word, text = outcome(options, model, folder, target)
            counts[word] += 1
            if word.isupper():
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
    sys.exit(1 if any(word.isupper() for word in counts) else 0)


if __name__ == "__main__":
    main()

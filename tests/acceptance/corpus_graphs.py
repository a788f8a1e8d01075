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
# Where float16 has less, and why.
LESS = {"bart_mlp_megatron_basic_test.onnx": "its output is 0.03 - 0.022, of which each has a step of 1.5e-5 and 0.008 keeps them"}
# Where a part in another runtime, or of these inputs, cannot give the same, and why.
LONG_SUMS = "TFLite adds the 518,400 numbers of a mean one after the other: each normalisation is 4e-4 off (Ingot's 5e-7)"
OTHERWISE = {
    "candy.onnx": LONG_SUMS,
    "fns-candy.onnx": LONG_SUMS,
    "gh_issue_11717.onnx": "a value inside is stated to be int32[3,4], which the drawn input is not: a part asks for it",
    "ort_github_issue_19590.onnx": "300 as uint8 is 44 in Ingot and 255 in TFLite; ONNX leaves it open",
    "transpose_optimizer_cancel_squeeze_per_axis_dq.onnx": "a squeezed tensor with a scale for each channel is not read back",
}
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


def differ(a, b, share=1e-4, steps=0):
    """The first output that differs: in its type, its first elements, or what it has on the whole."""
    for name, x in a.items():
        y = b.get(name)
        if x is None and y is None and name in b:
            continue
        if x is None or y is None or x.get("type") != y.get("type"):
            return name
        scale = max([1] + [abs(x[key]) for key in ("min", "max") if isinstance(x.get(key), float)])
        pairs = [*zip(x.get("first", []), y.get("first", [])), *((x.get(key), y.get(key)) for key in ("min", "mean", "max"))]
        for u, v in pairs:
            if isinstance(u, float) and isinstance(v, float):
                if abs(u - v) > share * scale:
                    return name
            elif isinstance(u, int) and isinstance(v, int) and abs(u - v) <= steps:
                continue
            elif u != v:
                return name
    return ""


def operators_of(ingot, model):
    return json.loads(run(ingot, "inspect", str(model), "--json").stdout)["operators"]


def draws_numbers(ingot, model):
    """Whether other runtimes draw other numbers than Ingot: by an operator for it, or Dropout in training."""
    if any(re.search("Random|Multinomial|Bernoulli", name) for name in operators_of(ingot, model)):
        return True
    text = run(ingot, "inspect", str(model), "--text").stdout
    return bool(re.search(r"(bool|int8) \S+ = \{1\}.*\bDropout \(", text, re.S))


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
    convert = ["convert", str(model), "-o", out, "--float16", "--no-verify", "--json"]
    done = run(ingot, *convert)
    if "convert with --opset 13 first" in done.stderr:
        done = run(ingot, *convert, "--opset", "13")
    if done.returncode == 70:
        return "NOT VALID", reason(done)
    if done.returncode != 0:
        return "refused", reason(done)
    verify = ["--with", "ort", "--no-bisect", "--json"]
    done = run(ingot, "verify", str(model), out, *verify, seconds=300)
    if done.returncode == 0:
        return "same", ""
    if done.returncode == 124:
        return "takes too long", model.name
    if done.returncode != 1:
        itself = run(ingot, "verify", str(model), str(model), *verify, seconds=300)
        why = (json.loads(done.stdout or "{}").get("why_unknown") or reason(done)).replace(str(model), "it")
        return ("not run in ONNX Runtime" if itself.returncode not in (0, 1) else "HALF NOT RUN"), why[:300]
    outputs = json.loads(done.stdout).get("outputs", [])
    wrong = [o for o in outputs if not o.get("agrees", True) and not (o.get("distance") or 1e9) <= HALF * o["scale"]]
    if not wrong:
        return "same", ""
    if model.name in LESS:
        return "less than float16 has", LESS[model.name]
    if any("QuantizeLinear" in name for name in operators_of(ingot, model)):
        return "quantised", "a rounding decides which step a number falls on"
    if draws_numbers(ingot, model):
        return "draws numbers", "Dropout in training"
    if run(ingot, "verify", str(model), str(model), "--with", "ort", "--no-bisect", seconds=300).returncode != 0:
        return "draws numbers", ""
    return "DIFFERENT", json.dumps(wrong)[:300]


class Partitions:
    """What a model gives, asked once; parts that are the same models for several targets are run once."""

    def __init__(self, ingot, model):
        self.ingot, self.model, self.ran = ingot, model, {}
        self.expected, self.why = outputs_of(ingot, model)

    def of(self, folder, target):
        if self.expected is None:
            return "not run whole", self.why
        done = run(self.ingot, "partition", str(self.model), "--targets", f"{target},ingot", "-o", f"{folder}/parts", "--json")
        if done.returncode != 0:
            return "refused", reason(done)
        parts = json.loads(done.stdout)["parts"]
        key = tuple((part["runtime"], (pathlib.Path(folder) / "parts" / part["file"]).read_bytes()) for part in parts)
        if key not in self.ran:
            self.ran[key] = self.outcome(outputs_of(self.ingot, f"{folder}/parts/plan.json"), parts)
        return self.ran[key]

    def outcome(self, answer, parts):
        got, why = answer
        wrong = got is not None and differ(self.expected, got)
        if got is not None and not wrong:
            return "same", f"{len(parts)} parts"
        if self.model.name in OTHERWISE:
            return "otherwise", OTHERWISE[self.model.name]
        if got is None:
            is_theirs = re.search(r"part '[^']*' in (TFLite|ONNX Runtime): (it does not run|there is no interpreter)", why)
            return ("its runtime does not run it" if is_theirs else "NOT RUN"), why
        if draws_numbers(self.ingot, self.model):
            return "draws numbers", ""
        is_tflite = any(part["runtime"] == "tflite" for part in parts)
        is_quantised = any("Quantize" in name or "QLinear" in name for name in operators_of(self.ingot, self.model))
        if is_tflite and is_quantised and not differ(self.expected, got, share=0.05, steps=2):
            return "quantised", "within two steps of 8 bits: TFLite rounds integers its own way"
        return "DIFFERENT", wrong


def outcome(options, model, folder):
    if options.what == "optimize":
        return optimize(options.ingot, model, folder, options.level)
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
        partitions = Partitions(options.ingot, model) if options.what == "partition" else None
        for target in options.targets.split(",") if partitions else [""]:
            with tempfile.TemporaryDirectory() as folder:
                word, text = partitions.of(folder, target) if partitions else outcome(options, model, folder)
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

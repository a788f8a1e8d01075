"""Converts every TFLite model of the corpus, runs it in the native TFLite library and the result in ONNX Runtime, and
compares. Prints a line for each model that does not agree and counts at the end; fails if a model disagrees that
agreement.txt does not name, or if one that it names agrees.
usage: tflite_agreement.py --ingot PROGRAM --peers build/peers [--corpus DIR] [--filter TEXT] [--keep DIR] [--verbose]"""
import json
import math
import os
import platform
import subprocess
import sys
import tempfile

from agreement import (HERE, TOLERANCE, Onnx, Tally, exact_difference, form_difference, inspected, known_exceptions,
                       parsed_arguments, real_difference, require, scale_of, values, worst_of)

FOLDER = os.path.join(HERE, "tflite")
# ONNX Runtime 1.30 says that two nodes have one name where the file has no such nodes
# (deeplabv3_mnv2_dm05_pascal_quant).
RUNTIME_DEFECTS = ["two nodes with same node name"]
# What TFLite itself does with these inputs depends on what lies in memory.
UNDEFINED = {"litert_testdata/litert/test/testdata/simple_scatter_nd_op.tflite":
             "the drawn indices lie outside of the result, which TFLite writes without a check and ONNX Runtime refuses"}
DYNAMIC_RANGE_TOLERANCE = 0.1   # TFLite rounds activations to 8 bits while running; ONNX computes them as they are


def logits(numbers):
    """What a sigmoid was given; None where it says no more than 0 or 1."""
    if not all(0 < v < 1 for v in numbers):
        return None
    return [math.log(v) - math.log1p(-v) for v in numbers]


def apart(reference, result):
    """The share of elements beyond 2 steps, and the worst, of results that are integers or multiples of one step."""
    a, b = values(reference), values(result)
    levels = sorted(set(a))
    step = min((y - x for x, y in zip(levels, levels[1:])), default=1) if reference["type"] == "float32" else 1
    steps = [abs(x - y) / step for x, y in zip(a, b)]
    return sum(s > 2.001 for s in steps) / max(1, len(steps)), max(steps, default=0)


def top(numbers):
    return max(range(len(numbers)), key=lambda i: numbers[i]) if len(numbers) else -1


def compare(reference, result, is_quantized, is_dynamic):
    """None if they agree, else how they differ."""
    if reference["type"] != result["type"]:
        return f"type {result['type']} instead of {reference['type']}"
    a, b = values(reference), values(result)
    form = form_difference(reference, a, result, b)
    if form:
        return form
    if reference["type"] in ("float32", "float64"):
        difference = real_difference(a, b, DYNAMIC_RANGE_TOLERANCE if is_dynamic else TOLERANCE)
        if not difference or not is_quantized or not all(map(math.isfinite, [*a, *b])):
            return difference
        levels = sorted(set(a))
        step = min((y - x for x, y in zip(levels, levels[1:])), default=scale_of(a) / 255)
        far = sum(abs(x - y) > 2.001 * step for x, y in zip(a, b))
        if far <= len(a) / 1000:
            return None
        return f"{far} of {len(a)} beyond 2 steps of {step:.3g}, worst {worst_of(a, b) / step:.1f} steps"
    if reference["type"] in ("int8", "uint8", "int16") and is_quantized:
        far = sum(abs(x - y) > 2 for x, y in zip(a, b))
        if far > len(a) / 1000:
            return f"{far} of {len(a)} beyond 2 steps, worst {worst_of(a, b)}"
        if len(a) <= 2000 and a[top(a)] - a[top(b)] > 1:
            return f"another top-1: {top(b)} instead of {top(a)}"
        return None
    return exact_difference(a, b)


def by_logits(reference, result):
    """Whether two results of a sigmoid are equal by what went into it: far from 1/2 a sigmoid shows rounding that is
    far below the scale of its input."""
    a, b = logits(values(reference)), logits(values(result))
    if a is None or b is None or len(a) != len(b):
        return False
    return worst_of(a, b) <= TOLERANCE * scale_of(a)


def models(corpus):
    for directory, _, files in sorted(os.walk(corpus)):
        for name in sorted(files):
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                if file.read(8)[4:8] == b"TFL3":
                    yield path


def native(path, library, directory, *nudge):
    done = subprocess.run([sys.executable, os.path.join(FOLDER, "run_tflite.py"), library, path, "7", directory, *nudge],
                          capture_output=True, text=True)
    answer = {"error": "it crashes"}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            answer = json.loads(line)
    return answer


def sensitivity(path, library, directory, reference):
    """What TFLite's own results change by where one in 2000 integers of the inputs is a step larger."""
    share, worst = 0, 0
    for seed in ("1", "2", "3"):
        with tempfile.TemporaryDirectory() as scratch:
            other = native(path, library, scratch, seed)
            for a, b in zip(reference["outputs"], other.get("outputs", [])):
                found = apart(a, b)
                share, worst = max(share, found[0]), max(worst, found[1])
    return share, worst


def check(path, arguments, library, onnx, directory):
    """(class, reason): agrees, differs, sensitive, refused, failed or unverifiable."""
    target = os.path.join(directory, "model.onnx")
    if os.path.exists(target):
        os.remove(target)
    converted = subprocess.run([arguments.ingot, "convert", path, "-o", target, "--json", "--no-verify"],
                               capture_output=True, text=True)
    reference = native(path, library, directory)
    if converted.returncode:
        reason = converted.stderr.strip().replace(path + ": ", "")
        return ("refused" if "error" not in reference else "refused, and TFLite does not run it"), reason
    if "error" in reference:
        return "unverifiable", "TFLite: " + reference["error"]
    answer = onnx.run({"model": target, "out": directory, "inputs": reference["inputs"], "plain": arguments.plain})
    if any(known in answer.get("error", "") for known in RUNTIME_DEFECTS):
        answer = onnx.run({"model": target, "out": directory, "inputs": reference["inputs"], "plain": True})
        print(f"without ONNX Runtime's optimisations, which are at fault: {os.path.basename(path)}", flush=True)
    if "error" in answer and not reference["outputs"]:
        # ONNX Runtime refuses graphs that give nothing, and so does Ingot: they are valid, and that is all.
        done = subprocess.run([arguments.ingot, "check", target], capture_output=True, text=True)
        return ("failed", done.stdout) if done.returncode else ("agrees", "nothing to compare")
    if "error" in answer:
        return "failed", answer["error"]
    if len(answer["outputs"]) < len(reference["outputs"]):
        return "differs", f"{len(answer['outputs'])} outputs instead of {len(reference['outputs'])}"
    is_quantized = '"QuantizeLinear"' in inspected(arguments.ingot, target, "--json")
    is_dynamic = "dynamic range" in converted.stdout
    text = inspected(arguments.ingot, target, "--text")
    for i, (a, b) in enumerate(zip(reference["outputs"], answer["outputs"])):
        difference = compare(a, b, is_quantized, is_dynamic)
        is_sigmoid = f" {b['name']} = Sigmoid" in text or f"\"{b['name']}\" = Sigmoid" in text
        if not difference or not is_quantized and is_sigmoid and by_logits(a, b):
            continue
        if is_quantized:
            plain = onnx.run({"model": target, "out": directory, "inputs": reference["inputs"], "plain": True})
            (share, worst), (own_share, own_worst) = apart(a, plain["outputs"][i]), sensitivity(path, library, directory,
                                                                                               reference)
            figures = (f"{share:.1%} beyond 2 steps, worst {worst:.0f}; one step in 2000 inputs changes TFLite's own "
                       f"results by {own_share:.1%}, worst {own_worst:.0f}")
            if share <= 1.25 * own_share and worst <= 1.25 * own_worst:
                return "sensitive", figures
            difference += f" ({figures})"
        return "differs", f"'{b['name']}' {difference}"
    return "agrees", ("dynamic range" if is_dynamic else "quantised" if is_quantized else "float")


def main():
    arguments = parsed_arguments("tflite", [("--plain", "ONNX Runtime without graph optimisations")])
    machine = {"x86_64": "linux_amd64", "aarch64": "linux_arm64"}.get(platform.machine(), "none")
    library = os.path.join(arguments.peers, "node_modules/tfjs-tflite-node/cc_deps", machine, "libtensorflowlite_c.so")
    require(arguments.corpus, library, os.path.join(arguments.peers, "node_modules/onnxruntime-node"))
    known, kinds = known_exceptions(os.path.join(FOLDER, "agreement.txt"), 1), {}
    tally = Tally(known, arguments.filter, arguments.verbose)
    onnx = Onnx(arguments.peers)
    with tempfile.TemporaryDirectory() as scratch:
        directory = arguments.keep or scratch
        os.makedirs(directory, exist_ok=True)
        for path in models(arguments.corpus):
            name = os.path.relpath(path, arguments.corpus)
            if arguments.filter not in name:
                continue
            kind, reason = check(path, arguments, library, onnx, directory)
            tally.add(kind, name, reason, name)
            if kind == "agrees":
                kinds[reason] = kinds.get(reason, 0) + 1
            is_bad = kind in ("refused", "failed", "differs", "sensitive")
            if name in UNDEFINED:
                print(f"not counted: {name}: {UNDEFINED[name]}")
                continue
            if is_bad and name not in known:
                tally.unexpected.append(f"{name} {kind}: {reason}")
            if not is_bad and name in known:
                tally.unexpected.append(f"{name} is named in agreement.txt, but: {kind}")
    onnx.close()
    tally.finish("of those that agree: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))


if __name__ == "__main__":
    main()

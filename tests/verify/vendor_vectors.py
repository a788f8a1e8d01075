#!/usr/bin/env python3
"""The vectors that ONNX Runtime publishes for its own operators, through the program: run as they are, and in plain ONNX.

usage: vendor_vectors.py PATH_TO_INGOT
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_wire as wire  # noqa: E402

INGOT = sys.argv[1]
ROOT = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
FOLDER = ROOT / "corpus" / "contrib" / "com-microsoft"

# The file's expected values are those of positive inputs where the inputs are negative.
WRONG = {"QuickGelu": "the published values have the wrong sign for negative inputs"}
# The file gives the rounded value; this is what ONNX Runtime's CPU build computes, and what the file's case with keys of
# rank 3 has for the same numbers.
EXACT = {("MultiHeadAttention", "MultiHeadAttention Basic, one head and head-size one with pastKey and pastValue; "
          "kvBNSH (4-dim Key and Value, 3-dim Q)"): [3.0006706714630127]}
# Operators of other domains in the same files.
OTHERS = {"Conv": "an operator of a domain inside ONNX Runtime's web build", "Where": "an operator of ONNX"}
TYPES = {"float32": "float", "float16": "float16", "int32": "int32", "int64": "int64", "uint8": "uint8", "int8": "int8",
         "int4": "int4", "uint4": "uint4", "bool": "bool"}


def without_comments(text):
    """JSON with comments -> JSON."""
    text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.S)
    return re.sub(r",(\s*[\]}])", r"\1", text)


def number(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(repr(value), repr(value))
    return str(value)


def wrapped(x):
    """JavaScript's Uint8Array keeps the low bits of what is stored."""
    return [v & 255 for v in x["data"]] if x["type"] == "uint8" else x["data"]


def attribute(a):
    kind, data = a["type"], a["data"]
    if kind == "string":
        return f'{a["name"]}: string = "{data}"'
    if kind in ("ints", "floats"):
        return f'{a["name"]}: {kind} = [{", ".join(number(float(v) if kind == "floats" else v) for v in data)}]'
    return f'{a["name"]}: {kind} = {number(float(data) if kind == "float" else data)}'


def model(test, case):
    inputs, names = [], []
    for i, x in enumerate(case["inputs"]):
        if x["data"] is None:
            names.append('""')
            continue
        dims = f'[{",".join(map(str, x["dims"]))}]' if x["dims"] else ""
        inputs.append(f'{TYPES[x["type"]]}{dims} i{i} = {{{", ".join(map(number, wrapped(x)))}}}')
        names.append(f"i{i}")
    outputs = [f"y{i}" if y.get("data") is not None else '""' for i, y in enumerate(case["outputs"])]
    wanted = ", ".join(f'{TYPES[y["type"]]} {o}'.replace(" y", f'[{",".join(map(str, y["dims"]))}] y')
                       for o, y in zip(outputs, case["outputs"]) if o != '""')
    attributes = ", ".join(attribute(a) for a in test.get("attributes", []))
    return (f'<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>\ng () => ({wanted})\n'
            f'<{", ".join(inputs)}>\n{{\n  {", ".join(outputs)} = "com.microsoft".{test["operator"]}'
            f'{" <" + attributes + ">" if attributes else ""} ({", ".join(names)})\n}}\n')


def read_npy(path):
    raw = path.read_bytes()
    header = eval(raw[10:10 + struct.unpack("<H", raw[8:10])[0]])  # a literal that numpy's format prescribes
    code = {"<f4": "f", "<i4": "i", "<i8": "q", "|u1": "B", "|i1": "b", "<f2": "e", "|b1": "?"}[header["descr"]]
    count = 1
    for d in header["shape"]:
        count *= d
    return header["shape"], struct.unpack(f"<{count}{code}", raw[10 + struct.unpack("<H", raw[8:10])[0]:])


def compare(case, folder):
    for i, y in enumerate(case["outputs"]):
        if y.get("data") is None:
            continue
        shape, values = read_npy(folder / f"y{i}.npy")
        if list(shape) != y["dims"]:
            return f"output {i} has the shape {list(shape)}, not {y['dims']}"
        scale = max([1e-6] + [abs(v) for v in y["data"]])
        for k, (got, expected) in enumerate(zip(values, y["data"])):
            if not abs(got - expected) <= 2e-4 * scale + 1e-5:
                return f"output {i}, element {k} is {got}, not {expected}"
    return ""


def run(text, case, folder):
    source, plain = folder / "case.onnxtxt", folder / "plain.onnx"
    source.write_text(text)
    for step, command in (
        ("as it is", [INGOT, "run", str(source), "--out", str(folder)]),
        ("in plain ONNX", [INGOT, "-q", "convert", str(source), "-o", str(plain), "--standard", "--no-verify"]),
        ("in plain ONNX", [INGOT, "run", str(plain), "--out", str(folder)]),
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return f"{step}: {done.stderr.strip()[:300]}"
        if command[1] == "run":
            problem = compare(case, folder)
            if problem:
                return f"{step}: {problem}"
    return ""


# Texts that a small GPT-2 begins, and what ONNX Runtime's own test draws after them.
PROMPTS = [[0, 0, 0, 0, 0, 52, 195, 731, 321, 301, 734, 620], [41, 554, 74, 622, 206, 222, 75, 223, 221, 198, 224, 572],
           [0, 0, 0, 52, 328, 219, 328, 206, 288, 227, 896, 328]]
DRAWN = [[125, 669, 28], [475, 944, 527], [210]]


def draw(folder):
    """The published draws of Sampling; what is wrong, or nothing."""
    model = ROOT / "corpus" / "onnx" / "ort_testdata" / "transformers" / "tiny_gpt2_sampling.onnx"
    inputs = folder / "in"
    inputs.mkdir()
    flat = [token for row in PROMPTS for token in row]
    for i, tensor in enumerate((("int32", [3, 12], flat), ("int32", [1], [15]), ("int32", [1], [1]), ("float", [1], [1.0]))):
        (inputs / f"input_{i}.pb").write_bytes(wire.tensor(*tensor))
    done = subprocess.run([INGOT, "run", str(model), "--in", str(inputs), "--out", str(folder)], capture_output=True,
                          text=True, timeout=120)
    if done.returncode:
        return done.stderr.strip()[:300]
    values = wire.read_tensor((folder / "output_0.pb").read_bytes())[1]
    for i, (prompt, drawn) in enumerate(zip(PROMPTS, DRAWN)):
        text = values[15 * i: 15 * i + 12 + len(drawn)]
        if text != prompt + drawn:
            return f"text {i} is {text}"
    return ""


def search(folder):
    """The published search of a small Whisper whose decoder reads the whole text each time; what is wrong, or nothing."""
    model = ROOT / "corpus" / "onnx" / "ort_testdata" / "dummy_whisper_with_sequence_input_ids.onnx"
    inputs = folder / "in"
    inputs.mkdir()
    sound = [(i % 7 - 3) / 10 for i in range(40)]
    (inputs / "input_0.pb").write_bytes(wire.tensor("float", [1, 8, 5], sound))
    (inputs / "input_1.pb").write_bytes(wire.tensor("int32", [1, 2], [2, 5]))
    done = subprocess.run([INGOT, "run", str(model), "--in", str(inputs), "--out", str(folder)], capture_output=True,
                          text=True, timeout=120)
    if done.returncode:
        return done.stderr.strip()[:300]
    text, score = (wire.read_tensor((folder / f"output_{i}.pb").read_bytes())[1] for i in range(2))
    is_right = text == [2, 5] + [1] * 8 and abs(score[0] + 0.05625312775373459) < 1e-5
    return "" if is_right else f"the text is {text}, its score {score}"


def main():
    if not FOLDER.exists():
        print("SKIPPED: set INGOT_SHARED; the vectors are not here")
        sys.exit(77)
    passed, failed, skipped = 0, [], {}
    for path in sorted(FOLDER.glob("*.jsonc")):
        for test in json.loads(without_comments(path.read_text())):
            reason = WRONG.get(test["operator"]) or OTHERS.get(test["operator"])
            if reason:
                skipped[test["operator"]] = reason
                continue
            for case in test["cases"]:
                if (test["operator"], test["name"]) in EXACT:
                    case["outputs"][0]["data"] = EXACT[test["operator"], test["name"]]
                with tempfile.TemporaryDirectory() as folder:
                    problem = run(model(test, case), case, pathlib.Path(folder))
                if problem:
                    failed.append(f"{path.name}: {test['name']} / {case['name']}: {problem}")
                else:
                    passed += 1
    for name, published in (("Sampling", draw), ("Whisper", search)):
        with tempfile.TemporaryDirectory() as folder:
            problem = published(pathlib.Path(folder))
        failed += [f"{name}: {problem}"] if problem else []
        passed += not problem
    for op, reason in skipped.items():
        print(f"left out: {op}: {reason}")
    print(f"{passed} vectors pass, {len(failed)} fail")
    for line in failed:
        print("FAILED", line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

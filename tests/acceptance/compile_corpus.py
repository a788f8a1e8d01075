#!/usr/bin/env python3
"""Every ONNX model of the corpus below 50 MB as code: does it compile without a warning, and give Ingot's own numbers?

usage: compile_corpus.py PATH_TO_INGOT cpp|sanitized|so|matlab [--match GLOB] [--every N] [--largest N]

sanitized: one in twenty of the official cases and eight networks, by g++ and by clang++, with the sanitizers of addresses and
of what is undefined.

Prints a line per model. A model that Ingot does not run itself, that has no floating-point tensor at its interface, or
passes texts, maps or sequences there, is counted by its reason; what draws random numbers has no right numbers. Everything
else must be right: exits with 1 where code is wrong or refused. --largest N: of models alike (by folder and size) only the
N largest.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
MOST_BYTES = 50_000_000
BOUND = 1e-3  # of an output's largest number: sums in another order, and rounding that tips over
FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]
SANITIZERS = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def run(*arguments, cwd=None, seconds=300):
    try:
        return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=seconds, cwd=cwd)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", "takes too long")


def last_lines(text):
    return " ".join(text.split())[-200:]


def why_not(ingot, model, refusal):
    """Why no code is asked for; empty: it is."""
    done = run(ingot, "run", model, "--random", "1", "--json")
    if done.returncode != 0:
        return f"Ingot does not run it (exit {done.returncode})"
    if re.search(r"\b(Multinomial|Bitmask)", refusal):
        return "draws random numbers"
    shown = json.loads(run(ingot, "inspect", model, "--json").stdout)
    types = [str(v.get("type", "")) for side in ("inputs", "outputs") for v in shown.get(side, [])]
    if any(re.search("string|map|seq|optional", t) for t in types):
        return "texts, maps or sequences at its interface"
    if not any(re.search("float|double", t) for t in types):
        return "no floating-point tensor at its interface"
    return ""


def tried_cpp(folder, compiler="g++", flags=()):
    done = run(compiler, *FLAGS, *flags, "net.cpp", "net_test.cpp", "-o", "program", "-lm", cwd=folder)
    if done.returncode != 0:
        return "DOES NOT COMPILE", last_lines(done.stderr)
    done = run("./program", cwd=folder)
    return ("right", "") if done.returncode == 0 else ("WRONG", last_lines(done.stdout + done.stderr))


def tried_sanitized(folder):
    for compiler in ("g++", "clang++"):
        answer, detail = tried_cpp(folder, compiler, SANITIZERS)
        if answer != "right":
            break
    return answer, f"{compiler}: {detail}" if detail else ""


def stored_tensors(path):
    """Inputs and outputs in the file that the test program of the C++ code reads: kind, dimensions and bytes of each."""
    data = path.read_bytes()
    at = 0

    def take():
        nonlocal at
        at += 8
        return struct.unpack_from("<q", data, at - 8)[0]

    tensors = []
    while at < len(data):
        kind, _, rank = take(), take(), take()
        dims = [take() for _ in range(rank)]
        size = take()
        tensors.append((kind, dims, data[at:at + size]))
        at += size
    return tensors


def apart(got, wanted):
    if got.keys() != wanted.keys():
        return "other outputs"
    for name, x in wanted.items():
        y = got[name]
        if x.get("shape") != y.get("shape"):
            return f"{name}: {y.get('shape')} where {x.get('shape')} was wanted"
        scale = max([abs(v) for k in ("min", "max") if isinstance(v := x.get(k), (int, float))] + [1e-30])
        for a, b in zip(x.get("first", []) + [x.get("mean")], y.get("first", []) + [y.get("mean")]):
            if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not abs(a - b) <= BOUND * scale:
                return f"{name}: {b} where {a} was wanted"
    return ""


def tried_so(ingot, model, folder):
    wanted = run(ingot, "run", model, "--random", "1", "--json")
    got = run(ingot, "run", "--native", f"{folder}/net.so", "--random", "1", "--json")
    if got.returncode != 0 or wanted.returncode != 0:
        return "WRONG", last_lines(got.stderr + wanted.stderr)
    what = apart(json.loads(got.stdout)["outputs"], json.loads(wanted.stdout)["outputs"])
    return ("WRONG", what) if what else ("right", "")


def models(args):
    found = [p for p in sorted(SHARED.rglob("corpus/**/*.onnx")) if p.stat().st_size < MOST_BYTES and
             fnmatch.fnmatch(str(p), args.match)]
    if args.what == "sanitized":
        cases = sorted((SHARED / "onnx-backend-tests").glob("*/*/model.onnx"))[::20]
        args.what, args.largest = "cpp", 60
        networks = [p for p in models(args) if p.stat().st_size > 20_000][::7][:8]
        args.what, args.largest = "sanitized", 0
        return cases + networks
    if args.largest:
        by_size = sorted(found, key=lambda p: -p.stat().st_size)
        alike, kept = set(), []
        for p in by_size:
            key = (p.parent.name, round(p.stat().st_size, -4))
            if key not in alike:
                kept.append(p)
                alike.add(key)
        return kept
    return found[::args.every]


def tried(args, model, folder):
    emit = "cpp" if args.what == "sanitized" else args.what
    done = run(args.ingot, "compile", model, "-o", "net", "--json", "--emit", emit, cwd=folder)
    if done.returncode not in (0, 4):
        return "passed over", f"Ingot does not read it (exit {done.returncode})"
    why = "" if args.what == "sanitized" and done.returncode == 0 else why_not(args.ingot, model, done.stderr)
    if why:
        return "passed over", why
    if done.returncode == 4:
        return "REFUSED", last_lines(done.stderr)
    if args.what == "so":
        return tried_so(args.ingot, model, folder)
    said = json.loads(done.stdout)
    if args.what in ("cpp", "sanitized") and said["why_no_test"]:
        return "passed over", said["why_no_test"]
    if args.what != "matlab":
        return tried_cpp(folder) if args.what == "cpp" else tried_sanitized(folder)
    return tried_matlab(args.ingot, model, folder)


OCTAVE_TYPES = {"float": "single", "double": "double", "bool": "uint8", "int8": "int8", "uint8": "uint8", "int16": "int16",
                "uint16": "uint16", "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64"}


def octave_array(name, data, dims, element):
    """Lines that read a tensor from a file: last axis first, as it lies there, then in the model's order."""
    wide = (dims + [1, 1])[:max(len(dims), 2)] if len(dims) < 2 else dims
    turned = " ".join(str(d) for d in reversed(wide))
    order = " ".join(str(i) for i in range(len(wide), 0, -1))
    return (f"f = fopen('{data}'); {name} = fread(f, Inf, '{element}=>{element}'); fclose(f);\n"
            f"{name} = permute(reshape({name}, [{turned}]), [{order}]);\n")


def tried_matlab(ingot, model, folder):
    folder = pathlib.Path(folder)
    done = run(ingot, "compile", model, "-o", "ref", "--json", cwd=folder)
    if done.returncode != 0 or json.loads(done.stdout)["why_no_test"]:
        return "passed over", "there are no numbers to compare with"
    shown = json.loads(run(ingot, "inspect", model, "--json").stdout)
    given = [v for v in shown["inputs"] if not v["has_default"]]
    tensors = stored_tensors(folder / "ref_test.bin")
    inputs, outputs = tensors[:len(given)], tensors[len(given):]
    script, names = "", []
    for i, (tensor, value) in enumerate(zip(inputs, given)):
        _, dims, data = tensor
        (folder / f"in{i}.bin").write_bytes(data)
        text = value["type"].split("[")[0]
        element = OCTAVE_TYPES.get(text)
        if not element:
            return "passed over", f"{text} at its interface"
        script += octave_array(f"x{i}", f"in{i}.bin", dims, element)
        if text == "bool":
            script += f"x{i} = logical(x{i});\n"
        names.append(f"x{i}")
    results = [f"y{i}" for i in range(len(outputs))]
    script += f"[{', '.join(results)}] = net({', '.join(names)});\n"
    for i, (kind, dims, data) in enumerate(outputs):
        if kind not in (1, 2):
            continue
        (folder / f"out{i}.bin").write_bytes(data)
        script += octave_array("w", f"out{i}.bin", dims, "single" if kind == 1 else "double")
        script += (f"if numel(y{i}) != numel(w) error('output {i} has another size'); end\n"
                   f"d = double(y{i}(:)) - double(w(:)); d = max([0; abs(d(isfinite(w(:))))]);\n"
                   f"s = max([1e-30; abs(double(w(isfinite(w))))(:)]);\n"
                   f"if !(d <= {BOUND} * s) error('output {i} is %g of its largest number apart', d / s); end\n")
    (folder / "try_it.m").write_text(script)
    done = run("octave-cli", "--quiet", "--no-init-file", "try_it.m", cwd=folder)
    return ("right", "") if done.returncode == 0 else ("WRONG", last_lines(done.stderr))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ingot", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("what", choices=["cpp", "sanitized", "so", "matlab"])
    parser.add_argument("--match", default="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--largest", type=int, default=0)
    args = parser.parse_args()
    if not (SHARED / "corpus").is_dir():
        print("**** SKIPPED: the corpus is not here", file=sys.stderr)
        return 77
    if args.what == "matlab" and not shutil.which("octave-cli"):
        print("**** SKIPPED: Octave is not installed", file=sys.stderr)
        return 77
    counts, reasons = collections.Counter(), collections.Counter()
    for model in models(args):
        with tempfile.TemporaryDirectory() as folder:
            answer, detail = tried(args, model, folder)
        counts[answer] += 1
        reasons[detail if answer == "passed over" else ""] += 1
        print(f"{answer:12} {model.relative_to(SHARED)} {detail}".rstrip(), flush=True)
        if args.largest and counts["right"] + counts["WRONG"] + counts["REFUSED"] >= args.largest:
            break
    print("; ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    for reason, count in reasons.most_common():
        if reason:
            print(f"  {count} {reason}")
    return 1 if any(k.isupper() for k in counts) else 0


if __name__ == "__main__":
    sys.exit(main())

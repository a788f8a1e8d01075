#!/usr/bin/env python3
"""What PyTorch scripts, traces and computes itself, converted to ONNX and run in ONNX Runtime.

torch_agreement.py --ingot PROGRAM --peers build/peers [--networks] [--filter WORD] [--verbose]; exit code 77: something
that it needs is not here. Without --networks the cases are those of torch/cases.py and torch/exported.py, which the test
`torch` runs in Ingot; with it torchvision's networks, in Ingot too. torch/agreement.txt names what may differ, with the
reason."""
import os
import re
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import agreement
import sklearn_agreement as shared

HERE = os.path.dirname(os.path.abspath(__file__))
# Calls that no file of PyTorch 1.13 for processors makes: conversions that it writes as others, what packs parameters
# before they are stored, what is younger or older than it, and three functions of archives that Ingot writes.
MOST_UNCALLED = 53
TOLERANCE = 1e-5  # of the output's scale, which is 1 at least


def cases_of(script, folder, wanted):
    done = subprocess.run([sys.executable, os.path.join(HERE, "torch", script), folder, wanted], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{script} failed:\n{done.stderr}")
    with open(os.path.join(folder, "cases.txt"), encoding="utf-8") as lines:
        return [line.split() for line in lines if line.strip()]


def difference(wanted, got):
    if list(wanted.shape) != list(got.shape):
        return f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    wanted, got = wanted.astype(np.float64).ravel(), got.astype(np.float64).ravel()
    here = np.isfinite(wanted)
    if not np.array_equal(wanted[~here], got[~here], equal_nan=True):
        return "what is not finite differs"
    worst, scale = np.abs(wanted[here] - got[here]).max(initial=0), np.abs(wanted[here]).max(initial=1)
    return f"differs by {worst:.3g} at a scale of {scale:.3g}" if not worst <= TOLERANCE * scale else None


def told(name, array, is_dynamic):
    sizes = [str(size) for size in array.shape]
    if is_dynamic and sizes:
        sizes[0] = "N"
    dtype = {"float32": "float", "float64": "double"}.get(str(array.dtype), str(array.dtype))
    shape = ["--input-shape", f"{name}:{','.join(sizes)}"] if sizes else []
    return shape + ["--input-type", f"{name}:{dtype}"]


def in_onnx_runtime(onnx, model, arrays, folder):
    feeds = {}
    for i, (name, (_, array)) in enumerate(arrays.items()):
        file = os.path.join(folder, f"in_{i}")
        array.tofile(file)
        feeds[name] = {"type": str(array.dtype), "shape": list(array.shape), "file": file}
    answer = onnx.run({"model": model, "inputs": feeds, "out": folder})
    if "error" in answer:
        return answer["error"], {}
    return None, {about["name"]: np.fromfile(about["file"], dtype=about["type"]).reshape(about["shape"])
                  for about in answer["outputs"]}


def outcome(options, onnx, folder, case, extension):
    name, inputs, outputs, dynamic = case[0], int(case[1]), int(case[2]), case[3] == "1"
    base = os.path.join(folder, name)
    arrays = {f"x{i}": (f"{base}.x{i}.npy", np.load(f"{base}.x{i}.npy")) for i in range(inputs)}
    command = [options.ingot, "convert", base + extension, "-o", base + ".onnx", "--no-verify"]
    if extension == ".pt":
        for key, (_, array) in arrays.items():
            command += told(key, array, dynamic)
    failed = shared.run(command)
    if failed:
        return "refused", failed
    ran = tempfile.mkdtemp(dir=folder)
    runs = [("ONNX Runtime", lambda: in_onnx_runtime(onnx, base + ".onnx", arrays, ran))]
    if options.networks:
        runs.append(("Ingot", lambda: shared.in_ingot(options, base + ".onnx", arrays, ran)))
    order = None
    for runtime, run in runs:
        failed, got = run()
        if failed:
            return "fails", f"in {runtime}: {failed}"
        if len(got) != outputs:
            return "differs", f"{len(got)} outputs instead of {outputs}"
        order = order or list(got)  # ONNX Runtime has them in the model's order
        for i, key in enumerate(order):
            differs = difference(np.load(f"{base}.y{i}.npy"), got[key])
            if differs:
                return "differs", f"in {runtime}: output {i} {differs}"
    return "agrees", ""


def called_in(folder):
    """The operators that the archives of a folder call."""
    names = set()
    for path in os.listdir(folder):
        if not path.endswith((".pt", ".pt2")):
            continue
        with zipfile.ZipFile(os.path.join(folder, path)) as archive:
            for member in archive.namelist():
                if member.endswith(".py") or (member.endswith(".json") and not member.endswith("_config.json")):
                    text = archive.read(member).decode()
                    names.update(re.findall(r"torch\.ops\.(?:\w+)\.(\w+)|\btorch\.(\w+)\(|\bops\.(?:\w+)\.(\w+)", text))
    return {name for found in names for name in found if name}


def count_rows(options, called):
    """How many of the table's rows some case calls; in place they are called with a line at their end."""
    done = subprocess.run([options.ingot, "ops", "--from", "torch"], capture_output=True, text=True, check=True)
    rows = [line.strip() for line in done.stdout.splitlines()[1:] if line.strip() and " " not in line.strip()]
    missing = [r for r in rows if r.split("::")[-1] not in called and r.split("::")[-1] + "_" not in called]
    print(f"{len(rows) - len(missing)} of {len(rows)} operators of the table are called; not: {' '.join(missing)}")
    return len(rows) > 700 and len(missing) <= MOST_UNCALLED


def main():
    options = agreement.parsed_arguments("torch", [("--networks", "torchvision's networks instead of the cases")])
    agreement.require(os.path.join(options.peers, "node_modules", "onnxruntime-node"))
    known = agreement.known_exceptions(os.path.join(HERE, "torch", "agreement.txt"), 1)
    onnx = agreement.Onnx(options.peers)
    if options.networks:
        try:
            import torchvision  # noqa: F401
        except ImportError as error:
            print(f"SKIPPED: {error}")
            sys.exit(77)
        sources = [("torchvision_networks.py", ".pt")]
        known = agreement.known_exceptions(os.path.join(HERE, "torch", "networks.txt"), 1)
    else:
        sources = [("cases.py", ".pt"), ("exported.py", ".pt2")]
    called = set()
    tally = agreement.Tally(known, bool(options.filter), options.verbose)
    for script, extension in sources:
        with tempfile.TemporaryDirectory() as folder:
            for case in cases_of(script, folder, options.filter):
                kind, reason = outcome(options, onnx, folder, case, extension)
                tally.add(kind, case[0], reason, case[0])
                if (kind == "agrees") == (case[0] in known):
                    tally.unexpected.append(f"{case[0]} {kind}")
            called |= called_in(folder)
    onnx.close()
    if not options.networks and not options.filter and not count_rows(options, called):
        tally.unexpected.append("too few operators of the table are called")
    tally.finish()


if __name__ == "__main__":
    main()

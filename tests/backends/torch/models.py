#!/usr/bin/python3
"""Whole models in PyTorch: converted by Ingot, run by PyTorch on drawn inputs, compared with what Ingot itself computes.

models.py --ingot PROGRAM [--at-least SHARE] [--source] [--every N] [--most MEGABYTES] PATH...; a path is a model or a
directory of them. Models that Ingot itself does not run on drawn inputs are counted apart. Exit code 77: something that
it needs is not here."""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import onnx.numpy_helper
    import torch

    from nodes import converted
    from stored import NUMPY, difference, flat, tensor_of, text_of
except ImportError as missing:
    print(f"{missing}: script/bootstrap installs python3-torch and python3-onnx")
    sys.exit(77)

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).parents[4] / "shared"))


def drawn(value, random):
    """Numbers for an input; an open size is 1. Null: of no plain type."""
    kind = value.type.tensor_type
    dtype = NUMPY.get(kind.elem_type)
    if dtype is None or kind.elem_type == onnx.TensorProto.BFLOAT16 or not kind.HasField("shape"):
        return None
    shape = [max(d.dim_value, 1) for d in kind.shape.dim]
    if np.issubdtype(dtype, np.floating):
        return np.asarray(random.uniform(0, 1, shape), dtype)
    return np.asarray(random.integers(0, 2, shape), dtype)


def ours(options, model, inputs, scratch):
    """What Ingot computes, in the order of the outputs; null: it does not."""
    words = []
    for i, (name, array) in enumerate(inputs.items()):
        np.save(scratch / f"{i}.npy", array)
        words += ["--in", f"{name}={scratch / str(i)}.npy"]
    out = scratch / "out"
    for old in out.glob("*"):
        old.unlink()
    made = subprocess.run([options.ingot, "run", str(model), *words, "--out", str(out)], capture_output=True, text=True,
                          check=False, timeout=300)
    if made.returncode != 0:
        return None
    return {p.stem: np.load(p) for p in out.glob("*.npy")}


def verdict(options, path, scratch):
    model = onnx.load(path, load_external_data=False)
    stored = {t.name for t in model.graph.initializer}
    random = np.random.default_rng(1)
    arrays = {v.name: drawn(v, random) for v in model.graph.input if v.name not in stored}
    if any(a is None for a in arrays.values()):
        return "apart: inputs of open or other types"
    wanted = ours(options, path, arrays, scratch)
    names = [o.name for o in model.graph.output]
    if not wanted or any(n not in wanted for n in names):
        return "apart: Ingot does not run it so"
    try:
        module = converted(options, path, scratch)
        if isinstance(module, str):
            return module
        tensors = [tensor_of(onnx.numpy_helper.from_array(a)) for a in arrays.values()]
        with torch.no_grad():
            results = flat(module(*tensors))
    except Exception as error:
        return "PyTorch: " + text_of(error)
    for name, result in zip(names, results):
        if not isinstance(result, torch.Tensor):
            return "apart: outputs that are no tensors"
        off = difference(result, tensor_of(onnx.numpy_helper.from_array(wanted[name])))
        if off:
            return f"differs: {name}: {off}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--at-least", type=float, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most", type=float, default=200)
    parser.add_argument("--source", action="store_true")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[SHARED / "onnx-backend-tests/light"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    files = [f for p in options.paths for f in (sorted(p.rglob("*.onnx")) if p.is_dir() else [p])]
    files = [f for f in files if f.exists() and f.stat().st_size < options.most * 1e6][::options.every]
    if not files:
        print(f"there are no models in {[str(p) for p in options.paths]}")
        return 77
    kinds = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            try:
                why = verdict(options, file, pathlib.Path(scratch))
            except Exception as error:
                why = f"apart: {type(error).__name__}: {text_of(error)}"
            kinds[why.split(":")[0] or "same"] += 1
            if why and not why.startswith("apart"):
                print(f"{file.name}: {why}", flush=True)
    judged = len(files) - kinds["apart"]
    share = kinds["same"] / judged if judged else 1
    print(f"{kinds['same']} of {judged} models agree in PyTorch ({share:.1%}); {dict(kinds)}")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())

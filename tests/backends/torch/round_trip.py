#!/usr/bin/python3
"""TorchScript files that Ingot reads and writes again, beside what they were, in PyTorch.

round_trip.py --ingot PROGRAM; exit code 77: something that it needs is not here."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import torch

    from stored import difference, flat, text_of
except ImportError as missing:
    print(f"{missing}: script/bootstrap installs python3-torch and python3-onnx")
    sys.exit(77)

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).parents[4] / "shared"))
# Files of the corpus, with shapes of their inputs.
FILES = {
    "cartpole/model_scripted.pt": [(3, 4)],
    "digits_cnn/model_scripted.pt": [(2, 1, 28, 28)],
    "nn_adder/model_scripted.pt": [(1, 1), (1, 1)],
    "tch_rs/foo1.pt": [(2, 2), (2, 2)],
    "traffic_sign/model_scripted.pt": [(2, 3, 32, 32)],
    "torch_js/test_model.pt": [(2, 2), (2, 2)],
}


def failure(options, name, shapes, scratch):
    source = SHARED / "corpus/torch" / name
    for a, b in ((source, scratch / "there.onnx"), (scratch / "there.onnx", scratch / "back.pt")):
        made = subprocess.run([options.ingot, "convert", str(a), "-o", str(b), "--no-verify"], capture_output=True,
                              text=True, check=False, timeout=300)
        if made.returncode != 0:
            return made.stderr.strip()
    before, after = torch.jit.load(str(source), map_location="cpu").eval(), torch.jit.load(str(scratch / "back.pt"))
    inputs = [torch.rand(shape, generator=torch.Generator().manual_seed(1)) for shape in shapes]
    with torch.no_grad():
        results = zip(flat(after(*inputs)), flat(before(*inputs)))
    off = next((d for d in (difference(ours, theirs) for ours, theirs in results) if d), "")
    names, held = set(dict(before.named_parameters())), set(dict(after.named_parameters()))
    # What normalises in inference is part of a convolution then, under a name of its own.
    if not off and not any(".bn" in n or "running" in n for n in before.state_dict()) and names != held:
        off = f"parameters {sorted(held)} for {sorted(names)}"
    return off


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    files = {name: shapes for name, shapes in FILES.items() if (SHARED / "corpus/torch" / name).exists()}
    if not files:
        print(f"there are no files in {SHARED / 'corpus/torch'}")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, shapes in files.items():
            try:
                why = failure(options, name, shapes, pathlib.Path(scratch))
            except Exception as error:
                why = text_of(error)
            failed += bool(why)
            print(f"{name}: {why or 'the same'}", flush=True)
    print(f"{len(files) - failed} of {len(files)} files are the same after the way there and back")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""What Ingot writes for PyTorch, read by Ingot again; and TorchScript files that it reads and writes again.

round_trip.py --ingot PROGRAM [--every N] [--cases WORD] [--at-least SHARE]: files of the corpus and cases of
tests/frontends/torch with WORD in their names, TorchScript -> ONNX -> TorchScript in PyTorch; each Nth of the official node
tests, ONNX -> TorchScript -> ONNX in Ingot, where a refusal to read counts as a failure; what cannot be written is the
matter of nodes.py. Exit code 77: something that it needs is not here."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import torch
    from onnx import numpy_helper

    from stored import CARRIER, NUMPY, SMALL_FLOATS, SMALL_INTEGERS, difference, flat, parsed, tensor_of, text_of

    try:
        import torchvision  # noqa: F401, its operators are in some cases
    except ImportError:
        pass
except ImportError as missing:
    print(f"{missing}: script/bootstrap installs python3-torch and python3-onnx")
    sys.exit(77)

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).parents[4] / "shared"))
CASES = pathlib.Path(__file__).parents[2] / "frontends/torch/cases.py"
# Files of the corpus, with shapes of their inputs.
FILES = {
    "cartpole/model_scripted.pt": [(3, 4)],
    "digits_cnn/model_scripted.pt": [(2, 1, 28, 28)],
    "nn_adder/model_scripted.pt": [(1, 1), (1, 1)],
    "tch_rs/foo1.pt": [(2, 2), (2, 2)],
    "traffic_sign/model_scripted.pt": [(2, 3, 32, 32)],
    "torch_js/test_model.pt": [(2, 2), (2, 2)],
}


def converted(options, source, target, *words):
    """Empty, or why not."""
    made = subprocess.run([options.ingot, "convert", str(source), "-o", str(target), "--no-verify", *words],
                          capture_output=True, text=True, check=False, timeout=300)
    return made.stderr.strip().replace("\n", " | ") if made.returncode else ""


def of_script(options, source, inputs, results, scratch):
    """TorchScript there and back: the same numbers, parameters of the same names. Empty, or what is not so."""
    words = ["--mode", "training"]  # what normalises is no part of a convolution then
    for i, array in enumerate(inputs):
        dtype = {torch.float32: "float", torch.float64: "double"}.get(array.dtype, str(array.dtype)[6:])
        name = inputs_of(source)[i]
        words += ["--input-type", f"{name}:{dtype}"]
        if array.dim():
            words += ["--input-shape", f"{name}:" + ",".join(map(str, array.shape))]
    off = (converted(options, source, scratch / "there.onnx", *words)
           or converted(options, scratch / "there.onnx", scratch / "back.pt"))
    if off:
        return off
    try:
        after = torch.jit.load(str(scratch / "back.pt")).eval()
        with torch.no_grad():
            made = flat(after(*inputs))
    except Exception as error:  # whatever PyTorch says to a file is a failure of ours
        return text_of(error)
    off = next((d for d in map(difference, made, results) if d), "")
    read = {i.name for i in onnx.load(str(scratch / "there.onnx")).graph.initializer}
    before = {n for n, _ in torch.jit.load(str(source), map_location="cpu").named_parameters()}
    held = {n for n, _ in after.named_parameters()}
    if not off and before & read != before & held:
        off = f"parameters {sorted(held)} for {sorted(before & read)}"
    return off


def inputs_of(source):
    schema = torch.jit.load(str(source), map_location="cpu").forward.schema
    return [argument.name for argument in schema.arguments[1:]]


def corpus(options, scratch):
    for name, shapes in FILES.items():
        source = SHARED / "corpus/torch" / name
        if source.exists():
            module = torch.jit.load(str(source), map_location="cpu").eval()
            inputs = [torch.rand(shape, generator=torch.Generator().manual_seed(1)) for shape in shapes]
            with torch.no_grad():
                results = flat(module(*inputs))
            yield name, of_script(options, source, inputs, results, scratch)


def cases(options, scratch):
    if not options.cases:
        return
    subprocess.run([sys.executable, str(CASES), str(scratch), options.cases], check=True)
    for line in (scratch / "cases.txt").read_text().splitlines():
        name, inputs, outputs, _ = line.split()
        arrays = [[torch.from_numpy(np.load(scratch / f"{name}.{kind}{i}.npy")) for i in range(int(count))]
                  for kind, count in (("x", inputs), ("y", outputs))]
        yield name, of_script(options, scratch / f"{name}.pt", *arrays, scratch)


def carry(source, target):
    """A stored tensor, in the type that carries it in PyTorch."""
    tensor = parsed(onnx.TensorProto(), source)
    is_carried = tensor.data_type in SMALL_FLOATS or tensor.data_type in SMALL_INTEGERS or tensor.data_type == 24
    if is_carried or np.dtype(NUMPY.get(tensor.data_type, np.float32)) in CARRIER:
        target.write_bytes(numpy_helper.from_array(tensor_of(tensor).numpy(), tensor.name).SerializeToString())
    else:
        target.symlink_to(source)


def nodes(options, scratch):
    """ONNX there and back; what came back is run by `ingot test` on the tests' own data."""
    found = sorted((SHARED / "onnx-backend-tests/node").glob("test_*"))[::options.every] if options.every else []
    why, folder = {}, scratch / "nodes"
    for case in found:
        place = folder / case.name
        place.mkdir(parents=True)
        if converted(options, case / "model.onnx", place / "model.pt"):
            continue
        why[case.name] = converted(options, place / "model.pt", place / "model.onnx")
        (place / "model.pt").unlink()
        for data in case.glob("test_data_set_*"):
            (place / data.name).mkdir()
            for file in data.iterdir():
                try:
                    carry(file, place / data.name / file.name)
                except Exception:  # no tensor: a sequence, an optional
                    (place / data.name / file.name).symlink_to(file)
    if found:
        ran = subprocess.run([options.ingot, "test", str(folder)], capture_output=True, text=True, check=False)
        lines = ran.stdout.splitlines()
        for i, line in enumerate(lines):
            if line.startswith("failed ") and line.split()[1] in why:
                why[line.split()[1]] = lines[i + 1].strip()
    yield from why.items()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--cases", default="")
    parser.add_argument("--at-least", type=float, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    status, total = 0, 0
    for group in (corpus, cases, nodes):
        with tempfile.TemporaryDirectory() as scratch:
            good = count = 0
            try:
                for name, why in group(options, pathlib.Path(scratch)):
                    count += 1
                    good += not why
                    if why:
                        print(f"{name}: {why[:300]}", flush=True)
            except Exception as error:
                print(f"{group.__name__}: {text_of(error)}")
                status = 1
        if count:
            print(f"{group.__name__}: {good} of {count} are the same after the way there and back ({good / count:.1%})")
            status |= good < options.at_least * count
        total += count
    if not total:
        print(f"there is no test data in {SHARED}")
        return 77
    return status


if __name__ == "__main__":
    sys.exit(main())

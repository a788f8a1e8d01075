#!/usr/bin/env python3
"""Every file of PyTorch in the corpus: graphs give what PyTorch gives, weights are PyTorch's bit by bit, and what is
refused is refused for the reason that stands here.

torch_corpus.py --ingot PROGRAM; exit code 77: something that it needs is not here."""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

CORPUS = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).parents[3] / "shared")) / "corpus/torch"
TOLERANCE = 1e-5  # of the output's scale, which is 1 at least
PHONES, BURN = "android_demo/", "burn_state_dicts/crates/burn-store/src/pytorch/tests/reader/test_data/"


def real(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape) + sum(shape)))


# Inputs by their names; a number is fixed.
GRAPHS = {
    PHONES + "ASLRecognition/app/src/main/assets/asl.ptl": {"x": real(1, 3, 200, 200)},
    PHONES + "PyTorchDemoApp/app/src/main/assets/model-reddit16-f140225004_2.pt1": {"byte_input": torch.randint(0, 200, (1, 60))},
    "cartpole/model_scripted.pt": {"x": real(3, 4)},
    "digits_cnn/model_scripted.pt": {"x": real(2, 1, 28, 28)},
    "iris_android/model.pt": {"input": real(3, 4)},
    "nn_adder/model_scripted.pt": {"x1": real(1, 1), "x2": real(1, 1)},
    "silero_vad/silero_vad.jit": {"x": real(1, 512), "sr": 16000},
    "tch_rs/foo.pt": {"x": real(2, 3), "y": real(2, 3)},
    "tch_rs/foo1.pt": {"x": real(2, 3), "y": real(2, 3)},
    "tch_rs/foo2.pt": {"x": real(2, 3), "y": real(2, 3)},
    "tch_rs/foo3.pt": {"x": real(2, 3)},
    "torch_js/test_model.pt": {"input1": real(2, 2), "input2": real(2, 2)},
    "traffic_sign/model_scripted.pt": {"x": real(2, 3, 32, 32)},
    "traffic_sign/traffic_sign_cpu.pt": {"x": real(2, 3, 32, 32)},
    "triton_state/qa/L0_request_cancellation/implicit_state_model/model.pt": {
        "delay_itrs": torch.zeros(1, dtype=torch.int64), "seq_start": real(1), "seq_id": real(1), "seq_state_in": real(1)},
}
# Converted, and no more is compared: a tuple of numbers is three inputs; PyTorch rounds what goes round in a recurrent
# network that is quantised dynamically.
CONVERTED = {"tch_rs/foo4.pt": [], "kws_crnn/model_scripted.pt": ["--input-shape", "chunk:1,16000"]}
REFUSED = {
    BURN + "broken.pt": "a text, not a model",
    "digits_cnn/model.pth": "Python code",
    "tch_rs/foo5.pt": "has a type that no input of a model can have",
    "tch_rs/foo6.pt": "the result 'output' is a TorchScriptClass",
    "tch_rs/foo7.pt": "has no method 'forward'",
    "tch_rs/foo8.pt": "has no method 'forward'",
}


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else []
    return [t for part in parts for t in flat(part)]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


def graph_failure(ingot, path, inputs, scratch):
    words, feeds = [], []
    for name, value in inputs.items():
        if isinstance(value, int):
            words += ["--input-value", f"{name}={value}"]
            continue
        words += ["--input-shape", f"{name}:{','.join(map(str, value.shape))}"]
        words += ["--input-type", f"{name}:{str(value.dtype).replace('torch.', '').replace('float32', 'float')}"]
        np.save(scratch / f"{name}.npy", value.numpy())
        feeds += ["--in", f"{name}={scratch / name}.npy"]
    code, said = run(ingot, "convert", path, "-o", scratch / "m.onnx", "--no-verify", *words)
    if code != 0:
        return said
    code, said = run(ingot, "run", scratch / "m.onnx", *feeds, "--out", scratch / "out")
    if code != 0:
        return said
    with torch.no_grad():
        wanted = flat(torch.jit.load(str(path), map_location="cpu").eval()(*inputs.values()))
    got = [scratch / "out" / f"output{'' if len(wanted) == 1 else f'_{i}'}.npy" for i in range(len(wanted))]
    for ours, theirs in zip(got, wanted):
        ours, theirs = np.load(ours).astype(np.float64), theirs.numpy().astype(np.float64)
        if ours.shape != theirs.shape or np.abs(ours - theirs).max(initial=0) > TOLERANCE * max(1, np.abs(theirs).max(initial=0)):
            return f"{ours} instead of {theirs}"
    return ""


def named_tensors(value, name=""):
    if isinstance(value, torch.Tensor):
        return {name: value.detach()}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else []
    return {k: t for key, part in items for k, t in named_tensors(part, f"{name}.{key}" if name else str(key)).items()}


def stored_tensors(path):
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    return {name: (entry["shape"], data[end:][slice(*entry["data_offsets"])]) for name, entry in header.items()}


def weights_failure(ingot, path, scratch):
    code, said = run(ingot, "convert", path, "-o", scratch / "w.safetensors")
    if code != 0:
        return said
    got = stored_tensors(scratch / "w.safetensors")
    if path.suffix == ".safetensors":
        return "" if got == stored_tensors(path) else "the tensors are others"
    wanted = named_tensors(torch.load(path, map_location="cpu"))
    if len(got) != len(wanted):
        return f"{len(got)} tensors instead of {len(wanted)}"
    for name, tensor in wanted.items():
        shape, raw = next((got[n] for n in (name, name or "tensor") if n in got), (None, None)) if name in got else list(got.values())[0]
        plain = tensor.contiguous()
        plain = plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain
        if shape != list(tensor.shape) or raw != plain.numpy().tobytes():
            return f"'{name}' is another tensor"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    endings = (".pt", ".pth", ".ptl", ".pt1", ".jit", ".safetensors")
    files = sorted(p for p in CORPUS.rglob("*") if p.suffix in endings) if CORPUS.exists() else []
    if not files:
        print(f"SKIPPED: there are no files in {CORPUS}")
        return 77
    tally, failed = {}, 0
    for path in files:
        name = str(path.relative_to(CORPUS))
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            if name in GRAPHS:
                kind, why = "graph gives what PyTorch gives", graph_failure(options.ingot, path, GRAPHS[name], scratch)
            elif name in REFUSED:
                code, said = run(options.ingot, "convert", path, "-o", scratch / "m.onnx", "--no-verify")
                is_right = code in (2, 3, 4) and REFUSED[name] in said
                kind, why = "is refused for its reason", "" if is_right else f"exit code {code}: {said}"
            elif name in CONVERTED:
                code, said = run(options.ingot, "convert", path, "-o", scratch / "m.onnx", "--no-verify", *CONVERTED[name])
                kind, why = "is converted", said if code else ""
            else:
                kind, why = "has PyTorch's weights", weights_failure(options.ingot, path, scratch)
        failed += bool(why)
        tally[kind] = tally.get(kind, 0) + (not why)
        if why:
            print(f"FAILED: {name}: {why[:600]}", flush=True)
    print(f"{len(files) - failed} of {len(files)} files: " + ", ".join(f"{n} {kind}" for kind, n in tally.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

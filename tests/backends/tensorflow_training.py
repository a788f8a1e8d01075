#!/usr/bin/env python3
"""A training run that began in Ingot goes on in the train graph of a SavedModel, run by TF.js.

tensorflow_training.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not
here. Each network is trained by Ingot for 5 steps and written with its state; from there, Ingot goes on for 20 steps with
the ONNX file, TF.js with the signature 'train' of the SavedModel that was made of it, and Ingot with that SavedModel read
again. Losses must agree within 1e-5.
"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
BATCH, EXAMPLES, FIRST, STEPS, LIMIT = 8, 80, 5, 20, 1e-5


def weight(random_, name, dims):
    count = 1
    for d in dims:
        count *= d
    bound = (count / dims[0]) ** -0.5
    values = ", ".join(f"{random_.uniform(-bound, bound):.6f}" for _ in range(count))
    return f"float[{','.join(map(str, dims))}] {name} = {{{values}}}"


def network(shape, weights, nodes, out="float[N,4] y"):
    random_ = random.Random(1)
    ones = lambda name, n, value: f"float[{n}] {name} = {{{', '.join([str(value)] * n)}}}"
    parts = [ones(*w) if isinstance(w[1], int) else weight(random_, *w) for w in weights]
    return ("<ir_version: 8, opset_import: [\"\" : 17]>\n"
            f"g (float[N,{','.join(map(str, shape))}] x) => ({out})\n<{', '.join(parts)}>\n{{\n{nodes}\n}}\n")


MLP = network([6], [("w", [6, 8]), ("b", [8]), ("v", [8, 4])], "h = MatMul(x, w)  i = Add(h, b)  j = Tanh(i)  y = MatMul(j, v)")
CONVOLUTIONS = network(
    [2, 9, 8], [("w", [4, 2, 3, 3]), ("b", [4]), ("s", 4, 1.0), ("o", 4, 0.0), ("m", 4, 0.0), ("q", 4, 1.0), ("v", [5, 4, 3, 3]),
                ("d", [5, 4])],
    """c = Conv<pads = [1, 1, 1, 1]>(x, w, b)  n = BatchNormalization(c, s, o, m, q)  r = Relu(n)
       p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)  e = Conv<strides = [2, 2]>(p, v)  f = Relu(e)
       a = AveragePool<kernel_shape = [1, 1]>(f)  l = Flatten(a)  y = MatMul(l, d)""")
RECURRENT = network(
    [5, 3], [("w", [1, 16, 3]), ("r", [1, 16, 4])],
    """t = Transpose<perm = [1, 0, 2]>(x)  a, h, c = LSTM<hidden_size = 4>(t, w, r)
       z = Constant<value = int64[1] {0}>()  y = Squeeze(h, z)""")
CASES = {
    "perceptron, adam": (MLP, [6], "cross_entropy", ["--optimizer", "adam", "--lr", "0.02"]),
    "perceptron, adamw, clipped": (MLP, [6], "cross_entropy", ["--optimizer", "adamw", "--lr", "0.02", "--clip-norm", "0.5"]),
    "perceptron, rmsprop, mse": (MLP, [6], "mse", ["--optimizer", "rmsprop", "--lr", "0.01"]),
    "convolutions, momentum": (CONVOLUTIONS, [2, 9, 8], "cross_entropy", ["--optimizer", "momentum", "--lr", "0.05"]),
    "convolutions, adam@keras": (CONVOLUTIONS, [2, 9, 8], "cross_entropy", ["--optimizer", "adam@keras", "--lr", "0.01"]),
    "recurrent, nesterov": (RECURRENT, [5, 3], "mse", ["--optimizer", "nesterov", "--lr", "0.1"]),
}


def npy(kind, dims, values):
    """numpy's file format, version 1."""
    code = {"<f4": "f", "<i8": "q"}[kind]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, dims))},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Run:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, pathlib.Path(scratch)

    def ingot(self, *words):
        done = subprocess.run([self.options.ingot, *map(str, words)], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode:
            raise RuntimeError(f"ingot {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def data(self, shape, loss):
        random_ = random.Random(2)
        size = 1
        for d in shape:
            size *= d
        x = [random_.uniform(-1, 1) for _ in range(EXAMPLES * size)]
        is_class = loss == "cross_entropy"
        y = [random_.randrange(4) for _ in range(EXAMPLES)] if is_class else [random_.uniform(-1, 1) for _ in range(EXAMPLES * 4)]
        with zipfile.ZipFile(self.scratch / "data.npz", "w") as archive:
            archive.writestr("x.npy", npy("<f4", [EXAMPLES, *shape], x))
            dims = [EXAMPLES] if is_class else [EXAMPLES, 4]
            archive.writestr("target.npy", npy("<i8" if is_class else "<f4", dims, y))
        (self.scratch / "x.bin").write_bytes(struct.pack(f"<{len(x)}f", *x))
        (self.scratch / "y.bin").write_bytes(struct.pack(f"<{len(y)}{'i' if is_class else 'f'}", *y))
        return [{"name": "x", "type": "float32", "shape": shape, "file": str(self.scratch / "x.bin")},
                {"name": "target", "type": "int32" if is_class else "float32", "shape": [] if is_class else [4],
                 "file": str(self.scratch / "y.bin")}]

    def losses(self, model, steps, *more):
        log = self.scratch / "log.jsonl"
        self.ingot("train", model, "--data", self.scratch / "data.npz", "--target", "target", "--batch", BATCH,
                   "--steps", steps, "--keep-order", "--log", log, *more)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [line["loss"] for line in lines if "loss" in line][:steps]

    def tfjs(self, model, inputs):
        job = {"model": str(model), "signature": "train", "steps": STEPS, "batch": BATCH, "inputs": inputs}
        done = subprocess.run(["node", HERE / "tensorflow_training.mjs", self.options.peers, json.dumps(job)],
                              capture_output=True, text=True, check=False, timeout=600)
        answer = json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {"error": done.stderr}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["losses"]

    def case(self, text, shape, loss, how):
        inputs = self.data(shape, loss)
        (self.scratch / "net.onnxtxt").write_text(text)
        trainable, mid, saved, back = (self.scratch / n for n in ("a.onnx", "mid.onnx", "saved", "back.onnx"))
        self.ingot("make-trainable", self.scratch / "net.onnxtxt", "-o", trainable, "--loss", loss, *how)
        begin = self.losses(trainable, FIRST, "--export-training", mid)
        self.ingot("convert", mid, "-o", saved, "--to", "savedmodel", "--no-verify")
        expected = self.losses(mid, STEPS)
        if abs(begin[-1] - expected[0]) == 0 or expected[0] == expected[-1]:
            raise RuntimeError("nothing was learnt, so nothing is compared")
        self.ingot("convert", saved, "--mode", "both", "-o", back, "--no-verify")
        results = {"read again by Ingot": self.losses(back, STEPS)}
        if "LSTM" not in text:  # bodies of loops are not part of what is wrapped anew for TF.js
            results["TF.js"] = self.tfjs(saved, inputs)
        return expected, results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True, type=pathlib.Path)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    if not shutil.which("node") or not (options.peers / "node_modules/@tensorflow/tfjs-converter").is_dir():
        print("node and @tensorflow/tfjs-converter are not here: script/bootstrap installs them")
        return 77
    failed = False
    for name, case in CASES.items():
        if options.filter not in name:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                expected, results = Run(options, scratch).case(*case)
            except RuntimeError as error:
                print(f"{name}: {error}")
                failed = True
                continue
        for who, losses in results.items():
            worst = max(abs(a - b) for a, b in zip(losses, expected)) if len(losses) == STEPS else float("inf")
            print(f"{name}: loss {expected[0]:.6f} -> {expected[-1]:.6f} in {STEPS} steps; {who}: at most {worst:.2e} apart")
            failed |= not worst <= LIMIT
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""ONNX models as layers: written, run by TF.js's layers and compared, and read again by Ingot.

keras_layers_out.py --ingot PROGRAM --peers build/peers; exit code 77: something that it needs is not here.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def weight(name, *dims, least=-0.5):
    draw = random.Random(name)
    count = 1
    for d in dims:
        count *= d
    values = ", ".join(f"{draw.uniform(least, 0.5):.5f}" for _ in range(count))
    return f"float[{','.join(map(str, dims))}] {name} = {{{values}}}"


def model(inputs, outputs, weights, nodes):
    return f"{HEAD}g ({inputs}) => ({outputs})\n<{', '.join(weights)}>\n{{\n{nodes}\n}}\n"


CASES = {
    "perceptron": model("float[N,6] x", "float[N,3] y", [weight("w", 8, 6), weight("b", 8), weight("v", 8, 3)],
                        "h = Gemm<transB = 1>(x, w, b)  r = Relu(h)  m = MatMul(r, v)  y = Softmax(m)"),
    "convolutions": model(
        "float[N,3,12,10] x", "float[N,4] y",
        [weight("w", 6, 3, 3, 3), weight("b", 6), weight("s", 6), weight("o", 6), weight("m", 6), weight("q", 6, least=0.2),
         weight("d", 6, 1, 3, 3), weight("v", 4, 6, 1, 1)],
        """c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w, b)  n = BatchNormalization(c, s, o, m, q)  r = LeakyRelu<alpha = 0.1>(n)
           p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)  e = Conv<group = 6, pads = [1, 1, 1, 1]>(p, d)
           a = Add(e, p)  f = Conv(a, v)  g = GlobalAveragePool(f)  h = Flatten(g)  y = Sigmoid(h)"""),
    "branches": model("float[N,4] a, float[N,4] b", "float[N,8] y, float[N,4] z", [weight("k", 4)],
                      "s = Mul(a, b)  t = Add(s, k)  u = Max(t, a)  y = Concat<axis = 1>(u, t)  z = Tanh(u)"),
    "sequence": model("float[N,9,4] x", "float[N,7] y", [weight("w", 5, 4, 3), weight("v", 35, 7)],
                      """t = Transpose<perm = [0, 2, 1]>(x)  c = Conv(t, w)  e = Elu(c)  f = Flatten(e)  y = MatMul(f, v)"""),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True, type=pathlib.Path)
    options = parser.parse_args()
    modules = options.peers / "node_modules"
    if not shutil.which("node") or not (modules / "@tensorflow/tfjs-layers").is_dir():
        print("node and @tensorflow/tfjs-layers are not here: script/bootstrap installs them")
        return 77
    failed = 0
    for name, text in CASES.items():
        with tempfile.TemporaryDirectory() as scratch:
            source, made, again = (pathlib.Path(scratch) / n for n in ("m.onnxtxt", "layers", "again.onnx"))
            source.write_text(text)
            why = ""
            # TF.js runs what was written, and what is read of it again.
            for words in (["convert", source, "-o", made, "--to", "keras"], ["convert", made, "-o", again]):
                done = subprocess.run([options.ingot, *map(str, words), "--peers", str(modules)], capture_output=True, text=True,
                                      check=False)
                if done.returncode or "TF.js" not in done.stderr or "verified:" not in done.stderr:
                    why = done.stderr
                    break
            classes = [layer["class_name"] for layer in json.loads((made / "model.json").read_text())["modelTopology"]
                       ["model_config"]["config"]["layers"]] if (made / "model.json").exists() else []
        print(f"{name}: {' '.join(classes)}{why and chr(10) + why}")
        failed += bool(why)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

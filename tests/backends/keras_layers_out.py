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
    "biases": model("float[N,5,6] x", "float[N,5,3] y", [weight("w", 6, 8), weight("b", 8), weight("v", 8, 3), weight("c", 1, 1, 3)],
                    "m = MatMul(x, w)  h = Add(m, b)  r = Relu(h)  n = MatMul(r, v)  y = Add(c, n)"),
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
    "lstm": model("float[N,5,3] x", "float[N,4] y", [weight("w", 1, 16, 3), weight("r", 1, 16, 4), weight("b", 1, 32)],
                  """t = Transpose<perm = [1, 0, 2]>(x)  a, h, c = LSTM<hidden_size = 4>(t, w, r, b)  axes = Constant<value_ints = [0]>()
                     y = Squeeze(h, axes)"""),
    "lstm, all steps": model(
        "float[N,T,3] x", "float[N,T,4] y", [weight("w", 1, 16, 3), weight("r", 1, 16, 4), weight("b", 1, 32)],
        """t = Transpose<perm = [1, 0, 2]>(x)  a, h, c = LSTM<hidden_size = 4>(t, w, r, b)  axes = Constant<value_ints = [1]>()
           s = Squeeze(a, axes)  y = Transpose<perm = [1, 0, 2]>(s)"""),
    "gru": model("float[N,5,3] x", "float[N,2] y", [weight("w", 1, 12, 3), weight("r", 1, 12, 4), weight("b", 1, 24), weight("v", 4, 2)],
                 """t = Transpose<perm = [1, 0, 2]>(x)  a, h = GRU<hidden_size = 4>(t, w, r, b)  axes = Constant<value_ints = [0]>()
                    s = Squeeze(h, axes)  y = MatMul(s, v)"""),
    "rnn, backwards": model("float[N,5,3] x", "float[N,4] y", [weight("w", 1, 4, 3), weight("r", 1, 4, 4), weight("b", 1, 8)],
                            """t = Transpose<perm = [1, 0, 2]>(x)  a, h = RNN<hidden_size = 4, direction = "reverse">(t, w, r, b)
                               axes = Constant<value_ints = [0]>()  y = Squeeze(h, axes)"""),
    "both directions": model(
        "float[N,5,3] x", "float[N,5,8] y", [weight("w", 2, 16, 3), weight("r", 2, 16, 4), weight("b", 2, 32)],
        """t = Transpose<perm = [1, 0, 2]>(x)  a, h, c = LSTM<hidden_size = 4, direction = "bidirectional">(t, w, r, b)
           p = Transpose<perm = [0, 2, 1, 3]>(a)  sizes = Constant<value_ints = [0, 0, -1]>()  j = Reshape(p, sizes)
           y = Transpose<perm = [1, 0, 2]>(j)"""),
    "transposed": model(
        "float[N,3,5,4] x", "float[N,2,10,8] y, float[N,2,10,8] z, float[N,2,12,10] q, float[N,2,11,9] u",
        [weight("w", 3, 2, 4, 4), weight("b", 2), weight("v", 3, 2, 3, 3), weight("o", 3, 2, 3, 3)],
        """y = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w, b)
           z = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 1]>(x, v, b)
           q = ConvTranspose<strides = [2, 2]>(x, w)  u = ConvTranspose<strides = [2, 2]>(x, o, b)"""),
    "larger": model("float[N,3,5,4] x", "float[N,2,10,12] y", [weight("w", 2, 3, 1, 1), "float[4] s = {1, 1, 2, 3}"],
                    """u = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , s)
                       y = Conv(u, w)"""),
    "attention": model(
        "float[N,5,8] x", "float[N,5,8] y", [weight("q", 8, 8), weight("k", 8, 8), weight("v", 8, 8), weight("s", 8), weight("o", 8)],
        """a = MatMul(x, q)  b = MatMul(x, k)  c = MatMul(x, v)  t = Transpose<perm = [0, 2, 1]>(b)  d = MatMul(a, t)
           scale = Constant<value_float = 0.35>()  e = Mul(d, scale)  f = Softmax(e)  g = MatMul(f, c)  h = Add(g, x)
           y = LayerNormalization<axis = -1, epsilon = 0.001>(h, s, o)"""),
    # Nothing here asks for channels at the end, so they stay second.
    "scaled, channels second": model(
        "float[N,3,6,6] x", "float[N,3,6,6] y",
        [weight("s", 3), weight("o", 3), weight("m", 3), weight("q", 3, least=0.2), weight("k", 3, 1, 1), weight("l", 6)],
        "n = BatchNormalization(x, s, o, m, q)  a = Add(n, k)  b = Selu(a)  y = Mul(b, l)"),
}

RESIZE = '<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">'
# What no layer says, although the sizes of one run would let it: the reason.
REFUSED = {
    "scales of an input": (f"{HEAD}g (float[1,1,2,2] x, float[4] s) => (float[1,1,4,6] y) {{y = Resize{RESIZE}(x, , s)}}",
                           "sizes that are computed"),
    "sizes of an input": (f"{HEAD}g (float[1,1,2,2] x, int64[4] s) => (float[1,1,4,6] y) {{y = Resize{RESIZE}(x, , , s)}}",
                          "sizes that are computed"),
    "another selu": (f"{HEAD}g (float[N,4] x) => (float[N,4] y) {{y = Selu<alpha = 2.0, gamma = 3.0>(x)}}", "no layer of TF.js and Keras is it"),
    "one selu's slope": (f"{HEAD}g (float[N,4] x) => (float[N,4] y) {{y = Selu<alpha = 1.7>(x)}}", "no layer of TF.js and Keras is it"),
    "more channels than came": (model("float[N,1,4,4] x", "float[N,3,4,4] y", [weight("k", 3, 1, 1)], "y = Mul(x, k)"),
                                "keeps its sizes"),
    "a number for each example": (model("float[4] x", "float[4] y", [weight("w", 4)], "y = Add(x, w)"), "one for each channel"),
}


# What a network is made of, where more layers would do too.
LAYERS = {"biases": "InputLayer Dense Activation Dense"}


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
        if not why and ' '.join(classes) != LAYERS.get(name, ' '.join(classes)):
            why = f"not {LAYERS[name]}"
        print(f"{name}: {' '.join(classes)}{why and chr(10) + why}")
        failed += bool(why)
    for name, (text, reason) in REFUSED.items():
        with tempfile.TemporaryDirectory() as scratch:
            source = pathlib.Path(scratch) / "m.onnxtxt"
            source.write_text(text)
            done = subprocess.run([options.ingot, "convert", source, "-o", pathlib.Path(scratch) / "layers", "--to", "keras"],
                                  capture_output=True, text=True, check=False)
        is_refused = done.returncode == 4 and reason in done.stderr
        print(f"{name}: {'refused' if is_refused else done.stderr}")
        failed += not is_refused
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

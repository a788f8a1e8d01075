#!/usr/bin/env python3
"""Operations in functional models: keras.ops in .keras files, TensorFlow's functions and nodes (TFOpLambda, SlicingOpLambda,
TensorFlowOpLayer) in .h5 files, converted and run by Ingot, and held against NumPy.

keras_operations.py --ingot PROGRAM [--filter WORD]; exit code 77: something that it needs is not here.
"""
import argparse
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import zipfile

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"{error.name} is not here: script/bootstrap installs it")
    sys.exit(77)

rng = np.random.default_rng(11)
CASES = []


class Tensor(int):
    """Input number so and so, as an argument."""


A, B, C = Tensor(0), Tensor(1), Tensor(2)


def draw(*dims):
    return rng.standard_normal(dims).astype(np.float32) * np.float32(0.5)


def op(name, inputs, expected, /, *args, config=None, **kwargs):
    """An operation of keras.ops; `config`: what its constructor was told."""
    CASES.append({"row": f"op:{name}", "kind": "op", "name": name, "config": config or {}, "args": args or (A,), "kwargs": kwargs,
                  "inputs": inputs if isinstance(inputs, list) else [inputs], "expected": expected})


def tf(name, inputs, expected, /, *args, **kwargs):
    """A function of TensorFlow, called."""
    CASES.append({"row": f"tf:{name}", "kind": "tf", "name": name, "config": {}, "args": args or (A,), "kwargs": kwargs,
                  "inputs": inputs if isinstance(inputs, list) else [inputs], "expected": expected})


def node(name, inputs, expected, /, attr=None, constants=None):
    """A node of TensorFlow; `constants`: by the place of the input."""
    CASES.append({"row": "TensorFlowOpLayer", "kind": "node", "name": name, "config": {"attr": attr or {}, "constants": constants or {}},
                  "args": (), "kwargs": {}, "inputs": inputs if isinstance(inputs, list) else [inputs], "expected": expected})


# ---- files
def sizes_of(array):
    return [None, *array.shape[1:]] if array.ndim else []


def kind_of(array):
    return "string" if array.dtype.kind == "U" else str(array.dtype)


def inputs_of(c):
    return [(f"x{i}", array) for i, array in enumerate(c["inputs"])]


def write_archive(path, c):
    # Inputs share the size of the batch, which is open; what has others, or splits it, has fixed sizes.
    is_one_batch = len({a.shape[:1] for a in c["inputs"]}) == 1 and not c.get("is_fixed")

    def shape_of(array):
        return sizes_of(array) if is_one_batch else list(array.shape)

    def said(value):
        if isinstance(value, Tensor):
            array = c["inputs"][value]
            return {"class_name": "__keras_tensor__", "config": {"shape": shape_of(array), "dtype": kind_of(array),
                                                                  "keras_history": [f"x{int(value)}", 0, 0]}}
        return [said(v) for v in value] if isinstance(value, (list, tuple)) else value
    layers = [{"module": "keras.layers", "class_name": "InputLayer", "name": n, "inbound_nodes": [],
               "config": {"batch_shape": shape_of(a), "dtype": kind_of(a), "name": n}} for n, a in inputs_of(c)]
    layers.append({"module": "keras.src.ops.numpy", "class_name": c["name"], "name": "y", "registered_name": c["name"],
                   "config": {"name": "y", **c["config"]},
                   "inbound_nodes": [{"args": [said(a) for a in c["args"]], "kwargs": {k: said(v) for k, v in c["kwargs"].items()}}]})
    config = {"module": "keras", "class_name": "Functional", "registered_name": "Functional",
              "config": {"name": "m", "layers": layers, "input_layers": [[n, 0, 0] for n, _ in inputs_of(c)],
                         "output_layers": [["y", 0, i] for i in range(len(c["results"]))]}}
    stored = io.BytesIO()
    h5py.File(stored, "w").close()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.10.0"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", stored.getvalue())


def write_h5(path, c):
    def said(value):
        if isinstance(value, Tensor):
            return [f"x{int(value)}", 0, 0]
        return [said(v) for v in value] if isinstance(value, (list, tuple)) else value
    layers = [{"class_name": "InputLayer", "name": n, "inbound_nodes": [],
               "config": {"batch_input_shape": sizes_of(a), "dtype": kind_of(a), "name": n}} for n, a in inputs_of(c)]
    if c["kind"] == "node":
        constants = c["config"]["constants"]
        count = len(c["inputs"]) + len(constants)
        layer = {"class_name": "TensorFlowOpLayer", "config": {"name": "y", "trainable": True, "dtype": "float32", "node_def": {
            "name": "y", "op": c["name"], "input": [f"in{i}" for i in range(count)], "attr": c["config"]["attr"]}, "constants": constants}}
        inbound = [[n, 0, 0, {}] for n, _ in inputs_of(c)]
    else:
        class_name = "SlicingOpLambda" if c["name"].endswith("getitem") else "TFOpLambda"
        layer = {"class_name": class_name, "config": {"name": "y", "trainable": True, "dtype": "float32", "function": c["name"]}}
        first, *rest = c["args"]
        names = c["kwargs"] | {"name": None}
        named = {k: said(v) for k, v in names.items()}
        if rest:
            raise ValueError("arguments behind the first have names")
        if isinstance(first, Tensor):
            inbound = [[*said(first), named]]
        elif isinstance(first, list):  # a list of tensors
            inbound = [[*said(t), named if i == 0 else {}] for i, t in enumerate(first)]
        else:
            inbound = [["_CONSTANT_VALUE", -1, first, named]]
    layers.append({**layer, "name": "y", "inbound_nodes": [inbound]})
    model = {"class_name": "Functional", "config": {"name": "m", "layers": layers, "input_layers": [[n, 0, 0] for n, _ in inputs_of(c)],
                                                    "output_layers": [["y", 0, i] for i in range(len(c["results"]))]}}
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(model)
        file.attrs["keras_version"] = "2.9.0"
        file.create_group("model_weights").attrs["layer_names"] = np.array([], "S1")


def run(ingot, c, scratch):
    results = c["expected"](*c["inputs"])
    c["results"] = results if isinstance(results, list) else [results]
    model = scratch / ("m.keras" if c["kind"] == "op" else "m.h5")
    (write_archive if c["kind"] == "op" else write_h5)(model, c)
    words = [w for n, array in inputs_of(c) for w in ("--in", f"{n}={scratch / n}.npy")]
    for n, array in inputs_of(c):
        np.save(scratch / f"{n}.npy", array)
    for command in (["convert", model, "-o", scratch / "m.onnx", "--no-verify"],
                    ["run", scratch / "m.onnx", *words, "--out", scratch / "out"]):
        done = subprocess.run([ingot, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr
    files = sorted((scratch / "out").glob("*.npy"))
    if len(files) != len(c["results"]):
        return f"{len(files)} results"
    # What is known but for its sign is compared without it.
    made = c.get("made", lambda *values: list(values))
    for got, expected in zip(made(*(np.load(file) for file in files)), made(*c["results"])):
        expected = np.asarray(expected)
        if got.shape != expected.shape:
            return f"the shape is {got.shape}, not {expected.shape}"
        if expected.dtype.kind == "U":
            if (got != expected).any():
                return f"{got} is not {expected}"
            continue
        scale = max(1.0, float(np.abs(expected.astype(np.float64)).max()))
        if not np.allclose(got.astype(np.float64), expected.astype(np.float64), rtol=0, atol=2e-5 * scale, equal_nan=True):
            return f"{np.abs(got.astype(np.float64) - expected).max():.3g} apart"
    return ""


# ---- products
q, k = draw(2, 4, 4), draw(2, 4, 4)
turned = lambda x: x.swapaxes(-1, -2)
op("Matmul", [q, k], lambda x, y: x @ y, A, B)
for name in ("matmul", "linalg.matmul"):
    tf(name, [q, k], lambda x, y: x @ turned(y), A, b=B, transpose_b=True)
    tf(name, [q, k], lambda x, y: turned(x) @ y, A, b=B, transpose_a=True)

# ---- whole numbers
whole = np.array([[7, -7, 5], [4, 9, -2]], np.int32)
divisor = np.array([[2, 2, 3], [3, 4, 4]], np.int32)
op("TrueDivide", [whole, divisor], lambda x, y: x / y, A, B)
op("Divide", [whole], lambda x: x / 2, A, 2)
tf("math.truediv", [whole], lambda x: x / 2, A, y=2)
op("Multiply", [whole], lambda x: x * 0.5, A, 0.5)
op("Mean", [whole], lambda x: x.mean(1), A, config={"axis": 1, "keepdims": False})
op("Mod", [whole, divisor], np.mod, A, B)
tf("math.floormod", [whole, divisor], np.mod, A, y=B)

# ---- elements
unit = np.clip(draw(3, 4), -0.9, 0.9)
for name, function in (("Arccos", np.arccos), ("Arcsin", np.arcsin), ("Arctan", np.arctan), ("Arctanh", np.arctanh), ("Arcsinh", np.arcsinh),
                       ("Cosh", np.cosh), ("Sinh", np.sinh)):
    op(name, unit, function)
op("Arccosh", np.abs(unit) + np.float32(1.5), np.arccosh)
op("Log2", np.abs(unit) + np.float32(0.5), np.log2)
op("Log10", np.abs(unit) + np.float32(0.5), np.log10)
op("Arctan2", [draw(3, 4), draw(3, 4)], np.arctan2, A, B)
odd = np.array([[1, np.nan, np.inf], [-np.inf, 0, 2]], np.float32)
for name, function in (("Isnan", np.isnan), ("Isinf", np.isinf), ("Isfinite", np.isfinite)):
    op(name, odd, function)
with_zeros = np.array([[1, 0, 2], [0, 3, 0]], np.float32)
tf("math.divide_no_nan", [draw(2, 3), with_zeros], lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)), A, y=B)
op("Where", [with_zeros > 0, draw(2, 3), draw(2, 3)], np.where, A, B, C)
tf("where", [with_zeros > 0, draw(2, 3), draw(2, 3)], np.where, A, x=B, y=C)
op("LogicalXor", [with_zeros > 0, draw(2, 3) > 0], np.logical_xor, A, B)
tf("__operators__.add", [draw(2, 3)], lambda x: 1.5 + x, 1.5, y=A)
tf("__operators__.ne", [with_zeros], lambda x: x != 0, A, y=0.0)

# ---- along axes
cube = draw(3, 4, 5)
for name, function in (("Any", np.any), ("All", np.all)):
    op(name, with_zeros > 0, lambda x, f=function: f(x, 1), config={"axis": 1, "keepdims": False})
op("Var", cube, lambda x: x.var((1, 2), keepdims=True), config={"axis": [1, 2], "keepdims": True})
op("Std", cube, lambda x: x.std(1), config={"axis": 1, "keepdims": False})
tf("math.reduce_std", cube, lambda x: x.std(2), A, axis=2, keepdims=False)
tf("math.reduce_variance", cube, lambda x: x.var(), A)
op("CountNonzero", with_zeros, lambda x: np.count_nonzero(x, 1), config={"axis": 1})
op("Amax", cube, lambda x: x.max(1), config={"axis": 1, "keepdims": False})
op("Argmax", cube, lambda x: x.argmax(1), config={"axis": 1, "keepdims": False})
op("Argmin", cube, lambda x: x.argmin(), config={"axis": None, "keepdims": False})
tf("math.argmax", cube, lambda x: x.argmax(-1), A, axis=-1, output_type="int32")
tf("argmin", cube, lambda x: x.argmin(0), A)
op("Cumsum", cube, lambda x: x.cumsum(1), config={"axis": 1, "dtype": None})
tf("math.cumsum", cube, lambda x: np.flip(np.flip(x, 1).cumsum(1), 1), A, axis=1, exclusive=False, reverse=True)
op("Sort", cube, lambda x: np.sort(x, 1), config={"axis": 1})
tf("sort", cube, lambda x: -np.sort(-x, -1), A, axis=-1, direction="DESCENDING")
op("Argsort", cube, lambda x: np.argsort(x, -1), config={"axis": -1})
op("TopK", cube, lambda x: [-np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2]], config={"k": 2, "sorted": True})
tf("math.top_k", cube, lambda x: [-np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2]], A, k=2, sorted=True)
op("Norm", cube, lambda x: np.sqrt((x * x).sum(1)), config={"ord": None, "axis": 1, "keepdims": False})
tf("norm", cube, lambda x: np.sqrt((x * x).sum(-1, keepdims=True)), A, ord="euclidean", axis=-1, keepdims=True)
op("Normalize", cube, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), config={"axis": -1, "order": 2, "epsilon": None})
tf("math.l2_normalize", cube, lambda x: x / np.sqrt((x * x).sum(1, keepdims=True)), A, axis=1, epsilon=1e-12)

# ---- elsewhere
op("Tile", cube, lambda x: np.tile(x, (1, 2, 1)), config={"repeats": [2, 1]})
tf("tile", cube, lambda x: np.tile(x, (1, 2, 3)), A, multiples=[1, 2, 3])
op("Repeat", cube, lambda x: x.repeat(3, 1), config={"repeats": 3, "axis": 1})
tf("repeat", cube, lambda x: x.repeat(2, 2), A, repeats=2, axis=2)
op("Flip", cube, lambda x: np.flip(x, 1), config={"axis": 1})
tf("reverse", cube, lambda x: np.flip(x, (1, 2)), A, axis=[1, 2])
op("Roll", cube, lambda x: np.roll(x, 2, 1), config={"shift": 2, "axis": 1})
tf("roll", cube, lambda x: np.roll(x, -1, 2), A, shift=-1, axis=2)
op("Swapaxes", cube, lambda x: x.swapaxes(1, 2), config={"axis1": 1, "axis2": 2})
op("Moveaxis", cube[..., None] + draw(1, 1, 1, 2), lambda x: np.moveaxis(x, 1, 3), config={"source": 1, "destination": 3})
op("Ravel", cube, np.ravel)
op("BroadcastTo", draw(3, 1, 5), lambda x: np.broadcast_to(x, (3, 4, 5)), config={"shape": [3, 4, 5]})
tf("broadcast_to", draw(3, 1, 5), lambda x: np.broadcast_to(x, (3, 4, 5)), A, shape=[3, 4, 5])
places = np.array([[0, 3], [2, 1], [1, 1]], np.int32)
op("Take", [cube, places], lambda x, i: x.take(i, 1), A, B, config={"axis": 1})
op("TakeAlongAxis", [cube[:, :, 0], places], lambda x, i: np.take_along_axis(x, i, 1), A, B, config={"axis": 1})
tf("gather", [cube, places], lambda x, i: np.stack([a[b] for a, b in zip(x, i)]), A, indices=B, axis=1, batch_dims=1)
tf("gather", [cube], lambda x: x[:, [2, 0]], A, indices=[2, 0], axis=1)
tf("gather_nd", [cube, np.array([[0, 1], [2, 3], [1, 0]], np.int32)], lambda x, i: x[i[:, 0], i[:, 1]], A, indices=B)
op("OneHot", places, lambda x: np.eye(5, dtype=np.float32)[x], config={"num_classes": 5, "axis": -1, "dtype": "float32"})
tf("one_hot", places, lambda x: np.eye(4, dtype=np.float32)[x], A, depth=4)
op("Tril", cube, lambda x: np.tril(x, -1), config={"k": -1})
op("Triu", cube, lambda x: np.triu(x, 1), config={"k": 1})
op("Pad", cube, lambda x: np.pad(x, [(0, 0), (1, 2), (0, 1)]), config={"pad_width": [[0, 0], [1, 2], [0, 1]], "mode": "constant"})
op("Pad", cube, lambda x: np.pad(x, [(0, 0), (1, 2), (0, 1)], mode="reflect"), config={"pad_width": [[0, 0], [1, 2], [0, 1]], "mode": "reflect"})
tf("pad", cube, lambda x: np.pad(x, [(0, 0), (1, 2), (0, 1)], constant_values=2.5), A, paddings=[[0, 0], [1, 2], [0, 1]], mode="CONSTANT",
   constant_values=2.5)
op("Split", cube, lambda x: np.split(x, 2, 1), config={"indices_or_sections": 2, "axis": 1})
op("Split", cube, lambda x: np.split(x, [1, 3], 1), config={"indices_or_sections": [1, 3], "axis": 1})
tf("split", cube, lambda x: np.split(x, [1, 2], 2), A, num_or_size_splits=[1, 1, 3], axis=2)
tf("unstack", cube, lambda x: [x[:, i] for i in range(4)], A, num=None, axis=1)
op("Unstack", cube, lambda x: [x[:, :, i] for i in range(5)], config={"num": None, "axis": 2})
tf("reshape", [cube], lambda x: x.reshape(3, 20), A, shape=[-1, 20])
tf("shape", [cube], lambda x: np.array(x.shape), A)
tf("zeros_like", [cube], np.zeros_like)
op("OnesLike", cube, np.ones_like)
op("Squeeze", draw(3, 1, 5, 1), lambda x: x[:, 0, :, 0], config={"axis": [1, 3]})
op("ExpandDims", cube, lambda x: x[:, None, :, None], config={"axis": [1, 3]})
tf("__operators__.getitem", cube, lambda x: x[:, 1:, None, ::2], A, slice_spec=[{"start": None, "stop": None, "step": None}, {"start": 1, "stop": None, "step": None},
                                                                              None, {"start": None, "stop": None, "step": 2}])

# ---- images
pixels = (rng.random((2, 4, 4, 4)) * 200).astype(np.float32)
doubled = lambda x: x.repeat(2, 1).repeat(2, 2)
tf("image.resize", pixels, doubled, A, size=[8, 8], method="nearest")
op("Resize", pixels, doubled, config={"size": [8, 8], "interpolation": "nearest", "antialias": False, "data_format": "channels_last"})
halved = lambda x: x.reshape(2, 2, 2, 2, 2, 4).mean((2, 4))
tf("image.resize", pixels, halved, A, size=[2, 2], method="bilinear")
deep = lambda x: x.reshape(2, 4, 4, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(2, 8, 8, 1)
tf("nn.depth_to_space", pixels, deep, A, block_size=2)

# ---- one by one: by the names of keras.ops and of TensorFlow
x, y, positive = draw(3, 4), draw(3, 4), np.abs(draw(3, 4)) + np.float32(0.25)
sigmoid = lambda v: 1 / (1 + np.exp(-v))
softplus = lambda v: np.log1p(np.exp(v))
erf = np.vectorize(math.erf)
UNARY = [("Abs Absolute Fabs", "abs math.abs", x, np.abs), ("Ceil", "math.ceil", 3 * x, np.ceil), ("Floor", "math.floor", 3 * x, np.floor),
         ("Cos", "math.cos", x, np.cos), ("Sin", "math.sin", x, np.sin), ("Tan", "math.tan", x, np.tan), ("Exp", "math.exp", x, np.exp),
         ("Expm1", "math.expm1", x, np.expm1), ("Log", "math.log", positive, np.log), ("Log1p", "math.log1p", positive, np.log1p),
         ("Negative", "math.negative __operators__.neg", x, np.negative), ("Reciprocal", "math.reciprocal", positive, np.reciprocal),
         ("Round", "math.round", 5 * x, np.round), ("Rsqrt", "math.rsqrt", positive, lambda v: 1 / np.sqrt(v)), ("Sign", "math.sign", x, np.sign),
         ("Sqrt", "math.sqrt", positive, np.sqrt), ("Square", "math.square", x, np.square), ("Erf", "math.erf", x, erf),
         ("Erfc", "math.erfc", x, lambda v: 1 - erf(v)), ("Identity StopGradient Copy ConvertToTensor", "identity stop_gradient", x, lambda v: v),
         ("LogicalNot", "math.logical_not", x > 0, np.logical_not), ("ZerosLike", "", x, np.zeros_like), ("", "ones_like", x, np.ones_like),
         ("Sigmoid", "math.sigmoid nn.sigmoid", x, sigmoid), ("Tanh", "math.tanh nn.tanh", x, np.tanh), ("Relu", "nn.relu", x, lambda v: np.maximum(v, 0)),
         ("Relu6", "nn.relu6", 9 * x, lambda v: np.clip(v, 0, 6)), ("Elu", "nn.elu", x, lambda v: np.where(v > 0, v, np.expm1(v))),
         ("Celu", "", x, lambda v: np.where(v > 0, v, np.expm1(v))),
         ("Selu", "nn.selu", x, lambda v: 1.0507009873554805 * np.where(v > 0, v, 1.6732632423543772 * np.expm1(v))),
         ("Silu", "nn.silu nn.swish", x, lambda v: v * sigmoid(v)), ("Softplus", "math.softplus nn.softplus", x, softplus),
         ("Softsign", "nn.softsign", x, lambda v: v / (1 + np.abs(v))), ("LogSigmoid", "", x, lambda v: -softplus(-v)),
         ("HardSigmoid", "", 5 * x, lambda v: np.clip(v / 6 + 0.5, 0, 1)), ("HardSilu", "", 5 * x, lambda v: v * np.clip(v / 6 + 0.5, 0, 1)),
         ("HardTanh", "", 3 * x, lambda v: np.clip(v, -1, 1)), ("TanhShrink", "", x, lambda v: v - np.tanh(v)),
         ("SoftShrink", "", 2 * x, lambda v: np.sign(v) * np.maximum(np.abs(v) - 0.5, 0)),
         ("HardShrink", "", 2 * x, lambda v: np.where(np.abs(v) > 0.5, v, 0)), ("Mish", "", x, lambda v: v * np.tanh(softplus(v))),
         ("Squareplus", "", x, lambda v: (v + np.sqrt(v * v + 4)) / 2), ("SparseSigmoid", "", 2 * x, lambda v: np.clip((v + 1) / 2, 0, 1)),
         ("SparsePlus", "", 3 * x, lambda v: np.where(v <= -1, 0, np.where(v >= 1, v, (v + 1) ** 2 / 4))),
         ("Glu", "", x, lambda v: v[:, :2] * sigmoid(v[:, 2:])), ("LeakyRelu", "nn.leaky_relu", x, lambda v: np.where(v > 0, v, 0.2 * v)),
         ("Softmax", "nn.softmax", x, lambda v: np.exp(v) / np.exp(v).sum(-1, keepdims=True)),
         ("LogSoftmax", "nn.log_softmax", x, lambda v: v - np.log(np.exp(v).sum(-1, keepdims=True))),
         ("Erfinv", "math.erfinv", erf(x).astype(np.float32), lambda v: x), ("", "math.is_nan", odd, np.isnan), ("", "math.is_inf", odd, np.isinf),
         ("", "math.is_finite", odd, np.isfinite), ("", "math.lgamma", positive, np.vectorize(math.lgamma)),
         ("", "size", x, lambda v: np.array(12)), ("", "rank", x, lambda v: np.array(2)), ("", "compat.v1.shape", x, lambda v: np.array([3, 4])),
         ("BitwiseInvert", "bitwise.invert", whole, np.invert), ("Inv", "linalg.inv", np.eye(3, dtype=np.float32) + draw(2, 3, 3) / 4, np.linalg.inv),
         ("Det", "linalg.det", draw(2, 3, 3), np.linalg.det), ("", "linalg.diag_part", draw(2, 3, 3), lambda v: v.diagonal(0, 1, 2)),
         ("Cholesky", "linalg.cholesky", np.eye(3, dtype=np.float32)[None] * np.float32(2) + np.float32(0.5), np.linalg.cholesky)]
UNARY += [("", f"math.{n}", v, f) for n, v, f in (("acos", unit, np.arccos), ("asin", unit, np.arcsin), ("atan", unit, np.arctan),
          ("atanh", unit, np.arctanh), ("asinh", unit, np.arcsinh), ("cosh", unit, np.cosh), ("sinh", unit, np.sinh),
          ("acosh", positive + 1, np.arccosh))]
for names, functions, value, expected in UNARY:
    for name in names.split():
        op(name, value, expected)
    for name in functions.split():
        tf(name, value, expected)
op("Gelu", x, lambda v: v * (1 + erf(v / math.sqrt(2))) / 2, config={"approximate": False})
tf("nn.gelu", x, lambda v: v * (1 + erf(v / math.sqrt(2))) / 2)
steep = np.array([[3.0, 0.2, 0.1]], np.float32)
op("Sparsemax", steep, lambda v: np.array([[1.0, 0, 0]]))
tf("math.digamma", positive * 0 + 1, lambda v: v * 0 - np.float32(0.5772156649))
truth = lambda f: (x > 0, y > 0, f)
BINARY = [("Add", "math.add __operators__.add nn.bias_add", x, y[0] * 0 + y, np.add), ("Subtract", "math.subtract __operators__.sub", x, y, np.subtract),
          ("Multiply", "math.multiply __operators__.mul", x, y, np.multiply),
          ("Divide TrueDivide", "math.divide math.truediv __operators__.truediv", x, positive, np.divide),
          ("Power", "math.pow __operators__.pow", positive, y, np.power), ("Maximum", "math.maximum", x, y, np.maximum),
          ("Minimum", "math.minimum", x, y, np.minimum), ("FloorDivide", "math.floordiv __operators__.floordiv", 5 * x, positive, np.floor_divide),
          ("Equal", "math.equal __operators__.eq", np.round(x), np.round(y), np.equal),
          ("NotEqual", "math.not_equal", np.round(x), np.round(y), np.not_equal), ("Greater", "math.greater", x, y, np.greater),
          ("GreaterEqual", "math.greater_equal", np.round(x), np.round(y), np.greater_equal), ("Less", "math.less", x, y, np.less),
          ("LessEqual", "math.less_equal", np.round(x), np.round(y), np.less_equal),
          ("LogicalAnd", "math.logical_and", *truth(np.logical_and)), ("LogicalOr", "math.logical_or", *truth(np.logical_or)),
          ("", "math.logical_xor", *truth(np.logical_xor)), ("", "math.squared_difference", x, y, lambda v, w: (v - w) ** 2),
          ("DivideNoNan", "", x, with_zeros[:1, :1] * 0 + positive, np.divide),
          ("", "math.multiply_no_nan", x, positive, np.multiply), ("", "math.mod __operators__.mod", x, positive, np.mod),
          ("", "math.atan2", x, y, np.arctan2), ("", "math.xdivy", x, positive, np.divide), ("", "math.xlogy", x, positive, lambda v, w: v * np.log(w)),
          ("BitwiseAnd", "bitwise.bitwise_and", whole, divisor, np.bitwise_and), ("BitwiseOr", "bitwise.bitwise_or", whole, divisor, np.bitwise_or),
          ("BitwiseXor", "bitwise.bitwise_xor", whole, divisor, np.bitwise_xor),
          ("LeftShift BitwiseLeftShift", "bitwise.left_shift", divisor, divisor, np.left_shift),
          ("RightShift BitwiseRightShift", "bitwise.right_shift", whole, divisor, np.right_shift)]
for names, functions, left, right, expected in BINARY:
    for name in names.split():
        op(name, [left, right], expected, A, B)
    for name in functions.split():
        tf(name, [left, right], expected, A, **{"bias" if name == "nn.bias_add" else "y": B})
tf("__operators__.matmul", [q, k], lambda v, w: v @ w, A, y=B)
for name, function, f in (("Max", "math.reduce_max", np.max), ("Min", "math.reduce_min", np.min), ("Sum", "math.reduce_sum", np.sum),
                          ("Prod", "math.reduce_prod", np.prod), ("Mean", "math.reduce_mean", np.mean), ("Amin", "", np.min),
                          ("Logsumexp", "math.reduce_logsumexp", lambda v, axis, keepdims: np.log(np.exp(v).sum(axis, keepdims=keepdims)))):
    op(name, cube, lambda v, f=f: f(v, axis=2, keepdims=True), config={"axis": 2, "keepdims": True})
    if function:
        tf(function, cube, lambda v, f=f: f(v, axis=1, keepdims=False), A, axis=1, keepdims=False)
for function, f in (("math.reduce_any", np.any), ("math.reduce_all", np.all)):
    tf(function, with_zeros > 0, lambda v, f=f: f(v, 1), A, axis=1)
tf("math.count_nonzero", with_zeros, lambda v: np.count_nonzero(v, 1), A, axis=1)
tf("argmax", cube, lambda v: v.argmax(1), A, axis=1)
tf("math.argmin", cube, lambda v: v.argmin(1), A, axis=1)
tf("cumsum", cube, lambda v: v.cumsum(2), A, axis=2)
tf("math.cumprod", cube, lambda v: v.cumprod(1), A, axis=1)
tf("argsort", cube, lambda v: np.argsort(v, -1), A, axis=-1)
tf("nn.top_k", cube, lambda v: [-np.sort(-v, -1)[..., :1], np.argsort(-v, -1)[..., :1]], A, k=1)
for name in ("linalg.norm",):
    tf(name, cube, lambda v: np.sqrt((v * v).sum(1)), A, axis=1)
for name in ("nn.l2_normalize", "linalg.l2_normalize"):
    tf(name, cube, lambda v: v / np.sqrt((v * v).sum(-1, keepdims=True)), A, axis=-1)
op("Cast", x * 5, lambda v: v.astype(np.int32), config={"dtype": "int32"})
tf("cast", x * 5, lambda v: v.astype(np.int32), A, dtype="int32")
op("Clip", x, lambda v: v.clip(-0.2, 0.3), config={"x_min": -0.2, "x_max": 0.3})
tf("clip_by_value", x, lambda v: v.clip(-0.2, 0.3), A, clip_value_min=-0.2, clip_value_max=0.3)
op("Concatenate", [x, y], lambda v, w: np.concatenate([v, w], 1), [A, B], config={"axis": 1})
tf("concat", [x, y], lambda v, w: np.concatenate([v, w], 1), [A, B], axis=1)
op("Stack", [x, y], lambda v, w: np.stack([v, w], 1), [A, B], config={"axis": 1})
tf("stack", [x, y], lambda v, w: np.stack([v, w], 1), [A, B], axis=1)
op("Einsum", [q, k], lambda v, w: np.einsum("bij,bkj->bik", v, w), A, B, config={"subscripts": "bij,bkj->bik"})
tf("einsum", [q, k], lambda v, w: np.einsum("bij,bkj->bik", v, w), "bij,bkj->bik", inputs=[A, B])
op("GetItem", cube, lambda v: v[:, 1], A, {"class_name": "__tuple__", "items": [{"class_name": "__ellipsis__", "config": {}}, 1, {
    "class_name": "__slice__", "config": {"start": None, "stop": None, "step": None}}]})
op("Reshape", cube, lambda v: v.reshape(3, 10, 2), config={"newshape": [-1, 10, 2]})
op("Transpose", cube, lambda v: v.transpose(0, 2, 1), config={"axes": [0, 2, 1]})
tf("transpose", cube, lambda v: v.transpose(0, 2, 1), A, perm=[0, 2, 1])
tf("expand_dims", cube, lambda v: v[:, None], A, axis=1)
tf("squeeze", draw(3, 1, 5), lambda v: v[:, 0], A, axis=[1])
tf("compat.v1.gather", cube, lambda v: v[:, [1, 0]], A, indices=[1, 0], axis=1)
tf("linalg.band_part", draw(2, 4, 4), np.tril, A, num_lower=-1, num_upper=0)
tf("slice", cube, lambda v: v[:, 1:3, 2:], A, begin=[0, 1, 2], size=[-1, 2, -1])
tf("fill", np.array([2, 3], np.int32), lambda v: np.full((2, 3), 1.5), A, value=1.5)
tf("range", np.array(5, np.int32), np.arange, 0, limit=A, delta=1)
blocks = lambda v: v.reshape(2, 2, 2, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 2, 16)
for name in ("nn.space_to_depth", "space_to_depth"):
    tf(name, pixels, blocks, A, block_size=2)
tf("depth_to_space", pixels, deep, A, block_size=2)
tf("compat.v1.image.resize_bilinear", pixels, halved, A, size=[2, 2], align_corners=False, half_pixel_centers=True)
tf("compat.v1.image.resize_nearest_neighbor", pixels, doubled, A, size=[8, 8], align_corners=False, half_pixel_centers=False)
filters = draw(1, 1, 4, 3)
tf("nn.conv2d", pixels, lambda v: np.einsum("bhwc,co->bhwo", v, filters[0, 0])[:, ::2, ::2], A, filters=filters.tolist(), strides=2, padding="SAME")
around = lambda v: v / (1 + 0.1 * sum(np.pad(v * v, [(0, 0)] * 3 + [(1, 1)])[..., i:i + 4] for i in range(3))) ** 0.5
for name in ("nn.lrn", "nn.local_response_normalization"):
    tf(name, pixels / 100, around, A, depth_radius=1, bias=1.0, alpha=0.1, beta=0.5)
numbers, groups = draw(5, 2), np.array([0, 0, 1, 1, 1], np.int32)
summed = lambda v, g: np.stack([v[g == i].sum(0) for i in range(2)])
tf("math.segment_sum", [numbers, groups], summed, A, segment_ids=B)
tf("math.unsorted_segment_sum", [numbers, groups], summed, A, segment_ids=B, num_segments=2)


# ---- functions of TensorFlow that are its operators
window = lambda v, f: f(v.reshape(2, 2, 2, 2, 2, 4), axis=(2, 4))
for name, f in (("nn.avg_pool", np.mean), ("nn.avg_pool2d", np.mean), ("nn.max_pool", np.max), ("nn.max_pool2d", np.max)):
    tf(name, pixels, lambda v, f=f: window(v, f), A, ksize=2, strides=[2, 2], padding="VALID")
    tf(name, pixels, lambda v, f=f: window(v, f), A, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", data_format="NHWC")
of_channels = draw(1, 1, 4, 2)
tf("nn.depthwise_conv2d", pixels, lambda v: (v[..., None] * of_channels[0, 0]).reshape(2, 4, 4, 8), A, filter=of_channels.tolist(), strides=[1, 1, 1, 1],
   padding="VALID")
back = draw(2, 2, 3, 4)  # rows, columns, out, in
tf("nn.conv2d_transpose", pixels, lambda v: np.einsum("bhwi,rcoi->bhrwco", v, back).reshape(2, 8, 8, 3), A, filters=back.tolist(),
   output_shape=[2, 8, 8, 3], strides=[2, 2], padding="VALID")
tf("nn.batch_normalization", x, lambda v: (v - 0.5) / np.sqrt(4 + 0.01) * 2 + 3, A, mean=[0.5] * 4, variance=[4.0] * 4, offset=[3.0] * 4,
   scale=[2.0] * 4, variance_epsilon=0.01)
tf("nn.moments", cube, lambda v: [v.mean((0, 1)), v.var((0, 1))], A, axes=[0, 1])
for name in ("tensordot", "linalg.tensordot"):
    tf(name, cube, lambda v: np.tensordot(v, v[0], [[1, 2], [0, 1]]), A, b=cube[0].tolist(), axes=[[1, 2], [0, 1]])
tf("linalg.diag", x, lambda v: v[:, :, None] * np.eye(4), A)
tf("linalg.tensor_diag_part", draw(3, 3), np.diagonal)
tf("linalg.cross", [draw(2, 3), draw(2, 3)], np.cross, A, b=B)
tf("math.add_n", [x, y, positive], lambda u, v, w: u + v + w, [A, B, C])
tf("math.log_sigmoid", x, lambda v: -softplus(-v))
tf("math.reduce_euclidean_norm", cube, lambda v: np.sqrt((v * v).sum(1, keepdims=True)), A, axis=1, keepdims=True)
tf("convert_to_tensor", x, lambda v: v)
tf("searchsorted", [np.array([0.1, 0.5, 2], np.float32), np.array([0.5, 3, -1], np.float32)], lambda v, w: np.searchsorted(v, w, "right"), A, values=B,
   side="right")
for name, axis in (("image.flip_left_right", 2), ("image.flip_up_down", 1)):
    tf(name, pixels, lambda v, axis=axis: np.flip(v, axis))
colours = pixels[..., :3] / np.float32(200)
middle = lambda v: v.mean((1, 2), keepdims=True)
tf("image.adjust_contrast", colours, lambda v: (v - middle(v)) * 0.5 + middle(v), A, contrast_factor=0.5)
tf("image.adjust_saturation", colours, lambda v: v.max(-1, keepdims=True).repeat(3, -1), A, saturation_factor=0.0)
tf("image.adjust_hue", colours, lambda v: v[..., [2, 0, 1]], A, delta=1 / 3)  # a third of the circle
tf("image.rgb_to_grayscale", colours, lambda v: v @ np.array([[0.2989], [0.587], [0.114]], np.float32))
tf("image.rgb_to_hsv", np.array([[[[0, 0.5, 0], [1, 1, 1]]]], np.float32), lambda v: np.array([[[[1 / 3, 1, 0.5], [0, 0, 1]]]]))
tf("image.hsv_to_rgb", np.array([[[[1 / 3, 1, 0.5], [0, 0, 1]]]], np.float32), lambda v: np.array([[[[0, 0.5, 0], [1, 1, 1]]]]))
tf("image.extract_patches", pixels, blocks, A, sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
tf("image.crop_and_resize", pixels, lambda v: v[[1, 0], :3:2, 1::2], A, boxes=[[0, 1 / 3, 2 / 3, 1]] * 2, box_indices=[1, 0], crop_size=[2, 2])
tf("math.betainc", positive * 0 + 1, lambda v: v * 0 + 0.75, A, b=2.0, x=0.5)  # 1 - (1 - x)^2
tf("math.igamma", [positive * 0 + 1, positive], lambda a, v: 1 - np.exp(-v), A, x=B)
tf("math.igammac", [positive * 0 + 1, positive], lambda a, v: np.exp(-v), A, x=B)
tf("math.cumulative_logsumexp", cube, lambda v: np.log(np.exp(v).cumsum(1)), A, axis=1)
tf("math.in_top_k", [np.array([1, 0], np.int32), np.array([[0.1, 0.9], [0.3, 0.7]], np.float32)], lambda t, p: np.array([True, False]), A, predictions=B, k=1)
tf("math.invert_permutation", np.array([2, 0, 1], np.int32), np.argsort)
tf("math.ndtri", (1 + erf(x / math.sqrt(2))).astype(np.float32) / 2, lambda v: x)
tf("math.rint", 5 * x, np.rint)
tf("math.xlog1py", [x, positive], lambda v, w: v * np.log1p(w), A, y=B)
for name, f in (("max", np.max), ("mean", np.mean), ("min", np.min), ("prod", np.prod)):
    grouped = lambda v, g, f=f: np.stack([f(v[g == i], axis=0) for i in range(2)])
    tf(f"math.segment_{name}", [numbers, groups], grouped, A, segment_ids=B)
    if name != "mean":
        tf(f"math.unsorted_segment_{name}", [numbers, groups], grouped, A, segment_ids=B, num_segments=2)


def stored(v, at, w, f):
    v = v.copy()
    for i, row in zip(at[:, 0], w):
        v[i] = f(v[i], row)
    return v


rows_at, rows = np.array([[2], [0]], np.int32), draw(2, 4)
for name, f in (("update", lambda v, w: w), ("add", np.add), ("sub", np.subtract), ("max", np.maximum), ("min", np.minimum)):
    tf(f"tensor_scatter_nd_{name}", x, lambda v, f=f: stored(v, rows_at, rows, f), A, indices=rows_at.tolist(), updates=rows.tolist())
tf("scatter_nd", [rows_at, rows], lambda at, w: stored(np.zeros((5, 4)), at, w, np.add), A, updates=B, shape=[5, 4])
tf("reverse_sequence", [cube, np.array([4, 1, 2], np.int32)],
   lambda v, n: np.stack([np.concatenate([v[b, :n[b]][::-1], v[b, n[b]:]]) for b in range(3)]), A, seq_lengths=B, seq_axis=1, batch_axis=0)
tf("space_to_batch", pixels, lambda v: v.reshape(2, 2, 2, 2, 2, 4).transpose(2, 4, 0, 1, 3, 5).reshape(8, 2, 2, 4), A, block_shape=[2, 2],
   paddings=[[0, 0], [0, 0]])
tf("batch_to_space", draw(8, 2, 2, 4), lambda v: v.reshape(2, 2, 2, 2, 2, 4).transpose(2, 3, 0, 4, 1, 5).reshape(2, 4, 4, 4), A, block_shape=[2, 2],
   crops=[[0, 0], [0, 0]])
words = np.array(["Ab c", " x\t", ""])
tf("strings.lower", words, np.char.lower)
tf("strings.upper", words, np.char.upper)
tf("strings.strip", words, np.char.strip)
tf("strings.length", words, np.char.str_len)
tf("strings.to_number", np.array(["1.5", "-2"]), lambda v: v.astype(np.float32))
tf("strings.as_string", whole, lambda v: v.astype(str))

# ---- keras.ops from NumPy: elements
signed = np.array([[-2.5, -0.5, 0.0], [0.75, 3.25, -7.0]], np.float32)
for name, function in (("Cbrt", np.cbrt), ("Deg2rad", np.deg2rad), ("Rad2deg", np.rad2deg), ("Exp2", np.exp2), ("Sinc", np.sinc), ("Trunc", np.trunc),
                       ("Signbit", np.signbit), ("Angle", np.angle), ("Isreal", np.isreal), ("I0", np.i0), ("Conj", np.conj), ("Conjugate", np.conj),
                       ("Real", np.real), ("EmptyLike", lambda v: v * 0), ("Imag", np.imag)):
    op(name, signed, function)
for name, function in (("Isneginf", np.isneginf), ("Isposinf", np.isposinf)):
    op(name, odd, function)
op("Trunc", whole, np.trunc)
op("BitwiseNot", whole, np.invert)
op("NanToNum", odd, lambda v: np.nan_to_num(v, nan=5.0, posinf=7.0, neginf=-9.0), config={"nan": 5.0, "posinf": 7.0, "neginf": -9.0})
op("Threshold", signed, lambda v: np.where(v > 0.5, v, -1), config={"threshold": 0.5, "default_value": -1.0})
op("SaturateCast", 100 * signed, lambda v: np.clip(v, -128, 127).astype(np.int8), config={"dtype": "int8"})
op("SaturateCast", whole, lambda v: np.clip(v, 0, 255).astype(np.uint8), config={"dtype": "uint8"})
other = np.array([[1.5, -0.5, 2.0], [0.0, np.inf, -7.0]], np.float32)
for name, function in (("Hypot", np.hypot), ("Heaviside", np.heaviside), ("Logaddexp", np.logaddexp), ("Logaddexp2", np.logaddexp2)):
    op(name, [signed, other], function, A, B)
for name, function in (("Fmax", np.fmax), ("Fmin", np.fmin)):
    op(name, [odd, signed], function, A, B)
op("Fmod", [5 * signed, np.abs(signed) + 1], np.fmod, A, B)
op("Ldexp", [signed, whole], np.ldexp, A, B)
op("Gcd", [12 * whole, 8 * divisor], np.gcd, A, B)
op("Lcm", [whole, divisor], np.lcm, A, B)
near = signed + np.float32(1e-6)
near[0, 0] += 1
op("Isclose", [signed, near], np.isclose, A, B)
op("AllClose", [signed, near], np.allclose, A, B)
op("Gammainc", [positive * 0 + 1, positive], lambda a, v: 1 - np.exp(-v), A, B)
op("FloorDivide", [whole, divisor], np.floor_divide, A, B)
op("FloorDivide", [whole], lambda v: v // -2, A, -2)

# ---- whole numbers and truths where real ones are wanted
for name, function in (("Log", np.log), ("Sqrt", np.sqrt), ("Exp", np.exp), ("Log10", np.log10), ("Arctan", np.arctan), ("Isnan", np.isnan),
                       ("Sigmoid", sigmoid), ("Reciprocal", lambda v: 1 / v), ("Rsqrt", lambda v: 1 / np.sqrt(v)), ("Round", np.round)):
    op(name, divisor, function)
op("Var", whole, lambda v: v.var(1), config={"axis": 1, "keepdims": False})
op("Sum", with_zeros > 0, lambda v: v.sum(1), config={"axis": 1, "keepdims": False})
op("Nansum", with_zeros > 0, lambda v: v.sum(), config={"axis": None, "keepdims": False})
op("LogicalAnd", [whole, with_zeros], np.logical_and, A, B)
op("Normalize", whole, lambda v: v / np.linalg.norm(v, axis=-1, keepdims=True), config={"axis": -1, "order": 2, "epsilon": None})

# ---- sums, means, ranks
holes = cube.copy()
holes[0, 1, 2] = holes[2, 3, :] = np.nan
for name, function in (("Nansum", np.nansum), ("Nanprod", np.nanprod), ("Nanmax", np.nanmax), ("Nanmin", np.nanmin), ("Nanmean", np.nanmean),
                       ("Nanvar", np.nanvar), ("Nanstd", np.nanstd)):
    op(name, holes, lambda v, f=function: f(v, axis=1, keepdims=True), config={"axis": 1, "keepdims": True})
    op(name, holes, lambda v, f=function: f(v), config={"axis": None, "keepdims": False})
for name, function in (("Nancumsum", np.nancumsum), ("Nancumprod", np.nancumprod)):
    op(name, holes, lambda v, f=function: f(v, axis=1), config={"axis": 1, "dtype": None})
op("Nanargmax", holes, lambda v: np.where(np.isnan(v).all(-1), -1, np.where(np.isnan(v), -np.inf, v).argmax(-1)), config={"axis": -1, "keepdims": False})
op("Nanargmin", holes, lambda v: np.nanargmin(v), config={"axis": None, "keepdims": False})
op("Cumprod", cube, lambda v: v.cumprod(1), config={"axis": 1, "dtype": None})
op("Cumprod", cube, lambda v: v.cumprod(), config={"axis": None, "dtype": None})
op("Ptp", cube, lambda v: np.ptp(v, (0, 2), keepdims=True), config={"axis": [0, 2], "keepdims": True})
op("Average", [cube, np.abs(cube)], lambda v, w: np.average(v, axis=1, weights=w), A, B, config={"axis": 1})
op("Average", [cube], lambda v: np.average(v, axis=1, weights=[1, 2, 3, 4]), A, [1.0, 2.0, 3.0, 4.0], config={"axis": 1})
op("Average", cube, lambda v: v.mean(), config={"axis": None})
for axis in (1, [0, 2], None):
    at = tuple(axis) if isinstance(axis, list) else axis
    op("Median", cube, lambda v, at=at: np.median(v, at, keepdims=True), config={"axis": axis, "keepdims": True})
    op("Quantile", cube, lambda v, at=at: np.quantile(v, [0.1, 0.5, 0.9], at), A, [0.1, 0.5, 0.9], config={"axis": axis, "method": "linear", "keepdims": False})
for method in ("lower", "higher", "midpoint", "nearest"):
    op("Percentile", cube, lambda v, m=method: np.percentile(v, 30, 1, method=m), A, 30, config={"axis": 1, "method": method, "keepdims": False})
op("Nanmedian", holes, lambda v: np.nanmedian(v, 1), config={"axis": 1, "keepdims": False})
op("Nanquantile", holes, lambda v: np.nanquantile(v, 0.3, 2, keepdims=True), A, 0.3, config={"axis": 2, "method": "linear", "keepdims": True})
op("Nanpercentile", holes, lambda v: np.nanpercentile(v, [20, 70], (0, 1)), A, [20, 70], config={"axis": [0, 1], "method": "linear", "keepdims": False})
op("Moments", cube, lambda v: [v.mean((0, 1)), v.var((0, 1))], config={"axes": [0, 1], "keepdims": False, "synchronized": False})
op("Corrcoef", draw(3, 6), np.corrcoef)
counts = np.array([0, 3, 3, 1, 7], np.int32)
op("Bincount", counts, np.bincount, config={"weights": None, "minlength": 0, "sparse": False})
op("Bincount", np.stack([counts, counts[::-1] // 2]), lambda v: np.stack([np.bincount(r, minlength=10) for r in v]), config={"weights": None, "minlength": 10, "sparse": False})
op("Histogram", 3 * cube, lambda v: list(np.histogram(v, 7)), config={"bins": 7, "range": None})
op("Histogram", 3 * cube, lambda v: list(np.histogram(v, 4, (-1, 1))), config={"bins": 4, "range": [-1.0, 1.0]})
bins = np.array([-1, 0, 0.5, 2], np.float32)
op("Digitize", [signed, bins], np.digitize, A, B)
for side in ("left", "right"):
    op("SearchSorted", [bins, np.array([0, 0.5, 3, -4], np.float32)], lambda v, w, s=side: np.searchsorted(v, w, s), A, B, config={"side": side})
op("IsIn", [whole, divisor], np.isin, A, B, config={"assume_unique": False, "invert": False})
op("IsIn", [whole, divisor], lambda v, w: ~np.isin(v, w), A, B, config={"assume_unique": False, "invert": True})
op("Argpartition", cube, lambda v: np.argsort(v, 1), config={"kth": 2, "axis": 1})
op("Norm", cube, lambda v: np.abs(v).max(1), config={"ord": "inf", "axis": 1, "keepdims": False})
op("Norm", cube, lambda v: np.linalg.norm(v, 3, 2, keepdims=True), config={"ord": 3, "axis": 2, "keepdims": True})
op("Normalize", cube, lambda v: v / np.linalg.norm(v, 3, -1, keepdims=True), config={"axis": -1, "order": 3, "epsilon": None})

# ---- beside each other, apart, turned
op("Append", [x, y], lambda v, w: np.append(v, w), A, B, config={"axis": None})
op("Append", [x, y], lambda v, w: np.append(v, w, 1), A, B, config={"axis": 1})
row = draw(4)
for name, function in (("Hstack", np.hstack), ("Vstack", np.vstack), ("Dstack", np.dstack), ("ColumnStack", np.column_stack)):
    op(name, [row, row[::-1].copy()], lambda v, w, f=function: f([v, w]), [A, B])
    op(name, [x, y], lambda v, w, f=function: f([v, w]), [A, B])
for name, function in (("Hsplit", np.hsplit), ("Vsplit", np.vsplit), ("Dsplit", np.dsplit)):
    op(name, draw(2, 4, 6), lambda v, f=function: f(v, 2), config={"indices_or_sections": 2})
    CASES[-1]["is_fixed"] = True
op("ArraySplit", cube, lambda v: np.array_split(v, 3, 2), config={"indices_or_sections": 3, "axis": 2})
op("Meshgrid", [row, row[:3].copy()], np.meshgrid, A, B, config={"indexing": "xy"})
op("Meshgrid", [row, row[:3].copy()], lambda v, w: np.meshgrid(v, w, indexing="ij"), A, B, config={"indexing": "ij"})
op("Fliplr", cube, np.fliplr)
op("Flipud", cube, np.flipud)
for turns in (1, 2, 3):
    op("Rot90", cube, lambda v, n=turns: np.rot90(v, n, (0, 2)), config={"k": turns, "axes": [0, 2]})
for off in (-2, 0, 1):
    op("Diagonal", cube, lambda v, n=off: v.diagonal(n, 1, 2), config={"offset": off, "axis1": 1, "axis2": 2})
    op("Diag", row, lambda v, n=off: np.diag(v, n), config={"k": off})
    op("Diag", x, lambda v, n=off: np.diag(v, n), config={"k": off})
op("Diagflat", x, lambda v: np.diagflat(v, 1), config={"k": 1})
op("Trace", cube, lambda v: v.trace(1, 0, 2), config={"offset": 1, "axis1": 0, "axis2": 2})
op("Diff", cube, lambda v: np.diff(v, 2, 1), config={"n": 2, "axis": 1})
op("UnravelIndex", np.array([0, 7, 22], np.int32), lambda v: list(np.unravel_index(v, (2, 3, 4))), config={"shape": [2, 3, 4]})
op("Select", [x > 0, y > 0, x, y], lambda c, d, v, w: np.select([c, d], [v, w], 0.5), [A, B], [C, Tensor(3)], 0.5)
op("Nonzero", with_zeros, lambda v: list(np.nonzero(v)))
op("Arange", np.array(7, np.int32), np.arange)
op("Arange", np.array(7, np.int32), lambda v: np.arange(1, v, 2), 1, A, 2)
ends = [draw(3), draw(3) + 2]
op("Linspace", ends, lambda v, w: np.linspace(v, w, 5), A, B, config={"num": 5, "endpoint": True, "retstep": False, "dtype": None, "axis": 0})
op("Logspace", ends, lambda v, w: np.logspace(v, w, 4, endpoint=False), A, B, config={"num": 4, "endpoint": False, "base": 10, "dtype": None, "axis": 0})
op("Geomspace", [np.abs(e) + 1 for e in ends], lambda v, w: np.geomspace(v, w, 4), A, B, config={"num": 4, "endpoint": True, "dtype": None, "axis": 0})
op("Full", np.array(2.5, np.float32), lambda v: np.full((2, 3), v), config={"shape": [2, 3], "dtype": None})
op("FullLike", [x, np.array(2.5, np.float32)], np.full_like, A, B, config={"dtype": None})
op("Ndim", cube, np.ndim)
op("Size", cube, np.size)
op("Pad", cube, lambda v: np.pad(v, [(0, 0), (2, 1), (1, 3)], mode="symmetric"), config={"pad_width": [[0, 0], [2, 1], [1, 3]], "mode": "symmetric"})

# ---- products and systems of equations
op("Dot", [x, y.T.copy()], np.dot, A, B)
op("Dot", [cube, draw(2, 5, 3)], np.dot, A, B)
op("Inner", [cube, draw(2, 5)], np.inner, A, B)
op("Outer", [x, row], np.outer, A, B)
op("Vdot", [x, y], np.vdot, A, B)
op("Tensordot", [cube, draw(4, 5, 2)], np.tensordot, A, B, config={"axes": 2})
op("Tensordot", [cube, draw(3, 2, 4)], lambda v, w: np.tensordot(v, w, ((1, 0), (2, 0))), A, B, config={"axes": [[1, 0], [2, 0]]})
op("Kron", [x, draw(2, 2)], np.kron, A, B)
op("Kron", [row, cube], np.kron, A, B)
op("Cross", [draw(4, 3), draw(4, 3)], np.cross, A, B)
op("Cross", [draw(3, 4), draw(3, 4)], lambda v, w: np.cross(v, w, axis=0), A, B, config={"axis": 0})
CASES[-1]["is_fixed"] = True
op("Cross", [draw(4, 2), draw(4, 2)], lambda v, w: v[:, 0] * w[:, 1] - v[:, 1] * w[:, 0], A, B)
op("Trapezoid", cube, lambda v: np.trapz(v, dx=0.5, axis=1), config={"x": None, "dx": 0.5, "axis": 1})
op("Trapezoid", cube, lambda v: np.trapz(v, [0, 1, 3, 4], axis=1), config={"x": [0.0, 1.0, 3.0, 4.0], "dx": 1.0, "axis": 1})
op("Vander", row, np.vander, config={"N": None, "increasing": False})
op("Vander", row, lambda v: np.vander(v, 3, True), config={"N": 3, "increasing": True})
op("CDist", [x, draw(2, 4)], lambda v, w: np.linalg.norm(v[:, None] - w[None], axis=-1), A, B)
square = (np.eye(3) + draw(2, 3, 3) / 4).astype(np.float32)
op("Solve", [square, draw(2, 3, 2)], np.linalg.solve, A, B)
op("Solve", [square, draw(2, 3)], lambda a, v: np.linalg.solve(a, v[..., None])[..., 0], A, B)
op("SolveTriangular", [square, draw(2, 3, 2)], lambda a, v: np.linalg.solve(np.tril(a), v), A, B, config={"lower": True})
op("SolveTriangular", [square, draw(2, 3, 2)], lambda a, v: np.linalg.solve(np.triu(a), v), A, B, config={"lower": False})
symmetric = square @ square.swapaxes(-1, -2)
op("Eigh", symmetric, lambda a: list(np.linalg.eigh(a)))
CASES[-1]["made"] = lambda w, v: [w, np.abs(v)]
op("SVD", draw(4, 3), lambda a: list(np.linalg.svd(a, False)), config={"full_matrices": False, "compute_uv": True})
CASES[-1]["made"] = lambda u, w, v: [np.abs(u), w, np.abs(v)]
op("SVD", draw(4, 3), lambda a: np.linalg.svd(a, compute_uv=False), config={"full_matrices": True, "compute_uv": False})
op("Qr", draw(4, 3), lambda a: list(np.linalg.qr(a)), config={"mode": "reduced"})
CASES[-1]["made"] = lambda q, r: [np.abs(q), np.abs(r)]
op("Logdet", symmetric, lambda a: np.linalg.slogdet(a)[1])
op("Slogdet", -square, lambda a: list(np.linalg.slogdet(a)))
op("CholeskyInverse", np.linalg.cholesky(symmetric), lambda a: np.linalg.inv(a @ a.swapaxes(-1, -2)), config={"upper": False})
for n in (-2, 0, 5):
    op("MatrixPower", square, lambda a, n=n: np.linalg.matrix_power(a, n), config={"n": n})
op("Pinv", draw(2, 4, 3), lambda a: np.linalg.pinv(a), config={"rcond": None})

# ---- networks
series, volume = draw(2, 8, 3), draw(2, 4, 4, 4, 2)
op("MaxPool", pixels, lambda v: v.reshape(2, 2, 2, 2, 2, 4).max((2, 4)), config={"pool_size": 2, "strides": None, "padding": "valid", "data_format": "channels_last"})
op("AveragePool", series, lambda v: v.reshape(2, 4, 2, 3).mean(2), config={"pool_size": 2, "strides": None, "padding": "valid", "data_format": None})
op("AveragePool", volume, lambda v: v.reshape(2, 2, 2, 2, 2, 2, 2, 2).mean((2, 4, 6)), config={"pool_size": 2, "strides": 2, "padding": "same", "data_format": None})
op("AdaptiveMaxPool", pixels, lambda v: v.reshape(2, 2, 2, 2, 2, 4).max((2, 4)), config={"output_size": [2, 2], "data_format": "channels_last"})
op("AdaptiveAveragePool", pixels, lambda v: v.reshape(2, 2, 2, 2, 2, 4).mean((2, 4)), config={"output_size": [2, 2], "data_format": "channels_last"})
steps = {"strides": 1, "padding": "valid", "data_format": None, "dilation_rate": 1}
three = lambda v, k: np.stack([np.einsum("bkc,kcf->bf", v[:, i:i + 3], k) for i in range(6)], 1)
op("Conv", [series, draw(3, 3, 2)], three, A, B, config=steps)
op("Conv", [series, draw(3, 3, 2)], lambda v, k: np.stack([np.einsum("bkc,kcf->bf", np.pad(v, [(0, 0), (2, 0), (0, 0)])[:, i:i + 3], k) for i in range(8)], 1), A, B, config={**steps, "padding": "causal"})
op("Conv", [pixels, draw(1, 1, 2, 6)], lambda v, k: np.concatenate([v[..., :2] @ k[0, 0, :, :3], v[..., 2:] @ k[0, 0, :, 3:]], -1), A, B, config=steps)
op("DepthwiseConv", [pixels, draw(1, 1, 4, 2)], lambda v, k: (v[..., None] * k[0, 0]).reshape(2, 4, 4, 8), A, B, config=steps)
op("SeparableConv", [pixels, draw(1, 1, 4, 2), draw(1, 1, 8, 3)], lambda v, k, p: (v[..., None] * k[0, 0]).reshape(2, 4, 4, 8) @ p[0, 0], A, B, C, config=steps)
op("ConvTranspose", [pixels, draw(2, 2, 3, 4)], lambda v, k: np.einsum("bhwc,ijfc->bhiwjf", v, k).reshape(2, 8, 8, 3), A, B,
   config={**steps, "strides": 2, "output_padding": None})
CASES[-1]["is_fixed"] = True
normal = lambda v, m, s, o, g: (v - m) / np.sqrt(s + 1e-3) * g + o
op("BatchNorm", [pixels, draw(4), np.abs(draw(4)), draw(4), draw(4)], normal, A, B, C, Tensor(3), Tensor(4), config={"axis": -1, "epsilon": 1e-3})
centred = lambda v: (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-3)
op("LayerNorm", [cube, draw(5), draw(5)], lambda v, g, o: centred(v) * g + o, A, B, C, config={"axis": -1, "epsilon": 1e-3, "rms_scaling": False})
op("RMSNorm", [cube, draw(5)], lambda v, g: v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-3) * g, A, B, config={"axis": -1, "epsilon": 1e-3})
shares = np.abs(draw(3, 4)) + np.float32(0.1)
chosen = np.eye(4, dtype=np.float32)[[1, 3, 0]]
soft = lambda v: np.exp(v) / np.exp(v).sum(-1, keepdims=True)
op("CategoricalCrossentropy", [chosen, shares], lambda t, v: -(t * np.log(v / v.sum(-1, keepdims=True))).sum(-1), A, B, config={"from_logits": False, "axis": -1})
op("CategoricalCrossentropy", [chosen, x], lambda t, v: -(t * np.log(soft(v))).sum(-1), A, B, config={"from_logits": True, "axis": -1})
op("SparseCategoricalCrossentropy", [np.array([1, 3, 0], np.int32), x], lambda t, v: -np.log(soft(v))[range(3), t], A, B, config={"from_logits": True, "axis": -1})
op("BinaryCrossentropy", [chosen, sigmoid(x)], lambda t, v: -(t * np.log(v) + (1 - t) * np.log(1 - v)), A, B, config={"from_logits": False})
op("BinaryCrossentropy", [chosen, x], lambda t, v: -(t * np.log(sigmoid(v)) + (1 - t) * np.log(1 - sigmoid(v))), A, B, config={"from_logits": True})
op("MultiHot", places, lambda v: np.eye(5)[v].max(1), config={"num_classes": 5, "axis": -1, "dtype": None, "sparse": False})
op("PSNR", [x, y], lambda v, w: 20 * np.log10(2.0) - 10 * np.log10(((v - w) ** 2).mean()), A, B, config={"max_val": 2.0})


def attended(q, k, v, mask=None):
    logits = np.einsum("btnh,bsnh->bnts", q, k) / math.sqrt(q.shape[-1])
    return np.einsum("bnts,bsnh->btnh", soft(logits if mask is None else np.where(mask, logits, -1e30)), v)


heads = [draw(2, 3, 2, 4), draw(2, 3, 2, 4), draw(2, 3, 2, 4)]
op("DotProductAttention", heads, attended, A, B, C, config={"is_causal": False})
op("DotProductAttention", heads, lambda a, b, c: attended(a, b, c, np.tril(np.ones((3, 3), bool))), A, B, C, config={"is_causal": True})
op("DepthToSpace", pixels, deep, config={"block_size": 2, "data_format": "channels_last"})
op("SpaceToDepth", pixels, blocks, config={"block_size": 2, "data_format": "channels_last"})
op("DepthToSpace", pixels, lambda v: v.reshape(2, 1, 2, 2, 4, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 8, 8), config={"block_size": 2, "data_format": "channels_first"})
op("SpaceToDepth", pixels, lambda v: v.reshape(2, 4, 2, 2, 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 16, 2, 2), config={"block_size": 2, "data_format": "channels_first"})
windows = lambda v: np.stack([v[:, :, i:i + 2, j:j + 2].reshape(2, -1) for i in range(0, 3, 2) for j in range(0, 3, 2)], -1)
op("Unfold", draw(2, 3, 4, 4), windows, config={"kernel_size": 2, "dilation": 1, "padding": 0, "stride": 2})
op("Fold", draw(2, 12, 4), lambda v: v.reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 4),
   config={"output_size": 4, "kernel_size": 2, "dilation": 1, "padding": 0, "stride": 2})

# ---- into arrays, and in groups
spots = np.array([[0, 1], [2, 3], [0, 1]], np.int32)


def scattered(i, v):
    made = np.zeros((3, 4), np.float32)
    np.add.at(made, tuple(i.T), v)
    return made


def changed(v, i, u):
    made = v.copy()
    made[tuple(i[:2].T)] = u[:2]
    return made


op("Scatter", [spots, draw(3)], scattered, A, B, config={"shape": [3, 4]})
op("ScatterUpdate", [x, spots[:2], draw(2)], changed, A, B, C, config={"reduction": None})
op("ScatterUpdate", [x, spots, draw(3)], lambda v, i, u: v + scattered(i, u), A, B, C, config={"reduction": "add"})
op("Slice", cube, lambda v: v[1:3, 0:2, 2:5], A, [1, 0, 2], config={"shape": [2, 2, 3]})


def replaced(v, u):
    made = v.copy()
    made[1:3, :2, 2:5] = u
    return made


op("SliceUpdate", [cube, draw(2, 2, 3)], replaced, A, [1, 0, 2], B)
for name, function in (("SegmentSum", np.sum), ("SegmentMax", np.max), ("SegmentMin", np.min), ("SegmentProd", np.prod)):
    op(name, [numbers, groups], lambda v, g, f=function: np.stack([f(v[g == i], 0) for i in range(2)]), A, B, config={"num_segments": None, "sorted": False})
op("InTopK", [np.array([1, 0, 2], np.int32), x], lambda t, v: np.array([i in np.argsort(-r)[:2] for i, r in zip(t, v)]), A, B, config={"k": 2})
op("ExtractSequences", cube, lambda v: np.stack([v[..., 0:3], v[..., 2:5]], -2), config={"sequence_length": 3, "sequence_stride": 2})

# ---- images
colours = rng.random((2, 4, 5, 3)).astype(np.float32)


def to_hsv(v):
    import colorsys
    return np.array([colorsys.rgb_to_hsv(*map(float, p)) for p in v.reshape(-1, 3)]).reshape(v.shape)


def to_rgb(v):
    import colorsys
    return np.array([colorsys.hsv_to_rgb(*map(float, p)) for p in v.reshape(-1, 3)]).reshape(v.shape)


op("RGBToHSV", colours, to_hsv, config={"data_format": "channels_last"})
op("HSVToRGB", colours, to_rgb, config={"data_format": "channels_last"})
op("RGBToGrayscale", colours, lambda v: (v @ np.array([0.2989, 0.5870, 0.1140]))[..., None], config={"data_format": "channels_last"})
op("PadImages", colours, lambda v: np.pad(v, [(0, 0), (1, 2), (2, 1), (0, 0)]),
   config={"top_padding": 1, "left_padding": 2, "bottom_padding": None, "right_padding": None, "target_height": 7, "target_width": 8, "data_format": None})
op("CropImages", colours, lambda v: v[:, 1:3, 1:5],
   config={"top_cropping": 1, "left_cropping": 1, "bottom_cropping": 1, "right_cropping": None, "target_height": None, "target_width": 4, "data_format": None})


def blurred(v):
    bell = [np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / s) ** 2) for n, s in ((5, 1.5), (3, 1.0))]
    kernel = np.outer(*(b / b.sum() for b in bell))
    around = np.pad(v, [(0, 0), (2, 2), (1, 1), (0, 0)])
    return sum(kernel[i, j] * around[:, i:i + 4, j:j + 5] for i in range(5) for j in range(3))


op("GaussianBlur", colours, blurred, config={"kernel_size": [3, 5], "sigma": [1.0, 1.5], "data_format": "channels_last"})


def steep_edges(v):
    around = np.pad(v, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    return np.stack([sum(f[i, j] * around[:, i:i + 4, j:j + 5] for i in range(3) for j in range(3)) for f in (down, down.T)], -1)


op("SobelEdges", colours, steep_edges, config={"data_format": "channels_last"})

# ---- Fourier's transforms
both_parts = lambda v: [v.real, v.imag]
plane = [draw(3, 4, 6), draw(3, 4, 6)]
op("FFT", plane, lambda r, i: both_parts(np.fft.fft(r + 1j * i)), [A, B])
op("FFT2", plane, lambda r, i: both_parts(np.fft.fft2(r + 1j * i)), [A, B])
op("IFFT2", plane, lambda r, i: both_parts(np.fft.ifft2(r + 1j * i)), [A, B])
for length in (None, 4, 9):
    op("RFFT", plane[0], lambda r, n=length: both_parts(np.fft.rfft(r, n)), config={"fft_length": length})
for length in (None, 9):
    op("IRFFT", plane, lambda r, i, n=length: np.fft.irfft(r + 1j * i, n), [A, B], config={"fft_length": length})


def framed(v):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(4) / 4)
    around = np.pad(v, [(0, 0), (3, 3)], mode="reflect")
    return both_parts(np.stack([np.fft.rfft(around[:, s:s + 6] * np.pad(window, 1)) for s in range(0, around.shape[1] - 5, 2)], 1))


op("STFT", draw(2, 12), framed, config={"sequence_length": 4, "sequence_stride": 2, "fft_length": 6, "window": "hann", "center": True})

# ---- nodes of TensorFlow, by its own table
T = {"T": {"type": "DT_FLOAT"}}
node("Mean", cube, lambda x: x.mean(1, keepdims=True), {**T, "Tidx": {"type": "DT_INT32"}, "keep_dims": {"b": True}}, {"1": [1]})
matrix = draw(5, 4)
node("MatMul", draw(3, 4), lambda x: x @ matrix.T, {**T, "transpose_a": {"b": False}, "transpose_b": {"b": True}}, {"1": matrix.tolist()})
node("BatchMatMulV2", [q, k], lambda x, y: x @ turned(y), {**T, "adj_x": {"b": False}, "adj_y": {"b": True}})
node("Squeeze", draw(3, 1, 5, 1), lambda x: x[..., 0], {**T, "squeeze_dims": {"list": {"i": ["3"]}}})
node("Cast", whole, lambda x: x.astype(np.float32), {"SrcT": {"type": "DT_INT32"}, "DstT": {"type": "DT_FLOAT"}, "Truncate": {"b": False}})
node("Mul", cube, lambda x: x * np.float32(2.0), T, {"1": 2.0})
node("Sub", cube, lambda x: 1 - x, T, {"0": 1.0})
node("StridedSlice", cube, lambda x: x[:, 1], {**T, "Index": {"type": "DT_INT32"}, "begin_mask": {"i": "1"}, "end_mask": {"i": "1"},
                                             "shrink_axis_mask": {"i": "2"}, "ellipsis_mask": {"i": "0"}, "new_axis_mask": {"i": "0"}},
     {"1": [0, 1], "2": [0, 2], "3": [1, 1]})
node("Split", cube, lambda x: np.split(x, 2, 1), {**T, "num_split": {"i": "2"}}, {"0": 1})
node("MaxPool", pixels, lambda x: x.reshape(2, 2, 2, 2, 2, 4).max((2, 4)),
     {**T, "ksize": {"list": {"i": ["1", "2", "2", "1"]}}, "strides": {"list": {"i": ["1", "2", "2", "1"]}}, "padding": {"s": "VkFMSUQ="},
      "data_format": {"s": "TkhXQw=="}})
node("ResizeBilinear", pixels, halved, {**T, "align_corners": {"b": False}, "half_pixel_centers": {"b": True}}, {"1": [2, 2]})
node("Relu6", cube * 20, lambda x: np.clip(x, 0, 6), T)
node("SquaredDifference", [cube, cube[::-1].copy()], lambda x, y: (x - y) ** 2, T)
node("Transpose", cube, lambda x: x.transpose(0, 2, 1), {**T, "Tperm": {"type": "DT_INT32"}}, {"1": [0, 2, 1]})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    failed = 0
    chosen = [c for c in CASES if options.filter in f"{c['kind']}:{c['name']}"]
    for c in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            why = run(options.ingot, c, pathlib.Path(scratch))
        if why:
            failed += 1
            print(f"{c['kind']}:{c['name']}: {why.strip()}")
    print(f"{len(chosen) - failed} of {len(chosen)} operations agree with NumPy")
    if options.filter:
        return 1 if failed else 0
    rows = json.loads(subprocess.run([options.ingot, "ops", "--from", "keras", "--json"], capture_output=True, text=True, check=True).stdout)
    missing = {row for row in rows if ":" in row} - {c["row"] for c in CASES}
    print(f"{sum(':' in row for row in rows)} operations, {len(missing)} without a compared case: {' '.join(sorted(missing))}")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())

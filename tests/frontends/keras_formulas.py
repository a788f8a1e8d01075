#!/usr/bin/env python3
"""Layers that TF.js lacks, or computes wrongly: written as .keras files of one layer, converted and run by Ingot, and held
against the layer's formula in NumPy and PyTorch.

keras_formulas.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not here.
With the layers that TF.js has (keras_layers.py), each row that `ingot ops --from keras` prints is compared: rows that are
not are listed, and the test fails.
"""
import argparse
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

try:
    import h5py
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"{error.name} is not here: script/bootstrap installs it")
    sys.exit(77)

rng = np.random.default_rng(3)
CASES = []


def snake(name):
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def draw(*dims):
    return rng.standard_normal(dims).astype(np.float32) * np.float32(0.5)


def case(layer, config, inputs, expected, weights=(), label="", assets=None, kwargs=None, listed=False, shards=""):
    """`weights`: a list, or by path below the layer; `expected`: a function of the inputs; `shards`: weights in several files,
    "inside" of the archive or "beside" an architecture."""
    if isinstance(inputs, np.ndarray):
        inputs = [inputs]
    tree = weights if isinstance(weights, dict) else {"": list(weights)}
    CASES.append({"name": f"{layer} {label}".strip(), "layer": layer, "config": config, "inputs": inputs, "expected": expected,
                  "weights": tree, "assets": assets or {}, "kwargs": kwargs or {}, "listed": listed, "shards": shards})


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x))


def channels_first(x):
    return t(np.moveaxis(x, -1, 1))


def channels_last(y):
    return np.moveaxis(y.numpy(), 1, -1)


# ---- files
def keras_tensor(name, array):
    kind = "string" if array.dtype.kind in "US" else str(array.dtype)
    return {"class_name": "__keras_tensor__", "config": {"shape": [None, *array.shape[1:]], "dtype": kind,
                                                           "keras_history": [name, 0, 0]}}


def write(path, c):
    names = [f"x{i}" for i in range(len(c["inputs"]))]
    layers = []
    for name, array in zip(names, c["inputs"]):
        kind = "string" if array.dtype.kind in "US" else str(array.dtype)
        layers.append({"module": "keras.layers", "class_name": "InputLayer", "name": name, "inbound_nodes": [],
                       "config": {"batch_shape": [None, *array.shape[1:]], "dtype": kind, "name": name}})
    tensors = [keras_tensor(n, a) for n, a in zip(names, c["inputs"])]
    called = [tensors] if c["listed"] else tensors
    layers.append({"module": "keras.layers", "class_name": c["layer"], "name": "y", "registered_name": None,
                   "config": {"name": "y", "trainable": True, "dtype": "float32", **c["config"]},
                   "inbound_nodes": [{"args": called, "kwargs": c["kwargs"]}]})
    config = {"module": "keras", "class_name": "Functional", "registered_name": "Functional",
              "config": {"name": "m", "layers": layers, "input_layers": [[n, 0, 0] for n in names],
                         "output_layers": [["y", 0, 0]]}}
    parts = 2 if c["shards"] else 1
    stored = [io.BytesIO() for _ in range(parts)]
    held = {}
    for n, content in enumerate(stored):
        with h5py.File(content, "w") as file:
            for place, arrays in c["weights"].items():
                path_of = "/".join(filter(None, ["layers", snake(c["layer"]), place, "vars"]))
                group = file.create_group(path_of)
                for i, array in enumerate(arrays):
                    if i % parts == n:
                        group.create_dataset(str(i), data=array)
                        held.setdefault("/" + path_of, []).append(f"m_{n:05}.weights.h5")
    if parts == 1:
        files = {"model.weights.h5": stored[0].getvalue()}
    else:
        files = {f"m_{n:05}.weights.h5": content.getvalue() for n, content in enumerate(stored)}
        files["model.weights.json"] = json.dumps({"metadata": {"total_size": 0}, "weight_map": held}).encode()
    if c["shards"] == "beside":
        for name, content in files.items():
            (path.parent / name).write_bytes(content)
        path.with_suffix(".json").write_text(json.dumps({**config, "keras_version": "3.10.0"}))
        return
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.10.0"}))
        archive.writestr("config.json", json.dumps(config))
        for name, content in files.items():
            archive.writestr(name, content)
        for name, content in c["assets"].items():
            archive.writestr(f"assets/layers/{snake(c['layer'])}/{name}", content)


def run(ingot, c, scratch):
    write(scratch / "m.keras", c)
    source = [scratch / "m.json", "--weights-from", scratch / "model.weights.json"] if c["shards"] == "beside" else [scratch / "m.keras"]
    done = subprocess.run([ingot, "convert", *source, "-o", scratch / "m.onnx", "--no-verify"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr
    words = []
    for i, array in enumerate(c["inputs"]):
        np.save(scratch / f"x{i}.npy", array)
        words += ["--in", f"x{i}={scratch / f'x{i}.npy'}"]
    done = subprocess.run([ingot, "run", scratch / "m.onnx", *words, "--out", scratch / "out"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return done.stderr
    files = sorted((scratch / "out").glob("*.npy"))
    got = np.load(files[0], allow_pickle=False)
    if got.dtype.kind == "V":  # bfloat16, which NumPy does not know: the upper half of a float
        got = (got.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    expected = np.asarray(c["expected"](*c["inputs"]))
    if got.shape != expected.shape:
        return f"the shape is {got.shape}, not {expected.shape}"
    if expected.dtype.kind in "US":
        return "" if (got.astype(str) == expected.astype(str)).all() else f"{got} is not {expected}"
    scale = max(1.0, float(np.abs(expected).max()) if expected.size else 1.0)
    worst = float(np.abs(got.astype(np.float64) - expected).max()) if expected.size else 0.0
    return "" if worst <= c.get("tolerance", 2e-5) * scale else f"{worst:.3g} apart at the scale {scale:.3g}"


# ---- normalisation
def normalised(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


image = draw(2, 4, 5, 6)
gamma, beta, mean, variance = draw(4), draw(4), draw(4), np.abs(draw(4)) + np.float32(0.5)
along = lambda v: v.reshape(1, -1, 1, 1)
for class_name in ("BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2", "SyncBatchNormalization"):
    case(class_name, {"axis": 1, "epsilon": 0.1}, image,
         lambda x: (x - along(mean)) / np.sqrt(along(variance) + 0.1) * along(gamma) + along(beta),
         [gamma, beta, mean, variance], "on axis 1")
g6, b6 = draw(6), draw(6)
case("LayerNormalization", {"axis": -1, "epsilon": 1e-3}, image, lambda x: normalised(x, (-1,), 1e-3) * g6 + b6, [g6, b6])
case("GroupNormalization", {"groups": 3, "epsilon": 1e-3}, image,
     lambda x: channels_last(F.group_norm(channels_first(x), 3, t(g6), t(b6), 1e-3)), [g6, b6])
case("GroupNormalization", {"groups": -1, "epsilon": 1e-3}, image,
     lambda x: normalised(x, (1, 2), 1e-3) * g6 + b6, [g6, b6], "of instances")
case("RMSNormalization", {"axis": -1, "epsilon": 1e-6}, image,
     lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g6, [g6])
case("UnitNormalization", {"axis": -1}, image, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)))
kernel56 = draw(6, 5)
case("SpectralNormalization", {"power_iterations": 1, "layer": {
    "module": "keras.layers", "class_name": "Dense", "config": {"name": "d", "units": 5, "activation": "linear", "use_bias": False}}},
     draw(3, 6), lambda x: x @ kernel56, {"": [draw(1, 5)], "layer": [kernel56]})
case("Normalization", {"axis": -1}, image, lambda x: (x - g6) / np.sqrt(np.abs(b6)), [g6, np.abs(b6), np.int32(3)])
case("Normalization", {"axis": -1, "mean": [1.0] * 6, "variance": [4.0] * 6, "invert": True}, image, lambda x: x * 2 + 1, (), "inverted")

# ---- core
e = draw(6, 3, 4)
case("EinsumDense", {"equation": "abc,cde->abde", "output_shape": [None, 3, 4], "bias_axes": "e", "activation": "relu"}, draw(2, 5, 6),
     lambda x: np.maximum(np.einsum("abc,cde->abde", x, e) + gamma, 0), [e, gamma])
case("Dense", {"units": 5, "activation": "gelu", "use_bias": True}, draw(3, 6),
     lambda x: F.gelu(t(x @ kernel56 + kernel56[0])).numpy(), [kernel56, kernel56[0]])
case("TimeDistributedDense", {"output_dim": 5, "activation": "linear"}, draw(3, 4, 6), lambda x: x @ kernel56 + kernel56[1],
     [kernel56, kernel56[1]])
signs = lambda k, threshold: np.sign(k) * (np.abs(k) > threshold)
case("TernaryDense", {"units": 5, "activation": "linear", "threshold": None}, draw(3, 6),
     lambda x: x @ signs(kernel56, np.abs(kernel56).mean() / 2) * np.abs(kernel56).mean() + kernel56[0], [kernel56, kernel56[0]])
case("TernaryDense", {"units": 5, "activation": "relu", "threshold": 0.3, "use_bias": False}, draw(3, 6),
     lambda x: np.maximum(x @ signs(kernel56, 0.3), 0), [kernel56], "with a threshold")
trits = rng.integers(-1, 2, (7, 3))
packed = np.stack([sum((trits[5 * i + j] + 1 if 5 * i + j < 7 else 1) * 3 ** j for j in range(5)) for i in range(2)]).astype(np.uint8)
for packs in ("TernaryDense", "Dense"):
    case(packs, {"units": 3, "activation": "linear", "dtype": "ternary_from_float32"}, draw(4, 7), lambda x: x @ trits * 0.25 + kernel56[0, :3],
         [packed, kernel56[0, :3], np.float32(0.25)], "packed")
table = draw(9, 4)
ids = np.array([[0, 3, 8], [1, 1, 7]], np.int32)
case("Embedding", {"input_dim": 9, "output_dim": 4}, ids, lambda x: table[x], [table])
case("ReversibleEmbedding", {"input_dim": 9, "output_dim": 4, "tie_weights": True}, ids, lambda x: table[x], [table])
case("ReversibleEmbedding", {"input_dim": 9, "output_dim": 4, "tie_weights": True, "logit_soft_cap": 0.5}, draw(2, 3, 4),
     lambda x: np.tanh(x @ table.T / 0.5) * 0.5, [table], "reversed", kwargs={"reverse": True})
case("Softmax", {"axis": [1, 2]}, draw(2, 3, 4), lambda x: np.exp(x) / np.exp(x).sum((1, 2), keepdims=True), (), "over two axes")
case("Masking", {"mask_value": 0.0}, draw(2, 3, 4), lambda x: x)
for class_name in ("Identity", "ActivityRegularization", "AugMix", "CutMix", "MixUp", "RandAugment", "RandomBrightness",
                   "RandomColorDegeneration", "RandomColorJitter", "RandomContrast", "RandomElasticTransform", "RandomErasing",
                   "RandomFlip", "RandomGaussianBlur", "RandomGrayscale", "RandomHeight", "RandomHue", "RandomInvert",
                   "RandomPerspective", "RandomPosterization", "RandomRotation", "RandomSaturation", "RandomSharpness",
                   "RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom", "Solarization", "Equalization",
                   "MaxNumBoundingBoxes", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout", "AlphaDropout"):
    case(class_name, {"rate": 0.5}, draw(1, 4, 4, 4, 3) if class_name.endswith("3D") else draw(1, 4, 4, 3), lambda x: x)
case("Highway", {"activation": "relu", "input_dim": 4}, draw(3, 4),
     lambda x: (lambda gate: gate * np.maximum(x @ table[:4] + gamma, 0) + (1 - gate) * x)(1 / (1 + np.exp(-(x @ table[4:8] + beta)))),
     [table[:4], table[4:8], gamma, beta])
case("MaxoutDense", {"output_dim": 4, "nb_feature": 3}, draw(2, 6), lambda x: (np.einsum("bi,kio->bko", x, maxout) + maxout_bias).max(1),
     [maxout := draw(3, 6, 4), maxout_bias := draw(3, 4)])

# ---- merging
a, b = draw(2, 3, 4), draw(2, 3, 4)
case("Subtract", {}, [a, b], lambda x, y: x - y, listed=True)
case("Merge", {"mode": "sum"}, [a, b], lambda x, y: x + y, listed=True)

# ---- convolutions and pools
sound, kernel = draw(2, 9, 6), draw(3, 4, 6)
case("Conv1DTranspose", {"filters": 4, "kernel_size": [3], "strides": [2], "padding": "valid", "use_bias": True}, sound,
     lambda x: channels_last(F.conv_transpose1d(channels_first(x), t(kernel.transpose(2, 1, 0)), t(gamma), 2)), [kernel, gamma])
depth = draw(3, 6, 2)
depthwise = lambda x: F.conv1d(channels_first(x), t(depth.transpose(1, 2, 0).reshape(12, 1, 3)), groups=6)
case("DepthwiseConv1D", {"kernel_size": [3], "depth_multiplier": 2, "use_bias": False}, sound, lambda x: channels_last(depthwise(x)), [depth])
point = draw(1, 12, 4)
for class_name in ("SeparableConv1D", "SeparableConvolution1D"):
    case(class_name, {"filters": 4, "kernel_size": [3], "depth_multiplier": 2, "use_bias": True}, sound,
         lambda x: channels_last(F.conv1d(depthwise(x), t(point.transpose(2, 1, 0)), t(gamma))), [depth, point, gamma])
plain = draw(3, 6, 4)
for class_name in ("Convolution1D", "AtrousConvolution1D"):
    case(class_name, {"filters": 4, "kernel_size": [3], "use_bias": True}, sound,
         lambda x: channels_last(F.conv1d(channels_first(x), t(plain.transpose(2, 1, 0)), t(gamma))), [plain, gamma])
square = draw(3, 2, 6, 4)
for class_name in ("Convolution2D", "AtrousConvolution2D"):
    case(class_name, {"filters": 4, "kernel_size": [3, 2], "use_bias": True}, image,
         lambda x: channels_last(F.conv2d(channels_first(x), t(square.transpose(3, 2, 0, 1)), t(gamma))), [square, gamma])
for class_name in ("Conv2DTranspose", "Convolution2DTranspose", "Deconvolution2D"):
    case(class_name, {"filters": 6, "kernel_size": [3, 2], "strides": [2, 2], "use_bias": False, "padding": "valid"}, draw(1, 4, 5, 4),
         lambda x: channels_last(F.conv_transpose2d(channels_first(x), t(square.transpose(3, 2, 0, 1)), stride=2)), [square])
case("SeparableConvolution2D", {"filters": 4, "kernel_size": [2, 2], "use_bias": False}, image,
     lambda x: channels_last(F.conv2d(F.conv2d(channels_first(x), t(two.transpose(2, 3, 0, 1)), groups=6), t(one.transpose(3, 2, 0, 1)))),
     [two := draw(2, 2, 6, 1), one := draw(1, 1, 6, 4)])
volume, cube = draw(1, 5, 4, 6, 3), draw(2, 3, 2, 3, 4)
case("Convolution3D", {"filters": 4, "kernel_size": [2, 3, 2], "use_bias": True}, volume,
     lambda x: channels_last(F.conv3d(channels_first(x), t(cube.transpose(4, 3, 0, 1, 2)), t(gamma))), [cube, gamma])
grouped = draw(3, 3, 2, 4)
case("Conv2D", {"filters": 4, "kernel_size": [3, 3], "groups": 3, "use_bias": False, "data_format": "channels_last"}, image,
     lambda x: channels_last(F.conv2d(channels_first(x), t(np.repeat(draw_groups.transpose(3, 2, 0, 1), 1, 0)), groups=3)),
     [draw_groups := draw(3, 3, 2, 6)], "in groups")
CASES[-1]["config"]["filters"] = 6
local1, bias1 = draw(7, 18, 4), draw(7, 4)
case("LocallyConnected1D", {"filters": 4, "kernel_size": [3], "strides": [1], "implementation": 1, "use_bias": True}, sound,
     lambda x: np.stack([x[:, i:i + 3].reshape(2, 18) @ local1[i] + bias1[i] for i in range(7)], 1), [local1, bias1])
local2, bias2 = draw(12, 24, 4), draw(3, 4, 4)
case("LocallyConnected2D", {"filters": 4, "kernel_size": [2, 2], "strides": [1, 1], "implementation": 1, "use_bias": True}, image,
     lambda x: np.stack([x[:, i // 4:i // 4 + 2, i % 4:i % 4 + 2].reshape(2, 24) @ local2[i] for i in range(12)], 1)
     .reshape(2, 3, 4, 4) + bias2, [local2, bias2])
for rank, data in ((1, sound), (2, image), (3, volume)):
    axes = tuple(range(1, rank + 1))
    case(f"GlobalMaxPooling{rank}D", {"keepdims": True}, data, lambda x, axes=axes: x.max(axes, keepdims=True))
    case(f"GlobalAveragePooling{rank}D", {}, data, lambda x, axes=axes: x.mean(axes))
    size = [3] * rank
    for kind, pool in (("Average", "avg"), ("Max", "max")):
        case(f"Adaptive{kind}Pooling{rank}D", {"output_size": size}, data,
             lambda x, f=getattr(F, f"adaptive_{pool}_pool{rank}d"), size=size: channels_last(f(channels_first(x), size)))
    both = [[1, 2]] * rank
    pads = [(0, 0), *[(1, 2)] * rank, (0, 0)]
    case(f"ZeroPadding{rank}D", {"padding": both if rank > 1 else [1, 2]}, data, lambda x, pads=pads: np.pad(x, pads))
    case(f"Cropping{rank}D", {"cropping": [[1, 1]] * rank if rank > 1 else [1, 1]}, data,
         lambda x, rank=rank: x[(slice(None), *[slice(1, -1)] * rank)])
    if rank != 2:
        case(f"UpSampling{rank}D", {"size": 2 if rank == 1 else [2] * 3}, data,
             lambda x, axes=axes: __import__("functools").reduce(lambda v, axis: np.repeat(v, 2, axis), axes, x))


# ---- recurrent networks over images, cuDNN's and stacked cells
def convolved_lstm(x, w, r, bias, rank):
    conv = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    turned = lambda k: t(np.moveaxis(k, (-1, -2), (0, 1)))
    units = r.shape[-2]
    h = c = torch.zeros(x.shape[0], units, *x.shape[2:-1])
    for step in range(x.shape[1]):
        same = lambda k: k.shape[0] // 2
        z = conv(channels_first(x[:, step]), turned(w), t(bias), padding=same(w)) + conv(h, turned(r), padding=same(r))
        i, f, g, o = torch.split(z, units, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return channels_last(h)


for rank in (1, 2, 3):
    w, r, bias = draw(*[3] * rank, 2, 12), draw(*[3] * rank, 3, 12), draw(12)
    case(f"ConvLSTM{rank}D", {"filters": 3, "kernel_size": [3] * rank, "padding": "same", "activation": "tanh",
                              "recurrent_activation": "sigmoid", "use_bias": True}, draw(2, 3, *[4] * rank, 2),
         lambda x, w=w, r=r, bias=bias, rank=rank: convolved_lstm(x, w, r, bias, rank), {"cell": [w, r, bias]})


def lstm(x, w, r, bias):
    h = c = np.zeros((x.shape[0], r.shape[0]), np.float32)
    for step in range(x.shape[1]):
        i, f, g, o = np.split(x[:, step] @ w + h @ r + bias, 4, -1)
        s = lambda v: 1 / (1 + np.exp(-v))
        c = s(f) * c + s(i) * np.tanh(g)
        h = s(o) * np.tanh(c)
    return h


def gru(x, w, r, inside, outside):
    h = np.zeros((x.shape[0], r.shape[0]), np.float32)
    for step in range(x.shape[1]):
        s = lambda v: 1 / (1 + np.exp(-v))
        xz, xr, xh = np.split(x[:, step] @ w + inside, 3, -1)
        hz, hr, hh = np.split(h @ r + outside, 3, -1)
        z = s(xz + hz)
        h = z * h + (1 - z) * np.tanh(xh + s(xr + hr) * hh)
    return h


lw, lr, lb = draw(6, 12), draw(3, 12), draw(12)
gw, gr, gb = draw(6, 9), draw(3, 9), draw(2, 9)
case("LSTM", {"units": 3, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}, sound,
     lambda x: lstm(x, lw, lr, lb), {"cell": [lw, lr, lb]})
case("GRU", {"units": 3, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True, "reset_after": True}, sound,
     lambda x: gru(x, gw, gr, *gb), {"cell": [gw, gr, gb]})
case("CuDNNLSTM", {"units": 3}, sound, lambda x: lstm(x, lw, lr, lb + lb), [lw, lr, np.concatenate([lb, lb])])
case("CuDNNGRU", {"units": 3}, sound, lambda x: gru(x, gw, gr, *gb), [gw, gr, gb.reshape(-1)])


# ---- attention
def attended(q, k, v, scale, reach=None, is_causal=False):
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) * scale
    away = np.arange(q.shape[1])[:, None] - np.arange(k.shape[1])
    if reach:
        scores = np.where((np.abs(away) < reach) & ((away >= 0) | (not is_causal)), scores, -1e9)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", p / p.sum(-1, keepdims=True), v)


def softmax(x):
    p = np.exp(x - x.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


query, value = draw(2, 3, 6), draw(2, 4, 6)
qk, kk, vk, ok = draw(6, 2, 5), draw(6, 2, 5), draw(6, 2, 5), draw(2, 5, 6)
qb, kb, vb, ob = draw(2, 5), draw(2, 5), draw(2, 5), draw(6)
project = lambda x, k, bias: np.einsum("abc,cde->abde", x, k) + bias
case("MultiHeadAttention", {"num_heads": 2, "key_dim": 5, "value_dim": 5, "use_bias": True}, [query, value],
     lambda q, v: np.einsum("bqhd,hdo->bqo", attended(project(q, qk, qb), project(v, kk, kb), project(v, vk, vb), 5 ** -0.5), ok) + ob,
     {"query_dense": [qk, qb], "key_dense": [kk, kb], "value_dense": [vk, vb], "output_dense": [ok, ob]})
let_through = lambda q, k, bias: 1 / (1 + np.exp(-project(q, k, bias)))
for causal in (False, True):
    case("MultiHeadAttention", {"num_heads": 2, "key_dim": 5, "value_dim": 5, "use_bias": True, "use_gate": True, "sliding_window": 2}, [query, query],
         lambda q, v, c=causal: np.einsum("bqhd,hdo->bqo", let_through(q, vk, kb)
                                          * attended(project(q, qk, qb), project(v, kk, kb), project(v, vk, vb), 5 ** -0.5, 2, c), ok) + ob,
         {"query_dense": [qk, qb], "key_dense": [kk, kb], "gate_dense": [vk, kb], "value_dense": [vk, vb], "output_dense": [ok, ob]},
         "gated, in a window" + ", causal" * causal, kwargs={"use_causal_mask": True} if causal else {})
wide = draw(6, 4, 5)
out = draw(4, 5, 6)
case("GroupedQueryAttention", {"head_dim": 5, "num_query_heads": 4, "num_key_value_heads": 2, "use_bias": False}, [query, value],
     lambda q, v: np.einsum("bqhd,hdo->bqo", attended(np.einsum("abc,cde->abde", q, wide),
                                                        np.repeat(np.einsum("abc,cde->abde", v, kk), 2, 2),
                                                        np.repeat(np.einsum("abc,cde->abde", v, vk), 2, 2), 5 ** -0.5), out),
     {"_query_dense": [wide], "_key_dense": [kk], "_value_dense": [vk], "_output_dense": [out]})
case("GroupedQueryAttention", {"head_dim": 5, "num_query_heads": 4, "num_key_value_heads": 2, "use_bias": False, "use_gate": True,
                               "sliding_window": 3}, [query, value],
     lambda q, v: np.einsum("bqhd,hdo->bqo", let_through(q, -wide, 0)
                            * attended(np.einsum("abc,cde->abde", q, wide), np.repeat(np.einsum("abc,cde->abde", v, kk), 2, 2),
                                       np.repeat(np.einsum("abc,cde->abde", v, vk), 2, 2), 5 ** -0.5, 3), out),
     {"_query_dense": [wide], "_key_dense": [kk], "_gate_dense": [-wide], "_value_dense": [vk], "_output_dense": [out]}, "gated, in a window")
case("Attention", {"use_scale": True, "score_mode": "dot"}, [query, value],
     lambda q, v: softmax(q @ v.transpose(0, 2, 1) * np.float32(1.5)) @ v, [np.float32(1.5)], listed=True)
scale6 = draw(6)
case("AdditiveAttention", {"use_scale": True}, [query, value],
     lambda q, v: softmax((scale6 * np.tanh(q[:, :, None] + v[:, None])).sum(-1)) @ v, [scale6], listed=True)

# ---- quantized by Keras: integers with a scale, inputs by their largest number
def integers(x, axis):
    scale = np.float32(127) / (np.abs(x).max(axis, keepdims=True) + np.float32(1e-7))
    return np.clip(np.round(x * scale), -127, 127), scale


INT8 = {"module": "keras", "class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", "source_name": "float32"}}
small, small_bias = rng.integers(-127, 128, (6, 4)).astype(np.int8), draw(4)
row_scale = np.abs(draw(4)) * 50 + np.float32(30)


def int8_dense(x):
    q, scale = integers(x, -1)
    return np.maximum(q @ small.astype(np.float64) / (scale * row_scale) + small_bias, 0)


for label, policy in (("of int8", INT8), ("of int8, by name", "int8_from_float32")):
    case("Dense", {"units": 4, "activation": "relu", "use_bias": True, "dtype": policy}, query, int8_dense, [small, small_bias, row_scale], label)
case("Dense", {"units": 4, "use_bias": False, "dtype": INT8, "quantization_config": {"class_name": "Int8QuantizationConfig", "config": {
    "weight_quantizer": None, "activation_quantizer": None}}}, query, lambda x: x @ small.astype(np.float32) / row_scale, [small, row_scale],
     "of int8, weights alone")
cubic, cubic_scale = rng.integers(-127, 128, (6, 2, 5)).astype(np.int8), np.abs(draw(1, 1, 2, 5)) * 50 + np.float32(30)


def int8_einsum(x):
    q, scale = integers(x, -1)
    return np.einsum("abc,cde->abde", q, cubic.astype(np.float64)) / (scale[..., None] * cubic_scale)


case("EinsumDense", {"equation": "abc,cde->abde", "output_shape": [None, 2, 5], "bias_axes": None, "dtype": INT8}, query, int8_einsum,
     [cubic, cubic_scale], "of int8")
table8, table_scale = rng.integers(-127, 128, (9, 4)).astype(np.int8), np.abs(draw(9)) * 50 + np.float32(30)
case("Embedding", {"input_dim": 9, "output_dim": 4, "dtype": INT8}, ids, lambda x: table8[x] / table_scale[x][..., None], [table8, table_scale], "of int8")

# ---- features
bounds = [-0.5, 0.0, 0.5]
case("Discretization", {"bin_boundaries": bounds, "output_mode": "int"}, draw(3, 4), lambda x: np.digitize(x, bounds))
hot = lambda index, depth: np.eye(depth, dtype=np.float32)[index]
case("CategoryEncoding", {"num_tokens": 9, "output_mode": "multi_hot"}, ids, lambda x: hot(x, 9).max(1))
case("CategoryEncoding", {"num_tokens": 9, "output_mode": "count"}, ids, lambda x: hot(x, 9).sum(1), (), "counted")
words = ["apple", "pear", "fig"]
texts = np.array([["fig"], ["plum"], ["apple"]])
case("StringLookup", {"vocabulary": words, "num_oov_indices": 1, "mask_token": None, "oov_token": "[UNK]"}, texts,
     lambda x: np.array([[3], [0], [1]]))
case("StringLookup", {"num_oov_indices": 1, "mask_token": None, "oov_token": "[UNK]", "invert": True}, np.array([[1], [3]]),
     lambda x: np.array([["apple"], ["fig"]]), (), "inverted, of an asset", assets={"vocabulary.txt": "[UNK]\n" + "\n".join(words)})
case("IntegerLookup", {"vocabulary": [5, 7, 9], "num_oov_indices": 2, "mask_token": None, "oov_token": -1}, np.array([[7], [4], [9], [-3]]),
     lambda x: np.array([[3], [0], [4], [1]]))
case("IntegerLookup", {"vocabulary": [5, 7, 9], "num_oov_indices": 1, "mask_token": None, "oov_token": -1, "output_mode": "tf_idf",
                       "idf_weights": [0.5, 1.0, 2.0]}, np.array([[5, 5], [9, 1]]),
     lambda x: np.array([[0, 1.0, 0, 0], [3.5 / 3, 0, 0, 2.0]], np.float32), (), "weighed")
letters = np.array([["Fig, apple! FIG?"], ["plum"], ["  pear\tfig (it's) "]])
case("TextVectorization", {"vocabulary": words, "standardize": "lower_and_strip_punctuation", "split": "whitespace", "ngrams": None,
                           "output_mode": "int", "output_sequence_length": 5}, letters,
     lambda x: np.array([[4, 2, 4, 0, 0], [1, 0, 0, 0, 0], [3, 4, 1, 0, 0]]))
case("TextVectorization", {"vocabulary": words, "standardize": "lower", "split": "whitespace", "ngrams": None, "output_mode": "int"},
     np.array([["fig apple"], ["FIG"]]), lambda x: np.array([[4, 2], [4, 0]]), (), "of any length")
case("TextVectorization", {"vocabulary": ["fig", "apple fig", "fig apple"], "standardize": "lower_and_strip_punctuation",
                           "split": "whitespace", "ngrams": 2, "output_mode": "count"}, np.array([["fig apple fig"], ["apple"]]),
     lambda x: np.array([[1, 2, 1, 1], [1, 0, 0, 0]], np.float32), (), "in pairs, counted")


# ---- hashes: FarmHash's Fingerprint64
M = (1 << 64) - 1
K0, K1, K2 = 0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f


def pair(u, v, m):
    a = (u ^ v) * m & M
    a ^= a >> 47
    c = (v ^ a) * m & M
    c ^= c >> 47
    return c * m & M


def fingerprint(s):
    n, m = len(s), K2 + len(s) * 2
    rotated = lambda v, by: (v >> by | v << 64 - by) & M
    at = lambda i, size=8: int.from_bytes(s[i:i + size], "little")
    if n < 4:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[-1] << 2)
        mixed = y * K2 & M ^ z * K0 & M
        return (mixed ^ mixed >> 47) * K2 & M
    if n < 8:
        return pair(n + (at(0, 4) << 3) & M, at(n - 4, 4), m)
    if n <= 16:
        a, e = at(0) + K2 & M, at(n - 8)
        return pair(rotated(e, 37) * m + a & M, (rotated(a, 25) + e) * m & M, m)
    a, c, e, d = at(0) * K1 & M, at(8), at(n - 8) * m & M, at(n - 16) * K2 & M
    return pair(rotated(a + c & M, 43) + rotated(e, 30) + d & M, a + rotated(c + K2 & M, 18) + e & M, m)


def crossed(features, bins):
    h, m = 0xDECAFCAFFE, 0xc6a4a7935bd1e995
    mix = lambda v: v ^ v >> 47
    for f in features:
        h = (h ^ m ^ (mix((int(f) & M) * m & M) * m & M)) * m & M
        h = mix(mix(h) * m & M)
    return h % bins


numbers = np.array([[0], [7], [42], [-5], [123], [4567], [-98765], [12345678], [987654321012], [-1234567890123456789],
                    [9223372036854775807], [1234567890123456]])
hashed = lambda x, bins: np.array([[fingerprint(str(v).encode()) % bins for v in row] for row in x.tolist()])
case("Hashing", {"num_bins": 1000003, "output_mode": "int", "salt": None, "mask_value": None}, numbers, lambda x: hashed(x, 1000003))
# As Keras's own tests state them.
case("Hashing", {"num_bins": 3, "output_mode": "int"}, np.array([[0], [1], [2], [3], [4]]),
     lambda x: np.array([[1], [0], [1], [0], [2]]), (), "of Keras's tests")
five = np.array([["A"], ["B"], ["C"], ["D"], ["E"]])
case("Hashing", {"num_bins": 3, "output_mode": "int"}, five, lambda x: np.array([[1], [0], [1], [1], [2]]), (), "of texts, of Keras's tests")
case("Hashing", {"num_bins": 3, "output_mode": "int", "salt": [133, 137]}, five, lambda x: np.array([[1], [2], [1], [0], [2]]), (),
     "salted, of Keras's tests")
case("Hashing", {"num_bins": 3, "output_mode": "int", "salt": 133}, five, lambda x: np.array([[0], [0], [2], [1], [0]]), (),
     "salted by one number, of Keras's tests")
case("Hashing", {"num_bins": 4, "output_mode": "int", "mask_value": 7}, numbers, lambda x: np.where(x == 7, 0, hashed(x, 3) + 1), (), "with a mask")
case("HashedCrossing", {"num_bins": 1000, "output_mode": "int"}, [numbers, numbers[::-1].copy()],
     lambda x, y: np.array([[crossed(p, 1000)] for p in zip(x[:, 0], y[:, 0])]), listed=True)

# ---- weights of few bits


def policy(mode, **more):
    return {"module": "keras", "class_name": "QuantizedDTypePolicy", "config": {"mode": mode, "source_name": "float32", **more}}


def packed_bits(codes, bits, axis):
    """Several numbers in a byte, the first in its lowest bits."""
    count = 8 // bits
    codes = np.moveaxis(codes.astype(np.int64) & ((1 << bits) - 1), axis, 0)
    codes = np.concatenate([codes, np.zeros((-len(codes) % count, *codes.shape[1:]), np.int64)])
    return np.moveaxis(sum(codes[i::count] << (bits * i) for i in range(count)).astype(np.uint8), 0, axis)


few = rng.integers(-8, 8, (6, 5)).astype(np.int8)
few_bias, few_scale = draw(5), np.abs(draw(5)) * 9 + np.float32(3)


def int4_dense(x):
    q, scale = integers(x, -1)
    return q @ few.astype(np.float64) / (scale * few_scale) + few_bias


case("Dense", {"units": 5, "dtype": policy("int4")}, query, int4_dense, [packed_bits(few, 4, 0).view(np.int8), few_bias, few_scale], "of int4")
case("Dense", {"units": 5, "dtype": "int4_from_float32"}, query, lambda x: x @ few.astype(np.float32) / few_scale + few_bias,
     [packed_bits(few, 4, 1).view(np.int8), few_bias, few_scale], "of int4, weights alone")
groups_of = np.array([0, 0, 0, 0, 1, 1], np.float32)
at = groups_of.astype(int)
pair_scale, pair_zero = np.abs(draw(2, 5)) + np.float32(0.1), rng.integers(-8, 8, (2, 5)).astype(np.int8)
case("Dense", {"units": 5, "dtype": policy("int4", block_size=4)}, query,
     lambda x: x @ ((few - pair_zero[at].astype(np.float32)) * pair_scale[at]) + few_bias,
     [packed_bits(few, 4, 1).view(np.int8), few_bias, pair_scale, pair_zero, groups_of], "of int4 in groups")
unit_scale = np.abs(draw(5, 2)) + np.float32(0.1)
for bits, label in ((4, policy("gptq", weight_bits=4, group_size=4)), (2, policy("gptq", weight_bits=2, group_size=4)), (8, "gptq/8/4_from_float32")):
    codes, zeros = rng.integers(0, 1 << bits, (5, 6)).astype(np.uint8), rng.integers(0, 1 << bits, (5, 2)).astype(np.uint8)
    case("Dense", {"units": 5, "dtype": label}, query,
         lambda x, c=codes, z=zeros: x @ ((c - z[:, at].astype(np.float32)) * unit_scale[:, at]).T + few_bias,
         [few_bias, codes if bits == 8 else packed_bits(codes, bits, 0), unit_scale, zeros, groups_of], f"of GPTQ, {bits} bits")
awq_codes, awq_zeros, before = rng.integers(0, 16, (5, 6)).astype(np.uint8), rng.integers(0, 16, (5, 2)).astype(np.uint8), np.abs(draw(6)) + 1
case("Dense", {"units": 5, "use_bias": False, "dtype": policy("awq", weight_bits=4, group_size=4)}, query,
     lambda x: x @ (((awq_codes - awq_zeros[:, at].astype(np.float32)) * unit_scale[:, at]).T / before[:, None]),
     [packed_bits(awq_codes, 4, 0), unit_scale, awq_zeros, before.astype(np.float32), groups_of], "of AWQ")
kernel8, scale8 = draw(6, 5), [np.array(0.01, np.float32), np.array(0.02, np.float32)]
rounded8 = lambda v, s: t(v / s).clamp(-448, 448).to(torch.float8_e4m3fn).float().numpy() * s if hasattr(torch, "float8_e4m3fn") else eighths(v / s) * s


def eighths(v):
    """Rounded to 8-bit floats of 3 bits behind the first."""
    v = np.clip(v, -448, 448)
    step = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(v), 2.0 ** -6))) - 3)
    return np.round(v / step) * step


history = np.zeros(4, np.float32)
case("Dense", {"units": 5, "use_bias": False, "dtype": policy("float8", amax_history_length=4)}, query,
     lambda x: rounded8(x, scale8[0]) @ rounded8(kernel8, scale8[1]),
     [kernel8, scale8[0], history, scale8[1], history, np.array(1, np.float32), history], "of float8")

# ---- weights in several files
for place in ("inside", "beside"):
    case("Dense", {"units": 5}, query, lambda x: x @ few.astype(np.float32) + few_bias, [few.astype(np.float32), few_bias], f"in shards, {place}", shards=place)

# ---- images and sounds
pixels = (rng.random((2, 6, 8, 3)) * 200 + 20).astype(np.float32)
spread = lambda x: (x - x.min((1, 2), keepdims=True)) * 255 / (x.max((1, 2), keepdims=True) - x.min((1, 2), keepdims=True))
case("AutoContrast", {"value_range": [0, 255]}, pixels, spread)


def evened_out(x, grid, limit):
    """CLAHE, pixel by pixel."""
    rows, columns = x.shape[1:3]
    tile = [-(-rows // grid[0]), -(-columns // grid[1])]
    whole = np.pad(x, [(0, 0), (0, tile[0] * grid[0] - rows), (0, tile[1] * grid[1] - columns), (0, 0)], mode="symmetric")
    y = np.zeros(x.shape)
    for n, c in np.ndindex(x.shape[0], x.shape[3]):
        curve = np.zeros((grid[0] + 2, grid[1] + 2, 256))
        for i, j in np.ndindex(*curve.shape[:2]):
            a, d = (min(max(k - 1, 0), g - 1) for k, g in zip((i, j), grid))
            part = whole[n, a * tile[0]:(a + 1) * tile[0], d * tile[1]:(d + 1) * tile[1], c].astype(int)
            counts = np.bincount(part.ravel(), minlength=256).astype(float)
            most = limit * part.size / 256
            counts = np.minimum(counts, most) + np.maximum(counts - most, 0).sum() / 256
            sums = counts.cumsum()
            curve[i, j] = np.clip((sums - sums.min()) * 255 / max(part.size - sums.min(), 1e-30), 0, 255)
        for i, j in np.ndindex(rows, columns):
            u, v = ((k - s / 2) / s + 1 for k, s in zip((i, j), tile))
            p, q = int(np.floor(u)), int(np.floor(v))
            level = int(x[n, i, j, c])
            ends = [[curve[min(r, grid[0] + 1), min(s, grid[1] + 1), level] for s in (q, q + 1)] for r in (p, p + 1)]
            y[n, i, j, c] = (1 - u + p) * ((1 - v + q) * ends[0][0] + (v - q) * ends[0][1]) + (u - p) * ((1 - v + q) * ends[1][0] + (v - q) * ends[1][1])
    return y


case("ContrastLimitedAdaptiveHistogramEqualization", {"value_range": [0, 255], "clip_limit": 40.0, "tile_grid_size": [2, 3], "data_format": "channels_last"},
     pixels, lambda x: evened_out(x, (2, 3), 40.0))
resized = lambda x, size: channels_last(F.interpolate(channels_first(x), size, mode="bilinear", align_corners=False))
case("Resizing", {"height": 4, "width": 4, "crop_to_aspect_ratio": True}, pixels, lambda x: resized(x[:, :, 1:7], (4, 4)))
case("Resizing", {"height": 4, "width": 4, "pad_to_aspect_ratio": True}, pixels,
     lambda x: resized(np.pad(x, [(0, 0), (1, 1), (0, 0), (0, 0)]), (4, 4)), (), "padded")
case("CenterCrop", {"height": 3, "width": 4}, pixels, lambda x: x[:, 1:4, 2:6])
case("CenterCrop", {"height": 12, "width": 12}, pixels, lambda x: resized(x[:, :, 1:7], (12, 12)), (), "of a small image")
case("RandomCrop", {"height": 3, "width": 3}, pixels, lambda x: resized(x[:, :, 1:7], (3, 3)))
case("Rescaling", {"scale": 0.5, "offset": 1.0}, pixels, lambda x: x * 0.5 + 1)
case("Pipeline", {"layers": [{"module": "keras.layers", "class_name": "Rescaling", "config": {"name": "a", "scale": 2.0, "offset": 0.0}},
                             {"module": "keras.layers", "class_name": "CenterCrop", "config": {"name": "b", "height": 2, "width": 2}}]},
     pixels, lambda x: 2 * x[:, 2:4, 3:5])
waves = draw(2, 40, 2)
real, imaginary = draw(8, 1, 5), draw(8, 1, 5)


def framed(x, k):
    y = np.stack([np.einsum("btc,tf->bcf", x[:, i:i + 8], k[:, 0]) for i in range(0, 33, 4)], -1)  # b, c, f, frames
    return y.reshape(y.shape[0], -1, y.shape[-1]).transpose(0, 2, 1)


for mode, expected in (("magnitude", lambda p, q: np.sqrt(np.maximum(p * p + q * q, 1e-7))),
                       ("log", lambda p, q: np.log(np.sqrt(np.maximum(p * p + q * q, 1e-7)))), ("angle", lambda p, q: np.arctan2(q, p))):
    case("STFTSpectrogram", {"mode": mode, "frame_length": 8, "frame_step": 4, "fft_length": 8, "padding": "valid",
                             "data_format": "channels_last", "expand_dims": False}, waves,
         lambda x, expected=expected: expected(framed(x, real), framed(x, imaginary)), [real, imaginary], mode)


def mel_spectrogram(x, size, step, rate, bands, low):
    padded = np.pad(x, [(0, 0), (size // 2, size // 2)], mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    frames = np.stack([padded[:, i:i + size] * window for i in range(0, padded.shape[1] - size + 1, step)], 1)
    power = np.abs(np.fft.rfft(frames)) ** 2
    mel = lambda hertz: 1127.0 * np.log(1 + hertz / 700.0)
    edges = np.linspace(mel(low), mel(rate // 2), bands + 2)
    at = mel(np.linspace(0, rate / 2, size // 2 + 1))[1:, None]
    rising, falling = (at - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - at) / (edges[2:] - edges[1:-1])
    matrix = np.vstack([np.zeros((1, bands)), np.maximum(0, np.minimum(rising, falling))])
    log = 10 * np.log10(np.maximum(power @ matrix, 1e-10))
    return np.maximum(log, log.max() - 80).transpose(0, 2, 1)


case("MelSpectrogram", {"fft_length": 64, "sequence_stride": 16, "sequence_length": 64, "sampling_rate": 8000, "num_mel_bins": 8,
                        "min_freq": 20.0, "max_freq": None, "window": "hann"}, draw(2, 200),
     lambda x: mel_spectrogram(x.astype(np.float64), 64, 16, 8000, 8, 20.0))

# ---- the same in half precision, as policies say
HALVES = {"Dense", "EinsumDense", "MultiHeadAttention", "CategoryEncoding", "IntegerLookup", "LayerNormalization", "BatchNormalization", "Dot"}
for policy, tolerance in (("mixed_float16", 1e-2), ("mixed_bfloat16", 6e-2)):
    said = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": policy}, "registered_name": None}
    CASES += [{**c, "name": f"{c['name']}, {policy}", "config": {**c["config"], "dtype": said}, "tolerance": tolerance}
              for c in list(CASES) if c["layer"] in HALVES and "dtype" not in c["config"]]

# Compared by keras_layers.py with TF.js itself, by the corpus (keras_agreement.py), with NumPy
# (keras_operations.py), or refused.
ELSEWHERE = set("""Activation Add Average AveragePooling1D AveragePooling2D AveragePooling3D Bidirectional Concatenate Conv1D Conv3D
    Conv3DTranspose DepthwiseConv2D Dot Dropout ELU Flatten GaussianNoise InputLayer LeakyReLU MaxPooling1D MaxPooling2D
    MaxPooling3D Maximum Minimum Multiply PReLU Permute RNN ReLU RepeatVector Reshape SeparableConv2D SimpleRNN SpatialDropout1D
    TensorFlowOpLayer ThresholdedReLU TimeDistributed UpSampling2D""".split())
REFUSED = {"Lambda"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    failed = 0
    chosen = [c for c in CASES if options.filter in c["name"]]
    for c in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            why = run(options.ingot, c, pathlib.Path(scratch))
        if why:
            failed += 1
            print(f"{c['name']}: {why}")
    print(f"{len(chosen) - failed} of {len(chosen)} models of one layer agree with its formula")
    if options.filter:
        return 1 if failed else 0
    rows = json.loads(subprocess.run([options.ingot, "ops", "--from", "keras", "--json"], capture_output=True, text=True,
                                     check=True).stdout)
    layers = {row for row in rows if ":" not in row}
    missing = layers - {c["layer"] for c in CASES} - ELSEWHERE - REFUSED
    print(f"{len(layers)} layers, {len(missing)} without a compared case: {' '.join(sorted(missing))}")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Whole files of Keras 1, 2 and 3 that are put together in unusual ways: models in models and in wrappers, dictionaries,
states, names that tell nothing; beside NumPy. And files that contradict themselves, which are refused with the reason.

keras_files.py --ingot PROGRAM [--filter WORD]; exit code 77: something that it needs is not here."""
import argparse
import io
import json
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

rng = np.random.default_rng(5)
CASES = []


def draw(*dims):
    return rng.standard_normal(dims).astype(np.float32) * np.float32(0.5)


# ---- files
def tensor(name, node=0, place=0):
    return {"class_name": "__keras_tensor__", "config": {"shape": [None], "dtype": "float32", "keras_history": [name, node, place]}}


def entry(class_name, name, config):
    return {"module": "keras.layers", "class_name": class_name, "name": name, "registered_name": None,
            "config": {"name": name, "trainable": True, "dtype": "float32", **config}}


def layer(class_name, name, *args, kwargs=None, **config):
    """A layer of Keras 3 that is called once."""
    called = [{"args": list(args), "kwargs": kwargs or {}}] if args or kwargs else []
    return {**entry(class_name, name, config), "inbound_nodes": called}


def given(name, *shape, dtype="float32"):
    return layer("InputLayer", name, batch_shape=[None, *shape], dtype=dtype)


def model(layers, inputs, outputs, name="m"):
    return {"module": "keras", "class_name": "Functional", "registered_name": "Functional", "name": name,
            "config": {"name": name, "layers": layers, "input_layers": inputs, "output_layers": outputs}}


def sequential(name, *layers):
    return {"module": "keras", "class_name": "Sequential", "registered_name": "Sequential", "name": name,
            "config": {"name": name, "layers": list(layers)}}


def of_one(inner, *shape):
    """A model of one input and one layer."""
    return model([given("x", *shape), inner], [["x", 0, 0]], [[inner["name"], 0, 0]])


def archive(config, weights, version="3.8.0", names=None):
    """A .keras file; `weights`: by the path of the object; `names`: of objects, by their paths."""
    def write(path):
        stored = io.BytesIO()
        with h5py.File(stored, "w") as file:
            for place, arrays in weights.items():
                group = file.create_group(f"layers/{place}/vars")
                if names and place in names:
                    group.attrs["name"] = names[place]
                for i, array in enumerate(arrays):
                    group.create_dataset(str(i), data=array)
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("metadata.json", json.dumps({"keras_version": version}))
            file.writestr("config.json", json.dumps(config))
            file.writestr("model.weights.h5", stored.getvalue())
    return "m.keras", write


def hdf5(config, weights, version="2.11.0"):
    """A .h5 file; `weights`: of each layer its names and arrays."""
    def write(path):
        with h5py.File(path, "w") as file:
            file.attrs["model_config"] = json.dumps(config)
            file.attrs["keras_version"] = version.encode()
            group = file.create_group("model_weights")
            group.attrs["layer_names"] = [name.encode() for name in weights]
            for name, arrays in weights.items():
                of_layer = group.create_group(name)
                of_layer.attrs["weight_names"] = np.array([n.encode() for n in arrays], dtype="S99")
                for n, array in arrays.items():
                    of_layer.create_dataset(n, data=array)
    return "m.h5", write


def agrees(label, file, inputs, expected):
    CASES.append((label, file, inputs, expected))


def refused(label, file, reason):
    CASES.append((label, file, None, reason))


# ---- formulas
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, weights, counts=None, h=None, c=None, backwards=False):
    """The outputs of all steps, the last one, and the state."""
    kernel, recurrent, bias = weights
    units = recurrent.shape[0]
    h, c = (np.zeros((len(x), units)) if v is None else v for v in (h, c))
    y, steps = np.zeros((len(x), units)), []
    for s in range(x.shape[1])[::-1 if backwards else 1]:
        i, f, g, o = np.split(x[:, s] @ kernel + h @ recurrent + bias, 4, axis=1)
        c_next = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h_next = sigmoid(o) * np.tanh(c_next)
        m = np.ones((len(x), 1), bool) if counts is None else counts[:, s:s + 1]
        h, c, y = np.where(m, h_next, h), np.where(m, c_next, c), np.where(m, h_next, y)
        steps.append(y)
    return np.stack(steps, 1), y, (h, c)


def lstm_weights(inputs, units):
    return [draw(inputs, 4 * units), draw(units, 4 * units), draw(4 * units)]


LSTM = {"units": 4, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
X, X2, STEPS, STEPS2 = draw(2, 5), draw(2, 4), draw(2, 6, 3), draw(2, 6, 3)
K1, B1, K2, B2, K3, B3 = draw(5, 4), draw(4), draw(4, 3), draw(3), draw(4, 4), draw(4)
FORWARD, BACKWARD = lstm_weights(3, 4), lstm_weights(3, 4)
GAPS = STEPS.copy()
GAPS[0, 0] = GAPS[0, 3:5] = GAPS[1, 5] = 0
COUNTS = (GAPS != 0).any(-1)

# ---- dictionaries: Keras takes them by their sorted keys
two = model([given("b", 4), given("a", 5), layer("Dense", "d", tensor("a"), units=4),
             layer("Subtract", "s", [tensor("d"), tensor("b")])], {"b": ["b", 0, 0], "a": ["a", 0, 0]}, [["s", 0, 0]], "two")
for keys in ("ab", "ba"):
    called = {key: tensor({"a": "x", "b": "y"}[key]) for key in keys}
    outer = model([given("x", 5), given("y", 4), {**two, "inbound_nodes": [{"args": [called], "kwargs": {}}]}],
                  {"y": ["y", 0, 0], "x": ["x", 0, 0]}, {"out": ["two", 1, 0]})
    agrees(f"a dictionary of inputs, {keys}", archive(outer, {"functional/layers/dense": [K1, B1]}), {"x": X, "y": X2},
           {"two": X @ K1 + B1 - X2})
outer = model([given("x", 5), given("y", 4), {**two, "inbound_nodes": [{"args": [], "kwargs": {"inputs": called}}]}],
              [["x", 0, 0], ["y", 0, 0]], [["two", 1, 0]])
agrees("inputs by their name", archive(outer, {"functional/layers/dense": [K1, B1]}), {"x": X, "y": X2},
       {"two": X @ K1 + B1 - X2})
both = model([given("a", 5), layer("Dense", "d", tensor("a"), units=4), layer("Dense", "e", tensor("d"), units=4)],
             [["a", 0, 0]], {"second": ["e", 0, 0], "first": ["d", 0, 0]}, "both")
outer = model([given("x", 5), {**both, "inbound_nodes": [{"args": [tensor("x")], "kwargs": {}}]},
               layer("Dense", "last", tensor("both", 1, 0), units=3)], ["x", 0, 0], [["last", 0, 0], ["both", 1, 1]])
agrees("a dictionary of outputs",
       archive(outer, {"functional/layers/dense": [K1, B1], "functional/layers/dense_1": [K3, B3], "dense": [K2, B2]}),
       {"x": X}, {"last": (X @ K1 + B1) @ K2 + B2, "both": (X @ K1 + B1) @ K3 + B3})

# ---- calls of a model inside are counted from 0 or 1, by lists of outputs otherwise than by layers
small = model([given("a", 4), layer("Dense", "d", tensor("a"), units=4)], [["a", 0, 0]], [["d", 0, 0]], "small")
once, twice = X2 @ K3 + B3, (X2 @ K3 + B3) @ K3 + B3
for label, first, outside, version in (("0 and 1", 0, 1, "3.8.0"), ("0 and 0", 0, 0, "3.8.0"), ("1 and 1", 1, 1, "2.15.0")):
    calls = [{"args": [tensor("x")], "kwargs": {}}, {"args": [tensor("small", first)], "kwargs": {}}]
    of_two = model([given("x", 4), {**small, "inbound_nodes": calls}], [["x", 0, 0]],
                   [["small", outside, 0], ["small", outside + 1, 0]])
    agrees(f"calls counted from {label}, {version}", archive(of_two, {"functional/layers/dense": [K3, B3]}, version), {"x": X2},
           {"small": once, "small_1": twice})
calls = [{"args": [tensor("x")], "kwargs": {}}, {"args": [tensor("y")], "kwargs": {}}]
of_two = model([given("x", 4), given("y", 4), {**small, "inbound_nodes": calls}, layer("Dense", "e", tensor("small", 1), units=3)],
               [["x", 0, 0], ["y", 0, 0]], [["small", 1, 0], ["e", 0, 0]])
agrees("the second call inside, the first outside", archive(of_two, {"functional/layers/dense": [K3, B3], "dense": [K2, B2]}),
       {"x": X2, "y": -X2}, {"small": once, "e": (-X2 @ K3 + B3) @ K2 + B2})
bare = sequential("bare", layer("Dense", "d", units=4))
whole = sequential("m", bare, layer("Dense", "e", units=3))
whole["config"]["build_input_shape"] = [None, 5]
agrees("models without inputs in each other", archive(whole, {"sequential/layers/dense": [K1, B1], "dense": [K2, B2]}),
       {"bare_input": X}, {"e": (X @ K1 + B1) @ K2 + B2})

# ---- Keras 2's dictionaries: by the names of the inputs where these are a list
old_two = model([given("q", 4), given("p", 5), {**entry("Dense", "d", {"units": 4}), "inbound_nodes": [[["p", 0, 0, {}]]]},
                 {**entry("Subtract", "s", {}), "inbound_nodes": [[["d", 0, 0, {}], ["q", 0, 0, {}]]]}],
                [["q", 0, 0], ["p", 0, 0]], [["s", 0, 0]], "old")
outer = model([given("x", 5), given("y", 4), {**old_two, "inbound_nodes": [{"p": ["x", 0, 0, {}], "q": ["y", 0, 0, {}]}]}],
              [["x", 0, 0], ["y", 0, 0]], [["old", 1, 0]])
agrees("Keras 2, a dictionary for a list of inputs", hdf5(outer, {"old": {"d/kernel:0": K1, "d/bias:0": B1}}),
       {"x": X, "y": X2}, {"old": X @ K1 + B1 - X2})

# ---- a loss of the model's own and a metric, which no output depends on
kept = [given("x", 5), {**entry("Dense", "d", {"units": 4}), "inbound_nodes": [[["x", 0, 0, {}]]]},
        {**entry("TFOpLambda", "of", {"function": "math.confusion_matrix"}), "inbound_nodes": [[["d", 0, 0, {"predictions": ["x", 0, 0]}]]]},
        {**entry("AddLoss", "loss", {"unconditional": False}), "inbound_nodes": [[["of", 0, 0, {}]]]},
        {**entry("AddMetric", "metric", {"aggregation": "mean", "metric_name": "kl"}), "inbound_nodes": [[["of", 0, 0, {}]]]}]
agrees("a loss of the model's own", hdf5(model(kept, [["x", 0, 0]], [["d", 0, 0]]), {"d": {"d/kernel:0": K1, "d/bias:0": B1}}),
       {"x": X}, {"d": X @ K1 + B1})

# ---- weights of models in models, which HDF5 files list without the layers
twins = sequential("m", given("x", 4), sequential("twins", given("t", 4), sequential("one", given("u", 4), layer("Dense", "d", units=4)),
                                                sequential("two", given("v", 4), layer("Dense", "d", units=4))))
A, C, a, c = draw(4, 4), draw(4, 4), draw(4), draw(4)
for label, names, version in (("paths", ["one/d/kernel", "one/d/bias", "two/d/kernel", "two/d/bias"], "3.4.0"),
                              ("numbers", ["d/kernel:0", "d/bias:0", "d_1/kernel:0", "d_1/bias:0"], "2.2.4"),
                              ("other names", ["k:0", "b:0", "k_1:0", "b_1:0"], "2.3.0"),
                              ("Keras 1", ["d_W", "d_b", "d_1_W", "d_1_b"], "1.2.2")):
    agrees(f"two layers of one name, told by {label}", hdf5(twins, {"twins": dict(zip(names, [A, a, C, c]))}, version), {"x": X2},
           {"twins": (X2 @ A + a) @ C + c})
gamma, beta, mean, variance = draw(4), draw(4), draw(4), np.abs(draw(4)) + 1
normal = {"axis": [1], "epsilon": 1e-3, "momentum": 0.99, "center": True, "scale": True}
tower = sequential("m", given("x", 5), sequential("tower", given("t", 5), layer("Dense", "d", units=4, trainable=False),
                                                 layer("BatchNormalization", "n", **normal), layer("Dense", "e", units=3)))
stored = [gamma, beta, K2, B2, K1, B1, mean, variance]  # what is trained first: d is frozen
agrees("a frozen layer in a model, told by the order",
       hdf5(tower, {"tower": {f"w_{i}:0": array for i, array in enumerate(stored)}}), {"x": X},
       {"tower": ((X @ K1 + B1 - mean) / np.sqrt(variance + 1e-3) * gamma + beta) @ K2 + B2})

# ---- an object that two models hold is written where the first of them stands
inner = model([given("a", 4), layer("Dense", "shared", tensor("a"), units=4), layer("Dense", "own", tensor("shared"), units=3)],
              [["a", 0, 0]], [["own", 0, 0]], "inner")
outer = model([given("x", 4), layer("Dense", "shared", tensor("x"), units=4), {**inner, "inbound_nodes": [{"args": [tensor("shared")], "kwargs": {}}]}],
              [["x", 0, 0]], [["inner", 1, 0]])
agrees("a layer of the model and of one inside", archive(outer, {"dense": [K3, B3], "functional/layers/dense_1": [K2, B2]}, names={"dense": "shared"}),
       {"x": X2}, {"inner": ((X2 @ K3 + B3) @ K3 + B3) @ K2 + B2})

# ---- wrappers
inside = sequential("inside", given("t", 6, 3), layer("Masking", "k", mask_value=0.0), layer("LSTM", "l", **LSTM),
                    layer("Dense", "d", units=3))
MANY = draw(2, 5, 6, 3)
MANY[0, 1, 2:4] = MANY[1, 4] = 0
flat = MANY.reshape(10, 6, 3)
expected = (lstm(flat, FORWARD, (flat != 0).any(-1))[1] @ K2 + B2).reshape(2, 5, 3)
agrees("a model for each step", archive(of_one(layer("TimeDistributed", "y", tensor("x"), layer=inside), 5, 6, 3),
                                        {"time_distributed/layer/layers/lstm/cell": FORWARD,
                                         "time_distributed/layer/layers/dense": [K2, B2]}), {"x": MANY}, {"y": expected})
names = ["l/lstm_cell/kernel:0", "l/lstm_cell/recurrent_kernel:0", "l/lstm_cell/bias:0", "d/kernel:0", "d/bias:0"]
for label, called in (("", names), (", told by the order", [f"w_{i}:0" for i in range(5)])):
    of_h5 = {**entry("TimeDistributed", "y", {"layer": inside}), "inbound_nodes": [[["x", 0, 0, {}]]]}
    agrees("a model for each step of Keras 2" + label,
           hdf5(of_one(of_h5, 5, 6, 3), {"y": dict(zip(called, [*FORWARD, K2, B2]))}), {"x": MANY}, {"y": expected})
split = model([given("t", 5), layer("Dense", "d", tensor("t"), units=4), layer("Dense", "e", tensor("d"), units=3)],
              ["t", 0, 0], [["d", 0, 0], ["e", 0, 0]], "split")
LONG = draw(2, 6, 5)
agrees("a model of two outputs for each step",
       archive(model([given("x", 6, 5), layer("TimeDistributed", "y", tensor("x"), layer=split)], [["x", 0, 0]],
                     [["y", 0, 0], ["y", 0, 1]]),
               {"time_distributed/layer/layers/dense": [K1, B1], "time_distributed/layer/layers/dense_1": [K2, B2]}),
       {"x": LONG}, {"y": LONG @ K1 + B1, "y_1": (LONG @ K1 + B1) @ K2 + B2})
cells = {"bidirectional/forward_layer/cell": FORWARD, "bidirectional/backward_layer/cell": BACKWARD,
         "bidirectional_1/forward_layer/cell": BACKWARD, "bidirectional_1/backward_layer/cell": FORWARD}
agrees("states from one Bidirectional to another",
       archive(model([given("x", 6, 3), given("z", 6, 3),
                      layer("Bidirectional", "e", tensor("x"), layer=entry("LSTM", "l", {**LSTM, "return_state": True})),
                      layer("Bidirectional", "y", tensor("z"), kwargs={"initial_state": [tensor("e", 0, i) for i in (1, 2, 3, 4)]},
                            layer=entry("LSTM", "l", {**LSTM, "return_sequences": True}))],
                     [["x", 0, 0], ["z", 0, 0]], [["y", 0, 0]]), cells), {"x": STEPS, "z": STEPS2},
       {"y": np.concatenate([lstm(STEPS2, BACKWARD, None, *lstm(STEPS, FORWARD)[2])[0],
                             lstm(STEPS2, FORWARD, None, *lstm(STEPS, BACKWARD, backwards=True)[2], True)[0][:, ::-1]], -1)})
plain = {**LSTM, "use_bias": False}
for first, second in ((LSTM, plain), (plain, LSTM)):
    weights = {}
    for way, config, arrays in (("forward_f", first, FORWARD), ("backward_b", second, BACKWARD)):
        for name, array in zip(("kernel", "recurrent_kernel", "bias")[:3 if config["use_bias"] else 2], arrays):
            weights[f"y/{way}/lstm_cell/{name}:0"] = array
    of_h5 = {**entry("Bidirectional", "y", {"layer": entry("LSTM", "f", first),
                                            "backward_layer": entry("LSTM", "b", {**second, "go_backwards": True})}),
             "inbound_nodes": [[["x", 0, 0, {}]]]}
    parts = [lstm(STEPS, [*w[:2], w[2] * config["use_bias"]], backwards=way)[1]
             for w, config, way in ((FORWARD, first, False), (BACKWARD, second, True))]
    agrees(f"a bias {'ahead' if first is LSTM else 'behind'} only", hdf5(of_one(of_h5, 6, 3), {"y": weights}), {"x": STEPS},
           {"y": np.concatenate(parts, -1)})

# ---- masks
for whole in (True, False):
    masked = model([given("x", 6, 3), layer("Masking", "k", tensor("x"), mask_value=0.0),
                    layer("LSTM", "y", tensor("k"), **LSTM, return_sequences=whole, zero_output_for_mask=True)],
                   [["x", 0, 0]], [["y", 0, 0]])
    steps = lstm(GAPS, FORWARD, COUNTS)[0] * COUNTS[..., None]
    agrees(f"zeros where steps do not count, sequences {whole}", archive(masked, {"lstm/cell": FORWARD}), {"x": GAPS},
           {"y": steps if whole else steps[:, -1]})
other = STEPS2.copy()
other[0, 2] = other[1, 5] = 0
wide = lstm_weights(6, 4)
for version, common in (("3.8.0", COUNTS | (other != 0).any(-1)), ("2.15.0", COUNTS & (other != 0).any(-1))):
    joined = model([given("x", 6, 3), given("z", 6, 3), layer("Masking", "k", tensor("x"), mask_value=0.0),
                    layer("Masking", "j", tensor("z"), mask_value=0.0), layer("Concatenate", "c", [tensor("k"), tensor("j")], axis=-1),
                    layer("LSTM", "y", tensor("c"), **LSTM)], [["x", 0, 0], ["z", 0, 0]], [["y", 0, 0]])
    agrees(f"masks of joined features, Keras {version}", archive(joined, {"lstm/cell": wide}, version), {"x": GAPS, "z": other},
           {"y": lstm(np.concatenate([GAPS, other], -1), wide, common)[1]})
heads = [draw(3, 2, 3), draw(2, 3), draw(3, 2, 3), draw(2, 3), draw(3, 2, 3), draw(2, 3), draw(2, 3, 5), draw(5)]
held = {f"multi_head_attention/{n}_dense": heads[2 * i:2 * i + 2] for i, n in enumerate(("query", "key", "value", "output"))}


def attended(q, v, counts):
    q, k, v = (np.einsum("btd,dhk->bhtk", x, heads[2 * i]) + heads[2 * i + 1][:, None] for i, x in enumerate((q, v, v)))
    scores = np.where(counts, q @ k.swapaxes(2, 3) / np.sqrt(3), -1e9)
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhtk,hkd->btd", power / power.sum(-1, keepdims=True) @ v, heads[6]) + heads[7]


FULL = GAPS.copy()
FULL[:, 0] = 1  # every query has a key that counts
FULL_COUNTS = (FULL != 0).any(-1)
allowed = rng.random((2, 6, 6)) < 0.6
allowed[:, :, 0] = True
sizes = {"num_heads": 2, "key_dim": 3, "value_dim": 3}
for label, args, kwargs in (("by place", [tensor("x"), tensor("k")], {}),
                            ("by name", [], {"query": tensor("x"), "value": tensor("k")})):
    agrees(f"attention to what counts, {label}",
           archive(model([given("x", 6, 3), given("v", 6, 3), layer("Masking", "k", tensor("v"), mask_value=0.0),
                          layer("MultiHeadAttention", "y", *args, kwargs=kwargs, **sizes)],
                         [["x", 0, 0], ["v", 0, 0]], [["y", 0, 0]]), held), {"x": STEPS, "v": FULL},
           {"y": attended(STEPS, FULL, FULL_COUNTS[:, None, None])})
agrees("attention with a mask by its place",
       archive(model([given("x", 6, 3), given("m", 6, 6, dtype="bool"),
                      layer("MultiHeadAttention", "y", tensor("x"), tensor("x"), tensor("x"), None, None, None, tensor("m"), **sizes)],
                     [["x", 0, 0], ["m", 0, 0]], [["y", 0, 0]]), held), {"x": STEPS, "m": allowed},
       {"y": attended(STEPS, STEPS, allowed[:, None])})

# ---- training=True in a call: Keras 2 obeys it while running too
normal = {"axis": [1], "epsilon": 1e-3, "momentum": 0.99, "center": True, "scale": True}
statistics = {"n/gamma:0": draw(4), "n/beta:0": draw(4), "n/moving_mean:0": draw(4), "n/moving_variance:0": np.abs(draw(4)) + 1}
gamma, beta, mean, variance = statistics.values()
of_batch = (X2 - X2.mean(0)) / np.sqrt(X2.var(0) + 1e-3) * gamma + beta
of_layer = (X2 - mean) / np.sqrt(variance + 1e-3) * gamma + beta
for label, stated, trainable, expected in (("on", True, True, of_batch), ("off", False, True, of_layer), ("on, frozen", True, False, of_layer)):
    called = {**entry("BatchNormalization", "n", {**normal, "trainable": trainable}), "inbound_nodes": [[["x", 0, 0, {"training": stated}]]]}
    agrees("statistics, training " + label, hdf5(of_one(called, 4), {"n": statistics}), {"x": X2}, {"n": expected})
inner = model([given("a", 4), {**entry("BatchNormalization", "n", normal), "inbound_nodes": [[["a", 0, 0, {}]]]}], [["a", 0, 0]], [["n", 0, 0]], "inner")
agrees("statistics, training on around", hdf5(of_one({**inner, "inbound_nodes": [[["x", 0, 0, {"training": True}]]]}, 4), {"inner": statistics}),
       {"x": X2}, {"inner": of_batch})
agrees("statistics, training on in Keras 3, which predict() turns off",
       archive(of_one(layer("BatchNormalization", "y", tensor("x"), kwargs={"training": True}, **normal), 4),
               {"batch_normalization": list(statistics.values())}), {"x": X2}, {"y": of_layer})
ONES = np.ones((4, 1000), np.float32)
for name, config in (("Dropout", {"rate": 0.5}), ("SpatialDropout1D", {"rate": 0.5}), ("GaussianNoise", {"stddev": 0.5}),
                     ("GaussianDropout", {"rate": 0.5}), ("AlphaDropout", {"rate": 0.5})):
    x = ONES[:, None] if name == "SpatialDropout1D" else ONES
    live = {**entry(name, "y", config), "inbound_nodes": [[["x", 0, 0, {"training": True}]]]}
    agrees(f"{name} that is live while running", hdf5(of_one(live, *x.shape[1:]), {}), {"x": x}, {"y": "random"})
    agrees(f"{name} that is not", hdf5(of_one({**live, "inbound_nodes": [[["x", 0, 0, {}]]]}, *x.shape[1:]), {}), {"x": x}, {"y": x})
recurrent = {**entry("LSTM", "y", {**LSTM, "recurrent_dropout": 0.5}), "inbound_nodes": [[["x", 0, 0, {"training": True}]]]}
refused("what drops inside while running", hdf5(of_one(recurrent, 6, 3), {"y": dict(zip("abc", FORWARD))}),
        "drops elements inside also while running")

# ---- types
WHOLE = rng.integers(-9, 9, (2, 5)).astype(np.int32)
agrees("whole numbers into a Dense layer",
       archive(model([given("x", 5, dtype="int32"), layer("Dense", "y", tensor("x"), units=4)], [["x", 0, 0]], [["y", 0, 0]]),
               {"dense": [K1, B1]}), {"x": WHOLE}, {"y": WHOLE @ K1 + B1})

# ---- what adapt() found
NUMBERS = np.array([[0, 1, 3, 7], [1, 2, 2, 3]], np.float32)  # a summary of tf.keras: numbers, and how many each stands for
VALUES = np.array([[-1, 0.5, 1, 2], [3, 4, 6.9, 9]], np.float32)
for bins in (2, 3, 49):
    shares = np.cumsum(NUMBERS[1]) / NUMBERS[1].sum()
    bounds = NUMBERS[0, :-1] if NUMBERS.shape[1] / bins < 1 else np.interp(np.arange(1, bins) / bins, shares, NUMBERS[0])
    found = {**entry("Discretization", "y", {"bin_boundaries": None, "num_bins": bins}), "inbound_nodes": [[["x", 0, 0, {}]]]}
    agrees(f"{bins} bins that were found", hdf5(of_one(found, 4), {"y": {"y/summary:0": NUMBERS}}), {"x": VALUES},
           {"y": np.searchsorted(bounds.astype(np.float32), VALUES, side="right")})
refused("bins that were not found", archive(of_one(layer("Discretization", "y", tensor("x"), bin_boundaries=None, num_bins=4), 4), {}),
        "it was not adapted")
refused("bins in disorder", archive(of_one(layer("Discretization", "y", tensor("x"), bin_boundaries=[2.0, 0.0]), 4), {}), "do not grow")
refused("a word twice", archive(of_one(layer("IntegerLookup", "y", tensor("x"), vocabulary=[1, 2, 1], num_oov_indices=1), 4), {}),
        "has a word twice")

# ---- files that contradict themselves
def dense(arrays, **config):
    return archive(of_one(layer("Dense", "y", tensor("x"), **{"units": 4, **config}), 5), {"dense": arrays})


def contradicts(class_name, place, arrays, shape, **config):
    return archive(of_one(layer(class_name, "y", tensor("x"), **config), *shape), {place: arrays})


BY = "by its configuration"
refused("units", dense([draw(5, 3), draw(3)]), "'kernel' is [5,3] in the file, but [?,4] " + BY)
refused("a short bias", dense([K1, draw(1)]), "'bias' is [1] in the file, but [4] " + BY)
refused("a bias of two axes", dense([K1, draw(2, 4)]), "'bias' is [2,4] in the file, but [4] " + BY)
refused("a kernel of three axes", dense([draw(2, 5, 4), B1]), "'kernel' is [2,5,4] in the file, but [?,4] " + BY)
refused("a bias that is not used", dense([K1, B1], use_bias=False), "has 1 weights, but the file holds 2")
refused("a missing bias", dense([K1]), "weight 1 is not in the file")
refused("units in words", dense([K1, B1], units="four"), "'units' is no whole number")
refused("a type", dense([K1, B1], dtype="float99"), "float99")
window = {"filters": 4, "kernel_size": [3, 3], "padding": "same"}
refused("filters", contradicts("Conv2D", "conv2d", [draw(3, 3, 3, 7), draw(7)], (8, 8, 3), **window), "[3,3,?,4] " + BY)
refused("a window", contradicts("Conv2D", "conv2d", [draw(5, 5, 3, 4), draw(4)], (8, 8, 3), **window), "[3,3,?,4] " + BY)
refused("a multiplier", contradicts("DepthwiseConv2D", "depthwise_conv2d", [draw(3, 3, 3, 2), draw(6)], (8, 8, 3),
                                    kernel_size=[3, 3], depth_multiplier=1), "[3,3,?,1] " + BY)
refused("a table", contradicts("Embedding", "embedding", [draw(10, 4)], (8,), input_dim=20, output_dim=3), "[20,3] " + BY)
refused("one scale for all", contradicts("LayerNormalization", "layer_normalization", [draw(1), draw(1)], (8, 3)), "[3] " + BY)
refused("one slope for all", contradicts("PReLU", "p_re_lu", [draw(1, 3)], (8, 3)), "[8,3] " + BY)
refused("a bias of the recurrent product", contradicts("GRU", "gru/cell", [draw(3, 12), draw(4, 12), draw(12)], (8, 3), units=4,
                                                       reset_after=True), "[2,12] " + BY)
refused("an equation's bias", contradicts("EinsumDense", "einsum_dense", [draw(5, 2, 3), draw(3)], (6, 5), equation="abc,cde->abde",
                                          output_shape=[6, 2, 3], bias_axes="de"), "[2,3] " + BY)
for key, value, why in (("return_sequences", True, "disagree about 'return_sequences'"), ("go_backwards", False, "go the same way")):
    ahead, behind = entry("LSTM", "f", LSTM), entry("LSTM", "b", {**LSTM, "go_backwards": True, key: value})
    refused(f"two directions and {key}",
            contradicts("Bidirectional", "bidirectional/forward_layer/cell", FORWARD, (6, 3), layer=ahead, backward_layer=behind), why)
x = given("x", 5)
y = layer("Dense", "y", tensor("x"), units=4)
W = {"dense": [K1, B1]}
refused("two of a name", archive(model([x, y, y], [["x", 0, 0]], [["y", 0, 0]]), W), "two layers of a model are called 'y'")
refused("an input twice", archive(model([x, y], [["x", 0, 0], ["x", 0, 0]], [["y", 0, 0]]), W), "'x' is listed twice")
refused("what is not there", archive(model([x, layer("Dense", "y", tensor("z"), units=4)], [["x", 0, 0]], [["y", 0, 0]]), W),
        "layer 'y' takes what call 0 of layer 'z' gives")
refused("a circle", archive(model([x, layer("Dense", "y", tensor("z"), units=4), layer("Dense", "z", tensor("y"), units=4)],
                                  [["x", 0, 0]], [["y", 0, 0]]), W), "'y' depends on itself")
refused("a class of the user's", archive(model([x, {**y, "module": "my.layers"}], [["x", 0, 0]], [["y", 0, 0]]), W),
        "a class of your own is Python code")


# ---- the run
def judge(ingot, scratch, case):
    label, (name, write), inputs, expected = case
    write(scratch / name)
    done = subprocess.run([ingot, "convert", scratch / name, "-o", scratch / "m.onnx", "--no-verify"], capture_output=True,
                          text=True, check=False)
    if inputs is None:
        is_right = done.returncode in (3, 4) and expected in done.stderr
        return "" if is_right else f"exit code {done.returncode}: {done.stderr}"
    if done.returncode:
        return done.stderr
    words = []
    for key, array in inputs.items():
        np.save(scratch / f"{key}.npy", array)
        words += ["--in", f"{key}={scratch / key}.npy"]
    done = subprocess.run([ingot, "run", scratch / "m.onnx", *words, "--out", scratch / "out"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return done.stderr
    for key, wanted in expected.items():
        got = np.load(scratch / "out" / f"{key}.npy")
        if isinstance(wanted, str):
            if got.std() < 0.2:
                return f"{key} is not random: its deviation is {got.std():.3g}"
            continue
        if got.shape != wanted.shape:
            return f"the shape of {key} is {got.shape}, not {wanted.shape}"
        if (worst := np.abs(got - wanted).max()) > 2e-5 * max(1, np.abs(wanted).max()):
            return f"{key} is {worst:.3g} apart"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    chosen = [case for case in CASES if options.filter in case[0]]
    failed = 0
    for case in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            why = judge(options.ingot, pathlib.Path(scratch), case)
        if why:
            failed += 1
            print(f"{case[0]}: {why}", flush=True)
    agreed = sum(case[2] is not None for case in chosen)
    print(f"{len(chosen) - failed} of {len(chosen)} files: {agreed} give NumPy's numbers, {len(chosen) - agreed} are refused"
          if not failed else f"{failed} of {len(chosen)} files fail")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())

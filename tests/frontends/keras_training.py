#!/usr/bin/env python3
"""Compiled Keras files go on training where Keras stopped: a file with an optimizer in the middle of its run, its variables
and its schedule, trained by Ingot and by Keras's formulas in NumPy, with gradients of PyTorch; losses must agree within 1e-5.

keras_training.py --ingot PROGRAM; exit code 77: something that it needs is not here.
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
    import torch
except ImportError as error:
    print(f"{error.name} is not here: script/bootstrap installs it")
    sys.exit(77)

ROWS, BATCH, STEPS, DONE = 40, 8, 10, 7  # DONE: steps that Keras did
UNITS = 6  # in and out, so that variables in the wrong order fit by their shapes
rng = np.random.default_rng(5)
X, Y = rng.standard_normal((ROWS, UNITS)).astype(np.float32), rng.standard_normal((ROWS, UNITS)).astype(np.float32)
NAMES = ("d/kernel", "d/bias", "e/kernel", "e/bias")
FIRST = [rng.standard_normal((UNITS, UNITS) if "kernel" in n else UNITS).astype(np.float32) * np.float32(0.4) for n in NAMES]
STORED = [[np.abs(rng.standard_normal(p.shape)).astype(np.float32) * np.float32(0.01) for p in FIRST] for _ in range(4)]


def schedule(name, **config):
    return {"class_name": name, "config": config}


def fixed(rate):
    return lambda step: rate


ADAM = {"learning_rate": 0.02, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-7}
NEW = {"is_legacy_optimizer": False}
L2 = {"class_name": "L2", "config": {"l2": 0.05}}

# By name: the optimizer, its settings, the learning rate by step, and what else is asked for.
CASES = {
    "sgd": ("SGD", {"learning_rate": 0.1}, fixed(0.1)),
    "sgd, decay": ("SGD", {"learning_rate": 0.1, "decay": 0.05}, lambda s: 0.1 / (1 + 0.05 * s)),
    "sgd, exponential": ("SGD", {"learning_rate": schedule("ExponentialDecay", initial_learning_rate=0.2, decay_steps=4, decay_rate=0.5,
                                                             staircase=True)}, lambda s: 0.2 * 0.5 ** (s // 4)),
    "sgd, inverse time": ("SGD", {"learning_rate": schedule("InverseTimeDecay", initial_learning_rate=0.2, decay_steps=4, decay_rate=0.5,
                                                              staircase=False)}, lambda s: 0.2 / (1 + 0.5 * s / 4)),
    "sgd, polynomial": ("SGD", {"learning_rate": schedule("PolynomialDecay", initial_learning_rate=0.2, decay_steps=12,
                                                            end_learning_rate=0.02, power=2.0, cycle=False)},
                        lambda s: 0.18 * (1 - min(s, 12) / 12) ** 2 + 0.02),
    "sgd, piecewise": ("SGD", {"learning_rate": schedule("PiecewiseConstantDecay", boundaries=[8, 11], values=[0.2, 0.1, 0.05])},
                       lambda s: 0.2 if s <= 8 else 0.1 if s <= 11 else 0.05),
    "sgd, cosine": ("SGD", {"learning_rate": schedule("CosineDecay", initial_learning_rate=0.05, decay_steps=12, alpha=0.1,
                                                        warmup_target=0.2, warmup_steps=9)},
                    lambda s: 0.05 + 0.15 * s / 9 if s < 9 else
                    0.2 * (0.9 * 0.5 * (1 + math.cos(math.pi * min(s - 9, 12) / 12)) + 0.1)),
    "momentum": ("SGD", {"learning_rate": 0.05, "momentum": 0.9}, fixed(0.05)),
    "sgd, weight decay": ("SGD", {"learning_rate": 0.1, "weight_decay": 0.3, **NEW}, fixed(0.1)),
    "momentum, weight decay": ("SGD", {"learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.3, **NEW}, fixed(0.05)),
    "adam": ("Adam", ADAM, fixed(0.02)),
    "adam of standalone Keras, with what it does not use": ("Adam", ADAM, fixed(0.02), {"rest": True}),
    "adam, layers beside each other": ("Adam", ADAM, fixed(0.02), {"branches": True}),
    "adam, amsgrad": ("Adam", {**ADAM, "amsgrad": True}, fixed(0.02)),
    "nadam": ("Nadam", {**ADAM, "decay": 0.004}, fixed(0.02)),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01, "rho": 0.9, "epsilon": 1e-2}, fixed(0.01)),
    "rmsprop, momentum": ("RMSprop", {"learning_rate": 0.01, "rho": 0.9, "epsilon": 1e-2, "momentum": 0.8}, fixed(0.01)),
    "rmsprop, centered": ("RMSprop", {"learning_rate": 0.01, "rho": 0.9, "epsilon": 1e-2, "centered": True}, fixed(0.01)),
    "adagrad": ("Adagrad", {"learning_rate": 0.05, "epsilon": 1e-2}, fixed(0.05)),
    "adagrad, begun": ("Adagrad", {"learning_rate": 0.05, "epsilon": 1e-2, "initial_accumulator_value": 0.2}, fixed(0.05), {"fresh": True}),
    "ftrl": ("Ftrl", {"learning_rate": 0.05, "l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02, "beta": 0.1,
                      "l2_shrinkage_regularization_strength": 0.03}, fixed(0.05)),
    "adam of 2.11": ("Adam", {**ADAM, **NEW}, fixed(0.02)),
    "adam of 2.11, weight decay": ("Adam", {**ADAM, "weight_decay": 0.3, **NEW}, fixed(0.02)),
    "adam of 2.11, amsgrad": ("Adam", {**ADAM, "amsgrad": True, **NEW}, fixed(0.02)),
    "nadam of 2.11": ("Nadam", {**ADAM, **NEW}, fixed(0.02)),
    "rmsprop of 2.11": ("RMSprop", {"learning_rate": 0.01, "rho": 0.9, "epsilon": 1e-2, **NEW}, fixed(0.01)),
    "rmsprop of 2.11, momentum and centered": ("RMSprop", {"learning_rate": 0.01, "rho": 0.9, "epsilon": 1e-2, "momentum": 0.8,
                                                           "centered": True, **NEW}, fixed(0.01)),
    "adagrad of 2.11": ("Adagrad", {"learning_rate": 0.05, "epsilon": 1e-2, **NEW}, fixed(0.05)),
    "adafactor": ("Adafactor", {"learning_rate": 0.1, **NEW}, fixed(0.1)),
    "ftrl of 2.11": ("Ftrl", {"learning_rate": 0.05, "learning_rate_power": -0.6, **NEW}, fixed(0.05)),
    "adam of 3": ("Adam", {**ADAM, "amsgrad": True}, fixed(0.02), {"archive": True}),
    "adam of 3, its loss scaled": ("Adam", ADAM, fixed(0.02), {"archive": True, "scaled": True}),
    "adam of 3, two batches a step": ("Adam", {**ADAM, "gradient_accumulation_steps": 2}, fixed(0.02), {"archive": True}),
    "lamb": ("Lamb", {**ADAM, "weight_decay": 0.1}, fixed(0.02), {"archive": True}),
    "kernels with L2": ("SGD", {"learning_rate": 0.1}, fixed(0.1), {"layer": {"kernel_regularizer": L2}, "penalty": "l2"}),
    "activities with L1": ("SGD", {"learning_rate": 0.1}, fixed(0.1),
                           {"layer": {"activity_regularizer": {"class_name": "L1L2", "config": {"l1": 0.02, "l2": 0.0}}}, "penalty": "l1"}),
    "kernels of length 1": ("SGD", {"learning_rate": 0.1}, fixed(0.1),
                            {"layer": {"kernel_constraint": {"class_name": "UnitNorm", "config": {"axis": 0}}}, "constraint": "unit"}),
    "biases that are not negative": ("SGD", {"learning_rate": 0.1}, fixed(0.1),
                                     {"layer": {"bias_constraint": {"class_name": "NonNeg", "config": {}}}, "constraint": "positive"}),
    "a loss summed and weighed": ("SGD", {"learning_rate": 0.01}, fixed(0.01),
                                  {"archive": True, "loss": {"class_name": "MeanSquaredError", "config": {"reduction": "sum"}}, "factor": 0.5 * BATCH,
                                   "weights": 0.5}),
}
# What an optimizer keeps of each parameter, by Keras's names: up to 2.10, and since.
SLOTS = {"Adam": ("m", "v"), "Nadam": ("m", "v"), "Lamb": ("m", "v"), "RMSprop": ("rms",), "Adagrad": ("accumulator",),
         "Ftrl": ("accumulator", "linear")}


def slots_of(optimizer, config):
    slots = list(SLOTS.get(optimizer, ()))
    if config.get("momentum"):
        slots.append("momentum")
    if config.get("amsgrad"):
        slots.append("vhat")
    if config.get("centered"):
        slots.append("mg")
    return slots


def stored_variables(optimizer, config, is_new):
    """(name, value) in Keras's order."""
    if optimizer == "Adafactor":
        entries = []
        for n, p in zip(NAMES, range(4)):
            if "kernel" in n:
                entries += [(f"r/{n}", STORED[0][p].mean(-1)), (f"c/{n}", STORED[0][p].mean(-2))]
            entries.append((f"v/{n}", STORED[0][p]))
        return entries
    slots = slots_of(optimizer, config)
    # Newer versions keep the first two together for each parameter, but not RMSprop's; Ftrl always did.
    together = slots[:2] if (is_new and optimizer != "RMSprop") or optimizer == "Ftrl" else []
    groups = ([together] if together else []) + [[s] for s in slots[len(together):]]
    entries = []
    for group in groups:
        for i, n in enumerate(NAMES):
            for slot in group:
                entries.append((f"{slot}/{n}" if is_new else f"{n}/{slot}", STORED[slots.index(slot)][i]))
    return entries


def model_of(layer):
    dense = [{"class_name": "Dense", "config": {"name": name, "units": UNITS, "activation": "linear", "use_bias": True, **layer}} for name in "de"]
    dense[0]["config"]["batch_input_shape"] = [None, UNITS]
    return {"class_name": "Sequential", "config": {"name": "m", "layers": dense}}


def branches():
    """Two layers beside each other, of which the second can be computed first."""
    def layer(class_name, name, inputs, **config):
        return {"class_name": class_name, "name": name, "config": {"name": name, **config},
                "inbound_nodes": [[[i, 0, 0, {}] for i in inputs]] if inputs else []}
    dense = {"units": UNITS, "activation": "linear", "use_bias": True}
    layers = [layer("InputLayer", "d_input", [], batch_input_shape=[None, UNITS], dtype="float32"),
              layer("Activation", "p", ["d_input"], activation="relu"), layer("Dense", "d", ["p"], **dense),
              layer("Dense", "e", ["d_input"], **dense), layer("Add", "y", ["d", "e"])]
    return {"class_name": "Functional", "config": {"name": "m", "layers": layers, "input_layers": [["d_input", 0, 0]],
                                                   "output_layers": [["y", 0, 0]]}}


def write(path, optimizer, config, more=None):
    more = more or {}
    if more.get("archive"):
        return write_archive(path, optimizer, config, more)
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(branches() if more.get("branches") else model_of(more.get("layer", {})))
        file.attrs["training_config"] = json.dumps({"loss": "mse", "metrics": None, "optimizer_config": {
            "class_name": optimizer, "config": config}})
        file.attrs["keras_version"] = "2.11.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"d", b"e"]
        for name in "de":
            layer = group.create_group(name)
            layer.attrs["weight_names"] = [f"{n}:0".encode() for n in NAMES if n.startswith(name)]
            for n, value in zip(NAMES, FIRST):
                if n.startswith(name):
                    layer.create_dataset(f"{n}:0", data=value)
        if more.get("fresh"):
            return None
        state = file.create_group("optimizer_weights")
        entries = [("iter:0", np.int64(DONE))]
        if optimizer == "Nadam" and "is_legacy_optimizer" not in config:
            entries.append(("momentum_cache:0", np.float32(0.5)))
        entries += [(f"{optimizer}/{n}:0", v) for n, v in stored_variables(optimizer, config, "is_legacy_optimizer" in config)]
        if more.get("rest"):
            entries += [(f"vhat_{i}:0", np.zeros(1, np.float32)) for i in range(4)]
        state.attrs["weight_names"] = [n.encode() for n, _ in entries]
        for name, value in entries:
            state.create_dataset(name, data=value)
    return None


def write_archive(path, optimizer, config, more):
    stored = {"class_name": optimizer, "config": config, "module": "keras.optimizers", "registered_name": optimizer}
    if more.get("scaled"):
        stored = {"class_name": "LossScaleOptimizer", "config": {"inner_optimizer": stored, "initial_scale": 32768.0}}
    layers = model_of(more.get("layer", {}))["config"]["layers"]
    layers[0]["config"].pop("batch_input_shape")
    first = {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [None, UNITS], "dtype": "float32", "name": "d_input"}}
    compiled = {"loss": more.get("loss", "mse"), "loss_weights": more.get("weights"), "optimizer": stored, "metrics": None}
    whole = {"module": "keras", "class_name": "Sequential", "config": {"name": "m", "layers": [first, *({"module": "keras.layers", **e} for e in layers)]},
             "compile_config": compiled}
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        for name, place in (("d", "dense"), ("e", "dense_1")):
            own = [v for n, v in zip(NAMES, FIRST) if n.startswith(name)]
            for i, value in enumerate(own):
                file.create_dataset(f"layers/{place}/vars/{i}", data=value)
        place = "optimizer/inner_optimizer/vars" if more.get("scaled") else "optimizer/vars"
        values = [np.int64(DONE), np.float32(0.5)]
        if config.get("gradient_accumulation_steps"):
            values += STORED[3]
        for i, value in enumerate(values + [v for _, v in stored_variables(optimizer, config, True)]):
            file.create_dataset(f"{place}/{i}", data=value)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.10.0"}))
        archive.writestr("config.json", json.dumps(whole))
        archive.writestr("model.weights.h5", weights.getvalue())


class Optimizer:
    """Keras's formulas."""

    def __init__(self, name, config, rate, fresh):
        self.name, self.config, self.rate = name, config, rate
        self.is_old = "is_legacy_optimizer" not in config and name != "Lamb"
        slots = slots_of(name, config) if name != "Adafactor" else ["v"]
        self.kept = {slot: [a.astype(np.float64) for a in STORED[i]] for i, slot in enumerate(slots)}
        if name == "Adafactor":
            self.kept |= {"r": [a.mean(-1).astype(np.float64) for a in STORED[0]], "c": [a.astype(np.float64).mean(-2 if a.ndim > 1 else 0) for a in STORED[0]]}
        if fresh:
            self.kept = {"accumulator": [np.full(p.shape, config["initial_accumulator_value"]) for p in FIRST]}

    def step(self, done, k, p, g):
        c, kept, lr, t = self.config, self.kept, self.rate(done), done + 1
        p = p - lr * c.get("weight_decay", 0) * p

        def average(slot, by, value):
            kept[slot][k] = by * kept[slot][k] + (1 - by) * value
            return kept[slot][k]
        if self.name in ("Adam", "Nadam", "Lamb"):
            m, v = average("m", 0.9, g), average("v", 0.99, g * g)
        if self.name == "Adam":
            if c.get("amsgrad"):
                v = kept["vhat"][k] = np.maximum(kept["vhat"][k], v)
            return p - lr * math.sqrt(1 - 0.99 ** t) / (1 - 0.9 ** t) * m / (np.sqrt(v) + 1e-7)
        if self.name == "Lamb":
            r = m / (1 - 0.9 ** t) / (np.sqrt(v / (1 - 0.99 ** t)) + 1e-7)
            return p - lr * np.linalg.norm(p) / np.linalg.norm(r) * r
        if self.name == "Nadam":
            share = [0.9 * (1 - 0.5 * 0.96 ** ((0.004 if self.is_old else 1) * s)) for s in range(1, t + 2)]
            ahead, now = math.prod(share), math.prod(share[:-1])
            direction = share[-1] * m / (1 - ahead) + (1 - share[-2]) * g / (1 - now)
            return p - lr * direction / (np.sqrt(v / (1 - 0.99 ** t)) + 1e-7)
        if self.name == "RMSprop":
            v = average("rms", 0.9, g * g)
            if c.get("centered"):
                v = v - average("mg", 0.9, g) ** 2
            beside = self.is_old and not c.get("momentum")
            by = lr * g / (np.sqrt(v) + c["epsilon"] if beside else np.sqrt(v + c["epsilon"]))
            if c.get("momentum"):
                by = kept["momentum"][k] = c["momentum"] * kept["momentum"][k] + by
            return p - by
        if self.name == "Adagrad":
            v = kept["accumulator"][k] = kept["accumulator"][k] + g * g
            return p - lr * g / (np.sqrt(v) + c["epsilon"] if self.is_old else np.sqrt(v + c["epsilon"]))
        if self.name == "Ftrl":
            power, old = -c.get("learning_rate_power", -0.5), kept["accumulator"][k]
            new = kept["accumulator"][k] = old + g * g
            pull = g + 2 * c.get("l2_shrinkage_regularization_strength", 0) * p
            linear = kept["linear"][k] = kept["linear"][k] + pull - (new ** power - old ** power) / lr * p
            l1, l2 = c.get("l1_regularization_strength", 0), c.get("l2_regularization_strength", 0) + c.get("beta", 0) / (2 * lr)
            return (np.clip(linear, -l1, l1) - linear) / (new ** power / lr + 2 * l2)
        if self.name == "Adafactor":
            rms = lambda x: math.sqrt((x * x).mean())
            rho, by = min(lr, 1 / math.sqrt(t)), 1 - t ** -0.8
            squares = g * g + 1e-30
            if g.ndim > 1:
                r, q = average("r", by, squares.mean(-1)), average("c", by, squares.mean(-2))
                v = (r / r.mean(-1, keepdims=True))[..., None] * q[None]
            else:
                v = average("v", by, squares)
            u = g / np.sqrt(v)
            return p - max(1e-3, rms(p)) * rho * u / max(1.0, rms(u))
        if c.get("momentum"):
            kept["momentum"][k] = c["momentum"] * kept["momentum"][k] - lr * g
            return p + kept["momentum"][k]
        return p - lr * g


def loss_of(p, x, y, more):
    hidden = (x.relu() if more.get("branches") else x) @ p[0] + p[1]
    out = hidden + x @ p[2] + p[3] if more.get("branches") else hidden @ p[2] + p[3]
    loss = ((out - y) ** 2).mean() * more.get("factor", 1)
    if more.get("penalty") == "l2":
        loss = loss + 0.05 * ((p[0] ** 2).sum() + (p[2] ** 2).sum())
    if more.get("penalty") == "l1":
        loss = loss + 0.02 * (hidden.abs().sum() + out.abs().sum()) / len(x)
    return loss


def constrained(k, p, kind):
    if kind == "unit" and p.ndim == 2:
        return p / (1e-7 + np.sqrt((p * p).sum(0, keepdims=True)))
    return np.maximum(p, 0) if kind == "positive" and p.ndim == 1 else p


def expected(name, config, rate, more):
    optimizer = Optimizer(name, config, rate, more.get("fresh"))
    parameters = [p.astype(np.float64) for p in FIRST]
    batches = config.get("gradient_accumulation_steps", 1)
    sums = [s.astype(np.float64) for s in STORED[3]]
    losses = []
    for i in range(STEPS):
        at = i % (ROWS // BATCH) * BATCH
        tensors = [torch.tensor(p, requires_grad=True) for p in parameters]
        loss = loss_of(tensors, torch.tensor(X[at:at + BATCH]).double(), torch.tensor(Y[at:at + BATCH]).double(), more)
        loss.backward()
        losses.append(loss.item())
        done = 0 if more.get("fresh") else DONE
        for k, tensor in enumerate(tensors):
            g = tensor.grad.numpy()
            if batches > 1:
                sums[k] = sums[k] + g
                if (done + i + 1) % batches:
                    continue
                g, sums[k] = sums[k] / batches, np.zeros_like(g)
            parameters[k] = constrained(k, optimizer.step((done + i) // batches, k, parameters[k], g), more.get("constraint"))
    return losses


def trained(ingot, model, scratch):
    log = scratch / "log.jsonl"
    np.savez(scratch / "data.npz", d_input=X, target=Y)
    for words in (["convert", model, "-o", scratch / "m.onnx", "--mode", "both", "--no-verify"],
                  ["train", scratch / "m.onnx", "--data", scratch / "data.npz", "--target", "target", "--batch", str(BATCH), "--steps",
                   str(STEPS), "--keep-order", "--log", log]):
        done = subprocess.run([ingot, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            return None, done.stderr
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line][:STEPS], ""


NOISE = {"GaussianNoise": {"stddev": 0.5}, "GaussianDropout": {"rate": 0.4}, "AlphaDropout": {"rate": 0.3},
         "Dropout": {"rate": 0.4}}


def noise_lives(ingot, name, config):
    """What is random while training: the first losses differ from the quiet model's and from each other, the running model
    is the quiet one."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        write(scratch / "m.h5", "SGD", {"learning_rate": 0.0})
        with h5py.File(scratch / "m.h5", "a") as file:
            model = json.loads(file.attrs["model_config"])
            shape = {"batch_input_shape": model["config"]["layers"][0]["config"].pop("batch_input_shape")}
            model["config"]["layers"].insert(0, {"class_name": name, "config": {"name": "noise", **config, **shape}})
            file.attrs["model_config"] = json.dumps(model)
        np.savez(scratch / "data.npz", noise_input=X, target=Y)
        losses, log = [], scratch / "log.jsonl"
        for words in (["convert", scratch / "m.h5", "-o", scratch / "m.onnx", "--mode", "both", "--no-verify"],
                      ["train", scratch / "m.onnx", "--data", scratch / "data.npz", "--target", "target", "--batch", str(ROWS), "--steps",
                       "4", "--keep-order", "--log", log],
                      ["run", scratch / "m.onnx", "--in", f"noise_input={scratch / 'x.npy'}", "--out", scratch / "out"]):
            np.save(scratch / "x.npy", X)
            done = subprocess.run([ingot, *words], capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr
        losses = [json.loads(line).get("loss") for line in log.read_text().splitlines()]
        losses = [loss for loss in losses if loss is not None][:4]
        answer = (X @ FIRST[0] + FIRST[1]) @ FIRST[2] + FIRST[3]
        quiet = ((answer - Y) ** 2).mean()
        given = np.load(next((scratch / "out").glob("*.npy")))
        if np.abs(given - answer).max() > 1e-5:
            return "the running model is not quiet"
        if len(set(losses)) < 4 or min(abs(loss - quiet) for loss in losses) < 1e-6:
            return f"losses {losses} beside {quiet} without noise"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    failed = False
    for name, (optimizer, config, rate, *others) in CASES.items():
        more = others[0] if others else {}
        with tempfile.TemporaryDirectory() as scratch:
            model = pathlib.Path(scratch) / ("m.keras" if more.get("archive") else "m.h5")
            write(model, optimizer, config, more)
            got, why = trained(options.ingot, model, pathlib.Path(scratch))
        losses = expected(optimizer, config, rate, more)
        worst = max(abs(a - b) for a, b in zip(got, losses)) if got and len(got) == STEPS else float("inf")
        print(f"{name}: loss {losses[0]:.6f} -> {losses[-1]:.6f}, at most {worst:.2e} apart{why and ': ' + why}")
        failed |= not worst <= 1e-5
    for name, config in NOISE.items():
        why = noise_lives(options.ingot, name, config)
        print(f"{name}: {why or 'lives while training'}")
        failed |= bool(why)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

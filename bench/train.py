#!/usr/bin/python3
"""Training beside PyTorch: steps per second and peak memory of four models with one and two threads.

Usage: train.py --ingot PATH [--rounds N] [--steps N] [--out FILE] [MODEL...]     needs python3-torch
Prints a table, and writes it to FILE with what was measured how. Rounds alternate between the two, so that both meet
the same machine; a figure is the median of the rounds.
"""
import argparse
import datetime
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import table

PEER = """
import re, sys, time, numpy as np, torch
sys.path.insert(0, sys.argv[1])
import train as bench
name, threads, steps, warm = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
torch.set_num_threads(threads)
net, x, y = bench.model(name)
x, y = torch.tensor(x), torch.tensor(y)
net.train()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = torch.nn.CrossEntropyLoss()
for step in range(warm + steps):
    if step == warm:
        begin = time.perf_counter()
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
rate = steps / (time.perf_counter() - begin)
# getrusage would tell the peak of the process that started this one, if that is larger.
peak = int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024
products = {line.split()[-1] for line in open("/proc/self/maps") if "blas" in line}
print(rate, peak, *sorted(products))
"""


def model(name):
    """A network with one batch of data, the same every time."""
    import numpy as np
    import torch
    nn = torch.nn
    torch.manual_seed(0)
    rng = np.random.default_rng(0)

    class Basic(nn.Module):
        def __init__(self, a, b, stride):
            super().__init__()
            self.conv1, self.norm1 = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b)
            self.conv2, self.norm2 = nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
            self.short = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)) if stride != 1 or a != b \
                else nn.Identity()

        def forward(self, x):
            h = torch.relu(self.norm1(self.conv1(x)))
            return torch.relu(self.norm2(self.conv2(h)) + self.short(x))

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads, self.width = heads, width
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.back = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            split = lambda v: v.reshape(-1, 64, self.heads, self.width // self.heads).transpose(1, 2)
            q, k, v = map(split, self.qkv(self.norm1(x)).chunk(3, -1))
            weights = (q @ k.transpose(-1, -2) * (self.width // self.heads) ** -0.5).softmax(-1)
            x = x + self.back((weights @ v).transpose(1, 2).reshape(-1, 64, self.width))
            return x + self.down(torch.relu(self.up(self.norm2(x))))

    real = lambda *dims: rng.normal(size=dims).astype(np.float32)
    if name == "cnn":
        net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 14 * 14, 128), nn.ReLU(), nn.Linear(128, 10))
        return net, real(64, 1, 28, 28), rng.integers(0, 10, 64)
    if name == "mlp":
        net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        return net, real(128, 784), rng.integers(0, 10, 128)
    if name == "resnet18":
        stages = [Basic(64, 64, 1), Basic(64, 64, 1)]
        for a, b in ((64, 128), (128, 256), (256, 512)):
            stages += [Basic(a, b, 2), Basic(b, b, 1)]
        net = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                            *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
        return net, real(16, 3, 64, 64), rng.integers(0, 10, 16)
    if name == "transformer":
        net = nn.Sequential(*[Block(256, 8) for _ in range(4)], nn.Flatten(), nn.Linear(64 * 256, 10))
        return net, real(16, 64, 256), rng.integers(0, 10, 16)
    raise SystemExit(f"there is no model '{name}'")


def write(name, folder):
    import numpy as np
    import torch
    net, x, y = model(name)
    np.savez(folder / f"{name}.npz", x=x, y=y)
    torch.onnx.export(net, torch.tensor(x), str(folder / f"{name}.onnx"), opset_version=14, input_names=["x"],
                      do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)


def measure_ingot(ingot, folder, name, threads, steps, warm):
    """Steps per second, and the peak in MiB."""
    done = subprocess.run([ingot, "train", str(folder / f"{name}.onnx"), "--data", str(folder / f"{name}.npz"), "--loss",
                           "cross_entropy", "--optimizer", "adam", "--lr", "1e-3", "--batch", "1000", "--keep-order",
                           "--steps", str(warm + steps), "--threads", str(threads), "--log", str(folder / "log"), "-q"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None
    times = [json.loads(line)["seconds"] for line in (folder / "log").read_text().splitlines() if '"seconds"' in line]
    number, unit = done.stdout.split("peak memory ")[1].split()[:2]
    return steps / (times[-1] - times[warm - 1]), float(number) * {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit]


def peer_environment(threads):
    """One pool of threads for PyTorch and its matrix products: OpenBLAS with threads of its own would take both cores
    where one is asked for, and would fight with PyTorch's where two are."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    shared_pool = glob.glob("/usr/lib/*/openblas-openmp")
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(shared_pool + [os.environ.get("LD_LIBRARY_PATH", "")]).strip(os.pathsep)
    return environment


def measure_torch(folder, name, threads, steps, warm):
    done = subprocess.run([sys.executable, "-c", PEER, str(pathlib.Path(__file__).parent), name, str(threads), str(steps),
                           str(warm)], capture_output=True, text=True, check=True, env=peer_environment(threads))
    rate, peak, *products = done.stdout.split()
    return float(rate), float(peak), products


NOTES = """# Training beside PyTorch

Written by `bench/train.py`, which `script/bench --train` calls, {stamp}: release build.
The machine: {machine}.

PyTorch {torch} of Debian; its matrix products are those of {products}. The same batch in every step, Adam, cross entropy;
steps per second after three steps of warming up, the median of {rounds} rounds of {steps} steps in which the two take
turns; ratio = Ingot's rate / PyTorch's. Peak memory is what each process had resident at most.

"""


def products_of(libraries):
    """Reference BLAS would make PyTorch look slow: say what it has."""
    real = {str(pathlib.Path(path).resolve()) for path in libraries}
    return ", ".join(sorted(pathlib.Path(path).parent.name + "/" + pathlib.Path(path).name for path in real)) or "its own"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("models", nargs="*", default=[])
    options = parser.parse_args()
    lines, libraries = [], []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    say("| model | threads | Ingot steps/s | PyTorch steps/s | ratio | peak Ingot | peak PyTorch |")
    say("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for name in options.models or ["cnn", "mlp", "resnet18", "transformer"]:
            write(name, folder)
            for threads in (1, 2):
                ours, theirs = [], []
                for _ in range(options.rounds):
                    ours.append(measure_ingot(options.ingot, folder, name, threads, options.steps, 3))
                    theirs.append(measure_torch(folder, name, threads, options.steps, 3))
                libraries += theirs[0][2]
                if None in ours:
                    say(f"| {name} | {threads} | does not train | {statistics.median(t[0] for t in theirs):.2f} | | | |")
                    continue
                a, b = statistics.median(o[0] for o in ours), statistics.median(t[0] for t in theirs)
                say(f"| {name} | {threads} | {a:.2f} | {b:.2f} | **{a / b:.2f}** | {max(o[1] for o in ours):.0f} MiB | "
                    f"{max(t[1] for t in theirs):.0f} MiB |")
    if options.out:
        import torch
        head = NOTES.format(stamp=f"on {datetime.date.today()} for commit {table.commit()}", machine=table.machine(), torch=torch.__version__,
                            products=products_of(libraries), rounds=options.rounds, steps=options.steps)
        options.out.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

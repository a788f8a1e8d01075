#!/usr/bin/python3
"""The four levels of the Deep500 benchmark: operators, networks, training to a goal, training with several processes.
`script/bench --deep500` calls it. Usage: deep500.py --ingot PATH --models DIRECTORY [--level N...] [--out FILE]

CPU time of one thread is compared, the two by turns: other programs may run meanwhile. Level 3 also tells the time on the
clock, which they disturb."""
import argparse
import json
import math
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import operator_cases  # noqa: E402
import operators  # noqa: E402
import zoo  # noqa: E402

OPERATORS = ["Conv 3x3", "Conv 1x1", "Conv depthwise", "MatMul f32", "Gemm", "Softmax axis 2", "LayerNormalization f32",
             "BatchNormalization", "MaxPool 2 stride 2", "AveragePool 3 stride 2", "Relu f32", "Add f32", "ReduceSum f32 last",
             "Transpose f32 0213", "LSTM", "Attention"]
NETWORKS = ["resnet18", "mobilenet_v2", "squeezenet1_1", "unet", "lstm_both_ways", "conformer", "bert_128"]

# Trains the network of a goal as Ingot does; prints its accuracy after each epoch and the CPU time until then.
PEER = """
import json, sys, time
import numpy as np, torch
torch.set_num_threads(1)
folder, epochs, lr = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
data = np.load(folder + "/train.npz")
held = np.load(folder + "/held.npz")
x, y = torch.tensor(data["x"]), torch.tensor(data["y"])
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
torch.onnx.export(net, x[:1], folder + "/net.onnx", opset_version=16, input_names=["x"], dynamic_axes={"x": {0: "N"}})
optimizer = torch.optim.Adam(net.parameters(), lr=lr)
criterion = torch.nn.CrossEntropyLoss()
begin = time.process_time()
order = np.random.default_rng(1)
for epoch in range(epochs):
    for part in np.array_split(order.permutation(len(x)), len(x) // 64):
        optimizer.zero_grad()
        criterion(net(x[part]), y[part]).backward()
        optimizer.step()
with torch.no_grad():
    right = (net(torch.tensor(held["x"])).argmax(1).numpy() == held["y"]).mean()
print(json.dumps({"accuracy": float(right), "cpu": time.process_time() - begin}))
"""


def spirals(folder, count):
    """Three arms of a spiral, to be told apart: the same numbers every time."""
    import numpy as np
    for name, seed in (("train", 1), ("held", 2)):
        draw = random.Random(seed)
        points, kinds = [], []
        for i in range(count):
            t = draw.random()
            angle = 4 * math.pi * t / 1.6 + 2 * math.pi * (i % 3) / 3 + draw.gauss(0, 0.12)
            points.append((t * math.cos(angle), t * math.sin(angle)))
            kinds.append(i % 3)
        np.savez(folder / f"{name}.npz", x=np.array(points, np.float32), y=np.array(kinds, np.int64))


def cpu_of(command, **options):
    """The CPU seconds that a command and its children took, and how it ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begin, done


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def level_0(args):
    lines = ["## Level 0: operators", "", "| case | kernel | Ingot ms | ORT ms | ratio | |", "|---|---|---|---|---|---|"]
    ratios = []
    for case in operator_cases.all_cases():
        if case.name not in OPERATORS:
            continue
        row = operators.row_of(args, case)
        lines.append(operators.told(row))
        print(lines[-1], flush=True)
        if row["ratio"]:
            ratios.append(row["ratio"])
    return lines + ["", f"Geometric mean: {mean(ratios):.2f}."]


def level_1(args):
    lines = ["## Level 1: networks", "", "| model | Ingot ms | ORT ms | ratio | in reference kernels |", "|---|---|---|---|---|"]
    subprocess.run(["/usr/bin/python3", str(pathlib.Path(__file__).with_name("zoo_models.py")), str(args.models), *NETWORKS],
                   check=True)
    ratios = []
    for name in NETWORKS:
        row = zoo.measure(args, args.models / f"{name}.onnx", [])
        ratio = f"{row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f})" if row["ratio"] else "-"
        lines.append(f"| {name} | {row['ms']:.4g} | {row.get('ort_ms', 0):.4g} | {ratio} | {row['share']:.1f} % |")
        print(lines[-1], flush=True)
        if row["ratio"]:
            ratios.append(row["ratio"])
    return lines + ["", f"Geometric mean: {mean(ratios):.2f}."]


def train_words(args, folder, epochs):
    return [args.ingot, "train", str(folder / "net.onnx"), "--data", str(folder / "train.npz"), "--target", "y", "--loss",
            "cross_entropy", "--optimizer", "adam", "--lr", "0.005", "--batch", "64", "--epochs", str(epochs), "--seed", "1",
            "--threads", "1", "--export", str(folder / "trained.onnx"), "-q"]


def accuracy(args, folder):
    import numpy as np
    done = subprocess.run([args.ingot, "run", str(folder / "trained.onnx"), "--data", str(folder / "held.npz"), "--map", "x=x",
                           "--raw", "--out", str(folder / "scores.npy")], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return float((np.load(folder / "scores.npy").argmax(1) == np.load(folder / "held.npz")["y"]).mean())


def level_2(args):
    """The same network from the same weights; each runtime shuffles for itself."""
    lines = ["## Level 2: training to a goal", "",
             "Three spirals of 3,000 points, an MLP 2-64-64-3 from the same weights, Adam, batches of 64; accuracy on 3,000 "
             "other points after so many epochs, and the CPU time of the whole process.", "",
             "| epochs | Ingot accuracy | Ingot CPU s | PyTorch accuracy | PyTorch CPU s without start |", "|---|---|---|---|---|"]
    folder = args.models / "deep500"
    folder.mkdir(parents=True, exist_ok=True)
    spirals(folder, 3000)
    for epochs in (2, 5, 10, 20):
        peer = subprocess.run(["/usr/bin/python3", "-c", PEER, str(folder), str(epochs), "0.005"], capture_output=True, text=True)
        cpu, _, done = cpu_of(train_words(args, folder, epochs))
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        told = json.loads(peer.stdout.splitlines()[-1]) if peer.returncode == 0 else {"accuracy": float("nan"), "cpu": float("nan")}
        lines.append(f"| {epochs} | {accuracy(args, folder):.3f} | {cpu:.2f} | {told['accuracy']:.3f} | {told['cpu']:.2f} |")
        print(lines[-1], flush=True)
    return lines


def level_3(args):
    lines = ["## Level 3: several processes", "",
             f"The same training, 5 epochs, by `mpirun --oversubscribe` on {os.cpu_count()} cores: more processes than cores only "
             "show what they cost.", "",
             "| processes | optimizer | seconds | CPU s of all | accuracy |", "|---|---|---|---|---|"]
    if not shutil.which("mpirun"):
        return lines + ["", "There is no mpirun here."]
    folder = args.models / "deep500"
    if not (folder / "net.onnx").exists():
        level_2(args)
    for ranks in (1, 2, 3, 4):
        for shards in ([], ["--shard-optimizer"]) if ranks > 1 else ([],):
            cpu, wall, done = cpu_of(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks),
                                      *train_words(args, folder, 5), *shards])
            if done.returncode:
                raise RuntimeError(done.stderr.strip())
            kind = "divided" if shards else "whole"
            lines.append(f"| {ranks} | {kind} | {wall:.2f} | {cpu:.2f} | {accuracy(args, folder):.3f} |")
            print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--level", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, help="write the tables there too")
    args = parser.parse_args()
    args.threads, args.kernels, args.shares, args.costs = 1, False, False, False
    if not os.environ.get("INGOT_PEERS") and set(args.level) & {0, 1}:
        print("**** SKIPPED: no ONNX Runtime to measure beside (script/bootstrap installs it)", file=sys.stderr)
        return 1
    args.models.mkdir(parents=True, exist_ok=True)
    lines = ["# Deep500's four levels", "", f"Written by `script/bench --deep500`; the machine's load at the end: {os.getloadavg()[0]:.1f}."]
    for level in args.level:
        made = (level_0, level_1, level_2, level_3)[level](args)
        lines += ["", *made]
        print("\n".join(made[:1] + made[-1:]), flush=True)
    lines[2] = f"Written by `script/bench --deep500`; one thread; the machine's load at the end: {os.getloadavg()[0]:.1f}."
    if args.out:
        args.out.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

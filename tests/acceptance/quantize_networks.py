#!/usr/bin/python3
"""Networks of torchvision in integers: do they still say the same class, judged in ONNX Runtime on data held back?

usage: quantize_networks.py PATH_TO_INGOT [NETWORK...]

Each network is trained here for a minute, to tell digits (tests/cli/quantize_test.py draws them). Prints a line for each
network and way; exits with 1 where less than 98 % of the classes stay the same by 8 bits or the network became no
classifier, with 77 where PyTorch, torchvision or ONNX Runtime is not here.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings
import zipfile

try:
    import torch
    import torchvision
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)
INGOT, WANTED = sys.argv[1], sys.argv[2:]
del sys.argv[2:]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import quantize_test as drawn  # noqa: E402  (it takes the program's path off sys.argv)

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
NETWORKS = ["densenet121", "mobilenet_v2", "mobilenet_v3_small", "regnet_x_400mf", "resnet18", "shufflenet_v2_x0_5", "vgg11_bn"]
WAYS = [("static", []), ("static, entropy", ["--calibration", "entropy"]), ("dynamic", ["--method", "dynamic"]),
        ("weights, 8 bits", ["--method", "weights"])]
TRAINED, COUNT, SIZE, EPOCHS = 1000, 300, 32, 10


def pictures(count, draw):
    """Digits of 32 x 32 in three channels, and which they are."""
    digits = torch.tensor([drawn.digit(i % 10, draw) for i in range(count)]).reshape(count, 1, 28, 28) / 128 - 1
    return torch.nn.functional.interpolate(digits, (SIZE, SIZE), mode="bilinear").repeat(1, 3, 1, 1), torch.arange(count) % 10


def trained(name, x, classes):
    torch.manual_seed(3)
    network = getattr(torchvision.models, name)(num_classes=10)
    steps = torch.optim.Adam(network.parameters(), lr=2e-3)
    network.train()
    for epoch in range(EPOCHS):
        for part in torch.randperm(len(x)).split(40):
            steps.zero_grad()
            torch.nn.functional.cross_entropy(network(x[part]), classes[part]).backward()
            steps.step()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):  # the statistics of the weights as they are now
            module.reset_running_stats()
            module.momentum = None
    with torch.no_grad():
        for part in x.split(100):
            network(part)
    return network.eval()


def ingot(*arguments):
    return subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=1800)


def main():
    if "missing" in next((line for line in ingot("verify", "--list-runtimes").stdout.splitlines() if "ort" in line), "missing"):
        print("SKIPPED: ONNX Runtime is not here")
        sys.exit(77)
    draw = random.Random(23)
    x, classes = pictures(TRAINED, draw)
    held, held_classes = pictures(COUNT, draw)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in WANTED or NETWORKS:
            network = trained(name, x, classes)
            with torch.no_grad():
                right = (torch.cat([network(part) for part in held.split(50)]).argmax(1) == held_classes).float().mean().item()
            torch.jit.trace(network, x[:2]).save(f"{folder}/net.pt")
            done = ingot("convert", f"{folder}/net.pt", "-o", f"{folder}/net.onnx", "--input-shape", f"x:50,3,{SIZE},{SIZE}",
                         "--no-verify")
            if done.returncode:
                print(f"{name}: NOT CONVERTED: {done.stderr.strip()[:300]}", flush=True)
                bad += 1
                continue
            port = json.loads(ingot("inspect", f"{folder}/net.onnx", "--json").stdout)["inputs"][0]
            data = f"{folder}/digits.npz"
            with zipfile.ZipFile(data, "w") as archive:
                archive.writestr(f"{port['name']}.npy", drawn.npy(tuple(held.shape), held.numpy().ravel().tolist()))
            bad += right < 0.9
            print(f"{name}: {right:.1%} right in float{' NO CLASSIFIER' if right < 0.9 else ''}", flush=True)
            for way, options in WAYS:
                done = ingot("quantize", f"{folder}/net.onnx", "-o", f"{folder}/q.onnx", "--data", data, "--hold-back", "0.5",
                             "--with", "ort", *options, "--json")
                if done.returncode not in (0, 1):
                    print(f"{name}: {way}: REFUSED: {done.stderr.strip().splitlines()[0][:150]}", flush=True)
                    bad += 1
                    continue
                judged = json.loads(done.stdout)["with"]["ort"][0]
                is_less = judged["same_class"] < drawn.AGREEMENT * judged["rows"]
                bad += is_less
                print(f"{name}: {way}: {judged['same_class']} of {judged['rows']} classes stay{' LESS' if is_less else ''}",
                      flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

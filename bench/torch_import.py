#!/usr/bin/env python3
"""Time and memory of conversions from and to PyTorch: files of 500 MB that it makes itself.

torch_import.py --ingot PROGRAM [--megabytes 500]; fails above 1 s of processor time or the file and 100 MB of memory.
Exit code 77: PyTorch is not here."""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

try:
    import torch
    from torch import nn
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)


def network(megabytes):
    width, layers = 2048, []
    for _ in range(1 + megabytes * 1_000_000 // (width * width * 4)):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers).eval()


def measured(command):
    """Seconds of processor time and the peak in MB of a command."""
    child = os.fork()
    if child == 0:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{done.returncode} {used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss / 1000:.1f}", file=open(MARK, "w"))
        os._exit(0)
    os.waitpid(child, 0)
    code, seconds, peak = open(MARK).read().split()
    if code != "0":
        sys.exit(f"{' '.join(command)}: exit code {code}")
    return float(seconds), float(peak)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ingot", required=True)
parser.add_argument("--megabytes", type=int, default=500)
options = parser.parse_args()
failed = False
with tempfile.TemporaryDirectory() as folder:
    MARK = os.path.join(folder, "mark")
    at = lambda name: os.path.join(folder, name)
    net = network(options.megabytes)
    torch.jit.script(net).save(at("net.pt"))
    torch.save(net.state_dict(), at("weights.pth"))
    size = os.path.getsize(at("net.pt")) / 1e6
    del net
    for source, target in (("net.pt", "net.onnx"), ("weights.pth", "net.safetensors"), ("net.onnx", "again.pt"), ("again.pt", "again.onnx")):
        seconds, peak = min(measured([options.ingot, "-q", "convert", at(source), "-o", at(target), "--no-verify"]) for _ in range(3))
        is_good = seconds <= 1 and peak <= size + 100
        failed |= not is_good
        print(f"{source} ({size:.0f} MB) -> {target}: {seconds:.2f} s of processor time, peak {peak:.0f} MB"
              f"{'' if is_good else '  TOO MUCH'}", flush=True)
sys.exit(1 if failed else 0)

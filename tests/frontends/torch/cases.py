#!/usr/bin/python3
"""Writes TorchScript archives of many small operator cases with PyTorch's own results beside them.

cases.py DIRECTORY [FILTER]: a line of DIRECTORY/cases.txt is "name inputs outputs dynamic". Of a case there are
name.pt, name.x0.npy ... and name.y0.npy ..."""
import os
import sys
import warnings
import zipfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
directory = sys.argv[1]
wanted = sys.argv[2] if len(sys.argv) > 2 else ""
lines = []


class Holder(nn.Module):
    def __init__(self, function, modules=()):
        super().__init__()
        self.function = function
        for name, module in modules:
            self.add_module(name, module)


FORWARDS = {}
for count in range(0, 5):
    names = ", ".join(f"x{i}" for i in range(count))
    scope = {}
    exec(f"def forward(self, {names}):\n  return self.function({names})", scope)
    FORWARDS[count] = type(f"Case{count}", (Holder,), {"forward": scope["forward"]})


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [t for part in result for t in flat(part)]
    if isinstance(result, dict):
        return [t for part in result.values() for t in flat(part)]
    return [torch.tensor(result)]


def write(name, module, inputs, dynamic):
    path = os.path.join(directory, name + ".pt")
    if module is not None:
        module.save(path)
    with torch.no_grad():  # what the file means: numbers that a trace has seen are tensors in it
        results = flat(torch.jit.load(path)(*[x.clone() for x in inputs]))
    for i, x in enumerate(inputs):
        np.save(os.path.join(directory, f"{name}.x{i}.npy"), x.numpy())
    for i, y in enumerate(results):
        np.save(os.path.join(directory, f"{name}.y{i}.npy"), y.detach().numpy())
    lines.append(f"{name} {len(inputs)} {len(results)} {int(dynamic)}")


def case(name, function, *inputs, dynamic=False):
    """Traces a function, or a module."""
    if wanted not in name:
        return
    torch.manual_seed(7)
    module = FORWARDS[len(inputs)](function)
    module.eval()
    with torch.no_grad():
        traced = torch.jit.trace(module, inputs, check_trace=False, strict=False)
    write(name, traced, inputs, dynamic)


def scripted(name, source, *inputs, dynamic=False, module=None):
    """Scripts the source of forward, or a module."""
    if wanted not in name:
        return
    # Instances of one class would share their methods.
    made = torch.jit.script((module or type("Scripted", (nn.Module,), {})()).eval())
    if source:
        made.define(source)
    write(name, made, inputs, dynamic)


def by_hand(name, source, *inputs, dynamic=False):
    """An archive whose code is this source, as a person would write it; PyTorch's printer writes none of it."""
    if wanted not in name:
        return
    arguments = ", ".join(f"x{i}: Tensor" for i in range(len(inputs)))
    made = torch.jit.script(type("Scripted", (nn.Module,), {})())
    made.define(f"def forward(self, {arguments}):\n  return x0\n")
    path = os.path.join(directory, name + ".pt")
    made.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    code = next(key for key in members if key.endswith(".py") and "/code/" in key)
    kept = members[code].decode().split("  def forward")[0]
    method = "".join(f"  {line}\n" for line in source.strip().splitlines())
    members[code] = (kept + method).encode().replace(b"SELF", b"self: " + kept.split("class ")[1].split("(")[0].encode())
    members = {key: data for key, data in members.items() if not key.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w") as archive:
        for key, data in members.items():
            archive.writestr(key, data)
    write(name, None, inputs, dynamic)


def x(*shape, low=-2.0, high=2.0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(sum((i + 3) * s for i, s in enumerate(shape)) + 11)
    made = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
    return made.to(dtype)


def i64(*shape, low=0, high=5):
    generator = torch.Generator().manual_seed(sum(shape) + 5)
    return torch.randint(low, high, shape, generator=generator)


# The groups are files of their own.
for group in ("elementwise", "shapes", "layers", "scripts", "networks", "signals", "more", "typical", "quantized", "rows", "by_hand", "transformers", "corners"):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"cases_{group}.py")
    exec(compile(open(path).read(), path, "exec"))

with open(os.path.join(directory, "cases.txt"), "w") as out:
    out.write("\n".join(lines) + "\n")

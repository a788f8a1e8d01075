"""Compares gradients that Ingot wrote with those of PyTorch: torch_gradients.py cases.json"""
import json
import sys

import numpy as np
import torch
import torch.nn.functional as F

TOLERANCE = 1e-10  # relative to the largest gradient


def tensor(stored, trained=False):
    values = np.array(stored["values"], dtype=np.float64).reshape(stored["dims"])
    return torch.tensor(values, requires_grad=trained)


def rnn(kind, x, w, r, b, *states):
    """A layer of one direction: PyTorch has other orders of gates than ONNX."""
    order = {"RNN": [0], "GRU": [1, 0, 2], "LSTM": [0, 2, 3, 1]}[kind]

    def gates(parameter):
        parts = parameter.chunk(len(order))
        return torch.cat([parts[i] for i in order])

    first, second = b[0].chunk(2)
    weights = [gates(w[0]), gates(r[0]), gates(first), gates(second)]
    settings = (weights, True, 1, 0.0, False, False, False)
    if kind == "LSTM":
        return torch.lstm(x, list(states), *settings)[0].unsqueeze(1)
    layer = torch.gru if kind == "GRU" else torch.rnn_tanh
    return layer(x, states[0], *settings)[0].unsqueeze(1)


def heads(x, count):
    """[batch, length, heads * size] as [batch, heads, length, size]"""
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def joined(x):
    """The other way."""
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def difference(case):
    """The largest relative difference, over all inputs."""
    inputs = {name: tensor(stored, True) for name, stored in case["inputs"].items()}
    names = dict(inputs, torch=torch, F=F, np=np, rnn=rnn, heads=heads, joined=joined)
    y = eval(case["torch"], names)
    weights = tensor(case["gradients"]["weights of y"])
    if y.shape != weights.shape:
        raise ValueError(f"PyTorch gives {tuple(y.shape)}, Ingot {tuple(weights.shape)}")
    (y * weights).sum().backward()
    worst = 0.0
    for name, x in inputs.items():
        ours = tensor(case["gradients"][name])
        theirs = torch.zeros_like(x) if x.grad is None else x.grad
        if ours.shape != theirs.shape:
            raise ValueError(f"'{name}': PyTorch gives {tuple(theirs.shape)}, Ingot {tuple(ours.shape)}")
        if ours.numel():
            apart = (ours - theirs).abs().max() / max(1.0, float(theirs.abs().max()))
            worst = max(worst, float(apart)) if not torch.isnan(apart) else float("inf")
    return worst


def main():
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    wrong, worst = 0, 0.0
    for case in cases:
        try:
            apart = difference(case)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{case['line']}\n  {type(error).__name__}: {error}")
            wrong += 1
            continue
        worst = max(worst, apart)
        if not apart <= TOLERANCE:
            print(f"{case['line']}\n  differs by {apart:.3g}")
            wrong += 1
    print(f"{len(cases) - wrong} of {len(cases)} cases equal PyTorch {torch.__version__}, largest difference {worst:.2g}")
    return 1 if wrong or not cases else 0


sys.exit(main())

"""PyTorch's own training runs in float, with other orders of summation than the stored ones:
torch_runs.py mlp|lenet INIT.npz MNIST_DIRECTORY OPTIMIZER STEPS
Prints a line with the loss of each step for each run: convolutions with oneDNN's kernels and without, the images of a
batch, and pixels, channels and units, in another order. All of them are the same in exact arithmetic."""
import sys

import numpy as np
import torch
from torch import nn

BATCH, RUNS = 64, 16
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
}


def network(name):
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 64), nn.ReLU(), nn.Linear(64, 10))


def reorder_lenet(net, order):
    """Other places for the channels and units of a LeNet."""
    first, second, units = (torch.tensor(order.permutation(n)) for n in (8, 16, 64))
    with torch.no_grad():
        for layer, rows in ((net[0], first), (net[3], second), (net[7], units)):
            layer.weight.copy_(layer.weight[rows])
            layer.bias.copy_(layer.bias[rows])
        net[3].weight.copy_(net[3].weight[:, first])
        net[7].weight.copy_(net[7].weight.reshape(64, 16, 25)[:, second].reshape(64, 400))
        net[9].weight.copy_(net[9].weight[:, units])


def run(name, start, optimizer_name, images, digits, order):
    """The losses of one run; order: draws permutations, or None for those of the file."""
    net = network(name)
    net.load_state_dict({key: torch.tensor(value) for key, value in np.load(start).items()})
    if order is not None and name == "mlp":
        pixels, units = torch.tensor(order.permutation(784)), torch.tensor(order.permutation(128))
        images = images.reshape(-1, 784)[:, pixels]
        with torch.no_grad():
            net[1].weight.copy_(net[1].weight[units][:, pixels])
            net[1].bias.copy_(net[1].bias[units])
            net[3].weight.copy_(net[3].weight[:, units])
    elif order is not None:
        reorder_lenet(net, order)
    optimizer = OPTIMIZERS[optimizer_name](net.parameters())
    losses = []
    for first in range(0, len(digits), BATCH):
        batch = first + (np.arange(BATCH) if order is None else order.permutation(BATCH))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images[batch]), digits[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.set_num_threads(1)
    name, start, directory, optimizer, steps = *sys.argv[1:5], int(sys.argv[5])
    pixels = np.fromfile(f"{directory}/train-images-idx3-ubyte", np.uint8, 16 + steps * BATCH * 784)[16:]
    digits = np.fromfile(f"{directory}/train-labels-idx1-ubyte", np.uint8, 8 + steps * BATCH)[8:]
    images = torch.tensor(pixels.astype(np.float32)).div(255).reshape(-1, 1, 28, 28)
    labels = torch.tensor(digits.astype(np.int64))
    for number in range(RUNS):
        order = np.random.RandomState(number) if number else None
        with torch.backends.mkldnn.flags(enabled=number % 2 == 1):
            print(*map(repr, run(name, start, optimizer, images, labels, order)))


main()

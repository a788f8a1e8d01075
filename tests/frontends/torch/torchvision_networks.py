#!/usr/bin/python3
"""Writes networks of torchvision as TorchScript, traced and scripted, with PyTorch's own results beside them: the files
that cases.py describes. The weights are drawn; statistics of normalisations are lively ones.

torchvision_networks.py DIRECTORY [FILTER]"""
import os
import sys
import warnings

import numpy as np
import torch
import torchvision

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
directory, wanted = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
lines = []

# Name, size of pictures, ways: t traced, s scripted, d with an open batch.
NETWORKS = [
    ("alexnet", 96, "t"), ("convnext_tiny", 64, "ts"), ("densenet121", 64, "ts"), ("efficientnet_b0", 64, "tsd"),
    ("efficientnet_v2_s", 64, "t"), ("googlenet", 64, "t"), ("inception_v3", 96, "t"), ("mnasnet0_5", 64, "ts"),
    ("mobilenet_v2", 64, "tsd"), ("mobilenet_v3_small", 64, "tsd"), ("mobilenet_v3_large", 64, "t"), ("regnet_x_400mf", 64, "t"),
    ("regnet_y_400mf", 64, "ts"), ("resnet18", 64, "tsd"), ("resnet50", 64, "t"), ("resnext50_32x4d", 64, "t"),
    ("shufflenet_v2_x0_5", 64, "tsd"), ("squeezenet1_0", 64, "ts"), ("squeezenet1_1", 64, "s"), ("swin_t", 64, "tsd"),
    ("swin_v2_t", 64, "t"), ("vgg11_bn", 64, "t"), ("vit_b_32", 224, "t"), ("wide_resnet50_2", 64, "t"),
    ("segmentation.deeplabv3_mobilenet_v3_large", 64, "ts"), ("segmentation.deeplabv3_resnet50", 64, "t"),
    ("segmentation.fcn_resnet50", 64, "ts"), ("segmentation.lraspp_mobilenet_v3_large", 64, "tsd"),
    ("video.r3d_18", 32, "t"),
]


class Renamed(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x0):
        return self.inner(x0)


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else []
    return [t for part in parts for t in flat(part)]


def write(name, module, picture, dynamic):
    path = os.path.join(directory, name)
    module.save(path + ".pt")
    with torch.no_grad():
        results = flat(module(picture))
    np.save(path + ".x0.npy", picture.numpy())
    for i, y in enumerate(results):
        np.save(f"{path}.y{i}.npy", y.numpy())
    lines.append(f"{name} 1 {len(results)} {int(dynamic)}")


def made(name):
    place, _, builder = name.rpartition(".")
    module = torchvision.models
    for part in place.split(".") if place else []:
        module = getattr(module, part)
    options = {"weights": None}
    if place == "segmentation":
        options["weights_backbone"] = None
    if builder in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    torch.manual_seed(1)
    network = getattr(module, builder)(**options).eval()
    for layer in network.modules():
        if isinstance(layer, (torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)):
            layer.running_mean.uniform_(-0.1, 0.1)
            layer.running_var.uniform_(0.8, 1.2)
    return network


for network_name, size, ways in NETWORKS:
    if wanted not in network_name or not ways:
        continue
    network = Renamed(made(network_name)).eval()
    shape = (1, 3, 4, size, size) if network_name.startswith("video") else (2, 3, size, size)
    picture = torch.rand(shape, generator=torch.Generator().manual_seed(2))
    label = network_name.replace(".", "_")
    with torch.no_grad():
        for way in ways:
            if way == "t":
                write(f"{label}_traced", torch.jit.trace(network, picture, check_trace=False, strict=False), picture, False)
            else:
                write(f"{label}_scripted{'_dynamic' if way == 'd' else ''}", torch.jit.script(network), picture, way == "d")

with open(os.path.join(directory, "cases.txt"), "w", encoding="utf-8") as out:
    out.write("\n".join(lines) + "\n")

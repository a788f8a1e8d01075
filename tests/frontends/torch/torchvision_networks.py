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


# Detectors: pictures of 96 by 120, or what the network makes of them.
DETECTORS = [
    ("detection.fasterrcnn_mobilenet_v3_large_320_fpn", "ts"), ("detection.fasterrcnn_resnet50_fpn", "t"), ("detection.fcos_resnet50_fpn", "ts"),
    ("detection.keypointrcnn_resnet50_fpn", "ts"), ("detection.maskrcnn_resnet50_fpn", "ts"), ("detection.retinanet_resnet50_fpn", "ts"),
    ("detection.ssd300_vgg16", "ts"), ("detection.ssdlite320_mobilenet_v3_large", "ts"),
]


class Traced(torch.nn.Module):
    """What is found in one picture, as a tuple."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x0):
        return tuple(self.inner([x0])[0].values())


class Scripted(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x0):
        losses, found = self.inner([x0])
        return found[0]


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


def tame(network, picture):
    """Scales each layer so that its results are about one large: drawn weights let numbers, and what rounding does to
    them, grow from layer to layer."""
    seen = set()

    def scale(layer, _, result):
        if layer not in seen:
            seen.add(layer)
            for weight in layer.parameters(recurse=False):
                weight.div_(result.std())
            return result / result.std()
        return None

    layers = (torch.nn.Conv2d, torch.nn.ConvTranspose2d, torch.nn.Linear)
    hooks = [layer.register_forward_hook(scale) for layer in network.modules() if isinstance(layer, layers)]
    with torch.no_grad():
        network([picture])
    for hook in hooks:
        hook.remove()
    return network


def made(name):
    place, _, builder = name.rpartition(".")
    module = torchvision.models
    for part in place.split(".") if place else []:
        module = getattr(module, part)
    options = {"weights": None}
    if place in ("segmentation", "detection"):
        options["weights_backbone"] = None
    if place == "detection" and "ssd" not in builder:
        options.update(min_size=96, max_size=128)
    if place == "detection":
        # Of few candidates the scores lie so far apart that rounding does not decide which one is higher.
        few = {"rpn_pre_nms_top_n_test": 40, "rpn_post_nms_top_n_test": 16, "box_detections_per_img": 8} if "rcnn" in builder else {
            "topk_candidates": 24, "detections_per_img": 8}
        options.update(few)
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

for network_name, ways in DETECTORS:
    if wanted not in network_name:
        continue
    picture = torch.rand((3, 96, 120), generator=torch.Generator().manual_seed(3))
    network, label = tame(made(network_name), picture), network_name.replace(".", "_")
    with torch.no_grad():
        if "t" in ways:
            write(f"{label}_traced", torch.jit.trace(Traced(network).eval(), picture, check_trace=False, strict=False), picture, False)
        if "s" in ways:
            write(f"{label}_scripted", torch.jit.script(Scripted(network).eval()), picture, False)

with open(os.path.join(directory, "cases.txt"), "w", encoding="utf-8") as out:
    out.write("\n".join(lines) + "\n")

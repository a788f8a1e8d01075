#!/usr/bin/python3
"""Writes the networks that bench/zoo.py measures: those of Debian's torchvision and small ones of classes that it has
not, with random weights. Usage: zoo_models.py DIRECTORY [NAME...]; without names, those that are not there yet."""
import pathlib
import sys
import warnings

import torch
import torchvision
from torch import nn

warnings.filterwarnings("ignore")

CLASSIFIERS = ["densenet121", "efficientnet_b0", "googlenet", "inception_v3", "mnasnet1_0", "mobilenet_v2",
               "mobilenet_v3_small", "regnet_y_400mf", "regnet_x_800mf", "resnet18", "resnet50", "resnext50_32x4d",
               "shufflenet_v2_x1_0", "squeezenet1_1", "vgg11_bn", "vit_b_16", "convnext_tiny", "swin_t", "alexnet"]
DETECTORS = ["ssdlite320_mobilenet_v3_large", "fasterrcnn_mobilenet_v3_large_320_fpn"]
SEGMENTERS = ["lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large", "fcn_resnet50"]


class First(nn.Module):
    """The main output of a model that gives several."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)["out"]


class Detections(nn.Module):
    """Boxes, scores and labels of one picture."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        found = self.inner([x[0]])[0]
        return found["boxes"], found["scores"], found["labels"]


def unet():
    def pair(i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(),
                             nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([pair(3, 16), pair(16, 32), pair(32, 64)])
            self.bottom = pair(64, 128)
            self.up = nn.ModuleList([nn.ConvTranspose2d(2 * c, c, 2, stride=2) for c in (64, 32)])
            self.side = nn.ModuleList([pair(128, 64), pair(64, 32), pair(48, 16)])
            self.last = nn.Conv2d(16, 2, 1)

        def forward(self, x):
            kept = []
            for block in self.down:
                x = block(x)
                kept.append(x)
                x = nn.functional.max_pool2d(x, 2)
            x = self.bottom(x)
            for i, side in enumerate(self.side):
                big = self.up[i](x) if i < 2 else nn.functional.interpolate(x, scale_factor=2, mode="bilinear",
                                                                          align_corners=False)
                x = side(torch.cat([big, kept[2 - i]], 1))
            return self.last(x)
    return UNet(), torch.randn(1, 3, 128, 128)


def style():
    def step(i, o, k, s):
        return nn.Sequential(nn.ReflectionPad2d(k // 2), nn.Conv2d(i, o, k, s), nn.InstanceNorm2d(o, affine=True),
                             nn.ReLU())

    class Residual(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.a, self.b = step(c, c, 3, 1), step(c, c, 3, 1)

        def forward(self, x):
            return x + self.b(self.a(x))
    return nn.Sequential(step(3, 32, 9, 1), step(32, 64, 3, 2), step(64, 128, 3, 2), Residual(128), Residual(128),
                         nn.Upsample(scale_factor=2), step(128, 64, 3, 1), nn.Upsample(scale_factor=2),
                         step(64, 32, 3, 1), nn.Conv2d(32, 3, 9, padding=4)), torch.randn(1, 3, 128, 128)


def conv3d():
    return nn.Sequential(nn.Conv3d(3, 16, 3, padding=1), nn.BatchNorm3d(16), nn.ReLU(), nn.MaxPool3d(2),
                         nn.Conv3d(16, 32, 3, padding=1), nn.BatchNorm3d(32), nn.ReLU(), nn.MaxPool3d(2),
                         nn.Conv3d(32, 64, 3, padding=1), nn.ReLU(), nn.AvgPool3d(2), nn.Flatten(),
                         nn.Linear(64 * 2 * 8 * 8, 10)), torch.randn(1, 3, 16, 64, 64)


def asr():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.front = nn.Sequential(nn.Conv1d(80, 256, 3, padding=1), nn.GELU(),
                                       nn.Conv1d(256, 256, 3, stride=2, padding=1), nn.GELU(),
                                       nn.Conv1d(256, 256, 5, padding=4, dilation=2, groups=4), nn.ReLU())
            self.body = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)

        def forward(self, x):
            return self.body(self.front(x).transpose(1, 2))
    return Encoder(), torch.randn(1, 80, 400)


def conformer():
    class Block(nn.Module):
        def __init__(self, c=144):
            super().__init__()
            self.ff = nn.Sequential(nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.SiLU(), nn.Linear(4 * c, c))
            self.norm = nn.LayerNorm(c)
            self.attention = nn.MultiheadAttention(c, 4, batch_first=True)
            self.before = nn.Conv1d(c, 2 * c, 1)
            self.deep = nn.Sequential(nn.Conv1d(c, c, 31, padding=15, groups=c), nn.BatchNorm1d(c), nn.SiLU(),
                                      nn.Conv1d(c, c, 1))
            self.last = nn.LayerNorm(c)

        def forward(self, x):
            x = x + 0.5 * self.ff(x)
            y = self.norm(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            y = nn.functional.glu(self.before(x.transpose(1, 2)), 1)
            return self.last(x + self.deep(y).transpose(1, 2))
    return nn.Sequential(*[Block() for _ in range(4)]), torch.randn(1, 200, 144)


class Recurrent(nn.Module):
    def __init__(self, kind, both):
        super().__init__()
        self.cell = kind(128, 256, 2, batch_first=False, bidirectional=both)

    def forward(self, x):
        return self.cell(x)[0]


class Responses(nn.Module):
    """As AlexNet was: local response normalisation."""

    def __init__(self):
        super().__init__()
        self.all = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2), nn.LocalResponseNorm(5),
                                 nn.Conv2d(64, 192, 3, padding=1), nn.ReLU(), nn.LocalResponseNorm(5),
                                 nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, ceil_mode=True),
                                 nn.Conv2d(192, 64, 3, padding=2, dilation=2, groups=2), nn.ReLU())

    def forward(self, x):
        return self.all(x)


class Decoder(nn.Module):
    """One step of a decoder with keys and values of the steps before."""

    def __init__(self, c=512, heads=8):
        super().__init__()
        self.heads, self.norm, self.after = heads, nn.LayerNorm(c), nn.LayerNorm(c)
        self.qkv, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.up, self.down = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x, key, value):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (t.reshape(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2) for t in (q, k, v))
        key, value = torch.cat([key, k], 2), torch.cat([value, v], 2)
        mixed = torch.softmax(q @ key.transpose(2, 3) / 8.0, -1) @ value
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.after(x)))), key, value


def bert(tokens):
    layer = nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 4), torch.randn(1, tokens, 768)


OWN = {
    "unet": unet, "style_transfer": style, "conv3d": conv3d, "asr_encoder": asr, "conformer": conformer,
    "lstm_both_ways": lambda: (Recurrent(nn.LSTM, True), torch.randn(100, 1, 128)),
    "gru_both_ways": lambda: (Recurrent(nn.GRU, True), torch.randn(100, 1, 128)),
    "rnn": lambda: (Recurrent(nn.RNN, False), torch.randn(100, 1, 128)),
    "responses": lambda: (Responses(), torch.randn(1, 3, 224, 224)),
    "decoder_step": lambda: (Decoder(), (torch.randn(1, 1, 512), torch.randn(1, 8, 127, 64),
                                         torch.randn(1, 8, 127, 64))),
    "bert_128": lambda: bert(128), "bert_512": lambda: bert(512),
}
SIZES = {"inception_v3": 299}
# Of some, eight pictures at once, or in double: NAME-b8, NAME-f64.
VARIANTS = [f"{name}-b8" for name in ("resnet18", "mobilenet_v2", "squeezenet1_1")] + [
    f"{name}-f64" for name in ("resnet18", "bert_128", "lstm_both_ways")]
NAMES = CLASSIFIERS + SEGMENTERS + DETECTORS + list(OWN) + VARIANTS


def made(name):
    name, _, variant = name.partition("-")
    model, x = plain(name)
    if variant == "b8":
        return model, x.repeat(8, *[1] * (x.dim() - 1))
    return (model.double(), x.double()) if variant == "f64" else (model, x)


def plain(name):
    if name in OWN:
        return OWN[name]()
    if name in SEGMENTERS:
        return First(torchvision.models.get_model(name, weights=None, weights_backbone=None)), torch.randn(1, 3, 224, 224)
    if name in DETECTORS:
        model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
        return Detections(model), torch.rand(1, 3, 320, 320)
    size = SIZES.get(name, 224)
    extra = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    return torchvision.models.get_model(name, weights=None, **extra), torch.randn(1, 3, size, size)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NAMES:
        path = folder / f"{name}.onnx"
        if path.exists():
            continue
        torch.manual_seed(1)
        try:
            model, x = made(name)
            torch.onnx.export(model.eval(), x, str(path), opset_version=16)
            print(path, flush=True)
        except Exception as problem:  # what torch cannot export is no row
            print(f"{name}: not exported: {str(problem).splitlines()[0]}", file=sys.stderr)


if __name__ == "__main__":
    main()

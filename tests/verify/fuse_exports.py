#!/usr/bin/env python3
"""Attention as PyTorch's exporter writes it, of many hands: fused for ONNX Runtime, run there, and taken back.

usage: fuse_exports.py PATH_TO_INGOT [name ...]

Each model is exported, fused by `ingot optimize --fuse com.microsoft`, compared with its source in ONNX Runtime, must hold
the operators that are listed beside it, and is compared again after `convert --standard`. Exits with 77 without PyTorch
or ONNX Runtime.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)

HEADS, WIDTH, LENGTH, WORDS = 4, 32, 6, 50
EACH = WIDTH // HEADS


def heads(x, count=HEADS):
    return x.view(x.shape[0], x.shape[1], count, EACH).transpose(1, 2)


def rows(x):
    x = x.transpose(1, 2).contiguous()
    return x.view(x.shape[0], x.shape[1], WIDTH)


class Block(nn.Module):
    """An encoder's block as BERT has it: attention, sum, norm, two products with Gelu, sum, norm."""

    def __init__(self, gelu=F.gelu):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.gelu = gelu

    def attend(self, x, mask):
        scores = heads(self.q(x)) @ heads(self.k(x)).transpose(-1, -2) / math.sqrt(EACH)
        if mask is not None:
            scores = scores + mask
        return self.o(rows(scores.softmax(-1) @ heads(self.v(x))))

    def forward(self, x, mask=None):
        x = self.first(self.attend(x, mask) + x)
        return self.second(self.down(self.gelu(self.up(x))) + x)


class Bert(nn.Module):
    def __init__(self, has_segments=True, gelu=F.gelu):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(WORDS, WIDTH), nn.Embedding(16, WIDTH), nn.Embedding(2, WIDTH)
        self.register_buffer("position_ids", torch.arange(16).expand(1, -1))
        self.norm = nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(gelu) for _ in range(2))
        self.has_segments = has_segments

    def forward(self, ids, mask, kinds):
        x = self.words(ids)
        if self.has_segments:
            x = x + self.kinds(kinds)
        x = self.norm(x + self.places(self.position_ids[:, : ids.shape[1]]))
        wide = (1.0 - mask[:, None, None, :].to(torch.float32)) * -10000.0
        for block in self.blocks:
            x = block(x, wide)
        return x


def fast_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Gpt(nn.Module):
    """GPT-2's attention: one product for all three, a triangle chosen by Where, and a cache."""

    def __init__(self, has_past):
        super().__init__()
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.register_buffer("triangle", torch.tril(torch.ones(16, 16, dtype=torch.bool)).view(1, 1, 16, 16))
        self.has_past = has_past

    def forward(self, x, past_key=None, past_value=None):
        q, k, v = (heads(part) for part in self.qkv(self.first(x)).split(WIDTH, dim=2))
        if self.has_past:
            k, v = torch.cat((past_key, k), dim=2), torch.cat((past_value, v), dim=2)
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(EACH)
        n, t = q.shape[-2], k.shape[-2]
        scores = torch.where(self.triangle[:, :, t - n:t, :t], scores, torch.tensor(-1e4))
        x = x + self.o(rows(scores.softmax(-1) @ v))
        x = x + self.down(fast_gelu(self.up(self.second(x))))
        return (x, k, v) if self.has_past else x


class RootNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(WIDTH) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def turned(x):
    return torch.cat((-x[..., EACH // 2:], x[..., : EACH // 2]), dim=-1)


class Llama(nn.Module):
    """Root mean squares, rotated queries and keys, heads that share keys, SwiGLU."""

    def __init__(self, shared, angles, has_past=False):
        super().__init__()
        self.q, self.o = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.k, self.v = nn.Linear(WIDTH, shared * EACH, bias=False), nn.Linear(WIDTH, shared * EACH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.first, self.second, self.repeats = RootNorm(), RootNorm(), HEADS // shared
        steps = 1.0 / (10000 ** (torch.arange(0, EACH, 2).float() / EACH))
        self.register_buffer("steps", steps)
        all_angles = torch.outer(torch.arange(32).float(), steps)
        self.register_buffer("cosines", torch.cat((all_angles, all_angles), -1).cos())
        self.register_buffer("sines", torch.cat((all_angles, all_angles), -1).sin())
        self.angles, self.has_past, self.shared = angles, has_past, shared

    def repeated(self, x):
        if self.repeats == 1:
            return x
        b, n, s, h = x.shape
        return x[:, :, None, :, :].expand(b, n, self.repeats, s, h).reshape(b, n * self.repeats, s, h)

    def waves(self, positions):
        if self.angles == "table":
            return self.cosines[positions].unsqueeze(1), self.sines[positions].unsqueeze(1)
        angles = (self.steps[None, :, None] @ positions[:, None, :].float()).transpose(1, 2)
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)

    def forward(self, x, positions, mask, past_key=None, past_value=None):
        y = self.first(x)
        q, k, v = heads(self.q(y)), heads(self.k(y), self.shared), heads(self.v(y), self.shared)
        cos, sin = self.waves(positions)
        q, k = q * cos + turned(q) * sin, k * cos + turned(k) * sin
        if self.has_past:
            k, v = torch.cat((past_key, k), dim=2), torch.cat((past_value, v), dim=2)
        scores = q @ self.repeated(k).transpose(2, 3) / math.sqrt(EACH) + mask
        x = x + self.o(rows(F.softmax(scores, dim=-1, dtype=torch.float32) @ self.repeated(v)))
        y = self.second(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return (x, k, v) if self.has_past else x


class Cross(nn.Module):
    """A decoder that reads an encoder's rows."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x, memory):
        q, k, v = heads(self.q(x)) * EACH ** -0.5, heads(self.k(memory)), heads(self.v(memory))
        return self.o(rows((q @ k.transpose(2, 3)).softmax(-1) @ v))


class Joined(nn.Module):
    """A vision transformer's: one product, heads and parts cut off by one view."""

    def __init__(self):
        super().__init__()
        self.qkv, self.o, self.norm = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, n, 3, HEADS, EACH).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-2, -1)) * EACH ** -0.5
        return x + self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, WIDTH))


class Own(nn.Module):
    """PyTorch's own module, whose heads are rows of the batch."""

    def __init__(self):
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), nn.LayerNorm(WIDTH)

    def forward(self, x):
        return self.norm(x + self.attention(x, x, x, need_weights=False)[0])


class Spelled(nn.Module):
    """Scores of queries and keys that were each divided by a root, as scaled_dot_product_attention is exported."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x, mask):
        root = math.sqrt(1 / math.sqrt(EACH))
        q, k, v = heads(self.q(x)) * root, heads(self.k(x)), heads(self.v(x))
        scores = q @ (k.transpose(-1, -2) * root)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        return rows(scores.softmax(-1) @ v)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.norm, self.last = nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x):
        x = F.leaky_relu(self.a(x), 0.1)
        x = F.relu(self.norm(self.b(x)) + x)
        return torch.sigmoid(self.last(x.mean((2, 3))))


IDS = torch.randint(0, WORDS, (2, LENGTH))
ONES, KINDS = torch.ones(2, LENGTH, dtype=torch.int64), torch.randint(0, 2, (2, LENGTH))
X, POSITIONS = torch.randn(2, LENGTH, WIDTH), torch.arange(LENGTH).expand(2, -1)
CUT = torch.triu(torch.full((LENGTH, LENGTH), -1e9), 1)[None, None].expand(2, 1, -1, -1).contiguous()
PAST = [torch.randn(2, HEADS, 3, EACH) for _ in range(2)]
BATCH = {0: "batch", 1: "length"}
LLAMA = {"x": BATCH, "positions": BATCH, "mask": {0: "batch", 2: "length", 3: "length"}}
CACHED = ["y", "key", "value"]

# name: model, inputs, names of inputs, dynamic axes, names of outputs, operators that must come of it
MODELS = {
    "bert": (Bert(), (IDS, ONES, KINDS), ["ids", "mask", "kinds"], {n: BATCH for n in ("ids", "mask", "kinds")}, ["y"],
             {"Attention": 2, "SkipLayerNormalization": 4, "BiasGelu": 2, "EmbedLayerNormalization": 1}),
    "bert_fixed": (Bert(), (IDS, ONES, KINDS), ["ids", "mask", "kinds"], {}, ["y"],
                   {"Attention": 2, "SkipLayerNormalization": 4, "BiasGelu": 2, "EmbedLayerNormalization": 1}),
    "distilbert": (Bert(False, fast_gelu), (IDS, ONES, KINDS), ["ids", "mask", "kinds"], {}, ["y"],
                   {"Attention": 2, "SkipLayerNormalization": 4, "FastGelu": 2, "EmbedLayerNormalization": 1}),
    "gpt": (Gpt(False), (X,), ["x"], {"x": BATCH}, ["y"], {"Attention": 1, "SkipLayerNormalization": 1, "FastGelu": 1}),
    "gpt_past": (Gpt(True), (X, *PAST), ["x", "past_key", "past_value"],
                 {"x": BATCH, "past_key": {0: "batch", 2: "past"}, "past_value": {0: "batch", 2: "past"}}, CACHED,
                 {"MultiHeadAttention": 1, "SkipLayerNormalization": 1}),
    "llama": (Llama(HEADS, "computed"), (X, POSITIONS, CUT), ["x", "positions", "mask"], LLAMA, ["y"],
              {"MultiHeadAttention": 1, "RotaryEmbedding": 2, "SimplifiedLayerNormalization": 1,
               "SkipSimplifiedLayerNormalization": 1, "QuickGelu": 1}),
    "llama_shared": (Llama(2, "computed"), (X, POSITIONS, CUT), ["x", "positions", "mask"], {}, ["y"],
                     {"GroupQueryAttention": 1, "RotaryEmbedding": 2}),
    "llama_table": (Llama(2, "table"), (X, POSITIONS, CUT), ["x", "positions", "mask"], LLAMA, ["y"],
                    {"GroupQueryAttention": 1, "RotaryEmbedding": 2}),
    "llama_past": (Llama(2, "table", True), (X[:1, :1], POSITIONS[:1, 3:4], torch.zeros(1, 1, 1, 4),
                                             PAST[0][:1, :2], PAST[1][:1, :2]),
                   ["x", "positions", "mask", "past_key", "past_value"],
                   {"past_key": {2: "past"}, "past_value": {2: "past"}, "mask": {3: "all"}}, CACHED,
                   {"GroupQueryAttention": 1, "RotaryEmbedding": 2}),
    "cross": (Cross(), (X, torch.randn(2, 9, WIDTH)), ["x", "memory"], {"x": BATCH, "memory": {0: "batch", 1: "rows"}},
              ["y"], {"MultiHeadAttention": 1}),
    "joined": (Joined(), (X,), ["x"], {"x": {0: "batch"}}, ["y"], {"MultiHeadAttention": 1}),
    "own": (Own(), (X,), ["x"], {}, ["y"], {"MultiHeadAttention": 1, "SkipLayerNormalization": 1}),
    "spelled": (Spelled(), (X, ONES[:, None, None, :]), ["x", "mask"], {"x": BATCH, "mask": {0: "batch", 3: "length"}},
                ["y"], {"Attention": 1}),
    "convolutions": (Convolutions(), (torch.randn(2, 3, 8, 8),), ["x"], {"x": {0: "batch"}}, ["y"],
                     {"FusedConv": 2, "FusedGemm": 1}),
}


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def export(name, file):
    model, inputs, names, axes, outputs, _ = MODELS[name]
    for part in model.modules():
        if isinstance(part, nn.LayerNorm):  # as after training
            nn.init.uniform_(part.weight, 0.5, 1.5)
            nn.init.uniform_(part.bias)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model.eval(), inputs, file, input_names=names, output_names=outputs, dynamic_axes=axes,
                          opset_version=14)


def sizes(name):
    _, inputs, names, axes, _, _ = MODELS[name]
    return [option for key, value in zip(names, inputs) if key in axes
            for option in ("--input-shape", f"{key}:{','.join(map(str, value.shape))}")]


def problem_of(ingot, name, folder):
    source, fused, plain = (f"{folder}/{name}{end}.onnx" for end in ("", "_fused", "_plain"))
    export(name, source)
    done = run(ingot, "optimize", source, "-o", fused, "--fuse", "com.microsoft", "--with", "ort", "--json", *sizes(name))
    if done.returncode not in (0, 1):
        return done.stderr.strip()
    answer = json.loads(done.stdout)["verification"]
    if answer.get("answer") != "same":
        return json.dumps(answer)[:1500]
    found = json.loads(run(ingot, "inspect", fused, "--json").stdout)["operators"]
    made = {operator.rpartition(".")[2]: count for operator, count in found.items()}
    for operator, count in MODELS[name][-1].items():
        if made.get(operator, 0) != count:
            return f"has {made.get(operator, 0)} x {operator}, not {count}: {found}"
    done = run(ingot, "convert", fused, "-o", plain, "--standard")
    if done.returncode != 0:
        return done.stderr.strip()
    done = run(ingot, "verify", source, plain, "--with", "ort", "--no-bisect", *sizes(name))
    return "" if done.returncode == 0 else "taken back: " + (done.stdout + done.stderr)[-1500:]


def main():
    peers = pathlib.Path(__file__).resolve().parents[2] / "build/peers/node_modules"
    if not os.environ.setdefault("INGOT_PEERS", str(peers) if peers.is_dir() else ""):
        print("ONNX Runtime is not installed: script/bootstrap installs it, INGOT_PEERS names its folder")
        sys.exit(77)
    torch.manual_seed(1)
    wrong = 0
    for name in sys.argv[2:] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            problem = problem_of(sys.argv[1], name, os.environ.get("FUSE_KEEP", folder))
        print(f"{name}: {problem or 'fused, equal, and taken back'}", flush=True)
        wrong += bool(problem)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

# Networks as they are met: the patterns of language models, detectors and the rest. Read by cases.py. Inputs are named
# x0, x1 ... so that scripted ones can be fed too.
from typing import Dict, List, NamedTuple, Optional, Tuple
import math


class Bert(nn.Module):
    """Masks that are added, positions from a buffer, a pooled first token."""
    def __init__(self, width=16, heads=2, layers=2):
        super().__init__()
        self.heads = heads
        self.words, self.places, self.kinds = nn.Embedding(30, width), nn.Embedding(12, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.register_buffer("position_ids", torch.arange(12).expand((1, -1)))
        self.layers = nn.ModuleList(nn.ModuleDict({n: nn.Linear(width, width) for n in ("q", "k", "v", "o")}) for _ in range(layers))
        self.wide, self.narrow, self.pooler = nn.Linear(width, 32), nn.Linear(32, width), nn.Linear(width, width)

    def split(self, a):
        return a.view(a.size()[:-1] + (self.heads, a.size(-1) // self.heads)).permute(0, 2, 1, 3)

    def forward(self, x0, x1):
        length = x0.size()[1]
        mask = (1.0 - x1[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min
        h = self.words(x0) + self.places(self.position_ids[:, :length]) + self.kinds(torch.zeros_like(x0))
        h = self.norm(h)
        for layer in self.layers:
            q, k, v = self.split(layer["q"](h)), self.split(layer["k"](h)), self.split(layer["v"](h))
            p = F.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)) + mask, dim=-1)
            made = torch.matmul(p, v).permute(0, 2, 1, 3).contiguous()
            h = self.norm(h + layer["o"](made.view(made.size()[:-2] + (-1,))))
            h = self.norm(h + self.narrow(F.gelu(self.wide(h))))
        return {"last_hidden_state": h, "pooler_output": torch.tanh(self.pooler(h[:, 0]))}


class Gpt(nn.Module):
    """A causal mask cut from a buffer, a fused projection as a matrix product, a tied head."""
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads, self.width = heads, width
        self.wte, self.wpe = nn.Embedding(30, width), nn.Embedding(12, width)
        self.weight, self.bias = nn.Parameter(torch.rand(width, 3 * width) - 0.5), nn.Parameter(torch.zeros(3 * width))
        self.register_buffer("mask", torch.tril(torch.ones((12, 12), dtype=torch.uint8)).view(1, 1, 12, 12))
        self.norm = nn.LayerNorm(width)

    def forward(self, x0):
        b, n = x0.shape
        places = torch.arange(0, n, dtype=torch.long, device=x0.device).unsqueeze(0).view(-1, n)
        h = self.wte(x0) + self.wpe(places)
        mixed = torch.addmm(self.bias, self.norm(h).view(-1, self.width), self.weight).view(b, n, 3 * self.width)
        q, k, v = (t.view(b, n, self.heads, -1).permute(0, 2, 1, 3) for t in mixed.split(self.width, dim=2))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / torch.full([], v.size(-1) ** 0.5, dtype=scores.dtype)
        causal = self.mask[:, :, k.size(-2) - q.size(-2) : k.size(-2), : k.size(-2)].bool()
        least = torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype)
        scores = torch.where(causal, scores, least)
        h = h + torch.matmul(F.softmax(scores, dim=-1), v).permute(0, 2, 1, 3).reshape(b, n, -1)
        h = 0.5 * h * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * torch.pow(h, 3.0))))
        return F.linear(h, self.wte.weight)


class RelativeBias(nn.Module):
    """T5's buckets of distances, and its norm."""
    def __init__(self):
        super().__init__()
        self.bias, self.weight = nn.Embedding(8, 2), nn.Parameter(torch.rand(6))

    def forward(self, x0):
        n = x0.shape[1]
        off = torch.arange(n)[None, :] - torch.arange(n)[:, None]
        buckets = (off > 0).to(torch.long) * 4
        off = torch.abs(off)
        large = 2 + (torch.log(off.float() / 2) / math.log(16 / 2) * 2).to(torch.long)
        large = torch.min(large, torch.full_like(large, 3))
        buckets += torch.where(off < 2, off, large)
        h = self.weight * (x0 * torch.rsqrt(x0.pow(2).mean(-1, keepdim=True) + 1e-6))
        return self.bias(buckets).permute([2, 0, 1]).unsqueeze(0), h


class Llama(nn.Module):
    """Rotary halves, grouped heads, a gated product."""
    def __init__(self, width=16):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(width, 16, False), nn.Linear(width, 8, False), nn.Linear(width, 8, False), nn.Linear(16, width, False)
        self.gate, self.up, self.down = nn.Linear(width, 24, False), nn.Linear(width, 24, False), nn.Linear(24, width, False)
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, 4, 2).float() / 4)))

    def forward(self, x0):
        b, n, _ = x0.shape
        q = self.q(x0).view(b, n, 4, 4).transpose(1, 2)
        k = self.k(x0).view(b, n, 2, 4).transpose(1, 2)
        v = self.v(x0).view(b, n, 2, 4).transpose(1, 2)
        places = torch.arange(n, device=x0.device)[None, :]
        freqs = (self.inv_freq[None, :, None].float().expand(1, -1, 1) @ places[:, None, :].float()).transpose(1, 2)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[:, None], emb.sin()[:, None]
        turn = lambda t: torch.cat((-t[..., t.shape[-1] // 2 :], t[..., : t.shape[-1] // 2]), dim=-1)
        q, k = q * cos + turn(q) * sin, k * cos + turn(k) * sin
        k, v = (t[:, :, None].expand(b, 2, 2, n, 4).reshape(b, 4, n, 4) for t in (k, v))
        mask = torch.triu(torch.full((n, n), torch.finfo(x0.dtype).min), diagonal=1)
        p = F.softmax(q @ k.transpose(2, 3) / math.sqrt(4) + mask[None, None], dim=-1, dtype=torch.float32).to(q.dtype)
        h = x0 + self.o((p @ v).transpose(1, 2).contiguous().view(b, n, -1))
        return h + self.down(F.silu(self.gate(h)) * self.up(h))


def block(i, o, k=3, s=1):
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o), nn.SiLU(inplace=True))


class YoloFive(nn.Module):
    """Anchors and grids, sizes written into slices."""
    def __init__(self):
        super().__init__()
        self.stem, self.deep = block(3, 8, 6, 2), block(8, 16, 3, 2)
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.up = nn.Upsample(None, 2, "nearest")
        self.heads = nn.ModuleList([nn.Conv2d(24, 21, 1), nn.Conv2d(16, 21, 1)])
        self.register_buffer("anchors", torch.rand(2, 3, 2) * 4)

    def forward(self, x0):
        a = self.stem(x0)
        b = self.deep(a)
        b = torch.cat([b[:, :8], self.pool(b)[:, 8:]], 1)
        z = []
        for i, h in enumerate([torch.cat([a[..., : a.shape[2] // 2 * 2, : a.shape[3] // 2 * 2], self.up(b)[..., : a.shape[2] // 2 * 2, : a.shape[3] // 2 * 2]], 1), b]):
            h = self.heads[i](h)
            bs, _, ny, nx = h.shape
            h = h.view(bs, 3, 7, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
            grid = torch.stack((xv, yv), 2).expand(1, 3, ny, nx, 2).float() - 0.5
            y = h.sigmoid()
            y[..., 0:2] = (y[..., 0:2] * 2 + grid) * (8.0 * (i + 1))
            y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * (self.anchors[i] * 8).view((1, 3, 1, 1, 2)).expand((1, 3, ny, nx, 2))
            z.append(y.view(bs, -1, 7))
        return torch.cat(z, 1)


class YoloEight(nn.Module):
    """Boxes as distributions: softmax over bins, distances to boxes."""
    def __init__(self):
        super().__init__()
        self.body, self.more = block(3, 8, 3, 2), block(8, 8, 3, 2)
        self.box, self.kind = nn.Conv2d(8, 64, 1), nn.Conv2d(8, 5, 1)
        self.dfl = nn.Conv2d(16, 1, 1, bias=False).requires_grad_(False)
        self.dfl.weight.data[:] = torch.arange(16, dtype=torch.float).view(1, 16, 1, 1)

    def forward(self, x0):
        a = self.body(x0)
        maps = [a, self.more(a)]
        flat = torch.cat([torch.cat((self.box(m), self.kind(m)), 1).view(x0.shape[0], 69, -1) for m in maps], 2)
        box, kind = flat.split((64, 5), 1)
        points, strides = [], []
        for i, m in enumerate(maps):
            h, w = m.shape[2:]
            sy, sx = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
            points.append(torch.stack((sx, sy), -1).view(-1, 2))
            strides.append(torch.full((h * w, 1), 2.0 ** (i + 1)))
        points, strides = torch.cat(points).transpose(0, 1), torch.cat(strides).transpose(0, 1)
        b, _, n = box.shape
        box = self.dfl(box.view(b, 4, 16, n).transpose(2, 1).softmax(1)).view(b, 4, n)
        lt, rb = box.chunk(2, 1)
        low, high = points.unsqueeze(0) - lt, points.unsqueeze(0) + rb
        box = torch.cat(((low + high) / 2, high - low), 1) * strides
        return torch.cat((box, kind.sigmoid()), 1), maps


class UNet(nn.Module):
    """Skips that are resized or padded to fit."""
    def __init__(self):
        super().__init__()
        self.down, self.deep = block(1, 4), block(4, 8)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.last = nn.Conv2d(8, 2, 1)

    def forward(self, x0):
        a = self.down(x0)
        b = self.up(self.deep(F.max_pool2d(a, 2)))
        dy, dx = a.size(2) - b.size(2), a.size(3) - b.size(3)
        b = F.pad(b, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return F.interpolate(self.last(torch.cat([a, b], dim=1)), size=x0.shape[-2:], mode="bilinear", align_corners=False)


class Swin(nn.Module):
    """Windows that are shifted, a table of relative places, a mask of regions."""
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(8, 24), nn.Linear(8, 8)
        self.table = nn.Parameter(torch.rand(9, 2))
        coords = torch.stack(torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij")).flatten(1)
        off = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + 1
        self.register_buffer("index", (off[..., 0] * 3 + off[..., 1]))

    def forward(self, x0):
        b, h, w, c = x0.shape
        mask = torch.zeros((1, h, w, 1))
        count = 0
        for rows in (slice(0, -2), slice(-2, -1), slice(-1, None)):
            for columns in (slice(0, -2), slice(-2, -1), slice(-1, None)):
                mask[:, rows, columns, :] = count
                count += 1
        parts = mask.view(1, h // 2, 2, w // 2, 2, 1).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4)
        mask = (parts.unsqueeze(1) - parts.unsqueeze(2))
        mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
        y = torch.roll(x0, shifts=(-1, -1), dims=(1, 2))
        y = y.view(b, h // 2, 2, w // 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, c)
        q, k, v = self.qkv(y).reshape(-1, 4, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        scores = (q * 0.5) @ k.transpose(-2, -1) + self.table[self.index.view(-1)].view(4, 4, -1).permute(2, 0, 1).unsqueeze(0)
        scores = (scores.view(b, -1, 2, 4, 4) + mask.unsqueeze(1).unsqueeze(0)).view(-1, 2, 4, 4)
        y = self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, 4, c))
        y = y.view(b, h // 2, w // 2, 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(y, shifts=(1, 1), dims=(1, 2))


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.turn = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 16, 1), nn.Linear(16, 9)
        self.bn = nn.BatchNorm1d(8)

    def forward(self, x0):
        a = torch.max(self.two(F.relu(self.bn(self.one(x0)))), 2, keepdim=True)[0].view(-1, 16)
        turn = self.turn(a) + torch.eye(3).view(1, 9).repeat(x0.size(0), 1)
        return torch.bmm(x0.transpose(2, 1), turn.view(-1, 3, 3)).transpose(2, 1)


class Dlrm(nn.Module):
    """Bags of features and their products with each other."""
    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(10, 4, mode="sum") for _ in range(2))
        self.dense = nn.Linear(5, 4)

    def forward(self, x0, x1, x2):
        all = torch.cat([self.dense(x0).unsqueeze(1)] + [bag(x1[i], x2[i]).unsqueeze(1) for i, bag in enumerate(self.bags)], 1)
        z = torch.bmm(all, all.transpose(1, 2))
        i, j = torch.tensor([1, 2, 2]), torch.tensor([0, 0, 1])
        return torch.cat([self.dense(x0), z[:, i, j]], 1)


class GraphConv(nn.Module):
    """Messages along edges, added where they arrive."""
    def __init__(self):
        super().__init__()
        self.own, self.other = nn.Linear(4, 6), nn.Linear(4, 6)

    def forward(self, x0, x1):
        source, target = x1[0], x1[1]
        sums = torch.zeros(x0.size(0), x0.size(1)).index_add_(0, target, x0[source])
        degree = torch.zeros(x0.size(0)).scatter_add_(0, target, torch.ones(target.size(0))).clamp(min=1)
        return F.elu(self.own(x0) + self.other(sums / degree.unsqueeze(-1)))


class Experts(nn.Module):
    """The two best of four, weighed."""
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 4)
        self.experts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))

    def forward(self, x0):
        weights, chosen = torch.topk(F.softmax(self.gate(x0), dim=-1), 2)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x0)
        for i, expert in enumerate(self.experts):
            share = (weights * (chosen == i)).sum(-1, keepdim=True)
            out = out + share * expert(x0)
        return out


class Crnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(1, 4, 3, 1, 1), nn.BatchNorm2d(4), nn.LeakyReLU(0.2), nn.MaxPool2d((4, 1)))
        self.rnn = nn.LSTM(8, 6, 2, bidirectional=True)
        self.head = nn.Linear(12, 5)

    def forward(self, x0):
        y = self.cnn(x0)
        b, c, h, w = y.size()
        y = y.permute(3, 0, 1, 2).reshape(w, b, c * h)
        y, _ = self.rnn(y)
        return F.log_softmax(self.head(y), 2)


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.utils.weight_norm(nn.Conv1d(1, 8, 1))
        self.dilated = nn.ModuleList(nn.utils.weight_norm(nn.Conv1d(4, 8, 2, dilation=2 ** i)) for i in range(3))
        self.last = nn.Conv1d(4, 2, 1)

    def forward(self, x0):
        h = F.glu(self.first(x0), 1)
        skip = 0
        for i, conv in enumerate(self.dilated):
            y = conv(F.pad(h, (2 ** i, 0)))
            a, b = y.chunk(2, 1)
            h = h + torch.tanh(a) * torch.sigmoid(b)
            skip = skip + h
        return self.last(F.relu(skip))


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.act = nn.Conv2d(3, 12, 3, 1, 1), nn.PReLU(12)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x0):
        y = self.shuffle(self.act(self.body(x0 / 255.0 - 0.5)))
        return ((y + F.interpolate(x0, scale_factor=2, mode="bicubic", align_corners=False)) * 255).clamp(0, 255).round().to(torch.uint8)


class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad, self.conv, self.norm = nn.ReflectionPad2d(4), nn.Conv2d(3, 4, 9), nn.InstanceNorm2d(4, affine=True)

    def forward(self, x0):
        y = F.relu(self.norm(self.conv(self.pad(x0))))
        return torch.einsum("bchw,bdhw->bcd", y, y) / (y.shape[2] * y.shape[3])


class Matching(nn.Module):
    def forward(self, x0, x1):
        a, b = F.normalize(x0, dim=-1), F.normalize(x1, dim=-1)
        similarity = a @ b.t()
        best = similarity.argmax(1)
        return similarity, best, F.cosine_similarity(x0, x1), (a - b[best]).pow(2).sum(1).sqrt()


class Preprocess(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406])[None, :, None, None])
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x0):
        y = x0.permute(0, 3, 1, 2).float().div(255).sub_(self.mean)
        scores = self.conv(y).mean((2, 3)).softmax(1)
        values, indices = scores.topk(2)
        return values, indices.to(torch.int32)


class Result(NamedTuple):
    scores: torch.Tensor
    boxes: torch.Tensor


class Detector(nn.Module):
    """What scripted detectors do: lists, dictionaries, optional values, a NamedTuple."""
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3, 4, 3, 1, 1), nn.Conv2d(4, 4, 3, 2, 1)])
        self.scales: Dict[str, float] = {"0": 1.0, "1": 2.0}
        self.sizes: List[int] = [4, 8]

    def anchors(self, h: int, w: int, size: int, stride: float) -> torch.Tensor:
        ys, xs = torch.arange(0, h, dtype=torch.float32) * stride, torch.arange(0, w, dtype=torch.float32) * stride
        gy, gx = torch.meshgrid([ys, xs], indexing="ij")
        c = torch.stack([gx.reshape(-1), gy.reshape(-1)], dim=1)
        return torch.cat([c - size / 2, c + size / 2], dim=1)

    def features(self, a: torch.Tensor) -> Dict[str, torch.Tensor]:
        out: Dict[str, torch.Tensor] = {}
        for i, conv in enumerate(self.convs):
            a = torch.relu(conv(a))
            out[str(i)] = a
        return out

    def forward(self, x0: torch.Tensor, threshold: Optional[float] = None) -> Result:
        maps = list(self.features(x0).values())
        boxes: List[torch.Tensor] = []
        scores: List[torch.Tensor] = []
        for i in range(len(maps)):
            m = maps[i]
            boxes.append(self.anchors(m.shape[2], m.shape[3], self.sizes[i], 2.0 ** i))
            scores.append(m.permute(0, 2, 3, 1).flatten(1, 2).max(dim=2)[0])
        s, b = torch.cat(scores, dim=1), torch.cat(boxes)
        if threshold is not None:
            s = torch.where(s > threshold, s, torch.zeros_like(s))
        limit = min(6, s.shape[1])
        top, idx = s.topk(limit, dim=1)
        if not torch.jit.is_scripting():
            raise RuntimeError("never")
        picked = b[idx.view(-1)].view(x0.shape[0], limit, 4)
        picked[..., 0::2] = picked[..., 0::2].clamp(min=0, max=float(x0.shape[3]))
        return Result(top, picked)


class Decoder(nn.Module):
    """A loop that feeds on itself, until the length is reached."""
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(9, 6), nn.GRUCell(6, 6), nn.Linear(6, 9)

    def forward(self, x0: torch.Tensor, steps: int = 4) -> Tuple[torch.Tensor, torch.Tensor]:
        token = torch.zeros(x0.size(0), dtype=torch.long)
        h = x0
        out: List[torch.Tensor] = []
        for i in range(steps):
            h = self.cell(self.embed(token), h)
            logits = self.head(h)
            token = logits.argmax(dim=1)
            out.append(logits)
        return torch.stack(out, dim=1), token


class Stepwise(nn.Module):
    """A loop over a dynamic axis, with a state."""
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x0: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(x0.size(1), 3)
        out = []
        for i in range(x0.size(0)):
            h = torch.tanh(self.lin(x0[i]) + h)
            out.append(h)
        return torch.stack(out)


torch.manual_seed(5)
tokens, mask = i64(2, 7, high=30), torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
for name, module, inputs, kinds in (
    ("bert", Bert(), [tokens, mask], "t"),
    ("gpt", Gpt(), [tokens], "t"),
    ("relative_bias", RelativeBias(), [x(2, 7, 6)], "t"),
    ("llama", Llama(), [x(2, 5, 16)], "t"),
    ("yolo5", YoloFive(), [x(1, 3, 32, 32)], "t"),
    ("yolo8", YoloEight(), [x(1, 3, 32, 32)], "t"),
    ("unet", UNet(), [x(1, 1, 15, 17)], "ts"),
    ("swin", Swin(), [x(2, 4, 4, 8)], "t"),
    ("pointnet", PointNet(), [x(2, 3, 9)], "ts"),
    ("dlrm", Dlrm(), [x(3, 5), i64(2, 6, high=10), torch.tensor([[0, 2, 4], [0, 1, 5]])], "t"),
    ("graph_conv", GraphConv(), [x(5, 4), i64(2, 8)], "ts"),
    ("experts", Experts(), [x(3, 6)], "t"),
    ("crnn", Crnn(), [x(2, 1, 8, 12)], "ts"),
    ("wavenet", WaveNet(), [x(1, 1, 20)], "t"),
    ("super_resolution", SuperResolution(), [x(1, 3, 6, 6, low=0.0, high=255.0)], "t"),
    ("style", Style(), [x(1, 3, 12, 12)], "ts"),
    ("matching", Matching(), [x(4, 6), x(4, 6, low=-1.0)], "ts"),
    ("preprocess", Preprocess(), [i64(1, 8, 8, 3, high=256).to(torch.uint8)], "t"),
    ("detector", Detector(), [x(1, 3, 8, 8)], "s"),
    ("decoder", Decoder(), [x(2, 6)], "s"),
    ("stepwise", Stepwise(), [x(5, 2, 3)], "s"),
    ("transformer", nn.Transformer(8, 2, 1, 1, 16, batch_first=True), [x(2, 5, 8), x(2, 3, 8)], "t"),
    ("encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True), 2), [x(2, 5, 8)], "t"),
):
    module.eval()
    if "t" in kinds:
        case(f"typical_{name}_traced", module, *inputs)
        if name in ("bert", "gpt", "llama", "unet", "pointnet", "crnn", "super_resolution"):
            case(f"typical_{name}_dynamic", module, *inputs, dynamic=True)
    if "s" in kinds:
        scripted(f"typical_{name}_scripted", None, *inputs, module=module)
        if name in ("detector", "decoder", "stepwise", "unet", "crnn"):
            scripted(f"typical_{name}_scripted_dynamic", None, *inputs, module=module, dynamic=True)

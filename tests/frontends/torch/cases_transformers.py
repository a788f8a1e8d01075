# Transformers as people write them, and what stands around them. Read by cases.py.
class Encoder(nn.Module):
    """BERT's, with a mask, in plain PyTorch."""

    def __init__(self, width=16, heads=2, layers=2):
        super().__init__()
        self.words, self.places, self.heads = nn.Embedding(50, width), nn.Embedding(32, width), heads
        self.norm, self.pool = nn.LayerNorm(width, eps=1e-12), nn.Linear(width, width)
        for kind, (a, b) in {"query": (1, 1), "key": (1, 1), "value": (1, 1), "out": (1, 1), "up": (1, 4), "down": (4, 1)}.items():
            setattr(self, kind, nn.ModuleList([nn.Linear(a * width, b * width) for _ in range(layers)]))
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2 * layers)])
        self.register_buffer("ids", torch.arange(32).expand((1, -1)))

    def split(self, y):
        return y.view(y.size(0), y.size(1), self.heads, y.size(2) // self.heads).permute(0, 2, 1, 3)

    def forward(self, x0, x1):
        y = self.norm(self.words(x0) + self.places(self.ids[:, : x0.size(1)]))
        mask = (1.0 - x1[:, None, None, :].to(y.dtype)) * -10000.0
        for i, (q, k, v, o, up, down) in enumerate(zip(self.query, self.key, self.value, self.out, self.up, self.down)):
            scores = self.split(q(y)) @ self.split(k(y)).transpose(-1, -2) / 8**0.5
            seen = (torch.softmax(scores + mask, -1) @ self.split(v(y))).permute(0, 2, 1, 3).contiguous()
            y = y + o(seen.view(seen.size(0), seen.size(1), -1))
            y = y + down(F.gelu(up(y)))
        for norm in self.norms:
            y = norm(y)
        return y, torch.tanh(self.pool(y[:, 0]))


class Decoder(nn.Module):
    """GPT-2's with keys and values of earlier steps: x1 is [2, batch, heads, steps, features]."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.words, self.places, self.heads = nn.Embedding(50, width), nn.Embedding(32, width), heads
        self.attend, self.out, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)
        self.head = nn.Linear(width, 50, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("causal", torch.tril(torch.ones(32, 32, dtype=torch.bool)).view(1, 1, 32, 32))

    def forward(self, x0, x1):
        past, steps = x1.size(-2), x0.size(-1)
        places = torch.arange(past, past + steps, dtype=torch.long, device=x0.device).unsqueeze(0).view(-1, steps)
        y = self.words(x0) + self.places(places)
        q, k, v = self.attend(self.norm(y)).split(16, dim=2)
        shape = (y.size(0), steps, self.heads, 8)
        q, k, v = q.view(shape).permute(0, 2, 1, 3), k.view(shape).permute(0, 2, 1, 3), v.view(shape).permute(0, 2, 1, 3)
        k, v = torch.cat((x1[0], k), dim=-2), torch.cat((x1[1], v), dim=-2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / 8**0.5
        seen = self.causal[:, :, past : past + steps, : past + steps]
        scores = torch.softmax(torch.where(seen, scores, torch.full_like(scores, -1e4)), dim=-1)
        y = y + self.out(torch.matmul(scores, v).permute(0, 2, 1, 3).contiguous().view(y.size(0), steps, 16))
        return self.head(y), torch.stack([k, v])


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.inner = nn.MultiheadAttention(16, 4, batch_first=True, **options)

    def forward(self, x0, x1):
        return self.inner(x0, x0, x0, key_padding_mask=x1 > 0.5)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu", norm_first=True)
        self.inner = nn.TransformerEncoder(layer, 2)

    def forward(self, x0, x1):
        return self.inner(x0, src_key_padding_mask=x1 > 0.5)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Transformer(16, 2, 2, 2, 32, batch_first=True)

    def forward(self, x0, x1):
        later = torch.triu(torch.full((x1.size(1), x1.size(1)), float("-inf")), diagonal=1)
        return self.inner(x0, x1, tgt_mask=later)


for kind, module, inputs, is_dynamic in (
    ("bert", Encoder, (i64(2, 7, high=50), torch.tensor([[1] * 7, [1] * 4 + [0] * 3])), True),
    ("gpt", Decoder, (i64(2, 4, high=50), x(2, 2, 2, 3, 8)), False),
    ("attention", Attention, (x(2, 5, 16), torch.tensor([[0.0, 0, 0, 1, 1], [0, 0, 0, 0, 1]])), True),
    ("attention_kv", lambda: Attention(add_bias_kv=True, add_zero_attn=True), (x(2, 5, 16), torch.zeros(2, 5)), True),
    ("encoder", Stack, (x(2, 5, 16), torch.tensor([[0.0, 0, 0, 1, 1], [0, 0, 0, 0, 1]])), True),
    ("translator", Translator, (x(2, 5, 16), x(2, 4, 16)), True),
):
    if wanted in f"people_{kind}":
        torch.manual_seed(3)
        made = module().eval()
        case(f"people_{kind}_traced", made, *inputs, dynamic=is_dynamic)
        scripted(f"people_{kind}_scripted", None, *inputs, dynamic=is_dynamic, module=made)

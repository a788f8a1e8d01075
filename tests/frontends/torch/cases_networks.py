# Whole networks. Read by cases.py.
class Residual(nn.Module):
    def __init__(self, width, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width * stride, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width * stride)
        self.conv2 = nn.Conv2d(width * stride, width * stride, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width * stride)
        self.relu = nn.ReLU(inplace=True)
        self.down = nn.Sequential(nn.Conv2d(width, width * stride, 1, stride, bias=False), nn.BatchNorm2d(width * stride)) if stride > 1 else None

    def forward(self, x0):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x0)))))
        skip = x0
        if self.down is not None:
            skip = self.down(x0)
        y += skip
        return self.relu(y)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(Residual(8), Residual(8, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(16, 5)

    def forward(self, x0):
        y = self.pool(self.blocks(self.stem(x0)))
        return self.head(torch.flatten(y, 1))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 5, batch_first=True, bidirectional=True)
        self.head = nn.Linear(10, 3)

    def forward(self, x0):
        y, _ = self.lstm(self.embedding(x0))
        return F.log_softmax(self.head(y), dim=-1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x0):
        b, n, c = x0.shape
        q, k, v = self.qkv(x0).reshape(b, n, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * (c // 2) ** -0.5).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, c))


torch.manual_seed(3)
for name, module, inputs in (
    ("residual", Network(), [x(2, 3, 32, 32)]),
    ("tagger", Tagger(), [i64(2, 6, high=11)]),
    ("attention", Attention(), [x(2, 5, 8)]),
    ("mlp", nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.1), nn.Linear(8, 2)), [x(3, 4)]),
    ("autoencoder", nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 1, 3, 2, 1, 1), nn.Sigmoid()), [x(1, 1, 8, 8)]),
    ("multihead", nn.MultiheadAttention(8, 2, batch_first=True), [x(2, 5, 8), x(2, 5, 8, low=-1), x(2, 5, 8, low=0)]),
    ("encoder_layer", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True), [x(2, 5, 8)]),
):
    module.eval()
    case(f"network_{name}_traced", module, *inputs)
    if name in ("residual", "tagger", "attention"):
        scripted(f"network_{name}_scripted", None, *inputs, module=module, dynamic=True)

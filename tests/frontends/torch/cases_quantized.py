# Quantised networks, as PyTorch's own tools make them. Read by cases.py. Their results are multiples of a scale, and
# where two ways to add come out on different sides of a half, they are one of them apart.
if "qnnpack" in torch.backends.quantized.supported_engines:
    torch.backends.quantized.engine = "qnnpack"
    import torch.ao.quantization as tq

    def calibrated(module, example):
        module.eval()
        module.qconfig = tq.get_default_qconfig("qnnpack")
        wrapped = tq.QuantWrapper(module)
        wrapped.qconfig = module.qconfig
        prepared = tq.prepare(wrapped)
        with torch.no_grad():
            for seed in range(3):
                torch.manual_seed(seed)
                prepared(example + torch.rand_like(example) * 0.1)
        return tq.convert(prepared)

    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 1)
            self.add = nn.quantized.FloatFunctional()

        def forward(self, a):
            return self.add.add_relu(self.one(a), self.two(a))

    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, stride=2, groups=1)
            self.join = nn.quantized.FloatFunctional()

        def forward(self, a):
            y = self.conv(a)
            return self.join.cat([y, F.relu(y)], 1)

    class Renamed(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x0):
            return self.inner(x0)

    picture = x(1, 3, 8, 8)
    torch.manual_seed(11)
    for name, module, example in (
        ("conv", nn.Sequential(nn.Conv2d(3, 4, 3)), picture),
        ("conv_relu_pool", nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)), picture),
        ("mean_linear", nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3)), picture),
        ("linear", nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4)), x(3, 6)),
        ("hardswish", nn.Sequential(nn.Conv2d(3, 4, 1), nn.Hardswish()), picture),
        ("add", Sum(), picture),
        ("cat", Parts(), picture),
        ("depthwise", nn.Sequential(nn.Conv2d(3, 6, 3, groups=3), nn.ReLU()), picture),
    ):
        if wanted in f"quantized_{name}":
            made = calibrated(module, example)
            case(f"quantized_{name}_traced", made, example)
            scripted(f"quantized_{name}_scripted", None, example, module=Renamed(made))
    made = tq.quantize_dynamic(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), {nn.Linear}, dtype=torch.qint8)
    case("quantized_dynamic_linear", made, x(2, 6))
    for name, kind in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        torch.manual_seed(5)
        made = tq.quantize_dynamic(nn.Sequential(kind(6, 8, 2, batch_first=True, bidirectional=True)), {kind}, dtype=torch.qint8)
        case(f"quantized_dynamic_{name}", made, x(2, 5, 6))
        scripted(f"quantized_dynamic_{name}_scripted", None, x(2, 5, 6), module=Renamed(made))
    case("quantized_tensor", lambda a: torch.quantize_per_tensor(a, 0.1, 10, torch.quint8).dequantize(), x(3, 4))
    case("quantized_channels", lambda a: torch.quantize_per_channel(a, torch.tensor([0.1, 0.05, 0.2]), torch.tensor([0, 3, -5]), 0, torch.qint8).dequantize(), x(3, 4))
    case("quantized_integers", lambda a: torch.quantize_per_tensor(a, 0.1, 10, torch.quint8).int_repr(), x(3, 4))

# Rows of the table that only TorchScript's code calls, or that no other case does. Read by cases.py.
def shown(name, source, *inputs, **kwargs):
    scripted(f"row_{name}", "def forward(self, " + ", ".join(f"x{i}" for i in range(len(inputs))) + "):\n" + source + "\n", *inputs, **kwargs)


# What code asks of a tensor without computing with it.
for question in ("torch.is_complex(x0)", "torch.is_floating_point(x0)", "x0.is_contiguous()", "torch.is_nonzero(x0[0, 0])",
                 "torch.is_same_size(x0, x1)", "x0.is_signed()", "torch.is_conj(x0)", "torch.is_neg(x0)", "torch.is_inference(x0)"):
    label = question.split("(")[0].split(".")[-1]
    shown(label, f"    if {question}:\n        return x0 + 1\n    return x0 * 2 + x1", x(2, 3), x(2, 3))
shown("stride", "    return x0 * x0.stride(0) + x0.storage_offset()", x(2, 3))
shown("result_type", "    return x0.to(torch.result_type(x0, x1))", i64(3), x(3))
shown("data", "    return x0.data * 2", x(2, 3))
shown("requires_grad", "    return x0.clone().requires_grad_(False) * 2", x(2, 3))
shown("equal", "    if torch.equal(x0, x0):\n        return x0 + 1\n    return x0", x(2, 3))
shown("allclose", "    if torch.allclose(x0, x1):\n        return x0 + 1\n    return x0 - 1", x(2, 3), x(2, 3) + 1e-9)
shown("empty", "    return torch.empty([2, 3]).fill_(4.0) + x0", x(2, 3))
shown("new_empty", "    return x0.new_empty([3]).fill_(4.0) + x0", x(2, 3))
shown("item_of_a_tensor", "    return x1 * float(x0.sum()) + int(x0[0, 0])", x(2, 3), x(2, 3))
for word in ("bool", "byte", "char", "double", "float", "half", "int", "long", "short"):
    case(f"row_{word}", lambda a, w=word: getattr(a, w)() if w in ("bool", "half") else getattr(a, w)() + 1, x(3, 4, low=0, high=50))
case("row_bfloat16", lambda a: a.bfloat16().float(), x(3, 4))
case("row_type_as", lambda a, b: a.type_as(b), i64(3), x(3))
case("row_conv3d", nn.Conv3d(2, 4, 3, stride=2, padding=1), x(1, 2, 5, 6, 7))
case("row_conv_transpose1d", nn.ConvTranspose1d(4, 3, 3, stride=2, padding=1, output_padding=1), x(2, 4, 5))
case("row_conv_transpose3d", nn.ConvTranspose3d(2, 3, 3, stride=2), x(1, 2, 3, 3, 4))
case("row_fft_ifftn", lambda a: torch.fft.ifftn(torch.fft.fftn(a)).real, x(3, 4))
case("row_fft_irfftn", lambda a: torch.fft.irfftn(torch.fft.rfftn(a), s=a.shape), x(3, 4))
case("row_fft_rfftfreq", lambda a: a * torch.fft.rfftfreq(6), x(4))
case("row_complex_views", lambda a: torch.view_as_real(torch.view_as_complex(a) * 2), x(3, 2))
case("row_det", lambda a: torch.det(a), x(3, 3))
case("row_lstm_cell", nn.LSTMCell(3, 4), x(2, 3))
case("row_rnn_relu_cell", nn.RNNCell(3, 4, nonlinearity="relu"), x(2, 3))
case("row_rnn_tanh_cell", nn.RNNCell(3, 4), x(2, 3))
case("row_alpha_dropout", nn.AlphaDropout(0.3), x(2, 3))
case("row_feature_alpha_dropout", nn.FeatureAlphaDropout(0.3), x(2, 3, 4, 4))
case("row_encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2), x(2, 5, 8))


class First(nn.Module):
    """The first result of a layer that gives several."""

    def __init__(self, inner, times=1):
        super().__init__()
        self.inner, self.times = inner, times

    def forward(self, x0):
        return self.inner(*[x0] * self.times)[0]


case("row_multi_head_fast", First(nn.MultiheadAttention(8, 2, batch_first=True), 3), x(2, 5, 8))
case("row_searchsorted", lambda a, b: torch.searchsorted(a, b), torch.tensor([0.1, 0.5, 0.9, 1.4]), x(3, 4))
case("row_numpy_T", lambda a: a.T, x(2, 3))
case("row_interpolate_older", lambda a: F.upsample(a, scale_factor=2, mode="nearest"), x(1, 2, 3, 4))
case("row_as_strided_scatter", lambda a, b: torch.as_strided_scatter(a, b, (2, 2), (4, 1), 1), x(3, 4), x(2, 2))
case("row_in_place_view", lambda a: (lambda v: (v[:, 0].add_(1), v[1].mul_(3), v)[-1])(a.clone()), x(3, 4))
shown("in_place_views", "    y = x0.clone()\n    y[:, 0] += 1\n    z = y.view(-1)\n    z[1:5:2] *= 2\n    y.t()[1].sub_(x1)\n    return y, z", x(3, 4), x(3))
shown("in_place_mask", "    y = x0.clone()\n    y[y > 0] = 7.0\n    y[x1] += 1.5\n    return y", x(3, 4), torch.tensor([0, 2]))

# Code of phones: what optimize_for_mobile packs, and the quantised operators that no network of cases_quantized.py has.
if "prepacked" in dir(torch.ops) or hasattr(torch.ops.prepacked, "conv2d_clamp_run"):
    from torch.utils.mobile_optimizer import optimize_for_mobile

    def packed(name, module, *inputs):
        if wanted in f"row_{name}":
            torch.manual_seed(5)
            holder = FORWARDS[1](module()).eval()
            with torch.no_grad():
                traced = torch.jit.trace(holder, inputs, check_trace=False)
            write(f"row_{name}", optimize_for_mobile(traced), inputs, False)

    packed("prepacked_conv", lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU6()), x(1, 3, 6, 6))
    packed("prepacked_conv_transpose", lambda: nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2), nn.ReLU()), x(1, 3, 6, 6))
    packed("prepacked_linear", lambda: nn.Sequential(nn.Linear(6, 4), nn.Hardtanh(-0.5, 0.5)), x(2, 6))
if "qnnpack" in torch.backends.quantized.supported_engines:
    q8 = lambda t, s=0.05, z=120: torch.quantize_per_tensor(t, s, z, torch.quint8)
    case("row_quantized_add_scalar", lambda a: torch.ops.quantized.add_scalar(q8(a), 1.5).dequantize(), x(3, 4))
    case("row_quantized_mul_scalar", lambda a: torch.ops.quantized.mul_scalar(q8(a), 1.5).dequantize(), x(3, 4))
    case("row_quantized_mul_relu", lambda a, b: torch.ops.quantized.mul_relu(q8(a), q8(b), 0.05, 3).dequantize(), x(3, 4), x(3, 4, low=-1))
    case("row_quantized_cat_relu", lambda a, b: torch.ops.quantized.cat_relu([q8(a), q8(b)], 0, 0.05, 3).dequantize(), x(3, 4), x(2, 4))
    case("row_quantized_q_scale", lambda a: q8(a).dequantize() * q8(a).q_scale() + q8(a).q_zero_point(), x(3, 4))
    for suffix in ("", "_relu"):
        norm = (x(3, low=0.5), x(3), x(3), x(3, low=0.5))
        case(f"row_quantized_batch_norm2d{suffix}", lambda a, s=suffix: getattr(torch.ops.quantized, "batch_norm2d" + s)(q8(a), *norm, 1e-5, 0.05, 100).dequantize(),
             x(2, 3, 4, 4))
    case("row_quantized_batch_norm3d", lambda a: torch.ops.quantized.batch_norm3d(q8(a), *norm, 1e-5, 0.05, 100).dequantize(), x(2, 3, 2, 3, 4))

    def fused(name, module, example, parts):
        if wanted not in f"row_quantized_{name}":
            return
        module.eval()
        torch.ao.quantization.fuse_modules(module, parts, inplace=True)
        case(f"row_quantized_{name}", calibrated(module, example), example)

    fused("conv_relu", nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), x(1, 3, 8, 8), ["0", "1"])
    fused("conv1d_relu", nn.Sequential(nn.Conv1d(3, 4, 3), nn.ReLU()), x(1, 3, 8), ["0", "1"])
    fused("linear_relu", nn.Sequential(nn.Linear(6, 5), nn.ReLU()), x(3, 6, low=-1.7), ["0", "1"])

if torchvision:
    case("row_roi_pool", lambda a, r: torchvision.ops.roi_pool(a, r, (2, 3), 1.0), x(2, 3, 8, 8), torch.tensor([[0.0, 0, 0, 5, 6], [1, 1, 2, 7, 7]]))

# Operators that are met less often. Read by cases.py.
case("cummax", lambda a: torch.cummax(a, 1), x(3, 5))
case("cummin", lambda a: torch.cummin(a, 0), x(3, 5))
case("bincount", lambda a: torch.bincount(a, minlength=7), i64(12))
case("histc", lambda a: torch.histc(a, 4, -2, 2), x(20))
case("isin", lambda a, b: torch.isin(a, b), i64(3, 4), i64(2))
case("unique_consecutive", lambda a: torch.unique_consecutive(a, return_inverse=True, return_counts=True), torch.tensor([1, 1, 2, 2, 2, 1, 3]))
case("unique_dim", lambda a: torch.unique(a, dim=0), torch.tensor([[1, 2], [1, 2], [0, 3]]))
for q in (0.25, 0.5):
    case(f"quantile_{q}", lambda a, q=q: torch.quantile(a, q, dim=1), x(3, 6))
case("quantile_all", lambda a: torch.quantile(a, 0.4), x(3, 5))
case("quantile_several", lambda a, q: torch.quantile(a, q, dim=1, keepdim=True), x(3, 5), torch.tensor([0.1, 0.6]))
for rank in (1, 2, 3):
    case(f"atleast_{rank}d", getattr(torch, f"atleast_{rank}d"), x(3))
case("dstack", lambda a, b: torch.dstack([a, b]), x(2, 3), x(2, 3))
case("column_stack", lambda a, b: torch.column_stack([a, b]), x(3), x(3, 2))
case("block_diag", lambda a, b: torch.block_diag(a, b), x(2, 3), x(1, 2))
case("cartesian_prod", lambda a, b: torch.cartesian_prod(a, b), x(3), x(2))
case("hsplit", lambda a: torch.hsplit(a, 2), x(3, 4))
case("vsplit", lambda a: torch.vsplit(a, [1, 2]), x(4, 3))
case("diagflat", lambda a: torch.diagflat(a, 1), x(3))
case("diff", lambda a: torch.diff(a, n=2), x(3, 6))
case("trapz", lambda a: torch.trapz(a, dx=0.5), x(3, 6))
case("trapezoid_places", lambda a, b: torch.trapezoid(a, b), x(3, 6), x(6))
case("pdist", lambda a: torch.pdist(a), x(4, 3))
case("cov", lambda a: torch.cov(a), x(3, 6))
case("corrcoef", lambda a: torch.corrcoef(a), x(3, 6))
case("nanmean", lambda a: torch.nanmean(torch.where(a > 1, torch.full_like(a, float("nan")), a), 1), x(3, 6))
case("ldexp", lambda a, b: torch.ldexp(a, b), x(4), i64(4))
case("logaddexp2", torch.logaddexp2, x(4), x(4) + 1)
case("entr", torch.special.entr, x(5, low=0.0))
case("xlog1py", torch.special.xlog1py, x(5), x(5, low=0.0))
case("mvlgamma", lambda a: torch.mvlgamma(a, 3), x(4, low=3.0, high=5.0))
case("vecdot", lambda a, b: torch.linalg.vecdot(a, b), x(3, 4), x(3, 4))
case("inv_ex", lambda a: torch.linalg.inv_ex(a + 3 * torch.eye(3))[0], x(3, 3))
case("vander", lambda a: torch.vander(a, 4), x(3))
case("tril_indices", lambda a: a[torch.tril_indices(3, 3)[0], torch.tril_indices(3, 3)[1]], x(3, 3))
case("repeat_interleave_each", lambda a, n: torch.repeat_interleave(a, n, dim=0), x(3, 2), torch.tensor([2, 0, 3]))
case("pad_sequence", lambda a, b: torch.nn.utils.rnn.pad_sequence([a, b], True, 9.0), x(2, 3), x(4, 3))
case("put", lambda a, i: a.clone().put_(i, torch.ones(2)), x(3, 4), torch.tensor([1, 7]))
case("fill_diagonal", lambda a: a.clone().fill_diagonal_(5.0), x(3, 3))
case("diagonal_scatter", lambda a, b: torch.diagonal_scatter(a, b, 1), x(3, 3), x(2))
case("bartlett", lambda a: a * torch.bartlett_window(6), x(6))
case("blackman", lambda a: a * torch.blackman_window(6, periodic=False), x(6))
case("index_reduce", lambda a, i, s: a.index_reduce(0, i, s, "amax"), x(3, 4), torch.tensor([0, 2, 0]), x(3, 4))
case("bilinear_aa", lambda a: F.interpolate(a, size=(4, 3), mode="bilinear", antialias=True), x(1, 2, 8, 9))
case("bicubic_aa", lambda a: F.interpolate(a, size=(4, 3), mode="bicubic", antialias=True), x(1, 2, 8, 9))
case("roll_two", lambda a: torch.roll(a, (1, -2), (0, 1)), x(4, 5), dynamic=True)
for mode in ("sum", "mean", "max"):
    case(f"embedding_bag_{mode}", nn.EmbeddingBag(7, 3, mode=mode), i64(2, 4))
    case(f"embedding_bag_{mode}_offsets", nn.EmbeddingBag(7, 3, mode=mode), i64(9), torch.tensor([0, 3, 3, 7]))
case("adaptive_avg_pool2d_open", nn.AdaptiveAvgPool2d((3, 2)), x(2, 3, 7, 5), dynamic=True)
case("fake_quantize", lambda a: torch.fake_quantize_per_tensor_affine(a, 0.1, 10, 0, 255), x(3, 4))
case("fake_quantize_channels", lambda a: torch.fake_quantize_per_channel_affine(a, torch.tensor([0.1, 0.2, 0.05]), torch.tensor([0, 3, 10], dtype=torch.int32), 0, 0, 255), x(3, 4))

try:
    import torchvision
except ImportError:
    torchvision = None
if torchvision:
    corners = torch.cat([x(12, 2, low=0.0, high=8.0), x(12, 2, low=8.0, high=14.0)], 1)
    case("nms", lambda b, s: torchvision.ops.nms(b, s, 0.4), corners, x(12, low=0.0, high=1.0))
    rois = torch.cat([torch.tensor([[0.0], [1.0], [0.0]]), corners[:3]], 1)
    for aligned in (False, True):
        case(f"roi_align_{aligned}", lambda a, r, k=aligned: torchvision.ops.roi_align(a, r, (3, 2), 0.5, 2, k), x(2, 3, 8, 8), rois)
    case("roi_align_adaptive", lambda a, r: torchvision.ops.roi_align(a, r, (2, 2), 1.0), x(2, 3, 16, 16), rois)
    case("deform_conv2d", lambda a, o: torchvision.ops.deform_conv2d(a, o, torch.ones(4, 3, 3, 3) / 5), x(1, 3, 6, 6), x(1, 18, 4, 4))
    case("deform_conv2d_mask", lambda a, o, m: torchvision.ops.deform_conv2d(a, o, torch.ones(4, 3, 3, 3) / 5, torch.ones(4), padding=1, mask=m), x(1, 3, 6, 6), x(1, 18, 6, 6), x(1, 9, 6, 6, low=0.0, high=1.0))


class Packed(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x0, x1):
        packed = nn.utils.rnn.pack_padded_sequence(x0, x1, batch_first=True, enforce_sorted=False)
        made, state = self.cell(packed)
        out, sizes = nn.utils.rnn.pad_packed_sequence(made, batch_first=True)
        return out, sizes, state


class PackedSum(nn.Module):
    """Only the state is read."""
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(3, 4, bidirectional=True)

    def forward(self, x0, x1):
        packed = nn.utils.rnn.pack_padded_sequence(x0, x1)
        _, state = self.cell(packed)
        return state


lengths = torch.tensor([3, 5, 2])
for kind in ("LSTM", "GRU", "RNN"):
    for both in (False, True):
        cell = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=both, batch_first=True)
        case(f"packed_{kind}_{both}", Packed(cell), x(3, 5, 3), lengths)
        if kind != "RNN":
            scripted(f"packed_{kind}_{both}_scripted", None, x(3, 5, 3), lengths, module=Packed(cell))
case("packed_state", PackedSum(), x(5, 3, 3), torch.tensor([5, 3, 2]))
for reduce in ("sum", "prod", "amax", "amin", "mean"):
    for itself in (True, False):
        case(f"scatter_reduce_{reduce}_{itself}", lambda a, i, s, r=reduce, k=itself: torch.scatter_reduce(a, 1, i, s, r, include_self=k), x(3, 5), i64(3, 4), x(3, 4))
case("sort_stable", lambda a: torch.sort(a, stable=True, dim=0, descending=True), x(3, 5))

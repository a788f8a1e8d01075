# Layers: convolutions, pooling, normalisation, recurrent networks, losses. Read by cases.py.
for n in (1, 2, 3):
    size = (7, 6, 5)[:n]
    conv, pool = getattr(nn, f"Conv{n}d"), ("max", "avg")
    image = x(2, 4, *size)
    case(f"conv{n}d", conv(4, 6, 3), image, dynamic=True)
    case(f"conv{n}d_all", conv(4, 6, 3, stride=2, padding=1, dilation=2 if n == 1 else 1, groups=2, bias=False), image)
    case(f"conv{n}d_same", conv(4, 6, 3, padding="same"), image)
    case(f"conv{n}d_single", lambda a, n=n: getattr(F, f"conv{n}d")(a, torch.ones(3, 4, *([2] * n))), x(4, *size))
    case(f"conv_transpose{n}d", getattr(nn, f"ConvTranspose{n}d")(4, 6, 3, stride=2, padding=1, output_padding=1), image)
    case(f"conv_transpose{n}d_groups", getattr(nn, f"ConvTranspose{n}d")(4, 6, 2, groups=2, dilation=2), image)
    case(f"max_pool{n}d", getattr(nn, f"MaxPool{n}d")(2), image)
    case(f"max_pool{n}d_all", getattr(nn, f"MaxPool{n}d")(3, 2, 1, ceil_mode=True), image)
    case(f"max_pool{n}d_indices", getattr(nn, f"MaxPool{n}d")(2, return_indices=True), image)
    case(f"avg_pool{n}d", getattr(nn, f"AvgPool{n}d")(2), image)
    case(f"avg_pool{n}d_all", getattr(nn, f"AvgPool{n}d")(3, 2, 1, count_include_pad=False), image)
    case(f"avg_pool{n}d_ceil", getattr(nn, f"AvgPool{n}d")(3, 2, 1, ceil_mode=True), image)
    case(f"adaptive_avg_pool{n}d_1", getattr(nn, f"AdaptiveAvgPool{n}d")(1), image)
    case(f"adaptive_avg_pool{n}d_3", getattr(nn, f"AdaptiveAvgPool{n}d")(3), image)
    case(f"adaptive_max_pool{n}d_1", getattr(nn, f"AdaptiveMaxPool{n}d")(1), image)
    case(f"adaptive_max_pool{n}d_3", getattr(nn, f"AdaptiveMaxPool{n}d")(3), image)
    case(f"batch_norm{n}d", getattr(nn, f"BatchNorm{n}d")(4), image)
    case(f"instance_norm{n}d", getattr(nn, f"InstanceNorm{n}d")(4, affine=True), image)
    case(f"upsample_nearest{n}d", lambda a: F.interpolate(a, scale_factor=2, mode="nearest"), image)
    mode = ("linear", "bilinear", "trilinear")[n - 1]
    case(f"upsample_linear{n}d", lambda a, m=mode: F.interpolate(a, scale_factor=2.0, mode=m), image)
    case(f"upsample_linear{n}d_size", lambda a, m=mode, n=n: F.interpolate(a, size=[9] * n, mode=m), image)
    case(f"upsample_linear{n}d_corners", lambda a, m=mode, n=n: F.interpolate(a, size=[9] * n, mode=m, align_corners=True), image)
    case(f"replication_pad{n}d", lambda a, n=n: F.pad(a, [1, 2] * n, mode="replicate"), image)
    case(f"reflection_pad{n}d", lambda a, n=n: F.pad(a, [1, 2] * n, mode="reflect"), image)
    case(f"dropout{n}d", getattr(nn, f"Dropout{n}d")() if hasattr(nn, f"Dropout{n}d") else nn.Dropout(), image)
case("avg_pool2d_divisor", lambda a: F.avg_pool2d(a, 2, divisor_override=3), x(1, 2, 4, 4))
case("max_unpool2d", lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2), x(1, 2, 4, 4))
case("batch_norm_1d_flat", nn.BatchNorm1d(4), x(3, 4))
case("batch_norm_training_statistics", nn.BatchNorm2d(4, track_running_stats=False), x(3, 4, 2, 2))
case("layer_norm", nn.LayerNorm(5), x(2, 3, 5), dynamic=True)
case("layer_norm_two", nn.LayerNorm((3, 5)), x(2, 3, 5))
case("layer_norm_plain", nn.LayerNorm(5, elementwise_affine=False), x(2, 3, 5))
case("group_norm", nn.GroupNorm(2, 4), x(2, 4, 3, 3))
case("local_response_norm", nn.LocalResponseNorm(3), x(2, 4, 3, 3))
case("weight_norm", torch.nn.utils.weight_norm(nn.Linear(4, 3)), x(2, 4))
case("upsample_bicubic", lambda a: F.interpolate(a, scale_factor=2, mode="bicubic"), x(1, 2, 4, 5))
case("upsample_bicubic_corners", lambda a: F.interpolate(a, size=(7, 8), mode="bicubic", align_corners=True), x(1, 2, 4, 5))
case("upsample_nearest_size", lambda a: F.interpolate(a, size=(7, 9)), x(1, 2, 4, 5))
case("upsample_factors", lambda a: F.interpolate(a, scale_factor=(1.5, 2.5), mode="bilinear"), x(1, 2, 4, 5))
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        case(f"grid_sample_{mode}_{padding}", lambda a, g, m=mode, p=padding: F.grid_sample(a, g, m, p, align_corners=False), x(1, 2, 4, 5), x(1, 3, 3, 2, low=-1.2, high=1.2))
case("affine_grid", lambda t: F.affine_grid(t, [1, 2, 3, 4], align_corners=True), x(1, 2, 3))
case("fold", lambda a: F.fold(a, (4, 5), (2, 2)), x(1, 8, 12))
case("unfold", lambda a: F.unfold(a, (2, 3), padding=1, stride=2), x(2, 3, 5, 6))
case("pad_constant", lambda a: F.pad(a, [1, 2, 0, 1], value=3.0), x(2, 3, 4))
case("pad_negative", lambda a: F.pad(a, [-1, 1]), x(2, 3, 4))
case("pad_circular", lambda a: F.pad(a, [1, 2], mode="circular"), x(1, 2, 4))

case("linear", nn.Linear(4, 3), x(2, 4), dynamic=True)
case("linear_3d", nn.Linear(4, 3), x(2, 5, 4), dynamic=True)
case("linear_plain", nn.Linear(4, 3, bias=False), x(4))
case("bilinear", nn.Bilinear(3, 4, 5), x(2, 3), x(2, 4))
case("embedding", nn.Embedding(7, 3), i64(2, 4))
for name, (f, *shapes) in {
    "matmul": (torch.matmul, (2, 3), (3, 4)), "matmul_vector": (torch.matmul, (3,), (3,)), "matmul_batch": (torch.matmul, (5, 2, 3), (3, 4)), "mm": (torch.mm, (2, 3), (3, 4)), "bmm": (torch.bmm, (2, 3, 4), (2, 4, 5)), "mv": (torch.mv, (3, 4), (4,)),
    "dot": (torch.dot, (4,), (4,)), "outer": (torch.outer, (3,), (4,)), "addmm": (lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), (2, 4), (2, 3), (3, 4)), "baddbmm": (torch.baddbmm, (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    "addbmm": (torch.addbmm, (3, 5), (2, 3, 4), (2, 4, 5)), "addmv": (torch.addmv, (3,), (3, 4), (4,)), "addr": (torch.addr, (3, 4), (3,), (4,)), "einsum": (lambda a, b: torch.einsum("bij, bjk -> bik", a, b), (2, 3, 4), (2, 4, 5)),
    "einsum_trace": (lambda a: torch.einsum("ii->i", a), (3, 3)), "tensordot": (lambda a, b: torch.tensordot(a, b, ([1, 0], [0, 1])), (3, 4, 5), (4, 3, 2)), "cross": (lambda a, b: torch.cross(a, b, 1), (2, 3), (2, 3)), "kron": (torch.kron, (2, 3), (3, 2)),
    "cdist": (torch.cdist, (3, 4), (5, 4)), "cdist_1": (lambda a, b: torch.cdist(a, b, 1.0), (3, 4), (5, 4)), "pairwise": (F.pairwise_distance, (3, 4), (3, 4)), "trace": (torch.trace, (3, 3)), "det": (torch.det, (3, 3)), "inverse": (torch.inverse, (3, 3)),
    "solve": (torch.linalg.solve, (3, 3), (3, 2)), "matrix_power": (lambda a: torch.linalg.matrix_power(a, 3), (3, 3)), "multi_dot": (lambda a, b, c: torch.linalg.multi_dot([a, b, c]), (2, 3), (3, 4), (4, 2)), "slogdet": (torch.slogdet, (3, 3)),
}.items():
    case(f"matrix_{name}", f, *[x(*s) + (3 * torch.eye(s[0]) if len(s) == 2 and s[0] == s[1] else 0) for s in shapes])
case("cholesky", lambda a: torch.linalg.cholesky(a @ a.mT + torch.eye(3)), x(3, 3))

for name in ("LSTM", "GRU", "RNN"):
    cell = getattr(nn, name)
    case(f"{name}", cell(3, 4), x(5, 2, 3))
    case(f"{name}_batch_first", cell(3, 4, batch_first=True), x(2, 5, 3), dynamic=True)
    case(f"{name}_two_layers", cell(3, 4, num_layers=2), x(5, 2, 3))
    case(f"{name}_both_ways", cell(3, 4, num_layers=2, bidirectional=True, batch_first=True), x(2, 5, 3))
    case(f"{name}_no_bias", cell(3, 4, bias=False), x(5, 2, 3))
    case(f"{name}_cell", getattr(nn, name + "Cell")(3, 4), x(2, 3))
case("RNN_relu", nn.RNN(3, 4, nonlinearity="relu"), x(5, 2, 3))

p, q = x(3, 4, low=0.1, high=0.9), x(3, 4, low=0.2, high=0.8)
for name, f in {
    "mse": F.mse_loss, "l1": F.l1_loss, "smooth_l1": lambda a, b: F.smooth_l1_loss(a, b, beta=0.1), "huber": lambda a, b: F.huber_loss(a, b, delta=0.1), "bce": F.binary_cross_entropy, "bce_logits": F.binary_cross_entropy_with_logits,
    "kl": lambda a, b: F.kl_div(a.log(), b, reduction="sum"), "kl_log": lambda a, b: F.kl_div(a, b, reduction="none", log_target=True), "poisson": F.poisson_nll_loss, "cosine": lambda a, b: F.cosine_embedding_loss(a, b, torch.tensor([1, -1, 1])),
    "margin": lambda a, b: F.margin_ranking_loss(a, b, torch.ones(3, 4), margin=0.1), "hinge": lambda a, b: F.hinge_embedding_loss(a, torch.sign(b - 0.5)), "soft_margin": lambda a, b: F.soft_margin_loss(a, torch.sign(b - 0.5)), "triplet": lambda a, b: F.triplet_margin_loss(a, b, a + 1),
    "mse_sum": lambda a, b: F.mse_loss(a, b, reduction="sum"), "mse_none": lambda a, b: F.mse_loss(a, b, reduction="none"),
}.items():
    case(f"loss_{name}", f, p, q)
case("loss_nll", lambda a, t: F.nll_loss(F.log_softmax(a, 1), t), x(3, 4), i64(3, high=4))
case("loss_cross_entropy", lambda a, t: F.cross_entropy(a, t), x(3, 4), i64(3, high=4))
case("loss_cross_entropy_images", lambda a, t: F.cross_entropy(a, t, reduction="sum"), x(2, 4, 3), i64(2, 3, high=4))
case("loss_cross_entropy_smooth", lambda a, t: F.cross_entropy(a, t, label_smoothing=0.1), x(3, 4), i64(3, high=4))
case("loss_cross_entropy_weights", lambda a, t: F.cross_entropy(a, t, weight=torch.tensor([1.0, 2.0, 3.0, 4.0])), x(3, 4), i64(3, high=4))

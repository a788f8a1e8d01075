# Values and shapes at which operators behave otherwise than one thinks. Read by cases.py.
INF = float("inf")
QUOTIENTS = (torch.tensor([1.0, -1.0, 5.5, -7.0, 1e6, 0.3, 0.0, -0.6]), torch.tensor([0.1, 0.1, -0.7, 2.0, 0.3, 0.1, 3.0, 0.2]))
case("corner_remainder", lambda a, b: (torch.remainder(a, b), a % 0.3, torch.remainder(a, -0.7)), *QUOTIENTS)
case("corner_floor_divide", lambda a, b: (a // b, torch.div(a, b, rounding_mode="floor"), a // 0.1), *QUOTIENTS)
case("corner_remainder_f64", lambda a, b: (torch.remainder(a, b), a // b), *(q.double() for q in QUOTIENTS))
case("corner_floor_divide_zero", lambda a, b: torch.floor_divide(a, b), torch.tensor([1.0, -1.0]), torch.zeros(2))
case("corner_logaddexp", lambda a, b: (torch.logaddexp(a, b), torch.logaddexp2(a, b)), torch.tensor([-INF, -INF, INF, 1.0]), torch.tensor([-INF, 2.0, INF, -INF]))
case("corner_isclose", lambda a, b: (torch.isclose(a, b), torch.isclose(a, b, equal_nan=True)), torch.tensor([INF, INF, float("nan"), 1.0]), torch.tensor([INF, 1.0, float("nan"), 1.0]))
case("corner_isclose_i64", lambda a, b: torch.isclose(a, b, rtol=0.5), i64(6), i64(6, low=1))
case("corner_gamma_poles", lambda a: (torch.lgamma(a), torch.digamma(a)), torch.tensor([0.0, -1.0, -2.0, 0.5, -0.5]))
case("corner_arange", lambda a: (torch.arange(0, 3.1, dtype=torch.int64) + a, torch.arange(1.0, 5.000001, 2.0, dtype=torch.int64), torch.arange(0, 0.3, 0.1), torch.arange(0.0, 1.0, 0.1)), torch.tensor(0))
case("corner_linspace", lambda a: (torch.logspace(4.3, 0, 4, 5.0, dtype=torch.int64) + a), torch.tensor(0))
case("corner_corners_by_factors", lambda a: F.interpolate(a, scale_factor=0.6, mode="bilinear", align_corners=True), x(2, 3, 4, 5))
case("corner_corners_by_factors_open", lambda a: F.interpolate(a, scale_factor=1.7, mode="bilinear", align_corners=True), x(2, 3, 4, 5), dynamic=True)
case("corner_nearest_exact_factors", lambda a: F.interpolate(a, scale_factor=1.7, mode="nearest-exact"), x(2, 3, 4, 5))
case("corner_cosine_broadcast", lambda a, b: F.cosine_similarity(a, b, dim=-2), x(1, 2, 3), x(2, 1, 3))
case("corner_take_along", lambda a, b: (torch.take_along_dim(a, b, 1), torch.take_along_dim(a, b)), x(4, 5), i64(1, 2))
case("corner_diff_none", lambda a, b: torch.diff(a, 0, 0, b), x(3, 4), x(1, 4))
case("corner_bincount_weights", lambda a: torch.bincount(a, a), i64(8))
case("corner_masked_scatter", lambda a, m, s: a.masked_scatter(m, s), x(4), x(3, 4) > 0, x(3, 4, 2))
case("corner_roll_empty", lambda a: a.roll(1, 0), x(0, 3))
case("corner_unflatten_empty", lambda a: a.unflatten(0, (2, 2)), x(4, 0))
case("corner_embedding_norm", lambda a, w: F.embedding(a, w, max_norm=0.7), i64(2, 3), x(5, 4))
case("corner_searchsorted_rows", lambda a, b: (torch.searchsorted(a, b), torch.searchsorted(a, b, right=True)), x(3, 5).sort(1)[0], x(3, 2))
for how in ("amax", "amin", "mean", "prod", "sum"):
    case(f"corner_scatter_{how}_i64", lambda a, i, b, how=how: a.scatter_reduce(1, i, b, how, include_self=False), i64(3, 4, low=1), i64(3, 4, high=4), i64(3, 4, low=1, high=9))
for how in ("lower", "higher", "midpoint", "nearest"):
    case(f"corner_quantile_{how}", lambda a, how=how: torch.quantile(a, 0.4, dim=1, interpolation=how), x(3, 6))
for pool, shape in ((F.adaptive_max_pool1d, (2, 3, 7)), (F.adaptive_max_pool2d, (2, 3, 7, 5)), (F.adaptive_max_pool3d, (2, 3, 4, 5, 7))):
    case(f"corner_places_{pool.__name__[9:]}", lambda a, pool=pool: pool(a, 3, return_indices=True), x(*shape))
case("corner_unpool3d", lambda a: F.max_unpool3d(*F.max_pool3d(a, 2, return_indices=True), 2), x(1, 2, 4, 6, 4))
case("corner_layer_norm_moments", lambda a: torch.native_layer_norm(a, (4,), None, None, 1e-5), x(3, 4))
case("corner_group_norm_moments", lambda a: torch.native_group_norm(a, None, None, 2, 4, 5, 2, 1e-5), x(2, 4, 5))
case("corner_images_without_batch", lambda a: (F.pixel_shuffle(a, 2), F.pixel_unshuffle(a, 2)), x(4, 2, 6))
case("corner_scalars", lambda a: (a.softmax(0), a.topk(1, 0)[0], a.argmax(0), a.norm(2, 0), a.index_select(0, torch.tensor([0])), torch.logcumsumexp(a, 0)), x())
case("corner_scalar_scatter", lambda a, i, b: (a.scatter(0, i, b), a.scatter_add(0, i, b), a.index_copy(0, i.view(1), b), a.gather(0, i.view(1))), x(), torch.tensor(0), x() + 1)
case("corner_bool_arithmetic", lambda a, b: (torch.maximum(a, b), torch.fmin(a, b), torch.outer(a[0], b[1]), torch.heaviside(a, b)), x(3, 4) > 0, x(3, 4, 1)[..., 0] > 0)
case("corner_qr", lambda a: torch.linalg.qr(a), x(2, 4, 3))
case("corner_triangular", lambda a, b: (torch.linalg.solve_triangular(a, b, upper=True), torch.linalg.solve_triangular(a, b.mT, upper=False, left=False, unitriangular=True)), x(3, 3) + 3 * torch.eye(3), x(3, 2))
case("corner_cholesky_solve", lambda a, b: (torch.cholesky_solve(b, torch.linalg.cholesky(a @ a.T + torch.eye(3))), torch.cholesky_inverse(torch.linalg.cholesky(a @ a.T + torch.eye(3)))), x(3, 3), x(3, 2))
case("corner_solve_right", lambda a, b: (torch.linalg.solve(a, b, left=False), torch.linalg.matrix_power(a, -2)), x(3, 3) + 3 * torch.eye(3), x(2, 3))
case("corner_cov_weights", lambda a, w: torch.cov(a, aweights=w, fweights=torch.tensor([1, 2, 1, 3])), x(3, 4), x(4, low=0.1))
case("corner_losses", lambda a, t: (F.multi_margin_loss(a, t), F.multi_margin_loss(a, t, p=2, margin=0.5, reduction="none"), F.cross_entropy(a[0], t[0]), F.nll_loss(a[0], t[0])), x(3, 4), i64(3, high=4))
case("corner_multilabel_margin", lambda a, t: F.multilabel_margin_loss(a, t), x(2, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0]]))
case("corner_poisson_full", lambda a, t: F.poisson_nll_loss(a, t, full=True), x(3, 4), x(3, 4, low=0, high=5))
case("corner_triplet_swap", lambda a, b, c: F.triplet_margin_loss(a, b, c, swap=True), x(3, 4), x(3, 4, low=-1), x(3, 4, high=1))
case("corner_weighted_probabilities", lambda a, t: F.cross_entropy(a, t.softmax(1), weight=torch.tensor([1.0, 2, 3, 4])), x(3, 4), x(3, 4, high=1))
scripted("corner_stack_after_break", """
def forward(self, x0):
    made = [x0]
    y = x0
    for i in range(6):
        y = y * 1.5
        made.append(y)
        if bool(y.sum() > 10):
            break
    return torch.stack(made, 1), torch.cat(made, 0)
""", x(3, 4).abs())
case("corner_fork", lambda a: torch.jit.wait(torch.jit.fork(torch.relu, a)) + 1, x(3, 4))
case("corner_older_systems", lambda a, b: (torch.triangular_solve(b, a, upper=False, transpose=True)[0], torch.qr(a)[1]), x(3, 3) + 3 * torch.eye(3), x(3, 2))
case("corner_cumulative_trapezoid", lambda a, b: (torch.cumulative_trapezoid(a, dx=0.5), torch.cumulative_trapezoid(a, b, dim=1)), x(3, 5), x(5))

# Views, indexing, and what changes tensors in place. Read by cases.py.
a234 = x(2, 3, 4)
for name, f in {
    "view": lambda a: a.view(6, 4), "view_minus": lambda a: a.view(-1, 2), "reshape": lambda a: a.reshape(4, 6), "flatten": lambda a: a.flatten(1),
    "flatten_all": lambda a: a.flatten(), "flatten_first": lambda a: a.flatten(0, 1), "transpose": lambda a: a.transpose(0, 2),
    "permute": lambda a: a.permute(2, 0, 1), "mT": lambda a: a.mT, "movedim": lambda a: a.movedim(0, 2), "unsqueeze": lambda a: a.unsqueeze(1),
    "unsqueeze_last": lambda a: a.unsqueeze(-1), "squeeze": lambda a: a.unsqueeze(0).squeeze(0), "expand": lambda a: a.unsqueeze(1).expand(2, 5, -1, 4),
    "expand_as": lambda a: a[:1].expand_as(a), "repeat": lambda a: a.repeat(2, 1, 3), "repeat_more": lambda a: a.repeat(2, 1, 1, 2), "tile": lambda a: a.tile(2),
    "repeat_interleave": lambda a: a.repeat_interleave(2, 1), "repeat_interleave_all": lambda a: a.repeat_interleave(3), "select": lambda a: a.select(1, 2),
    "select_minus": lambda a: a.select(1, -1), "slice": lambda a: a[:, 1:3], "slice_step": lambda a: a[:, :, ::2], "slice_minus": lambda a: a[:, -2:], "narrow": lambda a: a.narrow(2, 1, 2),
    "split": lambda a: a.split(2, 2), "split_sizes": lambda a: a.split([1, 2], 1), "chunk": lambda a: a.chunk(2, 1), "tensor_split": lambda a: a.tensor_split(3, 2),
    "unbind": lambda a: a.unbind(1), "flip": lambda a: a.flip([0, 2]), "roll": lambda a: a.roll(1, 1), "roll_flat": lambda a: a.roll(5), "roll_two": lambda a: a.roll((1, -1), (0, 2)),
    "rot90": lambda a: a.rot90(1, [1, 2]), "rot270": lambda a: a.rot90(3, [1, 2]), "unfold": lambda a: a.unfold(2, 2, 1), "diagonal": lambda a: a.diagonal(0, 1, 2),
    "diagonal_offset": lambda a: a.diagonal(1, 1, 2), "diagonal_below": lambda a: a.diagonal(-1, 2, 1), "tril": lambda a: a.tril(), "triu": lambda a: a.triu(1), "stack": lambda a: torch.stack([a, a + 1], 1),
    "stack_last": lambda a: torch.stack([a, a + 1], -1), "cat": lambda a: torch.cat([a, a * 2], 1), "cat_minus": lambda a: torch.cat([a, a * 2], -1), "hstack": lambda a: torch.hstack([a, a]), "vstack": lambda a: torch.vstack([a, a]),
    "diag_embed": lambda a: torch.diag_embed(a), "diag_embed_offset": lambda a: torch.diag_embed(a, 1), "as_strided": lambda a: a.as_strided((2, 2), (3, 1), 1), "t": lambda a: a[0].t(), "unflatten": lambda a: a.unflatten(2, (2, 2)),
    "fliplr": torch.fliplr, "flipud": torch.flipud, "numel": lambda a: a * a.numel(), "size": lambda a: a * a.size(1), "shape_view": lambda a: a.view(a.shape[0], a.shape[1] * a.shape[2]), "ravel": torch.ravel,
}.items():
    case(f"shape_{name}", f, a234, dynamic=name in ("transpose", "select", "slice", "flatten", "shape_view", "unsqueeze", "cat", "narrow"))
case("diag_vector", torch.diag, x(3))
case("diag_matrix", torch.diag, x(3, 4))
case("pixel_shuffle", lambda a: F.pixel_shuffle(a, 2), x(1, 8, 2, 3))
case("pixel_unshuffle", lambda a: F.pixel_unshuffle(a, 2), x(1, 2, 4, 6))
case("channel_shuffle", lambda a: torch.channel_shuffle(a, 2), x(1, 4, 2, 3))
case("meshgrid", lambda a, b: torch.meshgrid(a, b, indexing="ij"), x(3), x(4))
case("meshgrid_xy", lambda a, b: torch.meshgrid(a, b, indexing="xy"), x(3), x(4))
case("broadcast_tensors", lambda a, b: torch.broadcast_tensors(a, b), x(3, 1), x(4))

m = x(4, 5, 6)
case("index_one", lambda a, i: a[i], m, i64(3, high=4))
case("index_second", lambda a, i: a[:, i], m, i64(3))
case("index_two", lambda a, i, j: a[i, j], m, i64(3, high=4), i64(3))
case("index_two_later", lambda a, i, j: a[:, i, j], m, i64(3), i64(3, high=6))
case("index_apart", lambda a, i, j: a[i, :, j], m, i64(3, high=4), i64(3, high=6))
case("index_broadcast", lambda a, i, j: a[i, j], m, i64(3, 1, high=4), i64(2))
case("index_negative", lambda a: a[torch.tensor([-1, 0])], m)
case("index_mask", lambda a: a[a > 1], m)
case("index_mask_rows", lambda a: a[torch.tensor([True, False, True, False])], m)
case("index_select", lambda a, i: a.index_select(1, i), m, i64(4))
case("gather", lambda a, i: a.gather(1, i), m, i64(4, 2, 6))
case("take", lambda a, i: torch.take(a, i), m, i64(2, 3, high=100))
case("take_along_dim", lambda a, i: torch.take_along_dim(a, i, 1), m, i64(4, 2, 6))
case("scatter", lambda a, i, s: a.scatter(1, i, s), m, i64(4, 1, 6), x(4, 1, 6))
case("scatter_value", lambda a, i: a.scatter(1, i, 7.0), m, i64(4, 1, 6))
case("scatter_add", lambda a, i, s: a.scatter_add(1, i, s), m, i64(4, 2, 6), x(4, 2, 6))
case("scatter_reduce", lambda a, i, s: a.scatter_reduce(1, i, s, "amax"), m, i64(4, 2, 6), x(4, 2, 6))
case("index_add", lambda a, s: a.index_add(1, torch.tensor([0, 2]), s), m, x(4, 2, 6))
case("index_copy", lambda a, s: a.index_copy(1, torch.tensor([0, 2]), s), m, x(4, 2, 6))
case("index_fill", lambda a: a.index_fill(1, torch.tensor([0, 2]), 3.0), m)
case("index_put", lambda a, v: a.index_put((torch.tensor([0, 2]), torch.tensor([1, 3])), v), m, x(2, 6))
case("index_put_accumulate", lambda a, v: a.index_put((torch.tensor([0, 0]), torch.tensor([1, 1])), v, accumulate=True), m, x(2, 6))
case("masked_select", lambda a: torch.masked_select(a, a > 0), m)
case("masked_scatter", lambda a, s: a.masked_scatter(a > 0, s), x(3, 4), x(12))
case("nonzero", lambda a: torch.nonzero(a > 1), x(3, 4))
case("one_hot", lambda i: F.one_hot(i, 6), i64(2, 3))
case("bucketize", lambda a: torch.bucketize(a, torch.tensor([-1.0, 0.0, 1.0])), x(2, 5))
case("bucketize_right", lambda a: torch.bucketize(a, torch.tensor([1, 2, 4]), right=True), i64(7))
case("topk", lambda a: torch.topk(a, 3), x(4, 6))
case("topk_smallest", lambda a: torch.topk(a, 2, 0, largest=False), x(4, 6))
case("sort", lambda a: torch.sort(a, 1), x(4, 6))
case("sort_descending", lambda a: torch.sort(a, 0, descending=True), x(4, 6))
case("argsort", lambda a: torch.argsort(a, 1), x(4, 6))
case("kthvalue", lambda a: torch.kthvalue(a, 2, 1), x(4, 6))
case("select_scatter", lambda a, s: torch.select_scatter(a, s, 1, 2), m, x(4, 6))
case("slice_scatter", lambda a, s: torch.slice_scatter(a, s, 1, 1, 3, 1), m, x(4, 2, 6))


def changed(body):
    def run(a):
        a = a.clone()
        body(a)
        return a
    return run


def view_of_view(a):
    a[1][2] = 5.0


def row_plus(a):
    a[:, 0] += 1


def masked(a):
    a[a > 0] = -1.0


def column(a):
    a[:, 1:3] = 2.5


def transposed_add(a):
    a.transpose(0, 1).add_(torch.arange(4.0).view(4, 1))


def through_view(a):
    b = a.view(-1)
    b[3:7].mul_(10)


def fills(a):
    a[0].fill_(3.0)
    a[1].zero_()
    a[2].copy_(torch.arange(4.0))


def diagonal(a):
    a[:, :3].diagonal().fill_(9.0)


for name, f in {"view_of_view": view_of_view, "row_plus": row_plus, "masked": masked, "column": column, "transposed_add": transposed_add, "through_view": through_view, "fills": fills, "diagonal": diagonal,
                "add_": lambda a: a.add_(2), "mul_": lambda a: a.mul_(a), "relu_": lambda a: F.relu_(a), "clamp_": lambda a: a.clamp_(-1, 1), "masked_fill_": lambda a: a.masked_fill_(a > 0, 3), "exp_": lambda a: a.exp_()}.items():
    case(f"in_place_{name}", changed(f), x(3, 4), dynamic=name in ("row_plus", "add_"))

case("zeros", lambda a: torch.zeros(2, 3) + a, x(3))
case("full", lambda a: torch.full((2, 3), 1.5) + a, x(3))
case("arange", lambda a: torch.arange(3) + a, x(3))
case("arange_step", lambda a: torch.arange(1, 7, 2) * a, x(3))
case("arange_size", lambda a: torch.arange(a.size(0), dtype=torch.float32) + a, x(3), dynamic=True)
case("arange_float", lambda a: torch.arange(0.0, 1.0, 0.25) + a, x(4))
case("linspace", lambda a: torch.linspace(0, 1, 4) + a, x(4))
case("eye", lambda a: torch.eye(3) + a, x(3))
case("zeros_like", lambda a: torch.zeros_like(a) + 1, x(3))
case("new_zeros", lambda a: a.new_zeros(2, 3) + a, x(3))
case("new_full", lambda a: a.new_full((2, 3), 4.0) + a, x(3))
case("tensor", lambda a: a + torch.tensor([1.0, 2.0, 3.0]), x(3))

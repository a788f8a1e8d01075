# The operators of core ATen, each called once or more. Read by exported.py.
for op, low, high in (
    ("abs", -2, 2), ("acos", -0.9, 0.9), ("acosh", 1.1, 3), ("asin", -0.9, 0.9), ("asinh", -2, 2), ("atan", -2, 2), ("atanh", -0.9, 0.9),
    ("ceil", -2, 2), ("cos", -2, 2), ("cosh", -2, 2), ("erf", -2, 2), ("exp", -2, 2), ("expm1", -2, 2), ("floor", -2, 2), ("isinf", -2, 2),
    ("isnan", -2, 2), ("log", 0.1, 3), ("log10", 0.1, 3), ("log1p", -0.5, 3), ("log2", 0.1, 3), ("logical_not", -2, 2), ("neg", -2, 2),
    ("nonzero", -2, 2), ("reciprocal", 0.5, 3), ("relu", -2, 2), ("round", -2, 2), ("rsqrt", 0.1, 3), ("sigmoid", -2, 2), ("sign", -2, 2),
    ("sin", -2, 2), ("sinh", -2, 2), ("sqrt", 0.1, 3), ("tan", -1, 1), ("tanh", -2, 2), ("trunc", -2, 2), ("alias", -2, 2), ("clone", -2, 2),
    ("hardswish", -4, 4), ("hardsigmoid", -4, 4), ("silu", -2, 2), ("mish", -2, 2), ("t", -2, 2), ("detach", -2, 2), ("square", -2, 2),
):
    case(op + ".default", x(3, 4, low=low, high=high), dynamic=op in ("exp", "relu", "tanh"))
case("bitwise_not.default", i64(4))
case("round.decimals", x(4), decimals=1)
for op in ("add", "sub"):
    case(op + ".Tensor", x(3, 4), x(4), alpha=2)
    case(op + ".Scalar", x(3, 4), 1.5)
    case(op + ".Tensor", i64(3), x(3), label="promoted")
for op in ("mul", "div", "eq", "ge", "gt", "le", "lt", "ne", "remainder", "fmod"):
    case(op + ".Tensor", x(3, 4), x(4, low=0.5), dynamic=op == "mul")
    case(op + ".Scalar", x(3, 4), 1.5)
for mode in ("floor", "trunc", None):
    case("div.Tensor_mode", x(5), x(5, low=0.3), rounding_mode=mode, label=str(mode))
for op in ("atan2", "maximum", "minimum", "logical_and", "logical_or", "logical_xor", "floor_divide"):
    case(op + ".default", x(3, 4), x(3, 4, low=0.5))
for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    case(op + ".Tensor", i64(5), i64(5, high=9))
    case(op + ".Scalar", i64(5), 3)
case("pow.Tensor_Tensor", x(4, low=0.2), x(4))
case("pow.Tensor_Scalar", x(4), 3)
case("pow.Scalar", 2.0, x(4))
case("clamp.default", x(6), -1, 1)
case("clamp.default", x(6), None, 0.5, label="above")
case("clamp.Tensor", x(6), x(6, low=-1, high=0), x(6, low=0, high=1))
case("where.self", x(3, 4) > 0, x(3, 4), x(4, low=0))
case("masked_fill.Scalar", x(3, 4), x(3, 4) > 0, 7.0)
case("gelu.default", x(3, 4))
case("gelu.default", x(3, 4), approximate="tanh", label="tanh")
case("elu.default", x(3, 4), 0.7)
case("leaky_relu.default", x(3, 4), 0.2)
case("hardtanh.default", x(3, 4), -0.5, 0.8)
case("softplus.default", x(3, 4), 2.0, 3.0)
case("_softmax.default", x(3, 4), 1, False)
case("_log_softmax.default", x(3, 4), -1, False)
for op in ("amax", "amin"):
    case(op + ".default", x(2, 3, 4), [1], True)
    case(op + ".default", x(2, 3, 4), [0, 2], label="two")
for op in ("argmax", "argmin"):
    case(op + ".default", x(3, 4), 1)
    case(op + ".default", x(3, 4), label="all")
case("any.default", x(3, 4) > 1.5)
case("any.dim", x(3, 4) > 1, 1)
case("all.dim", x(3, 4) > -1.5, 0, True)
case("mean.default", x(3, 4))
case("mean.dim", x(2, 3, 4), [1, 2], True, dynamic=True)
case("sum.dim_IntList", x(2, 3, 4), [-1])
case("sum.default", i64(3, 4) > 2, label="bool")
case("prod.default", x(2, 3))
case("prod.dim_int", x(2, 3), 1)
case("max.dim", x(3, 4), 1)
case("min.dim", x(3, 4), 0, True)
case("var.correction", x(2, 3, 4), [1], correction=0)
case("var.correction", x(2, 3, 4), [1, 2], correction=1, keepdim=True, label="unbiased")
case("var.dim", x(2, 3, 4), [1], True)
case("std.correction", x(2, 3, 4), [2], correction=1)
case("cumsum.default", x(3, 4), 1)
case("cumprod.default", x(3, 4), 1)
case("linalg_vector_norm.default", x(3, 4), 2.0, [1])
case("logsumexp.default", x(3, 4), [1])

a = x(2, 3, 4)
case("view.default", a, [6, 4])
case("reshape.default", a, [-1, 2])
case("flatten.using_ints", a, 1)
case("permute.default", a, [2, 0, 1], dynamic=True)
case("transpose.int", a, 0, 2)
case("unsqueeze.default", a, 1)
case("squeeze.dim", x(2, 1, 4), 1)
case("squeeze.default", x(2, 1, 4))
case("expand.default", x(2, 1, 4), [2, 5, -1])
case("repeat.default", a, [2, 1, 3])
case("select.int", a, 1, -1, dynamic=True)
case("slice.Tensor", a, 1, 1, 9223372036854775807)
case("slice.Tensor", a, 2, 0, 4, 2, label="step")
case("select_scatter.default", a, x(2, 4), 1, 2)
case("slice_scatter.default", a, x(2, 2, 4), 1, 1, 3, 1)
case("split_with_sizes.default", a, [1, 2], 1)
case("split.Tensor", a, 2, 2)
case("chunk.default", a, 2, 1)
case("unbind.int", a, 1)
case("cat.default", [a, a * 2], 1)
case("stack.default", [a, a * 2], 1)
case("flip.default", a, [0, 2])
case("roll.default", a, [1], [1])
case("diagonal.default", a, 0, 1, 2)
case("as_strided.default", a, [2, 2], [3, 1], 1)
case("tril.default", a)
case("triu.default", a, 1)
case("constant_pad_nd.default", a, [1, 2, 0, 1], 3.0)
for n in (1, 2, 3):
    image = x(1, 2, *(4, 5, 6)[:n])
    case(f"reflection_pad{n}d.default", image, [1, 2] * n)
    case(f"replication_pad{n}d.default", image, [1, 2] * n)
case("pixel_shuffle.default", x(1, 8, 2, 3), 2)
case("pixel_unshuffle.default", x(1, 2, 4, 6), 2)
case("gather.default", a, 1, i64(2, 2, 4, high=3))
case("scatter.src", a, 1, i64(2, 1, 4, high=3), x(2, 1, 4))
case("scatter.value", a, 1, i64(2, 1, 4, high=3), 7.0)
case("scatter_add.default", a, 1, i64(2, 2, 4, high=3), x(2, 2, 4))
for reduce in ("sum", "prod", "amax", "amin"):
    case("scatter_reduce.two", a, 1, i64(2, 2, 4, high=3), x(2, 2, 4), reduce, label=reduce)
case("index_select.default", a, 1, i64(4, high=3))
case("index.Tensor", a, [i64(3, high=2)])
case("index.Tensor", a, [None, i64(3, high=3), i64(3, high=4)], label="later")
case("index_put.default", a, [i64(2, high=2), i64(2, high=3)], x(2, 4))
case("index_put.default", a, [i64(2, high=2)], x(2, 3, 4), True, label="accumulate")
case("masked_scatter.default", x(3, 4), x(3, 4) > 0, x(12))
case("topk.default", x(4, 6), 3)
case("sort.default", x(4, 6), 1, True)
case("embedding.default", x(7, 3), i64(2, 4))
case("full.default", [2, 3], 1.5, dtype=torch.float32)
case("full_like.default", a, 2.0)
case("zeros_like.default", a)
case("ones_like.default", a)
case("arange.start_step", 1, 9, 2)
case("scalar_tensor.default", 2.5)
case("fill.Scalar", a, 3.0)
case("copy.default", a, x(4))
case("_to_copy.default", a, dtype=torch.float64)
case("to.dtype", a, torch.int64)
case("one_hot.default", i64(2, 3), 6)

case("mm.default", x(2, 3), x(3, 4), dynamic=True)
case("bmm.default", x(2, 3, 4), x(2, 4, 5))
case("matmul.default", x(5, 2, 3), x(3, 4))
case("addmm.default", x(4), x(2, 3), x(3, 4), beta=0.5, alpha=2)
case("baddbmm.default", x(2, 3, 5), x(2, 3, 4), x(2, 4, 5))
case("linear.default", x(2, 4), x(3, 4), x(3), dynamic=True)
case("einsum.default", "bij,bjk->bik", [x(2, 3, 4), x(2, 4, 5)])
case("_cdist_forward.default", x(3, 4), x(5, 4), 2.0, None)
for n in (1, 2, 3):
    image = x(2, 4, *(7, 6, 5)[:n])
    weight, bias = x(6, 2, *[3] * n), x(6)
    case("convolution.default", image, weight, bias, [2] * n, [1] * n, [1] * n, False, [0] * n, 2, label=f"{n}d", dynamic=True)
    case("convolution.default", image, x(4, 3, *[3] * n), x(3), [2] * n, [1] * n, [1] * n, True, [1] * n, 1, label=f"transposed_{n}d")
    case(f"avg_pool{n}d.default", image, [3] * n, [2] * n, [1] * n)
    case(f"adaptive_avg_pool{n}d.default" if n == 1 else f"_adaptive_avg_pool{n}d.default", image, [1] * n)
for n in (2, 3):
    case(f"max_pool{n}d_with_indices.default", x(2, 4, *(7, 6, 5)[:n]), [2] * n, [2] * n)
case("conv2d.default", x(2, 4, 7, 6), x(6, 4, 3, 3), x(6))
statistics = (x(4, low=0.5), x(4), x(4), x(4, low=0.5))
case("native_batch_norm.default", x(2, 4, 3, 3), *statistics, False, 0.1, 1e-5, keep=[0])
case("native_layer_norm.default", x(2, 3, 5), [5], x(5), x(5, low=0), 1e-5, keep=[0], dynamic=True)
case("native_group_norm.default", x(2, 4, 3, 3), x(4), x(4, low=0), 2, 4, 9, 2, 1e-5, keep=[0])
case("native_dropout.default", x(3, 4), 0.5, False, keep=[0])
case("upsample_nearest2d.vec", x(1, 2, 4, 5), None, [2.0, 2.0])
case("upsample_bilinear2d.vec", x(1, 2, 4, 5), [7, 9], True, None)
case("grid_sampler_2d.default", x(1, 2, 4, 5), x(1, 3, 3, 2, low=-1.2, high=1.2), 0, 0, False)
case("col2im.default", x(1, 8, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])
case("im2col.default", x(2, 3, 5, 6), [2, 3], [1, 1], [1, 1], [2, 2])


def network(name, build, **kwargs):
    if wanted in name:
        program = Program(**kwargs)
        write(name, program, build(program.call))


def perceptron(call):
    h = call("relu.default", call("addmm.default", x(8), x(3, 4), call("t.default", x(8, 4))))
    return call("_softmax.default", call("linear.default", h, x(2, 8), x(2)), 1, False)


def block(call):
    image, weight = x(1, 4, 6, 6), x(4, 4, 3, 3)
    h = call("convolution.default", image, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    h = call("relu.default", call("native_batch_norm.default", h, *statistics, False, 0.1, 1e-5)[0])
    h = call("add.Tensor", h, image)
    return call("view.default", call("mean.dim", h, [2, 3], True), [1, 4])


def attention(call):
    q, k, v = x(2, 2, 5, 4), x(2, 2, 5, 4, low=-1), x(2, 2, 5, 4, low=0)
    scores = call("mul.Scalar", call("matmul.default", q, call("transpose.int", k, -2, -1)), 0.5)
    return call("matmul.default", call("_softmax.default", scores, -1, False), v)


network("network_perceptron", perceptron)
network("network_block", block)
network("network_attention", attention)

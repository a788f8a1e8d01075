# Rows of the table that no other case calls: second names, copies of views, what only exported programs hold, and
# operators that are younger than PyTorch 1.13, whose results others give. Read by exported.py.
# What their arguments are called, where it is not "self" alone.
NAMES = {
    "_unsafe_index": "self indices", "_unsafe_index_put": "self indices values accumulate", "any": "self dim", "all": "self dim",
    "squeeze": "self dim", "_prelu_kernel": "self weight", "rms_norm": "input normalized_shape weight eps",
    "scaled_dot_product_attention": "query key value attn_mask dropout_p is_causal",
    "_scaled_dot_product_flash_attention_for_cpu": "query key value dropout_p is_causal",
    "_scaled_dot_product_flash_attention": "query key value dropout_p is_causal",
    "_scaled_dot_product_efficient_attention": "query key value attn_bias compute_log_sumexp",
    "convert_element_type": "a dtype", "choose_qparams": "input quant_min quant_max eps dtype",
}


def newer(target, reference, *args, label="", keep=None, dynamic=False, names=None, namespace="aten", **kwargs):
    """One call of an operator that PyTorch 1.13 does not have; `reference` gives its results."""
    names = names or NAMES.get(target.split(".")[0], "self").split()
    name = f"{namespace}_" + target.replace(".", "_") + ("_" + label if label else "")
    if wanted not in name:
        return
    program = Program(dynamic)
    inputs = [{"name": names[i], "arg": program.argument(a, names[i]), "kind": 1} for i, a in enumerate(args)]
    inputs += [{"name": k, "arg": program.argument(v, k), "kind": 2} for k, v in kwargs.items()]
    results = reference(*args)
    outputs = [{"as_tensor": program.result(r)} for r in flat(results)]
    program.nodes.append({"target": f"torch.ops.{namespace}.{target}", "inputs": inputs, "outputs": outputs, "metadata": {},
                          "is_hop_single_tensor_return": None})
    write(name, program, results, keep)


for op, low, high in (
    ("absolute", -2, 2), ("arccos", -0.9, 0.9), ("arccosh", 1.1, 3), ("arcsin", -0.9, 0.9), ("arcsinh", -2, 2), ("arctan", -2, 2),
    ("arctanh", -0.9, 0.9), ("fix", -2, 2), ("negative", -2, 2), ("isneginf", -2, 2), ("isposinf", -2, 2), ("isreal", -2, 2),
    ("special_digamma", 0.5, 3), ("special_psi", 0.5, 3), ("special_erf", -2, 2), ("special_erfc", -2, 2), ("special_erfinv", -0.9, 0.9),
    ("special_exp2", -2, 2), ("special_expit", -2, 2), ("special_expm1", -2, 2), ("special_gammaln", 0.5, 3), ("special_i0", -2, 2),
    ("special_i0e", -2, 2), ("special_i1", -2, 2), ("special_i1e", -2, 2), ("special_log1p", -0.5, 3), ("special_ndtr", -2, 2),
    ("special_round", -2, 2), ("special_sinc", -2, 2), ("conj", -2, 2), ("conj_physical", -2, 2), ("resolve_neg", -2, 2),
    ("lift", -2, 2), ("lift_fresh", -2, 2), ("lift_fresh_copy", -2, 2), ("alias_copy", -2, 2), ("detach_copy", -2, 2), ("t_copy", -2, 2),
    ("squeeze_copy", -2, 2), ("argwhere", -2, 2), ("msort", -2, 2), ("logdet", 1, 2), ("det", -2, 2), ("_shape_as_tensor", -2, 2),
    ("numpy_T", -2, 2), ("adjoint", -2, 2), ("mH", -2, 2), ("matrix_H", -2, 2), ("linalg_diagonal", -2, 2),
):
    if hasattr(torch.ops.aten, op):
        taken = x(3, 4, low=low, high=high)
        if op in ("logdet", "det"):
            taken = torch.eye(3) * 3 + x(3, 3, low=-0.5, high=0.5)
        case(op + ".default", taken)
case("isneginf.default", torch.tensor([1.0, float("inf"), float("-inf"), float("nan")]), label="met")
case("isposinf.default", torch.tensor([1.0, float("inf"), float("-inf"), float("nan")]), label="met")
for op in ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"):
    case(f"_cast_{op}.default", x(3, 4, low=0, high=100))
for op in ("divide", "greater", "greater_equal", "less", "less_equal", "multiply", "not_equal", "true_divide", "subtract", "float_power"):
    overload = "Tensor_Tensor" if op == "float_power" else "Tensor"
    case(f"{op}.{overload}", x(3, 4, low=0.5), x(4, low=0.5))
    case(f"{op}.{'Tensor_Scalar' if op == 'float_power' else 'Scalar'}", x(3, 4, low=0.5), 1.5)
for op in ("divide", "true_divide"):
    case(f"{op}.Tensor", i64(3, 4), i64(3, 4, low=1), label="integers")
case("arctan2.default", x(3, 4), x(3, 4, low=0.5))
case("special_xlogy.default", x(4, low=0), x(4, low=0.5))
for op in ("__and__", "__or__", "__xor__", "bitwise_left_shift", "bitwise_right_shift"):
    case(f"{op}.Tensor", i64(5), i64(5, high=4))
case("clamp_max.default", x(6), 0.5)
case("clip.default", x(6), -1.0, 1.0)
case("special_logit.default", x(4, low=0.1, high=0.9))
case("special_logit.default", x(4, low=-0.1, high=1.1), 0.1, label="eps")
case("special_softmax.int", x(3, 4), 1) if "int" in torch.ops.aten.special_softmax.overloads() else case("special_softmax.default", x(3, 4), 1)
case("special_log_softmax.default", x(3, 4), 1)
case("special_logsumexp.default", x(3, 4), [1])
case("fake_quantize_per_tensor_affine.default", x(3, 4), 0.1, 10, 0, 255)

# Views, and what copies them.
a = x(2, 3, 4)
case("_reshape_alias.default", a, [6, 4], [4, 1])
case("_unsafe_view.default", a, [6, 4])
case("view_copy.default", a, [6, 4])
case("expand_copy.default", x(2, 1, 4), [2, 5, -1])
case("permute_copy.default", a, [2, 0, 1])
case("transpose_copy.int", a, 0, 2)
case("unsqueeze_copy.default", a, 1)
case("squeeze_copy.dim", x(2, 1, 4), 1)
case("select_copy.int", a, 1, -1)
case("slice_copy.Tensor", a, 1, 1, 3)
case("diagonal_copy.default", a, 0, 1, 2)
case("as_strided_copy.default", a, [2, 2], [3, 1], 1)
case("as_strided_scatter.default", x(3, 4), x(2, 2), [2, 2], [4, 1], 1)
case("narrow_copy.default", a, 1, 1, 2)
case("unfold_copy.default", a, 2, 2, 1)
case("split_copy.Tensor", a, 2, 2)
case("split_with_sizes_copy.default", a, [1, 2], 1)
case("unbind_copy.int", a, 1)
case("unsafe_split.Tensor", a, 2, 2)
case("unsafe_split_with_sizes.default", a, [1, 2], 1)
case("dsplit.int", a, 2)
case("broadcast_to.default", x(1, 4), [3, 4])
case("view_as.default", a, x(6, 4))
case("reshape_as.default", a, x(6, 4))
case("type_as.default", i64(3), x(3))
case("moveaxis.int", a, 0, 2)
case("swapaxes.default", a, 0, 2)
case("swapdims.default", a, 0, 1)
case("concat.default", [a, a * 2], 1)
case("concatenate.default", [a, a * 2], 1)
case("row_stack.default", [x(2, 3), x(1, 3)])
case("_stack.default", [a, a * 2], 1)
case("sum_to_size.default", a, [3, 1])
case("native_channel_shuffle.default", x(1, 4, 2, 3), 2)
case("index_put.default", x(3, 4), [i64(3, high=3), None], x(3, 4), label="rows")
case("_index_put_impl.default", x(3, 4), [torch.tensor([0, 2])], x(2, 4), False, True)
newer("_unsafe_index.Tensor", lambda v, i: v[i[0]], x(3, 4), [i64(2, high=3)])
newer("_unsafe_index_put.default", lambda v, i, s: v.clone().index_put(tuple(i), s), x(3, 4), [torch.tensor([0, 2])], x(2, 4))
case("triu_indices.default", 3, 4, 1)
case("logspace.default", 0.0, 2.0, 5)
case("range.step", 1.0, 5.0, 2.0)
case("empty_strided.default", [0, 3], [3, 1])
case("new_empty_strided.default", a, [0, 3], [3, 1])
case("new_ones.default", a, [2, 3])
case("empty.memory_format", [0, 3])
case("any.dims" if "dims" in torch.ops.aten.any.overloads() else "any.dim", x(3, 4) > 1, 0, label="rows")
newer("any.dims", lambda v, d: v.amax(d).bool() if v.dtype != torch.bool else v.float().amax(d) > 0, x(2, 3, 4) > 1.5, [0, 2])
newer("all.dims", lambda v, d: v.float().amin(d) > 0, x(2, 3, 4) > -1.9, [0, 2])
newer("squeeze.dims", lambda v, d: v.squeeze(2).squeeze(1), x(3, 1, 1, 4), [1, 2])

# Numbers of a few kinds.
case("inner.default", x(3, 4), x(2, 4))
case("ger.default", x(3), x(4))
case("vdot.default", x(4), x(4, low=0))
case("chain_matmul.default", [x(2, 3), x(3, 4), x(4, 2)])
case("inverse.default", torch.eye(3) * 3 + x(3, 3, low=-0.5, high=0.5))
spd = torch.eye(3) * 3 + (lambda m: m @ m.T)(x(3, 3, low=-0.5, high=0.5))
case("cholesky.default", spd)
case("linalg_cholesky_ex.default", spd, keep=[0])
case("linalg_solve_ex.default", spd, x(3, 2), keep=[0])
case("linalg_slogdet.default", spd)
case("linalg_cross.default", x(4, 3), x(4, 3, low=0))
case("linalg_matmul.default", x(2, 3), x(3, 4))
case("linalg_norm.default", x(3, 4))
case("linalg_norm.default", x(3, 4), 1, [1], label="one")
case("linalg_matrix_norm.str_ord", x(3, 4), "fro")
case("linalg_matrix_norm.default", x(3, 4), 1, label="columns")
case("matrix_power.default", x(3, 3), 3)
newer("native_norm.default", lambda v: v.norm(), x(3, 4))
case("renorm.default", x(3, 4), 2.0, 0, 1.0)
case("_euclidean_dist.default", x(3, 4), x(5, 4))
case("_pdist_forward.default", x(4, 3))
case("_aminmax.default", x(3, 4))
case("searchsorted.Tensor", torch.tensor([0.1, 0.5, 0.9, 1.4]), x(3, 4))
case("searchsorted.Tensor", torch.tensor([0.1, 0.5, 0.5, 1.4]), torch.tensor([0.5, 2.0]), right=True, label="right")
case("nonzero_numpy.default", x(3, 4) > 0)
case("_unique.default", i64(9))
case("_unique2.default", i64(9), True, True, True)
case("special_entr.default", x(4, low=0.1))

# Losses and activations as graphs have them.
scores, classes = F_log(x(4, 5)), i64(4)
case("nll_loss.default", scores, classes)
case("nll_loss_forward.default", scores, classes, None, 1, -100, keep=[0])
case("nll_loss_forward.default", scores, classes, x(5, low=0.5), 1, 2, keep=[0], label="weighed")
case("nll_loss2d.default", F_log(x(2, 5, 3, 3)), i64(2, 3, 3))
case("nll_loss2d_forward.default", F_log(x(2, 5, 3, 3)), i64(2, 3, 3), None, 0, -100, keep=[0])
case("log_sigmoid_forward.default", x(3, 4), keep=[0])
case("_masked_softmax.default", x(2, 2, 4, 4), x(2, 2, 4, 4) > 0.5, 3, 2)
newer("_prelu_kernel.default", lambda v, w: torch.where(v > 0, v, v * w), x(2, 3, 4), x(1, 3, 1))
newer("rms_norm.default", lambda v, s, w, e: v / torch.sqrt((v * v).mean(-1, True) + e) * w, x(2, 3, 4), [4], x(4, low=0.5), 1e-5)
newer("rms_norm.default", lambda v, s: v / torch.sqrt((v * v).mean(-1, True) + 1.1920928955078125e-07), x(2, 3, 4), [4], label="bare")
case("_weight_norm_interface.default", x(3, 4), x(3, 1, low=0.5), 0, keep=[0])
case("_pad_enum.default", x(1, 2, 4, 5), [1, 2, 1, 0], 1)
case("_pad_circular.default", x(1, 2, 4, 5), [1, 2, 1, 0])
case("conv_tbc.default", x(5, 2, 3), x(3, 3, 4), x(4), 1)
case("grid_sampler_3d.default", x(1, 2, 3, 4, 5), x(1, 2, 3, 3, 3, low=-1.1, high=1.1), 0, 0, False)
case("_embedding_bag.default", x(7, 3), i64(9), torch.tensor([0, 3, 3, 7]), keep=[0])
case("_embedding_bag.default", x(7, 3), i64(9), torch.tensor([0, 3, 3, 7]), False, 1, keep=[0], label="mean")
case("_embedding_bag_forward_only.default", x(7, 3), i64(9), torch.tensor([0, 3, 3, 7]), False, 2, keep=[0])

# Normalisation, in the names that PyTorch 2 has for it.
picture = x(2, 4, 3, 3)


def normed(v, w, b, mean, var, *rest):
    return torch.nn.functional.batch_norm(v, mean, var, w, b, False, 0.1, 1e-5)


def by_the_batch(v, w, b, *rest):
    return torch.nn.functional.batch_norm(v, None, None, w, b, True, 0.1, 1e-5)


def moved(v, w, b, mean, var, *rest):
    """Results of training: the normalised, the statistics of the batch, the running ones."""
    new_mean, new_var = mean.clone(), var.clone()
    out = torch.nn.functional.batch_norm(v, new_mean, new_var, w, b, True, 0.1, 1e-5)
    axes = (0, 2, 3)
    return [out, v.mean(axes), 1 / torch.sqrt(v.var(axes, unbiased=False) + 1e-5), new_mean, new_var]


norm_names = ["input", "weight", "bias", "running_mean", "running_var", "momentum", "eps"]
norm_flags = ["input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps"]
newer("_native_batch_norm_legit_no_training.default", normed, picture, *statistics, 0.1, 1e-5, names=norm_names)
newer("_batch_norm_no_update.default", normed, picture, *statistics, 0.1, 1e-5, names=norm_names)
newer("_native_batch_norm_legit.default", normed, picture, *statistics, False, 0.1, 1e-5, names=norm_flags)
newer("_native_batch_norm_legit.no_stats", lambda v, w, b, *rest: by_the_batch(v, w, b), picture, *statistics[:2], True, 0.1, 1e-5,
      names=["input", "weight", "bias", "training", "momentum", "eps"])
newer("_native_batch_norm_legit_functional.default", moved, picture, *statistics, True, 0.1, 1e-5, names=norm_flags)

# Attention in its forms.
q, k, v = x(2, 2, 5, 4), x(2, 2, 6, 4, low=-1), x(2, 2, 6, 4, low=0)


def attended(q, k, v, mask=None, causal=False, scale=None):
    weights = q @ k.transpose(-2, -1) * (scale or q.shape[-1] ** -0.5)
    if causal:
        weights = weights.masked_fill(~torch.ones(q.shape[-2], k.shape[-2]).tril().bool(), float("-inf"))
    if mask is not None:
        weights = weights.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else weights + mask
    return torch.softmax(weights, -1) @ v


def log_sums(q, k):
    return torch.logsumexp(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1)


mask, added = (x(5, 6) > -1.5), x(5, 6)
newer("scaled_dot_product_attention.default", attended, q, k, v)
newer("scaled_dot_product_attention.default", lambda q, k, v, m: attended(q, k, v, m), q, k, v, mask, label="mask")
newer("scaled_dot_product_attention.default", lambda q, k, v, m: attended(q, k, v, m), q, k, v, added, label="added")
newer("scaled_dot_product_attention.default", lambda q, k, v, m, p, c: attended(q, k, v, None, True), q, k, v, None, 0.0, True,
      label="causal")
newer("scaled_dot_product_attention.default", lambda q, k, v: attended(q, k, v, None, False, 0.3), q, k, v, scale=0.3, label="scale")
newer("scaled_dot_product_attention.default", lambda q, k, v: attended(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)),
      x(2, 4, 5, 4), k, v, enable_gqa=True, label="groups")
newer("_scaled_dot_product_flash_attention_for_cpu.default", lambda q, k, v: [attended(q, k, v), log_sums(q, k)], q, k, v, keep=[0])
newer("_scaled_dot_product_flash_attention.default", lambda q, k, v: [attended(q, k, v), log_sums(q, k)], q, k, v, keep=[0])
newer("_scaled_dot_product_efficient_attention.default", lambda q, k, v, b, c: [attended(q, k, v, b), log_sums(q, k)], q, k, v, added,
      False, keep=[0])
case("_scaled_dot_product_attention_math.default", q, k, v, keep=[0])
case("_scaled_dot_product_attention.default", q, k, v, None, 0.0, True, False)

# Random numbers: their range and shape are what a test can tell.
def drawn(name, target, shown, *args, **kwargs):
    if wanted not in name:
        return
    program = Program()
    made = program.call(target, *args, **kwargs)
    write(name, program, shown(program.call, made))


within = lambda low, high: lambda call, v: [call("ge.Scalar", v, low), call("lt.Scalar", v, high)]
ordered = lambda call, v: [call("sort.default", v, 0, False)[0]]
zeroed = lambda call, v: [call("mul.Scalar", call("isfinite.default", v), 1)]
drawn("aten_rand", "rand.default", within(0.0, 1.0), [3, 4])
drawn("aten_rand_like", "rand_like.default", within(0.0, 1.0), x(3, 4))
drawn("aten_randn", "randn.default", zeroed, [3, 4])
drawn("aten_randn_like", "randn_like.default", zeroed, x(3, 4))
drawn("aten_randint", "randint.low", within(2, 7), 2, 7, [3, 4])
drawn("aten_randint_like", "randint_like.low_dtype", within(2, 7), x(3, 4), 2, 7)
drawn("aten_randperm", "randperm.default", ordered, 7)
drawn("aten_multinomial", "multinomial.default", ordered, x(7, low=0.1, high=1.0), 7)
drawn("aten_bernoulli", "bernoulli.default", within(0.0, 1.1), x(3, 4, low=0.1, high=0.9))
drawn("aten_normal", "normal.float_Tensor", zeroed, 0.0, x(3, 4, low=0.5, high=1))
drawn("aten_uniform", "uniform.default", within(1.0, 2.0), x(3, 4), 1.0, 2.0)
drawn("aten_exponential", "exponential.default", within(0.0, 1e9), x(3, 4))

# Types of prims, and parameters that are chosen while the model runs.
newer("convert_element_type.default", lambda v, t: v.double(), x(3, 4), torch.float64, namespace="prims")


def chosen(v, low, high, eps, dtype):
    least, most = min(v.min().item(), 0.0), max(v.max().item(), 0.0)
    scale = max((most - least) / (high - low), eps)
    return [torch.tensor([scale], dtype=torch.float64), torch.tensor([low - round(least / scale)], dtype=torch.int64)]


newer("choose_qparams.tensor", chosen, x(3, 4), -128, 127, 1.1920928955078125e-07, torch.int8, namespace="quantized_decomposed")

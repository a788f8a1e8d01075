# Operators element by element, reductions, and types. Read by cases.py.
UNARY = """abs acos:-0.9:0.9 acosh:1.1:3 asin:-0.9:0.9 asinh atan atanh:-0.9:0.9 ceil cos cosh deg2rad digamma:0.2:4 erf erfc
erfinv:-0.9:0.9 exp exp2 expm1 floor frac i0 isfinite isinf isnan lgamma:0.2:4 log:0.1:3 log10:0.1:3 log1p:-0.5:3 log2:0.1:3
logical_not logit:0.1:0.9 neg positive rad2deg reciprocal:0.5:3 relu round rsqrt:0.1:3 sigmoid sign signbit sin sinc sinh
sqrt:0.1:3 square tan:-1:1 tanh trunc selu nan_to_num sgn""".split()
for entry in UNARY:
    op, *range_ = entry.split(":")
    low, high = (float(v) for v in range_) if range_ else (-2, 2)
    case(f"unary_{op}", getattr(torch, op), x(3, 4, low=low, high=high), dynamic=op in ("exp", "relu"))
    case(f"unary_{op}_f64", getattr(torch, op), x(5, low=low, high=high, dtype=torch.float64))
for op in "abs neg sign square bitwise_not relu".split():
    case(f"unary_{op}_i64", getattr(torch, op), i64(3, 4, low=-5))
for op in "exp sqrt sin reciprocal sigmoid tanh log2 erf".split():
    case(f"unary_{op}_of_i64", getattr(torch, op), i64(6, low=1))

BINARY = "add sub mul div maximum minimum fmax fmin eq ne lt le gt ge atan2 hypot copysign logaddexp remainder fmod floor_divide".split()
for op in BINARY:
    f = getattr(torch, op)
    case(f"binary_{op}", f, x(3, 4), x(3, 4, low=0.5, high=2), dynamic=op in ("add", "mul"))
    case(f"binary_{op}_broadcast", f, x(2, 1, 4), x(3, 1, low=0.5))
    if op not in ("copysign",):
        case(f"binary_{op}_f64_f32", f, x(3, low=0.5, dtype=torch.float64), x(3, low=0.5))
    if op not in ("hypot", "logaddexp", "atan2", "copysign"):
        case(f"binary_{op}_i64", f, i64(7, low=-6, high=7), i64(7, low=1, high=4))
for op in "add sub mul div eq lt ge remainder floor_divide maximum".split():
    f = getattr(torch, op)
    if op != "maximum":
        case(f"number_{op}_float", lambda a, f=f: f(a, 1.5), x(4))
        case(f"number_{op}_int_of_float", lambda a, f=f: f(a, 2), x(4))
        case(f"number_{op}_int", lambda a, f=f: f(a, 3), i64(6, low=-4))
        case(f"number_{op}_float_of_int", lambda a, f=f: f(a, 1.5), i64(6, low=-4))
    case(f"zero_dim_{op}", f, x(3, dtype=torch.float32), torch.tensor(1.25, dtype=torch.float64))
    case(f"zero_dim_{op}_int_with_float", f, i64(4, low=1), torch.tensor(1.25, dtype=torch.float64))
case("add_alpha", lambda a, b: torch.add(a, b, alpha=3), x(4), x(4))
case("sub_alpha", lambda a, b: torch.sub(a, b, alpha=0.5), x(4), x(4))
case("rsub", lambda a: torch.rsub(a, 3), x(4))
case("int_plus_bool", torch.add, i64(4), i64(4) > 2)
case("bool_plus_bool", torch.add, i64(4) > 1, i64(4) > 2)
case("bool_times_float", torch.mul, i64(4) > 1, x(4))
case("u8_plus_i8", torch.add, i64(4).to(torch.uint8), i64(4).to(torch.int8))
case("i32_plus_i64", torch.add, i64(4).to(torch.int32), i64(4))
case("i32_div_i32", torch.div, i64(4).to(torch.int32), i64(4, low=1).to(torch.int32))
case("div_floor", lambda a, b: torch.div(a, b, rounding_mode="floor"), x(5), x(5, low=0.3))
case("div_trunc", lambda a, b: torch.div(a, b, rounding_mode="trunc"), x(5), x(5, low=0.3))
case("div_floor_int", lambda a, b: torch.div(a, b, rounding_mode="floor"), i64(7, low=-7), i64(7, low=1))
case("div_trunc_int", lambda a, b: torch.div(a, b, rounding_mode="trunc"), i64(7, low=-7), i64(7, low=1))
for exponent in (2, 3, 0.5, -1, 2.5):
    case(f"pow_{str(exponent).replace('.', '_')}", lambda a, e=exponent: torch.pow(a, e), x(4, low=0.2))
case("pow_tensor", torch.pow, x(4, low=0.2), x(4))
case("pow_scalar_base", lambda a: torch.pow(2.0, a), x(4))
case("pow_int", lambda a: torch.pow(a, 3), i64(5, low=-3))
case("xlogy", torch.xlogy, torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.5, 2.0, 3.0]))
case("heaviside", torch.heaviside, torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.5, 0.5, 0.5]))
case("lerp", lambda a, b: torch.lerp(a, b, 0.3), x(4), x(4, low=0))
case("lerp_tensor", torch.lerp, x(4), x(4, low=0), x(4, low=0, high=1))
case("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=2), x(4), x(4, low=0), x(4, low=1))
case("addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=2), x(4), x(4, low=0), x(4, low=1))
case("clamp", lambda a: torch.clamp(a, -1, 1), x(6))
case("clamp_min", lambda a: torch.clamp(a, min=0.5), x(6))
case("clamp_max", lambda a: torch.clamp(a, max=0.5), x(6))
case("clamp_int", lambda a: torch.clamp(a, 1, 3), i64(6))
case("clamp_tensors", torch.clamp, x(6), x(6, low=-1, high=0), x(6, low=0, high=1))
case("where", lambda a, b: torch.where(a > 0, a, b), x(3, 4), x(4))
case("masked_fill", lambda a: a.masked_fill(a > 0, 7.0), x(3, 4))
case("logical_and", torch.logical_and, x(4) > 0, i64(4))
case("logical_xor", torch.logical_xor, x(4) > 0, i64(4) > 2)
case("bitwise_and", torch.bitwise_and, i64(6), i64(6, high=9))
case("bitwise_or", torch.bitwise_or, i64(6), i64(6, high=9))
case("bitwise_xor_bool", torch.bitwise_xor, i64(6) > 1, i64(6) > 2)
case("shift_left", lambda a: a << 2, i64(6))
case("shift_right", lambda a: a >> 1, i64(6, low=-9, high=9))
case("round_decimals", lambda a: torch.round(a, decimals=1), x(5))
case("isclose", torch.isclose, x(5), x(5))

for name, f in {
    "relu6": F.relu6, "elu": lambda a: F.elu(a, 0.7), "celu": lambda a: F.celu(a, 0.7), "gelu": F.gelu,
    "gelu_tanh": lambda a: F.gelu(a, approximate="tanh"), "silu": F.silu, "mish": F.mish, "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid, "hardtanh": lambda a: F.hardtanh(a, -0.5, 0.8), "leaky_relu": lambda a: F.leaky_relu(a, 0.2),
    "logsigmoid": F.logsigmoid, "softplus": lambda a: F.softplus(a, 2.0, 3.0), "softsign": F.softsign,
    "softshrink": lambda a: F.softshrink(a, 0.3), "hardshrink": lambda a: F.hardshrink(a, 0.3), "tanhshrink": F.tanhshrink,
    "threshold": lambda a: F.threshold(a, 0.1, -3.0), "glu": lambda a: F.glu(a, 1), "softmax": lambda a: F.softmax(a, 1),
    "log_softmax": lambda a: F.log_softmax(a, -1), "softmin": lambda a: F.softmin(a, 1), "rrelu": lambda a: F.rrelu(a),
    "softmax_f64": lambda a: F.softmax(a, 0, dtype=torch.float64), "dropout": lambda a: F.dropout(a, 0.5, False),
    "normalize": lambda a: F.normalize(a, dim=1), "cosine": lambda a: F.cosine_similarity(a, a + 1, dim=1),
}.items():
    case(f"activation_{name}", f, x(3, 4, low=-4, high=4))
case("prelu", nn.PReLU(3), x(2, 3, 4))
case("prelu_one", nn.PReLU(), x(2, 3))

REDUCE = "sum mean prod amax amin var std logsumexp".split()
for op in REDUCE:
    f = getattr(torch, op)
    for dims in ((1,), (0, 2), (-1,)):
        if op == "prod":
            case(f"reduce_{op}_{dims[0]}_{len(dims)}", lambda a, d=dims: torch.prod(a, d[0]), x(2, 3, 4))
            continue
        case(f"reduce_{op}_{len(dims)}_{dims[0] + 1}", lambda a, f=f, d=dims: f(a, d), x(2, 3, 4), dynamic=op == "mean")
        case(f"reduce_{op}_{len(dims)}_{dims[0] + 1}_keep", lambda a, f=f, d=dims: f(a, d, keepdim=True), x(2, 3, 4))
    if op not in ("logsumexp", "amax", "amin"):
        case(f"reduce_{op}_all", f, x(2, 3))
case("sum_int", torch.sum, i64(3, 4).to(torch.int32))
case("sum_bool", torch.sum, i64(3, 4) > 2)
case("sum_dtype", lambda a: torch.sum(a, 1, dtype=torch.float64), x(3, 4))
case("var_biased", lambda a: torch.var(a, 1, unbiased=False), x(3, 4))
case("var_biased_all", lambda a: torch.var(a, unbiased=False), x(3, 4))
case("var_mean", lambda a: torch.var_mean(a, 1), x(3, 4))
case("std_mean", lambda a: torch.std_mean(a, 1, keepdim=True), x(3, 4))
for op in ("max", "min"):
    f = getattr(torch, op)
    case(f"{op}_all", f, x(3, 4))
    case(f"{op}_dim", lambda a, f=f: f(a, 1), x(3, 4))
    case(f"{op}_dim_keep", lambda a, f=f: f(a, 0, keepdim=True), x(3, 4))
    case(f"{op}_two", f, x(3, 4), x(4))
    case(f"arg{op}", lambda a, op=op: getattr(torch, "arg" + op)(a, 1), x(3, 4))
    case(f"arg{op}_all", lambda a, op=op: getattr(torch, "arg" + op)(a), x(3, 4))
case("any", lambda a: torch.any(a > 1.5), x(3, 4))
case("any_dim", lambda a: torch.any(a > 1, 1), x(3, 4))
case("all_dim", lambda a: torch.all(a > -1.5, 0, keepdim=True), x(3, 4))
case("count_nonzero", lambda a: torch.count_nonzero(a, 1), i64(3, 4, high=2))
case("aminmax", lambda a: torch.aminmax(a, dim=1), x(3, 4))
for p in (0, 1, 2, 3, float("inf")):
    case(f"norm_{p}", lambda a, p=p: torch.norm(a, p, 1), x(3, 4))
    case(f"vector_norm_{p}", lambda a, p=p: torch.linalg.vector_norm(a, p, 1, keepdim=True), x(3, 4))
case("norm_all", lambda a: torch.norm(a), x(3, 4))
case("cumsum", lambda a: torch.cumsum(a, 1), x(3, 4))
case("cumsum_int", lambda a: torch.cumsum(a, 0), i64(3, 4).to(torch.int32))
case("cumprod", lambda a: torch.cumprod(a, 1), x(3, 4))
case("logcumsumexp", lambda a: torch.logcumsumexp(a, 1), x(3, 4))
case("median_dim", lambda a: torch.median(a, 1), x(3, 5))
case("median", torch.median, x(3, 4))
case("dist", lambda a, b: torch.dist(a, b, 3), x(4), x(4, low=0))
case("nansum", torch.nansum, torch.tensor([1.0, float("nan"), 3.0]))
for name, dtype in {"half": torch.float16, "double": torch.float64, "int": torch.int32, "long": torch.int64, "bool": torch.bool, "u8": torch.uint8}.items():
    case(f"to_{name}", lambda a, d=dtype: a.to(d), x(3, low=0))

"""Tensors of ONNX's test files as PyTorch's, and whether two results agree."""
import numpy as np
import onnx
import torch
from onnx import TensorProto as T
from onnx import numpy_helper

NUMPY = {T.FLOAT: np.float32, T.UINT8: np.uint8, T.INT8: np.int8, T.UINT16: np.uint16, T.INT16: np.int16,
         T.INT32: np.int32, T.INT64: np.int64, T.BOOL: np.bool_, T.FLOAT16: np.float16, T.DOUBLE: np.float64,
         T.UINT32: np.uint32, T.UINT64: np.uint64, T.BFLOAT16: np.uint16}
# Types that PyTorch lacks travel in these: docs/pytorch-export.md.
CARRIER = {np.dtype(np.uint16): np.int32, np.dtype(np.uint32): np.int64, np.dtype(np.uint64): np.int64}
SMALL_FLOATS = {17: (4, 3, 7, "nan"), 18: (4, 3, 8, "fnuz"), 19: (5, 2, 15, "ieee"), 20: (5, 2, 16, "fnuz"),
                23: (2, 1, 1, "finite")}
SMALL_INTEGERS = {21: (4, False), 22: (4, True), 25: (2, False), 26: (2, True)}


def small_float(kind, pattern):
    exponent_bits, mantissa_bits, bias, specials = SMALL_FLOATS[kind]
    sign = -1.0 if pattern >> (exponent_bits + mantissa_bits) else 1.0
    exponent = (pattern >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = pattern & ((1 << mantissa_bits) - 1)
    if specials == "fnuz" and pattern == 0x80:
        return np.nan
    if specials == "ieee" and exponent == (1 << exponent_bits) - 1:
        return np.nan if mantissa else sign * np.inf
    if specials == "nan" and pattern & 0x7F == 0x7F:
        return np.nan
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / 2**mantissa_bits) * 2.0 ** (exponent - bias)


def patterns(tensor, bits, count):
    """The elements' bits, one number each."""
    raw = tensor.raw_data or bytes(v & 255 for v in tensor.int32_data)
    per_byte = 8 // bits
    return [raw[i // per_byte] >> (bits * (i % per_byte)) & ((1 << bits) - 1) for i in range(count)]


def tensor_of(proto):
    shape, kind = list(proto.dims), proto.data_type
    count = int(np.prod(shape, dtype=np.int64))
    if kind == T.STRING:
        raise TypeError("PyTorch has no strings")
    if kind in SMALL_FLOATS:
        bits = 4 if kind == 23 else 8
        values = [small_float(kind, p) for p in patterns(proto, bits, count)]
        return torch.tensor(values, dtype=torch.float32).reshape(shape)
    if kind == 24:
        values = [np.nan if p == 255 else 2.0 ** (p - 127) for p in patterns(proto, 8, count)]
        return torch.tensor(values, dtype=torch.float32).reshape(shape)
    if kind in SMALL_INTEGERS:
        bits, signed = SMALL_INTEGERS[kind]
        values = [p - (1 << bits) if signed and p >> (bits - 1) else p for p in patterns(proto, bits, count)]
        return torch.tensor(values, dtype=torch.int8 if signed else torch.uint8).reshape(shape)
    if proto.raw_data or kind == T.BFLOAT16:
        raw = proto.raw_data or np.array(proto.int32_data, np.uint16).tobytes()
        array = np.frombuffer(raw, NUMPY[kind]).reshape(shape)
    else:
        array = numpy_helper.to_array(proto)
    if kind == T.BFLOAT16:
        wide = (array.reshape(-1).astype(np.uint32) << 16).view(np.float32)
        return torch.from_numpy(wide.reshape(shape)).to(torch.bfloat16)
    if array.dtype == np.uint64:
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int64).reshape(shape).copy())
    return torch.from_numpy(array.astype(CARRIER.get(array.dtype, array.dtype)).reshape(shape).copy())


def parsed(message, path):
    message.ParseFromString(path.read_bytes())
    return message


def value_of(path, kind):
    """What a file holds, of a type as the model declares it."""
    what = kind.WhichOneof("value")
    if what == "sequence_type":
        return [tensor_of(t) for t in parsed(onnx.SequenceProto(), path).tensor_values]
    if what == "optional_type":
        stored = parsed(onnx.OptionalProto(), path)
        if stored.elem_type == onnx.OptionalProto.TENSOR:
            return tensor_of(stored.tensor_value)
        if stored.elem_type == onnx.OptionalProto.SEQUENCE:
            return [tensor_of(t) for t in stored.sequence_value.tensor_values]
        return None
    return tensor_of(parsed(onnx.TensorProto(), path))


def difference(ours, theirs):
    """Empty where the results agree as ONNX's own runner asks, or within 1e-5 of the largest number."""
    if isinstance(theirs, list) or isinstance(ours, (list, tuple)):
        if not isinstance(ours, (list, tuple)) or len(ours) != len(theirs):
            return "another number of elements"
        return next((d for d in map(difference, ours, theirs) if d), "")
    if ours is None or theirs is None:
        return "" if ours is theirs else "one is None"
    if ours.dtype != theirs.dtype:
        return f"type {ours.dtype} for {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"shape {tuple(ours.shape)} for {tuple(theirs.shape)}"
    relative = {torch.float16: 2e-3, torch.bfloat16: 1e-2}.get(ours.dtype, 1e-3)
    a, b = ours.detach().to(torch.float64).numpy(), theirs.to(torch.float64).numpy()
    if np.allclose(a, b, rtol=relative, atol=1e-7, equal_nan=True):
        return ""
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(invalid="ignore"):
        other = ~finite & ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if other.any():
        return "other infinities or NaN"
    scale = max(np.abs(b[finite]).max(), 1e-30) if finite.any() else 1.0
    worst = np.abs(a - b)[finite].max() if finite.any() else 0.0
    return "" if worst <= 1e-5 * scale else f"off by {worst:.3g} of {scale:.3g}"


def flat(results):
    return list(results) if isinstance(results, tuple) else [results]


def text_of(error):
    return " ".join(str(error).split())[-300:]

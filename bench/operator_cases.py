"""The cases of bench/operators.py: each operator on middle-sized inputs of several types and along several axes. Inputs
that say where (indices, shapes, axes, scales) are constants where models usually have them so, and numpy's otherwise."""
import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21  # newer versions of some operators have no kernel in ONNX Runtime
F32, F64, F16, I64, I32, U8, I8 = np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.int8
TYPES = {"f32": F32, "f64": F64, "f16": F16, "i64": I64, "i32": I32, "u8": U8, "i8": I8, "i16": np.int16,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}


@dataclasses.dataclass
class Case:
    name: str
    op: str
    inputs: list  # arrays; Fixed arrays are initializers; None is left out
    attrs: dict
    outputs: int = 1
    domain: str = ""
    opset: int = OPSET


class Fixed:
    def __init__(self, array):
        self.array = np.asarray(array)


def random(kind, *shape, low=None, high=None):
    """The same numbers for the same shape and type."""
    dtype = np.dtype(TYPES[kind])
    g = np.random.default_rng(sum(shape) + len(shape))
    if dtype.kind == "f":
        return g.uniform(-1 if low is None else low, 1 if high is None else high, shape).astype(dtype)
    if dtype.kind == "b":
        return g.integers(0, 2, shape).astype(dtype)
    return g.integers(1 if low is None else low, 100 if high is None else high, shape).astype(dtype)


def ints(*values):
    return Fixed(np.array(values, I64))


def elementwise():
    for op in ("Abs Neg Sign Floor Ceil Round Reciprocal Sqrt Exp Log Sin Cos Tan Sinh Cosh Tanh Atan Erf Sigmoid Softplus "
               "Softsign Relu LeakyRelu Elu Selu Celu Gelu HardSigmoid HardSwish Mish ThresholdedRelu IsNaN IsInf "
               "Shrink Asin Acos Asinh Atanh Swish").split():
        yield Case(f"{op} f32", op, [random("f32", 1000, 1000, low=0.01, high=0.9)], {}, opset=24 if op == "Swish" else OPSET)
    yield Case("Acosh f32", "Acosh", [random("f32", 1000, 1000, low=1, high=9)], {})
    for op in "Abs Exp Sqrt Tanh Sigmoid Relu Erf Log Floor".split():
        yield Case(f"{op} f64", op, [random("f64", 1000, 1000, low=0.01, high=2)], {})
    for op in "Abs Exp Tanh Sigmoid Relu Erf Gelu".split():
        yield Case(f"{op} f16", op, [random("f16", 1000, 1000, low=0.01, high=2)], {})
    for kind in ("i64", "i32", "i8"):
        for op in ("Abs", "Neg", "Sign"):
            yield Case(f"{op} {kind}", op, [random(kind, 1000, 1000)], {})
    yield Case("Relu i32", "Relu", [random("i32", 1000, 1000, low=-9)], {})
    yield Case("Not", "Not", [random("bool", 1000, 1000)], {})
    for kind in ("u8", "i32", "i64"):
        yield Case(f"BitwiseNot {kind}", "BitwiseNot", [random(kind, 1000, 1000)], {})
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            yield Case(f"{op} {kind}", op, [random(kind, 1000, 1000), random(kind, 1000, 1000)], {})
    for kind in ("u8", "u32", "u64"):
        yield Case(f"BitShift {kind}", "BitShift", [random(kind, 1000, 1000), random(kind, 1000, 1000, low=0, high=7)],
                   {"direction": "LEFT"})
    for kind in ("f32", "f64", "f16", "i64", "i32", "i8", "u8"):
        for op in ("Add", "Sub", "Mul", "Div"):
            yield Case(f"{op} {kind}", op, [random(kind, 1000, 1000, low=1), random(kind, 1000, 1000, low=1, high=2 if kind[0] == "f" else 50)], {})
    for kind in ("f32", "f64", "i64", "i32", "u8"):
        for op in ("Max", "Min"):
            yield Case(f"{op} {kind}", op, [random(kind, 1000, 1000), random(kind, 1000)], {})
    yield Case("Max of 4 f32", "Max", [random("f32", 1000, 1000)] * 4, {})
    yield Case("Sum of 3 f32", "Sum", [random("f32", 1000, 1000)] * 3, {})
    yield Case("Mean of 3 f32", "Mean", [random("f32", 1000, 1000)] * 3, {})
    for kind in ("f32", "f64", "i64", "i32", "u8", "bool"):
        yield Case(f"Equal {kind}", "Equal", [random(kind, 1000, 1000), random(kind, 1000, 1)], {})
    for kind in ("f32", "f64", "i64", "i32", "u8", "f16"):
        for op in ("Less", "GreaterOrEqual"):
            yield Case(f"{op} {kind}", op, [random(kind, 1000, 1000), random(kind, 1000)], {})
    for op in ("And", "Or", "Xor"):
        yield Case(op, op, [random("bool", 1000, 1000), random("bool", 1000, 1000)], {})
    for kind in ("f32", "f64", "i64", "i32", "f16"):
        yield Case(f"Pow {kind}", "Pow", [random(kind, 1000, 1000, low=1), random(kind, 1000, 1000, low=1, high=4)], {})
        yield Case(f"Pow {kind} by 3", "Pow", [random(kind, 1000, 1000, low=1), Fixed(np.array(3, TYPES[kind]))], {})
    for kind in ("i64", "i32", "u8"):
        yield Case(f"Mod {kind}", "Mod", [random(kind, 1000, 1000), random(kind, 1000, 1000)], {})
    for kind in ("f32", "f64"):
        yield Case(f"Mod fmod {kind}", "Mod", [random(kind, 1000, 1000, low=1, high=99), random(kind, 1000, 1000, low=1)], {"fmod": 1})
    for kind in ("f32", "f64", "f16", "i64", "i32", "u8", "i8"):
        yield Case(f"Clip {kind}", "Clip", [random(kind, 1000, 1000), Fixed(np.array(0, TYPES[kind])), Fixed(np.array(6, TYPES[kind]))], {})
    for kind in ("f32", "f64", "f16", "i64"):
        yield Case(f"Where {kind}", "Where", [random("bool", 1000, 1000), random(kind, 1000, 1000), random(kind, 1000, 1000)], {})
    yield Case("Where f32 scalar", "Where", [random("bool", 1, 1, 1000, 1000), Fixed(np.array(-1e9, F32)), random("f32", 1, 4, 1000, 1000)], {})
    yield Case("PRelu", "PRelu", [random("f32", 1, 64, 125, 125), Fixed(random("f32", 64, 1, 1))], {})
    yield Case("Dropout", "Dropout", [random("f32", 1000, 1000)], {})
    yield Case("Identity", "Identity", [random("f32", 1000, 1000)], {})


def casts():
    kinds = ["f32", "f64", "f16", "i64", "i32", "u8", "i8", "bool"]
    for a in kinds:
        for b in kinds:
            if a != b:
                yield Case(f"Cast {a} {b}", "Cast", [random(a, 1000, 1000)],
                           {"to": helper.NP_TYPE_TO_TENSOR_TYPE[np.dtype(TYPES[b])] if hasattr(helper, "NP_TYPE_TO_TENSOR_TYPE")
                            else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(TYPES[b])]})
    for a in ("i16", "u16", "u32"):
        yield Case(f"Cast {a} f32", "Cast", [random(a, 1000, 1000)], {"to": TensorProto.FLOAT})
        yield Case(f"Cast f32 {a}", "Cast", [random("f32", 1000, 1000, low=0, high=99)],
                   {"to": onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(TYPES[a])]})
    yield Case("Cast f32 bf16", "Cast", [random("f32", 1000, 1000)], {"to": TensorProto.BFLOAT16})
    yield Case("CastLike", "CastLike", [random("f32", 1000, 1000), random("i32", 1)], {})


def reductions():
    for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp".split():
        for name, axes in (("last", [2]), ("middle", [1]), ("first", [0]), ("0 and 2", [0, 2]), ("all", [0, 1, 2])):
            yield Case(f"{op} f32 {name}", op, [random("f32", 100, 100, 100, low=0.9, high=1.1), ints(*axes)], {})
    for kind in ("f64", "i64", "i32", "f16"):
        for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd"):
            if op == "ReduceL2" and kind == "f16":
                continue
            yield Case(f"{op} {kind} last", op, [random(kind, 1000, 1000), ints(1)], {})
            yield Case(f"{op} {kind} first", op, [random(kind, 1000, 1000), ints(0)], {})
    for kind in ("u8", "i8"):
        yield Case(f"ReduceMax {kind}", "ReduceMax", [random(kind, 1000, 1000), ints(1)], {})
    for kind in ("f32", "f64", "i64", "i32", "u8"):
        for axis in (0, 1):
            yield Case(f"ArgMax {kind} axis {axis}", "ArgMax", [random(kind, 1000, 1000), ], {"axis": axis})
    yield Case("ArgMin f32 middle", "ArgMin", [random("f32", 100, 100, 100)], {"axis": 1})
    for kind in ("f32", "f64", "i64", "i32"):
        for axis in (0, 1):
            yield Case(f"CumSum {kind} axis {axis}", "CumSum", [random(kind, 1000, 1000), Fixed(np.array(axis, I64))], {})
    yield Case("CumSum exclusive reverse", "CumSum", [random("f32", 1000, 1000), Fixed(np.array(1, I64))], {"exclusive": 1, "reverse": 1})
    for kind in ("f32", "f64", "i64", "i32"):
        for name, shape, axis, k in (("last k 5", (1000, 1000), -1, 5), ("first k 5", (1000, 1000), 0, 5),
                                     ("one row k 100", (1, 1000000), -1, 100), ("last k 500", (1000, 1000), -1, 500)):
            yield Case(f"TopK {kind} {name}", "TopK", [random(kind, *shape, high=1 if kind[0] == "f" else 100000), ints(k)], {"axis": axis}, outputs=2)
    yield Case("TopK whole sort", "TopK", [random("f32", 1000, 1000), ints(1000)], {"axis": -1, "largest": 0}, outputs=2)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (0, 1, 2):
            yield Case(f"{op} axis {axis}", op, [random("f32", 100, 100, 100)], {"axis": axis})
        yield Case(f"{op} f64", op, [random("f64", 1000, 1000)], {})
        yield Case(f"{op} f16", op, [random("f16", 1000, 1000)], {})


def moves():
    image = random("f32", 1, 64, 128, 128)
    for kind in ("f32", "i64", "u8", "f16", "f64"):
        yield Case(f"Transpose {kind} 10", "Transpose", [random(kind, 1000, 1000)], {"perm": [1, 0]})
        yield Case(f"Transpose {kind} 0213", "Transpose", [random(kind, 8, 128, 12, 64)], {"perm": [0, 2, 1, 3]})
        yield Case(f"Transpose {kind} 0231", "Transpose", [random(kind, 1, 64, 128, 128)], {"perm": [0, 2, 3, 1]})
        yield Case(f"Concat {kind} last", "Concat", [random(kind, 1000, 500), random(kind, 1000, 500)], {"axis": 1})
        yield Case(f"Slice {kind}", "Slice", [random(kind, 1000, 1000), ints(10, 10), ints(900, 900), ints(0, 1), ints(1, 1)], {})
        yield Case(f"Slice {kind} steps", "Slice", [random(kind, 1000, 1000), ints(0, 900), ints(1000, 0), ints(0, 1), ints(2, -2)], {})
        yield Case(f"Gather {kind} rows", "Gather", [random(kind, 10000, 100), random("i64", 5000, low=0, high=9999)], {})
        yield Case(f"Gather {kind} last", "Gather", [random(kind, 1000, 1000), random("i64", 500, low=0, high=999)], {"axis": 1})
        yield Case(f"GatherElements {kind} last", "GatherElements", [random(kind, 1000, 1000), random("i64", 1000, 1000, low=0, high=999)], {"axis": 1})
        yield Case(f"GatherElements {kind} first", "GatherElements", [random(kind, 1000, 1000), random("i64", 1000, 1000, low=0, high=999)], {"axis": 0})
        yield Case(f"GatherND {kind} elements", "GatherND", [random(kind, 1000, 1000), random("i64", 100000, 2, low=0, high=999)], {})
        yield Case(f"GatherND {kind} rows", "GatherND", [random(kind, 1000, 1000), random("i64", 1000, 1, low=0, high=999)], {})
        yield Case(f"ScatterElements {kind}", "ScatterElements", [random(kind, 1000, 1000), random("i64", 1000, 1000, low=0, high=999), random(kind, 1000, 1000)], {"axis": 1})
        yield Case(f"ScatterND {kind} rows", "ScatterND", [random(kind, 1000, 1000), Fixed(np.random.default_rng(1).permutation(1000)[:500].reshape(-1, 1)), random(kind, 500, 1000)], {})
        yield Case(f"ScatterND {kind} elements", "ScatterND", [random(kind, 1000, 1000), random("i64", 100000, 2, low=0, high=999), random(kind, 100000)], {})
        yield Case(f"Expand {kind}", "Expand", [random(kind, 1000, 1), ints(1000, 1000)], {})
        yield Case(f"Tile {kind}", "Tile", [random(kind, 100, 100), ints(10, 10)], {})
        yield Case(f"Pad {kind}", "Pad", [random(kind, 1, 64, 120, 120), ints(0, 0, 4, 4, 0, 0, 4, 4)], {})
    for mode in ("reflect", "edge", "wrap"):
        yield Case(f"Pad {mode}", "Pad", [random("f32", 1, 64, 120, 120), ints(0, 0, 4, 4, 0, 0, 4, 4)], {"mode": mode})
    for reduction in ("add", "mul", "max", "min"):
        yield Case(f"ScatterElements {reduction}", "ScatterElements", [random("f32", 1000, 1000), random("i64", 1000, 1000, low=0, high=999), random("f32", 1000, 1000)], {"axis": 1, "reduction": reduction})
        yield Case(f"ScatterND {reduction}", "ScatterND", [random("f32", 1000, 1000), random("i64", 1000, 1, low=0, high=999), random("f32", 1000, 1000)], {"reduction": reduction})
    yield Case("ScatterElements i64 add", "ScatterElements", [random("i64", 1000, 1000), random("i64", 1000, 1000, low=0, high=999), random("i64", 1000, 1000)], {"axis": 0, "reduction": "add"})
    yield Case("Split", "Split", [random("f32", 1000, 999)], {"axis": 1, "num_outputs": 3}, outputs=3)
    yield Case("Concat many", "Concat", [random("f32", 1, 16, 64, 64)] * 16, {"axis": 1})
    for mode in ("DCR", "CRD"):
        yield Case(f"DepthToSpace {mode}", "DepthToSpace", [image], {"blocksize": 2, "mode": mode})
    yield Case("DepthToSpace u8", "DepthToSpace", [random("u8", 1, 64, 128, 128)], {"blocksize": 2})
    yield Case("SpaceToDepth", "SpaceToDepth", [image], {"blocksize": 2})
    yield Case("ReverseSequence", "ReverseSequence", [random("f32", 100, 100, 100), Fixed(np.arange(1, 101))], {"batch_axis": 0, "time_axis": 1})
    yield Case("ReverseSequence time first", "ReverseSequence", [random("f32", 100, 100, 100), Fixed(np.arange(1, 101))], {"batch_axis": 1, "time_axis": 0})
    for upper in (0, 1):
        yield Case(f"Trilu upper {upper}", "Trilu", [random("f32", 1000, 1000)], {"upper": upper})
    yield Case("Trilu i64", "Trilu", [random("i64", 1000, 1000)], {})
    yield Case("Trilu bool", "Trilu", [random("bool", 1000, 1000)], {})
    for kind in ("f32", "i64"):
        yield Case(f"EyeLike {kind}", "EyeLike", [random(kind, 1000, 1000)], {})
        yield Case(f"Range {kind}", "Range", [np.array(0, TYPES[kind]), np.array(1000000, TYPES[kind]), np.array(1, TYPES[kind])], {})
        yield Case(f"OneHot {kind}", "OneHot", [random("i64", 1000, low=0, high=999), ints(1000), Fixed(np.array([0, 1], TYPES[kind]))], {})
        yield Case(f"OneHot {kind} axis 0", "OneHot", [random("i64", 1000, low=0, high=999), ints(1000), Fixed(np.array([0, 1], TYPES[kind]))], {"axis": 0})
        yield Case(f"ConstantOfShape {kind}", "ConstantOfShape", [np.array([1000, 1000], I64)],
                   {"value": numpy_helper.from_array(np.array([1], TYPES[kind]))})
        yield Case(f"NonZero {kind}", "NonZero", [random(kind, 1000, 1000) * random(kind, 1000, 1000, low=0, high=2).round().astype(TYPES[kind])], {})
        yield Case(f"Compress {kind} axis 0", "Compress", [random(kind, 1000, 1000), random("bool", 1000)], {"axis": 0})
        yield Case(f"Compress {kind} axis 1", "Compress", [random(kind, 1000, 1000), random("bool", 1000)], {"axis": 1})
        yield Case(f"Compress {kind} flat", "Compress", [random(kind, 1000, 1000), random("bool", 1000000)], {})
        yield Case(f"Unique {kind}", "Unique", [random("i64", 1000000, low=0, high=1000).astype(TYPES[kind])], {}, outputs=4)
        yield Case(f"Unique {kind} unsorted", "Unique", [random("i64", 1000000, low=0, high=1000).astype(TYPES[kind])], {"sorted": 0}, outputs=1)
    yield Case("NonZero bool", "NonZero", [random("bool", 1000, 1000)], {})
    yield Case("CenterCropPad", "CenterCropPad", [image, ints(100, 140)], {"axes": [2, 3]})
    yield Case("Reshape", "Reshape", [image, ints(64, -1)], {})


def images():
    image = random("f32", 1, 64, 128, 128)
    small = random("f32", 1, 16, 64, 64)
    for mode in ("nearest", "linear", "cubic"):
        for transform in ("half_pixel", "asymmetric", "align_corners"):
            yield Case(f"Resize {mode} {transform}", "Resize", [small, None, Fixed(np.array([1, 1, 2, 2], F32))],
                       {"mode": mode, "coordinate_transformation_mode": transform})
    yield Case("Resize linear down antialias", "Resize", [image, None, Fixed(np.array([1, 1, .5, .5], F32))], {"mode": "linear", "antialias": 1})
    yield Case("Resize u8 linear", "Resize", [random("u8", 1, 16, 64, 64), None, Fixed(np.array([1, 1, 2, 2], F32))], {"mode": "linear"})
    yield Case("Resize u8 nearest", "Resize", [random("u8", 1, 16, 64, 64), None, Fixed(np.array([1, 1, 2, 2], F32))], {"mode": "nearest"})
    yield Case("Resize linear channels last", "Resize", [random("f32", 1, 64, 64, 16), None, Fixed(np.array([1, 2, 2, 1], F32))], {"mode": "linear"})
    yield Case("Resize trilinear", "Resize", [random("f32", 1, 8, 16, 32, 32), None, Fixed(np.array([1, 1, 2, 2, 2], F32))], {"mode": "linear"})
    for mode in ("linear", "nearest", "cubic"):
        yield Case(f"GridSample {mode}", "GridSample", [small, random("f32", 1, 128, 128, 2)], {"mode": mode})
    yield Case("GridSample reflection", "GridSample", [small, random("f32", 1, 128, 128, 2, low=-1.5, high=1.5)], {"padding_mode": "reflection"})
    yield Case("GridSample 3-D", "GridSample", [random("f32", 1, 4, 16, 32, 32), random("f32", 1, 16, 32, 32, 3)], {})
    yield Case("AffineGrid", "AffineGrid", [random("f32", 4, 2, 3), ints(4, 3, 256, 256)], {})
    boxes = np.sort(random("f32", 100, 2, 2, low=0, high=127), axis=1).reshape(100, 4)
    yield Case("RoiAlign avg", "RoiAlign", [image, boxes, Fixed(np.zeros(100, I64))], {"output_height": 7, "output_width": 7, "sampling_ratio": 2})
    yield Case("RoiAlign max", "RoiAlign", [image, boxes, Fixed(np.zeros(100, I64))], {"output_height": 7, "output_width": 7, "sampling_ratio": 2, "mode": "max"})
    yield Case("MaxRoiPool", "MaxRoiPool", [image, np.concatenate([np.zeros((100, 1), F32), boxes], 1)], {"pooled_shape": [7, 7]})
    corner = random("f32", 2000, 2, low=0, high=900)
    many = np.concatenate([corner, corner + random("f32", 2000, 2, low=10, high=90)], 1)[None].astype(F32)
    yield Case("NonMaxSuppression", "NonMaxSuppression", [many, random("f32", 1, 20, 2000, low=0), ints(100), Fixed(np.array([.5], F32)), Fixed(np.array([.3], F32))], {})
    yield Case("NonMaxSuppression one class", "NonMaxSuppression", [many, random("f32", 1, 1, 2000, low=0), ints(200), Fixed(np.array([.5], F32))], {})
    for k, s, p in ((2, 2, 0), (3, 1, 1), (3, 2, 1)):
        yield Case(f"MaxPool {k} stride {s}", "MaxPool", [image], {"kernel_shape": [k, k], "strides": [s, s], "pads": [p] * 4})
        yield Case(f"AveragePool {k} stride {s}", "AveragePool", [image], {"kernel_shape": [k, k], "strides": [s, s], "pads": [p] * 4})
    yield Case("MaxPool with places", "MaxPool", [image], {"kernel_shape": [2, 2], "strides": [2, 2]}, outputs=2)
    yield Case("MaxPool u8", "MaxPool", [random("u8", 1, 64, 128, 128)], {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Case("MaxPool 1-D", "MaxPool", [random("f32", 1, 64, 16384)], {"kernel_shape": [3], "strides": [2]})
    yield Case("MaxPool 3-D", "MaxPool", [random("f32", 1, 8, 32, 64, 64)], {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]})
    yield Case("MaxPool dilated", "MaxPool", [image], {"kernel_shape": [3, 3], "dilations": [2, 2]})
    yield Case("AveragePool 3-D", "AveragePool", [random("f32", 1, 8, 32, 64, 64)], {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]})
    yield Case("LpPool", "LpPool", [image], {"kernel_shape": [3, 3], "strides": [2, 2]})
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Case(op, op, [image], {})
    pooled = random("f32", 1, 16, 64, 64)
    places = (np.arange(16 * 64 * 64).reshape(1, 16, 64, 64) * 4).astype(I64)
    yield Case("MaxUnpool", "MaxUnpool", [pooled, places], {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Case("Col2Im", "Col2Im", [random("f32", 1, 16 * 9, 64 * 64), ints(66, 66), ints(3, 3)], {})
    yield Case("Upsample", "Upsample", [small, Fixed(np.array([1, 1, 2, 2], F32))], {"mode": "nearest"}, opset=9)


def networks():
    image = random("f32", 1, 32, 56, 56)
    weights = random("f32", 32, 32, 3, 3)
    yield Case("Conv 3x3", "Conv", [image, Fixed(weights)], {"pads": [1] * 4})
    yield Case("Conv 1x1", "Conv", [image, Fixed(random("f32", 64, 32, 1, 1))], {})
    yield Case("Conv 7x7 stride 2", "Conv", [random("f32", 1, 3, 224, 224), Fixed(random("f32", 64, 3, 7, 7))], {"pads": [3] * 4, "strides": [2, 2]})
    yield Case("Conv depthwise", "Conv", [image, Fixed(random("f32", 32, 1, 3, 3))], {"pads": [1] * 4, "group": 32})
    yield Case("Conv grouped", "Conv", [image, Fixed(random("f32", 32, 8, 3, 3))], {"pads": [1] * 4, "group": 4})
    yield Case("Conv dilated", "Conv", [image, Fixed(weights)], {"pads": [2] * 4, "dilations": [2, 2]})
    yield Case("Conv 1-D", "Conv", [random("f32", 1, 80, 1000), Fixed(random("f32", 128, 80, 3))], {"pads": [1, 1]})
    yield Case("Conv 1-D depthwise", "Conv", [random("f32", 1, 144, 1000), Fixed(random("f32", 144, 1, 31))], {"pads": [15, 15], "group": 144})
    yield Case("Conv 3-D", "Conv", [random("f32", 1, 8, 16, 32, 32), Fixed(random("f32", 16, 8, 3, 3, 3))], {"pads": [1] * 6})
    yield Case("Conv weights come in", "Conv", [image, weights], {"pads": [1] * 4})
    yield Case("Conv f16", "Conv", [random("f16", 1, 32, 56, 56), Fixed(random("f16", 32, 32, 3, 3))], {"pads": [1] * 4})
    yield Case("Conv f64", "Conv", [random("f64", 1, 32, 56, 56), Fixed(random("f64", 32, 32, 3, 3))], {"pads": [1] * 4})
    yield Case("ConvTranspose 2x2", "ConvTranspose", [image, Fixed(random("f32", 32, 16, 2, 2))], {"strides": [2, 2]})
    yield Case("ConvTranspose 4x4", "ConvTranspose", [image, Fixed(random("f32", 32, 16, 4, 4))], {"strides": [2, 2], "pads": [1] * 4})
    yield Case("ConvTranspose 1-D", "ConvTranspose", [random("f32", 1, 64, 500), Fixed(random("f32", 64, 32, 8))], {"strides": [4]})
    yield Case("ConvTranspose grouped", "ConvTranspose", [image, Fixed(random("f32", 32, 1, 4, 4))], {"strides": [2, 2], "group": 32})
    yield Case("DeformConv", "DeformConv", [random("f32", 1, 16, 32, 32), Fixed(random("f32", 16, 16, 3, 3)), random("f32", 1, 18, 32, 32)], {"pads": [1] * 4})
    a, b = random("f32", 256, 512), random("f32", 512, 256)
    yield Case("MatMul", "MatMul", [a, Fixed(b)], {})
    yield Case("MatMul both come in", "MatMul", [a, b], {})
    yield Case("MatMul batch", "MatMul", [random("f32", 12, 128, 64), random("f32", 12, 64, 128)], {})
    yield Case("MatMul vector", "MatMul", [random("f32", 1, 1024), Fixed(random("f32", 1024, 1024))], {})
    yield Case("MatMul matrix by vector", "MatMul", [random("f32", 1024, 1024), random("f32", 1024)], {})
    for kind in ("f64", "f16", "i64", "i32"):
        yield Case(f"MatMul {kind}", "MatMul", [random(kind, 256, 256), random(kind, 256, 256)], {})
    yield Case("Gemm", "Gemm", [a, Fixed(random("f32", 256, 512)), Fixed(random("f32", 256))], {"transB": 1})
    yield Case("Gemm transA", "Gemm", [random("f32", 512, 256), random("f32", 512, 256)], {"transA": 1})
    yield Case("Gemm f64", "Gemm", [random("f64", 256, 256), random("f64", 256, 256)], {})
    for name, equation, shapes in (("ij,jk", "ij,jk->ik", [(256, 256), (256, 256)]), ("attention", "bhid,bhjd->bhij", [(1, 8, 128, 64), (1, 8, 128, 64)]),
                                   ("channels", "bhwc,hkc->bhwk", [(2, 28, 28, 64), (28, 28, 64)]), ("diagonal", "ii->i", [(1000, 1000)]),
                                   ("sum", "ij->j", [(1000, 1000)]), ("outer", "i,j->ij", [(1000,), (1000,)]), ("three", "ab,bc,cd->ad", [(100, 100)] * 3)):
        yield Case(f"Einsum {name}", "Einsum", [random("f32", *s) for s in shapes], {"equation": equation})
    c = 64
    wide = random("f32", 1, c, 125, 125)
    scale, bias = Fixed(random("f32", c, low=0.5)), Fixed(random("f32", c))
    yield Case("BatchNormalization", "BatchNormalization", [wide, scale, bias, bias, scale], {})
    yield Case("InstanceNormalization", "InstanceNormalization", [wide, scale, bias], {})
    yield Case("GroupNormalization", "GroupNormalization", [wide, scale, bias], {"num_groups": 8})
    yield Case("LRN", "LRN", [wide], {"size": 5})
    yield Case("LpNormalization", "LpNormalization", [random("f32", 1000, 1000)], {})
    yield Case("LpNormalization axis 1", "LpNormalization", [wide], {"axis": 1})
    yield Case("MeanVarianceNormalization", "MeanVarianceNormalization", [wide], {})
    rows = random("f32", 8, 128, 768)
    yield Case("LayerNormalization", "LayerNormalization", [rows, Fixed(random("f32", 768)), Fixed(random("f32", 768))], {})
    yield Case("LayerNormalization 2 axes", "LayerNormalization", [random("f32", 8, 128, 768), Fixed(random("f32", 128, 768))], {"axis": 1})
    yield Case("LayerNormalization f16", "LayerNormalization", [rows.astype(F16), Fixed(random("f16", 768)), Fixed(random("f16", 768))], {})
    yield Case("LayerNormalization f64", "LayerNormalization", [rows.astype(F64), Fixed(random("f64", 768)), Fixed(random("f64", 768))], {})
    yield Case("RMSNormalization", "RMSNormalization", [rows, Fixed(random("f32", 768))], {}, opset=23)
    yield Case("RMSNormalization f16", "RMSNormalization", [rows.astype(F16), Fixed(random("f16", 768))], {}, opset=23)
    q = random("f32", 1, 12, 128, 64)
    yield Case("Attention", "Attention", [q, q, q], {}, opset=23)
    yield Case("Attention causal", "Attention", [q, q, q], {"is_causal": 1}, opset=23)
    yield Case("Attention masked", "Attention", [q, q, q, random("f32", 128, 128)], {}, opset=23)
    yield Case("Attention bool mask", "Attention", [q, q, q, random("bool", 128, 128)], {}, opset=23)
    yield Case("Attention grouped", "Attention", [q, random("f32", 1, 4, 128, 64), random("f32", 1, 4, 128, 64)], {}, opset=23)
    flat = random("f32", 1, 128, 768)
    yield Case("Attention 3-D", "Attention", [flat, flat, flat], {"q_num_heads": 12, "kv_num_heads": 12}, opset=23)
    step = random("f32", 1, 12, 1, 64)
    past = random("f32", 1, 12, 511, 64)
    yield Case("Attention with past", "Attention", [step, step, step, None, past, past], {}, outputs=3, opset=23)
    yield Case("Attention f16", "Attention", [q.astype(F16)] * 3, {}, opset=23)
    cache = random("f32", 128, 32)
    yield Case("RotaryEmbedding", "RotaryEmbedding", [q, cache, cache, Fixed(np.arange(128).reshape(1, -1))], {}, opset=23)
    yield Case("RotaryEmbedding interleaved", "RotaryEmbedding", [q, cache, cache, Fixed(np.arange(128).reshape(1, -1))], {"interleaved": 1}, opset=23)
    labels = random("i64", 1000, low=0, high=999)
    yield Case("SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLoss", [random("f32", 1000, 1000), labels], {})
    yield Case("NegativeLogLikelihoodLoss", "NegativeLogLikelihoodLoss", [random("f32", 1000, 1000), labels], {})
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for directions in (1, 2):
            inputs = [random("f32", 50, 1, 128), Fixed(random("f32", directions, gates * 128, 128, low=-.1, high=.1)), Fixed(random("f32", directions, gates * 128, 128, low=-.1, high=.1))]
            attrs = {"hidden_size": 128, "direction": "bidirectional" if directions == 2 else "forward"}
            yield Case(f"{op} {attrs['direction']}", op, inputs, attrs)
            if directions == 1:
                yield Case(f"{op} batch 16", op, [random("f32", 50, 16, 128)] + inputs[1:], attrs)
                lengths = Fixed(np.array([50, 40, 30, 20, 10, 5, 50, 1], np.int32))
                yield Case(f"{op} lengths", op, [random("f32", 50, 8, 128)] + inputs[1:] + [None, lengths], attrs)
                hard = ["HardSigmoid"] + {"LSTM": ["Tanh", "Tanh"], "GRU": ["Tanh"]}.get(op, [])
                yield Case(f"{op} hard sigmoid", op, inputs, {**attrs, "activations": hard})
    wide = [Fixed(random("f32", 1, 300, 128, low=-.1, high=.1)), Fixed(random("f32", 1, 300, 100, low=-.1, high=.1))]
    yield Case("GRU 100 units, resets first", "GRU", [random("f32", 50, 4, 128)] + wide, {"hidden_size": 100})
    yield Case("Det", "Det", [random("f32", 100, 32, 32)], {})


def integers():
    for kind in ("u8", "i8"):
        zero = Fixed(np.array(3, TYPES[kind]))
        yield Case(f"QuantizeLinear {kind}", "QuantizeLinear", [random("f32", 1000, 1000), Fixed(np.array(0.02, F32)), zero], {})
        yield Case(f"DequantizeLinear {kind}", "DequantizeLinear", [random(kind, 1000, 1000), Fixed(np.array(0.02, F32)), zero], {})
        for axis in (0, 1):
            scales, zeros = Fixed(random("f32", 1000, low=0.01, high=0.1)), Fixed(random(kind, 1000, low=0, high=9))
            yield Case(f"QuantizeLinear {kind} axis {axis}", "QuantizeLinear", [random("f32", 1000, 1000), scales, zeros], {"axis": axis})
            yield Case(f"DequantizeLinear {kind} axis {axis}", "DequantizeLinear", [random(kind, 1000, 1000), scales, zeros], {"axis": axis})
        yield Case(f"DequantizeLinear {kind} blocked", "DequantizeLinear", [random(kind, 1024, 1024), Fixed(random("f32", 1024, 32, low=0.01, high=0.1))], {"axis": 1, "block_size": 32})
        yield Case(f"QuantizeLinear {kind} blocked", "QuantizeLinear", [random("f32", 1024, 1024), Fixed(random("f32", 1024, 32, low=0.01, high=0.1)), Fixed(random(kind, 1024, 32, low=0, high=9))], {"axis": 1, "block_size": 32})
        yield Case(f"MatMulInteger {kind}", "MatMulInteger", [random("u8", 256, 512), Fixed(random(kind, 512, 256))], {})
        yield Case(f"MatMulInteger {kind} both come in", "MatMulInteger", [random("u8", 256, 512), random(kind, 512, 256)], {})
        one = Fixed(np.array(0.05, F32))
        yield Case(f"QLinearMatMul {kind}", "QLinearMatMul", [random(kind, 256, 512), one, zero, Fixed(random(kind, 512, 256)), one, zero, Fixed(np.array(5, F32)), zero], {})
        yield Case(f"QLinearConv {kind}", "QLinearConv", [random("u8", 1, 32, 56, 56), one, Fixed(np.array(3, U8)), Fixed(random(kind, 32, 32, 3, 3)), one, zero, Fixed(np.array(5, F32)), Fixed(np.array(3, U8))], {"pads": [1] * 4})
    yield Case("QLinearConv depthwise", "QLinearConv", [random("u8", 1, 32, 56, 56), one, Fixed(np.array(3, U8)), Fixed(random("i8", 32, 1, 3, 3)), one, Fixed(np.array(0, I8)), Fixed(np.array(5, F32)), Fixed(np.array(3, U8))], {"pads": [1] * 4, "group": 32})
    yield Case("QuantizeLinear i16", "QuantizeLinear", [random("f32", 1000, 1000), Fixed(np.array(0.02, F32)), Fixed(np.array(0, np.int16))], {})
    yield Case("DequantizeLinear i32", "DequantizeLinear", [random("i32", 1000, 1000), Fixed(np.array(0.02, F32))], {})
    yield Case("DequantizeLinear i16", "DequantizeLinear", [random("i16", 1000, 1000), Fixed(np.array(0.02, F32)), Fixed(np.array(0, np.int16))], {})
    yield Case("DynamicQuantizeLinear", "DynamicQuantizeLinear", [random("f32", 1000, 1000)], {}, outputs=3)
    for bits in (4, 8):
        for rows in (1, 64):
            yield Case(f"MatMulNBits {bits} bits, {rows} rows", "MatMulNBits",
                       [random("f32", rows, 4096), Fixed(random("u8", 4096, 128, 32 * bits // 8, low=0, high=255)), Fixed(random("f32", 4096 * 128, low=.001, high=.01))],
                       {"K": 4096, "N": 4096, "bits": bits, "block_size": 32}, domain="com.microsoft")
    yield Case("ConvInteger", "ConvInteger", [random("u8", 1, 32, 56, 56), Fixed(random("u8", 32, 32, 3, 3))], {"pads": [1] * 4})


def signals():
    yield Case("DFT 1024", "DFT", [random("f32", 64, 1024, 1)], {}, opset=20)
    yield Case("DFT 1000", "DFT", [random("f32", 64, 1000, 1)], {}, opset=20)
    yield Case("DFT one-sided", "DFT", [random("f32", 64, 1024, 1)], {"onesided": 1}, opset=20)
    yield Case("DFT complex inverse", "DFT", [random("f32", 64, 1024, 2)], {"inverse": 1}, opset=20)
    yield Case("STFT", "STFT", [random("f32", 1, 16000, 1), Fixed(np.array(160, I64)), Fixed(random("f32", 400)), Fixed(np.array(400, I64))], {})
    yield Case("STFT 512", "STFT", [random("f32", 1, 16000, 1), Fixed(np.array(160, I64)), Fixed(random("f32", 512)), Fixed(np.array(512, I64))], {})
    yield Case("HannWindow", "HannWindow", [np.array(1000000, I64)], {})
    yield Case("MelWeightMatrix", "MelWeightMatrix", [np.array(80, I64), np.array(2048, I64), np.array(16000, I64), np.array(0, F32), np.array(8000, F32)], {})
    yield Case("RandomNormalLike", "RandomNormalLike", [random("f32", 1000, 1000)], {})
    yield Case("RandomUniformLike", "RandomUniformLike", [random("f32", 1000, 1000)], {})
    yield Case("Bernoulli", "Bernoulli", [random("f32", 1000, 1000, low=0)], {})
    yield Case("Multinomial", "Multinomial", [random("f32", 100, 1000)], {"sample_size": 100})


def learned():
    ml = {"domain": "ai.onnx.ml", "opset": OPSET}
    rows = random("f32", 10000, 100)
    yield Case("Scaler", "Scaler", [rows], {"offset": [0.5] * 100, "scale": [2.0] * 100}, **ml)
    yield Case("Normalizer L2", "Normalizer", [rows], {"norm": "L2"}, **ml)
    yield Case("Normalizer MAX", "Normalizer", [rows], {"norm": "MAX"}, **ml)
    yield Case("Binarizer", "Binarizer", [rows], {"threshold": 0.5}, **ml)
    yield Case("Imputer", "Imputer", [rows], {"imputed_value_floats": [1.0] * 100, "replaced_value_float": float("nan")}, **ml)
    yield Case("LinearRegressor", "LinearRegressor", [rows], {"coefficients": [0.5] * 100, "intercepts": [1.0], "targets": 1}, **ml)
    yield Case("LinearClassifier", "LinearClassifier", [rows], {"coefficients": list(random("f32", 1000)), "intercepts": [1.0] * 10, "classlabels_ints": list(range(10)), "post_transform": "SOFTMAX"}, outputs=2, **ml)
    yield Case("LabelEncoder", "LabelEncoder", [random("i64", 100000, low=0, high=99)], {"keys_int64s": list(range(100)), "values_int64s": list(range(100, 200))}, **ml)
    yield Case("OneHotEncoder", "OneHotEncoder", [random("i64", 10000, low=0, high=99)], {"cats_int64s": list(range(100))}, **ml)
    yield Case("FeatureVectorizer", "FeatureVectorizer", [rows, rows], {"inputdimensions": [100, 100]}, **ml)
    yield Case("ArrayFeatureExtractor", "ArrayFeatureExtractor", [rows, ints(1, 5, 7)], {}, **ml)
    yield Case("SVMRegressor RBF", "SVMRegressor", [random("f32", 1000, 20)], {"kernel_type": "RBF", "kernel_params": [0.1, 0.0, 0.0], "coefficients": [0.5] * 200, "support_vectors": list(random("f32", 4000)), "n_supports": 200, "rho": [0.1]}, **ml)
    yield Case("SVMClassifier RBF", "SVMClassifier", [random("f32", 1000, 20)], {"kernel_type": "RBF", "kernel_params": [0.1, 0.0, 0.0], "coefficients": list(random("f32", 400)), "support_vectors": list(random("f32", 4000)), "vectors_per_class": [60, 70, 70], "rho": [0.1, 0.2, 0.3], "classlabels_ints": [0, 1, 2]}, outputs=2, **ml)
    for name, inputs, attrs in (("BiasGelu", [random("f32", 1000, 1000), Fixed(random("f32", 1000))], {}), ("FastGelu", [random("f32", 1000, 1000)], {}),
                                ("SkipLayerNormalization", [random("f32", 8, 128, 768), random("f32", 8, 128, 768), Fixed(random("f32", 768)), Fixed(random("f32", 768))], {}),
                                ("FusedMatMul", [random("f32", 256, 256), random("f32", 256, 256)], {"transB": 1, "alpha": 0.5}),
                                ("QLinearAdd", [random("u8", 1000, 1000), Fixed(np.array(.1, F32)), Fixed(np.array(3, U8)), random("u8", 1000, 1000), Fixed(np.array(.2, F32)), Fixed(np.array(3, U8)), Fixed(np.array(.3, F32)), Fixed(np.array(3, U8))], {}),
                                ("QLinearSigmoid", [random("u8", 1000, 1000), Fixed(np.array(.1, F32)), Fixed(np.array(3, U8)), Fixed(np.array(.01, F32)), Fixed(np.array(3, U8))], {}),
                                ("MatMulNBits", [random("f32", 32, 1024), Fixed(random("u8", 1024, 32, 16, low=0, high=255)), Fixed(random("f32", 1024 * 32))], {"K": 1024, "N": 1024, "bits": 4, "block_size": 32})):
        yield Case(name, name, inputs, attrs, domain="com.microsoft")


def all_cases():
    for group in (elementwise, casts, reductions, moves, images, networks, integers, signals, learned):
        yield from group()


def write(case, folder):
    """The model's path and the options that give its inputs."""
    stem = "".join(c if c.isalnum() else "_" for c in case.name)
    names, ports, constants, given = [], [], [], []
    for i, x in enumerate(case.inputs):
        name = "" if x is None else f"x{i}"
        names.append(name)
        if x is None:
            continue
        if isinstance(x, Fixed):
            constants.append(numpy_helper.from_array(x.array, name))
            continue
        kind = onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[x.dtype]
        ports.append(helper.make_tensor_value_info(name, kind, x.shape))
        np.save(folder / f"{stem}_{name}.npy", x)
        given += ["--in", f"{name}={folder / stem}_{name}.npy"]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, domain=case.domain, **case.attrs)
    results = []
    for y in outputs:
        value = onnx.ValueInfoProto()
        value.name = y
        results.append(value)
    graph = helper.make_graph([node], stem, ports, results, constants)
    opsets = [helper.make_opsetid("", case.opset)]
    if case.domain:
        opsets.append(helper.make_opsetid(case.domain, 5 if case.domain == "ai.onnx.ml" else 1))
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 10
    path = folder / f"{stem}.onnx"
    path.write_bytes(model.SerializeToString())
    return path, given

#!/usr/bin/env python3
"""Writes python_cases.txt: TensorFlow operators on texts and on nested rows, with the values that plain Python computes:
its % prints numbers as C's printf does, and its lists are ragged.
usage: make_python_cases.py FILE"""
import math
import struct
import sys

out = []


def quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def spelt(kind, dims, values):
    words = [quoted(v) if kind == "string" else repr(v) for v in values]
    return f"{kind} [{','.join(map(str, dims))}] " + " ".join(words)


def emit(op, inputs, outputs, attrs="", sized=False):
    """inputs: ("in" or "const", type, dims, values); outputs: (type, dims, values)"""
    out.extend(["", f"case {op}"] + ["sized"] * sized)
    for i, (how, *tensor) in enumerate(inputs):
        out.append(f"{how} x{i} {spelt(*tensor)}")
    out.append(f"node y {op} {' '.join(f'x{i}' for i in range(len(inputs)))} {attrs}".strip())
    for i, tensor in enumerate(outputs):
        out.append(f"out y{f':{i}' if i else ''} {spelt(*tensor)}")


# Texts.
WORDS = ["", "a", "gr\u00fcn", "\u65e5\u672c\u8a9e", "x" * 1023, "y" * 3000, "two\nlines"]
emit("StringLength", [("in", "string", [7], WORDS)], [("int32", [7], [len(w.encode()) for w in WORDS])])
emit("StringLength", [("in", "string", [7], WORDS)], [("int32", [7], [len(w) for w in WORDS])], "unit=s:UTF8_CHAR")
SPACED = ["  a b ", "\t\n x\t y \n", "", " ", "plain", " \t \n\t", "a  b", "\n\n\tz"]
emit("StringStrip", [("in", "string", [2, 4], SPACED)], [("string", [2, 4], [w.strip(" \t\n\v\f\r") for w in SPACED])])

# Numbers as texts.
INTEGERS = [0, 7, -7, 10, 99, 100, -12345, 999999, -1000000, 2147483647, -2147483648]
WIDE = INTEGERS + [2**63 - 1, -2**63, 10**18, -10**18 + 1]
for attrs, pattern in (("width=i:8", "%8d"), ("width=i:9 fill=s:0", "%09d"), ("width=i:7 fill=s:-", "%-7d"),
                       ("fill=s:+", "%+d"), ("width=i:22 fill=s:+", "%+22d")):
    emit("AsString", [("in", "int32", [11], INTEGERS)], [("string", [11], [pattern % v for v in INTEGERS])], attrs)
    emit("AsString", [("in", "int64", [15], WIDE)], [("string", [15], [pattern % v for v in WIDE])], attrs)
BYTES = [0, 5, 200, 255]
emit("AsString", [("in", "uint8", [4], BYTES)], [("string", [4], ["%5d" % v for v in BYTES])], "width=i:5")


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


REALS = [single(v) for v in (0.0, 1.5, -2.25, 0.1, 1e-7, 5e-7, 123456.789, 9.9999995, 0.9999995, -0.0000004, 1099511627776.5,
                             -1e9, 0.5, 2.5, 3.5, 8388607.5, 1e18, 16777217.0, 0.045, 0.055)] + [-0.0]
for attrs, pattern in (("", "%f"), ("precision=i:2", "%.2f"), ("precision=i:0", "%.0f"), ("precision=i:12", "%.12f"),
                       ("precision=i:3 width=i:14 fill=s:0", "%014.3f"), ("width=i:20 fill=s:-", "%-20f"),
                       ("precision=i:1 width=i:9", "%9.1f")):
    emit("AsString", [("in", "float", [21], REALS)], [("string", [21], [pattern % v for v in REALS])], attrs)
DOUBLES = [0.1, 0.15, 1 / 3, -2 / 3, 1e-15, 0.0005, 0.0015, 0.0025, 1.0005, 123456789.12345678, 0.999999999999,
           4503599627370497.5, 0.125, 0.375, 2.675, 1.005, 9007199254740993.0]
for attrs, pattern in (("precision=i:3", "%.3f"), ("precision=i:15", "%.15f"), ("precision=i:2", "%.2f"), ("", "%f"),
                       ("precision=i:0 fill=s:+", "%+.0f")):
    emit("AsString", [("in", "double", [17], DOUBLES)], [("string", [17], [pattern % v for v in DOUBLES])], attrs)
SPECIAL = [float("inf"), float("-inf"), float("nan"), 1.0]
emit("AsString", [("in", "float", [4], SPECIAL)], [("string", [4], ["%10.1f" % v for v in SPECIAL])],
     "precision=i:1 width=i:10")

# Nested rows: a list of lists of lists of numbers.
NESTED = [[[1.5, 2.5], [3.5]], [], [[4.5], [], [5.5, 6.5, 7.5]]]


def splits_of(rows):
    ends = [0]
    for row in rows:
        ends.append(ends[-1] + len(row))
    return ends


def flat(rows):
    return [item for row in rows for item in row]


def vector(values, kind="int64", how="in"):
    return (how, kind, [len(values)], values)


def padded(rows, sizes, default):
    """A list of lists as a tensor of these sizes, cut or filled up."""
    if not sizes:
        return [rows]
    items = list(rows[:sizes[0]]) if isinstance(rows, list) else []
    items += [None] * (sizes[0] - len(items))
    return [v for item in items for v in (padded(item, sizes[1:], default) if item is not None else
                                          [default] * max(1, math.prod(sizes[1:])))]


OUTER, INNER, VALUES = splits_of(NESTED), splits_of(flat(NESTED)), flat(flat(NESTED))
OUTER_IDS = [i for i, row in enumerate(NESTED) for _ in row]
INNER_IDS = [i for i, row in enumerate(flat(NESTED)) for _ in row]
BY_SPLITS = "row_partition_types=ls:ROW_SPLITS,ROW_SPLITS num_row_partition_tensors=i:2"
BY_IDS = "row_partition_types=ls:FIRST_DIM_SIZE,VALUE_ROWIDS,VALUE_ROWIDS num_row_partition_tensors=i:3"
DEFAULT = ("const", "float", [], [-1.0])
emit("RaggedTensorToTensor", [vector([-1, -1, -1], how="const"), vector(VALUES, "float"), DEFAULT, vector(OUTER),
                              vector(INNER)], [("float", [3, 3, 3], padded(NESTED, [3, 3, 3], -1.0))], BY_SPLITS)
emit("RaggedTensorToTensor", [vector([4, 2, -1], how="const"), vector(VALUES, "float"), DEFAULT, vector(OUTER),
                              vector(INNER)], [("float", [4, 2, 3], padded(NESTED, [4, 2, 3], -1.0))], BY_SPLITS)
emit("RaggedTensorToTensor", [vector([-1, -1, 2], how="const"), vector(VALUES, "float"), DEFAULT,
                              ("const", "int64", [], [3]), vector(OUTER_IDS), vector(INNER_IDS)],
     [("float", [3, 3, 2], padded(NESTED, [3, 3, 2], -1.0))], BY_IDS)
PLACES = [[i, j, k] for i, a in enumerate(NESTED) for j, b in enumerate(a) for k, _ in enumerate(b)]
emit("RaggedTensorToSparse", [vector(OUTER), vector(INNER), vector(VALUES, "float")],
     [("int64", [7, 3], flat(PLACES)), ("float", [7], VALUES), ("int64", [3], [3, 3, 3])], "RAGGED_RANK=i:2")
PAIRS = [v + d for v in VALUES for d in (0, 0.25)]
emit("RaggedTensorToSparse", [vector(OUTER), vector(INNER), ("in", "float", [7, 2], PAIRS)],
     [("int64", [14, 4], [n for p in PLACES for m in (0, 1) for n in p + [m]]), ("float", [14], PAIRS),
      ("int64", [4], [3, 3, 3, 2])], "RAGGED_RANK=i:2")


def gather(indices, dims, extra):
    picked = [NESTED[i] for i in indices]
    results = [vector(s)[1:] for s in extra + [splits_of(picked), splits_of(flat(picked))]]
    values = flat(flat(picked))
    emit("RaggedGather", [vector(OUTER), vector(INNER), vector(VALUES, "float"), ("in", "int64", dims, indices)],
         results + [("float", [len(values)], values)],
         f"PARAMS_RAGGED_RANK=i:2 OUTPUT_RAGGED_RANK=i:{len(dims) + 1}")


gather([2, 0, 1, 2], [4], [])
gather([2, 0, 1, 2, 0, 0], [2, 3], [[0, 3, 6]])
gather([0, 2, 1, 0], [2, 1, 2], [[0, 1, 2], [0, 2, 4]])
# One index gives the rows of one row.
emit("RaggedGather", [vector(OUTER), vector(INNER), vector(VALUES, "float"), ("in", "int64", [], [2])],
     [vector(splits_of(NESTED[2]))[1:], vector(flat(NESTED[2]), "float")[1:]],
     "PARAMS_RAGGED_RANK=i:2 OUTPUT_RAGGED_RANK=i:1")

# Data formats.
for source, target in (("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NDHWC", "NCDHW")):
    attrs = f"src_format=s:{source} dst_format=s:{target}"
    axes = [0, 1, -1, 2, -2, 0]
    emit("DataFormatDimMap", [("in", "int32", [2, 3], axes)],
         [("int32", [2, 3], [target.index(source[a]) for a in axes])], attrs)
    sizes = [10 + i for i in range(len(source))]
    order = [source.index(c) for c in target]
    emit("DataFormatVecPermute", [("in", "int64", [len(sizes)], sizes)], [("int64", [len(sizes)], [sizes[i] for i in order])],
         attrs, sized=True)
    pairs = [100 * (i // 2) + i % 2 for i in range(2 * len(source))]
    emit("DataFormatVecPermute", [("in", "int32", [len(source), 2], pairs)],
         [("int32", [len(source), 2], [pairs[2 * i + k] for i in order for k in (0, 1)])], attrs,
         sized=True)
emit("DataFormatVecPermute", [("in", "int32", [2], [7, 8])], [("int32", [2], [8, 7])], "src_format=s:NHWC dst_format=s:NCWH",
     sized=True)


def depthwise_backprop(size, kernel, channels, times, stride, is_same):
    """Each output of the convolution spreads over the inputs that it was made of."""
    out_size = [-(-size[a] // stride) if is_same else (size[a] - kernel[a]) // stride + 1 for a in (0, 1)]
    before = [max((out_size[a] - 1) * stride + kernel[a] - size[a], 0) // 2 if is_same else 0 for a in (0, 1)]
    weights = [((7 * i) % 11 - 5) / 4 for i in range(kernel[0] * kernel[1] * channels * times)]
    gradient = [((5 * i) % 13 - 6) / 2 for i in range(out_size[0] * out_size[1] * channels * times)]
    spread = [0.0] * (size[0] * size[1] * channels)
    for i in range(out_size[0] * out_size[1] * channels * times):
        (rest, m), (row, column) = divmod(i, times), divmod(i // (channels * times), out_size[1])
        c = rest % channels
        for p in range(kernel[0]):
            for q in range(kernel[1]):
                y, x = row * stride - before[0] + p, column * stride - before[1] + q
                if 0 <= y < size[0] and 0 <= x < size[1]:
                    spread[(y * size[1] + x) * channels + c] += (
                        gradient[i] * weights[((p * kernel[1] + q) * channels + c) * times + m])
    emit("DepthwiseConv2dNativeBackpropInput",
         [("const", "int32", [4], [1, *size, channels]), ("const", "float", [*kernel, channels, times], weights),
          ("in", "float", [1, *out_size, channels * times], gradient)], [("float", [1, *size, channels], spread)],
         f"strides=li:1,{stride},{stride},1 padding=s:{'SAME' if is_same else 'VALID'}")


depthwise_backprop([4, 5], [3, 2], 2, 1, 1, True)
depthwise_backprop([5, 6], [3, 3], 2, 3, 2, True)
depthwise_backprop([5, 7], [2, 3], 3, 2, 2, False)

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("# Written by make_python_cases.py.\n")
    file.write("\n".join(out) + "\n")

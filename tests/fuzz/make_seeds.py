"""Writes the first inputs of the fuzz targets for TensorFlow's files, zip archives and FlexBuffers: small ones that reach
each kind of message. They stand in the corpora; new ones are added by `script/fuzz --add <target> DIRECTORY/<target>/*`.
usage: make_seeds.py DIRECTORY"""
import io
import json
import os
import struct
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tensorflow_writer import (BOOL, FLOAT, INT32, RESOURCE, STRING, constant, fixed32, masked_crc, message,  # noqa: E402
                               node, placeholder, shape, table_block, type_of, varint)

if len(sys.argv) != 2:
    sys.exit(__doc__)
CORPUS = sys.argv[1]


def write(target, name, data):
    directory = os.path.join(CORPUS, target)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, name), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def graph(*nodes, functions=(), producer=1000):
    fields = [(1, n) for n in nodes]
    if functions:
        fields.append((2, message(*[(1, f) for f in functions])))
    return message(*fields, (4, message((1, producer))))


def argument(name, dtype):
    return message((1, name), (3, dtype))


def function(name, inputs, outputs, nodes, returns):
    signature = message((1, name), *[(2, argument(n, t)) for n, t in inputs], *[(3, argument(n, t)) for n, t in outputs])
    return message((1, signature), *[(3, n) for n in nodes],
                   *[(4, message((1, key), (2, value))) for key, value in returns])


def ints(*values):
    return message((1, message(*[(3, v) for v in values])))


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def int32s(*values):
    return struct.pack(f"<{len(values)}i", *values)


def convolution():
    return graph(
        placeholder("x", FLOAT, -1, 4, 4, 1),
        constant("w", FLOAT, [3, 3, 1, 2], floats(*range(18))),
        node("conv", "Conv2D", ["x", "w"], T=type_of(FLOAT), strides=ints(1, 2, 2, 1), padding=message((2, "SAME"))),
        node("relu", "Relu6", ["conv"], T=type_of(FLOAT)),
        constant("axes", INT32, [2], int32s(1, 2)),
        node("mean", "Mean", ["relu", "axes"], T=type_of(FLOAT), Tidx=type_of(INT32), keep_dims=message((5, 0))),
        node("y", "Softmax", ["mean"], T=type_of(FLOAT)))


def while_of_functions():
    condition = function("cond", [("i", INT32), ("v", FLOAT)], [("r", BOOL)],
                         [constant("n", INT32, [], int32s(3)),
                          node("less", "Less", ["i", "n:output:0"], T=type_of(INT32))], [("r", "less:z:0")])
    body = function("body", [("i", INT32), ("v", FLOAT)], [("j", INT32), ("w", FLOAT)],
                    [constant("one", INT32, [], int32s(1)),
                     node("add", "AddV2", ["i", "one:output:0"], T=type_of(INT32)),
                     node("twice", "Mul", ["v", "v"], T=type_of(FLOAT))], [("j", "add:z:0"), ("w", "twice:z:0")])
    return graph(
        placeholder("x", FLOAT, 2), constant("start", INT32, [], int32s(0)),
        node("loop", "StatelessWhile", ["start", "x"], T=message((1, message((6, INT32), (6, FLOAT)))),
             cond=message((10, message((1, "cond")))), body=message((10, message((1, "body"))))),
        node("y", "Identity", ["loop:1"], T=type_of(FLOAT)), functions=[condition, body])


def lists():
    return graph(
        placeholder("x", FLOAT, 3, 2), constant("shape", INT32, [1], int32s(2)), constant("i", INT32, [], int32s(1)),
        node("list", "TensorListFromTensor", ["x", "shape"], element_dtype=type_of(FLOAT), shape_type=type_of(INT32)),
        node("item", "TensorListGetItem", ["list", "i", "shape"], element_dtype=type_of(FLOAT)),
        node("set", "TensorListSetItem", ["list", "i", "item"], element_dtype=type_of(FLOAT)),
        node("y", "TensorListStack", ["set", "shape"], element_dtype=type_of(FLOAT), num_elements=message((3, 3))))


def saved_model():
    inner = function("f", [("x", FLOAT), ("v", RESOURCE)], [("y", FLOAT)],
                     [node("read", "ReadVariableOp", ["v"], dtype=type_of(FLOAT)),
                      node("mul", "Mul", ["x", "read:value:0"], T=type_of(FLOAT))], [("y", "mul:z:0")])
    body = graph(
        placeholder("x", FLOAT, -1),
        node("v", "VarHandleOp", dtype=type_of(FLOAT), shape=message((7, shape(1))), shared_name=message((2, "v"))),
        node("call", "StatefulPartitionedCall", ["x", "v"], Tin=message((1, message((6, FLOAT), (6, RESOURCE)))),
             Tout=message((1, message((6, FLOAT)))), f=message((10, message((1, "f"))))), functions=[inner])

    def info(name):
        return message((1, name), (2, FLOAT), (3, shape(-1)))

    signature = message((1, message((1, "x"), (2, info("x:0")))), (2, message((1, "y"), (2, info("call:0")))),
                        (3, "tensorflow/serving/predict"))
    objects = message((1, message((1, message((1, 1), (2, "variable"))), (4, b""))),
                      (1, message((7, message((1, FLOAT), (2, shape(1)), (6, "v"))))))
    meta = message((1, message((4, "serve"), (5, "2.9.0"))), (2, body), (3, message((1, "a"), (2, "b"), (3, "c"))),
                   (5, message((1, "serving_default"), (2, signature))),
                   (6, message((1, message((1, "asset:0"))), (2, "words.txt"))), (7, objects))
    return message((1, 1), (2, meta)), meta


def checkpoint_seeds():
    header = message((1, 1), (3, message((1, 1))))
    data = floats(1, 2, 3, 4)
    entry = message((1, FLOAT), (2, shape(2, 2)), (5, 16)) + fixed32(6, masked_crc(data))
    block = table_block([(b"", header), (b"layer/bias", entry), (b"layer/kernel", entry)])
    for kind, name in ((0, "two_tensors"), (2, "unknown_compression")):
        write("checkpoint", name, bytes([kind]) + struct.pack("<H", len(block)) + block + data)
    literal = varint(len(block)) + bytes([60 << 2, len(block) - 1]) + block
    write("checkpoint", "snappy", bytes([1]) + struct.pack("<H", len(literal)) + literal + data)
    text = varint(2) + varint(3) + fixed32(0, 0)[1:] + b"abcde"
    strings = message((1, STRING), (2, shape(2)), (5, len(text))) + fixed32(6, masked_crc(text))
    block = table_block([(b"", header), (b"names", strings)])
    write("checkpoint", "strings", bytes([0]) + struct.pack("<H", len(block)) + block + text)
    extent = message((1, message((1, 0), (2, 1))), (1, b""))
    sliced = message((1, FLOAT), (2, shape(2, 2)), (7, extent))
    block = table_block([(b"", header), (b"part", sliced)])
    write("checkpoint", "slices", bytes([0]) + struct.pack("<H", len(block)) + block + data)
    meta = message((1, message((1, message((1, "v"), (2, shape(2)), (3, FLOAT), (4, message((1, b""))))))))
    saved = message((2, message((1, "v"), (2, message((1, b""))), (3, message((1, FLOAT), (5, data[:8]))))))
    block = table_block([(b"", meta), (b"\0v\0\1", saved)])
    write("checkpoint", "version_1", bytes([0]) + struct.pack("<H", len(block)) + block)

    def part(start):
        return message((1, message((1, start), (2, 1))))

    meta = message((1, message((1, message((1, "v"), (2, shape(2)), (3, FLOAT), (4, part(0)), (4, part(1)))))))
    parts = [message((2, message((1, "v"), (2, part(i)), (3, message((5, data[4 * i:4 * i + 4])))))) for i in (0, 1)]
    block = table_block([(b"", meta), (b"\0v\0\1", parts[0]), (b"\0v\0\2", parts[1])])
    write("checkpoint", "version_1_parts", bytes([0]) + struct.pack("<H", len(block)) + block)


def tfjs_seeds():
    nodes = [
        {"name": "x", "op": "Placeholder",
         "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "2"}]}}}},
        {"name": "w", "op": "Const",
         "attr": {"dtype": {"type": "DT_FLOAT"},
                  "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "2"}, {"size": "3"}]}}}}},
        {"name": "y", "op": "MatMul", "input": ["x", "w"],
         "attr": {"T": {"type": "DT_FLOAT"}, "transpose_a": {"b": False}, "transpose_b": {"b": False}}}]
    for name, quantization in (("plain", None), ("uint8", {"dtype": "uint8", "scale": 0.1, "min": -1.5}),
                               ("uint16", {"dtype": "uint16", "scale": 1e-3, "min": 0}),
                               ("float16", {"dtype": "float16"})):
        weight = {"name": "w", "shape": [2, 3], "dtype": "float32"}
        if quantization:
            weight["quantization"] = quantization
        write("tfjs", name, json.dumps({
            "format": "graph-model", "modelTopology": {"node": nodes, "versions": {"producer": 38}},
            "weightsManifest": [{"paths": ["w"], "weights": [weight]}],
            "signature": {"inputs": {"in": {"name": "x:0", "dtype": "DT_FLOAT"}},
                          "outputs": {"out": {"name": "y:0", "dtype": "DT_FLOAT"}}}}, separators=(",", ":")))
    fused = [nodes[0], {"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_STRING"}, "value": {"tensor": {}}}},
             {"name": "p", "op": "Pad", "input": ["x", "w"], "attr": {"f": {"list": {"s": ["Qmlhcw==", [82, 101]]}}}}]
    write("tfjs", "strings", json.dumps({
        "modelTopology": {"node": fused, "library": {"function": []}},
        "weightsManifest": [{"paths": ["w", "w"], "weights": [{"name": "w", "shape": [1], "dtype": "string"}]}]}))


TEXT = {
    "graph": """# a comment
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
  float_val: 1.5 float_val: -inf } } } attr: { key: "dtype" value: < type: 1 > } }
node { name: "y" op: "Add" input: "x" input: 'c' attr { key: "list" value { list { i: [1, -2, 0x10] b: [true, f] } } } }
versions { producer: 21 }
library { function { signature { name: "f" input_arg { name: "a" type: DT_INT32 } } ret { key: "r" value: "a" } } }
""",
    "meta": """meta_info_def { tags: "serve" tensorflow_version: "1.15" unknown { nested: 3 } }
graph_def { node { name: "a" op: "NoOp" device: "\\"\\101\\x41\\n" } }
signature_def { key: "s" value { inputs { key: "x" value { name: "x:0" dtype: DT_FLOAT } } method_name: "p" 'q' } }
""",
    "saved_model": "saved_model_schema_version: 1 meta_graphs { graph_def { node { name: \"a\" op: \"NoOp\" } } }",
}


def zip_seeds():
    for name, compression in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", compression) as archive:
            for member, content in (("a.txt", b"alpha" * 20), ("dir/b", b""), ("\u00fc", bytes(range(32)))):
                archive.writestr(zipfile.ZipInfo(member), content, compression)
            archive.comment = b"the end"
        write("zip", name, out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        with archive.open(zipfile.ZipInfo("large"), "w", force_zip64=True) as member:
            member.write(b"12345")
    write("zip", "zip64", out.getvalue())


def flexbuffer_seeds():
    write("flexbuffer", "number", bytes([42, 1 << 2, 1]))
    write("flexbuffer", "null", bytes([0, 0, 1]))
    write("flexbuffer", "double", struct.pack("<d", 0.1) + bytes([3 << 2 | 3, 8]))
    write("flexbuffer", "text", b"\x02hi\0" + bytes([3, 5 << 2, 1]))
    write("flexbuffer", "vector", bytes([2, 7, 8, 1 << 2, 1 << 2, 4, 10 << 2, 1]))
    write("flexbuffer", "typed_vector", bytes([3, 1, 2, 3, 3, 11 << 2, 1]))
    # The key, the vector of keys, then the map: distance and width of its keys, length, value, type.
    write("flexbuffer", "map", b"k\0" + bytes([1, 3, 1, 1, 1, 9, 1 << 2, 2, 9 << 2, 1]))
    write("flexbuffer", "blob", bytes([3, 1, 2, 3, 3, 25 << 2, 1]))


def main():
    model, meta = saved_model()
    for name, data in (("convolution", convolution()), ("functions", while_of_functions()), ("lists", lists())):
        write("tensorflow", name, b"g" + data)
    write("tensorflow", "saved_model", b"s" + model)
    write("tensorflow", "meta_graph", b"m" + meta)
    for name, text in TEXT.items():
        write("pbtxt", name, text)
    checkpoint_seeds()
    tfjs_seeds()
    zip_seeds()
    flexbuffer_seeds()


main()

#!/usr/bin/env python3
"""Files of every format that were made to harm: what they ask for, where they lead, what they repeat.

Usage: hostile_files_test.py PATH_TO_INGOT. Each file goes through 'inspect' and 'convert' within limits; what is refused
is refused at once and without much memory, unless the refusal is the limit itself.
"""
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
import zlib

from hostile_test import INGOT, SANITIZED, field, node, model, npy, port, weights  # reads the command line

HUGE = 1 << 62
SECRET = "root:x:0:0"


def archive(members, method=zipfile.ZIP_STORED):
    import io
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return made.getvalue()


# TF.js and Keras

def graph_model(weight, paths=("w.bin",), others=None):
    """model.json of a product with one weight."""
    type_of = {"dtype": {"type": "DT_FLOAT"}}
    sizes = {"dim": [{"size": "2"}, {"size": "2"}]}
    nodes = [{"name": "x", "op": "Placeholder", "attr": {**type_of, "shape": {"shape": sizes}}},
             {"name": "w", "op": "Const",
              "attr": {**type_of, "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": sizes}}}},
             {"name": "y", "op": "MatMul", "input": ["x", "w"], "attr": {"T": {"type": "DT_FLOAT"}}}]
    entry = {"name": "w", "shape": [2, 2], "dtype": "float32", **weight}
    text = json.dumps({"format": "graph-model", "modelTopology": {"node": nodes, "versions": {"producer": 27}},
                       "weightsManifest": [{"paths": list(paths), "weights": [entry]}]})
    return {"model.json": text, "w.bin": bytes(16), **(others or {})}


def tfjs_files():
    for path in ("../w.bin", "/etc/passwd", "a/../../w.bin", "", ".", "..", "w.bin\0x", "file:///etc/passwd",
                 "http://127.0.0.1/x", "..\\w.bin", "/dev/zero", "\x1b[2J"):
        yield f"a shard named {path!r}", graph_model({}, [path])
    for shape in ([-1, 2], [HUGE, HUGE], [1.5, 2], [1e300], ["2"], [2] * 100_000, None, {}, [[2, 2]], [1 << 53]):
        yield f"a weight of shape {str(shape)[:20]}", graph_model({"shape": shape})
    yield "a weight of another type", graph_model({"dtype": "string"})
    yield "a weight of complex numbers", graph_model({"dtype": "complex64"})
    yield "a range without numbers", graph_model(
        {"quantization": {"min": float("nan"), "scale": 1e308, "dtype": "uint8", "original_dtype": "float32"}})
    yield "one shard named 20,000 times", graph_model({}, ["big.bin"] * 20_000, {"big.bin": bytes(1 << 20)})
    yield "deep lists", {"model.json": "[" * 1_000_000}
    yield "deep objects", {"model.json": '{"modelTopology":' + '{"a":' * 1_000_000}


def layers_model(config, kind="Sequential"):
    topology = {"keras_version": "2.4", "model_config": {"class_name": kind, "config": config}}
    return {"model.json": json.dumps({"format": "layers-model", "modelTopology": topology, "weightsManifest": []})}


def layer(kind, name, **settings):
    return {"class_name": kind, "name": name, "config": {"name": name, **settings}}


def doubling_layers(levels):
    """A model that calls the one below it twice."""
    inner = layer("Activation", "act", activation="relu")
    for i in range(levels):
        entry = {**layer("InputLayer", f"i{i}", batch_input_shape=[None, 2]), "inbound_nodes": []}
        name = inner["name"]
        inner = {**inner, "inbound_nodes": [[[f"i{i}", 0, 0, {}]], [[name, 0, 0, {}]]]}
        inner = {"class_name": "Functional", "name": f"m{i}",
                 "config": {"name": f"m{i}", "layers": [entry, inner], "input_layers": [[f"i{i}", 0, 0]],
                            "output_layers": [[name, 1, 0]]}}
    return inner["config"]


def keras_files():
    yield "layers that double", layers_model(doubling_layers(60), "Functional")
    nested = layer("Dense", "d", units=2, batch_input_shape=[None, 2])
    for i in range(120):
        nested = layer("Sequential", f"s{i}", layers=[nested])
    yield "layers 120 deep", layers_model(nested["config"])
    circle = [{**layer("InputLayer", "i", batch_input_shape=[None, 2]), "inbound_nodes": []},
              {**layer("Add", "a"), "inbound_nodes": [[["i", 0, 0, {}], ["b", 0, 0, {}]]]},
              {**layer("Activation", "b", activation="relu"), "inbound_nodes": [[["a", 0, 0, {}]]]}]
    yield "a circle", layers_model({"name": "m", "layers": circle, "input_layers": [["i", 0, 0]],
                                    "output_layers": [["b", 0, 0]]}, "Functional")
    for kind, settings in {
            "Dense": {"units": HUGE}, "Conv2D": {"filters": 1 << 40, "kernel_size": [1 << 31] * 2, "strides": [0, 0]},
            "UpSampling2D": {"size": [1 << 31] * 2}, "ZeroPadding2D": {"padding": [[HUGE, HUGE], [0, 0]]},
            "Cropping2D": {"cropping": [[-5, -5], [HUGE, 1]]}, "Reshape": {"target_shape": [-1, -1, 0]},
            "RepeatVector": {"n": HUGE}, "Permute": {"dims": [1, 1, 1]}, "LSTM": {"units": 1 << 40},
            "Embedding": {"input_dim": HUGE, "output_dim": HUGE}, "MaxPooling2D": {"pool_size": [0, 0]},
            "Lambda": {"function": ["4wEAAAA=", None, None]}}.items():
        shape = [None, 8, 8, 3] if "2D" in kind or kind == "Reshape" else [None, 8]
        yield f"{kind} of {settings}", layers_model(
            {"name": "s", "layers": [layer(kind, "l", batch_input_shape=shape, **settings)]})
    for name, config in (("deep", "[" * 1_000_000), ("of blanks", b" " * 50_000_000),
                         ("of another module", '{"module": "os", "class_name": "system", "config": {}}')):
        yield f"a configuration {name}", {"m.keras": archive(
            {"metadata.json": "{}", "config.json": config, "model.weights.h5": b""}, zipfile.ZIP_DEFLATED)}


# Archives

def overlapping_archive(count, size):
    """Many members that are the same bytes of the file."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(bytes(size)) + packer.flush()
    sizes = struct.pack("<III", zlib.crc32(bytes(size)), len(data), size)
    name = b"config.json"
    local = struct.pack("<IHHHHH", 0x04034B50, 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", len(name), 0) + name + data
    central = b""
    for i in range(count):
        name = b"config.json" if i == 0 else b"m%06d" % i
        central += struct.pack("<IHHHHHH", 0x02014B50, 20, 20, 0, 8, 0, 0) + sizes
        central += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    return local + central + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(central), len(local), 0)


def archive_files():
    end = struct.pack("<HHHHIIH", 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    for kind in ("keras", "pt", "npz", "skops"):
        yield f".{kind}: members that overlap", {"m." + kind: overlapping_archive(60_000, 1 << 22)}
        yield f".{kind}: an empty archive", {"m." + kind: archive({})}
        yield f".{kind}: sizes of 64 bits that are not there", {"m." + kind: b"PK\5\6" + end}
        yield f".{kind}: members that unpack to 90 MB", {"m." + kind: archive(
            {n: bytes(30_000_000) for n in ("a/data.pkl", "schema.json", "config.json")}, zipfile.ZIP_DEFLATED)}
        for name in ("../../x", "/x", "a\0b", "\x1b[2J"):
            yield f".{kind}: a member named {name!r}", {"m." + kind: archive({"config.json": "{}", name: b"x"})}


# Pickles, skops, joblib

def pickle_files():
    proto = b"\x80\x04"
    doubling = proto + b"]q\x00" + b"".join(
        b"]q%c(h%ch%ce" % (i, i - 1, i - 1) for i in range(1, 60)) + b"."
    for name, body in {
            "a frame of 2^64 bytes": proto + b"\x95" + b"\xff" * 8 + b"N.",
            "bytes of 2^62": proto + b"\x8e" + struct.pack("<Q", HUGE) + b"a.",
            "a number of 2^31 bytes": proto + b"\x8b" + struct.pack("<i", (1 << 31) - 1) + b"a.",
            "a number of 10 MB": proto + b"\x8b" + struct.pack("<i", 10_000_000) + b"\x7f" * 10_000_000 + b".",
            "tuples 100,000 deep": proto + b"(" * 100_000 + b"t" * 100_000 + b".",
            "lists that double": doubling, "a list in itself": proto + b"]q\x00h\x00a.",
            "a table in itself": proto + b"}q\x00h\x00h\x00s.", "a memo of 2^31": proto + b"Nr\xff\xff\xff\x7f.",
            "1,000,000 marks": proto + b"(" * 1_000_000 + b".", "an extension": proto + b"\x84\xff\xff\xff\x7f.",
            "a program": b"cos\nsystem\n(S'touch started'\ntR.", "an old program": b"(S'touch started'\nios\nsystem\n.",
            "an evaluation": b"c__builtin__\neval\n(S'open(\"started\", \"w\")'\ntR."}.items():
        yield f"a pickle with {name}", {"m.pkl": body}
    yield "joblib: zlib of 100 MB", {"m.joblib": zlib.compress(bytes(100_000_000), 9)}
    yield "joblib: gzip of 100 MB", {"m.joblib": gzip.compress(bytes(100_000_000), 9)}
    once = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": '"a"', "__id__": 1}
    for i in range(50):
        again = {"__loader__": "CachedNode", "__id__": once["__id__"]}
        once = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [once, again],
                "__id__": i + 2}
    itself = {"__loader__": "ListNode", "content": [{"__loader__": "CachedNode", "__id__": 5}], "__id__": 5}
    outside = {"__loader__": "NdArrayNode", "type": "numpy", "file": "../../../etc/passwd", "__id__": 1}
    for name, schema in (("that doubles", once), ("in itself", itself), ("outside", outside)):
        yield f"skops: a schema {name}", {"m.skops": archive({"schema.json": json.dumps(schema)})}


# Boosting

def xgboost(tree=None, **params):
    nodes = {"base_weights": [0, 1, 2], "default_left": [0, 0, 0], "id": 0, "left_children": [1, -1, -1],
             "right_children": [2, -1, -1], "parents": [2147483647, 0, 0], "split_conditions": [.5, 1, 2],
             "split_indices": [0, 0, 0], "split_type": [0, 0, 0], "categories": [], "categories_nodes": [],
             "categories_segments": [], "categories_sizes": [],
             "tree_param": {"num_feature": "2", "num_nodes": "3", "size_leaf_vector": "1"}, **(tree or {})}
    booster = {"model": {"gbtree_model_param": {"num_trees": "1"}, "tree_info": [0], "trees": [nodes]}, "name": "gbtree"}
    return {"m.json": json.dumps({"learner": {
        "gradient_booster": booster, "objective": {"name": "reg:squarederror"},
        "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "2", **params}},
        "version": [2, 0, 0]})}


LIGHTGBM = """tree
version=v4
num_class=%s
num_tree_per_iteration=%s
max_feature_idx=%s
objective=regression
feature_names=a b
tree_sizes=1

Tree=0
num_leaves=%s
num_cat=%s
split_feature=%s
threshold=%s
decision_type=%s
left_child=%s
right_child=%s
leaf_value=1 2
cat_boundaries=0 %s
cat_threshold=1


end of trees
"""


def boosting_files():
    for tree in ({"left_children": [0, -1, -1]}, {"left_children": [1, 2, 1], "right_children": [2, 1, 2]},
                 {"split_indices": [1 << 40, 0, 0]}, {"split_conditions": [1e300, None, "x"]}, {"base_weights": []}):
        yield f"XGBoost: a tree with {tree}", xgboost(tree)
    for key, value in (("num_feature", str(HUGE)), ("num_feature", "-1"), ("num_class", "2147483647"),
                       ("num_target", "999999999"), ("base_score", "[1" + ",1" * 1_000_000 + "]")):
        yield f"XGBoost: {key} {value[:20]}", xgboost(**{key: value})
    for body in (b"a[$d#L\x7f" + b"\xff" * 7, b"a[$Z#L\x7f" + b"\xff" * 7 + b"}", b"a" + b"[" * 1_000_000):
        yield f"UBJSON: {body[:9]}", {"m.ubj": b"{L\0\0\0\0\0\0\0\7learner{L\0\0\0\0\0\0\0\1" + body}
    for name, values in {"leaves": (1, 1, 1, (1 << 31) - 1, 0, 0, .5, 2, -1, -2, 0), "a circle": (1, 1, 1, 2, 0, 0, .5, 2, 0, 0, 0),
                         "columns": (1, 1, HUGE, 2, 0, HUGE, .5, 2, -1, -2, 0),
                         "classes": ((1 << 31) - 1, (1 << 31) - 1, 1, 2, 0, 0, .5, 2, -1, -2, 0),
                         "categories": (1, 1, 1, 2, 1, 0, 0, 1, -1, -2, 1 << 31),
                         "children": (1, 1, 1, 2, 0, 0, .5, 2, -(1 << 31), (1 << 31) - 1, 0)}.items():
        yield f"LightGBM: {name}", {"m.txt": LIGHTGBM % values}
    for count in (-1, 1_000_000_000, HUGE):
        yield f"libsvm of {count}", {"m.model": f"svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class {count}\ntotal_sv "
                                     f"{count}\nrho .5\nlabel 0 1\nnr_sv 1 1\nSV\n1 1:0.5\n-1 {count}:.3\n"}
        yield f"liblinear of {count}", {"m.model": f"solver_type L2R_LR\nnr_class {count}\nlabel 1 2\nnr_feature {count}\n"
                                        "bias -1\nw\n1\n2\n"}


# TensorFlow and others

def attr(name, value):
    return field(5, field(1, name) + field(2, value))


def sizes(dims):
    return b"".join(field(2, field(1, d)) for d in dims)


def graph_def(op, constant_type):
    """An operator that states float, with a constant of another type."""
    def made(name, kind, inputs, attributes):
        return field(1, field(1, name) + field(2, kind) + b"".join(field(3, i) for i in inputs) + attributes)
    content = {7: field(8, "a") * 4, 9: field(4, bytes(32)), 10: field(11, b"\1\1\1\1")}[constant_type]
    value = field(8, field(1, constant_type) + field(2, sizes([2, 2])) + content)
    is_float = field(6, 1)
    return {"g.pb": made("x", "Placeholder", [], attr("dtype", is_float) + attr("shape", field(7, sizes([2, 2])))) +
            made("w", "Const", [], attr("dtype", is_float) + attr("value", value)) +
            made("y", op, ["w"] if op in ("Relu", "Exp", "LogicalNot") else ["w", "x", "x"] if op == "Select"
                 else ["x", "w"], attr("T", is_float))}


def tensorflow_files():
    for op in ("MatMul", "AddV2", "Relu", "Exp", "Select", "LogicalNot", "Cumsum", "Sum", "Reshape"):
        for constant_type in (7, 9, 10):
            yield f"{op} of a constant of type {constant_type}", graph_def(op, constant_type)


def safetensors_files():
    def made(header, size=None):
        return {"m.safetensors": struct.pack("<Q", len(header) if size is None else size) + header + bytes(8)}
    for size in (1 << 63, (1 << 64) - 1, HUGE):
        yield f"safetensors: a header of {size} bytes", made(b"{}", size)
    for entry in ({"shape": [2], "data_offsets": [0, HUGE]}, {"shape": [2], "data_offsets": [8, 0]},
                  {"shape": [-2], "data_offsets": [0, 8]}, {"shape": [0, HUGE, HUGE], "data_offsets": [0, 0]},
                  {"shape": [1] * 100_000, "data_offsets": [0, 4]}):
        yield f"safetensors: {str(entry)[:60]}", made(json.dumps({"a": {"dtype": "F32", **entry}}).encode())
    yield "safetensors: deep", made(b'{"a":' * 2_000_000)


# What stands beside a model: data, images, programs, plans

def product():
    return model(node("MatMul", ["x", "w"], "y"), [port("x", (8, 2))], [port("y", (8, 2))],
                 weights("w", (2, 2), [1, 2, 3, 4]))


def data_files():
    for name, text in {
            "3,000,000 columns": "a," * 3_000_000 + "b\n1\n", "a field of 20 MB": "a,b\n" + "1" * 20_000_000 + ",2\n",
            "a quote of 20 MB": 'a,b\n"' + "x\n" * 10_000_000, "ragged rows": "a,b\n1\n1,2,3\n",
            "no text": b"a,b\n1,\0\n\xff\xfe,2\n", "5,000,000 empty rows": "x\n" + "\n" * 5_000_000,
            "names that steer": "\x1b[2J,\u202ex\n1,2\n",
            "numbers beyond all": "x0,x1\n1e999999999," + "9" * 1_000_000 + "\nnan,-inf\n"}.items():
        yield f"CSV: {name}", {"d.csv": text, "net.onnx": product()}


def array_files():
    def made(head, version=2, size=None, body=b""):
        length = len(head) if size is None else size
        return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", length) + head.encode() + body
    form = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n"
    for name, body in {
            "a header of 4 GB": made("{}", size=(1 << 32) - 1), "2^124 numbers": made(form % ("<f4", f"{HUGE}, {HUGE}")),
            "a negative size": made(form % ("<f4", "-1,")), "100,000 axes": made(form % ("<f4", "1," * 100_000)),
            "deep": made("(" * 1_000_000), "objects": made(form % ("|O", "3,"), body=b"cos\nsystem\n(S'touch started'\ntR."),
            "none of 2^62": made(form % ("<f4", f"0, {HUGE}")), "texts of 2^31": made(form % ("<U2147483647", "3,")),
            "an old header": made("{" * 60_000, 1)}.items():
        yield f"npy: {name}", {"a.npy": body, "net.onnx": product()}
    yield "npz: 200 MB", {"a.npy": archive({"x.npy": npy((8, 2)) + bytes(200_000_000)}, zipfile.ZIP_DEFLATED),
                          "net.onnx": product()}


def decoder():
    text = field(2, field(1, field(1, 2) + field(2, field(1, field(2, "N")))))
    image = field(2, field(1, field(1, 2) + field(2, field(1, field(2, "a")) + field(1, field(2, "b")) + field(1, field(1, 3)))))
    graph = node("ImageDecoder", ["x"], "y") + field(2, "net") + field(11, field(1, "x") + text) + field(12, field(1, "y") + image)
    return field(1, 10) + field(7, graph) + field(8, field(1, "") + field(2, 20))


def image_files():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def png(width, height, data=b"", more=b""):
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + more + chunk(b"IDAT", data) + chunk(b"IEND", b"")

    def tiff(entries, following=0):
        return (b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries) +
                struct.pack("<I", following))
    most = (1 << 31) - 1
    bomb = zlib.compress(bytes(100_000_000), 9)
    for name, body in {
            "PNG of 2^62": png(most, most), "PNG of 30,000": png(30_000, 30_000), "PNG of none": png(0, 0),
            "PNG of a line": png(most, 1), "PNG of 100 MB": png(10, 10, bomb),
            "PNG with a text of 100 MB": png(1, 1, zlib.compress(bytes(4)), chunk(b"zTXt", b"a\0\0" + bomb)),
            "BMP": b"BM" + struct.pack("<IIIIiiHHIIiiII", 100, 0, 54, 40, most, -most - 1, 1, 24, 0, 0, 0, 0, 0, 0),
            "PNM": b"P6 2147483647 2147483647 255\n", "PNM of digits": b"P6 " + b"9" * 1_000_000 + b" 1 255\n",
            "PNM of comments": b"P6 " + b"#\n" * 1_000_000, "TIFF in a circle": tiff([(256, 4, 1, 5)], 8),
            "TIFF of 2^62": tiff([(256, 4, 1, most), (257, 4, 1, most), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
                                  (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 1), (279, 4, 1, 10)]),
            "TIFF of 2^31 strips": tiff([(256, 4, 1, 10), (257, 4, 1, 10), (273, 4, most, 8), (279, 4, most, 8)]),
            "WebP": b"RIFF\x1e\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + b"\xff" * 4 + bytes(20),
            "JPEG": b"\xff\xd8\xff\xc0\0\x11\x08" + b"\xff" * 4 + b"\3\1\x22\0\2\x11\1\3\x11\1\xff\xd9",
            "JPEG of markers": b"\xff\xd8" + b"\xff\xe0\0\2" * 1_000_000}.items():
        head = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }\n" % len(body)
        yield f"image: {name}", {"a.npy": b"\x93NUMPY\2\0" + struct.pack("<I", len(head)) + head.encode() + body,
                                 "net.onnx": decoder()}


def program_files():
    for name, code in {
            "a power": "df['a'] = df['a'] + 9**9**9", "a shift": "df['a'] = df['a'] + (1 << 10**12)",
            "a text of 10^10": "df['c'] = 'a' * 10**10", "a list of 10^10": "df['c'] = df['c'].isin(['a'] * 10**10)",
            "a range of 10^12": "df['a'] = df['a'].isin(list(range(10**12)))",
            "brackets": "df['a'] = " + "(" * 50_000 + "1" + ")" * 50_000, "signs": "df['a'] = " + "-" * 100_000 + "1",
            "a chain": "df['a'] = df['a']" + ".abs()" * 20_000, "a sum": "df['a'] = df['a']" + " + 1" * 20_000,
            "sums that double": "x = df['a']\n" + "    x = x + x\n" * 60 + "    df['a'] = x",
            "texts that double": "x = 'a'\n" + "    x = x + x\n" * 60 + "    df['c'] = x",
            "a loop": "while True:\n        df['a'] = df['a'] + 1", "itself": "return prepare(df)",
            "rounds": "for i in range(10**9):\n        df['a'] = df['a'] + 1",
            "a width": "df['c'] = '{:>1000000000}'.format(1)", "another width": "df['c'] = '%1000000000d' % 1",
            "bins": "df['a'] = pd.cut(df['a'], 10**9)", "quantiles": "df['a'] = pd.qcut(df['a'], 10**9)",
            "a window": "df['a'] = df['a'].rolling(10**12).mean()", "a file": "open('started', 'w')",
            "a module": "__import__('os').system('touch started')", "a division": "df['a'] = df['a'] // 0 % 0"}.items():
        yield f"pandas: {name}", {"m.py": "import pandas as pd\ndef prepare(df):\n    " + code + "\n    return df\n",
                                  "d.csv": "a,b,c\n1,2,x\n3,4,y\n"}


def note_files():
    def plan(*parts):
        return json.dumps({"plan": 1, "inputs": ["x"], "outputs": ["y"], "parts": [
            {"name": "p", "file": file, "inputs": [source], "outputs": [made]} for file, source, made in parts]})
    for name, text in {
            "deep": "[" * 1_000_000, "nothing": "null", "digits": "1" * 1_000_000, "of other types":
            '{"plan": "x", "inputs": {}, "outputs": 5, "parts": [[]], "operators": [], "name": 5}',
            "itself": plan(("f.json", "x", "y")), "outside": plan(("../net.onnx", "x", "y")),
            "of the system": plan(("/etc/passwd", "x", "y")), "a circle": plan(("net.onnx", "z", "y"), ("net.onnx", "y", "z")),
            "names that steer": plan(("\x1b[2J", "\x1b]0;t\x07", "\u202e")),
            "a rule beyond all": '{"name": "x", "operators": {"MatMul": [{"ranks": [0, 9223372036854775807], "types": ["\\u001b"]}]}}',
            "steps": '{"step": 1e300, "loss": "x"}\n{"step": -1}\n'}.items():
        yield f"JSON: {name}", {"f.json": text, "net.onnx": product()}


class HostileFiles(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def place(self, files):
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return next(iter(files))

    def call(self, *words):
        """The exit code, seconds of CPU time, what it said. Without the memory limit where a sanitizer takes its own."""
        limits = ["--max-time", "2s"] + ([] if SANITIZED else ["--max-memory", "300M"])
        program = subprocess.Popen([INGOT, *limits, *words], cwd=self.path, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        said = program.stdout.read().decode(errors="replace")
        program.stdout.close()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        return program.returncode, usage.ru_utime + usage.ru_stime, said

    def survives(self, files, commands=("inspect @", "convert @ -o out/net.onnx --no-verify")):
        """Each file in place of the @ of each command."""
        tried = 0
        for what, made in files:
            name = self.place(made)
            (self.path / "out").mkdir(exist_ok=True)
            before = {p.name for p in self.path.iterdir()}
            for command in commands:
                with self.subTest(what=what, command=command):
                    code, seconds, said = self.call(*command.replace("@", name).split())
                    self.assertIn(code, (0, 1, 2, 3, 4, 5, 6), said)
                    if code > 1:
                        self.assertRegex(said, r"\[IG\d{4}\]")
                    self.assertLess(seconds, 60 if SANITIZED else 3)
                    self.assertNotIn(SECRET, said)
                    self.assertNotIn("\x1b", said)
                    left = {p.name for p in self.path.iterdir()} - before
                    self.assertEqual(left, set(), "it wrote something else")
            tried += 1
        self.assertGreater(tried, 5)

    def test_tfjs(self):
        self.survives(tfjs_files())

    def test_keras(self):
        self.survives(keras_files())

    def test_archives(self):
        self.survives(archive_files())

    def test_pickles(self):
        self.survives(pickle_files())

    def test_boosting(self):
        self.survives(boosting_files())

    def test_tensorflow(self):
        self.survives(tensorflow_files())

    def test_safetensors(self):
        self.survives(safetensors_files())

    def test_tables(self):
        self.survives(data_files(), ("run net.onnx --data @ --out out/p.csv",
                                     "train net.onnx --data @ --loss mse --steps 1", "eval net.onnx --data @ --loss mse",
                                     "quantize net.onnx -o out/q.onnx --calibration @"))

    def test_arrays(self):
        self.survives(array_files(), ("run net.onnx --in x=@", "run net.onnx --in @"))

    def test_images(self):
        self.survives(image_files(), ("run net.onnx --in x=@",))

    def test_programs(self):
        self.survives(program_files(), ("convert @ --data d.csv -o out/p.onnx --no-verify",
                                        "convert @ --schema a:float,b:float,c:text -o out/p.onnx --no-verify"))

    def test_notes(self):
        self.survives(note_files(), ("run @ --random 1", "partition net.onnx --targets @ -o out/parts",
                                     "report net.onnx -o out/pages --training @", "convert net.onnx -o out/n.onnx --map-ops @",
                                     "scoreboard out --json out/s.json --before @"))

    def test_leftovers_of_killed_processes_are_removed(self):
        """Directories for a moment: those of the dead go, those of the living and of others stay."""
        import fcntl
        temporary = self.path / "tmp"
        temporary.mkdir()
        dead, alive = temporary / "ingot-work-aaaaaa", temporary / "ingot-work-bbbbbb"
        for directory in (dead, alive, temporary / "ingot-work-other-one", temporary / "ingot-wor"):
            directory.mkdir(mode=0o700)
            (directory / "part").write_text("x")
        (temporary / "ingot-work-cccccc").write_text("a file")
        (temporary / "ingot-work-dddddd").symlink_to(self.path)
        (temporary / "ingot-work-eeeeee").mkdir(mode=0o755)
        kept = {p.name for p in temporary.iterdir()} - {dead.name}
        lock = os.open(alive, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.place({"net.onnx": model(node("Neg", ["x"], "y"), [port("x", (2, 2))], [port("y", (2, 2))])})
        environment = {**os.environ, "TMPDIR": str(temporary)}
        subprocess.run([INGOT, "verify", "net.onnx", "net.onnx"], cwd=self.path, env=environment, check=True,
                       capture_output=True, timeout=120)
        self.assertEqual({p.name for p in temporary.iterdir()}, kept)
        self.assertEqual((alive / "part").read_text(), "x")

    def test_a_kill_leaves_nothing_behind_the_next_run(self):
        temporary = self.path / "tmp"
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary)}
        chain = b"".join(node("Neg", ["v%d" % i], "v%d" % (i + 1)) for i in range(50_000))
        self.place({"long.onnx": model(chain, [port("v0", (2, 2))], [port("v50000", (2, 2))])})
        self.place({"net.onnx": model(node("Neg", ["x"], "y"), [port("x", (2, 2))], [port("y", (2, 2))])})
        program = subprocess.Popen([INGOT, "verify", "long.onnx", "long.onnx"], cwd=self.path, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not list(temporary.iterdir()) and program.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        program.kill()
        program.wait()
        self.assertNotEqual(list(temporary.iterdir()), [], "nothing was left to collect")
        subprocess.run([INGOT, "verify", "net.onnx", "net.onnx"], cwd=self.path, env=environment, check=True,
                       capture_output=True, timeout=120)
        self.assertEqual(list(temporary.iterdir()), [])


if __name__ == "__main__":
    unittest.main()

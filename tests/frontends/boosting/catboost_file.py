"""Writes CatBoost models as .cbm files, and says what they predict: CatBoost itself is no package of Debian.

A file is "CBM1", the size of what follows, and a flatbuffer whose fields are those of CatBoost's schema.
"""
import json
import struct

import numpy as np


class Buffer:
    """A flatbuffer from its front to its end: what is pointed to is written behind what points to it."""

    def __init__(self):
        self.bytes = bytearray()

    def align(self, size):
        self.bytes += bytes(-len(self.bytes) % size)

    def point(self, at):
        struct.pack_into("<I", self.bytes, at, len(self.bytes) - at)

    def vector(self, at, code, values):
        # The length stands before the values, which are aligned.
        size = struct.calcsize(code)
        self.align(4)
        while (len(self.bytes) + 4) % size:
            self.bytes += bytes(4)
        self.point(at)
        self.bytes += struct.pack(f"<I{len(values)}{code}", len(values), *values)

    def text(self, at, value):
        self.vector(at, "B", value.encode() + b"\0")
        struct.pack_into("<I", self.bytes, at + struct.unpack_from("<I", self.bytes, at)[0], len(value.encode()))

    def tables(self, at, tables):
        self.align(4)
        self.point(at)
        self.bytes += struct.pack("<I", len(tables))
        places = [len(self.bytes) + 4 * i for i in range(len(tables))]
        self.bytes += bytes(4 * len(tables))
        for place, fields in zip(places, tables):
            self.table(place, fields)

    def table(self, at, fields):
        """fields: number -> (code, value) of a scalar, or a function that writes what the offset points to."""
        self.align(8)
        start = len(self.bytes)
        entries = [0] * (max(fields) + 1)
        self.bytes += struct.pack("<HH", 4 + 2 * len(entries), 4 + 8 * len(fields)) + bytes(2 * len(entries))
        self.align(8)
        self.point(at)
        begin = len(self.bytes)
        self.bytes += struct.pack("<i", begin - start) + bytes(4 + 8 * len(fields))
        for i, (number, field) in enumerate(sorted(fields.items())):
            entries[number] = 8 + 8 * i
            if not callable(field):
                struct.pack_into("<" + field[0], self.bytes, begin + entries[number], field[1])
        struct.pack_into(f"<{len(entries)}H", self.bytes, start + 4, *entries)
        for number, field in sorted(fields.items()):
            if callable(field):
                field(begin + entries[number])


def written(model, path):
    """model: features [(borders, NaN treatment)], trees, leaves, dimension, scale, bias, info."""
    b = Buffer()
    b.bytes += bytes(4)

    def feature(i, borders, treatment):
        return {1: ("i", i), 2: ("i", i), 3: lambda at: b.vector(at, "f", borders), 5: ("b", treatment)}

    trees = {
        0: ("i", model["dimension"]),
        1: lambda at: b.vector(at, "i", model["splits"]),
        2: lambda at: b.vector(at, "i", model["sizes"]),
        5: lambda at: b.tables(at, [feature(i, *one) for i, one in enumerate(model["features"])]),
        8: lambda at: b.vector(at, "d", model["leaves"]),
        14: ("d", model["scale"]),
        16: lambda at: b.vector(at, "d", model["bias"]),
    }
    if "steps" in model:
        trees[10] = lambda at: b.vector(at, "I", model["steps"])
        trees[11] = lambda at: b.vector(at, "I", model["leaf_ids"])
    info = [{0: lambda at, k=key: b.text(at, k), 1: lambda at, v=value: b.text(at, json.dumps(v))}
            for key, value in model["info"].items()]
    b.table(0, {0: lambda at: b.text(at, "FlabuffersModel_v1"), 1: lambda at: b.table(at, trees),
                2: lambda at: b.tables(at, info)})
    with open(path, "wb") as file:
        file.write(b"CBM1" + struct.pack("<I", len(b.bytes)) + bytes(b.bytes))


def example(rng, dimension, is_oblivious, info):
    """A model of random trees over four features."""
    features = [(sorted(rng.normal(size=3).astype(np.float32).tolist()), treatment) for treatment in (0, 1, 2, 1)]
    model = {"features": features, "dimension": dimension, "scale": 0.5, "info": info,
             "bias": rng.normal(size=dimension).tolist(), "splits": [], "sizes": []}
    if is_oblivious:
        leaves = 0
        for depth in (3, 1, 4, 0):
            model["splits"] += rng.randint(0, 12, depth).tolist()
            model["sizes"].append(depth)
            leaves += 2 ** depth
    else:
        # Nodes of two trees: (split, left step, right step, number of the leaf)
        nodes = [(4, 1, 2, 0), (0, 0, 0, 0), (7, 1, 0, 1), (0, 0, 0, 2), (11, 0, 1, 3), (0, 0, 0, 4)]
        model.update(sizes=[4, 2], splits=[node[0] for node in nodes], leaf_ids=[node[3] * dimension for node in nodes],
                     steps=[node[1] | node[2] << 16 for node in nodes])
        leaves = 5
    model["leaves"] = rng.normal(size=leaves * dimension).tolist()
    return model


def raw_sums(model, rows):
    """What the trees add up to, by the rules of the format: [N, dimension]."""
    questions = [(i, border, treatment) for i, (borders, treatment) in enumerate(model["features"]) for border in borders]

    def holds(row, number):
        i, border, treatment = questions[number]
        value = np.float32(row[i])
        return treatment == 2 if np.isnan(value) else bool(value > np.float32(border))

    leaves = np.array(model["leaves"]).reshape(-1, model["dimension"])
    sums = np.zeros((len(rows), model["dimension"]))
    for n, row in enumerate(rows):
        split = leaf = 0
        for size in model["sizes"]:
            if "steps" in model:
                at, step = split, 1
                while step:
                    both = model["steps"][at]
                    step = both >> 16 if holds(row, model["splits"][at]) else both & 0xffff
                    at += step
                sums[n] += leaves[model["leaf_ids"][at] // model["dimension"]]
            else:
                bits = sum(holds(row, model["splits"][split + k]) << k for k in range(size))
                sums[n] += leaves[leaf + bits]
                leaf += 2 ** size
            split += size
    return sums * model["scale"] + np.array(model["bias"])

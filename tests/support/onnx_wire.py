"""Models of one node and tensors in ONNX's wire format, with Python's standard library only."""
import struct

TYPES = {"float": 1, "uint8": 2, "int32": 6, "int64": 7, "string": 8, "bool": 9, "double": 11}
CODES = {1: "f", 2: "B", 6: "i", 7: "q", 9: "?", 11: "d"}


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(kind, dims, values, name=""):
    out = b"".join(number(1, d) for d in dims) + number(2, TYPES[kind])
    if kind == "string":
        out += b"".join(block(6, v) for v in values)
    else:
        out += block(9, struct.pack(f"<{len(values)}{CODES[TYPES[kind]]}", *values))
    return out + (block(8, name) if name else b"")


def value_info(name, kind, rank):
    shape = b"".join(block(1, block(2, f"{name}_{i}")) for i in range(rank)) if rank is not None else b""
    tensor_type = number(1, TYPES[kind]) + (block(2, shape) if rank is not None else b"")
    return block(1, name) + block(2, block(1, tensor_type))


def attribute(name, value):
    if isinstance(value, int):
        return block(1, name) + number(3, value) + number(20, 2)
    if isinstance(value, list):
        return block(1, name) + b"".join(number(8, v) for v in value) + number(20, 7)
    return block(1, name) + block(4, value) + number(20, 3)


def node_model(op, inputs, outputs, attributes=None, domain="ai.onnx.contrib", constants=None):
    """A model of one node. inputs and outputs: (name, type, rank); a None among them is an absent one. constants: tensors
    that are inputs of the node and not of the model."""
    names = lambda ports: [p[0] if p else "" for p in ports]
    constants = constants or {}
    node = b"".join(block(1, n) for n in names(inputs)) + b"".join(block(2, n) for n in names(outputs))
    node += block(3, "node") + block(4, op) + block(7, domain)
    node += b"".join(block(5, attribute(k, v)) for k, v in (attributes or {}).items())
    graph = block(1, node) + block(2, "graph")
    graph += b"".join(block(5, tensor(*t, name=n)) for n, t in constants.items())
    graph += b"".join(block(11, value_info(*p)) for p in inputs if p and p[0] not in constants)
    graph += b"".join(block(12, value_info(*p)) for p in outputs if p)
    return number(1, 8) + block(7, graph) + block(8, number(2, 17)) + block(8, block(1, domain) + number(2, 1))


def fields(data):
    at = 0

    def read():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = read()
        if key & 7 == 0:
            yield key >> 3, read()
        elif key & 7 == 2:
            size = read()
            at += size
            yield key >> 3, data[at - size:at]
        else:
            size = 4 if key & 7 == 5 else 8
            at += size
            yield key >> 3, data[at - size:at]


def packed(content):
    """Numbers of a packed field, or the one of a field that is not packed."""
    if isinstance(content, int):
        return [content]
    out, value, shift = [], 0, 0
    for byte in content:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value, shift = 0, 0
    return out


def signed(n):
    return n - (1 << 64) if n >> 63 else n


def read_tensor(data):
    """(dims, values) of a tensor; texts are bytes."""
    dims, kind, raw, texts, ints, floats = [], 0, None, [], [], b""
    for field, content in fields(data):
        if field == 1:
            dims += packed(content)
        elif field == 2:
            kind = content
        elif field == 9:
            raw = content
        elif field == 6:
            texts.append(content)
        elif field in (5, 7, 11):
            ints += [signed(n) for n in packed(content)]
        elif field in (4, 10):
            floats += content
    if kind == TYPES["string"]:
        return dims, texts
    if raw is None and floats:
        raw = floats
    if raw is None:
        return dims, ints
    code = CODES[kind]
    return dims, list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))

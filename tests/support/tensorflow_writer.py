"""Writes TensorFlow's messages and tables byte by byte, for tests and measurements that make their own models."""
import struct

FLOAT, INT32, STRING, BOOL, RESOURCE = 1, 3, 7, 10, 20


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A field of a message: numbers as varints, floats as 32 bits, everything else with its length."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fixed32(number, value):
    return varint(number << 3 | 5) + struct.pack("<I", value)


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


def shape(*dims):
    return message(*[(2, message((1, d))) for d in dims])


def type_of(dtype):
    return message((6, dtype))


def tensor(dtype, dims, content):
    return message((1, dtype), (2, shape(*dims)), (4, content))


def node(name, op, inputs=(), **attrs):
    return message((1, name), (2, op), *[(3, i) for i in inputs],
                   *[(5, message((1, key), (2, value))) for key, value in attrs.items()])


def placeholder(name, dtype, *dims):
    return node(name, "Placeholder", dtype=type_of(dtype), shape=message((7, shape(*dims))))


def constant(name, dtype, dims, content):
    return node(name, "Const", dtype=type_of(dtype), value=message((8, tensor(dtype, dims, content))))


# ---- checkpoints
CRC_TABLE = []
for entry in range(256):
    for _ in range(8):
        entry = entry >> 1 ^ (0x82F63B78 if entry & 1 else 0)
    CRC_TABLE.append(entry)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def table_block(entries):
    """Keys that share prefixes, then one restart."""
    out, before = b"", b""
    for key, value in entries:
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return out + struct.pack("<II", 0, 1)


def write_table(path, entries):
    with open(path, "wb") as file:
        def put(block):
            handle = varint(file.tell()) + varint(len(block))
            file.write(block + b"\0" + struct.pack("<I", masked_crc(block + b"\0")))
            return handle
        data = put(table_block(entries))
        empty = put(table_block([]))
        index = put(table_block([(entries[-1][0] + b"~", data)]))
        file.write((empty + index).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))

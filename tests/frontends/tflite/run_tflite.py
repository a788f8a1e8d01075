"""Runs a TFLite file in the native TFLite C library on seeded inputs and prints one JSON line:
{"inputs": [{"name", "type", "shape", "file"}], "outputs": [...], "version"} or {"error": text}.
With a last number, some integers of the inputs are changed by one step: how much that changes is how sensitive the
network is to rounding.
usage: run_tflite.py <library> <model> <seed> <output directory> [<seed of the changes>]"""
import array
import ctypes
import json
import os
import random
import struct
import sys

TYPES = {1: ("float32", "f"), 2: ("int32", "i"), 3: ("uint8", "B"), 4: ("int64", "q"), 5: ("string", None),
         6: ("bool", "B"), 7: ("int16", "h"), 9: ("int8", "b"), 11: ("float64", "d"), 13: ("uint64", "Q"),
         16: ("uint32", "I"), 17: ("uint16", "H")}


def load(path):
    lib = ctypes.CDLL(path)
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in [
            ("ModelCreateFromFile", pointer, [text]), ("InterpreterOptionsCreate", pointer, []),
            ("InterpreterOptionsSetNumThreads", None, [pointer, ctypes.c_int]),
            ("InterpreterCreate", pointer, [pointer, pointer]), ("InterpreterAllocateTensors", ctypes.c_int, [pointer]),
            ("InterpreterInvoke", ctypes.c_int, [pointer]),
            ("InterpreterGetInputTensorCount", ctypes.c_int, [pointer]),
            ("InterpreterGetOutputTensorCount", ctypes.c_int, [pointer]),
            ("InterpreterGetInputTensor", pointer, [pointer, ctypes.c_int]),
            ("InterpreterGetOutputTensor", pointer, [pointer, ctypes.c_int]),
            ("TensorType", ctypes.c_int, [pointer]), ("TensorNumDims", ctypes.c_int, [pointer]),
            ("TensorDim", ctypes.c_int, [pointer, ctypes.c_int]), ("TensorByteSize", size, [pointer]),
            ("TensorData", pointer, [pointer]), ("TensorName", text, [pointer]),
            ("TensorRealloc", None, [size, pointer]),
            ("TensorCopyFromBuffer", ctypes.c_int, [pointer, pointer, size]), ("Version", text, [])]:
        function = getattr(lib, "TfLite" + name)
        function.restype, function.argtypes = result, arguments
    return lib


def describe(lib, tensor):
    number = lib.TfLiteTensorType(tensor)
    if number not in TYPES:
        raise RuntimeError(f"element type {number} of TFLite's C interface")
    return {"name": (lib.TfLiteTensorName(tensor) or b"").decode(), "type": TYPES[number][0], "code": TYPES[number][1],
            "shape": [lib.TfLiteTensorDim(tensor, i) for i in range(lib.TfLiteTensorNumDims(tensor))]}


def values(kind, code, count, seed):
    draw = random.Random(seed)
    if kind in ("float32", "float64"):
        return array.array(code, (draw.random() * 2 - 1 for _ in range(count)))
    if kind == "int8":
        return array.array(code, (draw.randrange(-128, 128) for _ in range(count)))
    if kind == "uint8":
        return array.array(code, (draw.randrange(256) for _ in range(count)))
    if kind == "int16":
        return array.array(code, (draw.randrange(-3000, 3000) for _ in range(count)))
    if kind == "bool":
        return array.array(code, (draw.randrange(2) for _ in range(count)))
    return array.array(code, (draw.randrange(0, 4) for _ in range(count)))


def nudged(numbers, kind, seed):
    """One in 2000 integers moved by a step."""
    draw = random.Random(seed)
    most = {"int8": 127, "uint8": 255, "int16": 32767}.get(kind)
    if most is not None:
        for i in draw.sample(range(len(numbers)), max(1, len(numbers) // 2000)):
            numbers[i] += 1 if numbers[i] < most else -1
    return numbers


def encode(texts):
    data = [t.encode() for t in texts]
    offset = 4 + 4 * (len(data) + 1)
    offsets = [offset]
    for d in data:
        offset += len(d)
        offsets.append(offset)
    return struct.pack(f"<{len(offsets) + 1}i", len(data), *offsets) + b"".join(data)


def decode(data):
    count = struct.unpack_from("<i", data)[0]
    at = struct.unpack_from(f"<{count + 1}i", data, 4)
    return [data[at[i]:at[i + 1]].decode() for i in range(count)]


def run(library, model, seed, directory, nudge):
    lib = load(library)
    handle = lib.TfLiteModelCreateFromFile(model.encode())
    if not handle:
        raise RuntimeError("the model is refused")
    options = lib.TfLiteInterpreterOptionsCreate()
    lib.TfLiteInterpreterOptionsSetNumThreads(options, 1)
    interpreter = lib.TfLiteInterpreterCreate(handle, options)
    if not interpreter:
        raise RuntimeError("an operator is unknown to it")
    if lib.TfLiteInterpreterAllocateTensors(interpreter):
        raise RuntimeError("its tensors cannot be allocated")
    inputs, outputs = [], []
    for i in range(lib.TfLiteInterpreterGetInputTensorCount(interpreter)):
        tensor = lib.TfLiteInterpreterGetInputTensor(interpreter, i)
        about = describe(lib, tensor)
        count = 1
        for d in about["shape"]:
            count *= d
        about["file"] = os.path.join(directory, f"input_{i}")
        if about["type"] == "string":
            texts = [f"hello {k}" for k in range(count)]
            data = encode(texts)
            lib.TfLiteTensorRealloc(len(data), tensor)
            ctypes.memmove(lib.TfLiteTensorData(tensor), data, len(data))
            raw = json.dumps(texts).encode()
        else:
            numbers = values(about["type"], about["code"], count, seed + i)
            raw = (nudged(numbers, about["type"], nudge) if nudge else numbers).tobytes()
            if lib.TfLiteTensorCopyFromBuffer(tensor, raw, len(raw)):
                raise RuntimeError("an input is refused")
        with open(about["file"], "wb") as file:
            file.write(raw)
        inputs.append(about)
    if lib.TfLiteInterpreterInvoke(interpreter):
        raise RuntimeError("it fails while running")
    for i in range(lib.TfLiteInterpreterGetOutputTensorCount(interpreter)):
        tensor = lib.TfLiteInterpreterGetOutputTensor(interpreter, i)
        about = describe(lib, tensor)
        about["file"] = os.path.join(directory, f"output_{i}")
        size = lib.TfLiteTensorByteSize(tensor)
        raw = ctypes.string_at(lib.TfLiteTensorData(tensor), size) if size else b""
        if about["type"] == "string":
            raw = json.dumps(decode(raw)).encode()
        with open(about["file"], "wb") as file:
            file.write(raw)
        outputs.append(about)
    return {"inputs": inputs, "outputs": outputs, "version": lib.TfLiteVersion().decode()}


if __name__ == "__main__":
    try:
        print(json.dumps(run(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int((sys.argv + [0])[5]))))
    except (RuntimeError, OSError) as error:
        print(json.dumps({"error": str(error)}))

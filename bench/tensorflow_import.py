"""How long, and in how much memory, TensorFlow models become ONNX: a frozen graph and a SavedModel of 400 MB and graphs of
20,000 nodes, all made here, and every model of the corpus. Prints a line each; fails where a limit is broken.
usage: tensorflow_import.py --ingot PROGRAM [--models DIRECTORY] [--corpus DIRECTORY] [--megabytes 400] [--only TEXT]"""
import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
from tensorflow_writer import (FLOAT, constant, field, fixed32, masked_crc, message, node, placeholder,  # noqa: E402
                               shape, type_of, write_table)

WIDTH = 1024                        # of the weights: 4 MiB each
MOST_LARGE, MOST_SMALL = 2.0, 1.0   # seconds of CPU time
MOST_MEMORY = 100 << 20             # beyond the size of the files


def numbers(count, seed):
    draw = random.Random(seed)
    return struct.pack(f"<{count}f", *[draw.uniform(-0.05, 0.05) for _ in range(count)])


def layer(i, weight, before):
    return [node(f"layer_{i}/matmul", "MatMul", [before, weight], T=type_of(FLOAT)),
            node(f"layer_{i}/relu", "Relu", [f"layer_{i}/matmul"], T=type_of(FLOAT))]


def write_frozen(path, layers, block):
    with open(path, "wb") as file:
        file.write(field(1, placeholder("x", FLOAT, -1, WIDTH)))
        before = "x"
        for i in range(layers):
            file.write(field(1, constant(f"layer_{i}/weight", FLOAT, [WIDTH, WIDTH], block)))
            for n in layer(i, f"layer_{i}/weight", before):
                file.write(field(1, n))
            before = f"layer_{i}/relu"
        file.write(field(4, message((1, 1000))))


def write_saved_model(directory, layers, block):
    os.makedirs(os.path.join(directory, "variables"), exist_ok=True)
    nodes, before = [placeholder("x", FLOAT, -1, WIDTH)], "x"
    entries = [(b"", message((1, 1), (3, message((1, 1)))))]
    checksum = masked_crc(block)
    with open(os.path.join(directory, "variables", "variables.data-00000-of-00001"), "wb") as file:
        for i in range(layers):
            name = f"layer_{i:05}/weight"
            nodes.append(node(name, "VariableV2", dtype=type_of(FLOAT), shape=message((7, shape(WIDTH, WIDTH)))))
            nodes.append(node(name + "/read", "Identity", [name], T=type_of(FLOAT)))
            nodes += layer(i, name + "/read", before)
            before = f"layer_{i}/relu"
            entry = message((1, FLOAT), (2, shape(WIDTH, WIDTH)), (4, file.tell()), (5, len(block)))
            entries.append((name.encode(), entry + fixed32(6, checksum)))
            file.write(block)
    write_table(os.path.join(directory, "variables", "variables.index"), entries)

    def info(name):
        return message((1, name), (2, FLOAT), (3, shape(-1, WIDTH)))

    signature = message((1, message((1, "x"), (2, info("x:0")))), (2, message((1, "y"), (2, info(before + ":0")))))
    meta = message((1, message((4, "serve"))), (2, message(*[(1, n) for n in nodes], (4, message((1, 1000))))),
                   (5, message((1, "serving_default"), (2, signature))))
    with open(os.path.join(directory, "saved_model.pb"), "wb") as file:
        file.write(message((1, 1), (2, meta)))


def write_many_nodes(path, count, is_convolutional):
    """A chain: small matrices, or small convolutions with all that the layout pass has to look at."""
    with open(path, "wb") as file:
        def put(data):
            file.write(field(1, data))
        if is_convolutional:
            put(placeholder("x", FLOAT, -1, 8, 8, 4))
            put(constant("w", FLOAT, [3, 3, 4, 4], numbers(144, 1)))
            put(constant("b", FLOAT, [4], numbers(4, 2)))
        else:
            put(placeholder("x", FLOAT, -1, 4))
            put(constant("w", FLOAT, [4, 4], numbers(16, 1)))
            put(constant("b", FLOAT, [4], numbers(4, 2)))
        before = "x"
        for i in range(count // 4):
            if is_convolutional:
                put(node(f"n{i}/a", "Conv2D", [before, "w"], T=type_of(FLOAT), padding=message((2, "SAME")),
                         strides=message((1, message(*[(3, 1)] * 4)))))
            else:
                put(node(f"n{i}/a", "MatMul", [before, "w"], T=type_of(FLOAT)))
            put(node(f"n{i}/b", "BiasAdd", [f"n{i}/a", "b"], T=type_of(FLOAT)))
            put(node(f"n{i}/c", "Relu", [f"n{i}/b"], T=type_of(FLOAT)))
            put(node(f"n{i}/d", "AddV2", [f"n{i}/c", before], T=type_of(FLOAT)))
            before = f"n{i}/d"
        file.write(field(4, message((1, 1000))))


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files)


def measured(program, path, target):
    """(exit code, CPU seconds, bytes at the peak) of a conversion; the code is 3 or 4 where the file is refused."""
    command = [program, "--quiet", "convert", path, "-o", target, "--no-verify"]
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(command, stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def corpus_models(corpus):
    for place in ("savedmodel", "frozen_pb", "tfjs", "tflite"):
        for directory, _, files in sorted(os.walk(os.path.join(corpus, place))):
            for name in sorted(files):
                path = os.path.join(directory, name)
                if "dl4j" in path or name in ("keras_metadata.pb", "fingerprint.pb", "tfhub_module.pb"):
                    continue
                if name == "saved_model.pb":
                    yield directory
                elif name.endswith((".pb", ".meta", ".tflite", ".bin", ".json")) and "shard" not in name:
                    yield path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", help="where the models are made and kept; a temporary directory otherwise")
    shared = os.environ.get("INGOT_SHARED", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared"))
    parser.add_argument("--corpus", default=os.path.join(shared, "corpus"))
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    broken = []
    with tempfile.TemporaryDirectory() as scratch:
        directory = arguments.models or scratch
        os.makedirs(directory, exist_ok=True)
        target = os.path.join(scratch, "out.onnx")
        layers = arguments.megabytes * 1000000 // (WIDTH * WIDTH * 4)
        made = {"frozen.pb": lambda p: write_frozen(p, layers, numbers(WIDTH * WIDTH, 1)),
                "saved_model": lambda p: write_saved_model(p, layers, numbers(WIDTH * WIDTH, 1)),
                "many_matrices.pb": lambda p: write_many_nodes(p, 20000, False),
                "many_convolutions.pb": lambda p: write_many_nodes(p, 20000, True)}
        for name, write in made.items():
            if arguments.only not in name:
                continue
            path = os.path.join(directory, name)
            if not os.path.exists(path):
                write(path)
            measured(arguments.ingot, path, target)  # the files come from memory from here on
            code, seconds, memory = measured(arguments.ingot, path, target)
            limit = max(200 << 20, size_of(path) + MOST_MEMORY)
            print(f"{name:22} {size_of(path) / 1e6:7.1f} MB  {seconds:6.2f} s  {memory / 1e6:7.1f} MB at the peak "
                  f"(limits {MOST_LARGE} s, {limit / 1e6:.0f} MB)", flush=True)
            if code or seconds > MOST_LARGE or memory > limit:
                broken.append(name)
        slowest, count, refused = (0, ""), 0, 0
        for path in corpus_models(arguments.corpus) if os.path.isdir(arguments.corpus) else []:
            name = os.path.relpath(path, arguments.corpus)
            if arguments.only not in name:
                continue
            code, seconds, _ = measured(arguments.ingot, path, target)
            count, refused = count + 1, refused + (code != 0)
            slowest = max(slowest, (seconds, name))
            if seconds >= MOST_SMALL:
                print(f"{name}: {seconds:.2f} s")
                broken.append(name)
        print(f"{count} files of the corpus, {refused} refused; the slowest: {slowest[0]:.2f} s {slowest[1]}")
    for name in broken:
        print("TOO MUCH " + name)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

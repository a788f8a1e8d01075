"""How long, and in how much memory, 400 MB go from Keras to ONNX and from ONNX to TensorFlow and TF.js, without
verification. The models are made here. Prints a line each; fails where a limit is broken.
usage: tensorflow_export.py --ingot PROGRAM [--models DIRECTORY] [--megabytes 400] [--only TEXT]"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tensorflow_import import WIDTH, numbers, size_of, write_frozen  # noqa: E402

MOST_SECONDS, MOST_MEMORY = 1.0, 100 << 20


def dense(i, **more):
    return {"class_name": "Dense", "config": {"name": f"d{i}", "units": WIDTH, "activation": "relu", "use_bias": False, **more}}


def write_h5(path, layers, block):
    import h5py
    import numpy as np
    weights = np.frombuffer(block, "<f4").reshape(WIDTH, WIDTH)
    with h5py.File(path, "w") as file:
        config = {"class_name": "Sequential", "config": {"name": "m", "layers": [
            dense(i, **({} if i else {"batch_input_shape": [None, WIDTH]})) for i in range(layers)]}}
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.4.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [f"d{i}".encode() for i in range(layers)]
        for i in range(layers):
            part = group.create_group(f"d{i}")
            part.attrs["weight_names"] = [f"d{i}/kernel:0".encode()]
            part.create_dataset(f"d{i}/kernel:0", data=weights)


def write_keras(path, layers, block):
    import h5py
    import numpy as np
    weights = np.frombuffer(block, "<f4").reshape(WIDTH, WIDTH)
    stored = path + ".weights"
    with h5py.File(stored, "w") as file:
        for i in range(layers):
            file.create_dataset(f"layers/dense{f'_{i}' if i else ''}/vars/0", data=weights)
    config = {"module": "keras", "class_name": "Sequential", "config": {"name": "m", "layers": [
        {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [None, WIDTH], "dtype": "float32", "name": "x"}},
        *[{"module": "keras.layers", **dense(i)} for i in range(layers)]]}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.10.0"}))
        archive.writestr("config.json", json.dumps(config))
        archive.write(stored, "model.weights.h5")
    os.remove(stored)


def measured(program, path, target, words):
    command = [program, "--quiet", "convert", path, "-o", target, "--no-verify", *words]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", help="where the models are made and kept; a temporary directory otherwise")
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    broken = []
    with tempfile.TemporaryDirectory() as scratch:
        directory = arguments.models or scratch
        os.makedirs(directory, exist_ok=True)
        layers, block = arguments.megabytes * 1000000 // (WIDTH * WIDTH * 4), numbers(WIDTH * WIDTH, 1)
        frozen, source = os.path.join(directory, "frozen.pb"), os.path.join(directory, "source.onnx")
        h5, keras = os.path.join(directory, "model.h5"), os.path.join(directory, "model.keras")
        for path, write in ((frozen, write_frozen), (h5, write_h5), (keras, write_keras)):
            if not os.path.exists(path):
                write(path, layers, block)
        if not os.path.exists(source):
            measured(arguments.ingot, frozen, source, [])
        ways = {"h5 to onnx": (h5, "out.onnx", []), "keras to onnx": (keras, "out.onnx", []),
                "onnx to graph": (source, "out.pb", []), "onnx to savedmodel": (source, "saved", ["--to", "savedmodel"]),
                "onnx to savedmodel, variables": (source, "saved", ["--to", "savedmodel", "--variables"]),
                "onnx to tfjs": (source, "web", ["--to", "tfjs"])}
        for name, (path, target, words) in ways.items():
            if arguments.only not in name:
                continue
            measured(arguments.ingot, path, os.path.join(scratch, target), words)  # files come from memory from here on
            code, seconds, memory = min((measured(arguments.ingot, path, os.path.join(scratch, target), words) for _ in range(3)),
                                        key=lambda m: m[1])
            limit = size_of(path) + MOST_MEMORY
            print(f"{name:30} {size_of(path) / 1e6:6.1f} MB  {seconds:5.2f} s  {memory / 1e6:6.1f} MB at the peak "
                  f"(limits {MOST_SECONDS} s, {limit / 1e6:.0f} MB)", flush=True)
            if code or seconds > MOST_SECONDS or memory > limit:
                broken.append(name)
    for name in broken:
        print("TOO MUCH " + name)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

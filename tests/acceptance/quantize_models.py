#!/usr/bin/env python3
"""Classifiers of the corpus in integers: do they still say the same class, judged in ONNX Runtime on data held back?

usage: quantize_models.py PATH_TO_INGOT

Digits are drawn by tests/cli/quantize_test.py. Prints a line for each model and way; exits with 1 where less than 98 % of
the classes stay the same by 8 bits, with 77 where ONNX Runtime or the corpus is not here.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

INGOT = sys.argv[1]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import quantize_test as drawn  # noqa: E402  (it takes the program's path off sys.argv)

SMALL = "ml_small/tutorials/external-models"
TRIBUO = "ml_small/Interop/ONNX/src/test/resources/org/tribuo/interop/onnx"
# The model, and the size of a pixel's white.
MODELS = [("winml/mnist.onnx", 255), ("ort_examples/c_cxx/MNIST/mnist.onnx", 255), (f"{SMALL}/pytorch_cnn_mnist.onnx", 1),
          (f"{TRIBUO}/cnn_mnist.onnx", 1), ("wonnx/data/models/opt-mnist.onnx", 255)]
WAYS = [("static", []), ("static, entropy", ["--calibration", "entropy"]), ("static, integer operators", ["--form", "integer"]),
        ("dynamic", ["--method", "dynamic"]), ("weights, 8 bits", ["--method", "weights"]),
        ("weights, 4 bits", ["--method", "weights", "--bits", "4"])]
COUNT = 300


def ingot(*arguments):
    return subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=900)


def main():
    if not drawn.DIGITS.exists():
        print("SKIPPED: the corpus is not here")
        sys.exit(77)
    if "missing" in next((line for line in ingot("verify", "--list-runtimes").stdout.splitlines() if "ort" in line), "missing"):
        print("SKIPPED: ONNX Runtime is not here")
        sys.exit(77)
    draw = random.Random(11)
    pixels = [v for i in range(COUNT) for v in drawn.digit(i % 10, draw)]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, white in MODELS:
            model = str(drawn.MODELS / name)
            about = json.loads(ingot("inspect", model, "--json").stdout)["inputs"][0]
            shape = about["type"].partition("[")[2].rstrip("]").split(",")[1:]
            data = f"{folder}/digits.npz"
            with zipfile.ZipFile(data, "w") as archive:
                values = [v * white / 255 for v in pixels]
                archive.writestr(f"{about['name']}.npy", drawn.npy((COUNT, *map(int, shape)), values))
            for way, options in WAYS:
                done = ingot("quantize", model, "-o", f"{folder}/q.onnx", "--data", data, "--hold-back", "0.5", "--with",
                             "ort", *options, "--json")
                if done.returncode not in (0, 1):
                    print(f"{name}: {way}: refused: {done.stderr.strip().splitlines()[0][:150]}", flush=True)
                    continue
                judged = json.loads(done.stdout)["with"]["ort"][0]
                share = judged["same_class"] / judged["rows"]
                is_bad = share < drawn.AGREEMENT and "4 bits" not in way
                bad += is_bad
                print(f"{name}: {way}: {judged['same_class']} of {judged['rows']} classes stay{' LESS' if is_bad else ''}",
                      flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

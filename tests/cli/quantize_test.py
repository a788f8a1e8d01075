#!/usr/bin/env python3
"""Quantised models as a user meets them: made from real classifiers, judged in Ingot and in ONNX Runtime.

usage: quantize_test.py PATH_TO_INGOT
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

INGOT = sys.argv.pop(1)
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
MODELS = SHARED / "corpus" / "onnx"
DIGITS = MODELS / "winml" / "mnist.onnx"
AGREEMENT = 0.98

# The strokes of a seven-segment display, as lines from corner to corner.
SEGMENTS = {"a": (0, 0, 1, 0), "b": (1, 0, 1, 1), "c": (1, 1, 1, 2), "d": (0, 2, 1, 2), "e": (0, 1, 0, 2), "f": (0, 0, 0, 1),
            "g": (0, 1, 1, 1)}
SHAPES = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]


def digit(number, draw):
    """28 x 28 grey levels from 0 to 255: a digit of a thick pen, somewhere near the middle, with noise."""
    x0, y0, w, h = 9 + draw.uniform(-2, 2), 5 + draw.uniform(-2, 2), 9 + draw.uniform(-2, 2), 8.5 + draw.uniform(-1.5, 1)
    slant, pen = draw.uniform(-0.15, 0.15), draw.uniform(1.0, 1.7)
    image = [0.0] * 784
    for s in SHAPES[number]:
        ax, ay, bx, by = SEGMENTS[s]
        for t in range(13):
            cx = x0 + w * (ax + (bx - ax) * t / 12)
            cy = y0 + h * (ay + (by - ay) * t / 12)
            cx -= slant * (cy - 14)
            for y in range(max(0, int(cy) - 2), min(28, int(cy) + 4)):
                for x in range(max(0, int(cx) - 2), min(28, int(cx) + 4)):
                    distance = ((x - cx) ** 2 + (y - cy) ** 2) ** 0.5
                    image[y * 28 + x] = max(image[y * 28 + x], min(1.0, max(0.0, pen + 0.5 - distance)))
    return [min(255.0, max(0.0, 255 * v + draw.uniform(0, 8))) for v in image]


def npy(shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


class QuantizeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not DIGITS.exists():
            raise unittest.SkipTest("set INGOT_SHARED: the models are not here")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        draw = random.Random(7)
        count = 300
        values = [v for i in range(count) for v in digit(i % 10, draw)]
        cls.data = str(pathlib.Path(cls.folder.name) / "digits.npz")
        done = subprocess.run([INGOT, "inspect", str(DIGITS), "--json"], capture_output=True, text=True, check=True)
        name = json.loads(done.stdout)["inputs"][0]["name"]
        with zipfile.ZipFile(cls.data, "w") as archive:
            archive.writestr(f"{name}.npy", npy((count, 1, 28, 28), values))

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def run_ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def has_ort(self):
        listed = subprocess.run([INGOT, "verify", "--list-runtimes"], capture_output=True, text=True).stdout
        return any("ort" in line and "missing" not in line for line in listed.splitlines())

    def quantize(self, *options, name="q.onnx", agreement=AGREEMENT):
        arguments = ["quantize", str(DIGITS), "-o", self.path(name), "--data", self.data, "--hold-back", "0.5", *options]
        if self.has_ort():
            arguments += ["--with", "ort"]
        done = json.loads(self.run_ingot(*arguments, "--json").stdout)
        judges = [("Ingot", done["outputs"][0])]
        if "with" in done:
            judges.append(("ONNX Runtime", done["with"]["ort"][0]))
        for judge, output in judges:
            self.assertGreaterEqual(output["rows"], 149)
            self.assertGreaterEqual(output["same_class"], agreement * output["rows"], f"{judge}: {options}")
        return done

    def operators(self, name="q.onnx"):
        done = json.loads(self.run_ingot("inspect", self.path(name), "--json").stdout)
        return {o["name"].split(".")[-1] if isinstance(o, dict) else o for o in done["operators"]}

    def test_static_by_each_way_to_find_ranges(self):
        for way in ("minmax", "entropy", "percentile"):
            done = self.quantize("--calibration", way)
            self.assertGreater(done["quantized"], 4)
            self.assertLess(done["parameter_bytes"]["after"], done["parameter_bytes"]["before"] / 3)
            self.assertTrue(all(v["decibels"] > 10 for v in done["values"]), done["values"])

    def test_static_in_each_form(self):
        self.quantize("--per-tensor")
        self.quantize("--activations", "uint8", "--weights", "uint8", "--symmetric")
        self.quantize("--activations", "uint8")
        self.quantize("--form", "integer")
        self.assertIn("QLinearConv", self.operators())
        self.assertNotIn("Conv", self.operators())

    def test_dynamic(self):
        done = self.quantize("--method", "dynamic")
        self.assertIn("ConvInteger", self.operators())
        self.assertGreaterEqual(done["quantized"], 3)

    def test_weights_alone(self):
        eight = self.quantize("--method", "weights")
        # Four bits lose more: 144 to 148 of 150 classes stay here.
        four = self.quantize("--method", "weights", "--bits", "4", agreement=0.95)
        self.assertLess(four["parameter_bytes"]["after"], eight["parameter_bytes"]["after"])
        self.quantize("--method", "weights", "--bits", "4", "--block", "32", agreement=0.95)
        self.assertIn("DequantizeLinear", self.operators())
        self.quantize("--method", "weights", "--bits", "4", "--block", "32", "--form", "integer", agreement=0.95)
        self.assertIn("com.microsoft.MatMulNBits", self.operators())

    def test_excluded_nodes_stay_float(self):
        done = self.quantize("--exclude", "Conv")
        self.assertEqual({k["reason"] for k in done["kept"]}, {"it is excluded"})
        self.assertIn("Conv", self.operators())

    def test_names_that_nothing_has_are_refused(self):
        for option in ("--exclude", "--only"):
            done = self.run_ingot("quantize", str(DIGITS), "-o", self.path("no.onnx"), "--random", "2", option, "Conv,Covn", code=2)
            self.assertIn("'Covn'", done.stderr)

    def test_what_cannot_be_compared_in_decibels_is_told(self):
        # Positions, and as many of them as there are numbers above 0.
        pathlib.Path(self.path("found.onnxtxt")).write_text("""<ir_version: 8, opset_import: ["" : 17]>
net (float[4, 8] x) => (int64[4] best, int64[2, N] found)
<float[8, 8] w = {%s}> { y = MatMul(x, w) best = ArgMax<axis = 1, keepdims = 0>(y) found = NonZero(r) r = Relu(y) }"""
            % ", ".join(str((i * 37 % 19 - 9) / 10) for i in range(64)))
        self.run_ingot("convert", self.path("found.onnxtxt"), "-o", self.path("found.onnx"))
        arguments = ["quantize", self.path("found.onnx"), "-o", self.path("small.onnx"), "--random", "40"]
        arguments += ["--with", "ort"] if self.has_ort() else []
        done = json.loads(self.run_ingot(*arguments, "--json").stdout)
        for outputs in [done["outputs"], *done.get("with", {}).values()]:
            best, found = outputs
            self.assertEqual(best["integers"], 40)
            self.assertGreater(best["same_integers"], 30)
            self.assertNotIn("decibels", best)
            self.assertEqual(found["runs"], 10)
            self.assertGreater(found["other_shapes"], 0)
        self.assertIn("another shape in", self.run_ingot(*arguments).stderr)

    def test_becomes_a_tflite_file_of_integers(self):
        self.quantize()
        self.run_ingot("convert", self.path("q.onnx"), "-o", self.path("q.tflite"), "--no-verify")
        operators = self.operators("q.tflite")
        self.run_ingot("convert", self.path("q.onnx"), "-o", self.path("q2.tflite"))

    def test_what_makes_no_sense_is_refused(self):
        out = ["-o", self.path("no.onnx")]
        refused = self.run_ingot("quantize", str(DIGITS), *out, code=2).stderr
        self.assertIn("--data", refused)
        self.run_ingot("quantize", str(DIGITS), *out, "--method", "dynamic", "--form", "qdq", code=2)
        self.run_ingot("quantize", str(DIGITS), *out, "--random", "2", "--bits", "4", code=2)
        self.run_ingot("quantize", str(DIGITS), *out, "--random", "2", "--opset", "9", code=2)
        self.assertFalse(pathlib.Path(self.path("no.onnx")).exists())


if __name__ == "__main__":
    unittest.main()

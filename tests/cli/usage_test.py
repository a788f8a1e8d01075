#!/usr/bin/env python3
"""What the program says to mistakes, of files and of users. Usage: usage_test.py PATH_TO_INGOT"""
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

INGOT = sys.argv.pop(1)

SMALL = """<ir_version: 8, opset_import: ["" : 13]>
net (float[1, 4] x) => (float[1, 2] y)
<float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}>
{
  h = MatMul(x, w)
  y = Softmax<axis = -1>(h)
}
"""

# 'axes' must be a list; a reader that takes no notice reduces all axes.
WRONG_ATTRIBUTE = """<ir_version: 8, opset_import: ["" : 13]>
net (float[2, 3] x) => (float[2, 1] y)
{
  [mean] y = ReduceMean<axes = 1>(x)
}
"""

IMAGE = """<ir_version: 8, opset_import: ["" : 13]>
net (float[1, 3, 8, 8] x) => (float[1, 2, 8, 8] y)
<float[2, 3, 1, 1] w = {1, 2, 3, 4, 5, 6}>
{
  y = Conv(x, w)
}
"""


def npy(values, shape):
    head = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}f", *values)


class Usage(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def file(self, name, content):
        (self.path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def ingot(self, *args, code=0):
        done = subprocess.run([INGOT, *map(str, args)], cwd=self.path, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_help_of_a_command_is_asked_for_in_either_order(self):
        asked = self.ingot("help", "convert").stdout
        self.assertIn("--opset", asked)
        self.assertEqual(asked, self.ingot("convert", "--help").stdout)
        self.assertIn("First steps", self.ingot("help").stdout)
        self.assertIn("did you mean convert?", self.ingot("help", "convrt", code=2).stderr)

    def test_a_mistyped_word_gets_the_one_that_was_meant(self):
        self.file("m.onnxtxt", SMALL)
        for words, meant in ((["convert", "m.onnxtxt", "-o", "o.onnx", "--opste", "17"], "--opset"),
                             (["convert", "m.onnxtxt", "-o", "o.onnx", "--input-shapes", "x:1,4"], "--input-shape"),
                             (["convert", "m.onnxtxt", "--ouput", "o.onnx"], "--output"),
                             (["run", "m.onnxtxt", "--radnom=1"], "--random"),
                             (["verify", "m.onnxtxt", "--quite"], "--quiet"),
                             (["inspekt", "m.onnxtxt"], "inspect")):
            self.assertIn(f"did you mean {meant}?", self.ingot(*words, code=2).stderr)
        self.assertNotIn("did you mean", self.ingot("run", "m.onnxtxt", "--zzzzzzz", code=2).stderr)

    def test_numbers_out_of_range_are_refused_in_few_words(self):
        self.file("m.onnxtxt", SMALL)
        for words in (["convert", "m.onnxtxt", "-o", "o.onnx", "--opset", "0"], ["run", "m.onnxtxt", "--threads", "0"],
                      ["bench", "m.onnxtxt", "--threads", "-3"], ["train", "m.onnxtxt", "--threads", "0"],
                      ["grad", "m.onnxtxt", "-o", "g.onnx", "--opset", "0"]):
            said = self.ingot(*words, code=2).stderr
            self.assertIn("is not a number above zero", said)
            self.assertLess(len(said), 300)

    def test_errors_are_json_where_json_is_asked_for(self):
        self.file("bad.onnxtxt", WRONG_ATTRIBUTE)
        error = json.loads(self.ingot("run", "bad.onnxtxt", "--random", 1, "--json", code=3).stdout)["error"]
        self.assertEqual((error["code"], error["exit_code"], error["file"]), ("IG0304", 3, "bad.onnxtxt"))
        self.assertIn("attribute 'axes' is an int", error["message"])
        for words, code in ((["inspect", "nobody.onnx"], 6), (["convert", "bad.onnxtxt"], 2), (["verify", "--what"], 2)):
            error = json.loads(self.ingot(*words, "--json", code=code).stdout)["error"]
            self.assertEqual(error["exit_code"], code)

    def test_numbers_are_numbers_in_json(self):
        self.file("m.onnxtxt", SMALL)
        output = json.loads(self.ingot("run", "m.onnxtxt", "--random", 1, "--json").stdout)["outputs"]["y"]
        self.assertEqual(len(output["first"]), 2)
        self.assertAlmostEqual(sum(output["first"]), 1, places=5)

    def test_every_command_refuses_what_check_refuses_unless_told_otherwise(self):
        self.file("bad.onnxtxt", WRONG_ATTRIBUTE)
        words = "attribute 'axes' is an int, but must be a list of ints [IG0304]"
        self.assertIn(words, self.ingot("check", "bad.onnxtxt", code=1).stdout)
        commands = (["run", "--random", "1"], ["convert", "-o", "o.onnx"], ["convert", "-o", "o.tflite"], ["verify"],
                    ["bench"], ["grad", "-o", "g.onnx"], ["gradcheck"], ["make-trainable", "-o", "t.onnx", "--loss", "mse"],
                    ["strip-training", "-o", "s.onnx"], ["train", "--dry-run", "--loss", "mse"])
        for name, *options in commands:
            said = self.ingot(name, "bad.onnxtxt", *options, code=3).stderr
            self.assertIn(words, said, name)
            self.assertIn("--unchecked", said, name)
        self.assertFalse(list(self.path.glob("*.onnx")) + list(self.path.glob("*.tflite")))
        for name, *options in commands:
            done = subprocess.run([INGOT, name, "bad.onnxtxt", *options, "--unchecked"], cwd=self.path, timeout=120,
                                  capture_output=True, text=True)
            self.assertNotIn("the model is not valid", done.stderr)
            self.assertIn(done.returncode, range(0, 5), f"{name}: {done.stderr}")  # no crash, no bug

    def test_what_is_no_model_is_named(self):
        for name, content, what in (("empty.onnx", b"", "is empty"),
                                    ("lfs.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS"),
                                    ("page.onnx", b"<!DOCTYPE html><html></html>", "HTML"),
                                    ("m.onnx.gz", gzip.compress(b"x"), "gzip"),
                                    ("m.7z", b"7z\xbc\xaf\x27\x1c\0\4", "7z")):
            self.file(name, content)
            for command in (["inspect", name], ["run", name, "--random", 1], ["convert", name, "-o", "o.onnx"]):
                said = self.ingot(*command, code=3).stderr
                self.assertIn(what, said)
                self.assertNotIn("--from", said)

    def test_missing_weights_are_named_and_inspect_goes_without(self):
        self.file("m.onnxtxt", SMALL)
        (self.path / "d").mkdir()
        self.ingot("convert", "m.onnxtxt", "-o", "d/m.onnx", "--external-data", "--external-threshold", 16)
        data = [p for p in (self.path / "d").iterdir() if p.name != "m.onnx"]
        self.assertEqual(len(data), 1)
        data[0].unlink()
        said = self.ingot("run", "d/m.onnx", "--random", 1, code=6).stderr
        self.assertIn(f"the model keeps weights in the file '{data[0].name}': put it into the directory 'd'", said)
        done = self.ingot("inspect", "d/m.onnx", "--weights")
        self.assertIn("float[4,2]", done.stdout)
        self.assertIn(f"the file '{data[0].name}' is missing", done.stderr)
        self.ingot("inspect", "d/m.onnx", "--text", code=6)

    def test_the_source_is_not_overwritten(self):
        self.file("m.onnxtxt", SMALL)
        table = "a,b,c,d\n1,2,3,4\n"
        self.file("d.csv", table)
        for command in (["convert", "m.onnxtxt", "-o", "./m.onnxtxt"], ["grad", "m.onnxtxt", "-o", "m.onnxtxt"],
                        ["strip-training", "m.onnxtxt", "-o", "m.onnxtxt"], ["optimize", "m.onnxtxt", "-o", "m.onnxtxt"],
                        ["rename", "m.onnxtxt", "x=z", "-o", "m.onnxtxt"],
                        ["extract", "m.onnxtxt", "--outputs", "h", "-o", "m.onnxtxt"],
                        ["merge", "m.onnxtxt", "m.onnxtxt", "--connect", "y=x", "-o", "m.onnxtxt"],
                        ["convert", "m.onnxtxt", "-o", "o.onnx", "--report", "m.onnxtxt"],
                        ["train", "m.onnxtxt", "--data", "d.csv", "--loss", "mse", "--export", "m.onnxtxt"],
                        ["train", "m.onnxtxt", "--data", "d.csv", "--loss", "mse", "--log", "d.csv"],
                        ["run", "m.onnxtxt", "--data", "d.csv", "--out", "d.csv"]):
            self.assertIn("IG1303", self.ingot(*command, code=2).stderr)
        self.assertEqual((self.path / "m.onnxtxt").read_text(), SMALL)
        self.assertEqual((self.path / "d.csv").read_text(), table)
        self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--report", "o.onnx", code=2)

    def test_a_fixed_batch_is_changed(self):
        self.file("m.onnxtxt", SMALL)
        self.assertIn("--batch", self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--input-shape", "x:8,4", code=2).stderr)
        self.ingot("convert", "m.onnxtxt", "-o", "n.onnx", "--batch", "N")
        self.ingot("convert", "n.onnx", "-o", "eight.onnx", "--batch", "8")
        self.ingot("check", "n.onnx", "eight.onnx", "--strict")
        ports = json.loads(self.ingot("inspect", "eight.onnx", "--json").stdout)
        self.assertEqual((ports["inputs"][0]["type"], ports["outputs"][0]["type"]), ("float[8,4]", "float[8,2]"))
        for wrong in ("0", "-1", "", "1.5"):
            self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--batch", wrong, code=2)

    def test_convert_compares_on_the_inputs_that_are_named(self):
        self.file("m.onnxtxt", SMALL)
        self.file("x.npy", npy([1, 2, 3, 4], (1, 4)))
        report = json.loads(self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--in", "x=x.npy", "--json").stdout)
        self.assertIn("as given", report["verification"]["inputs"][0])
        report = json.loads(self.ingot("convert", "m.onnxtxt", "-o", "o.tflite", "--random", 5, "--seeds", 2, "--json").stdout)
        if report["verification"]["answer"] == "same":
            self.assertIn("the seeds 5 and 6", report["verification"]["inputs"][0])
        self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--in", "x=nobody.npy", code=6)
        self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--seeds", 2, "--no-verify", code=2)

    def test_agreement_of_ingot_with_itself_is_not_called_verified(self):
        self.file("m.onnxtxt", SMALL)
        done = self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--random", 1, "--opset", 17, "--peers", "/nowhere",
                          "--report", "r.html")
        if "Ingot itself ran the source" in done.stderr:
            self.assertNotIn("verified: ", done.stderr.replace("not verified by another program: ", ""))
            self.assertIn("not verified by another program", (self.path / "r.html").read_text())
        else:
            self.assertIn("ONNX Runtime", done.stderr)

    def test_inspect_shows_what_a_tflite_file_holds(self):
        self.file("m.onnxtxt", IMAGE)
        self.ingot("convert", "m.onnxtxt", "-o", "m.tflite", "--no-verify")
        shown = self.ingot("inspect", "m.tflite").stdout
        self.assertIn("operators of the TFLite file", shown)
        self.assertIn("CONV_2D", shown)
        self.assertIn("serving_default  x -> y", shown)
        file = json.loads(self.ingot("inspect", "m.tflite", "--json").stdout)["file"]
        self.assertEqual(file["operators"]["CONV_2D"], 1)
        self.assertEqual(file["signatures"], [{"name": "serving_default", "inputs": ["x"], "outputs": ["y"]}])
        self.ingot("convert", "m.tflite", "-o", "old.onnx", "--opset", 13, "--no-verify")
        for options in ([], ["--text"], ["--json"]):
            self.assertNotIn("ingot.node_metadata", self.ingot("inspect", "old.onnx", *options).stdout)


if __name__ == "__main__":
    unittest.main()

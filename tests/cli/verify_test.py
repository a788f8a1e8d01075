#!/usr/bin/env python3
"""ingot verify, and convert that verifies, as a user meets them. Usage: verify_test.py PATH_TO_INGOT; INGOT_PEERS names
the folder of npm's packages."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from runtimes import Runtimes

INGOT = sys.argv.pop(1)
MODEL = """<ir_version: 10, opset_import: ["" : 21]>
net (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y)
<float[2, 2, 1, 1] w = {1, -2, 0.5, %s}>
{
  c = Conv(x, w)
  r = Relu(c)
  y = Tanh(r)
}
"""


RUNTIMES = Runtimes(INGOT)
needs = RUNTIMES.needs


class Verify(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)
        (self.path / "a.onnxtxt").write_text(MODEL % "3")
        (self.path / "b.onnxtxt").write_text(MODEL % "2.5")
        for name in "ab":
            self.ingot("convert", f"{name}.onnxtxt", "-o", f"{name}.onnx", "--quiet")

    def ingot(self, *arguments, code=0, env=None):
        done = subprocess.run([INGOT, *map(str, arguments)], cwd=self.path, capture_output=True, text=True,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_same_model_gives_the_same_numbers(self):
        done = self.ingot("verify", "a.onnx", "a.onnxtxt", "--with", "ingot")
        self.assertIn("they give the same numbers, as Ingot alone runs both", done.stdout)
        self.assertIn("drawn from the seeds 1 to 3", done.stdout)

    def test_a_difference_has_exit_code_1_and_a_place(self):
        done = self.ingot("verify", "a.onnx", "b.onnx", "--with", "ingot", code=1)
        self.assertIn("they part at 'c' (Conv)", done.stdout)
        found = json.loads(self.ingot("verify", "a.onnx", "b.onnx", "--with", "ingot", "--json", code=1).stdout)
        self.assertEqual(found["answer"], "different")
        self.assertEqual(found["first_difference"]["name"], "c")
        self.assertNotIn("first_difference", json.loads(
            self.ingot("verify", "a.onnx", "b.onnx", "--with", "ingot", "--json", "--no-bisect", code=1).stdout))

    def test_a_tolerance_replaces_the_policy(self):
        self.ingot("verify", "a.onnx", "b.onnx", "--with", "ingot", "--atol", 2)
        self.ingot("verify", "a.onnx", "b.onnx", "--with", "ingot", "--atol", 1e-4, code=1)

    def test_an_absent_runtime_is_no_answer_and_says_how_to_install_it(self):
        done = self.ingot("verify", "a.onnx", "--with", "ort", code=4, env={"INGOT_PEERS": "/nowhere"})
        self.assertIn("npm install", done.stdout)
        listed = self.ingot("verify", "--list-runtimes", env={"INGOT_PEERS": "/nowhere"}).stdout
        self.assertIn("onnxruntime-node", listed)

    def test_questions_that_make_no_sense_are_refused(self):
        self.assertIn("known runtimes", self.ingot("verify", "a.onnx", "--with", "abacus", code=2).stderr)
        self.assertIn("does not run", self.ingot("verify", "a.onnx", "--with", "tflite", code=2).stderr)
        self.ingot("verify", code=2)
        self.ingot("verify", "nothing.onnx", "a.onnx", code=6)
        for tolerance in ("nan", "inf", "-1"):
            self.ingot("verify", "a.onnx", "b.onnx", f"--rtol={tolerance}", code=2)
            self.ingot("verify", "a.onnx", "b.onnx", f"--atol={tolerance}", code=2)

    def test_untrusted_models_start_no_other_runtime(self):
        self.assertIn("in Ingot, a.onnx in Ingot", self.ingot("verify", "a.onnx", "--untrusted").stdout)

    @needs("ort")
    def test_onnx_runtime_agrees(self):
        self.assertIn("ONNX Runtime", self.ingot("verify", "a.onnx").stdout)

    @needs("ort", "tflite")
    def test_convert_verifies_what_it_writes(self):
        done = self.ingot("convert", "a.onnx", "-o", "a.tflite", "--report", "r.json")
        self.assertIn("verified:", done.stderr)
        report = json.loads((self.path / "r.json").read_text())
        self.assertEqual(report["verification"]["answer"], "same")
        for key in ("operators", "casts", "transposes", "inputs", "outputs", "seconds", "notes"):
            self.assertIn(key, report)
        back = self.ingot("convert", "a.tflite", "-o", "back.onnx", "--report", "r.html")
        self.assertIn("verified: TFLite", back.stderr)
        page = (self.path / "r.html").read_text()
        for words in ("<!DOCTYPE html>", "give the same numbers", "CONV_2D", "Transposes", "Casts", "<code>x</code>"):
            self.assertIn(words, page)
        self.assertNotIn("src=", page)

    @needs("tflite")
    def test_a_part_is_compared_with_the_same_part(self):
        for options in (["--outputs", "c"], ["--inputs", "c"]):
            done = self.ingot("convert", "a.onnx", "-o", "part.tflite", *options)
            self.assertIn("verified:", done.stderr)

    @needs("tflite")
    def test_what_is_rounded_on_request_is_judged_by_what_it_is_rounded_to(self):
        weights = ", ".join(str((i * 7 % 13 - 6) / 9) for i in range(256))
        (self.path / "w.onnxtxt").write_text('''<ir_version: 10, opset_import: ["" : 21]>
net (float[1, 16] x) => (float[1, 16] y) <float[16, 16] w = {%s}> { h = MatMul(x, w) y = Tanh(h) }''' % weights)
        done = self.ingot("convert", "w.onnxtxt", "-o", "w.tflite", "--weights", "float16")
        self.assertIn("float16 has 0.004", done.stderr)
        self.ingot("convert", "w.onnxtxt", "-o", "half.onnx", "--float16", "--random", 1)

    @needs("tfjs")
    def test_stored_bits_that_were_asked_for_are_no_difference(self):
        weights = ", ".join(str((i * 7 % 13 - 6) / 9) for i in range(1024))
        (self.path / "w.onnxtxt").write_text('''<ir_version: 10, opset_import: ["" : 21]>
net (float[1, 32] x) => (float[1, 32] y) <float[32, 32] w = {%s}> { y = MatMul(x, w) }''' % weights)
        for form in ("float16", "uint16"):
            done = self.ingot("convert", "w.onnxtxt", "-o", form, "--to", "tfjs", "--quantize", form)
            self.assertIn("float16 has 0.004", done.stderr)
        done = self.ingot("convert", "w.onnxtxt", "-o", "uint8", "--to", "tfjs", "--quantize", "uint8")
        self.assertIn("not verified: weights are rounded to 8 bits", done.stderr)

    @needs("tflite")
    @unittest.skipUnless(os.environ.get("INGOT_SHARED"), "INGOT_SHARED does not name the real models")
    def test_what_rounding_on_request_adds_up_to_inside_is_a_note(self):
        model = pathlib.Path(os.environ["INGOT_SHARED"],
                             "corpus/tflite/mlperf_tiny/image_classification/trained_models/pretrainedResnet.tflite")
        done = self.ingot("convert", model, "-o", "half.onnx", "--float16")
        self.assertIn("verified:", done.stderr)
        self.assertIn("differs by more than an output may", done.stderr)

    @needs("tflite", "ort")
    @unittest.skipUnless(os.environ.get("INGOT_SHARED"), "INGOT_SHARED does not name the real models")
    def test_a_quantised_network_on_its_way_back_is_judged_by_its_noise(self):
        model = pathlib.Path(os.environ["INGOT_SHARED"], "corpus/tflite/mlperf_tiny/image_classification/trained_models",
                             "pretrainedResnet_quant.tflite")
        self.ingot("convert", model, "-o", "quantised.onnx")
        self.assertIn("verified:", self.ingot("convert", "quantised.onnx", "-o", "quantised.tflite").stderr)

    @needs("tflite")
    def test_no_verify_is_heeded(self):
        self.ingot("convert", "a.onnx", "-o", "a.tflite", "--no-verify")
        done = self.ingot("convert", "a.tflite", "-o", "c.onnx", "--no-verify", "--json")
        self.assertEqual(json.loads(done.stdout)["verification"]["answer"], "none")
        self.assertNotIn("verified", done.stderr)

    def test_the_page_does_not_claim_that_an_absent_runtime_ran(self):
        self.ingot("convert", "a.onnx", "-o", "a.tflite", "--no-verify")
        self.ingot("convert", "a.tflite", "-o", "c.onnx", "--report", "r.html", env={"INGOT_PEERS": "/nowhere"})
        page = (self.path / "r.html").read_text()
        self.assertIn("not verified", page)
        self.assertNotIn("The source ran in", page)

    def test_several_seeds_are_drawn_unless_asked_otherwise(self):
        found = json.loads(self.ingot("verify", "a.onnx", "a.onnx", "--with", "ingot", "--json").stdout)
        self.assertEqual(found["runs"], 3)
        self.assertEqual(found["compared_inside"], 3)
        found = json.loads(self.ingot("verify", "a.onnx", "a.onnx", "--with", "ingot", "--seeds", 5, "--json").stdout)
        self.assertEqual(found["runs"], 5)

    def test_inputs_that_are_given_count_where_drawn_ones_do_not_fit(self):
        (self.path / "wide.onnxtxt").write_text("""<ir_version: 10, opset_import: ["" : 21]>
            g (float[1, 1, N] x) => (float[1, 1, M] y) <float[1, 1, 5] w = {1, 2, 3, 4, 5}> { y = Conv(x, w) }""")
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 6), }".ljust(117) + "\n"
        (self.path / "x.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<6f", *range(6)))
        done = self.ingot("verify", "wide.onnxtxt", "wide.onnxtxt", "--with", "ingot", "--in", "x=x.npy")
        self.assertIn("x: float[1,1,6], as given", done.stdout)
        self.assertIn("they give the same numbers", done.stdout)
        done = self.ingot("verify", "wide.onnxtxt", "wide.onnxtxt", "--with", "ingot", code=3)
        self.assertIn("does not fit a padded input of 1", done.stderr)

    def test_convert_says_when_it_cannot_verify(self):
        self.ingot("convert", "a.onnx", "-o", "a.tflite", "--no-verify")
        done = self.ingot("convert", "a.tflite", "-o", "c.onnx", env={"INGOT_PEERS": "/nowhere"})
        self.assertIn("not verified:", done.stderr)
        self.assertIn("npm install", done.stderr)


if __name__ == "__main__":
    unittest.main()

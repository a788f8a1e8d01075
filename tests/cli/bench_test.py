#!/usr/bin/env python3
"""ingot bench as a user meets it. Usage: bench_test.py PATH_TO_INGOT; INGOT_PEERS names ONNX Runtime's folder."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from runtimes import Runtimes

INGOT = sys.argv.pop(1)
PEERS = os.environ.get("INGOT_PEERS", "")
HAS_ORT = os.path.isdir(os.path.join(PEERS, "onnxruntime-node")) if PEERS else False
RUNTIMES = Runtimes(INGOT)
SHARED = os.environ.get("INGOT_SHARED")
TFJS = pathlib.Path(SHARED or "") / "corpus/tfjs/human/selfie/selfie.json"

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
net (float[N, 3, 8, 8] x) => (float[N, 5] y)
<float[4, 3, 3, 3] w, float[5, 4] b>
{
  c = Conv<pads = [1, 1, 1, 1]>(x, w)
  p = GlobalAveragePool(c)
  f = Flatten(p)
  y = Gemm<transB = 1>(f, b)
}
"""


def model():
    """The weights are written out: 108 and 20 of them."""
    weights = ", ".join(str((i * 7 % 11 - 5) / 10) for i in range(108))
    matrix = ", ".join(str((i * 5 % 7 - 3) / 4) for i in range(20))
    return MODEL.replace("float[4, 3, 3, 3] w", f"float[4, 3, 3, 3] w = {{{weights}}}").replace(
        "float[5, 4] b", f"float[5, 4] b = {{{matrix}}}")


class Bench(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)
        (self.path / "m.onnxtxt").write_text(model())
        self.ingot("convert", "m.onnxtxt", "-o", "m.onnx")

    def ingot(self, *args, code=0, env=None):
        done = subprocess.run([INGOT, *args], cwd=self.path, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def measure(self, *args):
        return json.loads(self.ingot("bench", "m.onnx", "--threads", "1", "--json", *args).stdout)

    def test_it_reports_times_in_their_order(self):
        r = self.measure("--runs", "40")
        own = r["ingot"]
        self.assertGreaterEqual(own["runs"], 40)
        self.assertLessEqual(own["latency_ms"]["min"], own["latency_ms"]["median"])
        self.assertLessEqual(own["latency_ms"]["median"], own["latency_ms"]["p90"])
        self.assertGreater(own["latency_ms"]["min"], 0)
        self.assertLess(own["set_up_ms"], own["first_result_ms"])
        self.assertAlmostEqual(own["runs_per_second"] * own["latency_ms"]["median"], 1000, places=3)
        self.assertGreater(own["peak_bytes"], 1 << 20)
        self.assertNotIn("ort", r)

    def test_arithmetic_is_counted_from_the_shapes_of_the_inputs(self):
        for batch in (1, 3):
            r = self.measure("--input-shape", f"x:{batch},3,8,8", "--runs", "1")
            convolution = 2 * batch * 4 * 8 * 8 * 3 * 3 * 3
            product = 2 * batch * 5 * 4
            self.assertEqual(r["work"]["operations"], convolution + product)
            self.assertEqual((r["work"]["nodes_counted"], r["work"]["nodes_unknown"]), (2, 0))
            self.assertAlmostEqual(r["gflops"] * r["ingot"]["latency_ms"]["median"] * 1e6, convolution + product, 3)
            self.assertLess(0, r["share_of_peak"])
            self.assertLess(r["share_of_peak"], 1)

    def test_a_model_without_arithmetic_is_held_against_copying(self):
        (self.path / "t.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]> '
                                             "net (float[64, 32] x) => (float[32, 64] y) { y = Transpose(x) }")
        r = json.loads(self.ingot("bench", "t.onnxtxt", "--threads", "1", "--json").stdout)
        self.assertEqual(r["moved_bytes"], 2 * 4 * 64 * 32)
        self.assertGreater(r["copy_gbps"], 0.1)
        self.assertNotIn("gflops", r)

    def test_the_summary_names_what_it_measured(self):
        text = self.ingot("bench", "m.onnx", "--threads", "2").stdout
        for words in ("2 threads", "set-up", "first result after", "latency, median", "peak memory", "GFLOP/s"):
            self.assertIn(words, text)

    def test_without_the_package_it_says_how_to_get_it(self):
        done = self.ingot("bench", "m.onnx", "--vs", "ort", code=6, env={"INGOT_PEERS": "/nowhere"})
        self.assertIn("onnxruntime-node", done.stderr)
        self.assertIn("script/bootstrap", done.stderr)

    def test_an_unknown_peer_and_a_missing_model_are_refused(self):
        self.assertIn("--vs", self.ingot("bench", "m.onnx", "--vs", "abacus", code=2).stderr)
        self.assertIn("nowhere.onnx", self.ingot("bench", "nowhere.onnx", code=6).stderr)

    @unittest.skipUnless(HAS_ORT, "ONNX Runtime is not installed (script/bootstrap; INGOT_PEERS)")
    def test_beside_onnx_runtime_it_reports_a_ratio_with_its_interval(self):
        r = self.measure("--vs", "ort", "--runs", "5")
        ratio = r["ratio"]
        self.assertEqual(ratio["pairs"], 30, "never fewer")
        self.assertTrue(r["results_agree"])
        self.assertLess(0, ratio["low"])
        self.assertLessEqual(ratio["low"], ratio["speed"])
        self.assertLessEqual(ratio["speed"], ratio["high"])
        for side in ("ingot", "ort"):
            self.assertGreaterEqual(r[side]["runs"], 30)
            self.assertLess(r[side]["set_up_ms"], r[side]["first_result_ms"])
        self.assertGreater(r["ort"]["peak_bytes"], r["ort"]["base_bytes"])

    @unittest.skipUnless(HAS_ORT, "ONNX Runtime is not installed (script/bootstrap; INGOT_PEERS)")
    def test_what_onnx_runtime_refuses_is_an_error_that_quotes_it(self):
        (self.path / "new.onnxtxt").write_text(model().replace('"" : 17', '"" : 28').replace("ir_version: 8", "ir_version: 13"))
        self.ingot("convert", "new.onnxtxt", "-o", "new.onnx")
        done = self.ingot("bench", "new.onnx", "--vs", "ort", code=4)
        self.assertIn("ONNX Runtime refuses the model", done.stderr)

    @unittest.skipUnless(HAS_ORT, "ONNX Runtime is not installed (script/bootstrap; INGOT_PEERS)")
    def test_a_file_that_the_peer_does_not_read_is_converted(self):
        done = self.ingot("bench", "m.onnxtxt", "--vs", "ort", "--threads", "1")
        self.assertIn("ONNX Runtime ran the model as ONNX, converted by Ingot", done.stdout)
        self.assertIn("the results agree", done.stdout)

    def beside(self, name, file):
        r = json.loads(self.ingot("bench", file, "--threads", "1", "--json", "--vs", name).stdout)
        (peer,) = r["peers"]
        self.assertEqual(peer["name"], name)
        self.assertTrue(peer["results_agree"])
        self.assertEqual(peer["ratio"]["pairs"], 30)
        self.assertLess(0, peer["ratio"]["low"])
        self.assertLess(0, peer["set_up_ms"])
        self.assertLess(peer["set_up_ms"], peer["first_result_ms"])
        self.assertGreater(peer["peak_bytes"], peer["base_bytes"])
        return peer

    @RUNTIMES.needs("tflite")
    def test_tflite_runs_its_own_files_and_what_others_become(self):
        self.assertEqual(self.beside("tflite", "m.onnx")["converted_to"], "TFLite")
        self.ingot("convert", "m.onnx", "-o", "m.tflite", "--no-verify")
        self.assertNotIn("converted_to", self.beside("tflite", "m.tflite"))
        if HAS_ORT:
            self.assertEqual(self.beside("ort", "m.tflite")["converted_to"], "ONNX")

    @RUNTIMES.needs("tfjs")
    def test_tfjs_runs_its_own_files_and_what_others_become(self):
        self.assertEqual(self.beside("tfjs", "m.onnx")["converted_to"], "TensorFlow.js graph-model")
        if not SHARED:
            self.skipTest("the corpus is not here: no shared directory")
        self.beside("tfjs", str(TFJS))

    @RUNTIMES.needs("ort", "tflite")
    def test_several_peers_stand_side_by_side(self):
        r = json.loads(self.ingot("bench", "m.onnx", "--threads", "1", "--json", "--vs", "ort,tflite").stdout)
        self.assertEqual([peer["name"] for peer in r["peers"]], ["ort", "tflite"])
        self.assertEqual(r["ratio"], r["peers"][0]["ratio"])
        text = self.ingot("bench", "m.onnx", "--threads", "1", "--vs", "ort,tflite").stdout
        self.assertIn("the speed of ONNX Runtime", text)
        self.assertIn("the speed of TFLite", text)

    @unittest.skipUnless(HAS_ORT, "ONNX Runtime is not installed (script/bootstrap; INGOT_PEERS)")
    def test_nothing_is_left_behind(self):
        scratch = self.path / "tmp"
        scratch.mkdir()
        self.ingot("bench", "m.onnx", "--vs", "ort", env={"TMPDIR": str(scratch)})
        self.assertEqual(list(scratch.iterdir()), [])


if __name__ == "__main__":
    if not HAS_ORT:
        print("**** SKIPPED: ingot bench --vs ort (no onnxruntime-node; set INGOT_PEERS)", file=sys.stderr)
    unittest.main(verbosity=1)

#!/usr/bin/env python3
"""Plug-ins as a user meets them: operators, a format and a target of others; and those that are faulty.

usage: plugin_test.py PATH_TO_INGOT PATH_TO_EXAMPLE FOLDER_OF_FAULTY_ONES
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

INGOT, EXAMPLE, FAULTY = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))

NET = """<ir_version: 10, opset_import: ["" : 21, "example" : 1]>
net (float[2, 2] x) => (float[2, 2] y)
<float[2, 2] w = {1, -2, 3, 4}>
{
  [sum] s = Add(x, w)
  [scale] t = example.Scale<factor: float = 3.0>(s)
  [swish] u = example.Swish(t)
  [act] y = Relu(u)
}
"""
FAULTY_NET = """<ir_version: 10, opset_import: ["" : 21, "faulty" : 1]>
net (float[2] x) => (float[2] y) { [op] y = faulty.Op(x) }
"""


FUNCTIONS = """<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>
unused (float[N] x) => (float[N] y) { y = Identity (x) }
<domain: "mine", opset_import: ["" : 21]>
Triple (x) => (y) { two = Add (x, x) y = Add (two, x) }
"""


class PluginTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        pathlib.Path(self.path("net.onnxtxt")).write_text(NET)
        pathlib.Path(self.path("faulty.onnxtxt")).write_text(FAULTY_NET)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def run_ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def faulty(self, fault, *arguments, code):
        library = next(FAULTY.glob(f"*faulty_plugin_{fault}.so"))
        return self.run_ingot("--plugin", str(library), *arguments, code=code).stderr

    def outputs(self, *arguments):
        done = self.run_ingot("--plugin", EXAMPLE, "run", *arguments, "--random", "1", "--json")
        return json.loads(done.stdout)["outputs"]

    def test_operators_are_listed_and_misuse_is_told_with_the_schema(self):
        listed = json.loads(self.run_ingot("--plugin", EXAMPLE, "ops", "--domain", "example", "--json").stdout)
        self.assertEqual({"Scale": True, "Swish": False}, {one["name"]: one["kernel"] for one in listed})
        net = pathlib.Path(self.path("misused.onnxtxt"))
        net.write_text(NET.replace("example.Scale<factor: float = 3.0>(s)", "example.Scale(s, s)"))
        self.assertNotIn("not known", self.run_ingot("--plugin", EXAMPLE, "check", self.path("net.onnxtxt")).stdout)
        said = self.run_ingot("--plugin", EXAMPLE, "check", str(net), code=1).stdout
        self.assertIn("example.Scale(x) -> (y)", said)
        self.assertIn("2 inputs", said)

    def test_operators_with_a_kernel_and_with_a_body_run(self):
        first = self.outputs(self.path("net.onnxtxt"))["y"]["first"]
        x = json.loads(self.run_ingot("run", self.written_sum(), "--random", "1", "--json").stdout)["outputs"]["s"]["first"]
        for s, y in zip(x, first):
            t = 3 * s
            swish = t / (1 + 2.718281828459045 ** -t)
            self.assertAlmostEqual(y, max(0, swish), delta=1e-4)

    def written_sum(self):
        text = NET.split("[scale]")[0].replace("(float[2, 2] y)", "(float[2, 2] s)") + "}\n"
        pathlib.Path(self.path("sum.onnxtxt")).write_text(text)
        return self.path("sum.onnxtxt")

    def test_without_the_plug_in_the_operators_are_not_known(self):
        error = self.run_ingot("run", self.path("net.onnxtxt"), "--random", "1", code=4).stderr
        self.assertIn("Scale", error)

    def test_a_format_is_read_and_written(self):
        self.run_ingot("--plugin", EXAMPLE, "convert", self.path("net.onnxtxt"), "-o", self.path("net.flip"), "--no-verify")
        self.assertTrue(pathlib.Path(self.path("net.flip")).read_bytes().startswith(b"FLIP"))
        self.assertEqual(self.outputs(self.path("net.flip")), self.outputs(self.path("net.onnxtxt")))
        pathlib.Path(self.path("bad.flip")).write_bytes(b"FLUP....")
        error = self.run_ingot("--plugin", EXAMPLE, "inspect", self.path("bad.flip"), "--json", code=3)
        self.assertIn("FLIP", error.stderr)

    def test_a_target_takes_its_nodes(self):
        done = self.run_ingot("--plugin", EXAMPLE, "partition", self.path("net.onnxtxt"), "--targets", "example-npu,ingot", "--json")
        plan = json.loads(done.stdout)
        self.assertEqual([p["target"] for p in plan["parts"]], ["ingot", "example-npu"])
        self.assertEqual({f["code"] for f in plan["fallbacks"]}, {"UNSUPPORTED_NODE"})

    def test_operators_go_by_other_names(self):
        text = NET.replace("example.Scale<factor: float = 3.0>", "mine.Times<k: float = 3.0, debug: int = 1>").replace(
            "example.Swish(t)", "Silu(t)").replace('"example" : 1', '"mine" : 1')
        pathlib.Path(self.path("mine.onnxtxt")).write_text(text)
        rows = {"Times:mine": {"to": "Scale:example", "attributes": {"k": "factor", "debug": None}}, "Silu": "Swish:example"}
        pathlib.Path(self.path("map.json")).write_text(json.dumps(rows))
        done = self.run_ingot("--plugin", EXAMPLE, "convert", self.path("mine.onnxtxt"), "-o", self.path("theirs.onnx"),
                              "--map-ops", self.path("map.json"), "--json")
        self.assertIn("map-ops: Times:mine -> Scale:example, 1 nodes", json.loads(done.stdout)["notes"])
        self.assertEqual(self.outputs(self.path("theirs.onnx")), self.outputs(self.path("net.onnxtxt")))
        for bad, words in (('{"A": {"to": "B", "sett": {}}}', "sett"), ('{"A": {}}', "no name"), ("[]", "no object")):
            pathlib.Path(self.path("map.json")).write_text(bad)
            error = self.run_ingot("convert", self.path("mine.onnxtxt"), "-o", self.path("no.onnx"), "--map-ops",
                                   self.path("map.json"), code=3).stderr
            self.assertIn(words, error)

    def test_functions_give_custom_operators_a_meaning(self):
        text = NET.replace("example.Scale<factor: float = 3.0>(s)", "mine.Triple(s)").replace(
            "example.Swish(t)", "Mul(t, t)").replace('"example" : 1', '"mine" : 1')
        pathlib.Path(self.path("mine.onnxtxt")).write_text(text)
        pathlib.Path(self.path("defs.onnxtxt")).write_text(FUNCTIONS)
        self.run_ingot("run", self.path("mine.onnxtxt"), "--random", "1", code=4)
        self.run_ingot("convert", self.path("mine.onnxtxt"), "-o", self.path("whole.onnx"), "--functions", self.path("defs.onnxtxt"))
        self.run_ingot("run", self.path("whole.onnx"), "--random", "1")
        self.run_ingot("convert", self.path("whole.onnx"), "-o", self.path("whole.tflite"), "--no-verify")

    def test_untrusted_goes_without(self):
        self.run_ingot("--untrusted", "--plugin", EXAMPLE, "inspect", self.path("net.onnxtxt"), code=2)

    def test_what_is_no_plug_in_is_refused(self):
        self.run_ingot("--plugin", self.path("net.onnxtxt"), "inspect", self.path("net.onnxtxt"), code=6)
        self.run_ingot("--plugin", self.path("absent.so"), "inspect", self.path("net.onnxtxt"), code=6)

    def test_faulty_ones_are_refused_by_name(self):
        for fault, words in (("version", "version 99"), ("null", "gives nothing"), ("name", "no name"),
                             ("schema", "no schema at all"), ("lonely", "neither a kernel nor a body")):
            self.assertIn(words, self.faulty(fault, "inspect", self.path("net.onnxtxt"), code=2), fault)
        for fault, code, words in (("twice", 3, "com.microsoft.Gelu"), ("replaces", 3, "com.microsoft.Gelu"),
                                   ("standard", 2, "own domain"), ("target", 2, "'operators'"), ("tflite", 3, "'tflite' already")):
            error = self.faulty(fault, "inspect", self.path("net.onnxtxt"), code=code)
            self.assertIn("plug-in 'faulty'", error)
            self.assertIn(words, error)

    def test_the_same_one_twice_is_refused(self):
        error = self.run_ingot("--plugin", EXAMPLE, "--plugin", EXAMPLE, "inspect", self.path("net.onnxtxt"), code=3).stderr
        self.assertIn("'example.Scale' already", error)

    def test_what_goes_wrong_in_a_run_names_plug_in_and_operator(self):
        for fault, words in (("lies", "where it said float[2]"), ("silent", "does not say why"),
                             ("tells", "it has had enough"), ("throws", "throws an exception"), ("nothing", "was not made")):
            error = self.faulty(fault, "run", self.path("faulty.onnxtxt"), "--random", "1", code=3)
            self.assertIn("plug-in 'faulty'", error)
            self.assertIn(words, error)
            self.assertIn("Op", error)
        error = self.faulty("throws", "convert", self.path("net.onnxtxt"), "-o", self.path("net.throwing"), "--no-verify", code=3)
        self.assertIn("plug-in 'faulty' throws", error)
        self.assertFalse(pathlib.Path(self.path("net.throwing")).exists())


if __name__ == "__main__":
    unittest.main()

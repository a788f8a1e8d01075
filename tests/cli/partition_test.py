#!/usr/bin/env python3
"""Models among targets as a user meets it: parts, what falls back and why, mixed runs that give the same numbers.

usage: partition_test.py PATH_TO_INGOT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from runtimes import Runtimes

INGOT = sys.argv.pop(1)
RUNTIMES = Runtimes(INGOT)
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
SHIPPED = ["ingot", "onnx-mlir", "openvino", "ort-cpu-1.30", "tensorrt-10", "tfjs-4", "tflite"]

NET = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 3, 8, 8] x) => (float[2, 4] y)
<float[4, 3, 3, 3] w, float[4] b = {0.1, -0.2, 0.3, 0}>
{
  [conv] c = Conv<pads = [1, 1, 1, 1]>(x, w, b)
  [act] r = Relu(c)
  [erf] e = Erf(r)
  [sum] s = Add(e, r)
  [pool] p = GlobalAveragePool(s)
  [flat] y = Flatten(p)
}
"""
NPU = {"name": "npu", "static_shapes": True,
       "operators": {"Conv": {"types": ["float"], "ranks": [4, 4], "attributes": {"group": [1]}}, "Relu": {}, "Add": {},
                     "GlobalAveragePool": {"ranks": [3, 3]}}}


class PartitionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        weights = ", ".join(str((i * 37 % 19 - 9) / 10) for i in range(108))
        self.write("net.onnxtxt", NET.replace("3, 3] w,", f"3, 3] w = {{{weights}}},"))
        self.write("npu.json", json.dumps(NPU))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def path(self, name):
        return str(self.folder / name)

    def run_ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def partition(self, *arguments, code=0):
        return json.loads(self.run_ingot("partition", *arguments, "--json", code=code).stdout)

    def outputs(self, model, seed="1"):
        return json.loads(self.run_ingot("run", model, "--random", seed, "--json").stdout)["outputs"]

    def expect_same(self, a, b, delta):
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            self.assertEqual(a[name]["type"], b[name]["type"])
            for x, y in zip(a[name]["first"], b[name]["first"]):
                self.assertAlmostEqual(x, y, delta=delta * max(1, abs(x)))

    def test_parts_are_few_and_in_order(self):
        plan = self.partition(self.path("net.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "-o", self.path("parts"))
        self.assertEqual([p["target"] for p in plan["parts"]], ["npu", "ingot", "npu", "ingot"])
        self.assertEqual([p["nodes"] for p in plan["parts"]], [2, 1, 1, 2])
        self.assertEqual(plan, json.loads((self.folder / "parts" / "plan.json").read_text()))
        reasons = {f["op"]: f["code"] for f in plan["fallbacks"]}
        self.assertEqual(reasons, {"Erf": "UNSUPPORTED_NODE", "GlobalAveragePool": "UNSUPPORTED_NODE_SHAPE",
                                   "Flatten": "UNSUPPORTED_NODE"})
        self.expect_same(self.outputs(self.path("net.onnxtxt")), self.outputs(self.path("parts/plan.json")), 0)

    def test_a_plan_out_of_order_is_refused(self):
        plan = self.partition(self.path("net.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "-o", self.path("parts"))
        for change in (lambda p: p["parts"].reverse(), lambda p: p["parts"][0].update(outputs=["nobody"]),
                       lambda p: p["parts"][1].update(inputs=["nobody"]), lambda p: p.update(inputs=[])):
            changed = json.loads(json.dumps(plan))
            change(changed)
            self.write("parts/plan.json", json.dumps(changed))
            done = self.run_ingot("run", self.path("parts/plan.json"), "--random", "1", code=3)
            self.assertIn("no part before it gives it", done.stderr)

    def test_an_input_with_a_default_need_not_be_given(self):
        self.write("default.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
net (float[2] x, float[2] w = {3, 4}) => (float[2] y) { [erf] a = Erf(x) [sum] b = Add(a, w) y = Relu(b) }""")
        targets = f"{self.path('npu.json')},ingot"
        self.partition(self.path("default.onnxtxt"), "--targets", targets, "-o", self.path("defaults"))
        self.expect_same(self.outputs(self.path("default.onnxtxt")), self.outputs(self.path("defaults/plan.json")), 0)
        # A TFLite file has no such inputs: its part takes the default for a constant.
        plan = self.partition(self.path("default.onnxtxt"), "--targets", "tflite,ingot", "-o", self.path("constants"))
        self.assertEqual([p["inputs"] for p in plan["parts"] if p["runtime"] == "tflite"][0], ["x"])
        self.assertEqual(plan["inputs"], ["x"])
        if "tflite" in RUNTIMES.installed:
            self.expect_same(self.outputs(self.path("default.onnxtxt")), self.outputs(self.path("constants/plan.json")), 1e-5)

    @RUNTIMES.needs("tflite")
    def test_integers_that_are_read_with_two_zero_points_stay_two(self):
        self.write("shared.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
net (float[3] x) => (float[3] y) <uint8[3] q = {0, 7, 200}, float s = {1.5}, uint8 z = {5}>
{ a = DequantizeLinear(q, s, z) b = DequantizeLinear(q, s) c = Add(x, a) y = Add(c, b) }""")
        self.partition(self.path("shared.onnxtxt"), "--targets", "tflite,ingot", "-o", self.path("shared"))
        self.expect_same(self.outputs(self.path("shared.onnxtxt")), self.outputs(self.path("shared/plan.json")), 1e-5)

    def test_what_a_node_becomes_decides_whether_a_format_takes_it(self):
        # TFLite has no sum of halves, of which a mean would be made.
        self.write("half.onnxtxt", """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 3] x) => (float16[2, 1] y) { [cast] h = Cast<to = 10>(x) [mean] y = ReduceMean<axes = [1]>(h) }""")
        plan = self.partition(self.path("half.onnxtxt"), "--targets", "tflite,ingot", "-o", self.path("half"))
        self.assertIn("ReduceMean", [f["op"] for f in plan["fallbacks"]])

    def test_outputs_that_no_node_makes(self):
        self.write("given.onnxtxt", """<ir_version: 8, opset_import: ["" : 17]>
net (float[2] x, int64[3] unread, float[2] handed) => (float[2] handed, float[2] y, float[2] w, float[2] y, float[2] u)
<float[2] w = {3, 4}, float[2] u = {5, 6}> { [erf] a = Erf(x) [sum] b = Add(a, w) y = Relu(b) }""")
        whole = self.outputs(self.path("given.onnxtxt"))
        plan = self.partition(self.path("given.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "-o", self.path("given"))
        self.assertEqual((plan["parts"][-1]["target"], plan["parts"][-1]["nodes"]), ("ingot", 0))
        self.expect_same(whole, self.outputs(self.path("given/plan.json")), 0)
        one = self.path("given.onnx")
        self.partition(self.path("given.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "--functions", "-o", one)
        self.expect_same(whole, self.outputs(one), 0)

    def test_inputs_that_no_part_reads_may_be_given(self):
        self.write("unread.onnxtxt", """<ir_version: 8, opset_import: ["" : 17]>
net (float[3] unread, float[2] x) => (float[2] y) { [erf] a = Erf(x) y = Relu(a) }""")
        self.partition(self.path("unread.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "-o", self.path("unread"))
        self.expect_same(self.outputs(self.path("unread.onnxtxt")), self.outputs(self.path("unread/plan.json")), 0)
        (self.folder / "values").mkdir()
        self.run_ingot("run", self.path("unread.onnxtxt"), "--random", "1", "--out", self.path("values"))
        self.run_ingot("run", self.path("unread/plan.json"), "--in", f"unread={self.path('values/y.npy')}",
                       "--in", f"x={self.path('values/y.npy')}")

    def test_nodes_that_nobody_reads_are_no_part(self):
        self.write("dead.onnxtxt", """<ir_version: 8, opset_import: ["" : 17]>
net (float[2] x) => (float[2] y) { y = Relu(x) [erf] a = Erf(y) [abs] b = Abs(a) }""")
        last = "ort-cpu-1.30" if "ort" in RUNTIMES.installed else "ingot"
        self.write("relu.json", json.dumps({"name": "relu", "operators": {"Relu": {}}}))
        plan = self.partition(self.path("dead.onnxtxt"), "--targets", f"{self.path('relu.json')},{last}", "-o", self.path("dead"))
        self.assertEqual([part["nodes"] for part in plan["parts"]], [1])
        self.expect_same(self.outputs(self.path("dead.onnxtxt")), self.outputs(self.path("dead/plan.json")), 0)

    def test_only_tensors_pass_between_runtimes(self):
        self.write("sequence.onnxtxt", """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 3] x) => (float[4, 3] y, seq(float[2, 3]) s) <int64 last = {-1}>
{ a = Relu(x) p = SequenceConstruct(a, x) q = SequenceInsert(p, a) b = SequenceErase(q, last) y = ConcatFromSequence<axis = 0>(b)
  s = SequenceConstruct(a) }""")
        self.write("some.json", json.dumps({"name": "some", "operators": {"Relu": {}, "SequenceConstruct": {}, "SequenceErase": {},
                                                                          "ConcatFromSequence": {}}}))
        whole = self.outputs(self.path("sequence.onnxtxt"))
        for target in (self.path("some.json"), "ort-cpu-1.30"):
            if target.startswith("ort") and "ort" not in RUNTIMES.installed:
                continue
            folder = self.path("sequence-" + target[-4:])
            plan = self.partition(self.path("sequence.onnxtxt"), "--targets", f"{target},ingot", "-o", folder)
            moved = {f["op"]: f["code"] for f in plan["fallbacks"] if "is no tensor" in f["reason"]}
            self.assertEqual(set(moved.values()), {"UNSUPPORTED_NODE_INPUT"})
            self.assertEqual(self.outputs(folder + "/plan.json"), whole)
        # All of it in one part: nothing passes.
        self.assertNotIn("ConcatFromSequence", moved)

    def test_files_older_than_operator_sets_are_divided(self):
        self.write("old.onnxtxt", """<ir_version: 1>
net (float[2, 3, 4] x, float[3] w = {1, 2, 3}) => (float[2, 3, 4] y) { a = Add<axis = 1, broadcast = 1>(x, w) b = Neg(a) y = Relu(b) }""")
        self.partition(self.path("old.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "-o", self.path("old"))
        self.run_ingot("check", self.path("old/part_0.onnx"))

    def test_nodes_may_be_in_any_order(self):
        self.write("turned.onnxtxt", """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 3] x) => (y) { [last] y = Relu(b) [second] b = Erf(a) [first] a = Add(x, x) }""")
        self.partition(self.path("turned.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "-o", self.path("turned"))
        # Sum, error function and Relu in one kernel round the last digit otherwise than one after the other.
        self.expect_same(self.outputs(self.path("turned.onnxtxt")), self.outputs(self.path("turned/plan.json")), 0)

    def test_parts_as_functions_of_one_model_give_the_same(self):
        one = self.path("functions.onnx")
        plan = self.partition(self.path("net.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "--functions", "-o", one)
        about = json.loads(self.run_ingot("inspect", one, "--json").stdout)
        self.assertEqual(about["nodes"], len(plan["parts"]))
        self.assertEqual(about["operators"], {f"ingot.parts.{p['name']}": 1 for p in plan["parts"]})
        self.expect_same(self.outputs(self.path("net.onnxtxt")), self.outputs(one), 0)
        self.run_ingot("check", one)
        self.run_ingot("partition", self.path("net.onnxtxt"), "--targets", "ingot", "--functions", "--explain", code=2)

    def test_explain_has_a_line_for_each_node_that_falls_back(self):
        done = self.run_ingot("partition", self.path("net.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "--explain")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("npu: node 'pool' (GlobalAveragePool): UNSUPPORTED_NODE_SHAPE: 's' has 4 dimensions, and the target takes 3 to 3",
                      lines[1])

    def test_sizes_that_are_not_known_are_a_reason_that_can_be_removed(self):
        self.write("open.onnxtxt", (self.folder / "net.onnxtxt").read_text().replace("float[2, 3, 8, 8] x", "float[N, 3, 8, 8] x")
                   .replace("float[2, 4] y", "float[N, 4] y"))
        targets = ["--targets", f"{self.path('npu.json')},ingot"]
        plan = self.partition(self.path("open.onnxtxt"), *targets)
        dynamic = [f for f in plan["fallbacks"] if f["code"] == "UNSUPPORTED_NODE_DYNAMIC"]
        self.assertTrue(dynamic and all("--input-shape" in f["remedy"] for f in dynamic))
        plan = self.partition(self.path("open.onnxtxt"), *targets, "--input-shape", "x:2,3,8,8")
        self.assertFalse([f for f in plan["fallbacks"] if f["code"] == "UNSUPPORTED_NODE_DYNAMIC"])

    def test_small_parts_go_to_the_next_target(self):
        plan = self.partition(self.path("net.onnxtxt"), "--targets", f"{self.path('npu.json')},ingot", "--min-nodes", "2")
        self.assertEqual([p["target"] for p in plan["parts"]], ["npu", "ingot"])
        self.assertIn("PART_TOO_SMALL", {f["code"] for f in plan["fallbacks"]})

    def test_what_no_target_runs_is_listed_whole(self):
        done = self.run_ingot("partition", self.path("net.onnxtxt"), "--targets", self.path("npu.json"), "--explain", code=4)
        for word in ("erf", "pool", "flat", "--targets"):
            self.assertIn(word, done.stderr)

    def test_targets_that_make_no_sense_are_refused(self):
        for text, words in (("[]", "operators"), ('{"name": "a", "operators": {"Relu": {"rank": [1, 2]}}}', "rank"),
                            ('{"name": "a", "operators": {"Relu": {"types": ["float33"]}}}', "float33"), ("{", ""),
                            ('{"name": "a", "operators": {"Relu": {"ranks": [4, 2]}}}', "goes up"),
                            ('{"name": "a", "operators": {"Relu": {"constant_inputs": [-1]}}}', "0 or more"),
                            ('{"name": "a", "operators": {"Relu": {"attributes": {"a": 1}}}}', "list of values"),
                            ('{"name": "a", "operators": {}, "max_weight_bytes": -1}', "0 or more"),
                            ('{"name": "a", "operators": {}, "max_weights": 1}', "max_weights")):
            self.write("bad.json", text)
            done = self.run_ingot("partition", self.path("net.onnxtxt"), "--targets", self.path("bad.json"), "--explain", code=3)
            self.assertIn(words, done.stderr)
        done = self.run_ingot("partition", self.path("net.onnxtxt"), "--targets", "npu9", "--explain", code=2)
        self.assertIn("tensorrt-10", done.stderr)

    def test_shipped_targets_have_names(self):
        names = self.run_ingot("partition", "--list-targets").stdout.split()
        self.assertEqual([n for n in SHIPPED if n not in names], [])

    @RUNTIMES.needs("ort", "tflite")
    def test_parts_in_three_runtimes_give_the_same(self):
        expected = self.outputs(self.path("net.onnxtxt"))
        for targets in (["tflite", "ort-cpu-1.30", "ingot"], ["ort-cpu-1.30", "ingot"], [self.path("npu.json"), "ort-cpu-1.30"]):
            folder = self.path("mixed-" + str(len(targets)) + targets[0][-4:])
            plan = self.partition(self.path("net.onnxtxt"), "--targets", ",".join(targets), "-o", folder)
            self.assertTrue(plan["parts"])
            self.expect_same(expected, self.outputs(folder + "/plan.json"), 1e-5)

    def test_real_models_among_shipped_targets(self):
        models = [SHARED / "corpus" / "onnx" / "winml" / name for name in ("mnist.onnx", "squeezenet.onnx")]
        models = [m for m in models if m.exists()]
        if not models:
            self.skipTest("set INGOT_SHARED: the models are not here")
        for model in models:
            expected = self.outputs(str(model))
            for target in SHIPPED:
                folder = self.path(f"{model.stem}-{target}")
                self.partition(str(model), "--targets", f"{target},ingot", "-o", folder)
                needed = {"tflite": "tflite", "ort-cpu-1.30": "ort"}.get(target)
                if needed is None or needed in RUNTIMES.installed:
                    self.expect_same(expected, self.outputs(folder + "/plan.json"), 1e-4)

    def test_ten_thousand_nodes_take_a_second(self):
        lines = ["[n0] v0 = Relu(x)"]
        for i in range(1, 10000):
            op = "Relu" if i % 50 else "Erf"
            lines.append(f"[n{i}] v{i} = Add(v{i - 1}, v{max(0, i - 7)})" if i % 3 == 0 else f"[n{i}] v{i} = {op}(v{i - 1})")
        body = "\n".join(lines)
        self.write("long.onnxtxt", f'<ir_version: 8, opset_import: ["" : 17]>\nnet (float[4] x) => (float[4] v9999) {{\n{body}\n}}')
        self.run_ingot("convert", self.path("long.onnxtxt"), "-o", self.path("long.onnx"))
        arguments = [self.path("long.onnx"), "--targets", f"{self.path('npu.json')},ingot"]
        before = os.times().children_user
        plan = self.partition(*arguments)
        seconds = os.times().children_user - before
        self.assertGreater(len(plan["parts"]), 100)
        self.assertEqual(sum(p["nodes"] for p in plan["parts"]), 10000)
        if not os.environ.get("INGOT_SANITIZED"):
            self.assertLess(seconds, 1.0)


if __name__ == "__main__":
    unittest.main()

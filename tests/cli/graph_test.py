#!/usr/bin/env python3
"""Work on graphs as a user meets it: extract, split, merge, rename, diff, optimize, half precision, costs.

usage: graph_test.py PATH_TO_INGOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

INGOT = sys.argv.pop(1)

NET = """<ir_version: 8, opset_import: ["" : 17]>
net (float[N, 4] x) => (float[N, 2] y)
<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[3, 2] v = {1, 2, 3, 4, 5, 6}, float one = {1}>
{
  [first] h = MatMul(x, w)
  [act] r = Relu(h)
  [same] s = Mul(r, one)
  [second] z = MatMul(s, v)
  [last] y = Softmax<axis = -1>(z)
}
"""

OTHER = NET.replace("9, 10, 11, 12}", "9, 10, 11, 12.5}").replace("axis = -1", "axis = 1")

VENDOR = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
net (float[2, 3, 4] x, float[2, 3, 4] skip) => (float[2, 3, 4] y)
<float[4] g = {1, 2, 3, 4}, float[4] b = {0.5, 0, 0, 1}>
{
  n = com.microsoft.SkipLayerNormalization<epsilon = 0.00001>(x, skip, g, b)
  y = com.microsoft.Gelu(n)
}
"""

UNSAYABLE = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "other" : 1]>
net (string[C] x, float[2] z) => (uint32[C] y, float[2] w)
{
  y = com.microsoft.MurmurHash3(x)
  w = other.Thing(z)
}
"""


class GraphTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("net.onnxtxt", NET)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text)

    def run_ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def json_of(self, *arguments, code=0):
        return json.loads(self.run_ingot(*arguments, "--json", code=code).stdout)

    def test_extract_keeps_what_lies_between(self):
        done = self.json_of("extract", self.path("net.onnxtxt"), "-o", self.path("part.onnx"), "--inputs", "r", "--outputs", "z")
        self.assertEqual([i["name"] for i in done["inputs"]], ["r"])
        self.assertEqual([o["name"] for o in done["outputs"]], ["z"])
        self.assertEqual(done["nodes"], {"before": 5, "after": 2})

    def test_extract_refuses_what_is_not_there(self):
        done = self.run_ingot("extract", self.path("net.onnxtxt"), "-o", self.path("part.onnx"), "--outputs", "nothing", code=2)
        self.assertIn("no value 'nothing'", done.stderr)
        self.assertFalse(pathlib.Path(self.path("part.onnx")).exists())

    def test_split_and_merge_give_the_model_back(self):
        plan = self.json_of("split", self.path("net.onnxtxt"), "-o", self.path("parts"), "--at", "r")
        self.assertEqual([p["file"] for p in plan["parts"]], ["part_0.onnx", "part_1.onnx"])
        self.run_ingot("merge", self.path("parts/part_0.onnx"), self.path("parts/part_1.onnx"), "-o", self.path("whole.onnx"))
        many = self.json_of("split", self.path("net.onnxtxt"), "-o", self.path("many"), "--parts", "99")
        self.assertEqual([p["file"] for p in many["parts"]], [f"part_{i}.onnx" for i in range(len(many["parts"]))])
        done = self.json_of("verify", self.path("net.onnxtxt"), self.path("whole.onnx"), "--with", "ingot")
        self.assertEqual(done["answer"], "same")

    def test_stages_survive_a_merge_and_come_apart_again(self):
        program = pathlib.Path(self.path("prepare.py"))
        program.write_text("def prepare(df):\n    df['c'] = df['a'] * 2\n    df['d'] = df['c'] + 1\n    return df[['c', 'd']]\n")
        model = pathlib.Path(self.path("sum.onnxtxt"))
        model.write_text('<ir_version: 10, opset_import: ["" : 21]>\n'
                         'sum (double[N, 1] c, double[N, 1] d) => (double[N, 1] y) { s = Add(c, d) y = Relu(s) }\n')
        self.run_ingot("convert", str(program), "--schema", "a:float", "-o", self.path("prepare.onnx"))
        done = self.run_ingot("merge", self.path("prepare.onnx"), str(model), "-o", self.path("both.onnx"))
        self.assertIn("they are 'model' now", done.stderr)
        parts = self.json_of("split", self.path("both.onnx"), "--stage", "model", "-o", self.path("model.onnx"), "--rest",
                             self.path("rest.onnx"))["parts"]
        self.assertEqual([(p["name"], p["inputs"], p["outputs"]) for p in parts],
                         [("model", ["c", "d"], ["y"]), ("preprocess", ["a"], ["c", "d"])])
        for part, whole in (("model.onnx", str(model)), ("rest.onnx", self.path("prepare.onnx"))):
            self.assertEqual(self.json_of("verify", whole, self.path(part), "--with", "ingot")["answer"], "same")
        self.run_ingot("merge", self.path("rest.onnx"), self.path("model.onnx"), "-o", self.path("again.onnx"))
        done = self.json_of("verify", self.path("both.onnx"), self.path("again.onnx"), "--with", "ingot")
        self.assertEqual(done["answer"], "same")
        done = self.run_ingot("split", self.path("both.onnx"), "--stage", "nothing", "-o", self.path("no.onnx"), code=2)
        self.assertIn("its stages are preprocess, model", done.stderr)

    def test_weights_of_old_files_are_weights(self):
        # Below IR version 4 each weight is an input too.
        self.run_ingot("convert", self.path("net.onnxtxt"), "-o", self.path("old.onnx"), "--for", "onnx-1.3")
        self.assertEqual(self.json_of("inspect", self.path("old.onnx"))["ir_version"], 3)
        self.run_ingot("split", self.path("old.onnx"), "-o", self.path("parts"), "--at", "h")
        sizes = [self.json_of("inspect", self.path(f"parts/part_{i}.onnx"))["parameters"]["elements"] for i in (0, 1)]
        self.assertEqual(sizes, [12, 7])
        done = self.json_of("merge", self.path("parts/part_0.onnx"), self.path("parts/part_1.onnx"), "-o", self.path("both.onnx"))
        self.assertEqual([p["name"] for p in done["inputs"]], ["x"])
        self.run_ingot("verify", self.path("old.onnx"), self.path("both.onnx"), "--with", "ingot")
        self.json_of("extract", self.path("old.onnx"), "-o", self.path("part.onnx"), "--inputs", "s")
        self.assertEqual(self.json_of("inspect", self.path("part.onnx"))["parameters"]["elements"], 6)
        self.assertEqual(self.json_of("optimize", self.path("old.onnx"), "-o", self.path("small.onnx"))["nodes"]["after"], 4)

    def test_defaults_of_inputs_survive_cuts_and_merges(self):
        self.write("default.onnxtxt", '''<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[2] k) => (float[2] y) <float[2] k = {2, 3}> { a = Neg(x) b = Mul(a, k) y = Neg(b) }''')
        self.run_ingot("extract", self.path("default.onnxtxt"), "-o", self.path("cut.onnx"), "--inputs", "a")
        ports = {p["name"]: p["has_default"] for p in self.json_of("inspect", self.path("cut.onnx"))["inputs"]}
        self.assertEqual(ports, {"a": False, "k": True})
        self.write("first.onnxtxt", '<ir_version: 8, opset_import: ["" : 17]> f (float[2] z) => (float[2] x) { x = Abs(z) }')
        self.run_ingot("merge", self.path("first.onnxtxt"), self.path("default.onnxtxt"), "-o", self.path("both.onnx"))
        ports = {p["name"]: p["has_default"] for p in self.json_of("inspect", self.path("both.onnx"))["inputs"]}
        self.assertEqual(ports, {"z": False, "k": True})

    def test_diff_takes_weights_that_have_to_be_given(self):
        self.write("given.onnxtxt", NET.replace("(float[N, 4] x)", "(float[N, 4] x, float[3, 2] v)").replace(
            ", float[3, 2] v = {1, 2, 3, 4, 5, 6}", ""))
        done = self.json_of("diff", self.path("net.onnxtxt"), self.path("given.onnxtxt"), code=1)
        self.assertEqual(len(done["weights_only_in_a"]), 1)

    def test_merge_lists_all_problems(self):
        done = self.run_ingot("merge", self.path("net.onnxtxt"), self.path("net.onnxtxt"), "-o", self.path("m.onnx"),
                              "--connect", "y=x", code=2)
        self.assertIn("output 'y' is float[N,2], but input 'x' is float[N,4]", done.stderr)
        self.assertIn("'y' (an output of the second)", done.stderr)

    def test_rename_changes_values_and_dimensions(self):
        self.run_ingot("rename", self.path("net.onnxtxt"), "x=image", "y=scores", "-o", self.path("n.onnx"), "--dim", "N=batch")
        done = self.json_of("inspect", self.path("n.onnx"))
        self.assertEqual(done["inputs"][0]["name"], "image")
        self.assertEqual(done["outputs"][0]["type"], "float[batch,2]")
        self.run_ingot("rename", self.path("net.onnxtxt"), "nothing=x2", "-o", self.path("n.onnx"), code=2)

    def test_diff_of_graphs_that_read_what_is_around_them(self):
        text = """<ir_version: 8, opset_import: ["": 17]> g (bool c, float[1] x) => (float[1] y) {
          a = Exp(x)
          b = Abs(x)
          y = If(c) <then_branch = t () => (float[1] p) {p = Neg(a)}, else_branch = e () => (float[1] q) {q = Abs(a)}>
        }"""
        pathlib.Path(self.path("one.onnxtxt")).write_text(text)
        pathlib.Path(self.path("two.onnxtxt")).write_text(text.replace("Neg(a)", "Neg(b)"))
        self.json_of("diff", self.path("one.onnxtxt"), self.path("one.onnxtxt"))
        done = self.json_of("diff", self.path("one.onnxtxt"), self.path("two.onnxtxt"), code=1)
        self.assertIn("then_branch", json.dumps(done))
        self.assertNotIn("else_branch", json.dumps(done))

    def test_diff_tells_weights_and_attributes(self):
        self.write("other.onnxtxt", OTHER)
        same = self.json_of("diff", self.path("net.onnxtxt"), self.path("net.onnxtxt"))
        self.assertTrue(same["same"])
        done = self.json_of("diff", self.path("net.onnxtxt"), self.path("other.onnxtxt"), code=1)
        self.assertEqual(done["weights"][0]["a"], "w")
        self.assertEqual(done["weights"][0]["differing"], 1)
        self.assertAlmostEqual(done["weights"][0]["difference_norm"], 0.5)
        self.assertEqual(done["nodes"][0]["node"], "last")
        self.assertIn("attribute 'axis' is -1, and 1 in b", done["nodes"][0]["changes"][0])

    def test_optimize_never_makes_more_nodes(self):
        # What Softmax of this operator set means takes four nodes of the newest.
        self.write("old.onnxtxt", """<ir_version: 7, opset_import: ["" : 12]>
net (float[2,3,4] x, float[2,3,4] b) => (float[2,3,4] y) { a = Add(x, b) y = Softmax<axis=1>(a) }""")
        done = self.json_of("optimize", self.path("old.onnxtxt"), "-o", self.path("small.onnx"))
        self.assertEqual(done["nodes"], {"before": 2, "after": 2})

    def test_optimize_is_compared_with_its_source(self):
        done = self.json_of("optimize", self.path("net.onnxtxt"), "-o", self.path("small.onnx"))
        self.assertEqual(done["nodes"], {"before": 5, "after": 4})
        self.assertEqual(done["verification"]["answer"], "same")
        self.assertEqual(done["rules"]["neutral numbers"], 1)

    def test_half_precision_keeps_ports_and_islands(self):
        done = self.json_of("convert", self.path("net.onnxtxt"), "-o", self.path("half.onnx"), "--float16", "--keep-float", "Softmax")
        self.assertEqual(done["inputs"][0]["type"], "float[N,4]")
        self.assertEqual(done["half"]["islands"], [{"node": "last", "op": "Softmax", "reason": "as asked for"}])
        self.assertLess(done["half"]["weight_bytes_after"], done["half"]["weight_bytes_before"])
        self.run_ingot("check", self.path("half.onnx"))
        self.run_ingot("convert", self.path("net.onnxtxt"), "-o", self.path("b.onnx"), "--keep-float", "Relu", code=2)
        self.run_ingot("convert", self.path("net.onnxtxt"), "-o", self.path("b.onnx"), "--float16", "--keep-float", "Softmx", code=2)

    def test_costs_are_counted_node_by_node(self):
        done = self.json_of("inspect", self.path("net.onnxtxt"), "--flops", "--memory", "--input-shape", "x:5,4")
        costs = {n["node"]: n for n in done["costs"]["nodes"]}
        self.assertEqual(costs["first"]["operations"], 2 * 5 * 4 * 3)
        self.assertEqual(costs["first"]["weights"], 48)
        self.assertEqual(costs["last"]["activations"], 5 * 2 * 4)
        self.assertEqual(done["costs"]["unknown"], 0)
        self.run_ingot("inspect", self.path("net.onnxtxt"), "--input-shape", "x:5,4", code=2)

    def test_functions_are_what_their_bodies_are(self):
        # The second body is in another version of the operator set than the model.
        self.write("called.onnxtxt", """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
net (float[2,3] x) => (float[2] y) <float[3,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
{ [first] h = own.Linear(x, w) [last] y = own.Total(h) }
<domain: "own", opset_import: ["" : 17]> Linear (x, w) => (y) { p = MatMul(x, w) y = Relu(p) }
<domain: "own", opset_import: ["" : 11]> Total (x) => (y) { y = ReduceSum<axes = [1], keepdims = 0>(x) }""")
        costs = self.json_of("inspect", self.path("called.onnxtxt"), "--flops")["costs"]
        self.assertEqual(costs["operations"], 2 * 2 * 3 * 4 + 2 * 4 + 2 * 4)
        half = self.json_of("convert", self.path("called.onnxtxt"), "-o", self.path("half.onnx"), "--float16")
        self.assertEqual(half["half"]["islands"], [])
        for words in (["optimize", "-o", self.path("o.onnx")], ["convert", "-o", self.path("c.tflite")],
                      ["convert", "-o", self.path("c.pt")]):
            done = self.run_ingot(words[0], self.path("called.onnxtxt"), *words[1:])
            self.assertIn("output y agrees", done.stdout + done.stderr)

    def test_types_are_known_behind_functions(self):
        self.write("called.onnxtxt", """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
net (float[2,4] x) => (float[2,4] y) <float[4,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}>
{ [first] h = own.Mean(x) [middle] p = own.Linear(h, w) [last] y = own.Heads(p) }
<domain: "own", opset_import: ["" : 17]> Mean (x) => (y)
{ m = ReduceMean<axes = [-1], keepdims = 1>(x) d = Sub(x, m) y = Softmax(d) }
<domain: "own", opset_import: ["" : 17]> Linear (x, w) => (y) { p = MatMul(x, w) y = Softmax(p) }
<domain: "own", opset_import: ["" : 17]> Heads (x) => (y)
{ s = Constant<value = int64[3] {2, 2, 2}>() a = Reshape(x, s) b = Softmax(a) t = Constant<value = int64[2] {2, 4}>() y = Reshape(b, t) }""")
        model = self.path("called.onnxtxt")
        self.assertIn("trained  w  float[4,4]",
                      self.run_ingot("make-trainable", model, "--loss", "mse", "--dry-run").stdout)
        self.run_ingot("convert", model, "-o", self.path("old.onnx"), "--opset", "11")
        verdict = self.json_of("verify", model, self.path("old.onnx"), "--with", "ingot")
        self.assertEqual(verdict["answer"], "same")
        done = self.json_of("convert", model, "-o", self.path("seven.onnx"), "--batch", "7")
        self.assertEqual(done["inputs"][0]["type"], "float[7,4]")
        kernels = self.json_of("run", model, "--random", "1", "--profile")
        self.assertNotIn("Softmax:reference", [n["op"] + ":" + n["kernel"] for n in kernels["profile"]["nodes"]])

    def test_standard_leaves_no_operator_of_others(self):
        self.write("vendor.onnxtxt", VENDOR)
        done = self.json_of("convert", self.path("vendor.onnxtxt"), "-o", self.path("plain.onnx"), "--standard")
        self.assertEqual(list(done["opsets"]), ["ai.onnx"])
        self.assertNotIn("com.microsoft", " ".join(done["operators"]))
        verdict = self.json_of("verify", self.path("vendor.onnxtxt"), self.path("plain.onnx"), "--with", "ingot")
        self.assertEqual(verdict["answer"], "same")

    def test_standard_leaves_no_import_of_functions(self):
        self.write("within.onnxtxt", """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
net (float[2, 4] x) => (float[2, 4] y) { y = own.Twice(x) }
<domain: "own", opset_import: ["" : 17, "com.microsoft" : 1]>
Twice (x) => (y) { a = com.microsoft.Gelu(x) y = com.microsoft.QuickGelu(a) }""")
        done = self.json_of("convert", self.path("within.onnxtxt"), "-o", self.path("plain.onnx"), "--standard", "--no-verify")
        self.assertNotIn("com.microsoft", done["opsets"])

    def test_standard_lists_what_cannot_be_said(self):
        self.write("unsayable.onnxtxt", UNSAYABLE)
        done = self.run_ingot("convert", self.path("unsayable.onnxtxt"), "-o", self.path("plain.onnx"), "--standard", code=4)
        self.assertIn("com.microsoft.MurmurHash3", done.stderr)
        self.assertIn("other.Thing", done.stderr)

    def test_ops_lists_the_domain(self):
        rows = {row["name"]: row for row in self.json_of("ops", "--domain", "com.microsoft")}
        self.assertEqual(len(rows), 137)
        self.assertTrue(rows["SkipLayerNormalization"]["decomposition"])
        self.assertTrue(rows["Tokenizer"]["kernel"])
        self.assertIn("loop", rows["BeamSearch"]["why"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])

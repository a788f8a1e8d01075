#!/usr/bin/env python3
"""Models of TensorFlow as a user converts them. Usage: tensorflow_test.py PATH_TO_INGOT; INGOT_PEERS names the folder of
npm's packages."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from runtimes import Runtimes

INGOT = sys.argv.pop(1)
FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
INPUT = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } dim { size: 4 } dim { size: 2 } } } } }
"""
GRAPH = INPUT + """node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1 } dim { size: 1 }
              dim { size: 2 } dim { size: 2 } } float_val: [1, -2, 3, 0.5] } } } }
node { name: "conv" op: "Conv2D" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "padding" value { s: "SAME" } } attr { key: "strides" value { list { i: [1, 1, 1, 1] } } } }
node { name: "relu" op: "Relu" input: "conv" """ + FLOAT + """ }
node { name: "y" op: "Tanh" input: "relu" """ + FLOAT + """ }
versions { producer: 1000 }
"""
CUSTOM = INPUT + """node { name: "strange" op: "Strange" input: "x" """ + FLOAT + """ attr { key: "k" value { f: 3 } } }
node { name: "y" op: "Tanh" input: "strange" """ + FLOAT + """ }
"""
FUNCTION = INPUT + """node { name: "once" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "twice" } } }
       attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }
node { name: "y" op: "PartitionedCall" input: "once" attr { key: "f" value { func { name: "twice" } } }
       attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }
library { function { signature { name: "twice" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
  node_def { name: "sum" op: "AddV2" input: "a" input: "a" """ + FLOAT + """ } ret { key: "b" value: "sum:z:0" } } }
"""
DROPOUT = INPUT + """node { name: "size" op: "Shape" input: "x" """ + FLOAT + """ }
node { name: "chance" op: "RandomUniform" input: "size" attr { key: "T" value { type: DT_INT32 } }
       attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "Mul" input: "chance" input: "x" """ + FLOAT + """ }
"""


RUNTIMES = Runtimes(INGOT)
needs = RUNTIMES.needs

# A recurrence over T steps whose results are gathered, for any number of rows.
SCAN = """<ir_version: 10, opset_import: ["" : 21]>
net (float[T, N, 3] x, float[N, 3] first) => (float[N, 3] last, float[T, N, 3] all)
{
  last, all = Scan <num_scan_inputs: int = 1, body = step (float[N, 3] h, float[N, 3] x_t)
    => (float[N, 3] next, float[N, 3] y) { s = Add(h, x_t) next = Tanh(s) y = Mul(next, x_t) }> (first, x)
}
"""


class TensorFlow(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)
        self.write("g.pbtxt", GRAPH)

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *map(str, arguments)], cwd=self.path, capture_output=True, text=True,
                              env=dict(os.environ))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def converted(self, name, *options):
        """What `ingot inspect` tells of the result."""
        self.ingot("convert", name, "-o", "m.onnx", "--no-verify", *options)
        return json.loads(self.ingot("inspect", "m.onnx", "--json").stdout)

    def test_a_graph_is_known_by_its_content(self):
        self.write("nothing.special", GRAPH)
        about = self.converted("nothing.special")
        self.assertEqual([(i["name"], i["type"]) for i in about["inputs"]], [("x", "float[x_0,4,4,2]")])
        self.assertEqual([o["name"] for o in about["outputs"]], ["y"])

    def test_a_saved_model_is_its_directory_or_its_file(self):
        meta = "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: \"%s\" } graph_def { " + GRAPH + """ }
          signature_def { key: "serving_default" value { inputs { key: "pixels" value { name: "x:0" dtype: DT_FLOAT } }
            outputs { key: "scores" value { name: "y:0" dtype: DT_FLOAT } } } }
          signature_def { key: "middle" value { inputs { key: "pixels" value { name: "x:0" dtype: DT_FLOAT } }
            outputs { key: "features" value { name: "relu:0" dtype: DT_FLOAT } } } } }"""
        self.write("model/saved_model.pbtxt", meta % "serve")
        for name in ("model", "model/saved_model.pbtxt"):
            self.assertEqual([o["name"] for o in self.converted(name)["outputs"]], ["scores"])
        about = self.converted("model", "--signature", "middle", "--tag", "serve")
        self.assertEqual([i["name"] for i in about["inputs"]], ["pixels"])
        self.assertEqual([o["name"] for o in about["outputs"]], ["features"])
        looked = json.loads(self.ingot("inspect", "model", "--signature", "middle", "--json").stdout)
        self.assertEqual([o["name"] for o in looked["outputs"]], ["features"])
        ran = self.ingot("run", "model", "--signature", "middle", "--random", 1, "--input-shape", "pixels:1,4,4,2").stdout
        self.assertTrue(ran.startswith("features"), ran)
        self.ingot("report", "model", "-o", "site", "--signature", "middle", "--tag", "serve", "-q")
        page = (self.path / "site" / "model.html").read_text()
        for said in ("<h2>Signatures</h2>", "<code>serving_default</code>", "<h2>Operators of the TensorFlow SavedModel file"):
            self.assertIn(said, page)
        self.assertIn('"features"', page)
        self.assertNotIn('"scores"', page)
        self.ingot("report", "g.pbtxt", "-o", "site", "--signature", "middle", code=2)  # which has none
        self.assertIn("middle, serving_default", self.ingot("convert", "model", "-o", "m.onnx", "--signature", "none",
                                                            code=2).stderr)
        self.assertIn("its tags are: serve", self.ingot("convert", "model", "-o", "m.onnx", "--tag", "none", code=2).stderr)
        self.write("versions/7/saved_model.pb", "")
        self.assertIn("versions/7", self.ingot("convert", "versions", "-o", "m.onnx", code=3).stderr)

    def test_a_graph_is_cut_shaped_and_renamed(self):
        about = self.converted("g.pbtxt", "--inputs", "conv", "--outputs", "relu", "--input-shape", "conv:1,2,2,2",
                               "--rename", "conv=before", "--rename", "relu=after")
        self.assertEqual([(i["name"], i["type"]) for i in about["inputs"]], [("before", "float[1,2,2,2]")])
        self.assertEqual([(o["name"], o["type"]) for o in about["outputs"]], [("after", "float[1,2,2,2]")])

    @needs("tfjs")
    def test_what_was_cut_or_lies_otherwise_is_verified(self):
        cut = self.ingot("convert", "g.pbtxt", "-o", "m.onnx", "--inputs", "conv", "--outputs", "relu", "--input-shape",
                         "conv:1,2,2,2", "--rename", "relu=after")
        self.assertIn("verified: TF.js", cut.stderr)
        turned = self.ingot("convert", "g.pbtxt", "-o", "m.onnx", "--inputs-as", "nchw", "--outputs-as", "nchw")
        self.assertIn("verified: TF.js", turned.stderr)
        self.assertIn("0 of", turned.stderr)

    @needs("tfjs")
    def test_random_numbers_are_no_difference(self):
        self.write("r.pbtxt", DROPOUT)
        done = self.ingot("convert", "r.pbtxt", "-o", "m.onnx")
        self.assertIn("not verified: output 'y' depends on the random numbers of 'chance'", done.stderr)

    @needs("tfjs")
    def test_loops_that_gather_slices_of_open_sizes_reach_tfjs(self):
        self.write("scan.onnxtxt", SCAN)
        done = self.ingot("convert", "scan.onnxtxt", "-o", "web", "--to", "tfjs", "--input-shape", "x:5,2,3")
        self.assertIn("input first: float[2,3]", done.stderr)  # N is 2 here too
        self.assertIn("verified=same", done.stderr)
        done = self.ingot("convert", "scan.onnxtxt", "-o", "open", "--to", "tfjs")
        self.assertIn("verified=same", done.stderr)

    @needs("tfjs")
    def test_hot_places_are_floats_in_tfjs(self):
        """Its fast backend writes whole numbers where OneHot is asked for floats."""
        self.write("hot.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
            net (float[3, 4] x, float[2] values) => (float[3, 4] h, float[3, 2, 5] y, float[3, 2, 5] z, int32[3, 2, 5] w)
            <int64[3, 2] i = {0, 4, -1, 7, 2, -9}, int64 depth = {5}, float[2] offon = {0.5, 3.25}, int32[2] whole = {7, -2}> {
              h = Hardmax(x)  y = OneHot(i, depth, offon)  z = OneHot(i, depth, values)  w = OneHot(i, depth, whole) }""")
        said = self.ingot("convert", "hot.onnxtxt", "-o", "hot", "--to", "tfjs").stderr
        self.assertRegex(said, r"TF.js [0-9.]+ \(wasm\)")
        self.assertRegex(said, "verified=(same|self) ")  # ONNX Runtime does not run all of it

    @needs("tfjs")
    def test_a_shape_that_is_missing_is_asked_for(self):
        self.write("open.pbtxt", 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }\n'
                                 'node { name: "y" op: "Exp" input: "x" ' + FLOAT + " }")
        self.assertIn("--input-shape x:", self.ingot("convert", "open.pbtxt", "-o", "m.onnx").stderr)
        self.assertIn("verified: TF.js", self.ingot("convert", "open.pbtxt", "-o", "m.onnx", "--input-shape", "x:3").stderr)

    def test_what_has_no_translation_is_listed_kept_or_given_a_meaning(self):
        self.write("c.pbtxt", CUSTOM.replace('name: "y" op: "Tanh"', 'name: "y" op: "Other"'))
        listed = self.ingot("convert", "c.pbtxt", "-o", "m.onnx", code=4).stderr
        for words in ("Strange: there is no translation (node 'strange')", "Other: there is no translation (node 'y')"):
            self.assertIn(words, listed)
        self.write("c.pbtxt", CUSTOM)
        kept = self.converted("c.pbtxt", "--allow-custom", "Strange:my.domain")
        self.assertEqual(kept["operators"], {"Tanh": 1, "my.domain.Strange": 1})
        self.write("mine.onnxtxt", """<ir_version: 10, opset_import: ["" : 21, "tensorflow" : 1]>
g (float x) => (float y) { y = tensorflow.Strange(x) }
<domain: "tensorflow", opset_import: ["" : 21]> Strange <k> (a) => (b) { f = Constant<value_float: float = @k>()
  b = Mul(a, f) }""")
        self.converted("c.pbtxt", "--functions", "mine.onnxtxt")
        self.ingot("check", "m.onnx")
        self.ingot("run", "m.onnx", "--random", "1", "--input-shape", "x:1,4,4,2")

    def test_variables_without_values_are_one_reason(self):
        nodes = "".join(f'node {{ name: "v{i}" op: "VariableV2" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} attr {{ key: '
                        f'"shape" value {{ shape {{ }} }} }} }}\nnode {{ name: "y{i}" op: "Neg" input: "v{i}" {FLOAT} }}\n'
                        for i in range(150))
        self.write("v.pbtxt", nodes)
        listed = self.ingot("convert", "v.pbtxt", "-o", "m.onnx", code=4).stderr
        self.assertIn("150 nodes:", listed)
        for i in range(150):
            self.assertIn(f"'v{i}'", listed)

    def test_functions_are_inlined_or_kept(self):
        self.write("f.pbtxt", FUNCTION)
        self.assertEqual(self.converted("f.pbtxt")["operators"], {"Add": 2})
        kept = self.converted("f.pbtxt", "--keep-functions")
        self.assertEqual(kept["operators"], {"tensorflow.function.twice": 2})
        self.ingot("check", "m.onnx")

    def test_layers_models_without_layers_are_refused(self):
        self.write("layers/model.json", '{"modelTopology": {"class_name": "Sequential", "config": {}}, "weightsManifest": []}')
        for name in ("layers", "layers/model.json"):
            self.assertIn("'Sequential'", self.ingot("convert", name, "-o", "m.onnx", code=4).stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Training as a user meets it: results, kills, full disks, checkpoints. Usage: train_test.py PATH_TO_INGOT [KILLS]"""
import gzip
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

INGOT = os.path.abspath(sys.argv.pop(1))
KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 20
SHARED = os.environ.get("INGOT_SHARED")
PYTHON = "/usr/bin/python3"  # the one that knows the packages of the system

rng = random.Random(7)


def numbers(count, size=0.3):
    return ", ".join(f"{rng.uniform(-size, size):.6f}" for _ in range(count))


def mlp(hidden=16, activation="Relu"):
    return f"""<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 4] x) => (float[N, 3] y)
<float[4, {hidden}] w1 = {{{numbers(4 * hidden)}}}, float[{hidden}] b1 = {{{numbers(hidden)}}},
 float[{hidden}, 3] w2 = {{{numbers(3 * hidden)}}}, float[3] b2 = {{0, 0, 0}}>
{{
  h = Gemm(x, w1, b1)
  a = {activation}(h)
  y = Gemm(a, w2, b2)
}}
"""


def flowers(count=60):
    """Three kinds of points around three centres, as a table."""
    rows = ["a,b,c,d,kind"]
    for i in range(count):
        kind = i % 3
        row = [rng.gauss(1.5 if k == kind else 0, 0.6) for k in range(4)]
        rows.append(",".join(f"{v:.4f}" for v in row) + "," + ["iris", "rose", "tulip"][kind])
    return "\n".join(rows) + "\n"


LOSS_GRAPH = """<ir_version: 10, opset_import: ["" : 21]>
loss (float[N, C] prediction, int64[N] target) => (float l)
{ l = SoftmaxCrossEntropyLoss(prediction, target) }
"""

OPTIMIZER_GRAPH = """<ir_version: 10, opset_import: ["" : 21]>
momentum (float[] parameter, float[] gradient, float lr, float[] v) => (float[] "parameter.next", float[] "v.next")
<float m = {0.9}>
{
  kept = Mul(v, m)
  "v.next" = Add(kept, gradient)
  pull = Mul("v.next", lr)
  "parameter.next" = Sub(parameter, pull)
}
"""

FOREST = """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>
net (float[N, 4] x) => (float[N, 3] y)
<float[4, 2] w1 = {1, 0, 0, 1, 0.5, 0, 0, 0.5}, float[2, 3] w2 = {0.1, 0.2, 0.3, 0.3, 0.2, 0.1}, float[3] b = {0, 0, 0}>
{
  h = MatMul(x, w1)
  t = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 2, nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2],
        nodes_featureids = [0, 0, 0], nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values = [0.5, 0.0, 0.0],
        nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], target_treeids = [0, 0], target_nodeids = [1, 2],
        target_ids = [0, 1], target_weights = [1.0, 2.0]> (h)
  y = Gemm(t, w2, b)
}
"""

TWO_PLAYERS = """<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 4] x) => (float[N, 1] y)
<float[4, 1] w = {0.1, 0.2, -0.1, 0.3}>
{ y = MatMul(x, w) }
"""


class Train(unittest.TestCase):
    def setUp(self):
        rng.seed(7)  # whichever tests ran before
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name)
        self.file("net.onnxtxt", mlp())
        self.file("flowers.csv", flowers())
        self.ingot("convert", "net.onnxtxt", "-o", "net.onnx")

    def tearDown(self):
        self.directory.cleanup()

    def file(self, name, text):
        (self.path / name).write_text(text)

    def run_ingot(self, *args, **options):
        return subprocess.run([INGOT, *args], cwd=self.path, capture_output=True, text=True, timeout=300, **options)

    def ingot(self, *args, code=0):
        done = self.run_ingot(*args)
        self.assertEqual(done.returncode, code, f"ingot {' '.join(args)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def train(self, *args, model="net.onnx", code=0):
        return self.ingot("train", model, "--data", "flowers.csv", "--target", "kind", *args, code=code)

    def bytes(self, name):
        return (self.path / name).read_bytes()

    def losses(self, name="log"):
        lines = [json.loads(line) for line in (self.path / name).read_text().splitlines()]
        return [line["loss"] for line in lines if "loss" in line]

    # What a run gives.

    def test_the_loss_falls_and_the_export_runs(self):
        text = self.train("--optimizer", "adam", "--lr", "0.02", "--epochs", "20", "--val-split", "0.2", "--export",
                          "out.onnx", "--log", "log", "--plot", "loss.svg")
        losses = self.losses()
        self.assertLess(losses[-1], 0.5 * losses[0])
        self.assertIn("held back: loss", text)
        self.assertIn("peak memory", text)
        self.assertIn("<polyline", (self.path / "loss.svg").read_text())
        self.assertIn("accuracy", self.ingot("eval", "out.onnx", "--data", "flowers.csv", "--target", "kind"))
        confusion = self.ingot("eval", "out.onnx", "--data", "flowers.csv", "--target", "kind", "--confusion")
        self.assertIn("tulip", confusion)
        self.ingot("run", "out.onnx", "--random", "1")

    def test_nothing_but_weights_changes(self):
        self.train("--steps", "3", "--export", "out.onnx")
        before, after = (self.ingot("inspect", name, "--text") for name in ("net.onnx", "out.onnx"))
        strip = lambda text: [line.rstrip(",") for line in text.splitlines()
                              if ("float[" not in line or "=>" in line) and "metadata_props" not in line]
        self.assertEqual(strip(before), strip(after))
        told = json.loads(self.ingot("inspect", "out.onnx", "--json"))["metadata"]
        self.assertEqual(told["ingot.classes"], "iris,rose,tulip")

    def test_the_same_seed_gives_the_same_bits_for_any_threads(self):
        self.train("--steps", "10", "--threads", "1", "--export", "one.onnx")
        self.train("--steps", "10", "--threads", "2", "--export", "two.onnx")
        self.assertEqual(self.bytes("one.onnx"), self.bytes("two.onnx"))
        self.train("--steps", "10", "--seed", "5", "--export", "other.onnx")
        self.assertNotEqual(self.bytes("one.onnx"), self.bytes("other.onnx"))

    def test_both_uses_lead_to_the_same_bits(self):
        self.both_uses()

    def test_both_uses_drop_the_same_numbers(self):
        self.file("net.onnxtxt", mlp(activation="Dropout"))
        self.ingot("convert", "net.onnxtxt", "-o", "net.onnx")
        self.both_uses()

    def both_uses(self):
        for form in ([], ["--gradient-op"]):
            how = ["--optimizer", "adam", "--lr", "0.02"]
            self.train(*how, "--epochs", "3", "--export", "first.onnx")
            self.ingot("make-trainable", "net.onnx", "-o", "trainable.onnx", *how, *form)
            self.ingot("check", "trainable.onnx")
            self.train("--epochs", "3", "--export", "second.onnx", model="trainable.onnx")
            self.ingot("strip-training", "second.onnx", "-o", "stripped.onnx")
            for name in ("first", "stripped"):
                self.ingot("convert", f"{name}.onnx", "-o", f"{name}.onnxtxt")
            same = lambda name: (self.path / name).read_text().split("\n>\n", 1)[1]
            self.assertEqual(same("first.onnxtxt"), same("stripped.onnxtxt"), form)

    def test_gradients_are_written_as_one_operator(self):
        self.ingot("make-trainable", "net.onnx", "-o", "trainable.onnx", "--gradient-op")
        self.assertIn("Gradient", self.ingot("convert", "trainable.onnx", "-o", "t.json") and
                      (self.path / "t.json").read_text())

    def test_initialization_is_run_on_request(self):
        self.ingot("make-trainable", "net.onnx", "-o", "trainable.onnx", "--optimizer", "adam", "--seed", "3")
        self.train("--steps", "1", "--keep-order", "--log", "kept", model="trainable.onnx")
        text = self.train("--steps", "1", "--keep-order", "--initialize", "--log", "begun", model="trainable.onnx")
        self.assertIn("variables are initialized", text)
        self.assertNotEqual(self.losses("kept"), self.losses("begun"))
        self.train("--steps", "1", "--keep-order", "--initialize", "--log", "again", model="trainable.onnx")
        self.assertEqual(self.losses("begun"), self.losses("again"))
        self.ingot("make-trainable", "net.onnx", "-o", "kept.onnx", "--init", "keep")
        self.train("--steps", "1", "--keep-order", "--initialize", "--log", "same", "--lr", "0.1", model="kept.onnx")
        self.train("--steps", "1", "--keep-order", "--log", "same2", "--lr", "0.1", model="kept.onnx")
        self.assertEqual(self.losses("same"), self.losses("same2"))

    def test_training_goes_on_from_the_file_alone(self):
        self.ingot("make-trainable", "net.onnx", "-o", "trainable.onnx", "--optimizer", "adam")
        self.train("--steps", "8", "--keep-order", "--batch", "60", "--export", "whole.onnx", model="trainable.onnx")
        self.train("--steps", "4", "--keep-order", "--batch", "60", "--export-training", "half.onnx",
                   model="trainable.onnx")
        self.train("--steps", "4", "--keep-order", "--batch", "60", "--export", "rest.onnx", model="half.onnx")
        for name in ("whole", "rest"):
            self.ingot("strip-training", f"{name}.onnx", "-o", f"{name}.s.onnx")
        self.assertEqual(self.bytes("whole.s.onnx"), self.bytes("rest.s.onnx"))

    def test_gradients_are_checked_for_programs_too(self):
        told = json.loads(self.ingot("gradcheck", "net.onnx", "--json"))
        self.assertEqual([(row["input"], row["equal"]) for row in told["inputs"]], [("x", True)])

    def test_options_that_the_stored_training_does_not_take_are_refused(self):
        self.ingot("make-trainable", "net.onnx", "-o", "trainable.onnx")
        for option in (["--optimizer", "adam"], ["--last", "1"], ["--clip-norm", "1"], ["--val-split", "0.2"]):
            text = self.train("--steps", "1", *option, model="trainable.onnx", code=2)
            self.assertIn(f"the training that the model carries does not take {option[0]} ", text)
            self.train("--steps", "1", "--loss", "cross_entropy", *option, model="trainable.onnx")
        self.train("--steps", "1", "--lr", "0.1", "--schedule", "cosine", model="trainable.onnx")

    def test_a_loss_and_an_optimizer_of_ones_own(self):
        self.file("loss.onnxtxt", LOSS_GRAPH)
        self.file("optimizer.onnxtxt", OPTIMIZER_GRAPH)
        self.train("--loss-graph", "loss.onnxtxt", "--optimizer-graph", "optimizer.onnxtxt", "--lr", "0.05", "--steps",
                   "10", "--log", "own")
        self.train("--loss", "cross_entropy", "--optimizer", "momentum", "--lr", "0.05", "--steps", "10", "--log",
                   "known")
        for a, b in zip(self.losses("own"), self.losses("known")):
            self.assertAlmostEqual(a, b, delta=1e-6)
        self.file("bad.onnxtxt", LOSS_GRAPH.replace("float l)", "float[N] l)").replace(
            "SoftmaxCrossEntropyLoss", 'SoftmaxCrossEntropyLoss<reduction = "none">'))
        self.assertIn("not one real number", self.train("--loss-graph", "bad.onnxtxt", "--steps", "1", code=2))

    def test_several_algorithms_take_turns(self):
        """Two algorithms on one weight: what a run of both gives is what the weights of each in turn give."""
        self.file("two.onnxtxt", TWO_PLAYERS)
        self.file("line.csv", "a,b,c,d,t\n" + "".join(f"{i},{i % 3},{-i},{1},{i * 0.5}\n" for i in range(8)))
        for which, optimizer in (("one", "sgd"), ("two", "momentum")):
            self.ingot("make-trainable", "two.onnxtxt", "-o", f"{which}.onnx", "--loss", "mse", "--optimizer", optimizer,
                       "--lr", "0.001")
        merge = pathlib.Path(self.path / "merge.py")
        merge.write_text("import onnx\na, b = onnx.load('one.onnx'), onnx.load('two.onnx')\n"
                         "a.training_info.extend(b.training_info)\nonnx.save(a, 'both.onnx')\n")
        if subprocess.run([PYTHON, "merge.py"], cwd=self.path, capture_output=True).returncode != 0:
            self.skipTest("python3-onnx is not here")
        common = ["--data", "line.csv", "--target", "t", "--keep-order", "--batch", "8", "--steps", "3"]
        text = self.ingot("train", "both.onnx", *common, "--export", "out.onnx")
        self.assertIn("2 algorithms take turns", text)
        self.ingot("train", "both.onnx", *common, "--algorithm", "1", "--export", "second.onnx")
        self.assertNotEqual(self.bytes("out.onnx"), self.bytes("second.onnx"))
        self.assertIn("no training info number 7",
                      self.ingot("train", "both.onnx", *common, "--algorithm", "7", code=3))

    def test_broken_training_information_is_refused_with_its_place(self):
        self.ingot("make-trainable", "net.onnx", "-o", "trainable.onnx")
        self.file("break.py", "import onnx, sys\nm = onnx.load('trainable.onnx')\nb = m.training_info[0].update_binding\n"
                  "setattr(b[0], sys.argv[1], 'nowhere')\nonnx.save(m, 'broken.onnx')\n")
        for field, said in (("value", "has no output 'nowhere'"), ("key", "'nowhere': neither the model's graph")):
            if subprocess.run([PYTHON, "break.py", field], cwd=self.path, capture_output=True).returncode != 0:
                self.skipTest("python3-onnx is not here")
            text = self.train("--steps", "1", model="broken.onnx", code=3)
            self.assertIn("training info 0, update_binding", text)
            self.assertIn(said, text)

    def test_operators_without_a_gradient_are_listed_with_paths_and_remedies(self):
        self.file("forest.onnxtxt", FOREST)
        text = self.train("--steps", "1", model="forest.onnxtxt", code=4)
        self.assertIn("(TreeEnsembleRegressor): from 'w1' to 't' -> 'y'", text)
        for remedy in ("--frozen", "--stop-gradient 't'", "a function of the model"):
            self.assertIn(remedy, text)
        for remedy in (["--frozen", "w1"], ["--stop-gradient", "t"]):
            self.train(*remedy, "--optimizer", "adam", "--lr", "0.1", "--epochs", "10", "--log", "log", "--export",
                       "out.onnx", model="forest.onnxtxt")
            losses = self.losses()
            self.assertLess(losses[-1], losses[0], remedy)
        self.assertIn("the loss does not depend on it",
                      self.train("--stop-gradient", "t", "--dry-run", model="forest.onnxtxt"))
        self.assertIn("no such value", self.train("--stop-gradient", "nothing", "--steps", "1", code=2))
        text = self.ingot("grad", "forest.onnxtxt", "--of", "y", "--wrt", "x", "-o", "g.onnx", code=4)
        self.assertIn("(TreeEnsembleRegressor): from 'x' to 't' -> 'y'", text)

    def test_a_step_graph_has_no_other_domain(self):
        self.ingot("make-trainable", "net.onnx", "--step-graph", "step.onnx", "--optimizer", "adam")
        self.ingot("check", "step.onnx")
        text = self.ingot("inspect", "step.onnx")
        self.assertNotIn("ai.onnx.preview", text)
        self.assertTrue((self.path / "step.npz").exists())

    # Options.

    def test_what_is_trained_can_be_chosen(self):
        self.assertIn("frozen by 'w1'", self.train("--frozen", "w1", "--dry-run"))
        self.assertIn("not in the last 1 layers", self.train("--last", "1", "--dry-run"))
        text = self.train("--trainable", "op:Gemm", "--dry-run")
        self.assertIn("asked for by 'op:Gemm'", text)
        self.assertIn("w1 float[4,16]: frozen by '*'", self.train("--frozen", "*", "--dry-run", code=2))
        self.train("--frozen", "w1,b1", "--steps", "2", "--export", "out.onnx")
        before, after = (self.ingot("inspect", name, "--text") for name in ("net.onnx", "out.onnx"))
        row = lambda text, name: next(line for line in text.splitlines() if f" {name} = " in line)
        self.assertEqual(row(before, "w1"), row(after, "w1"))
        self.assertNotEqual(row(before, "w2"), row(after, "w2"))

    def test_schedules_clipping_and_accumulation(self):
        self.train("--schedule", "step:2,0.5", "--lr", "0.1", "--steps", "5", "--log", "log")
        rates = [json.loads(line)["lr"] for line in (self.path / "log").read_text().splitlines() if '"lr"' in line]
        self.assertEqual(rates, [0.1, 0.1, 0.05, 0.05, 0.025])
        self.assertIn("there is no schedule", self.train("--schedule", "odd", "--steps", "1", code=2))
        for clip in (["--clip-norm", "0.1"], ["--clip-tensor", "0.1"], ["--clip-value", "0.01"], ["--accumulate", "4"]):
            self.train(*clip, "--lr", "0.1", "--epochs", "5", "--log", "log")
            losses = self.losses()
            self.assertLess(losses[-1], losses[0], clip)

    def test_recomputing_gives_the_same_losses(self):
        self.train("--steps", "6", "--log", "kept")
        self.train("--steps", "6", "--recompute", "--log", "again")
        for a, b in zip(self.losses("kept"), self.losses("again")):
            self.assertAlmostEqual(a, b, delta=1e-6)

    @unittest.skipIf("INGOT_SANITIZED" in os.environ, "sanitizers keep memory that the program gave back")
    def test_recomputing_needs_less_memory(self):
        reads = ["x"] + [f"a{i}" for i in range(40)]
        deep = "".join(f"  h{i} = MatMul({reads[i]}, w{i})\n  a{i} = Tanh(h{i})\n" for i in range(40))
        weights = ", ".join(f"float[32, 32] w{i} = {{{numbers(1024)}}}" for i in range(40))
        self.file("deep.onnxtxt", '<ir_version: 10, opset_import: ["" : 21]>\nnet (float[N, 32] x) => (float[N, 32] y)\n'
                  f"<{weights}>\n{{\n{deep}  y = Identity(a39)\n}}\n")
        row = ",".join(["0.1"] * 32)
        self.file("rows.csv", ",".join(f"c{i}" for i in range(32)) + ",t\n" + (row + ",3\n") * 16384)
        peaks = []
        for extra in ([], ["--recompute"]):
            text = self.ingot("train", "deep.onnxtxt", "--data", "rows.csv", "--target", "t", "--batch", "16384", "--steps",
                              "2", *extra)
            found = re.search(r"peak memory ([\d.]+) MiB", text)
            peaks.append(float(found[1]))
        self.assertLess(peaks[1], 0.6 * peaks[0], "MiB without and with --recompute")

    def test_a_run_without_progress_ends_early(self):
        text = self.train("--lr", "0", "--epochs", "50", "--patience", "2", "--restore-best")
        self.assertIn("ended early", text)

    def test_other_forms_of_data(self):
        self.file("make.py", """
import numpy as np, onnx, pathlib
from onnx import numpy_helper
rng = np.random.default_rng(1)
y = np.arange(24) % 3
x = rng.normal(size=(24, 4)).astype(np.float32)
x[np.arange(24), y] += 2
np.savez('parts.npz', x_train=x, y_train=y, x_test=x[:6], y_test=y[:6])
np.save('x.npy', x)
np.save('y.npy', y)
np.savez('named.npz', data=x, answer=y)
for b in range(3):
    d = pathlib.Path(f'batches/test_data_set_{b}')
    d.mkdir(parents=True)
    (d / 'input_0.pb').write_bytes(numpy_helper.from_array(x[b*8:b*8+8]).SerializeToString())
    (d / 'output_0.pb').write_bytes(numpy_helper.from_array(y[b*8:b*8+8]).SerializeToString())
""")
        if subprocess.run([PYTHON, "make.py"], cwd=self.path, capture_output=True).returncode != 0:
            self.skipTest("python3-onnx is not here")
        common = ["--steps", "4", "--keep-order", "--batch", "8"]
        seen = set()
        for data in (["parts.npz", "--val-data", "parts.npz"], ["x.npy", "--target", "y.npy"], ["batches"],
                     ["named.npz", "--target", "answer", "--map", "data=x"]):
            self.ingot("train", "net.onnx", "--data", *data, *common, "--log", "log")
            seen.add(tuple(self.losses()))
        self.assertEqual(len(seen), 1, "the same examples in any form give the same losses")
        self.assertIn("6 examples", self.ingot("eval", "net.onnx", "--data", "parts.npz"))

    def test_data_that_does_not_fit_is_explained(self):
        self.assertIn("its columns are 'a', 'b', 'c', 'd', 'kind'", self.ingot(
            "train", "net.onnx", "--data", "flowers.csv", "--target", "sort", code=3))
        self.assertIn("row 1, column 'kind': 'iris' is no number", self.ingot(
            "train", "net.onnx", "--data", "flowers.csv", code=3))
        self.file("three.csv", "a,b,c,kind\n1,2,3,0\n2,1,3,1\n")
        self.assertIn("input 'x' a batch [2,3], the model wants float[N,4]", self.ingot(
            "train", "net.onnx", "--data", "three.csv", "--target", "kind", code=3))
        text = self.train("--loss", "mse", code=3)
        self.assertIn("the targets of a batch are [32], the loss wants float[N,3]", text)
        self.assertIn("cross_entropy and nll take classes", text)

    def test_a_model_of_one_example_at_a_time_is_trained(self):
        self.file("one.onnxtxt", mlp().replace("[N, ", "[4, "))
        self.train("--optimizer", "adam", "--lr", "0.01", "--epochs", "5", "--log", "log", "--export", "out.onnx",
                   model="one.onnxtxt")
        losses = self.losses()
        self.assertEqual(len(losses), 75)
        self.assertLess(losses[-1], losses[0])
        self.assertIn("over 60 examples", self.ingot("eval", "out.onnx", "--data", "flowers.csv", "--target", "kind"))
        text = self.train("--batch", "8", "--steps", "1", model="one.onnxtxt", code=2)
        self.assertIn("takes 4 examples at a time", text)
        self.file("flowers.csv", flowers(10))
        self.train("--epochs", "2", "--log", "log", model="one.onnxtxt")
        self.assertEqual(len(self.losses()), 4, "the rest of an epoch does not fit")
        self.assertIn("over 8 examples", self.ingot("eval", "one.onnxtxt", "--data", "flowers.csv", "--target", "kind"))

    def test_gradients_for_inference(self):
        self.file("square.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
        net (float[2] x) => (float[2] y) { z = Mul(x, x) y = Mul(z, x) }""")
        self.ingot("grad", "square.onnxtxt", "-o", "jacobian.onnx", "--jacobian")
        self.ingot("grad", "square.onnxtxt", "-o", "hvp.onnx", "--hvp")
        self.file("feed.py", "import numpy as np\nnp.savez('x.npz', x=np.array([2, 3], np.float32), "
                             "**{'v/x': np.array([1, 10], np.float32)})\n"
                             "np.save('x.npy', np.array([2, 3], np.float32))\n")
        if subprocess.run([PYTHON, "feed.py"], cwd=self.path, capture_output=True).returncode != 0:
            self.skipTest("numpy is not here")
        text = self.ingot("run", "jacobian.onnx", "--in", "x=x.npy", "--out", "j")
        self.ingot("run", "hvp.onnx", "--in", "x.npz", "--out", "h")
        read = ("import numpy as np, pathlib, sys\nfor d in 'jh':\n"
                "    print(np.load(next(pathlib.Path(d).rglob('*.npy'))).tolist())\n")
        found = subprocess.run([PYTHON, "-c", read], cwd=self.path, capture_output=True, text=True).stdout
        self.assertEqual(found.split("\n")[:2], ["[[12.0, 0.0], [0.0, 27.0]]", "[12.0, 180.0]"], text)

    def test_pictures_packed_by_gzip(self):
        """Four pictures of two by two in idx files, as MNIST and its likes come."""
        pixels = bytes([255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0, 255, 255, 0, 0])
        images = bytes([0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 2]) + pixels
        labels = bytes([0, 0, 8, 1, 0, 0, 0, 4, 0, 1, 2, 0])
        seen = []
        for end, pack in (("", bytes), (".gz", gzip.compress)):
            (self.path / f"images{end}").write_bytes(pack(images))
            (self.path / f"labels{end}").write_bytes(pack(labels))
            self.ingot("train", "net.onnx", "--data", f"images{end}", "--target", f"labels{end}", "--scale", "255", "--steps",
                       "3", "--keep-order", "--log", "log")
            seen.append(self.losses())
        self.assertEqual(seen[0], seen[1])
        (self.path / "short.gz").write_bytes(gzip.compress(images)[:-20])
        text = self.ingot("train", "net.onnx", "--data", "short.gz", "--target", "labels", "--steps", "1", code=3)
        self.assertIn("short.gz", text)

    # It keeps going.

    def test_numbers_that_are_not_finite_end_the_run_and_name_the_node(self):
        self.file("bad.onnxtxt", mlp(activation="Log"))
        text = self.train("--steps", "5", model="bad.onnxtxt", code=7)
        self.assertIn("(Log)", text)
        text = self.train("--lr", "1e30", "--steps", "20", code=7)
        self.assertIn("the first comes from", text)

    def interrupt(self, sig):
        (self.path / "log").unlink(missing_ok=True)
        process = subprocess.Popen([INGOT, "train", "net.onnx", "--data", "flowers.csv", "--target", "kind", "--steps",
                                    "1000000", "--checkpoint", "runs", "--every", "1000000", "--log", "log"],
                                   cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            time.sleep(0.05)
            if (self.path / "log").exists() and (self.path / "log").stat().st_size > 0:
                break
        process.send_signal(sig)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + sig, out + err)
        return [p.name for p in (self.path / "runs").iterdir()]

    def test_signals_finish_the_step_save_and_leave(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            saved = self.interrupt(sig)
            self.assertEqual(len([name for name in saved if name.startswith("step-")]), 1, saved)
            steps = int(saved[0][5:13])
            self.assertEqual(len(self.losses()), steps, "every step that was made is saved")
            for name in saved:
                (self.path / "runs" / name).unlink()

    def test_changed_settings_are_named_when_a_run_goes_on(self):
        run = ["--steps", "4", "--checkpoint", "runs"]
        self.train(*run)
        text = self.train(*run, "--batch", "7", "--resume", code=2)
        self.assertIn("batch: then 32, now 7", text)
        self.file("flowers.csv", flowers(30))
        self.assertIn("data: then", self.train(*run, "--resume", code=2))
        self.train(*run, "--resume-force")

    def test_a_damaged_checkpoint_is_passed_over_aloud(self):
        run = ["--checkpoint", "runs", "--every", "2"]
        self.train("--steps", "12", "--export", "whole.onnx", "--schedule", "constant")
        self.train("--steps", "12", *run)
        newest = self.path / "runs" / "step-00000012.npz"
        data = bytearray(newest.read_bytes())
        data[len(data) // 2] ^= 0xFF
        newest.write_bytes(data)
        text = self.train("--steps", "12", *run, "--resume", "--export", "out.onnx")
        self.assertIn("is damaged and passed over", text)
        self.assertIn("resumed after step 10", text)
        self.assertEqual(self.bytes("whole.onnx"), self.bytes("out.onnx"))

    def test_a_full_disk_leaves_the_last_checkpoint(self):
        disk = self.path / "disk"
        disk.mkdir()
        script = """set -e
            mount -t tmpfs -o size=96k tmpfs disk
            "$1" train net.onnx --data flowers.csv --target kind --steps 4 --checkpoint disk/runs --keep 2
            sha256sum disk/runs/* > before
            dd if=/dev/zero of=disk/full bs=1k 2>/dev/null || true
            code=0
            "$1" train net.onnx --data flowers.csv --target kind --steps 40 --checkpoint disk/runs --every 2 \
                --resume-force 2> error || code=$?
            sha256sum disk/runs/* > after
            rm disk/full
            "$1" train net.onnx --data flowers.csv --target kind --steps 40 --checkpoint disk/runs --resume-force
            exit $code"""
        enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("a small disk cannot be mounted here (needs root or user namespaces)")
        done = subprocess.run([*enter, "bash", "-c", script, "bash", INGOT], cwd=self.path, capture_output=True,
                              text=True, timeout=120)
        error = (self.path / "error").read_text()
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr + error)
        self.assertIn("No space left on device", error)
        self.assertEqual((self.path / "before").read_text(), (self.path / "after").read_text())

    def test_kills_at_any_moment_change_nothing(self):
        steps = "1500"
        how = ["train", "net.onnx", "--data", "flowers.csv", "--target", "kind", "--optimizer", "adam", "--steps", steps,
               "--batch", "8", "--schedule", "cosine", "-q"]
        self.ingot(*how, "--export", "whole.onnx")
        kills = rounds = 0
        while kills < KILLS:
            rounds += 1
            runs = f"runs{rounds}"
            how_far = []
            while True:
                process = subprocess.Popen([INGOT, *how, "--checkpoint", runs, "--every", "2", "--resume", "--export",
                                            "out.onnx"], cwd=self.path, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE)
                try:
                    process.wait(rng.uniform(0.02, 1.0) if kills < KILLS else 300)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    process.stderr.close()
                    kills += 1
                    continue
                self.assertEqual(process.returncode, 0, process.stderr.read().decode())
                process.stderr.close()
                break
            self.assertEqual(self.bytes("whole.onnx"), self.bytes("out.onnx"), f"after {kills} kills")
        print(f"{kills} kills in {rounds} runs: every run ended with the same bits", file=sys.stderr)

    # From TensorFlow.

    def corpus(self, name):
        if not SHARED:
            self.skipTest("the corpus is not here: no shared directory")
        return str(pathlib.Path(SHARED) / "corpus" / name)

    def test_tensorflow_models_that_train_go_on(self):
        self.file("line.py", "import numpy as np\nx = np.arange(100, dtype=np.float32) / 100\n"
                             "np.savez('line.npz', x=x, y=np.float32(0.1) * x + np.float32(0.3))\n")
        if subprocess.run([PYTHON, "line.py"], cwd=self.path, capture_output=True).returncode != 0:
            self.skipTest("numpy is not here")
        # The second leaves the rank of its input open, which ONNX does not allow.
        for name, extra in (("examples/regression_savedmodel", []),
                            ("test_resources/regression-model", ["--input-shape", "x:100"]),
                            ("examples/regression_checkpoint/model.pb", [])):
            self.ingot("convert", self.corpus("savedmodel/rust_regression/" + name), "-o", "line.onnx", "--mode",
                       "training", "--no-verify", *extra)
            self.ingot("check", "line.onnx")
            self.ingot("train", "line.onnx", "--data", "line.npz", "--batch", "100", "--steps", "200", "--keep-order",
                       "--log", "log", "--export", "out.onnx")
            losses = self.losses()
            self.assertLess(losses[-1], max(1e-10, 0.05 * losses[0]), name)
            # The stored algorithm is gradient descent on the mean square: a falling curve, step by step.
            self.assertTrue(all(b <= a * (1 + 1e-5) + 1e-12 for a, b in zip(losses, losses[1:])), name)


    def test_a_tensorflow_graph_that_only_says_how_it_begins_is_trained(self):
        """Tribuo's graph has variables and their initial values; loss and optimizer are the trainer's."""
        self.ingot("convert", self.corpus("frozen_pb/tribuo/cnn-mnist-v0.3.1.pb"), "-o", "cnn.onnx", "--mode", "training",
                   "--no-verify")
        self.ingot("check", "cnn.onnx")
        # Stripes: upright, level, and two slopes.
        rows = [bytes(255 if (x, y, x + y, x - y)[kind] % 8 < 4 else 0 for y in range(28) for x in range(28))
                for kind in range(4)]
        count = 96
        (self.path / "images").write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28]) +
                                           b"".join(rows[i % 4] for i in range(count)))
        (self.path / "labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, count]) + bytes(i % 4 for i in range(count)))
        self.ingot("train", "cnn.onnx", "--data", "images", "--target", "labels", "--optimizer", "adam", "--lr", "0.001",
                   "--batch", "16", "--epochs", "3", "--log", "log", "--export", "out.onnx")
        losses = self.losses()
        self.assertLess(losses[-1], 0.5 * losses[0])
        self.ingot("strip-training", "out.onnx", "-o", "answer.onnx")
        judged = self.ingot("eval", "answer.onnx", "--data", "images", "--target", "labels", "--json")
        self.assertGreater(json.loads(judged)["accuracy"], 0.9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=1)

#!/usr/bin/python3
"""The Python module beside numpy, pandas and onnx. Run with PYTHONPATH at <build>/python."""
import ast
import doctest
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import pandas

import ingot

TEXT = """<ir_version: 8, opset_import: ["": 17]>
small (float[N, 3] x) => (float[N, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}> {
  m = MatMul(x, w)
  y = Relu(m)
}"""


def small():
    return ingot.parse(TEXT)


class Models(unittest.TestCase):
    def test_properties_say_what_the_model_holds(self):
        model = small()
        self.assertEqual([(p.name, p.shape, p.dtype) for p in model.inputs], [("x", ["N", 3], numpy.dtype("f4"))])
        self.assertEqual([p.type for p in model.outputs], ["float[N,2]"])
        self.assertEqual((model.opset, model.opsets, model.ir_version), (17, {"": 17}, 8))
        self.assertEqual([(n.op, n.inputs, n.outputs) for n in model.nodes],
                         [("MatMul", ["x", "w"], ["m"]), ("Relu", ["m"], ["y"])])

    def test_initializers_are_views_of_the_models_bytes(self):
        contents = small().to_bytes()
        model = ingot.load(contents)
        weights = model.initializers["w"]
        numpy.testing.assert_array_equal(weights, [[1, 2], [3, 4], [5, 6]])
        self.assertFalse(weights.flags.writeable)
        self.assertFalse(weights.flags.owndata)
        start = numpy.frombuffer(contents, numpy.uint8).__array_interface__["data"][0]
        address = weights.__array_interface__["data"][0]
        self.assertTrue(start <= address < start + len(contents), "the view lies in the bytes that were given")
        del model, contents
        self.assertEqual(weights.sum(), 21)  # what it points into is still there

    def test_onnx_reads_what_we_write_and_the_other_way_round(self):
        proto = onnx.load_from_string(small().to_bytes())
        onnx.checker.check_model(proto)
        again = ingot.load(proto)
        self.assertEqual(again.to_bytes(), small().to_bytes())

    def test_attributes_become_python_values(self):
        values = {"i": 3, "f": 0.5, "s": "text", "ints": [1, 2], "floats": [0.5, 1.5], "strings": ["a", "b"]}
        tensor = onnx.numpy_helper.from_array(numpy.arange(4, dtype=numpy.int16))
        node = onnx.helper.make_node("Custom", ["x"], ["y"], domain="test", t=tensor, **values)
        x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
        y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
        proto = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y]),
                                       opset_imports=[onnx.helper.make_opsetid("test", 1)])
        attributes = ingot.load(proto, checked=False).nodes[0].attributes
        numpy.testing.assert_array_equal(attributes.pop("t"), numpy.arange(4, dtype=numpy.int16))
        self.assertEqual(attributes, values)

    def test_subgraphs_are_graphs(self):
        model = ingot.parse("""<ir_version: 8, opset_import: ["": 17]>
          g (bool c, float[1] x) => (float[1] y) {
            y = If(c) <then_branch = t () => (float[1] a) {a = Neg(x)}, else_branch = e () => (float[1] b) {b = Abs(x)}>
          }""")
        branches = model.nodes[0].attributes
        self.assertEqual([n.op for n in branches["then_branch"][0].nodes], ["Neg"])
        self.assertEqual([p.name for p in branches["else_branch"][0].outputs], ["b"])

    def test_check_lists_every_problem(self):
        problems = ingot.check(ingot.parse(TEXT.replace("Relu(m)", "Rellu(m)").replace("MatMul(x, w)", "MatMul(x)")))
        self.assertEqual({p.code for p in problems if p.severity == "error"}, {"IG0308", "IG0306"})
        self.assertIn("MatMul", "".join(p.place for p in problems))
        self.assertEqual(ingot.check(small()), [])

    def test_versions_shapes_and_optimizer_give_new_models(self):
        model = small()
        self.assertEqual(ingot.convert_version(model, 13).opset, 13)
        self.assertEqual({p.name: p.shape for p in ingot.infer_shapes(model).values}["m"], ["N", 2])
        twice = ingot.parse(TEXT.replace("y = Relu(m)", "i = Identity(m)\n y = Relu(i)"))
        optimized = ingot.optimize(twice)
        self.assertEqual([n.op for n in optimized.nodes], ["MatMul", "Relu"])
        self.assertIn("3 nodes became 2", optimized.notes)
        self.assertEqual(len(twice.nodes), 3)

    def test_formats_and_text(self):
        self.assertIn(("onnx", "ONNX", True, True), ingot.formats())
        self.assertIn("MatMul", small().text())
        self.assertIn("2 nodes, 6 parameters, opset 17", repr(small()))


class Converting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_from_file_to_file_with_a_report(self):
        source = self.folder / "small.onnx"
        ingot.save(small(), source)
        report = ingot.convert(source, self.folder / "small.tflite", input_shapes={"x": [2, 3]}, verify=False)
        self.assertEqual((report.from_format, report.to_format), ("onnx", "tflite"))
        self.assertIsNone(report.verified)
        x = numpy.float32([[1, 2, 3], [-1, -2, -3]])
        self.assertEqual(ingot.Session(self.folder / "small.tflite").run({"x": x})["y"].tolist(), [[22, 28], [0, 0]])

    def test_of_a_model_in_memory(self):
        changed = ingot.convert(small(), opset=21, rename={"x": "image"}, input_shapes={"x": [4, 3]})
        self.assertEqual((changed.opset, changed.inputs[0].name, changed.inputs[0].shape), (21, "image", [4, 3]))
        report = ingot.convert(small(), self.folder / "out.onnx", opset=13)
        self.assertEqual(onnx.load(self.folder / "out.onnx").opset_import[0].version, 13)
        self.assertIsNone(report.verified)

    def test_unknown_options_are_refused(self):
        with self.assertRaisesRegex(TypeError, "'opsett'"):
            ingot.convert(small(), opsett=3)
        with self.assertRaisesRegex(ingot.UsageError, "model in memory"):
            ingot.convert(small(), dequantize=True)

    def test_verify_tells_models_apart(self):
        same = ingot.verify(small(), small(), a_runtimes=["ingot"], b_runtimes=["ingot"])
        self.assertTrue(same, same.why_unknown)
        other = ingot.parse(TEXT.replace("Relu(m)", "Neg(m)"))
        verdict = ingot.verify(small(), other, a_runtimes=["ingot"], b_runtimes=["ingot"])
        self.assertEqual((verdict.answer, bool(verdict)), ("different", False))
        self.assertEqual(verdict.outputs[0].name, "y")

    def test_the_program_is_in_the_module(self):
        path = self.folder / "small.onnx"
        ingot.save(small(), path)
        run = subprocess.run([sys.executable, "-m", "ingot", "inspect", path], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("MatMul", run.stdout)
        run = subprocess.run([sys.executable, "-m", "ingot", "inspect", "missing"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 6)


class Running(unittest.TestCase):
    def test_numbers_are_numpys(self):
        x = numpy.random.default_rng(1).standard_normal((5, 3)).astype("f4")
        expected = numpy.maximum(x @ numpy.float32([[1, 2], [3, 4], [5, 6]]), 0)
        session = ingot.Session(small())
        numpy.testing.assert_allclose(session.run({"x": x})["y"], expected, rtol=1e-6)
        numpy.testing.assert_allclose(session(x), expected, rtol=1e-6)
        numpy.testing.assert_allclose(session.run(x[::-1])["y"], expected[::-1], rtol=1e-6)  # not contiguous
        self.assertEqual(session.run({"x": numpy.zeros((0, 3), "f4")})["y"].shape, (0, 2))
        self.assertEqual(session.run({"x": [[1, 1, 1]]})["y"].tolist(), [[9, 12]])  # lists have no type of their own

    def test_every_type_passes_through(self):
        for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"):
            value = numpy.array([[0, 1], [1, 0]], name)
            graph = ingot.Graph()
            graph.output("y", graph.Identity(graph.input("x", value.dtype, [2, 2])))
            result = ingot.Session(graph.build()).run({"x": value})["y"]
            self.assertEqual(result.dtype, value.dtype)
            numpy.testing.assert_array_equal(result, value)
            self.assertFalse(numpy.shares_memory(result, value))
        graph = ingot.Graph()
        graph.output("y", graph.Identity(graph.input("x", str, [2])))
        self.assertEqual(ingot.Session(graph.build()).run({"x": numpy.array(["a", "ä"])})["y"].tolist(), ["a", "ä"])

    def test_sequences_and_optionals(self):
        model = ingot.parse("""<ir_version: 8, opset_import: ["": 17]>
          g (seq(float[N]) s) => (int64 n, seq(float[N]) t) {n = SequenceLength(s)  t = SequenceErase(s)}""")
        result = ingot.Session(model).run({"s": [numpy.float32([1]), numpy.float32([2, 3])]})
        self.assertEqual((result["n"], [t.tolist() for t in result["t"]]), (2, [[1]]))

    def test_wrong_inputs_say_which(self):
        session = ingot.Session(small())
        with self.assertRaises(ingot.InputError) as caught:
            session.run({"x": numpy.zeros((1, 3))})
        self.assertIn("'x'", str(caught.exception))
        self.assertEqual((caught.exception.code, caught.exception.name), ("IG1002", "bad_input"))
        with self.assertRaises(ingot.Error):
            session.run({"z": 1})
        with self.assertRaises(ingot.Error):
            session.run({})

    def test_tables_feed_models_with_an_input_per_column(self):
        graph = ingot.Graph()
        a, b = graph.input("a", "float32", ["N", 1]), graph.input("b", "int64", ["N", 1])
        graph.output("y", a + graph.Cast(b, to=numpy.float32))
        session = ingot.Session(graph.build())
        frame = pandas.DataFrame({"b": [1, 2, 3], "a": [0.5, 1.5, 2.5], "unused": ["x", "y", "z"]})
        self.assertEqual(session.run(frame)["y"].tolist(), [[1.5], [3.5], [5.5]])
        columns = {"a": numpy.float32([1, 2]), "b": numpy.int64([3, 4])}
        self.assertEqual(session.run(columns)["y"].tolist(), [[4], [6]])
        with self.assertRaisesRegex(ValueError, "does not have"):
            session.run(pandas.DataFrame({"a": [1.0], "b": [1.5]}))
        matrix = ingot.Session(small()).run(pandas.DataFrame({"p": [1.0], "q": [1.0], "r": [1.0]}))
        self.assertEqual(matrix["y"].tolist(), [[9, 12]])

    def test_dlpack_in_and_out(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, stream=None):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        y = ingot.Session(small()).run({"x": Foreign(numpy.ones((1, 3), "f4"))})["y"]
        self.assertEqual(numpy.from_dlpack(y).tolist(), [[9, 12]])

    def test_threads_run_at_once(self):
        session = ingot.Session(slow_model(), threads=1)
        ticks = []
        thread = threading.Thread(target=lambda: session.run(slow_inputs()))
        thread.start()
        while thread.is_alive():
            ticks.append(time.monotonic())
            time.sleep(0.005)
        self.assertGreater(len(ticks), 5, "the interpreter goes on while a model runs")

    def test_ctrl_c_ends_a_run_and_the_session_lives_on(self):
        session = ingot.Session(slow_model(), threads=1)
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                session.run(slow_inputs())
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(session.run({"x": numpy.zeros((1, 1), "f4"), "n": 1})["y"].shape, (1, 1))


def slow_model():
    """Multiplies a matrix by itself n times."""
    return ingot.parse("""<ir_version: 8, opset_import: ["": 17]>
      g (float[K, K] x, int64 n) => (float[K, K] y) {
        y = Loop(n, , x) <body = b (int64 i, bool c, float[K, K] v) => (bool go, float[K, K] w) {
          go = Identity(c)  w = MatMul(v, x)}>
      }""")


def slow_inputs():
    return {"x": numpy.eye(400, dtype="f4"), "n": 60}


class Building(unittest.TestCase):
    def test_operators_are_methods_and_arrays_become_weights(self):
        graph = ingot.Graph(opset=18)
        x = graph.input("x", "float32", [None, 4])
        values, places = graph.TopK(x * 2 + 1, numpy.int64([2]), axis=1, outputs=2)
        graph.output("values", values)
        graph.output("places", places)
        model = graph.build()
        self.assertEqual(model.opset, 18)
        result = ingot.Session(model).run({"x": numpy.float32([[1, 4, 2, 3]])})
        self.assertEqual((result["values"].tolist(), result["places"].tolist()), ([[9, 7]], [[1, 3]]))

    def test_all_problems_come_at_once(self):
        graph = ingot.Graph()
        x = graph.input("x", "float32", [2])
        graph.output("a", graph.Nonsense(x))
        graph.output("b", graph.Softmax(x, axis="one"))
        with self.assertRaises(ingot.InputError) as caught:
            graph.build()
        self.assertIn("Nonsense", str(caught.exception))
        self.assertIn("axis", str(caught.exception))


class Training(unittest.TestCase):
    def model(self):
        graph = ingot.Graph()
        x = graph.input("x", "float32", ["N", 2])
        graph.output("logits", graph.Gemm(x, graph.initializer("w", numpy.zeros((2, 2), "f4")),
                                          graph.initializer("b", numpy.zeros(2, "f4"))))
        return graph.build()

    def data(self):
        x = numpy.random.default_rng(0).standard_normal((256, 2)).astype("f4")
        return {"x": x, "label": (x[:, 0] > x[:, 1]).astype("i8")}

    def test_fit_learns_and_tells_of_each_step(self):
        seen = []
        trainer = ingot.Trainer(self.model(), loss="cross_entropy", optimizer="adam", lr=0.1)
        report = trainer.fit(self.data(), "label", batch=32, epochs=4,
                             on_step=lambda step, steps, loss, lr: seen.append((step, steps, loss)))
        self.assertEqual((report["steps"], len(seen), seen[-1][1]), (32, 32, 32))
        self.assertLess(report["last_loss"], report["first_loss"] / 2)
        self.assertGreater(ingot.evaluate(trainer.trained(), self.data(), "label")["accuracy"], 0.95)

    def test_callbacks_end_runs(self):
        trainer = ingot.Trainer(self.model(), optimizer="sgd", lr=0.1)
        report = trainer.fit(self.data(), "label", batch=32, epochs=9, on_step=lambda step, *rest: step < 5)
        self.assertTrue(report["stopped"])
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            trainer.fit(self.data(), "label", on_step=lambda *all: 1 / 0)

    def test_steps_by_hand(self):
        trainer = ingot.Trainer(self.model(), loss="cross_entropy", optimizer="sgd", lr=0.5)
        data = self.data()
        losses = [trainer.step({"x": data["x"], trainer.target_name: data["label"]}) for _ in range(10)]
        self.assertAlmostEqual(losses[0], numpy.log(2), places=5)
        self.assertLess(losses[-1], losses[0])
        with self.assertRaisesRegex(TypeError, "no option 'lrr'"):
            ingot.Trainer(self.model(), lrr=1)


class Errors(unittest.TestCase):
    def test_fields_and_classes(self):
        with self.assertRaises(ingot.FileError) as caught:
            ingot.load("/nowhere/model.onnx")
        error = caught.exception
        self.assertIsInstance(error, OSError)
        self.assertEqual((error.code, error.exit_code, error.file), ("IG0101", 6, "/nowhere/model.onnx"))
        self.assertIn("[IG0101]", str(error))
        with self.assertRaises(ingot.InputError) as caught:
            ingot.load(b"no model")
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(ingot.Error) as caught:
            ingot.convert_version(small(), 99)
        self.assertTrue(caught.exception.hint or caught.exception.message)

    def test_errors_of_nodes_name_them(self):
        model = ingot.parse("""<ir_version: 8, opset_import: ["": 17]>
          g (float[N] x, int64[1] i) => (float[1] y) {
            [picks] y = Gather <axis = 0> (x, i)
          }""")
        with self.assertRaises(ingot.Error) as caught:
            ingot.Session(model).run({"x": numpy.float32([1, 2]), "i": numpy.int64([7])})
        self.assertEqual((caught.exception.node, caught.exception.op), ("picks", "Gather"))


class Docs(unittest.TestCase):
    def test_the_guide_says_what_happens(self):
        page = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "python.md"
        result = doctest.testfile(str(page), module_relative=False)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 30)


class Stubs(unittest.TestCase):
    def test_they_name_all_that_is_public(self):
        folder = pathlib.Path(ingot.__file__).parent
        stub = ast.parse((folder / "__init__.pyi").read_text())
        named = {n.name for n in stub.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        named |= {a.asname for n in stub.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
        self.assertEqual(named, set(ingot.__all__))
        for cls in (n for n in stub.body if isinstance(n, ast.ClassDef)):
            for member in (n.name for n in cls.body if isinstance(n, ast.FunctionDef)):
                self.assertTrue(hasattr(getattr(ingot, cls.name), member), f"{cls.name}.{member}")
        for name in ingot.__all__:
            self.assertTrue(getattr(ingot, name).__doc__, f"{name} has no docstring")


if __name__ == "__main__":
    unittest.main()

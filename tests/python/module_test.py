#!/usr/bin/python3
"""The Python module beside numpy, pandas and onnx. Run with PYTHONPATH at <build>/python."""
import ast
import copy
import ctypes
import doctest
import inspect
import multiprocessing
import os
import pathlib
import pickle
import re
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

    def test_nodes_and_weights_are_made_once_and_lists_are_the_users(self):
        model = small()
        self.assertIs(model.nodes[0], model.nodes[0])
        self.assertIs(model.initializers["w"], model.initializers["w"])
        model.nodes.clear()
        model.initializers.clear()
        self.assertEqual((len(model.nodes), list(model.initializers)), (2, ["w"]))
        node = model.nodes[1]
        del model
        self.assertEqual(node.op, "Relu")

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

    def test_an_open_file_is_read(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(small().to_bytes())
            file.seek(0)
            self.assertEqual(len(ingot.load(file).nodes), 2)

    def test_an_open_file_is_taken_wherever_a_model_is(self):
        with tempfile.TemporaryDirectory() as folder:
            source, result = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.tflite")
            ingot.save(small(), source)
            with open(source, "rb") as file:
                ingot.convert(file, result, input_shapes={"x": [1, 3]})
            self.assertTrue(os.path.getsize(result))
            for use in (lambda file: ingot.report(file, os.path.join(folder, "site"))[0]["file"],
                        lambda file: ingot.verify(file, a_runtimes=["ingot"], b_runtimes=["ingot"]).answer,
                        lambda file: ingot.diff(file, small(), report=os.path.join(folder, "d.html"))):
                with open(source, "rb") as file:
                    use(file)
            with open(source, encoding="latin-1") as file, self.assertRaisesRegex(ingot.UsageError, "as text"):
                ingot.load(file)  # and its content is no name of a file either

    def test_models_and_sessions_go_to_other_processes(self):
        model = small()
        self.assertIs(copy.deepcopy([model])[0], model)
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual(again.text(), model.text())
        session = pickle.loads(pickle.dumps(ingot.Session(model, threads=1, fast=False)))
        x = numpy.ones((2, 3), "f4")
        numpy.testing.assert_array_equal(session(x), ingot.Session(model)(x))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            numpy.testing.assert_array_equal(pool.apply(ingot.Session(model), (x,)), session(x))

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
        with self.assertRaisesRegex(ingot.UsageError, "without one"):
            ingot.convert(small(), external_data=True)
        with self.assertRaisesRegex(ingot.UsageError, "by themselves"):
            ingot.convert(small(), half_ports=True)
        source = self.folder / "small.onnx"
        ingot.save(small(), source)
        with self.assertRaisesRegex(ingot.UsageError, "convert.. changes models"):
            ingot.load(source, opset=13)
        with self.assertRaises(ingot.UsageError):
            ingot.load(source, raw_scores=True)  # ONNX has none

    def test_a_shape_is_a_list(self):
        for use in (lambda: ingot.convert(small(), input_shapes={"x": "1,3"}), lambda: ingot.Graph().input("x", "float32", "N3")):
            with self.assertRaisesRegex(ingot.UsageError, "is a text"):
                use()

    def test_every_option_of_the_program_is_one_of_convert(self):
        run = subprocess.run([sys.executable, "-m", "ingot", "convert", "--help"], capture_output=True, text=True)
        flags = {word.removeprefix("--").replace("-", "_") for word in re.findall(r"(?m)^ +(?:-., *)?(--[a-z0-9-]+)", run.stdout)}
        self.assertGreater(len(flags), 40, run.stdout)
        renamed = {"for": "target", "input_shape": "input_shapes", "input_type": "input_types", "in": "verify_inputs",
                   "input_value": "input_values", "from": "from_format", "to": "to_format", "random": "seed",
                   "no_verify": "verify"}
        not_here = {"help", "output", "json", "report"}  # the Report object is what these write
        self.assertEqual(sorted(set(ingot.convert_options())), sorted(ingot.convert_options()))
        here = set(ingot.convert_options()) | set(inspect.signature(ingot.convert).parameters)
        self.assertEqual({renamed.get(flag, flag) for flag in flags - not_here} - here, set())

    def test_progress_tells_the_stages_and_an_exception_ends_it(self):
        source, stages = self.folder / "small.onnx", []
        ingot.save(small(), source)
        ingot.convert(source, self.folder / "small.tflite", input_shapes={"x": [2, 3]}, on_progress=stages.append,
                      verify=False)
        self.assertEqual(stages, ["read", "convert", "write"])

        def stop(stage):
            if stage == "write":
                raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            ingot.convert(source, self.folder / "never.tflite", input_shapes={"x": [2, 3]}, on_progress=stop)
        self.assertFalse((self.folder / "never.tflite").exists())

    def test_what_is_read_from_others_takes_their_options(self):
        program = self.folder / "prepare.py"
        program.write_text("def prepare(df):\n    df['b'] = df['a'] * 2 + 1\n    return df[['b']]\n")
        model = ingot.load(program, schema={"a": "float"})
        self.assertEqual([port.name for port in model.inputs], ["a"])
        result = ingot.Session(model).run(pandas.DataFrame({"a": [1.0, 2.0]}))
        self.assertEqual(numpy.ravel(list(result.values())[0]).tolist(), [3, 5])
        self.assertEqual(ingot.convert(program, schema={"a": "float"}, opset=18).opset, 18)
        ingot.convert(program, self.folder / "prepare.onnx", schema="a:float", verify=False)
        self.assertEqual(onnx.load(self.folder / "prepare.onnx").graph.input[0].name, "a")

    def test_verification_can_be_told_on_what(self):
        source = self.folder / "small.onnx"
        ingot.save(small(), source)
        report = ingot.convert(source, self.folder / "newer.onnx", opset=21, seed=5, seeds=2)
        self.assertTrue(report.verified, report.not_verified)
        self.assertIn("seed", " ".join(report.verdict.inputs))
        with self.assertRaises(ingot.UsageError):
            ingot.convert(source, self.folder / "newer.onnx", opset=21, seed=5, verify=False)

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
        with self.assertRaisesRegex(ingot.UsageError, "2 inputs are given, and the model has 1"):
            session(x, x)
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

    def test_what_is_no_array_is_refused_as_everything_is(self):
        session = ingot.Session(small())
        masked = numpy.ma.masked_array(numpy.ones((1, 3), "f4"), [[True, False, False]])
        for value, said in ((masked, "masked"), ("abc", "could not convert"), ([[1, 2], [3]], "inhomogeneous"),
                            (object(), "float"), (10 ** 400, "too large"), (numpy.zeros((1, 3), "M8[s]"), "datetime64")):
            with self.subTest(said), self.assertRaisesRegex(ingot.InputError, f"input 'x': .*{said}"):
                session.run({"x": value})
        self.assertEqual(session.run({"x": numpy.ma.masked_array(numpy.ones((1, 3), "f4"))})["y"].tolist(), [[9, 12]])
        with self.assertRaisesRegex(TypeError, "names are texts, and 1 is none"):
            session.run({1: numpy.ones((1, 3), "f4")})
        with self.assertRaises(UnicodeEncodeError):
            session.run({"\ud800": 1})

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

    def test_numbers_of_tables_that_a_type_does_not_have_are_refused(self):
        session = ingot.Session(ingot.parse('<ir_version: 8, opset_import: ["": 17]> g (float[N,1] a) => (float[N,1] y) {y = Abs(a)}'))
        rounded = session.run(pandas.DataFrame({"a": [0.1, numpy.inf, -numpy.inf, numpy.nan]}))["y"].ravel()
        numpy.testing.assert_array_equal(rounded, numpy.float32([0.1, numpy.inf, numpy.inf, numpy.nan]))
        for bad in ([1.0, 1e300], [2**24 + 1, 0], [None, -1e300]):
            with self.assertRaisesRegex(ingot.InputError, "does not have"):
                session.run(pandas.DataFrame({"a": bad}))

    def test_columns_may_be_lists_series_and_have_gaps(self):
        graph = ingot.Graph()
        a, t = graph.input("a", "float32", ["N", 1]), graph.input("t", str, ["N", 1])
        graph.output("y", graph.Identity(a))
        graph.output("u", graph.Identity(t))
        session = ingot.Session(graph.build())
        result = session.run({"a": [1, 2], "t": ["p", "q"]})
        self.assertEqual((result["y"].tolist(), result["u"].tolist()), ([[1], [2]], [["p"], ["q"]]))
        frame = pandas.DataFrame({"a": pandas.array([1, None], "Int64"), "t": ["p", None]})
        for feeds in (frame, {"a": frame["a"], "t": frame["t"]}):
            result = session.run(feeds)
            self.assertEqual(result["u"].tolist(), [["p"], [""]])  # a missing text is the empty one
            self.assertTrue(numpy.isnan(result["y"][1, 0]))
        with self.assertRaisesRegex(ValueError, "'a' holds values that are no float"):
            session.run(pandas.DataFrame({"a": ["x"], "t": ["p"]}))
        with self.assertRaisesRegex(ValueError, r"no columns \['t'\]"):
            session.run(pandas.DataFrame({"a": [1.0]}))

    def test_tensors_of_torch_go_in_and_out(self):
        try:
            import torch
        except ImportError:
            self.skipTest("python3-torch is not installed")
        x = torch.ones(2, 3)
        y = ingot.Session(small()).run({"x": x})["y"]
        self.assertEqual(torch.from_dlpack(y).tolist(), [[9, 12], [9, 12]])
        graph = ingot.Graph()
        graph.output("y", graph.Identity(graph.input("x", "bfloat16", [3])))
        halves = torch.tensor([1.0, -2.5, 3.0], dtype=torch.bfloat16)
        bits = ingot.Session(graph.build()).run({"x": halves})["y"]
        self.assertEqual(torch.from_dlpack(bits.view("i2")).view(torch.bfloat16).tolist(), [1, -2.5, 3])
        across = torch.arange(6.0).reshape(3, 2).t()  # not row by row
        expected = numpy.maximum(across.numpy() @ small().initializers["w"], 0)
        numpy.testing.assert_array_equal(ingot.Session(small())(across), expected)
        with self.assertRaisesRegex(ingot.InputError, "'x'"):
            ingot.Session(small()).run({"x": x.double()})
        session = ingot.Session(small())
        kept = session.run({"x": x}, copy=False)
        del x
        self.assertEqual(kept["y"].tolist(), [[9, 12], [9, 12]])

    def test_nothing_is_copied_on_the_way_in_or_out(self):
        session = ingot.Session(ingot.parse(
            '<ir_version: 8, opset_import: ["": 17]> g (float[2, 3] x) => (float[2, 3] y) {y = Identity(x)}'))
        x = numpy.arange(6, dtype="f4").reshape(2, 3)
        y = session.run({"x": x}, copy=False)["y"]
        self.assertEqual(address(y), address(x), "a contiguous array is read where it is")
        self.assertNotEqual(address(session.run({"x": x})["y"]), address(x), "outputs are the caller's own")
        self.assertEqual(address(numpy.from_dlpack(session.run({"x": x})["y"])) % 4, 0)
        try:
            import torch
        except ImportError:
            return
        tensor = torch.arange(6.0).reshape(2, 3)
        y = session.run({"x": tensor}, copy=False)["y"]
        self.assertEqual(address(y), tensor.data_ptr())
        own = session.run({"x": tensor})["y"]
        shared = torch.from_dlpack(own)
        self.assertEqual(shared.data_ptr(), address(own))
        shared[0, 0] = 7
        self.assertEqual(own[0, 0], 7)
        del own
        self.assertEqual(shared[0, 0], 7)  # the memory lives as long as the tensor

    def test_frames_hold_categories_texts_and_gaps(self):
        graph = ingot.Graph()
        ports = {"kind": str, "note": str, "count": "int64", "size": "float32", "on": bool}
        for name, dtype in ports.items():
            graph.output(name + "_out", graph.Identity(graph.input(name, dtype, ["N", 1])))
        session = ingot.Session(graph.build())
        frame = pandas.DataFrame({
            "kind": pandas.Categorical(["red", None, "blue"]),
            "note": pandas.array(["a", pandas.NA, "ü"], "string"),
            "count": pandas.array([1, 2, 3], "Int64"),
            "size": pandas.array([0.5, None, 2], "Float64"),
            "on": pandas.array([True, False, True], "boolean"),
        })
        out = {name: values[:, 0].tolist() for name, values in session.run(frame).items()}
        self.assertEqual(out["kind_out"], ["red", "", "blue"])
        self.assertEqual(out["note_out"], ["a", "", "ü"])
        self.assertEqual((out["count_out"], out["on_out"]), ([1, 2, 3], [True, False, True]))
        self.assertEqual(out["size_out"][::2], [0.5, 2])
        self.assertTrue(numpy.isnan(out["size_out"][1]))
        for column, values in (("count", pandas.array([1, None, 3], "Int64")), ("count", [1, 2, 2**40 + 0.5]),
                               ("on", pandas.array([True, None, True], "boolean"))):
            with self.assertRaisesRegex(ingot.InputError, column):  # an integer cannot be missing
                session.run(frame.assign(**{column: values}))

    def test_dlpack_that_lies_is_refused(self):
        class Tensor(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int), ("id", ctypes.c_int), ("rank", ctypes.c_int),
                        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                        ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        numbers = (ctypes.c_float * 6)(1, 2, 3, -4, -5, -6)
        shapes = []

        class Liar:
            def __init__(self, rank=2, shape=(2, 3), device=1, data=ctypes.addressof(numbers)):
                shapes.append((ctypes.c_int64 * len(shape))(*shape) if shape else None)
                self.tensor = Tensor(data, device, 0, rank, 2, 32, 1, shapes[-1], None, 0, None, None)

            def __dlpack__(self, **_):
                return capsule(ctypes.addressof(self.tensor), b"dltensor", None)

            def __dlpack_device__(self):
                return 1, 0

        session = ingot.Session(small())
        session.run({"x": Liar()})
        for liar in (Liar(shape=None), Liar(rank=1 << 30), Liar(rank=-1), Liar(device=2), Liar(shape=(2, -3)), Liar(data=None),
                     Liar(shape=(1 << 40, 1 << 40))):
            with self.assertRaises(ingot.Error):
                session.run({"x": liar})

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

    def test_a_run_begins_and_ends_while_another_runs(self):
        session = ingot.Session(slow_model(), threads=1)
        long = threading.Thread(target=lambda: session.run({**slow_inputs(), "n": 400}))
        long.start()
        ended = []
        short = threading.Thread(target=lambda: ended.append(session.run({"x": numpy.eye(2, dtype="f4"), "n": 3})))
        short.start()
        short.join()
        self.assertTrue(long.is_alive(), "the short run did not wait for the long one")
        self.assertEqual(ended[0]["y"].tolist(), [[1, 0], [0, 1]])
        long.join()

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

    def test_threads_that_work_when_python_ends_do_not_end_it_badly(self):
        work = """
import threading, time, numpy, ingot
session = ingot.Session(ingot.parse('<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (float[N] y) {y = Relu(x)}'))
graph = ingot.Graph()
x = graph.input("x", "float32", ["N", 2])
graph.output("y", graph.MatMul(x, numpy.zeros((2, 2), "f4")))
trainer = ingot.Trainer(graph.build(), loss="mse", optimizer="sgd", lr=0.1)
data = {"x": numpy.ones((64, 2), "f4"), "t": numpy.ones((64, 2), "f4")}
def runs():
    while True:
        session.run({"x": numpy.ones(1000, "f4")})
def trains():
    trainer.fit(data, "t", batch=1, epochs=10**6, on_step=lambda *all: None)
for job in (runs, runs, trains):
    threading.Thread(target=job, daemon=True).start()
time.sleep(0.5)
"""
        for _ in range(4):  # several at once, so that threads are stopped wherever they are
            running = [subprocess.Popen([sys.executable, "-c", work], stderr=subprocess.PIPE, text=True) for _ in range(4)]
            for process in running:
                said = process.communicate(timeout=100)[1]
                self.assertEqual((process.returncode, said), (0, ""))


def address(array):
    return array.__array_interface__["data"][0]


def slow_model():
    """Multiplies a matrix by itself n times."""
    return ingot.parse("""<ir_version: 8, opset_import: ["": 17]>
      g (float[K, K] x, int64 n) => (float[K, K] y) {
        y = Loop(n, , x) <body = b (int64 i, bool c, float[K, K] v) => (bool go, float[K, K] w) {
          go = Identity(c)  w = MatMul(v, x)}>
      }""")


def slow_inputs():
    return {"x": numpy.eye(400, dtype="f4"), "n": 60}


class Editing(unittest.TestCase):
    X = numpy.float32([[1, 2, 3], [-1, -2, -3]])

    def test_parts_run_as_the_whole_does(self):
        whole = ingot.Session(small())(self.X)
        parts = ingot.split(small(), at=["m"])
        self.assertEqual([(name, [n.op for n in part.nodes]) for name, part in parts.items()],
                         [("part_0", ["MatMul"]), ("part_1", ["Relu"])])
        middle = ingot.Session(parts["part_0"])(self.X)
        numpy.testing.assert_array_equal(ingot.Session(parts["part_1"])(middle), whole)
        merged = ingot.merge(parts["part_0"], parts["part_1"])
        numpy.testing.assert_array_equal(ingot.Session(merged)(self.X), whole)
        tail = ingot.extract(small(), inputs="m")
        self.assertEqual([p.name for p in tail.inputs], ["m"])
        numpy.testing.assert_array_equal(ingot.Session(tail)(middle), whole)

    def test_merge_connects_by_name_and_tells_what_it_changed(self):
        other = ingot.parse('<ir_version: 8, opset_import: ["": 13]> g (float[N, 2] z) => (float[N, 2] o) {o = Neg(z)}')
        both = ingot.merge(small(), other, {"y": "z"})
        self.assertEqual((both.opset, [n.op for n in both.nodes]), (17, ["MatMul", "Relu", "Neg"]))
        self.assertIn("ai.onnx of the second model moves to opset 17", both.notes)
        with self.assertRaises(ingot.Error):
            ingot.merge(small(), other, {"nowhere": "z"})

    def test_names_change_and_the_numbers_stay(self):
        renamed = ingot.rename(small(), {"x": "a", "y": "b"}, dims={"N": 2}, prefix="p/")
        self.assertEqual([p.type for p in renamed.inputs], ["float[2,3]"])
        self.assertEqual(list(renamed.initializers), ["p/w"])
        numpy.testing.assert_array_equal(ingot.Session(renamed).run({"a": self.X})["b"], ingot.Session(small())(self.X))
        for call in (lambda: ingot.rename(small()), lambda: ingot.extract(small()), lambda: ingot.split(small())):
            with self.assertRaises(ingot.UsageError) as caught:
                call()
            self.assertTrue(caught.exception.code.startswith("IG"))

    def test_diff_tells_nodes_and_weights(self):
        self.assertTrue(ingot.diff(small(), small()).same)
        other = ingot.parse(TEXT.replace("Relu(m)", "Tanh(m)").replace("5, 6", "5, 7"))
        difference = ingot.diff(small(), other)
        self.assertFalse(difference.same)
        self.assertEqual(difference.operators, {"Relu": (1, 0), "Tanh": (0, 1)})
        weight, = difference.weights
        self.assertEqual((weight.name, weight.differing, weight.elements, weight.largest), ("w", 1, 6, 1))

    def test_code_compiles_and_a_bad_word_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            made = ingot.compile(small(), pathlib.Path(folder) / "net", emit="c", input_shapes={"x": [2, 3]})
            self.assertTrue(made.static and made.weight_bytes >= 24)
            sources = [file for file in made.files if file.endswith(".c")]
            subprocess.run(["cc", "-o", folder + "/t", *sources, "-lm"], check=True, cwd=folder)
            subprocess.run([folder + "/t"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
            for words in ({"emit": "fortran"}, {"emit": "matlab", "threads": True}, {"target": "z80"},
                          {"weights": "nowhere"}, {"emit": "c", "threads": True}):
                with self.assertRaises(ingot.UsageError, msg=words):
                    ingot.compile(small(), folder + "/other", **words)
            self.assertFalse(list(pathlib.Path(folder).glob("other*")))

    def test_pages_are_written_and_problems_are_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = ingot.report(small(), folder + "/site", input_shapes={"x": [4, 3]})
            self.assertIn("MatMul", pathlib.Path(pages[0]["file"]).read_text())
            other = ingot.parse(TEXT.replace("Relu", "Tanh"))
            self.assertFalse(ingot.diff(small(), other, report=folder + "/diff.html").same)
            self.assertIn("Tanh", pathlib.Path(folder, "diff.html").read_text())
            with self.assertRaises(ingot.Error) as caught:
                ingot.report(folder + "/nothing.onnx", folder + "/site")
            self.assertIsInstance(caught.exception, OSError)
            self.assertIn("nothing.onnx", str(caught.exception))
            pages = ingot.report([small(), folder + "/nothing.onnx"], folder + "/site")
            self.assertEqual(["problem" in page for page in pages], [False, True])

    def test_the_zoo_is_walked_once(self):
        with tempfile.TemporaryDirectory() as folder:
            ingot.save(small(), folder + "/a.onnx")
            pathlib.Path(folder, "bad.onnx").write_bytes(b"no model")
            found = {one["path"]: one["converted"] for one in ingot.zoo_report(folder, folder + "/zoo", verify=False)}
            self.assertEqual(found, {"a.onnx": True, "bad.onnx": False})
            self.assertTrue(pathlib.Path(folder, "zoo", "index.html").is_file())


class Smaller(unittest.TestCase):
    def model(self):
        draw = numpy.random.default_rng(2)
        graph = ingot.Graph()
        x = graph.input("x", "float32", ["N", 16])
        hidden = graph.Relu(x @ draw.standard_normal((16, 32)).astype("f4"))
        graph.output("y", hidden @ draw.standard_normal((32, 4)).astype("f4"))
        return graph.build()

    def data(self):
        return {"x": numpy.random.default_rng(3).standard_normal((200, 16)).astype("f4")}

    def test_quantized_models_are_judged_on_what_was_held_back(self):
        seen = []
        made = ingot.quantize(self.model(), self.data(), on_progress=lambda done, total: seen.append((done, total)))
        self.assertEqual((made.nodes, made.kept), (3, []))
        self.assertEqual(made.outputs[0].rows, 40)
        self.assertGreater(made.outputs[0].decibels, 25)
        self.assertGreaterEqual(made.outputs[0].same_class, 36)
        self.assertEqual({kept[0]: kept[2] * 4 for kept in made.weights}, {kept[0]: kept[1] for kept in made.weights})
        self.assertEqual(seen[-1], (len(seen), len(seen)))
        self.assertIn("QuantizeLinear", [node.op for node in made.model.nodes])
        x = self.data()["x"]
        floats = ingot.Session(self.model())(x)
        far = (ingot.Session(made.model)(x) - floats).std() / floats.std()
        self.assertTrue(0 < far < 0.05, far)

    def test_other_methods_need_no_data(self):
        dynamic = ingot.quantize(self.model(), method="dynamic")
        self.assertIn("MatMulInteger", [node.op for node in dynamic.model.nodes])
        weights = ingot.quantize(self.model(), method="weights", bits=4, block=16, exclude=["Relu"])
        self.assertEqual(weights.opset, 21)
        frame = pandas.DataFrame(self.data()["x"], columns=[f"c{i}" for i in range(16)])
        self.assertEqual(ingot.quantize(self.model(), {"x": frame.to_numpy()}, activations="uint8").nodes, 3)
        with self.assertRaisesRegex(ingot.UsageError, "ranges are found on data"):
            ingot.quantize(self.model())
        with self.assertRaisesRegex(ingot.UsageError, "'statik'"):
            ingot.quantize(self.model(), method="statik")

    def test_parts_go_to_targets_and_fallbacks_say_why(self):
        self.assertIn("ingot", ingot.targets())
        divided = ingot.partition(self.model(), ["ingot"])
        self.assertEqual([(part.name, part.target, part.nodes) for part in divided.parts], [("part_0", "ingot", 3)])
        x = self.data()["x"][:2]
        numpy.testing.assert_array_equal(ingot.Session(divided.parts[0].model)(x), ingot.Session(self.model())(x))
        model = ingot.parse("""<ir_version: 8, opset_import: ["": 17]>
          g (float[2] x) => (float[2] y) {a = Relu(x)  [strange] b = Hardmax(a)  y = Relu(b)}""")
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "npu.json"
            target.write_text('{"name": "npu", "operators": {"Relu": {}}}')
            divided = ingot.partition(model, [target, "ingot"])
        self.assertEqual([part.target for part in divided.parts], ["npu", "ingot", "npu"])
        self.assertEqual([(f.op, f.target, f.part) for f in divided.fallbacks], [("Hardmax", "npu", "part_1")])
        self.assertIn("strange", divided.fallbacks[0].node)
        self.assertTrue(divided.fallbacks[0].reason)
        self.assertEqual((divided.crossing_values, divided.crossing_bytes), (2, 16))


class Building(unittest.TestCase):
    def test_element_types_are_said_by_name(self):
        for said in ("float16", numpy.float16, numpy.dtype("f2"), "FLOAT16".lower(), 10):
            g = ingot.Graph()
            g.output("y", g.Cast(g.input("x", "float32", [2]), to=said))
            self.assertEqual(ingot.Session(g.build()).run({"x": numpy.float32([1, 2])})["y"].dtype, numpy.float16)
        g = ingot.Graph()
        with self.assertRaises((TypeError, ingot.Error)):
            g.Cast(g.input("x", "float32", [2]), to="float17")

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


    def test_arithmetic_is_nodes(self):
        graph = ingot.Graph()
        x = graph.input("x", "float32", [2])
        graph.output("y", abs(numpy.eye(2, dtype="f4") @ x - 2) ** 2)
        graph.output("z", numpy.float32(2) ** x)
        result = ingot.Session(graph.build()).run(numpy.float32([1, 5]))
        self.assertEqual((result["y"].tolist(), result["z"].tolist()), ([1, 9], [2, 32]))

    def test_what_makes_no_sense_is_refused(self):
        graph = ingot.Graph()
        x = graph.input("x", "float32", [2])
        with self.assertRaisesRegex(TypeError, "known when the model runs"):
            graph.output("y", x if x else x)
        for wrong in (None, 1, graph.TopK(x, numpy.int64([1]), outputs=2)):
            with self.assertRaisesRegex(TypeError, "output 'y'"):
                graph.output("y", wrong)
        with self.assertRaisesRegex(TypeError, "attribute 'axis' cannot be 11805"):
            graph.Softmax(x, axis=2 ** 70)
        with self.assertRaisesRegex(ValueError, "cannot be -5"):
            graph.input("z", "float32", [-5])
        with self.assertRaises(OverflowError):
            graph.input("z", "float32", [2 ** 70])

    def test_a_graph_is_built_once(self):
        graph = ingot.Graph()
        graph.output("y", graph.Relu(graph.input("x", "float32", [2])))
        graph.build()
        with self.assertRaisesRegex(ingot.UsageError, "built already"):
            graph.build()


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
        seen = []

        def at_epoch(epoch, loss):
            seen.append(epoch)
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            trainer.fit(self.data(), "label", batch=32, epochs=9, on_epoch=at_epoch)
        self.assertEqual(seen, [0])
        with self.assertRaisesRegex(ValueError, "could not convert"):
            trainer.fit(self.data(), "label", on_epoch=lambda *all: "worse")

    def test_one_thread_works_and_callbacks_may_look(self):
        trainer = ingot.Trainer(self.model(), optimizer="sgd", lr=0.1)
        looks = []

        def look(step, *rest):
            looks.append(trainer.trained())
            other = threading.Thread(target=attempt, args=(trainer.trained,))
            other.start()
            other.join()
            attempt(lambda: trainer.fit(self.data(), "label"))
            return False

        def attempt(work):
            try:
                work()
            except ingot.UsageError as error:
                looks.append(error.message)

        trainer.fit(self.data(), "label", on_step=look)
        self.assertIsInstance(looks[0], ingot.Model)
        self.assertEqual(looks[1:], ["the trainer is at work already"] * 2)
        trainer.fit(self.data(), "label", epochs=1)  # which it no longer is

    def test_options_of_the_wrong_kind_are_named(self):
        for options in ({"batch": -1}, {"epochs": "many"}):
            name = next(iter(options))
            with self.assertRaisesRegex(TypeError, f"option '{name}' cannot be "):
                ingot.Trainer(self.model()).fit(self.data(), "label", **options)
        with self.assertRaisesRegex(TypeError, "option 'lr' cannot be 'fast'"):
            ingot.Trainer(self.model(), lr="fast")

    def test_steps_by_hand(self):
        trainer = ingot.Trainer(self.model(), loss="cross_entropy", optimizer="sgd", lr=0.5)
        data = self.data()
        losses = [trainer.step({"x": data["x"], trainer.target_name: data["label"]}) for _ in range(10)]
        self.assertAlmostEqual(losses[0], numpy.log(2), places=5)
        self.assertLess(losses[-1], losses[0])
        with self.assertRaisesRegex(TypeError, "no option 'lrr'"):
            ingot.Trainer(self.model(), lrr=1)


class Errors(unittest.TestCase):
    def test_names_that_are_not_utf8_are_told(self):
        name = os.fsdecode(b"/nowhere/caf\xe9.onnx")
        with self.assertRaises(ingot.FileError) as caught:
            ingot.load(name)
        self.assertEqual(caught.exception.file, name)
        self.assertIn("nowhere", str(caught.exception))
        damaged = small().to_bytes().replace(b"MatMul", b"Mat\xe9ul")
        with self.assertRaises(ingot.Error) as caught:
            ingot.Session(ingot.load(damaged, checked=False))
        str(caught.exception).encode()

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
        for function in (n for n in stub.body if isinstance(n, ast.FunctionDef)):
            said = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
            does = inspect.signature(getattr(ingot, function.name)).parameters.values()
            self.assertEqual(said, [p.name for p in does if p.kind is not p.VAR_KEYWORD], function.name)
        for cls in (n for n in stub.body if isinstance(n, ast.ClassDef)):
            public = {name for name in dir(getattr(ingot, cls.name)) if not name.startswith("_")}
            said = {n.name for n in cls.body if isinstance(n, ast.FunctionDef)}
            said |= {n.target.id for n in cls.body if isinstance(n, ast.AnnAssign)}
            self.assertEqual(public - said, set(), cls.name)
        for cls in (n for n in stub.body if isinstance(n, ast.ClassDef)):
            for member in (n.name for n in cls.body if isinstance(n, ast.FunctionDef)):
                self.assertTrue(hasattr(getattr(ingot, cls.name), member), f"{cls.name}.{member}")
        for name in ingot.__all__:
            self.assertTrue(getattr(ingot, name).__doc__, f"{name} has no docstring")


if __name__ == "__main__":
    unittest.main()

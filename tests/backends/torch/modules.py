#!/usr/bin/python3
"""Networks that Ingot wrote for PyTorch, in PyTorch: names, gradients, training behaviour, source code, the way back.

modules.py --ingot PROGRAM; exit code 77: something that it needs is not here."""
import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    import torch
    from onnx import TensorProto as T
    from onnx import helper, numpy_helper
except ImportError as missing:
    print(f"{missing}: script/bootstrap installs python3-torch and python3-onnx")
    sys.exit(77)

INGOT = ""


def ingot(*words, code=0):
    made = subprocess.run([INGOT, *map(str, words)], capture_output=True, text=True, check=False, timeout=300)
    if made.returncode != code:
        raise AssertionError(f"{words}: exit code {made.returncode}\n{made.stdout}{made.stderr}")
    return made.stdout + made.stderr


def network(path, dtype):
    """A small network with names as PyTorch gives them."""
    random = np.random.default_rng(7)
    kind = helper.np_dtype_to_tensor_dtype(dtype) if hasattr(helper, "np_dtype_to_tensor_dtype") else (
        T.DOUBLE if dtype == np.float64 else T.FLOAT)
    tensors = {
        "stem.0.weight": random.normal(size=(4, 3, 3, 3)) / 3,
        "stem.0.bias": random.normal(size=4),
        "stem.1.weight": random.uniform(0.5, 1.5, size=4),
        "stem.1.bias": random.normal(size=4),
        "stem.1.running_mean": random.normal(size=4) / 9,
        "stem.1.running_var": random.uniform(0.5, 1.5, size=4),
        "head.weight": random.normal(size=(5, 4)),
        "head.bias": random.normal(size=5),
    }
    nodes = [
        helper.make_node("Conv", ["x", "stem.0.weight", "stem.0.bias"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["c", "stem.1.weight", "stem.1.bias", "stem.1.running_mean",
                                                "stem.1.running_var"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Dropout", ["f"], ["d"]),
        helper.make_node("Gemm", ["d", "head.weight", "head.bias"], ["logits"], transB=1),
    ]
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", kind, ["N", 3, 8, 8])],
        [helper.make_tensor_value_info("logits", kind, ["N", 5])],
        [numpy_helper.from_array(v.astype(dtype), k) for k, v in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), path)
    return set(tensors)


def perceptron(path):
    random = np.random.default_rng(3)
    tensors = {"a.weight": random.normal(size=(6, 4)) / 2, "a.bias": random.normal(size=6) / 2,
               "b.weight": random.normal(size=(3, 6)) / 2, "b.bias": random.normal(size=3) / 2}
    nodes = [helper.make_node("Gemm", ["x", "a.weight", "a.bias"], ["h"], transB=1),
             helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("Gemm", ["t", "b.weight", "b.bias"], ["y"], transB=1)]
    graph = helper.make_graph(
        nodes, "perceptron", [helper.make_tensor_value_info("x", T.DOUBLE, ["N", 4])],
        [helper.make_tensor_value_info("y", T.DOUBLE, ["N", 3])],
        [numpy_helper.from_array(v, k) for k, v in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), path)


def run_ingot(model, inputs, scratch):
    words = []
    for name, array in inputs.items():
        np.save(scratch / f"{name}.npy", array)
        words += ["--in", f"{name}={scratch / name}.npy"]
    ingot("run", model, *words, "--out", scratch / "results")
    return {p.stem: np.load(p) for p in (scratch / "results").glob("*.npy")}


def imported(directory, name):
    spec = importlib.util.spec_from_file_location(name, directory / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Modules(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.scratch = pathlib.Path(self.directory.name)
        self.addCleanup(self.directory.cleanup)

    def both(self, dtype=np.float32):
        """The small network as TorchScript and as source code, and an input."""
        names = network(self.scratch / "net.onnx", dtype)
        ingot("convert", self.scratch / "net.onnx", "-o", self.scratch / "net.pt", "--no-verify")
        ingot("convert", self.scratch / "net.onnx", "--to", "torch-source", "-o", self.scratch / "net", "--no-verify")
        x = np.random.default_rng(1).normal(size=(6, 3, 8, 8)).astype(dtype)
        script, source = torch.jit.load(str(self.scratch / "net.pt")), imported(self.scratch / "net", "model").load()
        return names, [script, source], x

    def test_names_are_those_of_the_model(self):
        names, modules, _ = self.both()
        for module in modules:
            parameters, buffers = dict(module.named_parameters()), dict(module.named_buffers())
            buffers.pop("stem.1.num_batches_tracked", None)
            self.assertEqual(set(buffers), {"stem.1.running_mean", "stem.1.running_var"})
            self.assertEqual(set(parameters), names - set(buffers))
            self.assertTrue(all(p.requires_grad for p in parameters.values()))

    def test_results_are_those_of_ingot(self):
        _, modules, x = self.both()
        wanted = run_ingot(self.scratch / "net.onnx", {"x": x}, self.scratch)["logits"]
        for module in modules:
            got = module(x=torch.from_numpy(x)).detach().numpy()  # the input's name is the argument's
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)

    def test_training_behaviour_is_live(self):
        _, modules, x = self.both()
        for module in modules:
            module.train()
            before = module.state_dict()["stem.1.running_mean"].clone()
            first, second = module(torch.from_numpy(x)), module(torch.from_numpy(x))
            self.assertFalse(torch.equal(first, second), "Dropout drops the same twice")
            self.assertFalse(torch.equal(before, module.state_dict()["stem.1.running_mean"]))
            module.eval()
            self.assertTrue(torch.equal(module(torch.from_numpy(x)), module(torch.from_numpy(x))))

    def test_gradients_are_those_of_ingot(self):
        names, modules, x = self.both(np.float64)
        wanted = sorted(n for n in names if "running" not in n)
        ingot("grad", self.scratch / "net.onnx", "--of", "logits", "--wrt", *wanted, "-o", self.scratch / "grad.onnx")
        results = run_ingot(self.scratch / "grad.onnx", {"x": x}, self.scratch)
        outputs = [o.name for o in onnx.load(self.scratch / "grad.onnx").graph.output]
        self.assertEqual(len(outputs), len(wanted))
        arrays = {o: results[p] for o in outputs for p in results if p == o or p == o.replace("/", "_")}
        for module in modules:
            module(torch.from_numpy(x)).sum().backward()
            for name, output in zip(wanted, outputs):
                got = dict(module.named_parameters())[name].grad.numpy()
                scale = max(1.0, np.abs(arrays[output]).max())
                np.testing.assert_allclose(got, arrays[output], rtol=0, atol=1e-6 * scale, err_msg=name)

    def test_source_has_layers(self):
        _, modules, _ = self.both()
        source = modules[1]
        self.assertIsInstance(source.stem[0], torch.nn.Conv2d)
        self.assertIsInstance(source.stem[1], torch.nn.BatchNorm2d)
        self.assertIsInstance(source.head, torch.nn.Linear)

    def test_there_and_back(self):
        """What was a parameter is one again, by its name; normalisation in inference becomes part of convolutions."""
        _, _, x = self.both()
        perceptron(self.scratch / "mlp.onnx")
        for name, out, inputs, shape in (("net", "logits", x, "x:6,3,8,8"),
                                         ("mlp", "y", np.random.default_rng(2).normal(size=(2, 4)), "x:2,4")):
            onnx_file, back_file = self.scratch / f"{name}.onnx", self.scratch / f"{name}_back.onnx"
            ingot("convert", onnx_file, "-o", self.scratch / f"{name}.pt", "--no-verify")
            ingot("convert", self.scratch / f"{name}.pt", "-o", back_file, "--input-shape", shape, "--no-verify",
                  *(["--input-type", "x:double"] if name == "mlp" else []))
            there = run_ingot(onnx_file, {"x": inputs}, self.scratch)
            back = onnx.load(back_file).graph
            again = run_ingot(back_file, {back.input[0].name: inputs}, self.scratch)
            np.testing.assert_allclose(again[back.output[0].name], there[out], rtol=1e-5, atol=1e-5)
        self.assertEqual(set(self.weights(self.scratch / "mlp.onnx")), {t.name for t in back.initializer})

    def test_strings_are_refused(self):
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "words",
                                  [helper.make_tensor_value_info("x", T.STRING, [2])],
                                  [helper.make_tensor_value_info("y", T.STRING, [2])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8),
                  self.scratch / "words.onnx")
        said = ingot("convert", self.scratch / "words.onnx", "-o", self.scratch / "words.pt", code=4)
        self.assertIn("string", said)

    def test_training_goes_on_and_returns(self):
        """50 steps here, 50 in PyTorch, 50 here are 150 in one."""
        random = np.random.default_rng(5)
        x, y = random.normal(size=(12, 4)), random.normal(size=(12, 3))
        np.savez(self.scratch / "data.npz", x=x, y=y)
        perceptron(self.scratch / "net.onnx")
        for optimizer in ("adam", "momentum", "sgd"):
            with self.subTest(optimizer):
                self.train_in_parts(optimizer, x, y)

    def train(self, model, steps, out):
        ingot("train", model, "--data", self.scratch / "data.npz", "--target", "y", "--steps", steps, "--batch", 12,
              "--keep-order", "--threads", 1, "--export-training", out)

    def train_in_parts(self, optimizer, x, y):
        scratch = self.scratch
        ingot("make-trainable", scratch / "net.onnx", "-o", scratch / "start.onnx", "--loss", "mse", "--optimizer",
              optimizer, "--lr", 0.01)
        self.train(scratch / "start.onnx", 150, scratch / "whole.onnx")
        self.train(scratch / "start.onnx", 50, scratch / "first.onnx")
        ingot("convert", scratch / "first.onnx", "--to", "torch-source", "-o", scratch / "step", "--no-verify")
        step = imported(scratch / "step", "train_step").load()
        arguments = {"x": torch.from_numpy(x)}
        for _ in range(50):
            step(arguments["x"], torch.from_numpy(y))
        step.save(scratch / "second.safetensors")
        self.put_state(scratch / "first.onnx", step.state, scratch / "second.onnx")
        self.train(scratch / "second.onnx", 50, scratch / "third.onnx")
        whole, parts = self.weights(scratch / "whole.onnx"), self.weights(scratch / "third.onnx")
        self.assertEqual(set(whole), set(parts))
        for name, array in whole.items():
            np.testing.assert_allclose(parts[name], array, rtol=0, atol=1e-9, err_msg=f"{optimizer}: {name}")

    @staticmethod
    def weights(path):
        return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}

    @staticmethod
    def put_state(source, state, target):
        model = onnx.load(source)
        for graph in [model.graph, *(info.algorithm for info in model.training_info)]:
            for tensor in graph.initializer:
                if tensor.name in state:
                    array = state[tensor.name].numpy().reshape(tuple(tensor.dims))
                    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        onnx.save(model, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    options, rest = parser.parse_known_args()
    INGOT = options.ingot
    torch.set_num_threads(1)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

#!/usr/bin/python3
"""A training step as code trains: over 20 steps its losses are those of Ingot's own engine, in C++ and in Octave.

usage: compile_training_test.py PATH_TO_INGOT
"""
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import numpy

INGOT = str(pathlib.Path(sys.argv.pop(1)).resolve())
STEPS = 20

DENSE = """<ir_version: 8, opset_import: ["" : 17]>
net (float[4, 3] x) => (float[4, 2] y)
<float[3, 5] w = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 0.9, 0.11, -0.12, 0.13, 0.14, -0.15, 0.16},
 float[5] b = {0, 0.1, 0.2, 0, 0},
 float[5, 2] v = {0.3, -0.1, 0.2, 0.4, -0.3, 0.25, 0.15, -0.35, 0.05, 0.45}>
{
  h = MatMul(x, w)
  g = Add(h, b)
  r = Relu(g)
  y = MatMul(r, v)
}
"""

PICTURES = """<ir_version: 8, opset_import: ["" : 17]>
net (float[4, 1, 6, 6] x) => (float[4, 3] y)
<float[2, 1, 3, 3] w = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 0.9, -0.1, 0.3, 0.2, -0.4, 0.15, 0.05, 0.35, -0.3, 0.25},
 float[8, 3] v = {0.1, 0.2, -0.3, 0.4, -0.5, 0.6, -0.1, 0.2, 0.3, -0.4, 0.5, 0.1, 0.2, -0.6, 0.3, 0.1, 0.4, -0.2, 0.5, 0.1,
                  -0.1, 0.2, 0.3, -0.4}>
{
  c = Conv(x, w)
  t = Tanh(c)
  p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(t)
  f = Flatten(p)
  y = MatMul(f, v)
}
"""

TYPES = {"float": ("float", numpy.float32), "double": ("double", numpy.float64), "int64": ("int64_t", numpy.int64)}


class CompileTrainingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_in(self, *command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def make_step(self, text, optimizer, x, target):
        """The ports of the step in order, and what it begins with."""
        (self.folder / "net.onnxtxt").write_text(text)
        self.run_in(INGOT, "make-trainable", "net.onnxtxt", "--loss", "cross_entropy", "--optimizer", optimizer, "--lr", 0.1,
                    "--step-graph", "step.onnx")
        with zipfile.ZipFile(self.folder / "step.npz") as state:
            values = {n[:-4]: numpy.load(io.BytesIO(state.read(n))) for n in state.namelist()}
        values.update(x=x, target=target)
        self.run_in(INGOT, "compile", "step.onnx", "-o", "step", "--no-test")
        said = (self.folder / "step.h").read_text()
        ports = re.findall(r"^///   (\w+): (\w+)\[([\d,]*)\], (\S+)$", said, re.M)
        return [(c, t, numpy.prod([int(d) for d in dims.split(",") if d], dtype=int), name) for c, t, dims, name in ports], values

    def losses_of_ingot(self, values):
        values, losses = dict(values), []
        for _ in range(STEPS):
            numpy.savez(self.folder / "in.npz", **values)
            self.run_in(INGOT, "run", "step.onnx", "--in", "in.npz", "--out", "out")
            losses.append(float(numpy.load(self.folder / "out" / "loss.npy")))
            for name in values:
                after = self.folder / "out" / f"{name.replace('/', '_')}.next.npy"
                if after.exists():
                    values[name] = numpy.load(after)
        return losses

    def losses_of_cpp(self, ports, values):
        declared, copied, inputs, arguments = "", "", [p for p in ports if p[3] in values], []
        for name, kind, size, _ in ports:
            declared += f"static {TYPES[kind][0]} {name}[{size}];\n"
            arguments.append(name)
        reads = "".join(f"  if (fread({n}, sizeof({n}), 1, f) != 1) return 2;\n" for n, _, _, _ in inputs)
        by_name = {name: c for c, _, _, name in ports}
        for name, c in by_name.items():
            if f"{name}.next" in by_name:
                copied += f"    memcpy({c}, {by_name[name + '.next']}, sizeof({c}));\n"
        (self.folder / "main.cpp").write_text(
            f'#include <stdio.h>\n#include <string.h>\n#include "step.h"\n{declared}'
            f"alignas(64) static unsigned char arena[step::arena_bytes + 64];\nint main() {{\n"
            f'  FILE* f = fopen("in.bin", "rb");\n{reads}  fclose(f);\n  for (int i = 0; i < {STEPS}; ++i) {{\n'
            f"    if (step::run({', '.join(arguments)}, arena) != 0) return 1;\n"
            f'    printf("%.9g\\n", (double)loss[0]);\n{copied}  }}\n}}\n')
        (self.folder / "in.bin").write_bytes(b"".join(
            numpy.ascontiguousarray(values[name], TYPES[kind][1]).tobytes() for _, kind, _, name in inputs))
        self.run_in("g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "main.cpp", "step.cpp", "-o", "program", "-lm")
        return [float(line) for line in self.run_in("./program").split()]

    def losses_of_octave(self, ports, values):
        self.run_in(INGOT, "compile", "step.onnx", "-o", "mstep", "--emit", "matlab")
        by_name = {name: c for c, _, _, name in ports}
        script = ""
        for c, kind, _, name in ports:
            if name not in values:
                continue
            wide = numpy.atleast_1d(values[name])
            flat = " ".join(repr(float(v)) for v in wide.flatten(order="F"))
            dims = " ".join(str(d) for d in (wide.shape + (1, 1))[:max(2, wide.ndim)])
            script += f"{c} = reshape({ {'float': 'single', 'double': 'double', 'int64': 'int64'}[kind]}([{flat}]), [{dims}]);\n"
        inputs = [c for c, _, _, name in ports if name in values]
        outputs = [c for c, _, _, name in ports if name not in values]
        script += f"for i = 1:{STEPS}\n  [{', '.join(outputs)}] = mstep({', '.join(inputs)});\n  printf('%.9g\\n', loss);\n"
        for name, c in by_name.items():
            if f"{name}.next" in by_name:
                script += f"  {c} = {by_name[name + '.next']};\n"
        (self.folder / "train_it.m").write_text(script + "end\n")
        return [float(line) for line in self.run_in("octave-cli", "--quiet", "--no-init-file", "train_it.m").split()]

    def check(self, text, optimizer, x, target):
        ports, values = self.make_step(text, optimizer, x, target)
        wanted = self.losses_of_ingot(values)
        self.assertEqual(len(wanted), STEPS)
        self.assertLess(wanted[-1], 0.7 * wanted[0], wanted)
        numpy.testing.assert_allclose(self.losses_of_cpp(ports, values), wanted, rtol=1e-4)
        if shutil.which("octave-cli"):
            numpy.testing.assert_allclose(self.losses_of_octave(ports, values), wanted, rtol=1e-4)

    def test_dense_layers_by_adam(self):
        x = numpy.array([[1, 0, 0.5], [0, 1, -0.5], [-1, 0.5, 1], [0.2, -1, 0.3]], numpy.float32)
        self.check(DENSE, "adam", x, numpy.array([0, 1, 1, 0]))

    def test_a_convolution_by_momentum(self):
        x = numpy.random.default_rng(1).standard_normal((4, 1, 6, 6)).astype(numpy.float32)
        self.check(PICTURES, "momentum", x, numpy.array([0, 1, 2, 1]))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""ingot compile --emit mlir, mlir-onnx, llvm, object and so as a user meets them, and ingot run --native.

usage: native_test.py PATH_TO_INGOT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

INGOT = sys.argv.pop(1)
TOOLS = "/usr/lib/llvm-22/bin"

NET = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 2] x) => (float[2, 1] y)
<float[2, 3] w = {1, 2, 3, 4, 5, 6}, float[3, 1] v = {1, -1, 0.5}>
{
  h = MatMul(x, w)
  r = Relu(h)
  y = MatMul(r, v)
}
"""

# Weights that are too large for the text, a batch that only the run knows, and a loop.
LARGE = """<ir_version: 8, opset_import: ["" : 17]>
large (float[N, 40] x, int64 n) => (float[N, 40] y)
<bool yes = {1}>
{
  shape = Constant <value: tensor = int64[2] {40, 40}> ()
  w = ConstantOfShape <value: tensor = float[1] {0.05}> (shape)
  b = Constant <value: tensor = float[40] {%s}> ()
  eye = EyeLike (w)
  scaled = Add (w, eye)
  y = Loop (n, yes, x) <body: graph = body (int64 i, bool go, float[N, 40] s) => (bool again, float[N, 40] next) {
    again = Identity (go)
    p = MatMul (s, scaled)
    q = Add (p, b)
    next = Tanh (q)
  }>
}
""" % ", ".join(str(i / 40) for i in range(40))

# To the nearest pixel by factors: places are counted in float.
NEAREST = """<ir_version: 8, opset_import: ["" : 19]>
net (float[1, 2, 5, 7] x) => (float[1, 2, A, B] y) <float[4] s = {1, 1, 1.6, 0.7}> {
  y = Resize<mode = "nearest", nearest_mode = "ceil">(x, , s)
}
"""

# Without elements, but as wide as the run tells.
EMPTY = """<ir_version: 8, opset_import: ["" : 17]>
empty (float[N, 3] x) => (float[M, 0] y, float[M, 3] z) <int64[4] p = {1, 0, 1, 0}, int64[1] zero = {0}, int64[1] one = {1}> {
  z = Pad(x, p)
  y = Slice(z, zero, zero, one)
}
"""

# Names that would be code, or what C itself calls things.
HOSTILE = ['x"); } module { //', "*/ int evil; /*", "a\nfunc.func @evil() { return }", "%0", "memref_t", "INT64_MAX", "setjmp",
           "dims", "\u00e4\\", "^bb0"]

# x = [[1, 0], [0, -1]]: h = [[1, 2, 3], [-4, -5, -6]], y = [0.5, 0].
MAIN = """#include <stdio.h>
#include "net.h"
int main(void) {
  static const float x[4] = {1, 0, 0, -1};
  static _Alignas(64) unsigned char arena[net_arena_bytes];
  float y[2] = {9, 9};
  if (net_run(x, y, arena) != 0) return 1;
  printf("%g %g\\n", (double)y[0], (double)y[1]);
  return 0;
}
"""


def require_tools():
    for tool in ("mlir-opt", "mlir-translate", "opt", "llc"):
        if not os.access(f"{TOOLS}/{tool}", os.X_OK):
            print(f"skipped: {TOOLS}/{tool} is not here; apt-get install mlir-22-tools llvm-22", file=sys.stderr)
            sys.exit(77)


class NativeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "net.onnxtxt").write_text(NET)
        (self.folder / "large.onnxtxt").write_text(LARGE)

    def ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def run_here(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def outputs(self, *arguments):
        return json.loads(self.ingot("run", *arguments, "--random", "1", "--json").stdout)["outputs"]

    def assert_same_numbers(self, a, b):
        self.assertEqual(list(a), list(b))
        for name in a:
            self.assertEqual(a[name]["shape"], b[name]["shape"])
            for x, y in zip(a[name]["first"], b[name]["first"], strict=True):
                self.assertAlmostEqual(x, y, delta=1e-5)

    def test_a_library_and_an_object_have_the_interface_of_c(self):
        (self.folder / "main.c").write_text(MAIN)
        warnings = ["-Wall", "-Wextra", "-Werror"]
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--emit", "so")
        self.run_here("cc", *warnings, "main.c", "./net.so", "-o", "program")
        self.assertEqual(self.run_here("./program"), "0.5 0\n")
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--emit", "object")
        self.run_here("cc", *warnings, "main.c", "net.o", "-o", "program", "-lm")
        self.assertEqual(self.run_here("./program"), "0.5 0\n")

    def test_the_text_alone_can_be_compiled_by_hand(self):
        done = json.loads(self.ingot("compile", "large.onnxtxt", "-o", "large", "--emit", "mlir", "--json").stdout)
        self.assertEqual(done["files"], ["large.h", "large.c", "large.mlir", "large_weights.s", "large.bin"])
        self.run_here(f"{TOOLS}/mlir-opt", "large.mlir", "-o", "parsed.mlir")
        self.run_here("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "large.c", "large_weights.s")

    def test_what_is_large_open_and_looped_gives_the_engines_numbers(self):
        self.ingot("compile", "large.onnxtxt", "-o", "large", "--emit", "so")
        self.assert_same_numbers(self.outputs("--native", "large.so"), self.outputs("large.onnxtxt"))
        self.assert_same_numbers(self.outputs("large.onnxtxt", "--jit", "--input-shape", "x:17,40"),
                                 self.outputs("large.onnxtxt", "--input-shape", "x:17,40"))

    def test_pixels_by_factors_are_the_engines(self):
        (self.folder / "nearest.onnxtxt").write_text(NEAREST)
        self.ingot("compile", "nearest.onnxtxt", "-o", "nearest", "--emit", "so")
        self.assert_same_numbers(self.outputs("--native", "nearest.so"), self.outputs("nearest.onnxtxt"))

    def test_what_has_no_elements_has_sizes(self):
        (self.folder / "empty.onnxtxt").write_text(EMPTY)
        self.ingot("compile", "empty.onnxtxt", "-o", "empty", "--emit", "so")
        self.assert_same_numbers(self.outputs("--native", "empty.so"), self.outputs("empty.onnxtxt"))

    def test_bytes_are_the_same_each_time(self):
        for kind, ending in (("mlir", "mlir"), ("mlir-onnx", "onnx.mlir"), ("llvm", "ll"), ("so", "so")):
            self.ingot("compile", "large.onnxtxt", "-o", "net", "--emit", kind)
            first = (self.folder / f"net.{ending}").read_bytes()
            self.ingot("compile", "large.onnxtxt", "-o", "net", "--emit", kind)
            self.assertEqual((self.folder / f"net.{ending}").read_bytes(), first)

    def test_names_are_no_code(self):
        for i in range(0, len(HOSTILE), 2):
            # Names are set in the binary form: the text of ONNX would not let them through.
            (self.folder / "plain.onnxtxt").write_text(NET.replace("x)", "first)").replace("(x", "(first")
                                                       .replace(" y)", " second)").replace("y =", "second ="))
            self.ingot("convert", "plain.onnxtxt", "-o", "plain.onnx")
            model = (self.folder / "plain.onnx").read_bytes()
            self.assertIn(b"first", model)
            named = renamed(renamed(model, b"first", HOSTILE[i].encode()), b"second", HOSTILE[i + 1].encode())
            (self.folder / "named.onnx").write_bytes(named)
            self.ingot("compile", "named.onnx", "-o", "net", "--emit", "so")
            (self.folder / "main.c").write_text(MAIN)
            self.run_here("cc", "-Wall", "-Wextra", "-Werror", "main.c", "./net.so", "-o", "program")
            self.assertEqual(self.run_here("./program"), "0.5 0\n")
            self.ingot("compile", "named.onnx", "-o", "net", "--emit", "mlir-onnx")
            self.run_here(f"{TOOLS}/mlir-opt", "--allow-unregistered-dialect", "net.onnx.mlir", "-o", "parsed.mlir")
            lines = (self.folder / "parsed.mlir").read_text().splitlines()
            self.assertEqual(sum(line.strip().startswith("func.func") for line in lines), 1)

    def test_sizes_that_do_not_fit_are_refused(self):
        (self.folder / "two.onnxtxt").write_text("""<ir_version: 10, opset_import: ["" : 21]>
two (float[N] x, float[M] y) => (float[K] z, float[2, L] r) {
  z = Add(x, y)
  s = Constant<value = int64[2] {2, -1}>()
  r = Reshape(z, s)
}
""")
        self.ingot("compile", "two.onnxtxt", "-o", "two", "--emit", "so")
        for sizes, code in (((4, 4), 0), ((1, 6), 0), ((4, 3), 3), ((5, 5), 3), ((5, 1), 3), ((0, 1), 0), ((0, 2), 3)):
            for name, size in zip("xy", sizes):
                head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size},), }}".ljust(117) + "\n"
                (self.folder / f"{name}.npy").write_bytes(b"\x93NUMPY\1\0v\0" + head.encode() + bytes(4 * size))
            given = ["--in", "x=x.npy", "--in", "y=y.npy"]
            done = self.ingot("run", "--native", "two.so", *given, code=code)
            self.ingot("run", "two.onnxtxt", *given, code=code)
            self.assertEqual("do not fit each other" in done.stderr, code != 0)

    def test_native_code_is_asked_for_and_trusted(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--emit", "so")
        self.assertIn("not run under --untrusted",
                      self.ingot("--untrusted", "run", "--native", "net.so", "--random", "1", code=2).stderr)
        self.ingot("run", "net.so", "--random", "1", code=3)  # never by its content
        (self.folder / "other.c").write_text("int x;\n")
        self.run_here("cc", "-shared", "-fPIC", "other.c", "-o", "other.so")
        self.assertIn("holds no model", self.ingot("run", "--native", "other.so", "--random", "1", code=3).stderr)
        self.assertIn("does not take --threads",
                      self.ingot("run", "--native", "net.so", "--random", "1", "--threads", "1", code=2).stderr)

    def test_all_that_cannot_be_said_is_listed(self):
        (self.folder / "random.onnxtxt").write_text("""<ir_version: 10, opset_import: ["" : 21]>
random (float[2, 3] x, uint8[3] y) => (int32[2, 1] z, uint8[A, B, 3] r) {
  z = Multinomial(x)
  r = ImageDecoder(y)
}
""")
        for kind in ("mlir", "so"):
            refused = self.ingot("compile", "random.onnxtxt", "-o", "net", "--emit", kind, code=4).stderr
            self.assertIn("Multinomial", refused)
            self.assertIn("ImageDecoder", refused)


def renamed(model, old, new):
    """The ONNX model with another name: each text is behind its length, and so is what it stands in."""
    def field(data, at):
        key, at = varint(data, at)
        if key & 7 == 0:
            start = at
            _, at = varint(data, at)
            return key, data[start:at], at
        if key & 7 == 2:
            size, at = varint(data, at)
            return key, data[at:at + size], at + size
        size = 4 if key & 7 == 5 else 8
        return key, data[at:at + size], at + size

    # What holds messages on the way to names: model, graph, node, value.
    inside = {"model": {7: "graph"}, "graph": {1: "node", 11: "value", 12: "value", 13: "value"}, "node": {}, "value": {}}
    names = {"node": (1, 2), "value": (1,)}

    def walk(data, kind):
        made, at = b"", 0
        while at < len(data):
            key, content, at = field(data, at)
            number = key >> 3
            if key & 7 == 2:
                if number in inside[kind]:
                    content = walk(content, inside[kind][number])
                elif number in names.get(kind, ()) and content == old:
                    content = new
                content = written(len(content)) + content
            made += written(key) + content
        return made

    return walk(model, "model")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def written(value):
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


if __name__ == "__main__":
    require_tools()
    unittest.main()

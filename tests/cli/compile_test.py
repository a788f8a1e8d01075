#!/usr/bin/env python3
"""ingot compile as a user meets it: the code compiles without a warning, runs, and is the same each time.

usage: compile_test.py PATH_TO_INGOT
"""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

INGOT = sys.argv.pop(1)

NET = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 2] x) => (float[2, 1] y)
<float[2, 3] w = {1, 2, 3, 4, 5, 6}, float[3, 1] v = {1, -1, 0.5}>
{
  h = MatMul(x, w)
  r = Relu(h)
  y = MatMul(r, v)
}
"""

# x = [[1, 0], [0, -1]]: h = [[1, 2, 3], [-4, -5, -6]], y = [0.5, 0].
MAIN = """#include <stdint.h>
#include <stdio.h>
#include "net.h"
int main(void) {
  static const float x[4] = {1, 0, 0, -1};
  static uint64_t arena[1024];
  float y[2] = {9, 9};
  %s
  if (%srun(x, y, arena) != 0) return 1;
  printf("%%g %%g\\n", (double)y[0], (double)y[1]);
  return 0;
}
"""

# A convolution between QuantizeLinear and DequantizeLinear, and a product whose operands are integers by themselves.
BYTES = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1, 2, 6, 6] x, uint8[3, 8] a) => (float[1, 8, 6, 6] y, uint8[3, 16] b)
<float s = {0.05}, uint8 z = {128}, int8[8, 2, 3, 3] w = {%s}, float[8] ws = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08},
 int8[8] wz = {0, 0, 0, 0, 0, 0, 0, 0}, float[8] bias = {1, 2, 3, 4, 5, 6, 7, 8}, float ys = {0.1},
 int8[8, 16] v = {%s}, int8 vz = {3}, float vs = {0.02}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear<axis = 0>(w, ws, wz)
  c = Conv<pads = [1, 1, 1, 1]>(d, f, bias)
  r = QuantizeLinear(c, ys, z)
  y = DequantizeLinear(r, ys, z)
  b = QLinearMatMul(a, s, z, v, vs, vz, ys, z)
}
""" % tuple(", ".join(str(i * 37 % 255 - 127) for i in range(n)) for n in (144, 128))


# Leaves at different depths, and enough examples to go down side by side.
TREES = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
net (float[300, 2] x) => (float[300, 1] y) {
  y = ai.onnx.ml.TreeEnsembleRegressor<n_targets = 1, nodes_treeids = [0, 0, 0, 0, 0], nodes_nodeids = [0, 1, 2, 3, 4],
    nodes_featureids = [0, 1, 0, 0, 0], nodes_values = [0.0, 0.5, 0.0, 0.0, 0.0], nodes_truenodeids = [1, 3, 0, 0, 0],
    nodes_falsenodeids = [2, 4, 0, 0, 0], nodes_modes = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
    target_treeids = [0, 0, 0], target_nodeids = [2, 3, 4], target_ids = [0, 0, 0], target_weights = [1.0, 2.0, 3.0]>(x)
}
"""

# What a function in its branches computes has no stated types.
TYPELESS = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
net (bool c, float[3] x) => (float[S] y) { y = own.choose(c, x) }
<domain: "own", opset_import: ["" : 18]>
choose (c, x) => (y) {
  h = Exp(x)
  y = If(c) <then_branch = t () => (a) { a = Neg(h) }, else_branch = e () => (b) { b = Add(h, x) }>
}
"""

# The scales of Upsample become constants that nothing asks for.
UPSAMPLE = """<ir_version: 8, opset_import: ["" : 7]>
net (float[2, 3] x) => (float[2, 3] y) { y = Upsample<mode = "nearest", scales = [1.0, 1.0]>(x) }
"""

SEQUENCE = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 3] a, float[4, 3] b) => (seq(float[N, 3]) s) { s = SequenceConstruct(a, b) }
"""

# Bytes that are multiplied, so that roundings may tip over, and steps that are large beside the results.
STEPS = """<ir_version: 8, opset_import: ["" : 17]>
net (float[4, 64] x) => (float[4, 64] y)
<float s = {0.02}, uint8 z = {128}, int8[64, 64] w = {%s}, float ws = {0.01}, int8 wz = {0}, float ys = {0.3}>
{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  v = DequantizeLinear(w, ws, wz)
  h = MatMul(d, v)
  r = QuantizeLinear(h, ys, z)
  e = DequantizeLinear(r, ys, z)
  y = Add(e, d)
}
""" % ", ".join(str(i * 37 % 255 - 127) for i in range(4096))


def convolutions():
    """Widths around those of vectors: of all channels, of each alone, and of single places."""
    nodes, inputs, outputs, weights = [], [], [], []
    for width in (1, 3, 5, 7, 14, 17, 33):
        inputs.append(f"float[2, 4, 5, {width}] x{width}")
        for stride in (1, 2, 3):
            for kind, group, size, pad in (("all", 1, 3, 1), ("alone", 4, 3, 1), ("place", 1, 1, 0), ("wide", 4, 5, 3)):
                name, shape = f"{kind}_{width}_{stride}", f"4, {4 // group}, {size}, {size}"
                weights.append(f"float[{shape}] w_{name} = {{{numbers(16 // group * size * size)}}}")
                outputs.append(f"float[2, 4, {(5 + 2 * pad - size) // stride + 1}, {(width + 2 * pad - size) // stride + 1}] {name}")
                nodes.append(f"{name} = Conv<pads = [{pad}, {pad}, {pad}, {pad}], strides = [{stride}, {stride}], "
                             f"group = {group}>(x{width}, w_{name})")
    return (f'<ir_version: 8, opset_import: ["" : 17]>\nnet ({", ".join(inputs)}) => ({", ".join(outputs)})\n'
            f'<{", ".join(weights)}>\n{{\n  ' + "\n  ".join(nodes) + "\n}\n")


# Whether what is squared is one row for all or a row for each is known only at run time.
OPEN_EXPAND = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 1] x, float[N, 4] z) => (float[1, 2, 4] y) <int64[3] s = {1, 2, 4}> {
  e = Expand(x, s)
  d = Expand(z, s)
  m = Mul(d, d)
  y = Add(m, e)
}
"""


MISFIT = """<ir_version: 8, opset_import: ["" : 17]>
net (float[N, K] x, float[M] y, float[R] r) => (float[N, L] z, float[R] s)
{
  z = Add(x, y)
  s = Relu(r)
}
"""

# Of fixed sizes whose product is no number of 64 bits, or whose bytes are none.
TOO_LARGE = """<ir_version: 8, opset_import: ["" : 17]>
net () => (float[X, Y] y) {
  s = Constant<value = int64[2] {%d, %d}>()
  y = ConstantOfShape(s)
}
"""


def forest(rows, columns, targets, trees, depth, element="float"):
    """Trees of which some are full and some are bent, with all comparisons of order and missing values."""
    draw = random.Random(trees)
    fields = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "truenodeids", "falsenodeids", "modes",
                              "missing_value_tracks_true")}
    votes = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"] if tree % 2 else ["BRANCH_LEQ"]
        children, bent = [(0, 0)], tree % 3
        for node, (level, _) in enumerate(children):
            is_leaf = level >= depth - tree % 4 or (bent and level > 1 and draw.random() < 0.4)
            left = 0 if is_leaf else len(children)
            if not is_leaf:
                children += [(level + 1, 0), (level + 1, 0)]
            row = (tree, node, draw.randrange(columns), round(draw.uniform(-1, 1), 1), left, left and left + 1,
                   "LEAF" if is_leaf else draw.choice(modes), draw.randrange(2))
            for field, value in zip(fields.values(), row):
                field.append(value)
            for target in range(targets) if is_leaf else ():
                for field, value in zip(votes.values(), (tree, node, target, round(draw.uniform(-1, 1), 3))):
                    field.append(value)

    def listed(values):
        return "[" + ", ".join(f'"{v}"' if isinstance(v, str) else str(v) for v in values) + "]"
    words = [f"n_targets = {targets}"]
    words += [f"nodes_{k} = {listed(v)}" for k, v in fields.items()]
    words += [f"target_{k} = {listed(v)}" for k, v in votes.items()]
    return ('<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>\n'
            f"net ({element}[{rows}, {columns}] x) => (float[{rows}, {targets}] y) {{\n"
            f"  y = ai.onnx.ml.TreeEnsembleRegressor<{', '.join(words)}>(x)\n}}\n")


def numbers(count):
    return ", ".join(f"{(i * 7919 % 2001 - 1000) / 5000:g}" for i in range(count))


LENET = """<ir_version: 8, opset_import: ["" : 17]>
lenet (float[1, 1, 28, 28] x) => (float[1, 10] y)
<float[6, 1, 5, 5] w1 = {%s}, float[6] b1 = {%s}, float[16, 6, 5, 5] w2 = {%s}, float[16] b2 = {%s},
 float[400, 120] w3 = {%s}, float[120] b3 = {%s}, float[120, 84] w4 = {%s}, float[84] b4 = {%s},
 float[84, 10] w5 = {%s}, float[10] b5 = {%s}>
{
  c1 = Conv<pads = [2, 2, 2, 2]>(x, w1, b1)
  t1 = Tanh(c1)
  p1 = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(t1)
  c2 = Conv(p1, w2, b2)
  t2 = Tanh(c2)
  p2 = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(t2)
  f = Flatten(p2)
  h3 = Gemm(f, w3, b3)
  t3 = Tanh(h3)
  h4 = Gemm(t3, w4, b4)
  t4 = Tanh(h4)
  h5 = Gemm(t4, w5, b5)
  y = Softmax(h5)
}
""" % tuple(numbers(n) for n in (150, 6, 2400, 16, 48000, 120, 10080, 84, 840, 10))

WARNINGS = ["-O1", "-Wall", "-Wextra", "-Werror"]


# Numbers that depend on the seed or on the node's name.
RANDOM = """<ir_version: 8, opset_import: ["" : 17]>
net (float[3, 5] x, double[2, 3] p) => (float[3, 5] a, double[3, 5] b, float16[4] c, float[2, 2] d, double[2, 3] e,
                                        float[3, 5] f, bool[3, 5] m, float[3, 5] g)
<float ratio = {0.4}, bool yes = {1}>
{
  a = RandomUniformLike<low = -2.0, high = 3.0, seed = 7.0>(x)
  b = RandomNormalLike<dtype = 11, mean = 1.0, scale = 0.5>(x)
  c = RandomUniform<shape = [4], dtype = 10>()
  d = RandomNormal<shape = [2, 2], seed = 0.5>()
  q = Abs(p)
  e = Bernoulli(q)
  f, m = Dropout(x, ratio, yes)
  g = Dropout<seed = 3>(x, ratio, yes)
}
"""

# squeeze(1) as PyTorch exports it where that size is open, and what follows asks how many axes are left.
OPEN_SQUEEZE = """<ir_version: 8, opset_import: ["" : 17]>
net (float[N, K, 3] x) => (float[N, 3] y) <int64[1] axis = {1}, int64 place = {1}, int64 one = {1}, int64 two = {2}, float[3, 3] w = {%s}> {
  s = Shape(x)
  k = Gather<axis = 0>(s, place)
  c = Equal(k, one)
  h = If(c) <then_branch = t () => (float[a, 3] u) { u = Squeeze(x, axis) },
             else_branch = e () => (float[a, b, 3] v) { v = Identity(x) }>
  r = Shape(h)
  n = Size(r)
  d = Equal(n, two)
  y = If(d) <then_branch = t2 () => (p) { p = MatMul(h, w) }, else_branch = e2 () => (q) { q = Squeeze(h) }>
}
""" % ", ".join(str(i) for i in range(9))

OPEN_SQUEEZE_MAIN = """#include "net.h"
int main() {
  net::workspace_t w = {};
  const float x[6] = {1, 0, 0, 0, 1, 0};
  const float* y = nullptr;
  int64_t dims[2] = {0, 0};
  if (net::run(&w, 2, 1, x, &y, dims) != 0 || dims[0] != 2 || dims[1] != 3 || y[3] != 3) return 1;
  if (net::run(&w, 1, 2, x, &y, dims) != 2) return 2;
  net::release(&w);
  return 0;
}
"""

# Of fixed sizes one branch contradicts them: whoever takes it ends the run.
CONTRADICTED = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 3] x, bool c) => (float[2, 3] y) <float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, int64[1] zero = {0}, float[1] bound = {1.5}> {
  size = Shape<end = 1>(x)
  real = Cast<to = 1>(size)
  is_one = Less(real, bound)
  y = If(c) <then_branch = t () => (float[A, B] a) { n = Neg(x) a = Exp(n) },
             else_branch = e () => (float[C, D] b) {
    r = If(is_one) <then_branch = t2 () => (p) { p = ReduceSum<keepdims = 0>(x, zero) }, else_branch = e2 () => (q) { q = Identity(x) }>
    h = Gemm(r, w)
    b = LpNormalization(h)
  }>
}
"""

CONTRADICTED_MAIN = """#include "net.h"
int main() {
  const float x[6] = {0, 0, 0, 0, 0, 0};
  net::workspace_t w = {};
  const float* y = nullptr;
  int64_t dims[2] = {0, 0};
  bool c = true;
  if (net::run(&w, x, &c, &y, dims) != 0 || dims[0] != 2 || dims[1] != 3 || y[5] != 1) return 1;
  c = false;
  if (net::run(&w, x, &c, &y, dims) != 2) return 2;
  net::release(&w);
  return 0;
}
"""

STRINGS = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
net (string[N] x, int64[2] i, bool[3] c) => (string[2] g, string[1, 3] r, string[A] j, string[3] s, string[3] e, int64[1] n)
<string[3] k = {"uno", "", "tres"}>
{
  g = Gather(x, i)
  t = Where(c, x, k)
  axis = Constant<value_ints = [0]>()
  r = Unsqueeze(t, axis)
  j = Concat<axis = 0>(k, x, k)
  from = Constant<value_ints = [2]>()
  to = Constant<value_ints = [-9]>()
  back = Constant<value_ints = [-1]>()
  s = Slice(x, from, to, axis, back)
  d = NonZero(c)
  p = Constant<value = int64[3] {7, 8, 9}>()
  e = ai.onnx.ml.LabelEncoder<keys_int64s = [7, 9], values_strings = ["seven", "nine"], default_string = "other">(p)
  n = Shape(x)
}
"""

STRINGS_MAIN = """#include "net.h"
#include <stdio.h>
#include <string.h>
static void show(const uint8_t* bytes, const int64_t* ends, int64_t count) {
  for (int64_t i = 0, at = 0; i < count; at = ends[i++]) printf("%.*s,", (int)(ends[i] - at), (const char*)bytes + at);
  printf("\\n");
}
int main() {
  net::workspace_t w = {};
  const char text[] = "onetwothree";
  const int64_t ends[3] = {3, 6, 11}, i[2] = {-1, 0};
  const bool c[3] = {true, false, false};
  const uint8_t *g, *r, *j, *s, *e;
  const int64_t *ge, *re, *je, *se, *ee, *n;
  int64_t d[12][8];
  if (net::run(&w, 11, 3, (const uint8_t*)text, ends, i, c, &g, d[0], &ge, d[1], &r, d[2], &re, d[3], &j, d[4], &je, d[5], &s, d[6],
               &se, d[7], &e, d[8], &ee, d[9], &n, d[10]) != 0) return 1;
  show(g, ge, d[1][0]);
  show(r, re, d[3][1]);
  show(j, je, d[5][0]);
  show(s, se, d[7][0]);
  show(e, ee, d[9][0]);
  printf("%lld\\n", (long long)n[0]);
  net::release(&w);
  return 0;
}
"""

# Keys that are not in order, and one twice: of it the last counts.
ZIPPED = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
net (float[2, 4] x) => (seq(map(%s, float)) z) { z = ai.onnx.ml.ZipMap<%s>(x) }
"""

ZIPPED_MAIN = """#include "net.h"
#include <stdio.h>
int main() {
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  float z[6];
  int64_t keys[3];
  static unsigned char arena[1024];
  %s
  for (int i = 0; i < 6; ++i) printf("%%g ", z[i]);
  %s
  return 0;
}
"""

# What a loop gathers in no round is as large as is known.
NO_ROUND = """<ir_version: 8, opset_import: ["" : 17]>
net (int64 n, float[A, 4, 2] x) => (float[R, B, C, D] y) {
  t = Constant<value = bool {1}>()
  s, y = Loop(n, t, x)<body = l(int64 i, bool c, float u) => (bool d, float[E, 4, 2] r, float[E, 4, 2] g) {
    d = Identity(c)
    r = Exp(u)
    g = Identity(r)
  }>
}
"""

NO_ROUND_MAIN = """#include "net.h"
#include <stdio.h>
int main() {
  net::workspace_t w = {};
  const float x[24] = {};
  for (int64_t n = 0; n < 2; ++n) {
    const float* y;
    int64_t d[4];
    if (net::run(&w, 3, &n, x, &y, d) != 0) return 1;
    for (int i = 0; i < 4; ++i) printf("%d ", (int)d[i]);
  }
  net::release(&w);
  return 0;
}
"""

# Weights of 0 beside numbers that are none.
RESIZED = """<ir_version: 8, opset_import: ["" : 19]>
net (float[1, 4] x) => (float[1, 8] y, float[1, 7] z, float[1, 4] w) <float[2] s = {1, 2}, int64[2] seven = {1, 7}, int64[2] same = {1, 4}, float[4] roi = {0, 0, 1, 1}> {
  y = Resize<mode = "linear", coordinate_transformation_mode = "asymmetric">(x, , s)
  z = Resize<mode = "cubic", coordinate_transformation_mode = "align_corners">(x, , , seven)
  w = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(x, roi, , same)
}
"""

RESIZED_MAIN = """#include "net.h"
#include <math.h>
#include <stdio.h>
int main() {
  const float x[4] = {1, NAN, 3, INFINITY};
  float y[8], z[7], w[4];
  static unsigned char arena[1024];
  if (net::run(x, y, z, w, arena) != 0) return 1;
  for (float v : y) isnan(v) ? printf("nan ") : printf("%g ", v);
  for (float v : z) isnan(v) ? printf("nan ") : printf("%g ", v);
  for (float v : w) isnan(v) ? printf("nan ") : printf("%g ", v);
  return 0;
}
"""

WRAPPED = """<ir_version: 8, opset_import: ["" : 17]>
net (int8[4] a, int32[4] b, int64[4] c, uint64[4] u, uint8[4] v, int64[4] d) =>
    (int8[4] a1, int8[4] a2, int32[4] b1, int32[4] b2, int64[4] c1, int64[4] c2, int64[4] c3, uint64[4] u1, uint8[4] v1, int64 s, int32[4] k, int64 t)
<int8 at = {100}, int32 bt = {2000000011}, int64 ct = {4611686018427387907}, uint64 ut = {5}, uint8 vt = {9}>
{
  a1 = Add(a, at)
  a2 = Neg(a)
  b1 = Mul(b, bt)
  b2 = Sub(b, bt)
  c1 = Add(c, ct)
  c2 = Mul(c, ct)
  c3 = Sub(c, ct)
  u1 = Sub(u, ut)
  v1 = Sub(v, vt)
  s = ReduceSum<keepdims = 0>(c)
  k = Cast<to = 6>(c)
  t = ReduceSum<keepdims = 0>(d)
}
"""


class CompileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "net.onnxtxt").write_text(NET)

    def ingot(self, *arguments, code=0):
        done = subprocess.run([INGOT, *arguments], capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def built(self, compiler, sources):
        subprocess.run([*compiler, *WARNINGS, *sources, "-o", "program", "-lm"], check=True, cwd=self.folder, timeout=120)
        return subprocess.run(["./program"], check=True, capture_output=True, text=True, cwd=self.folder, timeout=60).stdout

    def octave(self, code):
        return subprocess.run(["octave-cli", "--quiet", "--no-init-file", "--eval", code], cwd=self.folder, check=True,
                              capture_output=True, text=True, timeout=120).stdout

    def test_cpp_gives_the_numbers(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net")
        (self.folder / "main.cpp").write_text(MAIN % ("", "net::"))
        self.assertEqual(self.built(["g++", "-std=c++17"], ["main.cpp", "net.cpp"]), "0.5 0\n")

    def test_c_gives_the_numbers(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--c")
        (self.folder / "main.c").write_text(MAIN % ("", "net_"))
        self.assertEqual(self.built(["gcc", "-std=c99"], ["main.c", "net.c"]), "0.5 0\n")

    def test_weights_may_lie_beside_the_code(self):
        done = json.loads(self.ingot("compile", "net.onnxtxt", "-o", "net", "--weights", "file", "--json").stdout)
        self.assertEqual(done["files"],
                         ["net.h", "net.cpp", "net.bin", "net_test.cpp", "net.cmake", "net_test.bin"])
        self.assertIn("output 0: right", self.built(["g++", "-std=c++17"], ["net_test.cpp", "net.cpp"]))
        (self.folder / "main.cpp").write_text(MAIN % ('if (net::load_weights("net.bin") != 0) return 2;', "net::"))
        self.assertEqual(self.built(["g++", "-std=c++17"], ["main.cpp", "net.cpp"]), "0.5 0\n")

    def test_weights_that_are_not_there_are_said(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--weights", "file")
        (self.folder / "short.bin").write_bytes((self.folder / "net.bin").read_bytes()[:-1])
        load = ('if (net::load_weights("none.bin") == 0 || net::load_weights("short.bin") == 0) return 3;\n'
                '  for (int i = 0; i < 3; ++i) if (net::load_weights("net.bin") != 0) return 2;')
        (self.folder / "main.cpp").write_text(MAIN % (load, "net::"))
        self.assertEqual(self.built(["g++", "-std=c++17", "-fsanitize=address"], ["main.cpp", "net.cpp"]), "0.5 0\n")

    def test_code_without_its_weights_does_not_run(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--weights", "file")
        self.assertIn(", 3 if no weights were set", (self.folder / "net.h").read_text())
        (self.folder / "main.cpp").write_text(MAIN % ('if (net::run(x, y, arena) != 3) return 3;\n  net::load_weights("net.bin");', "net::"))
        self.assertEqual(self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["main.cpp", "net.cpp"]), "0.5 0\n")

    def test_fixed_sizes_fit_into_memory(self):
        for sizes in ((1 << 40, 1 << 40), (1 << 31, 1 << 32), (1 << 30, 1 << 30)):
            (self.folder / "large.onnxtxt").write_text(TOO_LARGE % sizes)
            for options in ([], ["--c"], ["--emit", "matlab"], ["--emit", "mlir"]):
                self.assertIn("more than memory can hold",
                              self.ingot("compile", "large.onnxtxt", "-o", "net", "--no-test", *options, code=4).stderr)

    @unittest.skipUnless(shutil.which("octave-cli"), "Octave is not installed")
    def test_octave_compares_sizes(self):
        (self.folder / "misfit.onnxtxt").write_text(MISFIT)
        self.ingot("compile", "misfit.onnxtxt", "-o", "net", "--emit", "matlab")
        (self.folder / "fixed.onnxtxt").write_text(MISFIT.replace("[N, K]", "[2, 3]"))
        self.ingot("compile", "fixed.onnxtxt", "-o", "fixed", "--emit", "matlab")
        for call, wanted in (("net(ones(2, 3), ones(3, 1), [1 2])", "2 2 2 2 2 2"), ("net(ones(2, 3), 1, [1 2])", "2 2 2 2 2 2"),
                             ("net(ones(2, 3), ones(1, 3), [1; 2])", "2 2 2 2 2 2"),
                             ("net(ones(2, 3), ones(2, 1), 1)", "sizes do not fit: Add"),
                             ("fixed(ones(2, 3), 1, 1)", "2 2 2 2 2 2"), ("fixed(ones(3, 2), 1, 1)", "input x is"),
                             ("fixed(ones(2, 3, 2), 1, 1)", "input x is"), ("net(ones(2, 3), 1, ones(2, 2))", "input r_ is")):
            done = subprocess.run(["octave-cli", "--quiet", "--no-init-file", "--eval", f"z = {call}; printf('%g ', z.');"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.assertIn(wanted, done.stdout + done.stderr, call)

    def test_open_sizes_are_named(self):
        (self.folder / "open.onnxtxt").write_text(NET.replace("float[2, 2] x", "float[N, 2] x").replace("float[2, 1] y", "float[N, 1] y"))
        for option in ("--c", "--no-alloc"):
            self.assertIn("--input-shape x:1,2", self.ingot("compile", "open.onnxtxt", "-o", "net", option, code=4).stderr)

    def test_no_code_is_made_of_what_is_not_valid(self):
        (self.folder / "wrong.onnxtxt").write_text(NET.replace("float[3, 1] v", "int64[3, 1] v").replace("-1, 0.5", "2, 3"))
        for words in (["compile"], ["--unchecked", "compile"]):
            said = self.ingot(*words, "wrong.onnxtxt", "-o", "net", code=3).stderr
            self.assertIn("no code is made of what is not valid", said)
            self.assertNotIn("--unchecked", said)

    def test_the_test_program_finds_wrong_code(self):
        for arguments, compiler, ending in (([], ["g++", "-std=c++17"], "cpp"), (["--c"], ["gcc", "-std=c99"], "c")):
            self.ingot("compile", "net.onnxtxt", "-o", "net", *arguments)
            sources = [f"net_test.{ending}", f"net.{ending}"]
            self.assertIn("output 0: right", self.built(compiler, sources))
            source = self.folder / f"net.{ending}"
            self.assertIn(" 1.0f, 2.0f,", source.read_text())
            source.write_text(source.read_text().replace(" 1.0f, 2.0f,", " 1.5f, 2.0f,"))
            with self.assertRaises(subprocess.CalledProcessError):
                self.built(compiler, sources)

    def test_cmake_builds_it(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(t LANGUAGES CXX)\nenable_testing()\ninclude(net.cmake)\n")
        for command in (["cmake", "-S", ".", "-B", "b"], ["cmake", "--build", "b"], ["ctest", "--test-dir", "b"]):
            subprocess.run(command, check=True, cwd=self.folder, timeout=120, capture_output=True)

    def test_without_a_test_program(self):
        done = json.loads(self.ingot("compile", "net.onnxtxt", "-o", "net", "--no-test", "--json").stdout)
        self.assertEqual(done["files"], ["net.h", "net.cpp"])

    def test_same_model_same_bytes(self):
        self.ingot("compile", "net.onnxtxt", "-o", "net")
        first = (self.folder / "net.cpp").read_bytes()
        self.ingot("compile", "net.onnxtxt", "-o", "net")
        self.assertEqual((self.folder / "net.cpp").read_bytes(), first)

    def test_all_that_is_in_the_way_is_listed(self):
        (self.folder / "strings.onnxtxt").write_text(NET.replace("r = Relu(h)", "m = Multinomial<sample_size = 3>(h)\n  r = Cast<to = 1>(m)").replace(
            "h = MatMul(x, w)", "g = MatMul(x, w)\n  s = Cast<to = 8>(g)\n  h = Cast<to = 1>(s)"))
        done = self.ingot("compile", "strings.onnxtxt", "-o", "net", code=4)
        self.assertIn("Multinomial", done.stderr)
        self.assertIn("tensor(string)", done.stderr)
        self.assertFalse((self.folder / "net.cpp").exists())

    def test_weights_of_a_byte_stay_bytes(self):
        (self.folder / "bytes.onnxtxt").write_text(BYTES)
        for arguments, compiler, ending in (([], ["g++", "-std=c++17"], "cpp"), (["--c"], ["gcc", "-std=c99"], "c")):
            done = json.loads(self.ingot("compile", "bytes.onnxtxt", "-o", "net", "--json", *arguments).stdout)
            self.assertLess(done["weight_bytes"], 144 + 128 + 4 * 8 * 3 + 64)
            source = (self.folder / f"net.{ending}").read_text()
            self.assertIn("static const int8_t", source)
            for count in re.findall(r"static const float \w+\[(\d+)\]", source):
                self.assertLess(int(count), 128)
            self.assertEqual(self.built(compiler, [f"net_test.{ending}", f"net.{ending}"]).count("right"), 2)

    def test_examples_go_down_trees_without_branches(self):
        (self.folder / "trees.onnxtxt").write_text(TREES)
        self.ingot("compile", "trees.onnxtxt", "-o", "net")
        self.assertIn("output 0: right", self.built(["g++", "-std=c++17"], ["net_test.cpp", "net.cpp"]))
        source = (self.folder / "net.cpp").read_text()
        self.assertNotIn("?", source[source.index("static void step_0"):])

    def test_forests_of_many_trees(self):
        sanitized = ["g++", "-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        for made, options in (((300, 3, 1, 16, 4), []), ((9, 2, 1, 12, 12), ["--target", "avx2"]), ((1, 2, 3, 13, 7), []),
                              ((70, 4, 3, 24, 8), ["--target", "scalar"]), (("N", 2, 2, 30, 5, "double"), ["--threads"])):
            (self.folder / "forest.onnxtxt").write_text(forest(*made))
            self.ingot("compile", "forest.onnxtxt", "-o", "net", *options)
            self.assertIn("forest_", (self.folder / "net.cpp").read_text())
            self.assertIn("output 0: right, 0 of", self.built(sanitized, ["net.cpp", "net_test.cpp"]), made)

    def test_convolutions_of_any_width(self):
        (self.folder / "convolutions.onnxtxt").write_text(convolutions())
        for options, flags in (([], []), ([], ["-mavx2", "-mfma"]), (["--target", "scalar"], [])):
            self.ingot("compile", "convolutions.onnxtxt", "-o", "net", *options)
            said = self.built(["g++", "-std=c++17", "-fsanitize=address,undefined", *flags], ["net.cpp", "net_test.cpp"])
            self.assertEqual(said.count("right"), 84, said)

    def test_weights_that_nothing_reads_are_left_out(self):
        (self.folder / "upsample.onnxtxt").write_text(UPSAMPLE)
        for options in (["--c"], ["--c", "--weights", "file"]):
            self.ingot("compile", "upsample.onnxtxt", "-o", "net", *options)
            self.assertIn("output 0: right", self.built(["gcc", "-std=c99"], ["net_test.c", "net.c"]))

    def test_what_is_no_tensor_has_no_test_program(self):
        (self.folder / "sequence.onnxtxt").write_text(SEQUENCE)
        done = json.loads(self.ingot("compile", "sequence.onnxtxt", "-o", "net", "--json").stdout)
        self.assertEqual((done["why_no_test"], done["files"]), ("'s' is no tensor", ["net.h", "net.cpp"]))

    @unittest.skipUnless(shutil.which("octave-cli"), "Octave is not installed")
    def test_octave_stretches_what_only_the_run_tells(self):
        (self.folder / "expand.onnxtxt").write_text(OPEN_EXPAND)
        self.ingot("compile", "expand.onnxtxt", "-o", "net", "--emit", "matlab")
        for z, wanted in (("[1 2 3 4]", "2 5 10 17 3 6 11 18"), ("[1 2 3 4; 5 6 7 8]", "2 5 10 17 27 38 51 66")):
            code = f"y = net(single([1; 2]), single({z})); printf('%g ', squeeze(y).');"
            done = subprocess.run(["octave-cli", "--quiet", "--no-init-file", "--eval", code], cwd=self.folder, check=True,
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.stdout.strip(), wanted)

    def test_a_step_may_tip_over(self):
        (self.folder / "steps.onnxtxt").write_text(STEPS)
        self.ingot("compile", "steps.onnxtxt", "-o", "net", "--no-alloc", "--weights", "embed")
        self.assertIn("output 0: right", self.built(["g++", "-std=c++17"], ["net_test.cpp", "net.cpp"]))
        source = (self.folder / "net.cpp").read_text()
        # One step of what is added is right, two are not.
        for steps, code in ((1, 0), (2, 1)):
            (self.folder / "net.cpp").write_text(source.replace("  return 0;\n}\n\n}", f"  y[5] += {0.3 * steps:g}f;\n  return 0;\n}}\n\n}}"))
            subprocess.run(["g++", "-std=c++17", "net.cpp", "net_test.cpp", "-o", "program"], check=True, cwd=self.folder)
            self.assertEqual(subprocess.run(["./program"], cwd=self.folder, capture_output=True, timeout=60).returncode, code)

    def test_types_that_no_file_states_are_inferred(self):
        (self.folder / "typeless.onnxtxt").write_text(TYPELESS)
        self.ingot("compile", "typeless.onnxtxt", "-o", "net")
        self.assertIn("output 0: right", self.built(["g++", "-std=c++17"], ["net_test.cpp", "net.cpp"]))

    def test_lenet_is_small(self):
        (self.folder / "lenet.onnxtxt").write_text(LENET)
        done = json.loads(self.ingot("compile", "lenet.onnxtxt", "-o", "net", "--c", "--json", "--weights", "embed").stdout)
        self.assertIn("output 0: right", self.built(["gcc", "-std=c99"], ["net_test.c", "net.c"]))
        subprocess.run(["gcc", "-std=c99", "-Os", "-c", "net.c"], check=True, cwd=self.folder, timeout=120)
        sizes = subprocess.run(["size", "net.o"], check=True, cwd=self.folder, capture_output=True, text=True).stdout
        text, data, bss = (int(n) for n in sizes.splitlines()[1].split()[:3])
        self.assertLess(text + data + bss - done["weight_bytes"], 60_000)

    def test_random_numbers_are_those_of_the_engine(self):
        (self.folder / "random.onnxtxt").write_text(RANDOM)
        for options, sources in (([], ["net.cpp", "net_test.cpp"]), (["--c"], ["net.c", "net_test.c"])):
            self.ingot("compile", "random.onnxtxt", "-o", "net", *options)
            compiler = ["gcc", "-std=c99"] if options else ["g++", "-std=c++17", "-fsanitize=address,undefined"]
            self.assertEqual(self.built(compiler, sources).count("right"), 8)

    def test_squeezes_of_open_sizes(self):
        (self.folder / "squeeze.onnxtxt").write_text(OPEN_SQUEEZE)
        self.ingot("compile", "squeeze.onnxtxt", "-o", "net")
        (self.folder / "main.cpp").write_text(OPEN_SQUEEZE_MAIN)
        self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["net.cpp", "main.cpp"])

    def test_a_branch_may_contradict_fixed_sizes(self):
        (self.folder / "contradicted.onnxtxt").write_text(CONTRADICTED)
        self.ingot("compile", "contradicted.onnxtxt", "-o", "net", "--no-test")
        (self.folder / "main.cpp").write_text(CONTRADICTED_MAIN)
        self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["net.cpp", "main.cpp"])

    def test_strings_are_moved(self):
        (self.folder / "strings.onnxtxt").write_text(STRINGS)
        self.ingot("compile", "strings.onnxtxt", "-o", "net")
        (self.folder / "main.cpp").write_text(STRINGS_MAIN)
        self.assertEqual(self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["net.cpp", "main.cpp"]),
                         "three,one,\none,,tres,\nuno,,tres,one,two,three,uno,,tres,\nthree,two,one,\nseven,other,nine,\n3\n")

    def test_loops_without_a_round_keep_sizes(self):
        (self.folder / "no_round.onnxtxt").write_text(NO_ROUND)
        self.ingot("compile", "no_round.onnxtxt", "-o", "net")
        (self.folder / "main.cpp").write_text(NO_ROUND_MAIN)
        self.assertEqual(self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["net.cpp", "main.cpp"]),
                         "0 0 4 2 1 3 4 2 ")
        if shutil.which("octave-cli"):
            self.ingot("compile", "no_round.onnxtxt", "-o", "net", "--emit", "matlab")
            self.assertEqual(self.octave("y = net(int64(0), zeros(3, 4, 2, 'single')); printf('%d ', size(y));"), "0 0 4 2 ")

    def test_pixels_without_weight_do_not_count(self):
        (self.folder / "resized.onnxtxt").write_text(RESIZED)
        self.ingot("compile", "resized.onnxtxt", "-o", "net")
        (self.folder / "main.cpp").write_text(RESIZED_MAIN)
        wanted = "1 nan nan nan 3 inf inf inf 1 nan nan nan 3 nan inf 1 nan 3 inf "
        self.assertEqual(self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["net.cpp", "main.cpp"]), wanted)
        if shutil.which("octave-cli"):
            self.ingot("compile", "resized.onnxtxt", "-o", "net", "--emit", "matlab")
            said = self.octave("[y, z, w] = net(single([1 NaN 3 Inf])); printf('%g ', y, z, w);")
            self.assertEqual(said.lower(), wanted)

    def test_maps_are_numbers_and_keys(self):
        for kind, labels, call, shown, wanted in (
                ("int64", "classlabels_int64s = [5, 2, 5, 9]", "if (net::run(x, z, keys, arena) != 0) return 1;",
                 'for (int i = 0; i < 3; ++i) printf("%d ", (int)keys[i]);', "2 3 4 6 7 8 2 5 9 "),
                ("string", 'classlabels_strings = ["b", "", "b", "c"]',
                 "uint8_t words[8];\n  if (net::run(x, z, words, keys, arena) != 0) return 1;",
                 'for (int i = 0; i < 3; ++i) printf("%d ", (int)keys[i]);\n  printf("%.2s", (const char*)words);',
                 "2 3 4 6 7 8 0 1 2 bc")):
            (self.folder / "zipped.onnxtxt").write_text(ZIPPED % (kind, labels))
            self.ingot("compile", "zipped.onnxtxt", "-o", "net")
            (self.folder / "main.cpp").write_text(ZIPPED_MAIN % (call, shown))
            self.assertEqual(self.built(["g++", "-std=c++17", "-fsanitize=address,undefined"], ["net.cpp", "main.cpp"]), wanted)

    @unittest.skipUnless(shutil.which("octave-cli"), "Octave is not installed")
    def test_integers_wrap_around_in_octave(self):
        (self.folder / "wrapped.onnxtxt").write_text(WRAPPED)
        self.ingot("compile", "wrapped.onnxtxt", "-o", "net", "--emit", "matlab")
        code = ("a = int8([100 -128 0 27]); b = int32([3 -2147483648 -7 1073741824]);"
                "c = [intmax('int64') int64(-3) intmin('int64') int64(9000000000)]; u = uint64([3 5 0 7]); v = uint8([3 9 0 255]);"
                "o = cell(1, 12); [o{:}] = net(a, b, c, u, v, int64([-2 1 2 1])); o{8} = typecast(o{8}, 'int64'); for i = 1:12 printf('%d ', o{i}); printf('\\n'); end")
        done = subprocess.run(["octave-cli", "--quiet", "--no-init-file", "--eval", code], cwd=self.folder, capture_output=True,
                              text=True, timeout=120)
        a, b, c = [100, -128, 0, 27], [3, -2**31, -7, 2**30], [2**63 - 1, -3, -2**63, 9000000000]

        def wrapped(values, bits, signed=True):
            low = 2 ** (bits - 1) if signed else 0
            return [(x + low) % 2 ** bits - low for x in values]
        t = 4611686018427387907
        wanted = [wrapped([x + 100 for x in a], 8), wrapped([-x for x in a], 8), wrapped([x * 2000000011 for x in b], 32),
                  wrapped([x - 2000000011 for x in b], 32), wrapped([x + t for x in c], 64), wrapped([x * t for x in c], 64),
                  wrapped([x - t for x in c], 64), wrapped([x - 5 for x in (3, 5, 0, 7)], 64),
                  wrapped([x - 9 for x in (3, 9, 0, 255)], 8, False), wrapped([sum(c)], 64), wrapped(c, 32), [2]]
        self.assertEqual([[int(x) for x in line.split()] for line in done.stdout.splitlines()], wanted, done.stderr)

    def test_a_name_must_be_one(self):
        self.ingot("compile", "net.onnxtxt", "-o", "my-net", code=2)
        self.assertIn("-o index_", self.ingot("compile", "net.onnxtxt", "-o", "index", code=2).stderr)
        self.assertIn("-o sum_2", self.ingot("compile", "net.onnxtxt", "-o", "sum", "--emit", "matlab", code=2).stderr)
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--emit", "cobol", code=2)
        self.ingot("compile", "net.onnxtxt", "-o", "net", "--emit", "matlab", "--target", "avx2", code=2)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Examples that onnxsim's and OnnxSlim's own tests publish, with the number of nodes that is left there: `ingot optimize`
leaves no more, and the same numbers. One differs on purpose: an output that is constant keeps a node that makes it there,
since not every runtime takes a stored tensor for an output.

usage: simplifier_examples.py PATH_TO_INGOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile

INGOT = sys.argv[1]

CONV = "float[2,3,1,1] w = {1,2,3,4,5,6}"
UP = "float[3,2,1,1] w = {1,2,3,4,5,6}"
CHANNELS = "float[2,1,1] c = {3,4}"
NORM = "float[2] s = {1,2}, float[2] b = {3,4}, float[2] m = {1,1}, float[2] v = {1,2}"
SIZES = "n = Shape(x) "

# Whose example, what, nodes left there, inputs and outputs, initializers, body.
EXAMPLES = [
    ("onnxsim", "a view of computed sizes", 1, "float[2,3,4,5] x", "float[2,3,20] y",
     "int64 i = {0}, int64 j = {1}, int64 k = {2}, int64 l = {3}, int64[1] z = {0}",
     "s0 = Shape(x) a = Gather(s0, i) s1 = Shape(x) b = Gather(s1, j) s2 = Shape(x) c = Gather(s2, k) s3 = Shape(x) "
     "d = Gather(s3, l) e = Mul(c, d) a1 = Unsqueeze(a, z) b1 = Unsqueeze(b, z) e1 = Unsqueeze(e, z) "
     "n = Concat<axis=0>(a1, b1, e1) y = Reshape(x, n)"),
    ("onnxsim", "nothing to do", 1, "float[2,3,4,5] x", "float[2,3,4,5] y", "float one = {1}", "y = Add(x, one)"),
    ("onnxsim", "an open batch", 1, "float[batch_size,3,4,5] x", "float[batch_size,3,4,5] y", "float two = {2}",
     "y = Add(x, two)"),
    ("onnxsim", "a weight that is turned", 1, "float[2,3,4,5] x", "float[2,3,4,5] y", "float[5,4] w = {" +
     ",".join(["1"] * 20) + "}", "t = Transpose<perm=[1,0]>(w) y = Add(x, t)"),
    ("onnxsim", "sums of weights", 1, "float[3] x", "float[3] y",
     ", ".join(f"float[3] w{i} = {{1,2,3}}" for i in range(1, 6)),
     "a = Add(w1, w2) b = Add(a, w3) c = Add(b, w4) d = Add(c, w5) y = Add(x, d)"),
    ("onnxsim", "a constant Resize (0 there: the output is a stored tensor)", 1, "", "float[1,1,4,4] y",
     "float[1,1,2,2] x = {1,2,3,4}, int64[4] n = {1,1,4,4}", 'y = Resize<mode="linear">(x, , , n)'),
    ("onnxsim", "a branch whose sums are joined nowhere", 6, "float[2] x", "float[2] y",
     "float one = {1}, float three = {3}, float four = {4}",
     "s = ReduceSum<keepdims=0>(x) g = Greater(s, one) y = If<then_branch = t () => (float[2] u) "
     "{ a = Add(x, three) u = Add(a, three) }, else_branch = e () => (float[2] v) { v = Add(x, four) }>(g)"),
    ("OnnxSlim", "the same twice", 3, "float[2,3] x", "float[2,3] y", "float[2,3] c = {1,2,3,4,5,6}",
     "a = Add(x, c) b = Add(x, c) d = Relu(a) e = Relu(b) y = Mul(d, e)"),
    *(("OnnxSlim", name, 1, "float[1,3] x", "float[1,3] y", stored, f"a = {node} y = Relu(a)") for name, stored, node in [
        ("Identity", "", "Identity(x)"), ("Dropout", "", "Dropout(x)"),
        ("Pad by nothing", "int64[4] p = {0,0,0,0}", "Pad(x, p)"), ("a cast to itself", "", "Cast<to=1>(x)"),
        ("a view of its own shape", "int64[2] n = {1,3}", "Reshape(x, n)"), ("Mul by 1", "float one = {1}", "Mul(x, one)"),
        ("Div by 1", "float one = {1}", "Div(x, one)"), ("Sub of 0", "float zero = {0}", "Sub(x, zero)"),
        ("Add of 0", "float zero = {0}", "Add(zero, x)"), ("a single Concat", "", "Concat<axis=0>(x)")]),
    ("OnnxSlim", "views after each other", 1, "float[2,3,4] x", "float[4,6] y", "int64[2] a = {6,4}, int64[2] b = {4,6}",
     "t = Reshape(x, a) y = Reshape(t, b)"),
    ("OnnxSlim", "slices after each other", 1, "float[8,8] x", "float[4,4] y",
     "int64[1] z = {0}, int64[1] o = {1}, int64[1] f = {4}", "t = Slice(x, z, f, z) y = Slice(t, z, f, o)"),
    ("OnnxSlim", "Unsqueeze after Unsqueeze", 1, "float[2,3] x", "float[1,1,2,3] y", "int64[1] z = {0}",
     "t = Unsqueeze(x, z) y = Unsqueeze(t, z)"),
    *(("OnnxSlim", f"{name} and {other}", 1, f"float[1,{count},4,4] x", f"float[1,{out},4,4] y",
       f"{weight}, {stored}", f"a = {name}(x, w) y = {node}")
      for name, weight, count, out in [("Conv", CONV, 3, 2), ("ConvTranspose", UP, 3, 2)]
      for other, stored, node in [("Mul", CHANNELS, "Mul(a, c)"), ("Add", CHANNELS, "Add(a, c)"),
                                  ("BatchNormalization", NORM, "BatchNormalization(a, s, b, m, v)")]),
    ("OnnxSlim", "Pad and Conv", 1, "float[1,3,4,4] x", "float[1,2,6,6] y",
     CONV + ", int64[8] p = {0,0,1,1,0,0,1,1}", "a = Pad(x, p) y = Conv(a, w)"),
    ("OnnxSlim", "MatMul and Add", 1, "float[2,3] x", "float[2,2] y",
     "float[3,2] w = {1,2,3,4,5,6}, float[2] b = {1,2}", "a = MatMul(x, w) y = Add(a, b)"),
    ("OnnxSlim", "a sum and its axis again", 1, "float[2,3] x", "float[2,1] y", "int64[1] o = {1}",
     "a = ReduceSum<keepdims=0>(x, o) y = Unsqueeze(a, o)"),
    ("OnnxSlim", "Gelu", 5, "float[2,3] x", "float[2,3] y",
     "float r = {1.4142135}, float one = {1}, float h = {0.5}",
     "a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, h)"),
    *(("OnnxSlim", f"sizes: {name}", 1, "float[2,3,4] x, float[9] v", "float[N] y",
       "int64 i = {1}, int64[1] one = {1}, int64[1] three = {3}, int64[1] zero = {0}", body)
      for name, body in [
          ("Shape", "n = Shape(x) f = Cast<to=1>(n) s = ReduceSum<keepdims=0>(f) y = Add(v, s)"),
          ("Shape and Gather", "n = Shape(x) g = Gather(n, i) f = Cast<to=1>(g) y = Add(v, f)"),
          ("Shape and Slice", "n = Shape(x) g = Slice(n, one, three, zero) f = Cast<to=1>(g) "
                              "s = ReduceSum<keepdims=0>(f) y = Add(v, s)")]),
]


def nodes_left(folder, ports, outputs, stored, body):
    source = folder / "model.onnxtxt"
    source.write_text(f'<ir_version: 8, opset_import: ["" : 17]>\ng ({ports}) => ({outputs})\n<{stored}>\n{{ {body} }}\n')
    done = subprocess.run([INGOT, "optimize", str(source), "-o", str(folder / "small.onnx"), "--json"],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return None, done.stderr.strip()
    answer = json.loads(done.stdout)
    return answer["nodes"], answer["verification"]["answer"]


def main():
    failed = 0
    for whose, what, published, *model in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            nodes, said = nodes_left(pathlib.Path(folder), *model)
        is_good = nodes is not None and nodes["after"] <= published and said == "same"
        failed += not is_good
        counts = f"{nodes['before']} -> {nodes['after']}" if nodes else "refused"
        print(f"{'' if is_good else 'FAILED '}{whose}: {what}: {counts}, {published} there; {said}")
    print(f"{len(EXAMPLES) - failed} of {len(EXAMPLES)} have no more nodes than there")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures MATLAB code of a network in Octave beside its matrix products alone, in CPU time.

usage: bench/octave.py --ingot build/release/cli/ingot --model squeezenet.onnx [--runs N]

The products are those of the convolutions that the code calls, of random matrices of single; the ratio wanted is at most 10.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

CALL = re.compile(r"convolution_\(\w+, [\w.]+, [\w.\[\]]+, (\d+), (\d+), (\d+), (\d+), \[[\d ]+\], \[([\d ]+)\], \[([\d ]+)\]")
WANTED = 10


def product(numbers):
    result = 1
    for n in numbers.split():
        result *= int(n)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--model", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *command: subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, check=True).stdout
        run(args.ingot, "compile", args.model, "-o", "net", "--emit", "matlab")
        source = (pathlib.Path(folder) / "net.m").read_text()
        shape = re.search(r"\[([\d,]+)\]", run(args.ingot, "inspect", args.model).split("inputs")[1]).group(1)
        products = ""
        for batch, channels, features, group, out, kernel in CALL.findall(source):
            m, k = int(features) // int(group), int(channels) // int(group) * product(kernel)
            products += f"p{{end+1}} = {{rand({m}, {k}, 'single'), rand({k}, {product(out)}, 'single'), {int(batch) * int(group)}}};\n"
        (pathlib.Path(folder) / "measure.m").write_text(
            f"p = {{}};\n{products}x = rand([{shape.replace(',', ' ')}], 'single');\nnet(x);\n"
            f"t = cputime; for r = 1:{args.runs} net(x); end; code = (cputime - t) / {args.runs};\n"
            f"t = cputime; for r = 1:{args.runs} for i = 1:numel(p) for g = 1:p{{i}}{{3}} y = p{{i}}{{1}} * p{{i}}{{2}}; end; end; end;\n"
            f"alone = (cputime - t) / {args.runs};\n"
            "printf('%d products %.4g s, code %.4g s: %.2f times\\n', numel(p), alone, code, code / alone);\n")
        said = run("octave-cli", "--quiet", "--no-init-file", "measure.m").strip()
    print(said)
    return 0 if float(said.split()[-2]) <= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())

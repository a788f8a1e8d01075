#!/usr/bin/env python3
"""Sequences as inputs and outputs, run by TF.js: lists of numbers. Of tensors that differ in their sizes TF.js makes rows
(TensorListSplit), and it does not say how long they were (TensorListConcatV2): those are refused.

tfjs_ragged.py --ingot PROGRAM --peers build/peers; exit code 77: something that it needs is not here.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
NUMBERS = [1.0, 2.5, -3.0, 4.0]
S = {"s": {"type": "float32", "shape": [4], "values": NUMBERS}}
AT = {"i": {"type": "int32", "shape": [], "values": 2}}
# A model, its inputs, and what it gives; without, it is refused.
CASES = {
    "numbers, one more": ("g (seq(float) s, float x) => (seq(float) t, int64 n) { t = SequenceInsert(s, x)  n = SequenceLength(t) }",
                          {**S, "x": {"type": "float32", "shape": [], "values": 0.5}}, {"t": [*NUMBERS, 0.5], "n": [5]}),
    "numbers, one of them": ("g (seq(float) s, int64 i) => (float y) { y = SequenceAt(s, i) }", {**S, **AT}, {"y": [-3.0]}),
    "tensors": ("g (seq(float[?,2]) s, int64 i) => (float[M,2] y) { y = SequenceAt(s, i) }", {}, None),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("node") or not (options.peers / "node_modules/@tensorflow/tfjs-converter").is_dir():
        print("node and @tensorflow/tfjs-converter are not here: script/bootstrap installs them")
        return 77
    failed = 0
    runner = pathlib.Path(__file__).with_name("tfjs_ragged.mjs")
    for name, (text, inputs, expected) in CASES.items():
        with tempfile.TemporaryDirectory() as scratch:
            source, made = pathlib.Path(scratch) / "m.onnxtxt", pathlib.Path(scratch) / "web"
            source.write_text(HEAD + text)
            done = subprocess.run([options.ingot, "convert", source, "-o", made, "--to", "tfjs", "--sequences", "ragged", "--no-verify"],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                given = None if done.returncode == 4 and expected is None else {"error": done.stderr}
            else:
                given = json.loads(subprocess.run(["node", runner, options.peers, made, json.dumps(inputs)], capture_output=True, text=True,
                                                  check=True).stdout)
        print(f"{name}: {'refused' if given is None else 'agrees in TF.js' if given == expected else given}")
        failed += given != expected
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

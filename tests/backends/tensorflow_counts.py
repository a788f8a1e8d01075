#!/usr/bin/env python3
"""Convolutional networks of the corpus from TensorFlow to ONNX and back: how many operators and transposes they have.

tensorflow_counts.py --ingot PROGRAM [--most N]; exit code 77: the corpus is not here. Prints a line for each network and
fails where the way there and back adds transposes, or more than a tenth to the operators. What computes nothing is not
counted, and operators that the source's converter has fused count one by one, as they are one by one in the result.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MOST = 1.10
SILENT = {"Const", "Placeholder", "Identity", "IdentityN", "NoOp"}
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))


def operators(path):
    counts = collections.Counter()
    for node in json.loads(path.read_text())["modelTopology"]["node"]:
        if node["op"] in SILENT:
            continue
        counts[node["op"]] += 1
        counts["fused"] += len(node.get("attr", {}).get("fused_ops", {}).get("list", {}).get("s", []))
    return counts


def networks():
    for path in sorted((SHARED / "corpus/tfjs").rglob("*.json")):
        text = path.read_text(errors="replace")
        if '"graph-model"' in text or ('"modelTopology"' in text and '"node"' in text):
            counts = operators(path)
            if sum(n for op, n in counts.items() if "Conv" in op) >= 3:
                yield path, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--most", type=int, default=1000, help="so many networks")
    options = parser.parse_args()
    if not (SHARED / "corpus/tfjs").is_dir():
        print("the corpus is not here")
        return 77
    failed = seen = 0
    for path, before in list(networks())[:options.most]:
        name = f"{path.parent.name}/{path.name}"
        with tempfile.TemporaryDirectory() as scratch:
            for words in ([str(path), "-o", f"{scratch}/m.onnx"], [f"{scratch}/m.onnx", "-o", f"{scratch}/web", "--to", "tfjs"]):
                done = subprocess.run([options.ingot, "--quiet", "convert", *words, "--no-verify"], capture_output=True, text=True,
                                      check=False)
                if done.returncode:
                    break
            if done.returncode:
                print(f"{name}: {done.stderr.strip().splitlines()[0][:200]}")
                continue
            after = operators(pathlib.Path(scratch) / "web/model.json")
        seen += 1
        all_before, all_after = sum(before.values()), sum(after.values())
        is_more = all_after > MOST * all_before or after["Transpose"] > before["Transpose"]
        failed += is_more
        print(f"{name}: {all_before} -> {all_after} operators, {before['Transpose']} -> {after['Transpose']} transposes"
              + (f"  TOO MANY: {dict((after - before).most_common(6))}" if is_more else ""), flush=True)
    print(f"{seen} networks, {failed} with too many operators")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())

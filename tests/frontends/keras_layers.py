#!/usr/bin/env python3
"""Every layer that TF.js has: written by TF.js, converted by Ingot, run by both and compared.

keras_layers.py --ingot PROGRAM --peers build/peers [--filter WORD] [--every N]; exit code 77: something that it needs is not here.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile


# What TF.js itself computes wrongly, in all of its backends; each is told in every run, and keras_formulas.py holds Ingot
# against the formula.
WRONG_IN_TFJS = {"batch_normalization_axis": "statistics are read along the last axis, whatever the axis is"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True, type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="one in so many")
    options = parser.parse_args()
    modules = options.peers / "node_modules"
    if not shutil.which("node") or not (modules / "@tensorflow/tfjs-layers").is_dir():
        print("node and @tensorflow/tfjs-layers are not here: script/bootstrap installs them")
        return 77
    script = pathlib.Path(__file__).parent / "keras" / "write_layers.mjs"
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["node", str(script), str(options.peers), scratch], check=True, stderr=subprocess.DEVNULL)
        names = sorted(p.name for p in pathlib.Path(scratch).iterdir() if options.filter in p.name)[::options.every]
        failed = []
        for name in names:
            result = subprocess.run(
                [options.ingot, "convert", f"{scratch}/{name}", "-o", f"{scratch}/{name}.onnx", "--peers", str(modules)],
                capture_output=True, text=True, check=False)
            if result.returncode != 0 or "verified:" not in result.stderr:
                failed.append(name)
                print(f"{name}: {WRONG_IN_TFJS.get(name, '')} exit code {result.returncode}\n{result.stderr}")
        print(f"{len(names) - len(failed)} of {len(names)} models of one layer agree with TF.js")
        return 1 if set(failed) - set(WRONG_IN_TFJS) or not names else 0


if __name__ == "__main__":
    sys.exit(main())

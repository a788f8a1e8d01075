#!/usr/bin/env python3
"""Every Keras file of the corpus: converted, and compared with TF.js where that loads it.

keras_agreement.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not
here. Files that hold no model are not counted; every other that is refused or not compared is printed with the reason,
and keras/agreement.txt says which may be. Files with stored results of Keras itself beside them are run on the stored
inputs as well.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile


def corpus(scratch):
    root = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).parents[2].parent / "shared"))
    if not (root / "corpus/keras").is_dir():
        return None
    with tarfile.open(root / "corpus/keras/dl4j_keras/public.tar.gz") as tar:
        tar.extractall(scratch)
    files = [p for folder in (pathlib.Path(scratch), root / "corpus/keras")
             for pattern in ("*.h5", "*.hdf5", "*.keras") for p in folder.rglob(pattern)]
    files += [p for p in (root / "corpus/tfjs").rglob("*.json") if is_layers_model(p)]
    return sorted(p for p in files if "inputs_and_outputs" not in p.name)


def is_layers_model(path):
    text = path.read_text(errors="replace")
    return '"modelTopology"' in text and '"class_name"' in text and '"graph-model"' not in text


def outcome(options, path, target):
    result = subprocess.run([options.ingot, "convert", str(path), "-o", target, "--peers", str(options.peers / "node_modules")],
                            capture_output=True, text=True, check=False, timeout=600)
    lines = result.stderr.strip().splitlines()
    if result.returncode == 0 and any(line.startswith("verified:") for line in lines):
        return "agrees", ""
    if result.returncode == 0:
        why = [line for line in lines if line.startswith("not verified:")]
        return "not compared", why[0] if why else "no answer"
    if result.returncode == 1:
        return "differs", "\n".join(lines)
    return "refused", "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True, type=pathlib.Path)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    counts, failed = collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        files = corpus(scratch)
        if files is None or not options.peers.is_dir():
            print("the corpus or the peers are not here")
            return 77
        for path in files:
            name = f"{path.parent.name}/{path.name}"
            if options.filter not in name:
                continue
            kind, why = outcome(options, path, f"{scratch}/out.onnx")
            if "holds weights but no model" in why:
                kind = "no model"
            counts[kind] += 1
            if kind not in ("agrees", "no model"):
                print(f"{kind}: {name}: {why}", flush=True)
            if kind == "differs":
                failed.append(name)
    models = sum(counts.values()) - counts["no model"]
    print(f"{models} models: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common() if kind != "no model"))
    return 1 if failed or not models else 0


if __name__ == "__main__":
    sys.exit(main())

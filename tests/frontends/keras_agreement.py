#!/usr/bin/env python3
"""Every Keras file of the corpus: converted, and compared with TF.js where that loads it.

keras_agreement.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not
here. Files that hold no model are not counted; every other that is refused or not compared is printed with the reason.
What TF.js does not load as it stands is compared with what Keras itself stored beside it, or is written again in words
that TF.js has (keras_rewrap.py). Of the files that hold no code at least 95 % must agree.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import h5py
import numpy as np

from keras_rewrap import rewrapped

LEAST = 0.95


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


def is_code(why):
    return "which is never executed" in why or "a class of its own" in why


def stored_results(path):
    """Inputs, and what Keras gave for them, beside some of the files."""
    beside = path.with_name(path.name.replace("_model.h5", "_inputs_and_outputs.h5"))
    if beside == path or not beside.exists():
        return None
    with h5py.File(beside) as file:
        return [{name: np.asarray(array) for name, array in file[group].items()} for group in ("inputs", "predictions")]


def agrees_with_stored(options, path, target, scratch):
    """Whether the converted model gives what Keras gave; None: nothing is stored."""
    stored = stored_results(path)
    if stored is None:
        return None
    inputs, outputs = stored
    np.savez(f"{scratch}/in.npz", **inputs)
    ran = subprocess.run([options.ingot, "run", target, "--in", f"{scratch}/in.npz", "--out", f"{scratch}/given"],
                         capture_output=True, check=False)
    if ran.returncode:  # inputs of Keras 1 have other names
        return None
    for name, array in outputs.items():
        given = np.load(f"{scratch}/given/{name}.npy")
        if given.shape != array.shape or np.abs(given - array).max() > 1e-5 * max(1, np.abs(array).max()):
            return False
    return True


def agrees_rewrapped(options, path, target, scratch):
    """The same of TF.js, on the file in other words; None: it has none for it."""
    if path.suffix not in (".h5", ".hdf5"):
        return None
    model = rewrapped(path, f"{scratch}/rewrapped")
    if model is None:
        return None
    result = subprocess.run([options.ingot, "verify", str(model), target, "--peers",
                             str(options.peers / "node_modules")], capture_output=True, text=True, check=False)
    return None if result.returncode > 1 else result.returncode == 0


def second_opinion(options, path, target, scratch):
    for ask in (agrees_with_stored, agrees_rewrapped):
        answer = ask(options, path, target, scratch)
        if answer is not None:
            return "agrees" if answer else "differs"
    return "not compared"


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
            target = f"{scratch}/out.onnx"
            kind, why = outcome(options, path, target)
            if kind in ("not compared", "differs"):
                kind = second_opinion(options, path, target, scratch)
            if "holds weights but no model" in why:
                kind = "no model"
            if kind == "refused" and is_code(why):
                kind = "code"
            counts[kind] += 1
            if kind not in ("agrees", "no model", "code"):
                print(f"{kind}: {name}: {why}", flush=True)
            if kind == "differs":
                failed.append(name)
    models = sum(counts.values()) - counts["no model"] - counts["code"]
    if not models:
        return 1
    print(f"{models} models of Keras's layers: " + ", ".join(
        f"{n} {kind}" for kind, n in counts.most_common() if kind not in ("no model", "code")),
        f"({100 * counts['agrees'] / models:.1f} % agree); {counts['code']} hold code and are refused")
    return 1 if failed or counts["agrees"] < LEAST * models else 0


if __name__ == "__main__":
    sys.exit(main())

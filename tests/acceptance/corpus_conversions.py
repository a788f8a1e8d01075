#!/usr/bin/python3
"""What converts is valid and runs: every TensorFlow, TFLite and TF.js file of the corpus becomes ONNX, which must pass
`check`, run in Ingot and in ONNX Runtime with the same numbers; every ONNX file, those of the corpus and those just made,
becomes TFLite, which must load in TFLite or LiteRT. A file that is refused (exit code 4) is counted, not a failure.

Usage: corpus_conversions.py PATH_TO_INGOT [--filter TEXT] [--state FILE] [--limit SECONDS]
Prints each failure. With --state, what was decided before is not done again: stop it and start it as you like."""
import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = pathlib.Path(os.environ.get("INGOT_SHARED", ROOT.parent / "shared")) / "corpus"
PEERS = pathlib.Path(os.environ.get("INGOT_PEERS", ROOT / "build/peers/node_modules"))
MACHINE = {"x86_64": "linux_amd64", "aarch64": "linux_arm64"}.get(platform.machine(), "none")
LIBRARY = PEERS / "tfjs-tflite-node/cc_deps" / MACHINE / "libtensorflowlite_c.so"
# Known defects of others, each by a part of what they say.
NOT_OURS = {
    "two nodes with same node name": "ONNX Runtime's optimiser finds names that the file does not have",
    "and every runtime draws its own": "both ran it, and what is random has no values to compare",
    "ort_value_name_idx_map.MaxIdx() > -1 was false": "ONNX Runtime loads no model without any value",
}
# Sizes of inputs that a file leaves open and that cannot be all 1, by a part of its path.
SIZES = {
    "tf2onnx/gru/": ["X:3,28,28"],
    "tf2onnx/lstm/": ["X:3,784"],
    "tract_hey_snips/": ["inputs:200,40"],
    "openwakeword/melspectrogram.tflite": ["input:1,1280"],
}
# Numbers that are sizes, of which those that are drawn leave nothing.
VALUES = {
    "testdata/dynamic_shapes.bin": {"z": [[12.0]]},
}


def sources():
    """(kind, path) of all that may be converted."""
    for directory, _, names in sorted(os.walk(CORPUS)):
        for name in sorted(names):
            path = pathlib.Path(directory) / name
            place = path.relative_to(CORPUS).parts[0]
            if place == "tflite" and path.read_bytes()[4:8] == b"TFL3":
                yield "to onnx", path
            elif place in ("savedmodel", "frozen_pb") and name == "saved_model.pb":
                yield "to onnx", path.parent
            elif place == "frozen_pb" and name.endswith((".pb", ".meta")) and "dl4j" not in directory:
                yield "to onnx", path
            elif place == "tfjs" and name.endswith(".json") and "modelTopology" in path.read_text():
                yield "to onnx", path
            elif place == "onnx" and name.endswith(".onnx"):
                yield "to tflite", path


class Run:
    def __init__(self, ingot, limit):
        self.ingot, self.limit = os.path.abspath(ingot), limit

    def call(self, *words, program=None):
        """(exit code, what it said); a program that is too slow, or dies, says so."""
        try:
            done = subprocess.run([*(program or [self.ingot]), *map(str, words)], capture_output=True, text=True,
                                  timeout=self.limit, errors="replace")
        except subprocess.TimeoutExpired:
            return 124, f"took more than {self.limit} s"
        return done.returncode, (done.stderr.strip() or done.stdout.strip())

    def ran(self, code, text):
        """None if a comparison could be made or could not for a reason that is not the model's."""
        if code == 0 or any(part in text for part in NOT_OURS):
            return None
        return f"exit code {code}: {text[-400:]}"

    def both_run(self, model, name):
        """Why the model does not run in Ingot and ONNX Runtime with the same numbers; None: it does. Inputs whose rank
        the file leaves open get one that the graph takes."""
        shapes = [size for part, sizes in SIZES.items() if part in str(name) for size in sizes]
        values = []
        for part, numbers in VALUES.items():
            for x, array in numbers.items() if part in str(name) else ():
                file = model.with_name(x + ".npy")
                numpy.save(file, numpy.float32(array))
                values += ["--in", f"{x}={file}"]
        why, open_inputs = None, []
        for rank in (None, 2, 1, 0, 3, 4):
            given = shapes + [f"{x}:{','.join('1' * rank)}" for x in open_inputs] if rank is not None else list(shapes)
            while True:
                options = [word for shape in given for word in ("--input-shape", shape)]
                code, text = self.call("verify", model, "--with", "ort", "--no-bisect", *options, *values)
                missing = re.search(r"input '(.+?)' is \S+: its rank is not known", text)
                if code != 3 or not missing or missing[1] in open_inputs:
                    break
                open_inputs.append(missing[1])
                given.append(f"{missing[1]}:{','.join('1' * (2 if rank is None else rank))}")
            why = self.ran(code, text)
            if not why or not open_inputs:
                return why
        return why

    def loads(self, model, scratch):
        """Why no runtime of TFLite opens the file; None: one does."""
        said = []
        if LIBRARY.exists():
            code, text = self.call(LIBRARY, model, "7", scratch,
                                   program=["/usr/bin/python3", ROOT / "tests/frontends/tflite/run_tflite.py"])
            if code == 0 and '"error"' not in text:
                return None
            said.append("TFLite: " + text[-300:])
        code, text = self.call("verify", model, "--a-with", "litert", "--b-with", "litert", "--no-bisect")
        if code in (0, 1):
            return None
        return "; ".join([*said, "LiteRT: " + text[-300:]])

    def export(self, model, scratch):
        """(outcome, why) of the way to TFLite."""
        target = pathlib.Path(scratch) / "model.tflite"
        code, text = self.call("convert", model, "-o", target, "--no-verify")
        if code == 4:
            return "refused", text
        if code:
            return ("bad source", text) if code in (1, 3, 6) else ("failed", f"to TFLite, exit code {code}: {text[-400:]}")
        why = self.loads(target, scratch)
        return ("failed", "loads nowhere: " + why) if why else ("loads", "")

    def translate(self, source, scratch, *options):
        """(outcome, why) of the way to ONNX and, from there, to TFLite; of a model with several signatures, of each."""
        target = pathlib.Path(scratch) / "model.onnx"
        code, text = self.call("convert", source, "-o", target, "--no-verify", *options)
        if code == 2 and "choose one with --signature: " in text and not options:
            names = text.split("choose one with --signature: ")[1].splitlines()[0].split(", ")
            found = [(name, self.translate(source, scratch, "--signature", name)) for name in names]
            bad = [f"{name}: {why}" for name, (outcome, why) in found if outcome == "failed"]
            return ("failed", "; ".join(bad)) if bad else found[0][1]
        if code in (3, 4):
            return "refused", text
        if code:
            return "failed", f"to ONNX, exit code {code}: {text[-400:]}"
        code, text = self.call("check", target)
        if code:
            return "failed", f"not valid: {text[-400:]}"
        why = self.both_run(target, source)
        if why:
            return "failed", "in Ingot and ONNX Runtime, " + why
        outcome, why = self.export(target, scratch)
        return ("failed", why) if outcome == "failed" else ("runs", outcome)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("--filter", default="")
    parser.add_argument("--state", help="a file with a line for each that was done; it is added to")
    parser.add_argument("--limit", type=int, default=300, help="seconds that one step may take")
    arguments = parser.parse_args()
    for needed in (CORPUS, PEERS / "onnxruntime-node"):
        if not needed.exists():
            print(f"SKIPPED: {needed} is not here")
            sys.exit(77)
    done = {}
    if arguments.state and os.path.exists(arguments.state):
        with open(arguments.state, encoding="utf-8") as lines:
            done = {line["path"]: line for line in map(json.loads, lines)}
    run, counts, failures = Run(arguments.ingot, arguments.limit), {}, []
    for kind, path in sources():
        name = str(path.relative_to(CORPUS))
        if arguments.filter not in name:
            continue
        line = done.get(name)
        if not line:
            with tempfile.TemporaryDirectory() as scratch:
                outcome, why = (run.translate if kind == "to onnx" else run.export)(path, scratch)
            line = {"path": name, "outcome": outcome, "why": why}
            if arguments.state:
                with open(arguments.state, "a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        counts[f"{kind}: {line['outcome']}"] = counts.get(f"{kind}: {line['outcome']}", 0) + 1
        if line["outcome"] == "failed":
            failures.append(line)
            print(f"FAILED {name}: {line['why']}", flush=True)
    print(", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

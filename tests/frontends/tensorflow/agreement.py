"""Converts every SavedModel, graph, checkpoint and TF.js graph-model of the corpus, with each of its signatures, runs the
source in TF.js and the result in ONNX Runtime, and compares. Prints a line for each that does not agree and counts at the
end; fails if one comes out otherwise than agreement.txt says.
usage: agreement.py --ingot PROGRAM --peers build/peers [--corpus DIR] [--filter TEXT] [--verbose]"""
import argparse
import array
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tflite"))
from agreement import CODES, Onnx  # noqa: E402

TOLERANCE = 1e-4  # of the output's scale
TYPES = {"float": "float32", "double": "float64"}
# What an open dimension is set to, where 1 (the first) and 4 (others) do not do.
SHAPES = {
    "tfjs/handtrack_ssd320/int8/model.json": {"input_tensor:0": [1, 320, 320, 3]},
    "tfjs/human/centernet/centernet.json": {"input": [1, 300, 300, 3]},
    "frozen_pb/tract_hey_snips/hey_snips_3.pb": {"inputs": [200, 40]},
    "frozen_pb/tf2onnx/gru/frozen.pb": {"X": [2, 784]},
}
# Sigmoids of large numbers: where a network is nearly certain, or on the edge, rounding before the sigmoid shows. Such
# models are compared once more by what goes into the sigmoid.
LOGITS = {
    "tfjs/human/blazepose-lite/blazepose-lite.json": [
        "StatefulPartitionedCall/model/output_heatmap/BiasAdd", "StatefulPartitionedCall/model/output_segmentation/BiasAdd",
        "StatefulPartitionedCall/model/conv_poseflag/BiasAdd", "StatefulPartitionedCall/model/convld_3d/BiasAdd",
        "StatefulPartitionedCall/model/convworld_3d/BiasAdd"],
    "tfjs/human/facemesh/facemesh.json": [
        "StatefulPartitionedCall/model_1/conv2d_21/BiasAdd", "StatefulPartitionedCall/model_1/conv2d_27/BiasAdd",
        "StatefulPartitionedCall/model_1/conv2d_31/BiasAdd"],
    "tfjs/human/selfie/selfie.json": ["segment_add"],
}
# Dropout keeps everything: else the results are random.
VALUES = {"keep_prob": 1}


def models(corpus):
    """Relative paths of all that is a model, whether or not it has an inference graph."""
    for place in ("savedmodel", "frozen_pb", "tfjs"):
        for directory, _, files in sorted(os.walk(os.path.join(corpus, place))):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(directory, name), corpus)
                if "dl4j" in path or name in ("keras_metadata.pb", "fingerprint.pb", "tfhub_module.pb"):
                    continue
                if name == "saved_model.pb":
                    yield os.path.dirname(path)
                elif name.endswith((".pb", ".meta")):
                    yield path
                elif name.endswith(".json"):
                    with open(os.path.join(directory, name), encoding="utf-8") as file:
                        if "modelTopology" in file.read():
                            yield path


def parsed_type(text):
    """"float[N,3]" -> ("float32", ["N", 3]); a shape of None is not known."""
    match = re.fullmatch(r"(\w+)(?:\[(.*)\])?", text)
    if not match:
        return text, None
    element, dims = match.groups()
    element = TYPES.get(element, element)
    if dims is None:
        return element, []
    if dims == "...":
        return element, None
    return element, [int(d) if d.isdigit() else d for d in dims.split(",")] if dims else []


def concrete(model, about):
    element, shape = parsed_type(about["type"])
    given = SHAPES.get(model, {}).get(about["name"])
    if given is None:
        # One open dimension is one size wherever it stands.
        given = [d if isinstance(d, int) else (1 if i == 0 else 4) for i, d in enumerate(shape or [])]
    return {"name": about["name"], "type": element, "shape": given, "value": VALUES.get(about["name"])}


def values(about):
    with open(about["file"], "rb") as file:
        raw = file.read()
    return json.loads(raw) if about["type"] == "string" else array.array(CODES[about["type"]], raw)


def worst_of(a, b):
    return max((abs(x - y) for x, y in zip(a, b) if math.isfinite(x)), default=0)


def difference(reference, a, result):
    """None if they agree, else how they differ. TF.js has no types but float32, int32, bool and string."""
    if reference["shape"] != result["shape"]:
        return f"shape {result['shape']} instead of {reference['shape']}"
    b = values(result)
    if len(a) != len(b):
        return f"{len(b)} elements instead of {len(a)}"
    if reference["type"] != "float32":
        wrong = sum(x != y for x, y in zip(a, b))
        return f"{wrong} of {len(a)} elements differ" if wrong else None
    for x, y in zip(a, b):
        if math.isnan(x) != math.isnan(y) or (math.isinf(x) or math.isinf(y)) and x != y:
            return f"{y} instead of {x}"
    worst = worst_of(a, b)
    scale = max((abs(x) for x in a if math.isfinite(x)), default=0)
    return f"differs by {worst:.3g} at a scale of {scale:.3g}" if worst > TOLERANCE * scale else None


class Checker:
    def __init__(self, arguments, directory):
        self.arguments, self.directory = arguments, directory
        self.onnx = Onnx(arguments.peers)

    def tfjs(self, job):
        done = subprocess.run(["node", os.path.join(HERE, "run_tfjs.mjs"), self.arguments.peers, json.dumps(job)],
                              capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return json.loads(lines[-1]) if lines else {"error": done.stderr.strip().splitlines()[-1:] or "it crashes"}

    def signatures(self, path):
        if path.endswith(".json"):
            return [""]
        return sorted(self.tfjs({"model": path, "list": True}).get("signatures", [])) or [""]

    def check(self, model, signature):
        """(class, reason): agrees, differs, refused, failed or unverifiable."""
        kind, reason = self.compare(model, signature, [])
        if kind == "differs" and model in LOGITS:
            return self.compare(model, signature, LOGITS[model])
        return kind, reason

    def compare(self, model, signature, outputs):
        path = os.path.join(self.arguments.corpus, model)
        target = os.path.join(self.directory, "model.onnx")
        command = [self.arguments.ingot, "convert", path, "-o", target, "--no-verify"]
        if signature:
            command += ["--signature", signature]
        if outputs:
            command += ["--outputs", ",".join(outputs)]
        converted = subprocess.run(command, capture_output=True, text=True)
        if converted.returncode:
            return "refused", converted.stderr.strip().replace(path + ": ", "").splitlines()[0]
        about = json.loads(subprocess.run([self.arguments.ingot, "inspect", target, "--json"], capture_output=True,
                                          text=True).stdout)
        job = {"model": path, "signature": signature, "out": self.directory,
               "inputs": [concrete(model, i) for i in about["inputs"]], "outputs": [o["name"] for o in about["outputs"]]}
        reference = self.tfjs(job)
        if "error" in reference:
            return "unverifiable", f"TF.js: {reference['error']}"
        answer = self.onnx.run({"model": target, "out": self.directory, "inputs": reference["inputs"]})
        if "error" in answer:
            return "failed", answer["error"]
        kept = [(a, values(a), b) for a, b in zip(reference["outputs"], answer["outputs"])]
        again = None
        for i, (a, numbers, b) in enumerate(kept):
            how = difference(a, numbers, b)
            if not how:
                continue
            # What TF.js's own two implementations of the operators differ by is the noise of the model.
            again = again or self.tfjs({**job, "backend": "wasm"})
            other = difference(a, numbers, again["outputs"][i]) if "outputs" in again else None
            if not other or worst_of(numbers, values(b)) > worst_of(numbers, values(again["outputs"][i])):
                return "differs", f"'{b['name']}' {how}"
            print(f"within the noise: '{b['name']}' of {model} {how}; between TF.js and TF.js: {other}")
        return "agrees", f"{len(answer['outputs'])} outputs"


def known_exceptions():
    """model, or model#signature -> (class, reason)"""
    known = {}
    with open(os.path.join(HERE, "agreement.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, kind, reason = line.strip().split(": ", 2)
                known[name] = (kind, reason)
    return known


def main():
    parser = argparse.ArgumentParser()
    for option in ("--ingot", "--peers"):
        parser.add_argument(option, required=True)
    shared = os.environ.get("INGOT_SHARED", os.path.join(HERE, "..", "..", "..", "..", "shared"))
    parser.add_argument("--corpus", default=os.path.join(shared, "corpus"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    for needed in (arguments.corpus, os.path.join(arguments.peers, "node_modules/@tensorflow/tfjs-converter"),
                   os.path.join(arguments.peers, "node_modules/onnxruntime-node")):
        if not os.path.exists(needed):
            print(f"SKIPPED: {needed} is not here")
            sys.exit(77)
    known, counts, unexpected, seen = known_exceptions(), {}, [], set()
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(arguments, arguments.keep or scratch)
        for model in models(arguments.corpus):
            if arguments.filter not in model:
                continue
            for signature in checker.signatures(os.path.join(arguments.corpus, model)):
                name = f"{model}#{signature}" if signature else model
                key = name if name in known else model
                kind, reason = checker.check(model, signature)
                counts[kind] = counts.get(kind, 0) + 1
                seen.add(key)
                if arguments.verbose or kind != "agrees":
                    print(f"{kind}: {name}: {reason}", flush=True)
                expected = known.get(key, ("agrees", ""))[0]
                if kind != expected:
                    unexpected.append(f"{name}: {kind} instead of {expected}: {reason}")
        checker.onnx.close()
    if not arguments.filter:
        unexpected += [f"{name} is named in agreement.txt and is not in the corpus" for name in sorted(set(known) - seen)]
    print(", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    for line in unexpected:
        print("UNEXPECTED " + line)
    sys.exit(1 if unexpected else 0)


if __name__ == "__main__":
    main()

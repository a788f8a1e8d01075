"""Converts every SavedModel, graph, checkpoint and TF.js graph-model of the corpus, with each of its signatures, runs the
source in TF.js and the result in ONNX Runtime, and compares. Prints a line for each that does not agree and counts at the
end; fails if one comes out otherwise than agreement.txt says.
usage: tensorflow_agreement.py --ingot PROGRAM --peers build/peers [--corpus DIR] [--filter TEXT] [--keep DIR]
                               [--keep-functions] [--verbose]"""
import json
import os
import re
import subprocess
import tempfile

from agreement import (HERE, Onnx, Tally, exact_difference, form_difference, inspected, known_exceptions,
                       parsed_arguments, real_difference, require, values, worst_of)

FOLDER = os.path.join(HERE, "tensorflow")
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


def difference(reference, a, result):
    """None if they agree, else how they differ. TF.js has no types but float32, int32, bool and string."""
    b = values(result)
    form = form_difference(reference, a, result, b)
    if form:
        return form
    return real_difference(a, b) if reference["type"] == "float32" else exact_difference(a, b)


class Checker:
    def __init__(self, arguments, directory):
        self.arguments, self.directory = arguments, directory
        self.onnx = Onnx(arguments.peers)

    def tfjs(self, job):
        done = subprocess.run(["node", os.path.join(FOLDER, "run_tfjs.mjs"), self.arguments.peers, json.dumps(job)],
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
        if self.arguments.keep_functions:
            command += ["--keep-functions"]
        if outputs:
            command += ["--outputs", ",".join(outputs)]
        converted = subprocess.run(command, capture_output=True, text=True)
        if converted.returncode:
            return "refused", converted.stderr.strip().replace(path + ": ", "").splitlines()[0]
        about = json.loads(inspected(self.arguments.ingot, target, "--json"))
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


def main():
    arguments = parsed_arguments("", [("--keep-functions", "convert with functions kept")])
    require(arguments.corpus, os.path.join(arguments.peers, "node_modules/@tensorflow/tfjs-converter"),
            os.path.join(arguments.peers, "node_modules/onnxruntime-node"))
    known = known_exceptions(os.path.join(FOLDER, "agreement.txt"), 2)
    tally = Tally(known, arguments.filter, arguments.verbose)
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(arguments, arguments.keep or scratch)
        for model in models(arguments.corpus):
            if arguments.filter not in model:
                continue
            for signature in checker.signatures(os.path.join(arguments.corpus, model)):
                name = f"{model}#{signature}" if signature else model
                key = name if name in known else model
                kind, reason = checker.check(model, signature)
                tally.add(kind, name, reason, key)
                expected = known.get(key, ("agrees", ""))[0]
                if kind != expected:
                    tally.unexpected.append(f"{name}: {kind} instead of {expected}: {reason}")
        checker.onnx.close()
    tally.finish()


if __name__ == "__main__":
    main()

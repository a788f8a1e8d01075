"""One thin path through every part of Ingot, as a user would walk it: a small float TFLite network becomes ONNX, Ingot,
ONNX Runtime and TFLite agree on it, one step of SGD on it becomes a graph that Ingot and ONNX Runtime run alike and that
lowers the loss, and the network goes back to TFLite, which gives the same numbers as before.
usage: skeleton_test.py --ingot PROGRAM --peers build/peers"""
import argparse
import array
import ast
import json
import os
import platform
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNERS = os.path.join(HERE, "..", "frontends")
SHARED = os.environ.get("INGOT_SHARED", os.path.join(HERE, "..", "..", "..", "shared"))
NETWORK = os.path.join(SHARED, "corpus/tflite/mlperf_tiny/image_classification/trained_models/pretrainedResnet.tflite")
CODES = {"float32": ("f", "<f4"), "float64": ("d", "<f8"), "int64": ("q", "<i8")}
TOLERANCE = 1e-4   # relative to the largest number


def skip(reason):
    print(f"**** skeleton: skipped, {reason}")
    sys.exit(77)


def read(about):
    with open(about["file"], "rb") as file:
        return array.array(CODES[about["type"]][0], file.read())


def write_npy(path, about):
    """A raw file of a runner as .npy."""
    shape = ", ".join(str(d) for d in about["shape"]) + ("," if len(about["shape"]) == 1 else "")
    header = f"{{'descr': '{CODES[about['type']][1]}', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file, open(about["file"], "rb") as raw:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + raw.read())


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<H", data, 8)[0]
    is_float = b"'<f4'" in data[:10 + length]
    return array.array("f", data[10 + length:]) if is_float else None


class Walk:
    def __init__(self, ingot, peers, work):
        self.ingot, self.work = ingot, work
        self.library = self.find_library(peers)
        self.ort = subprocess.Popen(["node", os.path.join(RUNNERS, "run_onnx.mjs"), peers], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)

    @staticmethod
    def find_library(peers):
        machine = {"x86_64": "linux_amd64", "aarch64": "linux_arm64"}.get(platform.machine(), "")
        file = os.path.join(peers, "node_modules/tfjs-tflite-node/cc_deps", machine, "libtensorflowlite_c.so")
        return file if os.path.exists(file) else skip("the native TFLite library (npm tfjs-tflite-node) is not here")

    def path(self, name):
        return os.path.join(self.work, name)

    def run(self, *arguments):
        print("$ ingot", *[os.path.basename(a) if os.sep in a else a for a in arguments], flush=True)
        done = subprocess.run([self.ingot, *arguments], text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def state(self, path):
        """The arrays of a .npz file as raw files."""
        arrays = {}
        with zipfile.ZipFile(path) as archive:
            for number, member in enumerate(archive.namelist()):
                data = archive.read(member)
                length = struct.unpack_from("<H", data, 8)[0]
                header = ast.literal_eval(data[10:10 + length].decode())
                kind = next(name for name, (_, code) in CODES.items() if code == header["descr"])
                file = self.path(f"state_{number}")
                with open(file, "wb") as out:
                    out.write(data[10 + length:])
                arrays[member.removesuffix(".npy")] = {"type": kind, "shape": list(header["shape"]), "file": file}
        return arrays

    def tflite(self, model, seed=1):
        folder = tempfile.mkdtemp(dir=self.work)
        done = subprocess.run([sys.executable, os.path.join(RUNNERS, "tflite", "run_tflite.py"), self.library, model, str(seed),
                               folder], text=True, capture_output=True)
        answer = json.loads(done.stdout)
        if "error" in answer:
            sys.exit(f"TFLite: {answer['error']}")
        return answer

    def onnx_runtime(self, model, inputs):
        job = {"model": model, "inputs": inputs, "out": tempfile.mkdtemp(dir=self.work)}
        self.ort.stdin.write(json.dumps(job) + "\n")
        self.ort.stdin.flush()
        answer = json.loads(self.ort.stdout.readline())
        if "error" in answer:
            sys.exit(f"ONNX Runtime: {answer['error']}")
        return {output["name"]: output for output in answer["outputs"]}

    def in_ingot(self, model, named):
        """Floats of each output, by name."""
        arguments = []
        for name, about in named.items():
            file = self.path(f"in_{len(arguments)}.npy")
            write_npy(file, about)
            arguments += ["--in", f"{name}={file}"]
        out = tempfile.mkdtemp(dir=self.work)
        self.run("run", model, *arguments, "--out", out)
        return {name[:-4]: read_npy(os.path.join(out, name)) for name in os.listdir(out) if name.endswith(".npy")}


def distance(what, expected, got):
    """The largest difference, relative to the largest number."""
    if len(expected) != len(got):
        sys.exit(f"{what}: {len(got)} numbers instead of {len(expected)}")
    scale = max(abs(x) for x in expected)
    worst = max(abs(x - y) for x, y in zip(expected, got))
    if not worst <= TOLERANCE * scale:
        sys.exit(f"{what}: they differ by {worst:.2g} where the largest number is {scale:.2g}")
    return worst / scale if scale else 0


def expect_same(what, expected, got):
    print(f"{what}: {len(expected)} numbers, at most {distance(what, expected, got):.2g} of the largest number apart")


def file_names(outputs):
    """What 'ingot run --out' calls the files of outputs of these names."""
    names = []
    for output in outputs:
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "_-.") else "_" for c in output[:100])
        unique, number = stem, 0
        while unique in names:
            number += 1
            unique = f"{stem}_{number}"
        names.append(unique)
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True)
    options = parser.parse_args()
    if not os.path.exists(NETWORK):
        skip("the corpus is not here")
    if not os.path.isdir(os.path.join(options.peers, "node_modules", "onnxruntime-node")):
        skip("ONNX Runtime (npm onnxruntime-node) is not installed")
    with tempfile.TemporaryDirectory() as work:
        walk = Walk(os.path.abspath(options.ingot), os.path.abspath(options.peers), work)
        source = walk.tflite(NETWORK)
        expected = read(source["outputs"][0])

        model = walk.path("network.onnx")
        walk.run("convert", NETWORK, "-o", model)
        walk.run("check", model)
        about = json.loads(walk.run("inspect", model, "--json"))
        name = about["inputs"][0]["name"]
        runtime = walk.onnx_runtime(model, source["inputs"])
        output = next(iter(runtime))
        expect_same("ONNX Runtime and TFLite", expected, read(runtime[output]))
        ours = walk.in_ingot(model, {name: source["inputs"][0]})
        expect_same("Ingot and ONNX Runtime", read(runtime[output]), next(iter(ours.values())))

        step = walk.path("step.onnx")
        walk.run("make-trainable", model, "--loss", "mse", "--optimizer", "sgd", "--lr", "0.001", "--step-graph", step)
        walk.run("check", step)
        # The loss is the distance to the first class.
        target = dict(runtime[output], file=walk.path("target"))
        with open(target["file"], "wb") as file:
            array.array("f", [1.0] + [0.0] * (len(expected) - 1)).tofile(file)
        inputs = json.loads(walk.run("inspect", step, "--json"))["inputs"]
        data = {name: source["inputs"][0], "target": target}
        data.update(walk.state(walk.path("step.npz")))
        assert {i["name"] for i in inputs} == set(data), "step.npz does not hold the state"
        first = walk.onnx_runtime(step, data)
        trained = {**data, **{key[:-len(".next")]: value for key, value in first.items() if key.endswith(".next")}}
        second = walk.onnx_runtime(step, trained)
        before, after = read(first["loss"])[0], read(second["loss"])[0]
        print(f"loss {before:.6g}, after one step {after:.6g}")
        if not after < before:
            sys.exit("the loss did not fall")
        ours = walk.in_ingot(step, data)
        worst = 0
        for key, file in zip(first, file_names(first)):
            if first[key]["type"] == "float32":
                worst = max(worst, distance(f"one step, {key}", read(first[key]), ours[file]))
        print(f"one step, {len(first)} outputs of Ingot and ONNX Runtime: at most {worst:.2g} of the largest number apart")

        back = walk.path("back.tflite")
        walk.run("convert", model, "-o", back)
        expect_same("TFLite before and after", expected, read(walk.tflite(back)["outputs"][0]))
        walk.ort.stdin.close()
        walk.ort.wait()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Files of PyTorch on the command line: weights alone, options of the import, refusals, damaged archives.
Usage: torch_test.py PATH_TO_INGOT; exit code 77: PyTorch is not here"""
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

INGOT = os.path.abspath(sys.argv.pop(1))


def read_safetensors(path):
    """The format by its description: name -> (dtype, shape, bytes), and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    return {name: (e["dtype"], e["shape"], data[8 + length :][slice(*e["data_offsets"])])
            for name, e in header.items()}, metadata


def write_safetensors(path, arrays):
    names = {"float32": "F32", "int64": "I64"}
    header, body = {}, b""
    for name, array in arrays.items():
        raw = array.tobytes()
        header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.two(torch.relu(self.one(x)))

    @torch.jit.export
    def halved(self, x):
        return x / 2


class Rate(nn.Module):
    """Only some values of a number are taken."""

    def forward(self, x, rate: int, is_loud: bool = False):
        if rate == 16000:
            y = x * 2
        elif rate == 8000:
            y = x * 3
        else:
            raise ValueError("a rate that is not supported")
        return y + 1 if is_loud else y


class PytorchFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        torch.manual_seed(1)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ingot(self, *command, code=0):
        done = subprocess.run([INGOT, *command], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_model(self, model, **arrays):
        command = ["run", self.path(model), "--out", self.path("out")]
        for name, array in arrays.items():
            np.save(self.path(f"{name}.npy"), array)
            command += ["--in", f"{name}={self.path(name)}.npy"]
        self.ingot(*command)
        return np.load(self.path("out/output.npy"))

    def test_tensors_of_all_types_and_strides_become_safetensors(self):
        base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        tensors = {
            "f32": base, "turned": base.t(), "part": base[1:3, ::2], "f64": base.double(), "f16": base.half(),
            "bf16": base.bfloat16(), "i8": base.to(torch.int8), "u8": base.to(torch.uint8), "i16": base.short(),
            "i32": base.int(), "i64": base.long(), "bool": base > 3, "scalar": torch.tensor(2.5),
            "empty": torch.zeros(0, 3), "expanded": torch.ones(1, 3).expand(2, 3), "parameter": nn.Parameter(base),
        }
        for is_new in (True, False):
            torch.save(tensors, self.path("w.pth"), _use_new_zipfile_serialization=is_new)
            self.ingot("convert", self.path("w.pth"), "-o", self.path("w.safetensors"))
            stored, _ = read_safetensors(self.path("w.safetensors"))
            self.assertEqual(set(stored), set(tensors))
            for name, tensor in tensors.items():
                dtype, shape, raw = stored[name]
                self.assertEqual(shape, list(tensor.shape), name)
                wanted = tensor.detach().contiguous()
                wanted = wanted.view(torch.int16) if dtype == "BF16" else wanted
                self.assertEqual(raw, wanted.numpy().tobytes(), name)

    def test_nested_checkpoints_are_shown_by_their_dotted_names(self):
        net = Net()
        torch.save({"epoch": 3, "state_dict": net.state_dict(), "optimizer": torch.optim.Adam(net.parameters()).state_dict()},
                   self.path("c.pth"))
        text = self.ingot("inspect", self.path("c.pth"))
        self.assertIn("23 in 4 tensors", text)
        text = self.ingot("inspect", self.path("c.pth"), "--weights")
        self.assertIn("state_dict.one.weight", text)

    def test_weights_from_a_state_dictionary_or_safetensors(self):
        torch.jit.script(Net()).save(self.path("net.pt"))
        other = Net()
        x = np.random.default_rng(1).random((5, 4), dtype=np.float32)
        wanted = other(torch.from_numpy(x)).detach().numpy()
        torch.save({"state_dict": {"module." + k: v for k, v in other.state_dict().items()}}, self.path("w.pth"))
        write_safetensors(self.path("w.safetensors"), {k: v.numpy() for k, v in other.state_dict().items()})
        for weights in ("w.pth", "w.safetensors"):
            self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--weights-from",
                       self.path(weights))
            np.testing.assert_allclose(self.run_model("net.onnx", x=x), wanted, rtol=1e-5, atol=1e-6)
        write_safetensors(self.path("w.safetensors"), {"one.weight": np.zeros((2, 2), np.float32)})
        text = self.ingot("convert", self.path("net.pt"), "-o", self.path("no.onnx"), "--weights-from",
                          self.path("w.safetensors"), code=3)
        self.assertIn("one.weight", text)

    def test_parameters_keep_their_names(self):
        torch.jit.script(Net()).save(self.path("net.pt"))
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.safetensors"), "--no-verify")
        self.assertEqual(set(read_safetensors(self.path("net.safetensors"))[0]), set(Net().state_dict()))

    def test_another_method_and_numbers_that_are_fixed(self):
        torch.jit.script(Net()).save(self.path("net.pt"))
        self.ingot("convert", self.path("net.pt"), "-o", self.path("half.onnx"), "--no-verify", "--signature", "halved",
                   "--input-shape", "x:N,4")
        x = np.ones((2, 4), np.float32)
        np.testing.assert_array_equal(self.run_model("half.onnx", x=x), x / 2)
        torch.jit.script(Rate()).save(self.path("rate.pt"))
        for rate, factor in ((16000, 2), (8000, 3)):
            self.ingot("convert", self.path("rate.pt"), "-o", self.path("rate.onnx"), "--no-verify", "--input-value",
                       f"rate={rate}", "--input-value", "is_loud=true", "--input-shape", "x:N,4")
            np.testing.assert_array_equal(self.run_model("rate.onnx", x=x), x * factor + 1)
        text = self.ingot("convert", self.path("rate.pt"), "-o", self.path("no.onnx"), "--input-value", "rate=1", code=3)
        self.assertIn("a rate that is not supported", text)
        self.ingot("convert", self.path("rate.pt"), "-o", self.path("no.onnx"), "--input-value", "speed=1", code=2)
        self.ingot("convert", self.path("rate.pt"), "-o", self.path("no.onnx"), "--input-shape", "y:1,2", code=2)

    def test_modules_that_are_pickled_are_refused_with_the_remedy(self):
        for is_new in (True, False):
            torch.save(Net(), self.path("m.pth"), _use_new_zipfile_serialization=is_new)
            text = self.ingot("convert", self.path("m.pth"), "-o", self.path("no.onnx"), code=4)
            self.assertIn("Python code", text)
            self.assertIn("torch.jit.script", text)

    def test_unknown_operators_are_all_named(self):
        class Odd(nn.Module):
            def forward(self, x):
                return torch.linalg.eigvals(x).abs() + torch.special.airy_ai(x)

        torch.jit.trace(Odd(), torch.rand(3, 3)).save(self.path("odd.pt"))
        text = self.ingot("convert", self.path("odd.pt"), "-o", self.path("no.onnx"), code=4)
        self.assertIn("aten::linalg_eigvals", text)
        self.assertIn("aten::special_airy_ai", text)

    def mutants(self):
        """Archives that open, with something in them that is not as it should be."""
        net = io.BytesIO()
        torch.jit.save(torch.jit.script(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))), net)
        weights = io.BytesIO()
        torch.save(Net().state_dict(), weights)
        draw = random.Random(3)
        for i in range(120):
            source = zipfile.ZipFile(net if i % 3 else weights)
            members = {name: source.read(name) for name in source.namelist()}
            target = draw.choice([n for n in members if n.endswith((".py", ".pkl"))])
            if target.endswith(".py"):
                text = members[target].decode()
                places = [m.span() for m in re.finditer(r"\b\d+\b|\bNone\b|torch\.\w+|\[[^\]]*\]", text)]
                begin, end = draw.choice(places)
                word = draw.choice(["-1", "0", "9223372036854775807", "None", "[]", "[0, -3]", "x", "torch.cat", "torch.view", "torch.lstm"])
                members[target] = (text[:begin] + word + text[end:]).encode()
            else:
                body = bytearray(members[target])
                for _ in range(draw.choice([1, 2, 8])):
                    body[draw.randrange(len(body))] = draw.randrange(256)
                members[target] = bytes(body)
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as archive:
                for name, body in members.items():
                    archive.writestr(name, body)
            yield made.getvalue()

    def test_damaged_archives_are_refused_and_never_crash(self):
        for i, contents in enumerate(self.mutants()):
            with open(self.path("m.pt"), "wb") as file:
                file.write(contents)
            done = subprocess.run([INGOT, "--untrusted", "convert", self.path("m.pt"), "-o", self.path("o.onnx"),
                                   "--no-verify"], capture_output=True, text=True, check=False, timeout=120)
            self.assertIn(done.returncode, (0, 2, 3, 4, 5), f"mutant {i}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()

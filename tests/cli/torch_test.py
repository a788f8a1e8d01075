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
from typing import Dict, Optional

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


class Empty(nn.Module):
    def forward(self, x):
        return x


class Learner(nn.Module):
    """With what behaves otherwise in training."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2, momentum=0.3)
        self.drop, self.head = nn.Dropout(0.4), nn.Linear(8, 3)

    def forward(self, x):
        y = torch.relu(self.bn(self.conv(x)))
        return self.head(self.drop(torch.flatten(y, 1)))


class Counter(nn.Module):
    """Buffers that it changes: one in place, one by another tensor, one in a part."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))
        self.register_buffer("last", torch.zeros(2, 3))
        self.register_buffer("rows", torch.zeros(2, 3))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        self.count += 1
        self.sum.add_(x.sum(0))
        self.last = x * 2
        self.rows[0] += x[1]
        scale = 2.0
        if int(self.count) > 2:
            scale = 3.0
        return self.sum * scale + self.rows.sum(0)


def nadam_of(optimizer):
    """A step of NAdam in double: that of PyTorch 1.13 counts one momentum twice, which 2.0 mended."""
    group, state = optimizer.param_groups[0], optimizer.state
    product = {p: float(state[p]["mu_product"]) for p in group["params"]}
    count = {p: int(state[p]["step"]) for p in group["params"]}

    def step():
        (beta1, beta2), lr = group["betas"], group["lr"]
        for p in group["params"]:
            count[p] += 1
            now, later = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (count[p], count[p] + 1))
            product[p] *= now
            first, second = state[p]["exp_avg"], state[p]["exp_avg_sq"]
            first += (1 - beta1) * (p.grad - first)
            second += (1 - beta2) * (p.grad**2 - second)
            size = (second / (1 - beta2 ** count[p])).sqrt() + group["eps"]
            with torch.no_grad():
                p -= lr * (1 - now) / (1 - product[p]) * p.grad / size + lr * later / (1 - product[p] * later) * first / size

    return step


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


class Masked(nn.Module):
    """With tensors that need not be given."""

    def forward(self, x, mask: Optional[torch.Tensor] = None, bias: Optional[torch.Tensor] = None, scale: float = 2.0):
        if mask is not None:
            x = x * mask
        if bias is not None:
            x = x + bias
        return x * scale


class Batch(nn.Module):
    """What comes in goes by keys."""

    def forward(self, batch: Dict[str, torch.Tensor]):
        y = batch["tokens"] * 2
        if "offset" in batch:
            y = y + batch["offset"]
        return y


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

    def test_weights_alone_are_not_run(self):
        header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        with open(self.path("w.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + bytes(4))
        done = self.ingot("run", self.path("w.safetensors"), "--random", "1", code=3)
        self.assertIn("nothing to run", done)

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

    def test_what_ingot_writes_with_operators_is_read_back(self):
        text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[2, 3] x, float[3] y) => (float[2, 3] output) { s = Add(x, y) d = Div(s, y) m = Mul(d, x) output = Sub(m, y) }
"""
        with open(self.path("a.onnxtxt"), "w") as file:
            file.write(text)
        self.ingot("convert", self.path("a.onnxtxt"), "-o", self.path("a.pt"), "--no-verify")
        self.ingot("convert", self.path("a.pt"), "-o", self.path("back.onnx"), "--no-verify")
        x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
        np.testing.assert_allclose(self.run_model("back.onnx", x=x, y=y), (x + y) / y * x - y, rtol=1e-6)

    def test_inputs_have_the_type_of_the_weights(self):
        for dtype, kind in ((torch.float64, np.float64), (torch.float16, np.float16)):
            net = Net().to(dtype)
            torch.jit.script(net).save(self.path("net.pt"))
            self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify")
            x = np.linspace(-1, 1, 8).reshape(2, 4).astype(kind)
            wanted = net.double()(torch.tensor(x).double()).detach().numpy()
            np.testing.assert_allclose(self.run_model("net.onnx", x=x), wanted, atol=1e-12 if kind == np.float64 else 5e-3)

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

    def test_arguments_with_defaults_become_inputs_where_their_shape_is_told(self):
        torch.jit.script(Masked()).save(self.path("net.pt"))
        x, bias = np.ones((2, 4), np.float32), np.arange(4, dtype=np.float32)
        text = self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--input-shape", "x:N,4")
        self.assertIn("the argument 'mask' has its default value", text)
        np.testing.assert_array_equal(self.run_model("net.onnx", x=x), x * 2)
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--input-shape", "x:N,4",
                   "--input-shape", "bias:4", "--input-value", "scale=3")
        np.testing.assert_array_equal(self.run_model("net.onnx", x=x, bias=bias), (x + bias) * 3)

    def test_masks_are_taken_for_truth_values(self):
        module = torch.jit.script(Empty())
        module.define("def masked(self, x, mask):\n  return x.masked_fill(mask.unsqueeze(0), 0.5)\n")
        module.save(self.path("net.pt"))
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--signature", "masked",
                   "--input-shape", "x:2,3", "--input-shape", "mask:3")
        x, mask = np.ones((2, 3), np.float32), np.array([True, False, True])
        np.testing.assert_array_equal(self.run_model("net.onnx", x=x, mask=mask), np.where(mask, 0.5, x))
        text = self.ingot("convert", self.path("net.pt"), "-o", self.path("no.onnx"), "--input-type", "x:string", code=2)
        self.assertIn("PyTorch has no tensors of them", text)

    def test_dictionaries_become_inputs_by_their_keys(self):
        torch.jit.script(Batch()).save(self.path("net.pt"))
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify")
        np.testing.assert_array_equal(self.run_model("net.onnx", batch_tokens=x), x * 2)
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--input-shape",
                   "batch_offset:2,1")
        offset = np.ones((2, 1), np.float32)
        np.testing.assert_array_equal(self.run_model("net.onnx", batch_tokens=x, batch_offset=offset), x * 2 + 1)

    def test_training_mode_keeps_normalisation_and_dropout(self):
        net = Learner()
        net.bn.running_mean.uniform_(-1, 1)
        for is_training in (False, True):
            torch.jit.script(net.train(is_training)).save(self.path("net.pt"))
            self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--mode", "training",
                       "--input-shape", "x:N,1,4,4")
            text = self.ingot("inspect", self.path("net.onnx"), "--weights")
            for word in ("BatchNormalization", "Dropout", *net.state_dict()):
                if word != "bn.num_batches_tracked":
                    self.assertIn(word, text)
            x = np.random.default_rng(1).random((2, 1, 4, 4), dtype=np.float32)
            wanted = net.eval()(torch.from_numpy(x)).detach().numpy()
            np.testing.assert_allclose(self.run_model("net.onnx", x=x), wanted, rtol=1e-5, atol=1e-6)
            self.ingot("convert", self.path("net.onnx"), "-o", self.path("again.pt"), "--no-verify")
            again = torch.jit.load(self.path("again.pt"))
            held = dict(again.named_parameters())
            self.assertEqual(set(held), set(dict(net.named_parameters())))
            again.train()(torch.from_numpy(x))  # moves the statistics as PyTorch's own does
            moved = Learner()
            moved.load_state_dict(net.state_dict())
            moved.train()(torch.from_numpy(x))
            for name in ("bn.running_mean", "bn.running_var"):
                np.testing.assert_allclose(again.state_dict()[name], moved.state_dict()[name], rtol=1e-5, atol=1e-6)

    def optimizers(self):
        return {
            "sgd": lambda p: torch.optim.SGD(p, lr=0.1), "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3),
            "dampened": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.1),
            "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True), "adam": lambda p: torch.optim.Adam(p, lr=0.01),
            "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1), "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
            "nadam": lambda p: torch.optim.NAdam(p, lr=0.01), "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
            "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.01), "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.5),
        }

    def test_training_goes_on_from_the_state_of_an_optimizer(self):
        data = np.random.default_rng(4)
        x, y = data.random((6, 4)), data.random((6, 2))
        np.savez(self.path("data.npz"), x=x, y=y)
        for name, make in self.optimizers().items():
            with self.subTest(name):
                torch.manual_seed(2)
                net = Net().double()
                optimizer = make(net.parameters())

                def steps(count, step):
                    for _ in range(count):
                        optimizer.zero_grad()
                        nn.functional.mse_loss(net(torch.from_numpy(x)), torch.from_numpy(y)).backward()
                        step()

                steps(5, optimizer.step)
                torch.jit.script(net).save(self.path("net.pt"))
                torch.save({"epoch": 5, "optimizer": optimizer.state_dict()}, self.path("opt.pt"))
                which = ["--optimizer", "adamw"] if name == "adamw" else []
                self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--optimizer-state",
                           self.path("opt.pt"), "--loss", "mse", "--input-type", "x:double", *which)
                self.ingot("train", self.path("net.onnx"), "--data", self.path("data.npz"), "--target", "y", "--steps", "5",
                           "--batch", "6", "--keep-order", "--export", self.path("trained.onnx"))
                self.ingot("convert", self.path("trained.onnx"), "-o", self.path("trained.pt"), "--no-verify")
                steps(5, nadam_of(optimizer) if name == "nadam" else optimizer.step)
                got = torch.jit.load(self.path("trained.pt")).state_dict()
                for key, value in net.state_dict().items():
                    np.testing.assert_allclose(got[key].numpy(), value.numpy(), rtol=0, atol=1e-9, err_msg=f"{name}: {key}")

    def test_states_that_do_not_fit_are_refused(self):
        net = Net()
        torch.jit.script(net).save(self.path("net.pt"))
        convert = ["convert", self.path("net.pt"), "-o", self.path("no.onnx"), "--no-verify"]

        def refused(optimizer, *words, code=2):
            torch.save(optimizer.state_dict(), self.path("opt.pt"))
            return self.ingot(*convert, "--optimizer-state", self.path("opt.pt"), *words, code=code)

        self.assertIn("--loss", refused(torch.optim.Adam(net.parameters())))
        self.assertIn("--optimizer adamw", refused(torch.optim.AdamW(net.parameters()), "--loss", "mse"))
        self.assertIn("parameters", refused(torch.optim.Adam(nn.Linear(2, 2).parameters()), "--loss", "mse"))
        self.assertIn("amsgrad", refused(torch.optim.Adam(net.parameters(), amsgrad=True), "--loss", "mse", code=4))
        self.assertIn("none that has a translation", refused(torch.optim.Rprop(net.parameters()), "--loss", "mse", code=4))
        torch.save(net.state_dict(), self.path("opt.pt"))
        self.assertIn("state_dict", self.ingot(*convert, "--optimizer-state", self.path("opt.pt"), "--loss", "mse", code=2))
        self.ingot(*convert, "--loss", "mse", code=2)

    def test_buffers_that_change_go_in_and_out_on_request(self):
        net = Counter()
        torch.jit.script(net).save(self.path("net.pt"))
        text = self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--input-shape", "x:2,3")
        for name in net.state_dict():
            self.assertIn(f"'{name}'", text)
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--input-shape", "x:2,3",
                   "--keep-state")
        state = {}
        for round_ in range(4):
            x = np.random.default_rng(round_).random((2, 3), dtype=np.float32)
            wanted = net(torch.from_numpy(x)).numpy()
            np.testing.assert_allclose(self.run_model("net.onnx", x=x, **state), wanted, rtol=1e-5, atol=1e-6)
            state = {name: np.load(self.path(f"out/{name}.next.npy")) for name in net.state_dict()}
            for name, value in net.state_dict().items():
                np.testing.assert_allclose(state[name], value.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)

    def test_statistics_of_a_file_in_training_go_out_on_request(self):
        net = Learner().train()
        net.drop.p = 0.0
        torch.jit.script(net).save(self.path("net.pt"))
        self.ingot("convert", self.path("net.pt"), "-o", self.path("net.onnx"), "--no-verify", "--input-shape", "x:N,1,4,4",
                   "--keep-state")
        x = np.random.default_rng(1).random((2, 1, 4, 4), dtype=np.float32)
        wanted = net(torch.from_numpy(x)).detach().numpy()
        np.testing.assert_allclose(self.run_model("net.onnx", x=x), wanted, rtol=1e-4, atol=1e-5)
        for name in ("bn.running_mean", "bn.running_var", "bn.num_batches_tracked"):
            np.testing.assert_allclose(np.load(self.path(f"out/{name}.next.npy")), net.state_dict()[name], rtol=1e-5)

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

    def hostile(self, code="", code_file="__torch__.py", method="zip_stored", members=None):
        """An archive of a module without attributes whose code is this."""
        stream = io.BytesIO()
        torch.jit.script(Empty()).save(self.path("empty.pt"))
        source = zipfile.ZipFile(self.path("empty.pt"))
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if method == "deflated" else zipfile.ZIP_STORED) as archive:
            for name in source.namelist():
                body = source.read(name)
                if name.endswith(code_file) and code:
                    head = body.decode().split("  def forward")[0]
                    body = (head + code).encode()
                archive.writestr(name, (members or {}).get(name.split("/", 1)[1], body))
        with open(self.path("hostile.pt"), "wb") as file:
            file.write(stream.getvalue())
        done = subprocess.run([INGOT, "--untrusted", "convert", self.path("hostile.pt"), "-o", self.path("o.onnx"), "--no-verify",
                               "--input-shape", "x:2,3"], capture_output=True, text=True, check=False, timeout=120)
        self.assertIn(done.returncode, (2, 3, 4, 5), done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"\[IG\d{4}\]")
        return done.stderr

    def test_hostile_code_is_refused(self):
        forward = "  def forward(self: __torch__.Empty,\n    x: Tensor) -> Tensor:\n"
        deep = "(" * 5000 + "x" + ")" * 5000
        self.hostile(forward + f"    return {deep}\n")
        self.hostile(forward + "    return " + "torch.relu(" * 3000 + "x" + ")" * 3000 + "\n")
        blocks = "".join("  " * (i + 2) + "if True:\n" for i in range(2000))
        self.hostile(forward + blocks + "  " * 2002 + "return x\n")
        self.hostile(forward + "    y = x\n    for i in range(1000000000000):\n      y = torch.add(y, x)\n      y = annotate(List[int], [i])\n    return y\n")
        self.hostile(forward + "    y = x\n    for i in range(15000):\n      for j in range(15000):\n        y = torch.relu(y)\n    return y\n")
        self.hostile(forward + "    y = x\n    while True:\n      y = torch.relu(y)\n    return y\n")
        self.hostile(forward + "    return torch.zeros([9223372036854775807, 9223372036854775807])[0] + (self).forward(x, )\n")
        self.hostile(forward + "    y = [x]\n    for i in range(60):\n      y = torch.add(y, y)\n    return torch.cat(y)\n")
        self.hostile(forward + "    return (self).forward(x, )\n")
        self.hostile(forward + "    def f():\n      return fork(f)\n    return fork(f)\n")

    def test_code_that_doubles_nests_and_chains_is_refused(self):
        forward = "  def forward(self: __torch__.Empty,\n    x: Tensor) -> Tensor:\n"
        self.hostile(forward + "    def f():\n      y = fork(f)\n      return fork(f)\n    return fork(f)\n")
        calls = "".join(f"  def f{i}(self: __torch__.Empty, x: Tensor) -> Tensor:\n    y = (self).f{i + 1}(x, )\n"
                        f"    return (self).f{i + 1}(y, )\n" for i in range(50))
        self.hostile(calls + "  def f50(self: __torch__.Empty, x: Tensor) -> Tensor:\n    return x\n"
                     + forward + "    return (self).f0(x, )\n")
        for start, step in (("[x, x]", "[a, a]"), ("[1, 2]", "torch.add(a, a)"), ("'abc'", "torch.add(a, a)"),
                            ("(x, x)", "(a, a)"), ("[x]", "[a]"), ("{}", "{'a': a}")):
            self.hostile(forward + f"    a = {start}\n" + f"    a = {step}\n" * 100_000 + "    return a\n")
        self.hostile(forward + "    a = annotate(List[Tensor], [])\n"
                     + "    b = annotate(List[Tensor], [])\n    _0 = torch.append(a, b)\n    a = b\n" * 50_000 + "    return x\n")
        self.hostile(forward + "    y, i, = torch.adaptive_max_pool2d(torch.unsqueeze(torch.unsqueeze(x, 0), 0), [1000000000000, 1000000000000])\n    return i\n")
        self.hostile(forward + "    return torch.linspace(0, 1, 100000000000)\n")
        # A text is one, wherever it stands: neither memory nor time is needed for a million places.
        text = "'" + "a" * 90_000 + "'"
        for made in (f"[{text}]", f"[torch.device({text})]"):
            code = forward + f"    a = {made}\n    b = torch.mul(a, 1000000)\n    return torch.add(b, a)\n"
            self.assertNotIn("IG1201", self.hostile(code))

    def test_hostile_archives_are_refused(self):
        # A member that unpacks to far more than the file has, two tensors that claim more than a storage holds.
        self.hostile(members={"code/__torch__.py": b" " * 300_000_000}, method="deflated")
        state = {"a": torch.arange(12.0)}
        torch.save(state, self.path("w.pth"))
        source = zipfile.ZipFile(self.path("w.pth"))
        body = {n: source.read(n) for n in source.namelist()}
        pickle_name = next(n for n in body if n.endswith("data.pkl"))
        storage = next(n for n in body if n.endswith("data/0"))
        for name, change in ((storage, lambda b: b[:8]), (pickle_name, lambda b: b.replace(b"K\x0c\x85", b"M\xff\xff\x85")),
                             (pickle_name, lambda b: b.replace(b"K\x01\x85", b"J\xff\xff\xff\x7f\x85")),
                             (pickle_name, lambda b: b.replace(b"K\x01\x85", b"J\xff\xff\xff\xff\x85")),
                             (pickle_name, lambda b: b.replace(b"QK\x00", b"QJ\xf0\xff\xff\xff"))):
            changed = dict(body)
            changed[name] = change(body[name])
            self.assertNotEqual(changed[name], body[name])
            with zipfile.ZipFile(self.path("h.pth"), "w") as archive:
                for member, contents in changed.items():
                    archive.writestr(member, contents)
            text = self.ingot("--untrusted", "convert", self.path("h.pth"), "-o", self.path("h.safetensors"), code=3)
            self.assertRegex(text, r"\[IG\d{4}\]")

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

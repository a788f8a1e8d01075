#!/usr/bin/env python3
"""Every command where memory runs out, at calls of malloc all over it. Usage: no_memory_test.py INGOT FAILING_MEMORY

INGOT_CALLS: how many calls of each command fail, one after the other (default: 6, in acceptance 150).
"""
import collections
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

FAILING_MEMORY = os.path.abspath(sys.argv.pop(2))

from hostile_test import INGOT, model, node, npy, port, weights  # reads the command line

CALLS = int(os.environ.get("INGOT_CALLS", 6))
LIMIT = 5  # exit code
# What is printed differs from run to run, or says how exactly it was measured.
VARIES = ("bench", "report", "train", "verify", "optimize", "quantize")

COMMANDS = [
    "inspect", "inspect --text", "inspect --json", "check", "convert -o o.onnx --opset 12", "run --random 1",
    "run --in x=data/x.npy --out result", "verify net.onnx", "ops --model", "grad -o o.onnx", "gradcheck",
    "make-trainable --loss mse -o o.onnx", "eval --data data --loss mse",
    "train --data data --loss mse --steps 2 --checkpoint runs --export o.onnx", "quantize -o o.onnx --random 2",
    "optimize -o o.onnx", "rename --prefix p/ -o o.onnx", "extract --outputs h -o o.onnx",
    "merge net.onnx --connect y=x --prefix-b b/ -o o.onnx", "split --at h -o parts", "partition --targets ingot -o parts",
    "diff net.onnx", "report -o pages", "bench --runs 1",
    *[f"compile --emit {e} -o net" for e in ("c", "cpp", "matlab", "mlir", "mlir-onnx")],
    *[f"convert --to {to} -o {file} --no-verify" for to, file in (
        ("tflite", "o.tflite"), ("tensorflow", "o.pb"), ("savedmodel", "saved"), ("keras", "keras"), ("tfjs", "tfjs"),
        ("torch", "o.pt"), ("torch-source", "source"), ("onnxtxt", "o.onnxtxt"), ("json", "o.json"),
        ("safetensors", "o.safetensors"))],
]


class NoMemory(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def call(self, command, **settings):
        work = self.path / "work"
        shutil.rmtree(work, ignore_errors=True)
        (work / "data").mkdir(parents=True)
        (work / "net.onnx").write_bytes(model(
            node("MatMul", ["x", "w"], "h", "product") + node("Relu", ["h"], "y", "positive"), [port("x", (8, 2))],
            [port("y", (8, 2))], weights("w", (2, 2), [1, 2, 3, 4])))
        for name in "xy":
            (work / f"data/{name}.npy").write_bytes(npy((8, 2), struct.pack("<16f", *range(16))))
        words = command.split()
        at = len(words) if words[-1] == "--model" else 1
        environment = {**os.environ, "LD_PRELOAD": FAILING_MEMORY, "TMPDIR": str(work),
                       **{"INGOT_" + key.upper(): str(value) for key, value in settings.items()}}
        return subprocess.run([INGOT, *words[:at], "net.onnx", *words[at:]], cwd=work, env=environment,
                              capture_output=True, timeout=120)

    def calls_of(self, command):
        """How often it asks for memory, and what it prints."""
        done = self.call(command, count_to=self.path / "count")
        self.assertEqual(done.returncode, 0, done.stderr)
        return int((self.path / "count").read_text()), done.stdout

    def test_no_memory_is_an_exit_code(self):
        # What every command does before it begins is met by one of them.
        before, _ = self.calls_of("check")
        before = before * 99 // 100
        draw = random.Random(7)
        ends = collections.Counter()
        for command in COMMANDS:
            count, shown = self.calls_of(command)
            first = 1 if command == "check" else before
            for at in sorted(draw.randrange(first, max(count, first + 1)) for _ in range(CALLS)):
                for goes_on in (0, 1):
                    with self.subTest(command=command, at=at, goes_on=goes_on):
                        done = self.call(command, fail_at=at, fail_on=goes_on)
                        said = done.stderr.decode(errors="replace")
                        if "failed to register TLS destructor" in said:
                            continue  # the C library's own end where a thread has no memory for its variables
                        ends[done.returncode] += 1
                        # 0: it could do without, or did not get that far; 1, 4: no answer, as it says.
                        allowed = (0, LIMIT) if command.split()[0] not in VARIES else (0, 1, 4, LIMIT)
                        self.assertIn(done.returncode, allowed, said)
                        if done.returncode == LIMIT:
                            self.assertIn("IG12", said)
                        elif done.returncode == 0 and command.split()[0] not in VARIES:
                            self.assertEqual(done.stdout, shown)
        print(f"{sum(ends.values())} runs: " + ", ".join(f"{n} ended with {code}" for code, n in sorted(ends.items())))


if __name__ == "__main__":
    if os.environ.get("INGOT_SANITIZED"):
        print("skipped: the sanitizers have a malloc of their own")
        sys.exit(77)
    unittest.main()

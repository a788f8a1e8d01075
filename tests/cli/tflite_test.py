#!/usr/bin/env python3
"""ONNX to TFLite as a user meets it: speed, memory, and what is left when it goes wrong.
Usage: tflite_test.py PATH_TO_INGOT"""
import array
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

INGOT = sys.argv.pop(1)

SMALL = """<ir_version: 8, opset_import: ["" : 13]>
net (float[N, 4] x) => (float[N, 2] y)
<float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}>
{
  h = MatMul(x, w)
  y = Softmax<axis = -1>(h)
}
"""


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def port(name, dims):
    shape = b"".join(message(1, number(1, d)) for d in dims)
    return message(1, name.encode()) + message(2, message(1, number(1, 1) + message(2, shape)))


def write_network(path, op, dims, shape, layers, attributes=b""):
    """An ONNX file of `layers` equal layers, each with weights of its own."""
    count = 1
    for d in dims:
        count *= d
    pattern = array.array("f", (i * 7919 % 1000 / 5e5 - 1e-3 for i in range(99991)))
    weights = (pattern * (count // len(pattern) + 1))[:count].tobytes()
    sizes = b"".join(number(1, d) for d in dims) + number(2, 1)
    with open(path, "wb") as file:
        parts = []
        for i in range(layers):
            x, y = f"h{i}", f"h{i + 1}"
            parts.append(message(1, message(1, x.encode()) + message(1, f"w{i}".encode()) + message(2, y.encode()) +
                                 message(4, op.encode()) + attributes))
            # The weights of all layers are one object here, however large the file gets.
            head = sizes + message(8, f"w{i}".encode()) + varint(9 << 3 | 2) + varint(len(weights))
            parts += [varint(5 << 3 | 2) + varint(len(head) + len(weights)) + head, weights]
        parts += [message(2, b"net"), message(11, port("h0", shape)), message(12, port(f"h{layers}", shape))]
        file.write(number(1, 8) + message(8, number(2, 17)) + varint(7 << 3 | 2) + varint(sum(map(len, parts))))
        for part in parts:
            file.write(part)


class TfliteTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name)

    def convert(self, *arguments):
        return subprocess.run([INGOT, "convert", "--no-verify", *arguments], cwd=self.path, capture_output=True, text=True)

    @unittest.skipIf("INGOT_SANITIZED" in os.environ, "sanitizers take time and memory of their own")
    def test_a_hundred_megabytes_take_less_than_a_second_and_little_memory(self):
        pads = message(5, message(1, b"pads") + b"".join(number(8, 1) for _ in range(4)) + number(20, 7))
        networks = {"Conv": ([512, 512, 3, 3], [1, 512, 14, 14], 11, pads), "MatMul": ([1024, 1024], [1, 1024], 25, b"")}
        for op, (dims, shape, layers, attributes) in networks.items():
            write_network(self.path / "big.onnx", op, dims, shape, layers, attributes)
            size = (self.path / "big.onnx").stat().st_size
            self.assertGreater(size, 100e6)
            best = None
            for _ in range(3):  # the machine may be doing something else
                child = subprocess.Popen([INGOT, "convert", "big.onnx", "-o", "big.tflite", "--no-verify"], cwd=self.path,
                                         stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(child.returncode, 0)
                seconds = usage.ru_utime + usage.ru_stime
                best = min(best, seconds) if best else seconds
            memory = usage.ru_maxrss * 1024
            print(f"{op}: {size / 1e6:.0f} MB in {best:.2f} s of CPU time, {memory / 1e6:.0f} MB of memory",
                  file=sys.stderr)
            self.assertGreater((self.path / "big.tflite").stat().st_size, 100e6)
            self.assertLess(best, 1)
            self.assertLess(memory, size + 100e6)

    @unittest.skipUnless("INGOT_WHOLE_CORPUS" in os.environ, "writes 5 GB: only script/acceptance does")
    def test_models_beyond_two_gigabytes_have_their_weights_behind_the_flatbuffer(self):
        write_network(self.path / "huge.onnx", "MatMul", [8192, 8192], [1, 8192], 9)
        size = (self.path / "huge.onnx").stat().st_size
        self.assertGreater(size, 2**31)
        done = self.convert("huge.onnx", "-o", "huge.tflite")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.path / "huge.onnx").unlink()
        self.assertGreater((self.path / "huge.tflite").stat().st_size, 2**31)
        read = subprocess.run([INGOT, "inspect", "huge.tflite"], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(read.returncode, 0, read.stderr)
        self.assertIn("603,979,776 in 9 tensors", read.stdout)

    def test_the_same_model_gives_the_same_bytes(self):
        (self.path / "m.onnxtxt").write_text(SMALL)
        self.assertEqual(self.convert("m.onnxtxt", "-o", "a.tflite").returncode, 0)
        self.assertEqual(self.convert("m.onnxtxt", "-o", "b.tflite").returncode, 0)
        self.assertEqual((self.path / "a.tflite").read_bytes(), (self.path / "b.tflite").read_bytes())

    def test_a_kill_leaves_the_old_file_or_the_new_one(self):
        (self.path / "m.onnxtxt").write_text(SMALL)
        self.convert("m.onnxtxt", "-o", "out.tflite")
        old = (self.path / "out.tflite").read_bytes()
        self.convert("m.onnxtxt", "-o", "new.tflite", "--input-shape", "x:3,4")
        new = (self.path / "new.tflite").read_bytes()
        self.assertNotEqual(old, new)
        (self.path / "new.tflite").unlink()
        for wait in range(25):
            child = subprocess.Popen([INGOT, "convert", "m.onnxtxt", "-o", "out.tflite", "--input-shape", "x:3,4",
                                      "--no-verify"], cwd=self.path, stderr=subprocess.DEVNULL)
            time.sleep(wait * 0.0008)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.assertIn((self.path / "out.tflite").read_bytes(), (old, new))
        self.convert("m.onnxtxt", "-o", "out.tflite")
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["m.onnxtxt", "out.tflite"])

    def test_a_full_disk_leaves_the_old_file_and_says_so(self):
        disk = self.path / "disk"
        disk.mkdir()
        (self.path / "m.onnxtxt").write_text(SMALL)
        script = """set -e
            mount -t tmpfs -o size=64k tmpfs disk
            "$1" convert m.onnxtxt -o disk/out.tflite --no-verify
            cat disk/* | sha256sum > before
            dd if=/dev/zero of=disk/full bs=1k 2>/dev/null || true
            code=0; "$1" convert m.onnxtxt -o disk/out.tflite --input-shape x:3,4 --no-verify 2> error || code=$?
            rm disk/full
            cat disk/* | sha256sum > after
            exit $code"""
        enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("a small disk cannot be mounted here (needs root or user namespaces)")
        done = subprocess.run([*enter, "bash", "-c", script, "bash", INGOT], cwd=self.path, capture_output=True,
                              text=True, timeout=60)
        error = (self.path / "error").read_text()
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr + error)
        self.assertIn("No space left on device", error)
        self.assertEqual((self.path / "before").read_text(), (self.path / "after").read_text())

    def test_a_file_size_limit_leaves_the_old_file(self):
        (self.path / "m.onnxtxt").write_text(SMALL)
        self.convert("m.onnxtxt", "-o", "out.tflite")
        before = (self.path / "out.tflite").read_bytes()
        limited = f"ulimit -f 0; trap '' XFSZ; exec {INGOT} convert m.onnxtxt -o out.tflite --no-verify --input-shape x:3,4"
        done = subprocess.run(["bash", "-c", limited], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual((self.path / "out.tflite").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()

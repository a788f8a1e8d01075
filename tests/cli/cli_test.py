#!/usr/bin/env python3
"""The program as a user meets it: outputs, exit codes and files. Usage: cli_test.py PATH_TO_INGOT"""
import json
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

INGOT = sys.argv.pop(1)

SMALL = """<ir_version: 8, opset_import: ["" : 13]>
net (float[N, 4] x) => (float[N, 2] y)
<float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}>
{
  h = MatMul(x, w)
  y = Softmax<axis = -1>(h)
}
"""

BROKEN = """<ir_version: 8, opset_import: ["" : 13]>
net (float[2, 3] a, float[4, 5] b) => (float[2, 5] y)
{
  t = MatMul(a, b)
  y = Relu(t, missing)
}
"""

NEW_OPERATOR = """<ir_version: 10, opset_import: ["" : 24]>
net (uint8[B] x) => (uint8[H, W, 3] y)
{
  y = ImageDecoder(x)
}
"""

ENDLESS = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1] x) => (float[1] y)
<int64 n = {9223372036854775807}, bool yes = {1}>
{
  y = Loop(n, yes, x) <body = b (int64 i, bool c, float[1] s) => (bool d, float[1] t) { d = Identity(c) t = Neg(s) }>
}
"""

BOMB = """<ir_version: 8, opset_import: ["" : 17]>
net (int64[1] x) => (float[N] y)
<int64[1] n = {1000000000000}, int64[1] zero = {0}>
{
  z = Mul(x, zero)
  s = Add(n, z)
  y = ConstantOfShape(s)
}
"""


ENDLESS_LOOP = """<ir_version: 10, opset_import: ["" : 21]>
net () => (float[1] y)
<int64 n = {9223372036854775807}, bool on = {1}, float[1] x = {1}>
{
  y = Loop<body = b (int64 i, bool on_in, float[1] v) => (bool on_out, float[1] w) {
    w = Add(v, x)
    on_out = Identity(on_in)
  }>(n, on, x)
}
"""

ONE_CALL = """<ir_version: 10, opset_import: ["" : 21]>
net () => (float[M] y)
<float[1] x = {1}, %s>
{
  y = %s
}
"""

# Operators that make much of little: further constants, the call.
BOMBS = {
    "Expand": ("int64[1] s = {1099511627776}", "Expand(x, s)"),
    "Tile": ("int64[1] s = {1099511627776}", "Tile(x, s)"),
    "ConstantOfShape": ("int64[1] s = {1073741824}", "ConstantOfShape(s)"),
    "Range": ("float a = {0}, float b = {1e15}, float d = {1}", "Range(a, b, d)"),
    "Resize": ("int64[1] s = {1099511627776}", "Resize(x, , , s)"),
    "Pad": ("int64[2] s = {1073741824, 1073741824}", "Pad(x, s)"),
}


def wait_until_it_runs(program):
    """Waits until the program takes Ctrl-C itself, then as long as it needs to be in its work."""
    caught = 0
    while not caught & 1 << (signal.SIGINT - 1):
        status = pathlib.Path(f"/proc/{program.pid}/status").read_text()
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        time.sleep(0.01)
    time.sleep(1)


class Cli(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def file(self, name, text):
        (self.path / name).write_text(text)
        return name

    def ingot(self, *args, code=0, env=None):
        done = subprocess.run([INGOT, *map(str, args)], cwd=self.path, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_without_arguments_it_teaches(self):
        done = self.ingot()
        for word in ("inspect", "check", "convert", "ops", "First steps", "Exit codes"):
            self.assertIn(word, done.stdout)

    def test_an_unknown_command_is_a_usage_error(self):
        done = self.ingot("transmogrify", code=2)
        self.assertIn("IG1301", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_each_command_explains_itself(self):
        for command in ("inspect", "check", "convert", "ops", "run", "test", "bench"):
            self.assertIn("Usage: ingot " + command, self.ingot(command, "--help").stdout)

    def test_a_missing_file_is_an_io_error_that_names_it(self):
        done = self.ingot("inspect", "nowhere.onnx", code=6)
        self.assertIn("nowhere.onnx", done.stderr)

    def test_a_file_of_another_kind_is_refused(self):
        self.file("picture.png", "\x89PNG not a model")
        self.assertIn("hint", self.ingot("inspect", "picture.png", code=3).stderr)

    def test_inspect_shows_inputs_operators_and_parameters(self):
        self.file("m.onnxtxt", SMALL)
        text = self.ingot("inspect", "m.onnxtxt").stdout
        for word in ("float[N,4]", "MatMul", "Softmax", "8 in 1 tensors, 32 B"):
            self.assertIn(word, text)
        report = json.loads(self.ingot("inspect", "m.onnxtxt", "--json", "--weights").stdout)
        self.assertEqual(report["opsets"], {"ai.onnx": 13})
        self.assertEqual(report["operators"], {"MatMul": 1, "Softmax": 1})
        self.assertEqual(report["weights"][0]["type"], "float[4,2]")

    def test_check_lists_every_problem_and_exits_1(self):
        self.file("m.onnxtxt", SMALL)
        self.assertIn("valid", self.ingot("check", "m.onnxtxt").stdout)
        self.file("broken.onnxtxt", BROKEN)
        report = json.loads(self.ingot("check", "broken.onnxtxt", "--json", code=1).stdout)
        self.assertFalse(report["valid"])
        codes = {problem["code"] for problem in report["problems"]}
        self.assertIn("IG0302", codes)  # the undefined value
        self.assertIn("IG0306", codes)  # too many inputs
        self.assertIn("IG0401", codes)  # 3 and 4 cannot be multiplied

    def test_text_and_binary_are_the_same_model(self):
        self.file("m.onnxtxt", SMALL)
        self.ingot("convert", "m.onnxtxt", "-o", "a.onnx")
        self.ingot("convert", "a.onnx", "-o", "b.onnxtxt")
        self.ingot("convert", "b.onnxtxt", "-o", "b.onnx")
        self.assertEqual((self.path / "a.onnx").read_bytes(), (self.path / "b.onnx").read_bytes())

    def test_convert_moves_the_operator_set_and_the_ir_version(self):
        self.file("m.onnxtxt", SMALL)
        self.ingot("convert", "m.onnxtxt", "-o", "new.onnx", "--opset", 21)
        report = json.loads(self.ingot("inspect", "new.onnx", "--json").stdout)
        self.assertEqual((report["opsets"]["ai.onnx"], report["ir_version"]), (21, 10))
        self.ingot("convert", "new.onnx", "-o", "old.onnx", "--for", "ort-1.4")
        report = json.loads(self.ingot("inspect", "old.onnx", "--json").stdout)
        self.assertEqual((report["opsets"]["ai.onnx"], report["ir_version"]), (12, 7))
        self.ingot("check", "new.onnx", "old.onnx")

    def test_what_cannot_be_converted_is_listed_with_exit_code_4(self):
        self.file("m.onnxtxt", NEW_OPERATOR)
        done = self.ingot("convert", "m.onnxtxt", "-o", "old.onnx", "--opset", 13, code=4)
        self.assertIn("ImageDecoder", done.stderr)
        self.assertIn("--opset 20", done.stderr)
        self.assertFalse((self.path / "old.onnx").exists())

    def test_an_unknown_target_lists_the_known_ones(self):
        self.file("m.onnxtxt", SMALL)
        self.assertIn("ort-1.15", self.ingot("convert", "m.onnxtxt", "-o", "o.onnx", "--for", "abacus-3", code=2).stderr)

    def test_shapes_and_names_change_on_request_only(self):
        self.file("m.onnxtxt", SMALL)
        self.ingot("convert", "m.onnxtxt", "-o", "m.onnx", "--input-shape", "x:7,4", "--rename", "x=pixels")
        report = json.loads(self.ingot("inspect", "m.onnx", "--json").stdout)
        self.assertEqual(report["inputs"][0], {"name": "pixels", "type": "float[7,4]", "has_default": False})
        self.assertEqual(report["outputs"][0]["type"], "float[N,2]")
        self.ingot("convert", "m.onnxtxt", "-o", "n.onnx", "--input-shape", "x:7,5", code=2)
        self.ingot("convert", "m.onnxtxt", "-o", "n.onnx", "--rename", "nobody=x", code=2)

    def test_external_data_goes_to_one_file_and_back(self):
        self.file("m.onnxtxt", SMALL)
        self.ingot("convert", "m.onnxtxt", "-o", "whole.onnx")
        self.ingot("convert", "m.onnxtxt", "-o", "split.onnx", "--external-data", "--external-threshold", 16)
        self.assertEqual(len(list(self.path.glob("split*.data"))), 1)
        self.ingot("convert", "split.onnx", "-o", "again.onnx")
        self.assertEqual((self.path / "again.onnx").read_bytes(), (self.path / "whole.onnx").read_bytes())

    def test_options_that_do_not_apply_are_refused_with_the_formats_that_take_them(self):
        self.file("m.onnxtxt", SMALL)
        refused = self.ingot("convert", "m.onnxtxt", "-o", "m.onnx", "--tag", "serve", code=2).stderr
        self.assertIn("a conversion from ONNX text to ONNX does not take --tag [IG1301]", refused)
        self.assertIn("hint: --tag is taken from tensorflow, savedmodel", refused)
        self.assertIn("inference, training or both",
                      self.ingot("convert", "m.onnxtxt", "-o", "m.onnx", "--mode", "dreaming", code=2).stderr)
        self.assertFalse((self.path / "m.onnx").exists())
        self.assertIn("tflite, tensorflow, savedmodel, tfjs", self.ingot("ops", "--from", "onnx", code=2).stderr)
        self.assertIn("tflite", self.ingot("ops", "--to", "onnx", code=2).stderr)

    def test_results_go_to_stdout_and_the_rest_to_stderr(self):
        self.file("m.onnxtxt", SMALL)
        done = self.ingot("convert", "m.onnxtxt", "-o", "m.onnx")
        self.assertEqual(done.stdout, "")
        self.assertIn("wrote m.onnx", done.stderr)
        self.assertEqual(self.ingot("convert", "m.onnxtxt", "-o", "m.onnx", "--quiet").stderr, "")

    def test_there_is_no_colour_outside_a_terminal(self):
        self.file("broken.onnxtxt", BROKEN)
        self.assertNotIn("\033", self.ingot("check", "broken.onnxtxt", code=1).stdout)

    def test_ops_lists_every_operator(self):
        lines = json.loads(self.ingot("ops", "--json").stdout)
        self.assertEqual(len(lines), 227)
        self.assertTrue(all(line["inference"] for line in lines))
        self.assertIn("Softmax", self.ingot("ops", "--versions").stdout)
        self.assertIn("| ort-1.15 ", self.ingot("ops", "--targets", "--markdown").stdout)
        targets = {t["name"]: t for t in json.loads(self.ingot("ops", "--targets", "--json").stdout)}
        self.assertEqual(targets["ort-1.15"]["ai.onnx"], 19)
        self.assertIn("lists apart", self.ingot("ops", "--versions", "--gradients", code=2).stderr)
        self.file("m.onnxtxt", SMALL)
        self.assertIn("MatMul", self.ingot("ops", "--model", "m.onnxtxt").stdout)

    def test_an_endless_loop_stops_at_the_time_limit(self):
        self.file("loop.onnxtxt", ENDLESS_LOOP)
        start = time.monotonic()
        done = self.ingot("run", "loop.onnxtxt", "--max-time", "1s", code=5)
        self.assertLess(time.monotonic() - start, 10)
        self.assertIn("IG1202", done.stderr)

    def test_ctrl_c_ends_an_endless_loop_at_once(self):
        self.file("loop.onnxtxt", ENDLESS_LOOP)
        best = 60
        for _ in range(3):  # the machine may be doing something else
            program = subprocess.Popen([INGOT, "run", "loop.onnxtxt"], cwd=self.path, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            wait_until_it_runs(program)
            start = time.monotonic()
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.wait(60), 128 + signal.SIGINT)
            best = min(best, time.monotonic() - start)
        self.assertLess(best, 2 if os.environ.get("INGOT_SANITIZED") else 0.2)

    def test_allocation_bombs_stop_at_the_memory_limit(self):
        for name, (inputs, body) in BOMBS.items():
            with self.subTest(name):
                path = self.file(name + ".onnxtxt", ONE_CALL % (inputs, body))
                done = self.ingot("run", path, "--max-memory", "100M", code=5)
                self.assertIn("IG1201", done.stderr)

    def test_a_kill_leaves_the_old_model_or_the_new_one(self):
        self.file("m.onnxtxt", SMALL)
        for external in ([], ["--external-data", "--external-threshold", "16"]):
            self.ingot("convert", "m.onnxtxt", "-o", "out.onnx", *external)
            for wait in range(12):
                child = subprocess.Popen([INGOT, "convert", "m.onnxtxt", "-o", "out.onnx", "--opset", str(13 + wait % 8),
                                          *external], cwd=self.path, stderr=subprocess.DEVNULL)
                time.sleep(wait * 0.0008)
                child.send_signal(signal.SIGKILL)
                child.wait()
                self.ingot("check", "out.onnx")
        self.ingot("convert", "m.onnxtxt", "-o", "out.onnx")
        left = [p.name for p in self.path.iterdir() if p.name not in ("m.onnxtxt", "out.onnx")]
        self.assertEqual(left, [], "leftovers are collected by the next run")

    def test_a_full_disk_leaves_the_old_model_and_says_so(self):
        disk = self.path / "disk"
        disk.mkdir()
        self.file("m.onnxtxt", SMALL)
        # A disk of its own, full to the last page, holding a model: in a mount namespace, so that nothing is left behind.
        script = """set -e
            mount -t tmpfs -o size=64k tmpfs disk
            "$1" convert m.onnxtxt -o disk/out.onnx $2
            cat disk/* | sha256sum > before
            dd if=/dev/zero of=disk/full bs=1k 2>/dev/null || true
            code=0; "$1" convert m.onnxtxt -o disk/out.onnx --opset 21 $2 2> error || code=$?
            rm disk/full
            cat disk/* | sha256sum > after
            "$1" check disk/out.onnx
            exit $code"""
        enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("a small disk cannot be mounted here (needs root or user namespaces)")
        for external in ("", "--external-data --external-threshold 16"):
            done = subprocess.run([*enter, "bash", "-c", script, "bash", INGOT, external], cwd=self.path,
                                  capture_output=True, text=True, timeout=60)
            error = (self.path / "error").read_text()
            self.assertEqual(done.returncode, 6, done.stdout + done.stderr + error)
            self.assertIn("No space left on device", error)
            self.assertEqual((self.path / "before").read_text(), (self.path / "after").read_text())

    def test_a_file_size_limit_leaves_the_old_model(self):
        self.file("m.onnxtxt", SMALL)
        self.ingot("convert", "m.onnxtxt", "-o", "out.onnx")
        before = (self.path / "out.onnx").read_bytes()
        limited = f"ulimit -f 0; trap '' XFSZ; exec {INGOT} convert m.onnxtxt -o out.onnx --opset 21"
        done = subprocess.run(["bash", "-c", limited], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual((self.path / "out.onnx").read_bytes(), before)

    def npy(self, name, dims, values):
        """A float .npy file, written without NumPy."""
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, dims))
        head += " " * (63 - (10 + len(head)) % 64) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values)
        (self.path / name).write_bytes(data)

    def floats(self, name):
        data = (self.path / name).read_bytes()
        start = 10 + struct.unpack("<H", data[8:10])[0]
        return list(struct.unpack(f"<{(len(data) - start) // 4}f", data[start:]))

    def test_run_goes_from_npy_to_npy(self):
        self.file("m.onnxtxt", SMALL)
        self.npy("x.npy", (2, 4), [0, 0, 0, 0, 1, 1, 1, 1])
        self.ingot("run", "m.onnxtxt", "--in", "x=x.npy", "--out", "out")
        y = self.floats("out/y.npy")
        self.assertEqual(y[:2], [0.5, 0.5])
        self.assertAlmostEqual(y[2], 1 / (1 + math.exp(4)), places=6)

    def test_run_reads_npz(self):
        self.file("m.onnxtxt", SMALL)
        self.npy("x.npy", (1, 4), [0, 0, 0, 0])
        with zipfile.ZipFile(self.path / "all.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(self.path / "x.npy", "x.npy")
        self.assertIn("[0.5, 0.5]", self.ingot("run", "m.onnxtxt", "--in", "all.npz").stdout)

    def test_run_draws_the_same_inputs_each_time(self):
        self.file("m.onnxtxt", SMALL)
        first = self.ingot("run", "m.onnxtxt", "--random", 7, "--input-shape", "x:3,4").stdout
        self.assertEqual(first, self.ingot("run", "m.onnxtxt", "--random", 7, "--input-shape", "x:3,4").stdout)
        self.assertNotEqual(first, self.ingot("run", "m.onnxtxt", "--random", 8, "--input-shape", "x:3,4").stdout)
        self.assertIn("float[3,2]", first)

    def test_run_names_every_problem_of_its_inputs(self):
        self.file("m.onnxtxt", SMALL)
        self.npy("x.npy", (2, 5), [0] * 10)
        done = self.ingot("run", "m.onnxtxt", "--in", "x=x.npy", "--in", "z=x.npy", code=3)
        self.assertIn("no input 'z'", done.stderr)
        self.assertIn("float[2,5]", done.stderr)

    def test_run_profiles_and_explains(self):
        self.file("m.onnxtxt", SMALL)
        done = self.ingot("run", "m.onnxtxt", "--random", 1, "--profile", "t.json", "--explain")
        self.assertIn("slowest operators", done.stderr)
        self.assertIn("kernels", done.stdout)
        events = json.loads((self.path / "t.json").read_text())["traceEvents"]
        self.assertTrue(events and all(e["ph"] == "X" for e in events))

    def test_run_stops_at_its_limits(self):
        self.file("loop.onnxtxt", ENDLESS)
        done = self.ingot("run", "loop.onnxtxt", "--random", 1, "--max-time", "200ms", code=5)
        self.assertIn("IG1202", done.stderr)
        self.file("bomb.onnxtxt", BOMB)
        done = self.ingot("run", "bomb.onnxtxt", "--random", 1, "--max-memory", "100M", code=5)
        self.assertIn("IG1201", done.stderr)

    def test_run_is_interrupted_at_once(self):
        self.file("loop.onnxtxt", ENDLESS)
        child = subprocess.Popen([INGOT, "run", "loop.onnxtxt", "--random", "1"], cwd=self.path, stderr=subprocess.PIPE)
        wait_until_it_runs(child)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(10), 130)
        child.stderr.close()
        self.assertLess(time.monotonic() - start, 1)  # 200 ms on a machine that is not busy

    def test_test_counts_and_names_what_fails(self):
        case = self.path / "cases" / "one"
        data = case / "test_data_set_0"
        data.mkdir(parents=True)
        self.file("m.onnxtxt", SMALL)
        self.ingot("convert", "m.onnxtxt", "-o", case / "model.onnx")
        zeros = b"\x08\x01\x08\x04\x10\x01\x4a\x10" + bytes(16)  # TensorProto: dims 1, 4; float; raw data
        (data / "input_0.pb").write_bytes(zeros)
        result = b"\x08\x01\x08\x02\x10\x01\x4a\x08" + struct.pack("<2f", 0.5, 0.5)
        (data / "output_0.pb").write_bytes(result)
        done = self.ingot("test", "cases")
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 0 skipped")
        (data / "output_0.pb").write_bytes(result[:-4] + struct.pack("<f", 0.75))
        done = self.ingot("test", "cases", code=1)
        self.assertIn("element [0,1] is 0.5, expected 0.75", done.stdout)
        self.assertEqual(json.loads(self.ingot("test", "cases", "--json", code=1).stdout)["failed"], 1)
        self.file("known", "one: a reason\n")
        self.ingot("test", "cases", "--known-failures", "known")
        (data / "output_0.pb").write_bytes(result)
        self.assertIn("passes now", self.ingot("test", "cases", "--known-failures", "known", code=1).stdout)
        self.ingot("test", "cases", "--filter", "two*", code=2)
        self.ingot("test", "nowhere", code=6)


if __name__ == "__main__":
    unittest.main(verbosity=1)

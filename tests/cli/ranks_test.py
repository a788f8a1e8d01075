#!/usr/bin/env python3
"""Several processes that mpirun starts: they train and score as one does, and one that is lost ends all of them.
Usage: ranks_test.py PATH_TO_INGOT"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

INGOT = os.path.abspath(sys.argv.pop(1))
MPIRUN = shutil.which("mpirun")

rng = random.Random(11)


def numbers(count):
    return ", ".join(f"{rng.uniform(-0.5, 0.5):.6f}" for _ in range(count))


NET = f"""<ir_version: 10, opset_import: ["" : 21]>
net (double[N, 4] x) => (double[N, 3] y)
<double[4, 8] w1 = {{{numbers(32)}}}, double[8] b1 = {{{numbers(8)}}}, double[8, 3] w2 = {{{numbers(24)}}},
 double[3] b2 = {{0, 0, 0}}>
{{
  h = Gemm(x, w1, b1)
  a = Tanh(h)
  y = Gemm(a, w2, b2)
}}
"""


def flowers(count):
    rows = ["a,b,c,d,kind"]
    for i in range(count):
        row = [rng.gauss(1.5 if k == i % 3 else 0, 0.6) for k in range(4)]
        rows.append(",".join(f"{v:.4f}" for v in row) + "," + ["iris", "rose", "tulip"][i % 3])
    return "\n".join(rows) + "\n"


@unittest.skipUnless(MPIRUN, "there is no mpirun")
class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "net.onnxtxt").write_text(NET)
        (self.path / "flowers.csv").write_text(flowers(90))

    def command(self, ranks, *words):
        if ranks == 0:
            return [INGOT, *words]
        return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), INGOT, *words]

    def ingot(self, ranks, *words):
        return subprocess.run(self.command(ranks, *words), capture_output=True, text=True, cwd=self.path, timeout=240)

    def train(self, ranks, out, *more):
        done = self.ingot(ranks, "train", "net.onnxtxt", "--data", "flowers.csv", "--target", "kind", "--optimizer", "adam",
                          "--lr", "0.01", "--batch", "12", "--threads", "1", "--export", out, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def weights(self, name):
        """The numbers of a model's initializers."""
        text = self.ingot(0, "convert", name, "-o", name + "txt", "--no-verify")
        self.assertEqual(text.returncode, 0, text.stderr)
        shown = (self.path / (name + "txt")).read_text()
        found = {}
        for weight in ("w1", "b1", "w2", "b2"):
            match = re.search(r"\b%s\s*=\s*\{([^}]*)\}" % weight, shown)
            self.assertTrue(match, shown[:500])
            found[weight] = [float(v) for v in match[1].split(",")]
        return found

    def assert_near(self, a, b, tolerance=1e-9):
        for name, values in a.items():
            for x, y in zip(values, b[name], strict=True):
                self.assertLessEqual(abs(x - y), tolerance, name)

    def test_only_they_load_what_they_need(self):
        """The dynamic linker lists what every start of the program loads."""
        loaded = subprocess.run([INGOT], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True).stdout
        self.assertIn("libstdc++", loaded)
        self.assertNotRegex(loaded, "libmpi|libhwloc|libopen-rte")

    def test_any_number_of_them_ends_where_one_ends(self):
        self.train(0, "one.onnx", "--epochs", "2")
        expected = self.weights("one.onnx")
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                self.train(ranks, "many.onnx", "--epochs", "2")
                self.assert_near(expected, self.weights("many.onnx"))
                self.train(ranks, "shards.onnx", "--epochs", "2", "--shard-optimizer")
                self.assertEqual(self.weights("many.onnx"), self.weights("shards.onnx"))

    def test_another_number_goes_on_from_a_checkpoint(self):
        self.train(0, "one.onnx", "--steps", "12")
        self.train(4, "half.onnx", "--steps", "6", "--checkpoint", "kept", "--shard-optimizer")
        self.train(2, "whole.onnx", "--steps", "12", "--checkpoint", "kept", "--resume", "--shard-optimizer")
        self.assert_near(self.weights("one.onnx"), self.weights("whole.onnx"))
        shutil.rmtree(self.path / "kept")
        self.train(3, "half.onnx", "--steps", "6", "--checkpoint", "kept", "--shard-optimizer")
        self.train(0, "whole.onnx", "--steps", "12", "--checkpoint", "kept", "--resume")
        self.assert_near(self.weights("one.onnx"), self.weights("whole.onnx"))

    def test_one_that_is_lost_ends_all_and_leaves_a_checkpoint(self):
        words = ("train", "net.onnxtxt", "--data", "flowers.csv", "--target", "kind", "--optimizer", "adam", "--lr", "0.01",
                 "--batch", "12", "--threads", "1", "--steps", "1000000", "--checkpoint", "kept", "--every", "5", "--export", "never.onnx")
        run = subprocess.Popen(self.command(3, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=self.path)
        try:
            end = time.monotonic() + 120
            while not list((self.path / "kept").glob("step-*.npz")) and time.monotonic() < end:
                time.sleep(0.05)
            ranks = [int(p) for p in subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True,
                                                    text=True).stdout.split()]
            self.assertEqual(len(ranks), 3)
            os.kill(ranks[-1], signal.SIGKILL)
            _, told = run.communicate(timeout=120)
        finally:
            run.kill()
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("signal 9", told)
        self.assertFalse((self.path / "never.onnx").exists())
        steps = max(int(p.stem[5:]) for p in (self.path / "kept").glob("step-*.npz"))
        self.train(2, "after.onnx", "--steps", str(steps + 3), "--checkpoint", "kept", "--every", "5", "--resume")
        self.train(0, "one.onnx", "--steps", str(steps + 3))
        if steps < 200:  # rounding adds up
            self.assert_near(self.weights("one.onnx"), self.weights("after.onnx"), 1e-6)

    def test_an_error_of_one_is_told_and_ends_all(self):
        done = self.ingot(2, "train", "net.onnxtxt", "--data", "missing.csv", "--target", "kind")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("missing.csv", done.stderr)

    def test_rows_are_scored_by_all_and_stand_in_order(self):
        (self.path / "many.csv").write_text(flowers(1000))
        done = self.ingot(0, "run", "net.onnxtxt", "--data", "many.csv", "--target", "kind", "--out", "one.csv", "--batch",
                          "16")
        self.assertEqual(done.returncode, 0, done.stderr)
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                done = self.ingot(ranks, "run", "net.onnxtxt", "--data", "many.csv", "--target", "kind", "--out", "all.csv",
                                  "--batch", "16")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("1,000 rows", done.stderr)
                self.assertEqual((self.path / "all.csv").read_text(), (self.path / "one.csv").read_text())
                self.assertEqual(list(self.path.glob("*.part*")), [])


if __name__ == "__main__":
    if not MPIRUN:
        print("SKIPPED: there is no mpirun")
        sys.exit(77)
    unittest.main()

#!/usr/bin/env python3
"""Scoreboards and reports of whole collections. boards_test.py INGOT"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

INGOT = os.path.abspath(sys.argv.pop(1))
CASES = pathlib.Path("/usr/include/onnx/backend/test/data/node")
SMALL = '<ir_version: 8, opset_import: ["": 17]>\ng (float[2] x) => (float[2] y) {y = Relu(x)}'


class Boards(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def ingot(self, *words, code=0):
        done = subprocess.run([INGOT, *map(str, words)], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_a_scoreboard_tells_runtimes_and_converters_apart(self):
        self.ingot("scoreboard", CASES, "--filter", "test_add", "--filter", "test_bernoulli", "-o", "site", "--json",
                   "s.json", "-q")
        board = json.loads((self.path / "s.json").read_text())
        columns = {column["title"]: column for column in board["columns"]}
        self.assertEqual(columns["ingot"]["operators"]["Add"], [1, 1])
        self.assertEqual(columns["ingot"]["not_passed"], {"test_bernoulli": "failed"})  # which is random
        self.assertEqual(columns["ingot, no rank"]["passed"], 1)
        self.assertEqual(columns["tflite and back"]["kind"], "converter")
        self.assertIn("op-Add.html", (self.path / "site" / "index.html").read_text())
        self.assertIn("test_add", (self.path / "site" / "op-Add.html").read_text())

    def test_a_collection_is_looked_at_once(self):
        (self.path / "zoo" / "deep").mkdir(parents=True)
        (self.path / "zoo" / "good.onnxtxt").write_text(SMALL)
        (self.path / "zoo" / "deep" / "bad.onnxtxt").write_text(SMALL.replace("Relu", "Rellu"))
        first = self.ingot("zoo-report", "zoo", "-o", "out", "--peers", "/nowhere")
        self.assertIn("2 models: 1 convert", first.stdout)
        lines = [json.loads(line) for line in (self.path / "out" / "models.jsonl").read_text().splitlines()]
        self.assertEqual([line["path"] for line in lines], ["deep/bad.onnxtxt", "good.onnxtxt"])
        self.assertIn("IG0308", lines[0]["reason"])
        self.assertEqual(lines[1]["answer"], "same")
        shutil.copy(self.path / "zoo" / "good.onnxtxt", self.path / "zoo" / "more.onnxtxt")
        again = self.ingot("zoo-report", "zoo", "-o", "out", "--peers", "/nowhere")
        self.assertIn("2 models are known from before, 1 are to be looked at", again.stderr)
        self.assertIn("good.onnxtxt", (self.path / "out" / "index.html").read_text())


if __name__ == "__main__":
    unittest.main()

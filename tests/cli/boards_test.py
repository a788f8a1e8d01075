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

# A runtime that can do one thing.
RUNNER = """
import array, json, sys
for line in sys.stdin:
    request = json.loads(line)
    if b"Relu" not in open(request["model"], "rb").read():
        print(json.dumps({"error": "no kernel for <this>"}), flush=True)
        continue
    x = request["inputs"][0]
    values = array.array("f", open(x["file"], "rb").read())
    name = request["directory"] + "/output_0"
    open(name, "wb").write(array.array("f", [max(v, 0) for v in values]).tobytes())
    print(json.dumps({"version": "7.0", "outputs": [{**x, "name": "y", "file": name}]}), flush=True)
"""


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
        self.assertEqual(columns["keras and back"]["operators"]["Add"], [1, 1])  # it writes folders
        self.assertIn("op-Add.html", (self.path / "site" / "index.html").read_text())
        self.assertIn("test_add", (self.path / "site" / "op-Add.html").read_text())

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_inputs_and_outputs_are_known_by_their_names(self):
        """Formats sort outputs, drop what nobody reads, and have names of their own."""
        wanted = {"test_top_k": "two outputs of two types", "test_dropout_default_ratio": "an input that is not read",
                  "test_sce_mean_log_prob_expanded": "an output that other nodes read",
                  "test_operator_exp": "an input named 0", "test_clip_default_max": "an input named max"}
        self.ingot("scoreboard", CASES.parent, *(word for name in wanted for word in ("--filter", name)), "--json", "s.json",
                   "--no-hidden-shapes", "-q")
        columns = {column["title"]: column for column in json.loads((self.path / "s.json").read_text())["columns"]}
        self.assertEqual(columns["ingot"]["passed"], len(wanted))
        for title in ("tensorflow and back", "savedmodel and back", "tfjs and back", "torch and back"):
            self.assertEqual(columns[title]["not_passed"], {}, title)

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_a_type_that_a_runtime_lacks_is_no_wrong_answer(self):
        wide = RUNNER.replace('array.array("f", [max(v, 0)', 'array.array("d", [LEAST').replace(
            '"name": "y"', '"name": "y", "type": "float64"')
        for least, outcome in (("max(v, 0)", "unsupported"), ("v", "failed")):
            mine = self.path / "mine.py"
            mine.write_text(wide.replace("LEAST", least))
            self.ingot("scoreboard", CASES, "--filter", "test_relu", "--runner", f"mine={sys.executable} {mine}",
                       "--no-hidden-shapes", "--no-converters", "--json", "s.json", "-q", "--anew")
            columns = {column["title"]: column for column in json.loads((self.path / "s.json").read_text())["columns"]}
            self.assertEqual(columns["mine"]["not_passed"], {"test_relu": outcome})

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_another_runtime_joins_by_the_protocol(self):
        mine = self.path / "mine.py"
        mine.write_text(RUNNER)
        done = self.ingot("scoreboard", CASES, "--filter", "test_relu", "--filter", "test_abs", "--runner",
                          f"mine={sys.executable} {mine}", "--opsets", "13,17", "--no-hidden-shapes",
                          "--no-converters", "--json", "s.json", "-o", "site", "-q")
        columns = {column["title"]: column for column in json.loads((self.path / "s.json").read_text())["columns"]}
        self.assertEqual(list(columns), ["ingot", "ingot, opset 13", "ingot, opset 17", "mine", "mine, opset 13",
                                         "mine, opset 17"], done.stdout)
        self.assertEqual([column["passed"] for column in columns.values()], [2, 2, 2, 1, 1, 1])
        self.assertEqual(columns["mine"]["not_passed"], {"test_abs": "unsupported"})
        self.assertEqual(columns["mine"]["version"], "mine 7.0")
        page = (self.path / "site" / "op-Abs.html").read_text()
        self.assertIn("no kernel for &lt;this&gt;", page)
        self.ingot("scoreboard", CASES, "--runner", "mine=no-such-program", "--json", "s.json", code=2)
        self.ingot("scoreboard", CASES, "--runner", "mine", "--json", "s.json", code=2)

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_a_case_that_ends_the_program_costs_itself_alone(self):
        """The runner kills Ingot over one case, as a crash inside would."""
        killer = self.path / "killer.py"
        killer.write_text(RUNNER.replace("    if b", f"""    open({str(self.path / "asked")!r}, "a").write("x")
    if b"Abs" in open(request["model"], "rb").read():
        import os
        os.kill(os.getppid(), 9)
    if b""", 1))
        words = ["scoreboard", CASES, "--filter", "test_relu", "--filter", "test_abs", "--filter", "test_add", "--runner",
                 f"mine={sys.executable} {killer}", "--no-hidden-shapes", "--threads", "1", "--json", "s.json", "-q"]
        self.ingot(*words, code=-9)
        self.assertTrue((self.path / "s.json.part").exists())
        self.ingot(*words, code=-9)
        self.ingot(*words)
        self.assertFalse((self.path / "s.json.part").exists())
        columns = {column["title"]: column for column in json.loads((self.path / "s.json").read_text())["columns"]}
        self.assertEqual(columns["mine"]["not_passed"], {"test_abs": "failed", "test_add": "unsupported"})
        self.assertEqual(columns["ingot"]["not_passed"], {"test_abs": "failed"})
        self.assertEqual(len((self.path / "asked").read_text()), 4)  # twice of abs, once of the others
        self.ingot(*words, code=-9)
        (self.path / "killer.py").write_text(RUNNER)
        self.ingot(*words, "--anew")
        columns = {column["title"]: column for column in json.loads((self.path / "s.json").read_text())["columns"]}
        self.assertEqual(columns["ingot"]["passed"], 3)

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_history_tells_what_changed_between_versions(self):
        words = ["scoreboard", CASES, "--filter", "test_abs", "--filter", "test_relu", "--no-hidden-shapes",
                 "--no-converters", "-q"]
        self.ingot(*words, "--label", "one", "--json", "one.json")
        board = json.loads((self.path / "one.json").read_text())
        column = board["columns"][0]
        column["passed"], column["not_passed"] = 1, {"test_abs": "failed"}
        (self.path / "one.json").write_text(json.dumps(board))
        self.ingot(*words, "--label", "two", "--json", "two.json", "--before", "one.json", "-o", "site")
        board = json.loads((self.path / "two.json").read_text())
        self.assertEqual(board["history"], [{"label": "one", "cases": 2, "passed": {"ingot": 1}}])
        page = (self.path / "site" / "index.html").read_text()
        self.assertIn("pass now:", page)
        self.assertIn("test_abs", page.split("pass now:")[1])
        board["names"].append("test_relu")
        (self.path / "two.json").write_text(json.dumps(board))
        self.ingot(*words, "--label", "three", "--json", "three.json", "--before", "two.json")
        labels = [entry["label"] for entry in json.loads((self.path / "three.json").read_text())["history"]]
        self.assertEqual(labels, ["one", "two"])
        (self.path / "bad.json").write_text('{"columns": 3}')
        self.ingot(*words, "--json", "four.json", "--before", "bad.json", code=3)

    def test_sizes_of_inputs_go_to_the_models_that_have_them(self):
        for name in ("x", "z"):
            (self.path / f"{name}.onnxtxt").write_text(SMALL.replace("float[2] x", f"float[N] {name}").replace("(x)", f"({name})"))
        self.ingot("report", "x.onnxtxt", "z.onnxtxt", "-o", "site", "--input-shape", "x:7", "--input-shape", "z:9", "-q")
        for name, size in (("x", 7), ("z", 9)):
            self.assertIn(f'"flops":{size}', (self.path / "site" / f"{name}.onnxtxt.html").read_text())
        for words in (("report", "x.onnxtxt", "-o", "one"), ("report", "x.onnxtxt", "z.onnxtxt", "-o", "two"), ("view", "x.onnxtxt")):
            self.assertIn("no input 'nosuch'", self.ingot(*words, "--input-shape", "nosuch:3", code=2).stderr)
        self.assertFalse((self.path / "one" / "x.onnxtxt.html").exists())
        self.assertIn("one model", self.ingot("view", "x.onnxtxt", "z.onnxtxt", code=2).stderr)

    def test_a_collection_holds_models_and_nothing_else(self):
        (self.path / "zoo" / "code").mkdir(parents=True)
        (self.path / "zoo" / "good.onnxtxt").write_text(SMALL)
        (self.path / "zoo" / "readme.txt").write_text("Models that somebody trained.\n")
        (self.path / "zoo" / "text.txt").write_text(SMALL)  # the text syntax, whatever it is called
        (self.path / "zoo" / "code" / "train.py").write_text("import torch\n")
        (self.path / "zoo" / "labels.json").write_text('{"0": "cat"}')
        (self.path / "zoo" / "damaged.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
        self.ingot("zoo-report", "zoo", "-o", "out", "--peers", "/nowhere", "--threads", "2")
        lines = [json.loads(line) for line in (self.path / "out" / "models.jsonl").read_text().splitlines()]
        self.assertEqual([line["path"] for line in lines], ["damaged.onnx", "good.onnxtxt", "text.txt"])
        self.assertIn("LFS", lines[0]["reason"])
        self.assertEqual([line["converted"] for line in lines], [False, True, True])

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

    def test_what_was_only_converted_is_verified_when_that_is_wanted(self):
        (self.path / "zoo").mkdir()
        (self.path / "zoo" / "good.onnxtxt").write_text(SMALL)
        (self.path / "zoo" / "bad.onnxtxt").write_text(SMALL.replace("Relu", "Rellu"))
        words = ("zoo-report", "zoo", "-o", "out", "--peers", "/nowhere")
        self.ingot(*words, "--no-verify")
        self.assertIn("2 models are known from before, 0 are", self.ingot(*words, "--no-verify").stderr)
        self.assertIn("1 models are known from before, 1 are", self.ingot(*words).stderr)
        lines = [json.loads(line) for line in (self.path / "out" / "models.jsonl").read_text().splitlines()]
        self.assertEqual([line["answer"] for line in lines], ["", "same"])
        self.assertIn("2 models are known from before, 0 are", self.ingot(*words, "--no-verify").stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The loop in which runtimes in JavaScript answer. driver_test.py SERVE.MJS; exit code 77: node is not here."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SERVE = pathlib.Path(sys.argv.pop(1))
RUNTIME = """
await serve({
  add: ({a, b}) => ({sum: a + b}),
  refuse: () => { throw new Error('not that'); },
  trap: () => { throw new WebAssembly.RuntimeError('memory access out of bounds'); },
});
"""


class Driver(unittest.TestCase):
    def answers(self, *requests):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "runtime.mjs"
            program.write_text(SERVE.read_text() + RUNTIME)
            done = subprocess.run(["node", program, folder], input="".join(json.dumps(r) + "\n" for r in requests), text=True,
                                  capture_output=True, timeout=60, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()], done.returncode

    def test_an_error_is_an_answer(self):
        answers, code = self.answers({"do": "refuse"}, {"do": "nothing"}, {"do": "add", "a": 1, "b": 2})
        self.assertEqual((answers, code), ([{"error": "not that"}, {"error": "this runtime does not know how to nothing"}, {"sum": 3}], 0))

    def test_what_trapped_answers_no_more(self):
        answers, code = self.answers({"do": "add", "a": 1, "b": 2}, {"do": "trap"}, {"do": "add", "a": 1, "b": 2})
        self.assertEqual((answers, code), ([{"sum": 3}], 1))


if __name__ == "__main__":
    sys.exit(77) if not shutil.which("node") else unittest.main()

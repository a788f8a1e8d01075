#!/usr/bin/env python3
"""Hostile pickles: nothing of them is executed, and all is told. Usage: pickle_test.py PATH_TO_INGOT"""
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import zlib

INGOT = os.path.abspath(sys.argv.pop(1))


class Evil:
    """Python runs a command when it loads this."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


class HostilePickles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.mark = os.path.join(self.folder.name, "executed")

    def tearDown(self):
        self.assertFalse(os.path.exists(self.mark), "something of a pickle was executed")
        self.folder.cleanup()

    def ingot(self, command, contents, *more, code):
        path = os.path.join(self.folder.name, "m.pkl")
        with open(path, "wb") as file:
            file.write(contents)
        done = subprocess.run([INGOT, "--max-memory", "64M", command, path, *more], capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def converted(self, contents, code):
        return self.ingot("convert", contents, "-o", os.path.join(self.folder.name, "o.onnx"), "--no-verify", code=code)

    def test_what_python_would_have_called_is_shown_and_not_called(self):
        for protocol in range(6):
            contents = pickle.dumps({"model": Evil(self.mark)}, protocol)
            text = self.ingot("inspect", contents, "--from", "sklearn", code=0)
            self.assertIn("Python would have called", text)
            self.assertIn("system", text)
            self.assertIn("stands where an estimator should be", text)

    def test_what_is_no_estimator_is_refused(self):
        self.assertIn("stands where an estimator should be", self.converted(pickle.dumps([Evil(self.mark)], 4), 3))

    def test_nesting_is_no_recursion(self):
        self.converted(b"\x80\x04" + b"]" * 200000 + b"a" * 199999 + b".", 3)
        self.converted(b"\x80\x04" + b"(" * 1000000 + b".", 3)

    def test_what_is_shared_is_not_copied(self):
        doubled = b"\x80\x04N\x94" + b"".join(b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86\x94" for i in range(60))
        self.converted(doubled + b".", 3)

    def test_sizes_are_not_believed(self):
        self.converted(b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", 3)

    def test_what_unpacks_to_too_much_is_stopped(self):
        packed = zlib.compress(b"\x80\x04\x8e" + (1 << 27).to_bytes(8, "little") + bytes(1 << 27), 9)
        self.assertIn("memory", self.converted(packed, 5))


if __name__ == "__main__":
    unittest.main()

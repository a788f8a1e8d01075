#!/usr/bin/python3
"""The ONNX project's own test runner (Debian's python3-onnx) on ingot.onnx_backend.

The runner's cases are those of libonnx-testdata, so its counts must be those of `ingot test` on the same directories.
Run with PYTHONPATH at <build>/python.
"""
import json
import os
import subprocess
import sys
import unittest

import numpy
import onnx
import onnx.backend.test
import onnx.backend.test.loader
import onnx.helper

from ingot import onnx_backend

# These would be downloaded: the package holds their names, not their weights.
DOWNLOADED = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
              "vgg19", "zfnet512")
FOLDERS = ("node", "simple", "pytorch-converted", "pytorch-operator")


def runner():
    tests = onnx.backend.test.BackendTest(onnx_backend, __name__)
    tests.exclude("_cuda")
    for name in DOWNLOADED:
        tests.exclude(f"test_{name}_cpu")
    return tests


class Backend(unittest.TestCase):
    def test_run_node(self):
        node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
        outputs = onnx_backend.run_node(node, [numpy.float32([1, 2]), numpy.float32([3, 4])])
        self.assertEqual(outputs.c.tolist(), [4, 6])

    def test_devices(self):
        self.assertTrue(onnx_backend.supports_device("CPU"))
        self.assertFalse(onnx_backend.supports_device("CUDA"))
        with self.assertRaises(ValueError):
            onnx_backend.prepare(onnx.ModelProto(), "CUDA")


class Counts(unittest.TestCase):
    def test_the_runner_counts_what_ingot_test_counts(self):
        suite = unittest.TestSuite()
        for case in runner().test_cases.values():
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        with open(os.devnull, "w") as silence:
            result = unittest.TextTestRunner(stream=silence, verbosity=0).run(suite)
        for test, trace in result.failures + result.errors:
            print(test, trace.strip().splitlines()[-1], file=sys.stderr)
        runner_failed = len(result.failures) + len(result.errors)
        runner_passed = result.testsRun - runner_failed - len(result.skipped)

        data = onnx.backend.test.loader.DATA_DIR
        command = [sys.executable, "-m", "ingot", "test", "--json", *(f"{data}/{folder}/" for folder in FOLDERS)]
        own = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
        print(f"the runner: {runner_passed} passed, {runner_failed} failed, {len(result.skipped)} not for this device "
              f"or to be downloaded; ingot test: {own['passed']} passed, {own['failed']} failed")
        self.assertEqual((runner_passed, runner_failed), (own["passed"], own["failed"]))
        self.assertGreater(runner_passed, 1000)


if __name__ == "__main__":
    unittest.main()

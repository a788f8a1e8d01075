#!/usr/bin/python3
"""The ONNX project's own test runner (Debian's python3-onnx) on ingot.onnx_backend.

The runner's cases are those of libonnx-testdata, so what passes must be what passes in `ingot test`, but for the
differences that are named here.
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

if not hasattr(numpy, "object"):
    numpy.object = object  # Debian's onnx 1.12 uses a name that Debian's numpy 1.24 no longer has

# These would be downloaded: the package holds their names, not their weights.
DOWNLOADED = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
              "vgg19", "zfnet512")
# Where the two do not agree, and why.
ONLY_IN_RUNNER = {"test_loop16_seq_none": "the runner asks a sequence's scalars for their length"}
ONLY_IN_INGOT_TEST = {"test_cast_BFLOAT16_to_FLOAT": "stored as uint16, which the runner takes for bfloat16's bits",
                      "test_cast_FLOAT_to_BFLOAT16": "stored as uint16, which the runner takes for bfloat16's bits"}
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
        failed = {test.id().split(".")[-1].removesuffix("_cpu") for test, _ in result.failures + result.errors}
        passed = result.testsRun - len(failed) - len(result.skipped)

        data = onnx.backend.test.loader.DATA_DIR
        command = [sys.executable, "-m", "ingot", "test", "--json", *(f"{data}/{folder}/" for folder in FOLDERS)]
        own = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
        own_failed = {case["name"] for case in own["cases"] if case["outcome"] == "failed"}
        print(f"the runner: {passed} passed, {len(failed)} failed, {len(result.skipped)} not for this device or to be "
              f"downloaded; ingot test: {own['passed']} passed, {own['failed']} failed")
        self.assertEqual(failed - own_failed, set(ONLY_IN_RUNNER))
        self.assertEqual(own_failed - failed, set(ONLY_IN_INGOT_TEST))
        self.assertEqual(passed + len(failed), own["passed"] + own["failed"])
        self.assertGreater(passed, 1000)


if __name__ == "__main__":
    unittest.main()

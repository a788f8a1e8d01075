#!/usr/bin/env python3
"""Hostile pickles: nothing of them is executed, and all is told. Usage: pickle_test.py PATH_TO_INGOT"""
import os
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
import zlib

INGOT = os.path.abspath(sys.argv.pop(1))


class Evil:
    """Python runs a command when it loads this."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


def made_of(module, name, **attributes):
    """An instance of a class of a library that need not be there, as its own __getstate__ would leave it."""
    parts = module.split(".")
    for i in range(len(parts)):
        sys.modules.setdefault(".".join(parts[:i + 1]), types.ModuleType(".".join(parts[:i + 1])))
    home = sys.modules[module]
    if not hasattr(home, name):
        setattr(home, name, type(name, (), {"__module__": module}))
    value = getattr(home, name)()
    if module.startswith("sklearn."):
        attributes["_sklearn_version"] = "1.2.1"
    value.__dict__.update(attributes)
    return value


def log1p(x):
    return 1 / x


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

    def test_a_function_is_not_what_another_of_its_name_is(self):
        transformer = made_of("sklearn.preprocessing._function_transformer", "FunctionTransformer", func=log1p,
                              n_features_in_=2)
        self.assertIn("__main__.log1p is not known, and is not executed", self.converted(pickle.dumps(transformer, 4), 4))

    def test_steps_of_other_libraries_are_told_at_once_with_remedies(self):
        pipeline = made_of("sklearn.pipeline", "Pipeline", steps=[
            ("columns", made_of("category_encoders.count", "CountEncoder")),
            ("check", made_of("sklearn2pmml.decoration", "DateDomain")),
            ("own", made_of("company.steps", "Cleaner"))])
        text = self.converted(pickle.dumps(pipeline, 5), 4)
        for line in ("category_encoders.count.CountEncoder: it has no translation: fit it with",
                     "sklearn2pmml.decoration.DateDomain: it has no translation: it checks",
                     "company.steps.Cleaner: it has no translation, and its code is not executed"):
            self.assertIn(line, text)

    def test_a_class_is_not_what_another_of_its_name_is(self):
        own = made_of("company.steps", "StandardScaler", mean_=[1.0], scale_=[2.0], n_features_in_=1)
        self.assertIn("company.steps.StandardScaler has no translation", self.converted(pickle.dumps(own, 4), 4))
        pipeline = made_of("sklearn.pipeline", "Pipeline", steps=[("own", own)])
        self.assertIn("company.steps.StandardScaler: it has no translation", self.converted(pickle.dumps(pipeline, 4), 4))

    def test_of_several_estimators_none_is_chosen(self):
        one, other = (made_of("sklearn.preprocessing._data", name, scale_=[1.0], n_features_in_=1)
                      for name in ("MaxAbsScaler", "MinMaxScaler"))
        text = self.converted(pickle.dumps({"scaler": one, "model": other}, 4), 4)
        self.assertIn("several estimators, of which none is the model: MaxAbsScaler, MinMaxScaler", text)
        self.converted(pickle.dumps({"scaler": one, "version": 3}, 4), 0)

    def test_columns_chosen_by_what_is_not_known_are_not_dropped(self):
        scaler = made_of("sklearn.preprocessing._data", "MaxAbsScaler", scale_=[1.0], n_features_in_=1)
        transformer = made_of("sklearn.compose._column_transformer", "ColumnTransformer", n_features_in_=2,
                              transformers_=[("a", scaler, [0]), ("b", scaler, made_of("company.steps", "Choice"))])
        self.assertIn("its columns are chosen by", self.converted(pickle.dumps(transformer, 4), 4))


if __name__ == "__main__":
    unittest.main()

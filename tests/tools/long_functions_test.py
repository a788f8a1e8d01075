#!/usr/bin/env python3
"""Tests of tools/long_functions.py on small made-up trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "long_functions.py"


def run(text, known=(), name="ingot/base/a.cpp"):
    """Returns (exit code, messages) for a tree of one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, "--root", folder, "--known", *known], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stderr


def function(signature, lines):
    """A function of so many lines."""
    return signature + " {\n" + "  f();\n" * (lines - 2) + "}\n"


class LongFunctions(unittest.TestCase):
    def accepts(self, text, **options):
        self.assertEqual(run(text, **options), (0, ""))

    def refuses(self, text, message, **options):
        code, said = run(text, **options)
        self.assertEqual(code, 1)
        self.assertIn(message, said)

    def test_a_function_of_80_lines_passes(self):
        self.accepts(function("int f(int x)", 80))

    def test_one_of_81_lines_fails_with_its_line(self):
        self.refuses("\n" + function("int f(int x)", 81), "ingot/base/a.cpp: f: 81 lines from line 2, at most 80")

    def test_lines_of_the_signature_count(self):
        self.refuses(function("int f(int x,\n      int y)", 80), "f: 81 lines from line 1")

    def test_members_are_functions_of_their_own(self):
        self.accepts("class A {\n public:\n" + function("  void f()", 60) + function("  void g() const", 60) + "};\n")
        self.refuses("namespace n {\nclass A : public B {\n" + function("  void g() const", 81) + "};\n}\n", "g: 81")

    def test_constructors_with_initialisers_and_function_try_blocks_count(self):
        self.refuses(function("A::A(int x) : x_(x), y_(1)", 81), "A::A: 81")
        self.refuses(function("void f() try", 81), "f: 81")

    def test_lambdas_belong_to_the_function_around_them(self):
        self.refuses("void f() {\n" + function("  const auto g = [&](int x)", 80) + "}\n", "f: 82")

    def test_tables_may_be_long(self):
        self.accepts("constexpr Row kRows[] = {\n" + '    {"a", f(1)},\n' * 200 + "};\n")

    def test_braces_in_text_do_not_count(self):
        self.accepts('void f() { g("{", \'{\', R"({)"); }  // {\n' + "int x;\n" * 100)

    def test_known_ones_pass_and_must_be_long(self):
        self.accepts(function("int f(int x)", 81), known=["ingot/base/a.cpp: f"])
        self.refuses(function("int f(int x)", 80), "take it off the list", known=["ingot/base/a.cpp: f"])

    def test_programs_are_looked_at_too(self):
        self.refuses(function("int main()", 81), "cli/main.cpp: main: 81", name="cli/main.cpp")


if __name__ == "__main__":
    unittest.main()

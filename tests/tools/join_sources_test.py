#!/usr/bin/env python3
"""Tests of tools/join_sources.py on small made-up sources."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "join_sources.py"


def groups(files, max_lines=100, sources=None):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, str(max_lines), *(sources or files)], capture_output=True, text=True,
                              check=True, cwd=folder)
        return done.stdout.splitlines()


def private(text):
    return "namespace a {\nnamespace {\n\n" + text + "\n\n}  // namespace\n}  // namespace a\n"


class JoinSources(unittest.TestCase):
    def test_files_without_common_names_are_joined(self):
        self.assertEqual(groups({"a.cpp": private("int one() { return 1; }"), "b.cpp": private("int two() { return 2; }")}),
                         ["a.cpp b.cpp"])

    def test_two_private_functions_of_one_name_are_not(self):
        self.assertEqual(groups({"a.cpp": private("int one() { return 1; }"), "b.cpp": private("int one() { return 2; }")}),
                         ["a.cpp", "b.cpp"])

    def test_a_private_function_that_another_file_means_differently(self):
        self.assertEqual(groups({"a.cpp": private("int one() { return 1; }"), "b.cpp": "int x = one();\n"}),
                         ["a.cpp", "b.cpp"])

    def test_members_and_qualified_names_are_other_names(self):
        self.assertEqual(groups({"a.cpp": private("int one() { return 1; }"), "b.cpp": "int x = y.one() + z::one();\n"}),
                         ["a.cpp b.cpp"])

    def test_a_private_type_that_another_file_writes(self):
        self.assertEqual(groups({"a.cpp": private("struct Options {};"), "b.cpp": "void f(const Options& o);\n"}),
                         ["a.cpp", "b.cpp"])

    def test_a_private_constant_whose_value_is_a_call(self):
        self.assertEqual(groups({"a.cpp": private("constexpr double kTiny = std::limits<double>::epsilon();"),
                                 "b.cpp": private("void f() {\n  constexpr double kTiny = 1;\n}")}),
                         ["a.cpp", "b.cpp"])

    def test_attributes_in_front_of_a_function(self):
        text = private("[[noreturn]] void refuse(int why) { throw why; }")
        self.assertEqual(groups({"a.cpp": text, "b.cpp": text}), ["a.cpp", "b.cpp"])

    def test_comments_and_texts_do_not_count(self):
        self.assertEqual(groups({"a.cpp": private("struct Options {};"), "b.cpp": 'auto x = "Options";  // Options\n'}),
                         ["a.cpp b.cpp"])

    def test_the_same_alias_twice_is_fine_and_another_is_not(self):
        self.assertEqual(groups({"a.cpp": "namespace fs = std::filesystem;\n", "b.cpp": "namespace fs = std::filesystem;\n"}),
                         ["a.cpp b.cpp"])
        self.assertEqual(groups({"a.cpp": "using Json = one::json;\n", "b.cpp": "using Json = two::json;\n"}),
                         ["a.cpp", "b.cpp"])

    def test_sizes_and_opened_namespaces_keep_files_apart(self):
        self.assertEqual(groups({"x.cpp": "int x;\n", "y.cpp": "int y;\n"}, max_lines=1), ["x.cpp", "y.cpp"])
        self.assertEqual(groups({"x.cpp": "using namespace a;\n", "y.cpp": "int y;\n"}), ["x.cpp", "y.cpp"])

    def test_a_header_that_another_file_reads_later(self):
        keeps = "namespace ingot::a {\nnamespace {\n\nusing formats::Model;\n\n}  // namespace\n}  // namespace ingot::a\n"
        header = "#pragma once\nnamespace %s {\nvoid import(const Model& model);\n}  // namespace\n"
        reads = '#include "ingot/x.h"\nint x;\n'
        for namespace, apart in (("ingot::a", True), ("ingot::a::inner", True), ("ingot", False), ("ingot::ab", False)):
            with self.subTest(namespace):
                self.assertEqual(groups({"a.cpp": keeps, "b.cpp": reads, "ingot/x.h": header % namespace}, 100, ["a.cpp", "b.cpp"]),
                                 ["a.cpp", "b.cpp"] if apart else ["a.cpp b.cpp"])
        through = {"ingot/x.h": '#include "ingot/y.h"\n', "ingot/y.h": header % "ingot::a"}
        self.assertEqual(groups({"a.cpp": keeps, "b.cpp": reads, **through}, 100, ["a.cpp", "b.cpp"]), ["a.cpp", "b.cpp"])
        known = '#include "ingot/x.h"\n' + keeps  # read before, where the name is not taken yet
        self.assertEqual(groups({"a.cpp": known, "b.cpp": reads, **through}, 100, ["a.cpp", "b.cpp"]), ["a.cpp b.cpp"])

    def test_what_a_folder_does_leaves_other_folders_alone(self):
        line = "int x;\n"
        files = {"a/a.cpp": line * 40, "b/a.cpp": line * 40, "b/b.cpp": line * 50}
        self.assertEqual(groups(files), ["a/a.cpp", "b/a.cpp b/b.cpp"])
        self.assertEqual(groups({"a/0.cpp": line * 50, **files}), ["a/0.cpp a/a.cpp", "b/a.cpp b/b.cpp"])

    def test_small_rests_of_folders_are_joined(self):
        line = "int x;\n"
        self.assertEqual(groups({"a/a.cpp": line * 60, "a/b.cpp": line * 60, "b/a.cpp": line * 20, "c/a.cpp": line * 20}),
                         ["a/a.cpp", "a/b.cpp", "b/a.cpp c/a.cpp"])


if __name__ == "__main__":
    unittest.main()

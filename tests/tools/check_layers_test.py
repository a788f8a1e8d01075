#!/usr/bin/env python3
"""Tests of tools/check_layers.py on small made-up trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
LAYERS = "# the map\nbase:\nir: base   # comments may follow\ncli: ir\n"


def run(layers, files):
    """Returns (exit code, messages) for a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "layers.txt").write_text(layers)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run([sys.executable, TOOL, "--root", root], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


class CheckLayers(unittest.TestCase):
    def accepts(self, layers, files):
        self.assertEqual(run(layers, files), (0, ""))

    def refuses(self, layers, files, message):
        code, text = run(layers, files)
        self.assertEqual(code, 1)
        self.assertIn(message, text)

    def test_allowed_includes_pass(self):
        self.accepts(LAYERS, {"ingot/ir/graph.cpp": '#include "ingot/ir/graph.h"\n#include "ingot/base/error.h"\n',
                              "cli/main.cpp": "#include <vector>\n#include <ingot/ir/graph.h>\n"})

    def test_the_c_interface_is_for_the_folder_that_implements_it(self):
        layers = "base:\napi: base\n"
        self.accepts(layers, {"ingot/api/c_model.cpp": '#include "ingot/ingot_c.h"\n'})
        self.refuses(layers, {"ingot/base/error.cpp": '#include "ingot/ingot_c.h"\n'}, "ingot/base/error.cpp:1: include")

    def test_include_against_the_layers_fails_with_its_line(self):
        self.refuses(LAYERS, {"ingot/base/error.h": '#pragma once\n#include "ingot/ir/graph.h"\n'},
                     "ingot/base/error.h:2: base may not include ir (layers.txt allows nothing)")

    def test_layers_are_not_transitive(self):
        self.refuses(LAYERS, {"cli/main.cpp": '#include "ingot/base/error.h"\n'},
                     "cli/main.cpp:1: cli may not include base (layers.txt allows ir)")

    def test_spaces_in_the_directive_hide_nothing(self):
        self.refuses(LAYERS, {"ingot/base/a.h": '  #  include   "ingot/ir/graph.h"\n'}, "base may not include ir")

    def test_subfolders_belong_to_their_folder(self):
        self.refuses(LAYERS, {"ingot/base/deep/a.h": '#include "ingot/ir/graph.h"\n'}, "base may not include ir")

    def test_includes_in_comments_do_not_count(self):
        self.accepts(LAYERS, {"ingot/base/a.h": '// #include "ingot/ir/graph.h"\n'})

    def test_folder_without_a_line_fails(self):
        self.refuses(LAYERS, {"ingot/extra/a.cpp": "\n"}, "folder 'extra' has no line in layers.txt")

    def test_include_of_an_unknown_folder_fails(self):
        self.refuses(LAYERS, {"ingot/ir/a.cpp": '#include "ingot/nowhere/a.h"\n'}, "includes ingot/nowhere/")

    def test_library_code_may_not_include_the_gathering_header(self):
        self.refuses(LAYERS, {"ingot/ir/a.cpp": '#include "ingot/ingot.h"\n'}, "not ingot/ingot.h")

    def test_cycle_in_the_map_fails(self):
        self.refuses("a: b\nb: c\nc: a\n", {}, "a cycle: a -> b -> c -> a")

    def test_map_that_names_an_unknown_folder_fails(self):
        self.refuses("a: b\n", {}, "'a' may include 'b', which has no line of its own")

    def test_two_lines_for_a_folder_fail(self):
        self.refuses("a:\na:\n", {}, "layers.txt:2: 'a' has a line already")

    def test_line_without_colon_fails(self):
        self.refuses("a\n", {}, "layers.txt:1: expected 'folder: folders', got 'a'")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""check_public_headers.py finds what it is for."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_public_headers.py"


def run(files):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {"ingot/ingot_c.h": "#include <stdint.h>\n", **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, TOOL, "--root", root], capture_output=True, text=True, check=False)


class PublicHeaders(unittest.TestCase):
    LIST = "ingot/ingot.h\ningot/api/a.h\n"

    def test_accepts_what_is_listed(self):
        done = run({"ingot/ingot.h": '#include "ingot/api/a.h"\n', "ingot/api/a.h": "#include <vector>\n",
                    "tools/public_headers.txt": self.LIST})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_finds_internal_headers_behind_others(self):
        done = run({"ingot/ingot.h": '#include "ingot/api/a.h"\n', "ingot/api/a.h": '#include "ingot/ir/graph.h"\n',
                    "ingot/ir/graph.h": "", "tools/public_headers.txt": self.LIST + "ingot/ir/graph.h\n"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("reaches ingot/ir/graph.h, which is internal", done.stderr)

    def test_finds_headers_that_are_not_listed(self):
        done = run({"ingot/ingot.h": '#include "ingot/api/a.h"\n', "ingot/api/a.h": "",
                    "tools/public_headers.txt": "ingot/ingot.h\n"})
        self.assertIn("reaches ingot/api/a.h, which is not public", done.stderr)

    def test_finds_third_parties(self):
        done = run({"ingot/ingot.h": "#include <fmt/format.h>\n", "tools/public_headers.txt": "ingot/ingot.h\n"})
        self.assertIn("includes fmt/format.h", done.stderr)

    def test_keeps_the_c_header_alone(self):
        done = run({"ingot/ingot.h": "", "ingot/ingot_c.h": '#include "ingot/ingot.h"\n',
                    "tools/public_headers.txt": "ingot/ingot.h\n"})
        self.assertIn("ingot/ingot_c.h: reaches ingot/ingot.h", done.stderr)


if __name__ == "__main__":
    unittest.main()

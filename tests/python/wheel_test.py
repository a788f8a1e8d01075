#!/usr/bin/python3
"""The wheel: packed twice it is the same, and it works in a virtual environment that knows nothing of the build."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1))
VERSION = sys.argv.pop(1)

USE = """
import ingot, numpy
graph = ingot.Graph()
graph.output("y", graph.input("x", "float32", [2]) * 2)
print(ingot.Session(graph.build()).run({"x": numpy.float32([1, 2])})["y"].tolist(), ingot.__file__)
"""


def pack(folder):
    command = [sys.executable, SOURCE / "python" / "pack_wheel.py", BUILD, folder, "--version", VERSION]
    return pathlib.Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


class Wheel(unittest.TestCase):
    def test_it_is_reproducible_and_works_where_it_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            wheel, again = pack(folder / "a"), pack(folder / "b")
            self.assertEqual(wheel.read_bytes(), again.read_bytes())
            environment = folder / "environment"
            subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", environment], check=True)
            python = environment / "bin" / "python"
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True)
            used = subprocess.run([python, "-c", USE], check=True, capture_output=True, text=True, cwd=folder).stdout
            self.assertTrue(used.startswith("[2.0, 4.0]"), used)
            self.assertIn(str(environment), used)
            guide = f"import doctest; print(doctest.testfile({str(SOURCE / 'docs' / 'python.md')!r}, module_relative=False))"
            used = subprocess.run([python, "-c", guide], check=True, capture_output=True, text=True, cwd=folder).stdout
            self.assertRegex(used, r"failed=0, attempted=[1-9][0-9]")
            shown = subprocess.run([environment / "bin" / "ingot", "--version"], check=True, capture_output=True,
                                   text=True, cwd=folder).stdout
            self.assertEqual(shown.strip(), f"ingot {VERSION}")


if __name__ == "__main__":
    unittest.main()

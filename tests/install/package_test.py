#!/usr/bin/env python3
"""Packages are the same when they are made twice, and work in a bare Debian 12. package_test.py BUILD"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()

SMOKE = """set -e
apt-get install -y --no-install-recommends /packages/ingot_*.deb /packages/python3-ingot_*.deb >/dev/null
cat >/tmp/m.onnxtxt <<'END'
<ir_version: 8, opset_import: ["": 17]>
g (float[1, 2] x) => (float[1, 2] y) {y = Relu(x)}
END
ingot --version
ingot check /tmp/m.onnxtxt
ingot convert /tmp/m.onnxtxt -o /tmp/m.tflite --quiet --no-verify
ingot run /tmp/m.tflite --random 1
python3 -c 'import ingot, numpy; print(ingot.Session("/tmp/m.tflite").run({"x": numpy.float32([[-1, 2]])})["y"].tolist())'
test -f /usr/share/man/man1/ingot-convert.1.gz
test -f /usr/share/bash-completion/completions/ingot
"""


def package():
    environment = {**os.environ, "INGOT_PACKAGE_BUILT": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([SOURCE / "script" / "package", BUILD.name], check=True, env=environment, stdout=subprocess.DEVNULL)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (BUILD / "packages").iterdir()}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.first, cls.second = package(), package()

    def test_they_are_reproducible(self):
        self.assertEqual(self.first, self.second)
        self.assertEqual(sum(name.endswith(".deb") for name in self.first), 3, self.first)

    def test_they_work_in_a_bare_debian(self):
        if not shutil.which("mmdebstrap") or os.geteuid() != 0:
            self.skipTest("needs mmdebstrap and root")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "root"
            made = subprocess.run(["mmdebstrap", "--variant=apt", "bookworm", root], capture_output=True, text=True)
            if made.returncode != 0:
                self.skipTest("no bare Debian can be made here: " + made.stderr.strip().splitlines()[-1])
            shutil.copytree(BUILD / "packages", root / "packages")
            done = subprocess.run(["chroot", root, "sh", "-c", SMOKE], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("[[0.0, 2.0]]", done.stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Packages are the same when they are made twice, and work in a bare Debian 12.

    package_test.py BUILD            from what is built
    package_test.py BUILD --rebuild  builds the program once more, elsewhere and without a cache: the same bytes
"""
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
REBUILD = "--rebuild" in sys.argv and (sys.argv.remove("--rebuild") or True)

# As a user on a machine with nothing on it: program and module, then the library, then all of it gone again.
SMOKE = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update >/dev/null
apt-get install -y --no-install-recommends /packages/ingot_*.deb /packages/python3-ingot_*.deb >/dev/null
cat >/tmp/m.onnxtxt <<'END'
<ir_version: 8, opset_import: ["": 17]>
g (float[1, 2] x) => (float[1, 2] y) {y = Relu(x)}
END
ingot --version
ingot check /tmp/m.onnxtxt
ingot convert /tmp/m.onnxtxt -o /tmp/m.tflite --quiet --no-verify
ingot run /tmp/m.tflite --random 1
ingot report /tmp/m.tflite -o /tmp/site
test -s /tmp/site/m.tflite.html
python3 -c 'import ingot, numpy; print(ingot.Session("/tmp/m.tflite").run({"x": numpy.float32([[-1, 2]])})["y"].tolist())'
python3 -m ingot --version
test -f /usr/share/man/man1/ingot-convert.1.gz
test -f /usr/share/bash-completion/completions/ingot
test -x /usr/bin/ingot-tflite-driver
apt-get install -y --no-install-recommends /packages/libingot-dev_*.deb g++ cmake ninja-build >/dev/null
cmake -G Ninja -S /consumer -B /tmp/consumer -D EXAMPLES=/examples -D INGOT_VERSION=VERSION >/dev/null
cmake --build /tmp/consumer
/tmp/consumer/build_graph /tmp/small.onnx
ingot check /tmp/small.onnx
apt-get purge -y ingot libingot-dev python3-ingot >/dev/null
test ! -e /usr/bin/ingot
test ! -e /usr/lib/python3/dist-packages/ingot
test ! -e /usr/include/ingot
echo all gone
"""


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def package():
    environment = {**os.environ, "INGOT_PACKAGE_BUILT": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([SOURCE / "script" / "package", BUILD.name], check=True, env=environment, stdout=subprocess.DEVNULL)
    return digests(BUILD / "packages")


@unittest.skipIf(REBUILD, "the second build alone")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.first, cls.second = package(), package()

    def test_they_are_reproducible(self):
        self.assertEqual(self.first, self.second)
        self.assertEqual(sum(name.endswith(".deb") for name in self.first), 3, self.first)

    def test_checksums_are_those_of_the_files(self):
        lines = (BUILD / "packages" / "SHA256SUMS").read_text().splitlines()
        listed = dict(reversed(line.split("  ")) for line in lines)
        self.assertEqual(len(listed), 5, lines)
        self.assertEqual(listed, {name: self.second[name] for name in listed})

    def test_the_tarball_works_wherever_it_is_unpacked(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = next((BUILD / "packages").glob("*.tar.gz"))
            subprocess.run(["tar", "xzf", archive, "-C", folder], check=True)
            root = next(pathlib.Path(folder).iterdir())
            done = subprocess.run([root / "bin" / "ingot", "--version"], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, r"^ingot \d")
            module = next(root.glob("lib/python3/dist-packages"))
            done = subprocess.run(["/usr/bin/python3", "-c", "import ingot; print(ingot.__file__)"], check=True,
                                  capture_output=True, text=True, env={"PYTHONPATH": str(module)})
            self.assertIn(folder, done.stdout)

    def test_they_work_in_a_bare_debian(self):
        if not shutil.which("mmdebstrap") or os.geteuid() != 0:
            self.skipTest("needs mmdebstrap and root")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "root"
            made = subprocess.run(["mmdebstrap", "--variant=apt", "bookworm", root], capture_output=True, text=True)
            if made.returncode != 0:
                self.skipTest("no bare Debian can be made here: " + made.stderr.strip().splitlines()[-1])
            shutil.copytree(BUILD / "packages", root / "packages")
            shutil.copytree(SOURCE / "tests" / "install" / "consumer", root / "consumer")
            shutil.copytree(SOURCE / "examples", root / "examples")
            version = next((BUILD / "packages").glob("ingot_*.deb")).name.split("_")[1]
            smoke = SMOKE.replace("VERSION", version)
            done = subprocess.run(["chroot", root, "sh", "-c", smoke], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("[[0.0, 2.0]]", done.stdout)
            self.assertIn("all gone", done.stdout)


@unittest.skipUnless(REBUILD, "with --rebuild")
class Rebuilt(unittest.TestCase):
    def test_built_again_elsewhere_the_program_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "a-folder-of-another-name"
            source.mkdir()
            listed = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True).stdout
            for name in filter(None, listed.decode().split("\0")):
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, source / name)
            environment = {**os.environ, "CCACHE_DISABLE": "1"}
            again = source / "build" / BUILD.name
            configure = ["cmake", "--preset", BUILD.name, "-DINGOT_TESTS=OFF", "-DINGOT_BENCH=OFF"]
            subprocess.run(configure, cwd=source, check=True, env=environment, stdout=subprocess.DEVNULL)
            subprocess.run(["cmake", "--build", again, "--target", "ingot"], check=True, env=environment,
                           stdout=subprocess.DEVNULL)
            programs = []
            for build in (BUILD, again):
                program = pathlib.Path(folder) / f"ingot-{len(programs)}"
                subprocess.run(["strip", "--strip-unneeded", "-o", program, build / "cli" / "ingot"], check=True)
                programs.append(hashlib.sha256(program.read_bytes()).hexdigest())
            self.assertEqual(*programs)


if __name__ == "__main__":
    unittest.main()

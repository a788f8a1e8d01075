#!/usr/bin/env python3
"""Packages are the same when they are made twice, and work in a bare Debian 12.

    package_test.py BUILD            from what is built
    package_test.py BUILD --rebuild  builds all that is packed once more, elsewhere and without a cache: the same bytes
    package_test.py BUILD --sample   a few of its object files alone, which takes minutes less
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
REBUILD = "--rebuild" in sys.argv and (sys.argv.remove("--rebuild") or True)
SAMPLE = "--sample" in sys.argv and (sys.argv.remove("--sample") or True)
PACKED = ("ingot", "ingot-tflite-driver", "ingot_python")  # and the libraries that these are made of

MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[1, 2] x) => (float[1, 2] y) {y = Relu(x)}"""
# As a user on a machine with nothing on it: program and module, then the library, then all of it gone again.
SMOKE = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update >/dev/null
apt-get install -y --no-install-recommends /packages/ingot_*.deb /packages/python3-ingot_*.deb >/dev/null
cat >/tmp/m.onnxtxt <<'END'
MODEL
END
ingot --version
ingot check /tmp/m.onnxtxt
ingot convert /tmp/m.onnxtxt -o /tmp/m.tflite --quiet --no-verify
ingot run /tmp/m.tflite --random 1
ingot report /tmp/m.tflite -o /tmp/site
test -s /tmp/site/m.tflite.html
python3 -c 'import ingot, numpy; print(ingot.Session("/tmp/m.tflite").run({"x": numpy.float32([[-1, 2]])})["y"].tolist())'
python3 -c 'import ingot; print(ingot.explain("IG0312"), ingot.report("/tmp/m.onnxtxt", "/tmp/site2"))'
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


@unittest.skipIf(REBUILD or SAMPLE, "the second build alone")
class Packages(unittest.TestCase):
    bare = os.environ.get("INGOT_BARE_DEBIAN", "")  # what mmdebstrap made before, for those who try often

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

    def bare_debian(self):
        """A root with Debian 12, apt and nothing else; made once and copied."""
        if not shutil.which("mmdebstrap") or os.geteuid() != 0:
            self.skipTest("needs mmdebstrap and root")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name) / "root"
        if not Packages.bare:
            kept = tempfile.TemporaryDirectory()
            self.addClassCleanup(kept.cleanup)
            made = subprocess.run(["mmdebstrap", "--variant=apt", "bookworm", kept.name + "/root"], capture_output=True, text=True)
            if made.returncode != 0:
                self.skipTest("no bare Debian can be made here: " + made.stderr.strip().splitlines()[-1])
            Packages.bare = kept.name + "/root"
        subprocess.run(["cp", "-a", Packages.bare, root], check=True)
        return root

    def test_they_work_in_a_bare_debian(self):
        root = self.bare_debian()
        shutil.copytree(BUILD / "packages", root / "packages")
        shutil.copytree(SOURCE / "tests" / "install" / "consumer", root / "consumer")
        shutil.copytree(SOURCE / "examples", root / "examples")
        version = next((BUILD / "packages").glob("ingot_*.deb")).name.split("_")[1]
        smoke = SMOKE.replace("VERSION", version).replace("MODEL", MODEL)
        done = subprocess.run(["chroot", root, "sh", "-c", smoke], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("[[0.0, 2.0]]", done.stdout)
        self.assertIn("all gone", done.stdout)

    def test_the_container_file_makes_what_it_says(self):
        """Line by line, as a builder of containers does it, in a root of its own."""
        root, user, workdir = self.bare_debian(), "root", "/"
        lines = (BUILD / "packages" / "Containerfile").read_text().splitlines()
        for word, _, rest in (line.partition(" ") for line in lines if line and not line.startswith("#")):
            if word == "COPY":
                pattern, target = rest.split()
                copied = [shutil.copy(file, root / target.strip("/")) for file in (BUILD / "packages").glob(pattern)]
                self.assertTrue(copied, rest)
            elif word == "RUN":
                done = subprocess.run(["chroot", root, "sh", "-c", rest], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            elif word == "USER":
                user = rest
            elif word == "WORKDIR":
                workdir = rest
                (root / rest.strip("/")).mkdir()
            elif word == "ENTRYPOINT":
                entry = json.loads(rest)
            else:
                self.assertEqual(word, "FROM")
                self.assertIn("debian:12", rest)
        (root / workdir.strip("/") / "m.onnxtxt").write_text(MODEL)
        run = ["chroot", f"--userspec={user}", root, "sh", "-c", f"cd {workdir} && exec \"$@\"", "sh", *entry, "inspect", "m.onnxtxt"]
        done = subprocess.run(run, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Relu", done.stdout)
        self.assertFalse(list((root / "tmp").glob("*.deb")) + list((root / "var/lib/apt/lists").iterdir()))


class Elsewhere(unittest.TestCase):
    """The sources of this build, configured in another folder, without a cache."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(folder.name) / "a-folder-of-another-name"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, source / name)
        self.environment = {**os.environ, "CCACHE_DISABLE": "1"}
        self.build = source / "build" / BUILD.name
        configure = ["cmake", "--preset", BUILD.name, "-DINGOT_TESTS=OFF", "-DINGOT_BENCH=OFF"]
        subprocess.run(configure, cwd=source, check=True, env=self.environment, stdout=subprocess.DEVNULL)

    def make(self, *targets):
        subprocess.run(["cmake", "--build", self.build, "--target", *targets], check=True, env=self.environment,
                       stdout=subprocess.DEVNULL)

    def assert_same(self, names):
        digest = {build: {name: hashlib.sha256((build / name).read_bytes()).hexdigest() for name in names}
                  for build in (BUILD, self.build)}
        self.assertEqual(digest[BUILD], digest[self.build])
        print(f"{len(names)} files are the same", file=sys.stderr)


@unittest.skipUnless(REBUILD, "with --rebuild")
class Rebuilt(Elsewhere):
    def test_built_again_elsewhere_all_that_is_packed_is_the_same(self):
        self.make(*PACKED)
        made = [*self.build.rglob("*.a"), *self.build.rglob("*.so"), self.build / "cli" / "ingot",
                self.build / "cli" / "ingot-tflite-driver"]
        self.assertGreater(len(made), 10)
        self.assert_same(sorted(path.relative_to(self.build) for path in made))


@unittest.skipUnless(SAMPLE, "with --sample")
class Sampled(Elsewhere):
    def test_a_few_object_files_are_the_same(self):
        listed = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], check=True, capture_output=True, text=True)
        objects = [name for name in re.findall(r"(?m)^(\S+\.cpp\.o): ", listed.stdout) if (BUILD / name).is_file()]
        self.assertGreater(len(objects), 100)
        chosen = sorted(objects, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:6]
        self.make(*map(str, chosen))
        self.assert_same(chosen)


if __name__ == "__main__":
    unittest.main()

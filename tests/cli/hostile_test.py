#!/usr/bin/env python3
"""Limits, signals and names of every command that reads a model. Usage: hostile_test.py PATH_TO_INGOT"""
import io
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

INGOT = os.path.abspath(sys.argv.pop(1))
SANITIZED = bool(os.environ.get("INGOT_SANITIZED"))
MANY = 250_000  # nodes: no command is done with them at once


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def port(name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, output, name="", attributes=b""):
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, name) + field(4, op) +
                 attributes)


def int_attribute(name, value):
    return field(5, field(1, name) + field(3, value) + field(20, 2))


def weights(name, dims, values):
    return field(5, b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) +
                 field(9, struct.pack("<%df" % len(values), *values)))


def model(nodes, inputs, outputs, rest=b"", graph="net"):
    body = nodes + field(2, graph) + rest + b"".join(field(11, p) for p in inputs) + b"".join(
        field(12, p) for p in outputs)
    return field(1, 8) + field(7, body) + field(8, field(1, "") + field(2, 17))


def chain(count, op="Neg", dims=(2, 2)):
    made = b"".join(node(op, ["v%d" % i], "v%d" % (i + 1)) for i in range(count))
    return model(made, [port("v0", dims)], [port("v%d" % count, dims)])


def npy(dims, floats=None):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join("%d," % d for d in dims)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + (floats or b"")


LOOP = """<ir_version: 8, opset_import: ["" : 17]>
net (float[4, 2] x) => (float[4, 2] y)
<int64 n = {9223372036854775807}, bool yes = {1}, float[2] w = {1, 2}>
{
  z = Mul(x, w)
  y = Loop(n, yes, z) <body = b (int64 i, bool c, float[4, 2] s) => (bool d, float[4, 2] t)
    { d = Identity(c) t = Neg(s) }>
}
"""

STRINGS = """<ir_version: 10, opset_import: ["" : 21]>
net (float[1] x) => (string[1] s)
<string[1] a = {"%s"}>
{
%s
}
"""


SCAN = """<ir_version: 8, opset_import: ["" : 17]>
net (float[2] s, float[3, 2] x) => (float[2] s_last, float[3, 2] y)
{
  s_last, y = Scan <num_scan_inputs: int = 1, body = b (float[2] t, float[2] r) => (float[2] s_last, float[2] z)
    { s_last = Add(t, r) z = Identity(s_last) }>(s, x)
}
"""


class Hostile(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def file(self, name, contents):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return name

    def ingot(self, *args, code=0):
        done = subprocess.run([INGOT, *map(str, args)], cwd=self.path, capture_output=True, timeout=300)
        shown = (done.stdout + done.stderr).decode(errors="replace")
        codes = code if isinstance(code, tuple) else (code,)
        self.assertIn(done.returncode, codes, " ".join(map(str, args)) + "\n" + shown)
        return shown

    def commands(self, name):
        """How each command that reads a model is called."""
        self.file("data/x.npy", npy((8, 2), struct.pack("<16f", *range(16))))
        self.file("data/y.npy", npy((8, 2), struct.pack("<16f", *range(16))))
        return {
            "inspect": ["inspect", name],
            "check": ["check", name],
            "convert": ["convert", name, "-o", "out.onnx", "--opset", "18"],
            "convert to TFLite": ["convert", name, "-o", "out.tflite", "--no-verify"],
            "run": ["run", name, "--random", "1"],
            "verify": ["verify", name, name],
            "bench": ["bench", name, "--runs", "1"],
            "ops": ["ops", "--model", name],
            "grad": ["grad", name, "-o", "grad.onnx"],
            "gradcheck": ["gradcheck", name],
            "make-trainable": ["make-trainable", name, "--loss", "mse", "-o", "trainable.onnx"],
            "strip-training": ["strip-training", name, "-o", "stripped.onnx"],
            "train": ["train", name, "--data", "data", "--loss", "mse", "--steps", "1000000"],
            "eval": ["eval", name, "--data", "data", "--loss", "mse"],
        }

    def test_every_command_stops_at_the_time_limit(self):
        self.file("many.onnx", chain(MANY))
        self.file("loop.onnxtxt", LOOP)
        stopped = set()
        for name in ("many.onnx", "loop.onnxtxt"):
            for command, words in self.commands(name).items():
                if name == "loop.onnxtxt" and command not in ("run", "bench", "eval", "gradcheck", "verify"):
                    continue
                with self.subTest(command=command, model=name):
                    # What only reads a model may be done sooner than the limit of those that compute.
                    limit = 0.05 if command in ("ops", "inspect", "check") else 0.3
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    shown = self.ingot(*words, "--max-time", f"{limit * 1000:.0f}ms", code=(0, 5))
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    if "IG1202" in shown:
                        stopped.add((command, name))
                    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                    # Two threads may work, and the limit counts time on the clock.
                    self.assertLess(used, 10 if SANITIZED else 2 * (limit + 0.25) + 0.2)
        for command in ("convert", "run", "grad", "make-trainable"):
            self.assertIn((command, "many.onnx"), stopped)
        for command in ("run", "bench", "eval", "gradcheck", "verify"):
            self.assertIn((command, "loop.onnxtxt"), stopped)

    def test_every_command_keeps_to_the_memory_limit(self):
        if SANITIZED:
            self.skipTest("the sanitizer takes memory of its own")
        self.file("many.onnx", chain(MANY))
        for command, words in self.commands("many.onnx").items():
            with self.subTest(command=command):
                self.assertIn("IG12", self.ingot(*words, "--max-memory", "60M", code=5))

    def peak_under_limit(self, words, limit):
        """The largest resident memory of a call, in bytes, which must end by the limit."""
        program = subprocess.Popen([INGOT, *words, "--max-memory", str(limit)], cwd=self.path,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        shown = program.stderr.read().decode(errors="replace")
        program.stderr.close()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(program.returncode, 5, shown)
        return usage.ru_maxrss * 1024

    def test_what_nobody_charges_is_limited_too(self):
        if SANITIZED:
            self.skipTest("the sanitizer takes memory of its own")
        steps = "\n".join("  s%d = StringConcat(s%d, s%d)" % (i + 1, i, i) for i in range(24))
        self.file("strings.onnxtxt", STRINGS % ("a" * 1000, "  s0 = Identity(a)\n" + steps + "\n  s = Identity(s24)"))
        self.file("input.onnx", model(node("Neg", ["x"], "y"), [port("x", (1 << 30, 4))], [port("y", (1 << 30, 4))]))
        self.file("lrn.onnx", model(node("LRN", ["x"], "y", attributes=int_attribute("size", (1 << 31) - 1)),
                                    [port("x", (1, 1 << 31, 1))], [port("y", (1, 1 << 31, 1))]))
        self.file("net.onnxtxt", LOOP)
        with zipfile.ZipFile(self.path / "data.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name in ("x", "y"):
                with archive.open(name + ".npy", "w", force_zip64=True) as out:
                    out.write(npy((20_000_000, 2)))
                    for _ in range(160):
                        out.write(bytes(1_000_000))
        limit = 128 << 20
        for words in (["run", "strings.onnxtxt", "--random", "1"], ["run", "input.onnx", "--random", "1"],
                      ["gradcheck", "input.onnx"], ["grad", "lrn.onnx", "-o", "g.onnx"],
                      ["train", "net.onnxtxt", "--data", "data.npz", "--loss", "mse", "--steps", "1"]):
            with self.subTest(words=words):
                self.assertLess(self.peak_under_limit(words, limit), 1.05 * limit + (96 << 20))

    def doubling_functions(self, levels):
        """Each function calls the one below it twice."""
        def function(i):
            inner = ["f%d" % (i - 1)] * 2 if i else ["Neg", "Neg"]
            domain = field(7, "d") if i else b""
            calls = field(7, field(1, "x") + field(2, "h") + field(4, inner[0]) + domain)
            calls += field(7, field(1, "h") + field(2, "y") + field(4, inner[1]) + domain)
            imports = field(9, field(1, "") + field(2, 17)) + field(9, field(1, "d") + field(2, 1))
            return field(25, field(1, "f%d" % i) + field(4, "x") + field(5, "y") + calls + imports + field(10, "d"))
        call = field(1, field(1, "x") + field(2, "y") + field(4, "f%d" % (levels - 1)) + field(7, "d"))
        graph = call + field(2, "net") + field(11, port("x", (2,))) + field(12, port("y", (2,)))
        imports = field(8, field(1, "") + field(2, 17)) + field(8, field(1, "d") + field(2, 1))
        return field(1, 8) + field(7, graph) + imports + b"".join(function(i) for i in range(levels))

    def test_functions_that_double_at_each_level_are_refused(self):
        self.file("double.onnx", self.doubling_functions(60))
        for command, words in self.commands("double.onnx").items():
            with self.subTest(command=command):
                begin = time.monotonic()
                self.ingot(*words, "--max-time", "20s", "--max-memory", "1G", code=(0, 1, 2, 3, 4, 5))
                self.assertLess(time.monotonic() - begin, 60)

    def signalled(self, words, delay):
        """The exit code of a command that gets SIGTERM after `delay` seconds, and the CPU seconds that it took to end."""
        program = subprocess.Popen([INGOT, *words], cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        caught = 0
        while not caught & 1 << (signal.SIGTERM - 1) and program.returncode is None:
            status = pathlib.Path(f"/proc/{program.pid}/status").read_text()
            if "SigCgt:" not in status or "Z (zombie)" in status:
                break
            caught = int(status.split("SigCgt:")[1].split()[0], 16)
            time.sleep(0.001)
        time.sleep(delay)
        ticks = pathlib.Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        before = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        os.kill(program.pid, signal.SIGTERM)  # send_signal would collect a command that is done already
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        return program.returncode, usage.ru_utime + usage.ru_stime - before

    def test_one_signal_ends_every_command(self):
        self.file("many.onnx", chain(MANY))
        for command, words in self.commands("many.onnx").items():
            with self.subTest(command=command):
                for delay in (0.4, 0.1, 0.02, 0):  # shorter for a command that was done before the signal came
                    code, seconds = self.signalled(words, delay)
                    if code:
                        break
                self.assertEqual(code, 128 + signal.SIGTERM)
                self.assertLess(seconds, 5 if SANITIZED else 0.25)
                self.assertEqual([p for p in self.path.iterdir() if p.name.endswith(".tmp")], [])

    def test_names_never_steer_the_terminal(self):
        for evil in ("a\x1b[2J\x1b]0;t\x07b", "a\u009b31mb", "a\u202eb\u2066c\u200f", "a\x7f\rb", "two\nlines"):
            x, y, w = evil + "x", evil + "y", evil + "w"
            self.file("evil.onnx", model(
                node("MatMul", [x, w], evil, evil) + node("Relu", [evil], y, evil), [port(x, (8, 2))],
                [port(y, (8, 2))], weights(w, (2, 2), [1, 2, 3, 4]), evil))
            self.file("wrong.onnx", model(node(evil, [x], y, evil), [port(x, (2, 2))], [port(y, (2, 2))]))
            calls = {**self.commands("evil.onnx")}
            calls["train"][-1] = "2"
            calls["dry run"] = ["train", "evil.onnx", "--loss", "mse", "--dry-run"]
            calls["dry make-trainable"] = ["make-trainable", "evil.onnx", "--loss", "mse", "--dry-run"]
            calls["text"] = ["inspect", "evil.onnx", "--text"]
            calls["explain"] = ["run", "evil.onnx", "--random", "1", "--explain"]
            calls["json"] = ["inspect", "evil.onnx", "--json"]
            calls.update({"wrong " + name: ["wrong.onnx" if word == "evil.onnx" else word for word in words]
                          for name, words in self.commands("evil.onnx").items()})
            for command, words in calls.items():
                with self.subTest(command=command, name=evil):
                    shown = self.ingot(*words, code=(0, 1, 2, 3, 4, 5, 7))
                    bad = [c for c in shown if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"
                           or c in "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
                           or "\u2066" <= c <= "\u2069"]
                    self.assertEqual(bad, [], shown)

    def test_paths_that_lead_nowhere_are_errors(self):
        self.file("net.onnx", model(node("Neg", ["x"], "y"), [port("x", (2, 2))], [port("y", (2, 2))]))
        self.file("plain", "text")
        for name in ("circle.onnx", "circle.json"):
            (self.path / name).symlink_to(name)
        os.mkfifo(self.path / "pipe")
        for path in ("circle.onnx", "circle.json", "a" * 5000 + ".onnx", "a" * 5000 + ".json", "plain/x.onnx", "pipe", ""):
            calls = {**self.commands(path), "plan": ["run", path, "--random", "1"], "page": ["report", path, "-o", "pages"]}
            for command, words in (("run", ["--in", "x=" + path]), ("run", ["--in", path]),
                                   ("run", ["--data", path, "--out", "p.csv"]),
                                   ("train", ["--loss", "mse", "--steps", "1", "--data", path]),
                                   ("train", ["--data", "data", "--loss-graph", path]),
                                   ("convert", ["-o", "o.onnx", "--functions", path]),
                                   ("report", ["-o", "pages", "--training", path])):
                calls[command + words[-1 if words[0] != "-o" else 2]] = [command, "net.onnx", *words]
            for command, words in calls.items():
                if not path and words[0] in ("ops", "convert", "report") and words[1] != "":
                    continue  # as if nothing had been named
                with self.subTest(command=command, path=path[-20:]):
                    self.ingot(*words, code=(2, 3, 6))
        for words in (["split", "net.onnx", "--parts", "2"], ["partition", "net.onnx", "--targets", "ingot"], ["man"],
                      ["report", "net.onnx"]):
            for folder in ("plain", "plain/in", "pipe", "a" * 5000):
                with self.subTest(words=words, folder=folder[-20:]):
                    self.ingot(*words, "-o", folder, code=(2, 6))
        for words in (["--plugin", "pipe", "inspect", "net.onnx"], ["run", "pipe", "--native", "--random", "1"],
                      ["report", "net.onnx", "-o", "pages", "--training", "/dev/zero"]):
            with self.subTest(words=words):
                self.ingot(*words, code=(3, 6))

    def test_nothing_writes_over_what_it_reads(self):
        contents = model(node("MatMul", ["x", "w"], "y"), [port("x", (8, 2))], [port("y", (8, 2))],
                         weights("w", (2, 2), [1, 2, 3, 4]))
        self.file("net.onnx", contents)
        calls = {name: [*words] for name, words in self.commands("net.onnx").items() if "-o" in words}
        for command, rest in {"quantize": ["--random", "1"], "optimize": [], "rename": ["--prefix", "p/"],
                              "extract": ["--outputs", "y"], "merge": ["net.onnx", "--connect", "y=x", "--prefix-b", "b/"],
                              "partition": ["--targets", "ingot", "--functions"],
                              "make-trainable": ["--loss", "mse"]}.items():
            calls[command] = [command, "net.onnx", *rest, "-o", "out.onnx"]
        calls["split"] = ["split", "net.onnx", "--parts", "2", "-o", "out.onnx"]
        calls["diff"] = ["diff", "net.onnx", "net.onnx", "--report", "out.onnx"]
        calls["page"] = ["convert", "net.onnx", "-o", "x.onnx", "--report", "out.onnx"]
        calls["profile"] = ["run", "net.onnx", "--random", "1", "--profile", "out.onnx"]
        calls["step graph"] = ["make-trainable", "net.onnx", "--loss", "mse", "--step-graph", "out.onnx"]
        for option in ("--export", "--export-training", "--log", "--plot", "--profile"):
            calls["train " + option] = ["train", "net.onnx", "--data", "data", "--loss", "mse", "--steps", "1", option,
                                        "out.onnx"]
        for command, words in calls.items():
            self.assertTrue({"out.onnx", "out.tflite", "trainable.onnx", "grad.onnx", "stripped.onnx"} & set(words), words)
            at = max(words.index(flag) for flag in ("-o", "--report", "--profile", "--step-graph", "--export", "--log",
                                                    "--export-training", "--plot") if flag in words)
            with self.subTest(command=command):
                self.ingot(*words[:at + 1], "./net.onnx", *words[at + 2:], code=(2, 6))
                self.assertEqual((self.path / "net.onnx").read_bytes(), contents)

    def test_untrusted_starts_no_other_program(self):
        contents = model(node("Neg", ["x"], "y"), [port("x", (2, 2))], [port("y", (2, 2))])
        self.file("net.onnx", contents)
        self.file("parts/part.onnx", contents)
        self.file("parts/plan.json", '{"plan": 1, "inputs": ["x"], "outputs": ["y"], "parts": [{"name": "part", '
                  '"file": "part.onnx", "runtime": "ort", "inputs": ["x"], "outputs": ["y"]}]}')
        self.file("runner", "#!/bin/sh\ntouch " + str(self.path / "started") + "\n")
        (self.path / "runner").chmod(0o755)
        self.file("test/model.onnx", contents)
        (self.path / "test/test_data_set_0").mkdir()
        for words in (["run", "net.onnx", "--random", "1", "--jit"], ["compile", "net.onnx", "-o", "net", "--emit", "so"],
                      ["compile", "net.onnx", "-o", "net", "--emit", "object"],
                      ["quantize", "net.onnx", "-o", "q.onnx", "--random", "1", "--with", "ort"],
                      ["optimize", "net.onnx", "-o", "q.onnx", "--with", "ort"], ["bench", "net.onnx", "--vs", "ort"],
                      ["scoreboard", "test", "--json", "s.json", "--with", "ort"],
                      ["scoreboard", "test", "--json", "s.json", "--runner", "own=" + str(self.path / "runner")],
                      ["--plugin", str(self.path / "runner"), "inspect", "net.onnx"]):
            with self.subTest(words=words):
                self.assertIn("--untrusted", self.ingot("--untrusted", *words, code=2))
        shown = self.ingot("--untrusted", "run", "parts/plan.json", "--random", "1", code=(2, 4, 6))
        if "is not there" not in shown:  # the runtime is, and is left alone
            self.assertIn("other programs are off", shown)
        self.assertFalse((self.path / "started").exists())

    def exports(self, name):
        """How a model becomes what others read: files of each format and source code."""
        calls = {e: ["compile", name, "-o", "net_" + e.replace("-", "_"), "--emit", e]
                 for e in ("c", "cpp", "matlab", "mlir", "mlir-onnx")}
        for to, file in (("tflite", "o.tflite"), ("tensorflow", "o.pb"), ("savedmodel", "saved"), ("keras", "keras"),
                         ("tfjs", "tfjs"), ("torch", "o.pt"), ("torch-source", "source"), ("onnxtxt", "o.onnxtxt")):
            calls[to] = ["convert", name, "-o", file, "--to", to, "--no-verify"]
        return calls

    def test_one_node_may_have_thousands_of_inputs(self):
        many = 6000
        names = ["x%d" % i for i in range(many)]
        made = b"".join(node("Neg", ["x"], n) for n in names)
        for op, attributes, dims in (("Sum", b"", (2,)), ("Max", b"", (2,)), ("Mean", b"", (2,)),
                                     ("Concat", int_attribute("axis", 0), (2 * many,))):
            self.file("wide.onnx", model(made + node(op, names, "y", attributes=attributes), [port("x", (2,))],
                                         [port("y", dims)]))
            for export, words in self.exports("wide.onnx").items():
                with self.subTest(op=op, export=export):
                    self.ingot(*words, code=(0, 4))

    def test_lists_that_grow_by_one_take_no_square_of_memory(self):
        if SANITIZED:
            self.skipTest("the sanitizer takes memory of its own")
        count = 12_000
        grown = "\n".join("  s%d = SequenceInsert(s%d, x)" % (i + 1, i) for i in range(count))
        self.file("grow.onnxtxt", '<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[%d] y) {\n'
                  "  s0 = SequenceEmpty()\n%s\n  y = ConcatFromSequence<axis = 0>(s%d)\n}\n" % (2 * count, grown, count))
        for out in ("grow.tflite", "grow.pt"):
            with self.subTest(out=out):
                self.ingot("convert", "grow.onnxtxt", "-o", out, "--no-verify", "--max-memory", "300M")

    def test_names_that_become_one_in_another_language_are_told_apart(self):
        names = ["w", "w_", "w__", "w.", "w-", "_w", "w " * 3] + ["w" + "_" * i for i in range(3, 40)]
        made = b"".join(node("Add", ["v%d" % i, n], "v%d" % (i + 1)) for i, n in enumerate(names))
        self.file("names.onnx", model(made, [port("v0", (2, 2))], [port("v%d" % len(names), (2, 2))],
                                      b"".join(weights(n, (2, 2), [1, 2, 3, 4]) for n in names)))
        for export, words in self.exports("names.onnx").items():
            with self.subTest(export=export):
                self.ingot(*words, "--max-time", "60s", code=(0, 4))

    def test_names_of_inputs_that_become_one_are_told_apart(self):
        # Of each pair both want the same word, and X_2 or step_2 are words of generated code as well.
        names = [n + end for n in ("X", "AB", "step", "t", "f32", "x_f32", "in", "M_PI", "sum", "__") for end in ("", ".", "-", " .")]
        made = b"".join(node("Neg", [n], "out " + n) for n in names)
        self.file("inputs.onnx", model(made, [port(n, (2, 2)) for n in names], [port("out " + n, (2, 2)) for n in names]))
        self.file("twice.onnx", model(node("Neg", ["X"], "Y"), [port("X", (2, 2))], [port("Y", (2, 2))] * 2))
        for name in ("inputs.onnx", "twice.onnx"):
            for export, words in self.exports(name).items():
                with self.subTest(export=export, model=name):
                    self.assertNotIn("IG12", self.ingot(*words, "--max-time", "30s", code=(0, 2, 3, 4)))

    def test_arithmetic_of_any_rank_is_written_or_refused(self):
        for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
            for rank in range(5):
                for weight_rank in range(rank + 1):
                    dims = (2,) * rank
                    self.file("rank.onnx", model(node(op, ["x", "w"], "y"), [port("x", dims)], [port("y", dims)],
                                                 weights("w", (2,) * weight_rank, [1.5] * 2 ** weight_rank)))
                    with self.subTest(op=op, rank=rank, weight_rank=weight_rank):
                        self.ingot("convert", "rank.onnx", "-o", "keras", "--to", "keras", "--no-verify", code=(0, 4))

    def test_types_of_an_operator_ahead_of_its_operator_set_are_checked(self):
        half = field(1, "x") + field(2, field(1, field(1, 10) + field(2, b"".join(field(1, field(1, d)) for d in (4, 2)))))
        untyped = field(1, "y")
        body = node("LayerNormalization", ["x", "w"], "y") + field(2, "net") + weights("w", (2,), [1, 2])
        self.file("ahead.onnx", field(1, 7) + field(7, body + field(11, half) + field(12, untyped)) +
                  field(8, field(1, "") + field(2, 12)))
        self.assertIn("IG0307", self.ingot("check", "ahead.onnx", code=1))
        for export, words in self.exports("ahead.onnx").items():
            with self.subTest(export=export):
                self.ingot(*words, code=(3, 4))

    def test_parts_of_a_model_keep_the_names_that_bodies_have_too(self):
        self.file("scan.onnxtxt", SCAN)
        self.ingot("partition", "scan.onnxtxt", "--targets", "onnx-mlir,ingot", "-o", "parts")
        self.assertIn("s_last", self.ingot("run", "parts/plan.json", "--random", "1"))
        self.ingot("partition", "scan.onnxtxt", "--targets", "onnx-mlir,ingot", "--functions", "-o", "parts.onnx")
        self.ingot("check", "parts.onnx")

    def test_links_to_a_saved_model_are_refused(self):
        self.file("elsewhere/saved_model.pb", field(1, 1) + field(2, b""))
        (self.path / "saved").mkdir()
        (self.path / "saved/saved_model.pb").symlink_to(self.path / "elsewhere/saved_model.pb")
        self.assertIn("link", self.ingot("inspect", "saved", code=(3, 6)))
        self.assertNotIn("link", self.ingot("inspect", "saved", "--allow-links", code=(3, 4)))

    def test_a_resumed_run_continues_its_log_and_clears_up(self):
        self.file("net.onnx", model(node("MatMul", ["x", "w"], "y"), [port("x", (8, 2))], [port("y", (8, 2))],
                                    weights("w", (2, 2), [.1, .2, .3, .4])))
        self.commands("net.onnx")
        words = ["train", "net.onnx", "--data", "data", "--loss", "mse", "--lr", "1e-4", "--steps", "6", "--every", "2",
                 "--checkpoint", "runs", "--log", "log.jsonl"]
        self.ingot(*words)
        log = (self.path / "log.jsonl").read_text().splitlines()
        # As if a kill had come in step 6 while the checkpoint of that step was written.
        (self.path / "runs/step-00000006.npz").unlink()
        (self.path / "log.jsonl").write_text("\n".join(log) + '\n{"step": 7, "lo')
        self.file("runs/.step-00000006.npz.ingot-0123abcd.tmp", "unfinished")
        self.ingot(*words, "--resume")
        import json
        steps = [json.loads(line)["step"] for line in (self.path / "log.jsonl").read_text().splitlines()
                 if "loss" in json.loads(line)]
        self.assertEqual(steps, [1, 2, 3, 4, 5, 6])
        self.assertEqual([p.name for p in (self.path / "runs").iterdir() if p.name.endswith(".tmp")], [])


if __name__ == "__main__":
    unittest.main()

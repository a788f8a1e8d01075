#!/usr/bin/env python3
"""The program for people at a terminal: completion, manual, settings, explanations, widths. terminal_test.py INGOT"""
import fcntl
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

INGOT = os.path.abspath(sys.argv.pop(1))
MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[2] x) => (float[2] y) {
  [a_node_with_a_name_that_is_much_too_long_for_a_narrow_terminal_and_must_be_cut_somewhere] y = Relu(x)
}"""


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "m.onnxtxt").write_text(MODEL)
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(self.path / "settings")}

    def ingot(self, *words, code=0, **more):
        done = subprocess.run([INGOT, *map(str, words)], cwd=self.path, capture_output=True, text=True,
                              env={**self.environment, **more})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def completed(self, *words):
        """What bash offers for the last word."""
        listed = " ".join(f"'{word}'" for word in words)
        script = (f"source <('{INGOT}' completion bash); COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1};"
                  "_ingot; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_bash_completes_commands_options_words_and_files(self):
        self.assertEqual(self.completed("ingot", "conv"), ["convert"])
        self.assertIn("--opset", self.completed("ingot", "convert", "--op"))
        self.assertEqual(self.completed("ingot", "optimize", "--level", "ba"), ["basic"])
        self.assertEqual(self.completed("ingot", "inspect", "m.on"), ["m.onnxtxt"])
        self.assertEqual(self.completed("ingot", "help", "insp"), ["inspect"])

    def test_other_shells_take_their_files(self):
        for shell in ("zsh", "fish"):
            text = self.ingot("completion", shell).stdout
            self.assertIn("--opset" if shell == "zsh" else "-l opset", text)
            if not shutil.which(shell):
                print(f"{shell} is not installed: its file is not read by it")
                continue
            done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_manual_pages_hold_the_help(self):
        self.ingot("man", "-o", "man")
        names = {path.name for path in (self.path / "man").iterdir()}
        self.assertIn("ingot.1", names)
        self.assertIn("ingot-convert.1", names)
        page = (self.path / "man" / "ingot-convert.1").read_text()
        self.assertIn("\\-\\-external\\-data", page)
        self.assertTrue(page.startswith(".TH INGOT\\-CONVERT 1"))
        self.assertEqual(self.ingot("man", "convert").stdout, page)
        self.ingot("man", "nonsense", code=2)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")

    def test_errors_are_explained(self):
        for word in ("IG0312", "312", "bad_name"):
            text = self.ingot("explain", word).stdout
            self.assertIn("a required name is empty", text)
            self.assertIn("what to do", text)
        self.ingot("explain", "IG9999", code=2)

    def test_settings_are_the_users_and_the_command_line_wins(self):
        self.ingot("config", "convert.opset", "13")
        self.assertEqual(self.ingot("config", "convert.opset").stdout, "13\n")
        self.ingot("convert", "m.onnxtxt", "-o", "a.onnx")
        self.assertIn('["" : 13]', self.ingot("inspect", "a.onnx", "--text").stdout)
        self.ingot("convert", "m.onnxtxt", "-o", "b.onnx", "--opset", "15")
        self.assertIn('["" : 15]', self.ingot("inspect", "b.onnx", "--text").stdout)
        self.ingot("config", "convert.opset", "--unset")
        self.assertIn("nothing is set", self.ingot("config").stdout)

    def test_settings_name_neither_programs_nor_files(self):
        self.assertIn("cannot have a default", self.ingot("config", "verify.peers", "/tmp", code=2).stderr)
        self.ingot("config", "convert.output", "x", code=2)
        self.ingot("config", "convert.nonsense", "x", code=2)
        settings = self.path / "settings" / "ingot"
        settings.mkdir(parents=True)
        (settings / "config").write_text("verify.with = ort\n")
        self.assertIn("settings/ingot/config", self.ingot("inspect", "m.onnxtxt", code=2).stderr)
        self.ingot("config")  # which still works

    def test_the_working_directory_has_no_say(self):
        (self.path / "ingot").mkdir()
        for place in ("config", "ingot/config", ".ingot"):
            (self.path / place).write_text("max-time = 1ms\n")
        self.ingot("inspect", "m.onnxtxt", XDG_CONFIG_HOME="", HOME=str(self.path / "nobody"))
        self.ingot("inspect", "m.onnxtxt", XDG_CONFIG_HOME="relative", HOME=str(self.path / "nobody"))

    def test_a_conversion_ends_with_a_line_to_parse(self):
        last = self.ingot("convert", "m.onnxtxt", "-o", "a.onnx").stderr.splitlines()[-1]
        self.assertTrue(last.startswith("summary: from=onnxtxt to=onnx nodes=1 notes="), last)
        self.assertTrue(last.endswith(" output=a.onnx"), last)
        self.assertEqual(self.ingot("convert", "m.onnxtxt", "-o", "a.onnx", "--quiet").stderr, "")

    def test_tables_fit_the_terminal(self):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        done = subprocess.Popen([INGOT, "inspect", "m.onnxtxt", "--flops"], cwd=self.path, stdout=follower,
                                env=self.environment)
        os.close(follower)
        text = b""
        try:
            while chunk := os.read(leader, 4096):
                text += chunk
        except OSError:  # the other end is closed
            pass
        self.assertEqual(done.wait(), 0)
        os.close(leader)
        plain = text.decode().replace("\r", "").replace("\033[1m", "").replace("\033[0m", "")
        self.assertIn("…", plain)
        self.assertEqual([line for line in plain.splitlines() if len(line) > 60], [])


if __name__ == "__main__":
    unittest.main()

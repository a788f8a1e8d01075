#!/usr/bin/env python3
"""The program for people at a terminal: completion, manual, settings, explanations, widths. terminal_test.py INGOT"""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
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

    def test_bash_completes_every_command_and_every_option(self):
        commands = self.commands()
        self.assertLessEqual({"convert", "zoo-report", "completion"}, set(commands))
        self.assertEqual(set(self.completed("ingot", "")), {*commands, "help"})
        for command in commands:
            self.assertLessEqual(self.options(command), set(self.completed("ingot", command, "-")), command)
        self.assertEqual(self.completed("ingot", "--quiet", "--max-memory", "4G", "zoo"), ["zoo-report"])
        self.assertEqual(self.completed("ingot", "completion", "f"), ["fish"])

    def commands(self):
        """From the help, which people read."""
        return re.findall(r"(?m)^  ([a-z-]+) {2,}", self.ingot("--help").stdout.split("Subcommands:")[1].split("First steps")[0])

    def options(self, command):
        return set(re.findall(r"(?m)^ +(?:-., *)?(--[a-z0-9-]+)", self.ingot(command, "--help").stdout))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_every_command_and_every_option(self):
        (self.path / "ingot.fish").write_text(self.ingot("completion", "fish").stdout)

        def completed(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source ingot.fish; complete -C '{line}'"], cwd=self.path,
                                  capture_output=True, text=True, env={**self.environment, "HOME": str(self.path)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return {offer.split("\t")[0] for offer in done.stdout.splitlines()}

        self.assertLessEqual({*self.commands(), "help"}, completed("ingot "))
        for command in ("convert", "zoo-report", "train", "diff"):
            self.assertLessEqual(self.options(command), completed(f"ingot {command} --"), command)
        self.assertEqual(completed("ingot optimize --level ba"), {"basic"})
        self.assertEqual(completed("ingot inspect m.on"), {"m.onnxtxt"})
        self.assertEqual(completed("ingot help insp"), {"inspect"})
        self.assertIn("zsh", completed("ingot completion z"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_as_people_type(self):
        (self.path / "_ingot").write_text(self.ingot("completion", "zsh").stdout)
        typed = {"ingot conv": "ingot convert ", "ingot --quiet zoo": "ingot --quiet zoo-report ",
                 "ingot convert --external-th": "--external-threshold ", "ingot optimize --level ba": "--level basic ",
                 "ingot inspect m.on": "m.onnxtxt ", "ingot help insp": "ingot help inspect ",
                 "ingot completion fi": "ingot completion fish ", "ingot report --no-stat": "--no-statistics "}
        screen = zsh_after_tab(self.path, list(typed))
        for line, wanted in typed.items():
            self.assertIn(wanted, screen[line], line)

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
        self.assertEqual(names, {"ingot.1", *(f"ingot-{command}.1" for command in self.commands())})
        for name in sorted(names) if shutil.which("man") else []:
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", self.path / "man" / name],
                                  capture_output=True, text=True, env={**self.environment, "MANWIDTH": "80"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_errors_are_explained(self):
        for word in ("IG0312", "312", "bad_name", "[IG0312]"):
            text = self.ingot("explain", word).stdout
            self.assertIn("a required name is empty", text)
            self.assertIn("what to do", text)
        self.ingot("explain", "IG9999", code=2)
        listed = self.ingot("explain").stdout.splitlines()
        self.assertGreater(len(listed), 50)
        self.assertIn("IG0312  bad_name", "\n".join(listed))

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

    def test_settings_that_are_no_file_of_lines_stop_nobody_who_asks_for_help(self):
        settings = self.path / "settings" / "ingot" / "config"
        settings.parent.mkdir(parents=True)

        def large():
            with settings.open("wb") as file:
                file.truncate(3 << 30)

        for make, why in ((lambda: os.mkfifo(settings), "not a regular file"), (settings.mkdir, "not a regular file"),
                          (lambda: settings.symlink_to("/dev/zero"), "not a regular file"), (large, "too large"),
                          (lambda: settings.write_bytes(bytes(range(256))), "line 1 is not"),
                          (lambda: settings.write_text("threads\n"), "line 1 is not"),
                          (lambda: settings.write_text("run.threads = 1\nrun.threads = 2\n"), "line 2 sets 'run.threads' again")):
            make()
            said = self.ingot("inspect", "m.onnxtxt", code=2).stderr
            self.assertIn(why, said)
            self.assertIn("mend the file, or remove it", said)
            self.ingot("help", "inspect")
            self.ingot("inspect", "--help")
            self.ingot("explain", "IG0312")
            settings.rmdir() if settings.is_dir() else settings.unlink()
        settings.write_bytes(b"\xef\xbb\xbf# as an editor elsewhere writes it\r\nconvert.opset = 13\r\n")
        self.assertEqual(self.ingot("config", "convert.opset").stdout, "13\n")
        self.ingot("config", "convert.opset", "14\nverify.with = ort", code=2)
        self.assertEqual(self.ingot("config", "convert.opset").stdout, "13\n")

    def test_what_settings_spoil_is_told_with_them(self):
        for key, value in (("max-memory", "much"), ("convert.opset", "seventeen")):
            self.ingot("config", key, value)
            said = self.ingot("convert", "m.onnxtxt", "-o", "a.onnx", code=2).stderr
            self.assertIn(f"from your settings (ingot config) came --{key.split('.')[-1]}={value}", said)
            self.ingot("config", key, "--unset")
        self.assertNotIn("settings", self.ingot("convert", "m.onnxtxt", code=2).stderr)

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
        last = self.ingot("convert", "m.onnxtxt", "-o", "two\nlines.onnx").stderr.splitlines()[-1]
        self.assertTrue(last.startswith("summary: ") and last.endswith(" output=two\\x0alines.onnx"), last)

    def test_notes_on_a_conversion_tell_of_the_first_of_many_values(self):
        names = [f"x{i}" for i in range(20)]
        body = "\n".join(f"  y{i} = Relu(x{i})" for i in range(20))
        (self.path / "wide.onnxtxt").write_text(
            '<ir_version: 8, opset_import: ["": 17]>\ng (' + ", ".join(f"float[2] {n}" for n in names) + ") => (" +
            ", ".join(f"float[2] y{i}" for i in range(20)) + ") {\n" + body + "\n}")
        said = self.ingot("optimize", "wide.onnxtxt", "-o", "o.onnx").stderr
        self.assertEqual(said.count("  input x"), 8)
        self.assertIn("and 12 more inputs", said)
        self.assertEqual(said.count(" agrees"), 8)
        self.assertIn("and 12 more outputs agree", said)
        whole = self.ingot("verify", "wide.onnxtxt", "o.onnx").stdout  # which is the result there
        self.assertEqual((whole.count("  input x"), whole.count(" agrees")), (20, 20))

    def shown(self, width, *words):
        """What a terminal of this width shows."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        done = subprocess.Popen([INGOT, *words], cwd=self.path, stdout=follower, stderr=follower, env=self.environment)
        os.close(follower)
        text = b""
        try:
            while chunk := os.read(leader, 4096):
                text += chunk
        except OSError:  # the other end is closed
            pass
        self.assertLessEqual(done.wait(), 1)
        os.close(leader)
        return re.sub(r"\033\[[0-9;]*[mK]", "", text.decode().replace("\r", "")).splitlines()

    def test_tables_fit_the_terminal(self):
        name = "a_node_with_a_name_that_is_much_too_long_for_a_narrow_terminal_and_must_be_cut_somewhere"
        (self.path / "other.onnxtxt").write_text(MODEL.replace("Relu", "Neg"))
        tables = {("inspect", "m.onnxtxt", "--flops"): name, ("inspect", "m.onnxtxt"): "", ("ops",): "",
                  ("explain", "IG0312"): "", ("extract", "m.onnxtxt", "-o", "e.onnx", "--outputs", "y"): ""}
        for words in tables:
            for width in (40, 80, 200):
                long = [line for line in self.shown(width, *words) if len(line) > width]
                self.assertEqual(long, [], (words, width))
        self.assertIn("…", "".join(self.shown(60, "inspect", "m.onnxtxt", "--flops")))
        self.assertIn(name, "".join(self.shown(200, "inspect", "m.onnxtxt", "--flops")))
        self.assertIn(name, self.ingot("inspect", "m.onnxtxt", "--flops").stdout)  # what is piped is whole


def zsh_after_tab(folder, lines):
    """What zsh makes of each line when Tab is pressed, at a terminal."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    shell = subprocess.Popen(["zsh", "-f", "-i"], cwd=folder, stdin=follower, stdout=follower, stderr=follower,
                             start_new_session=True, env={**os.environ, "TERM": "dumb", "HOME": str(folder)})
    os.close(follower)

    def read_until(mark, seconds=60):
        text, end = "", time.monotonic() + seconds
        while mark not in text and time.monotonic() < end:
            if select.select([leader], [], [], 0.1)[0]:
                text += os.read(leader, 65536).decode(errors="replace")
        return text

    try:
        os.write(leader, f"PS1=; fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D; echo be''gin\n".encode())
        read_until("begin")
        result = {}
        for line in lines:  # Tab, then to the line's begin to make a text of it that is printed back
            os.write(leader, line.encode() + b"\t" + b"\x01print -r -- '\x05' en''ded\n")
            result[line] = read_until("ended")
        return result
    finally:
        shell.kill()
        shell.wait()
        os.close(leader)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What the documents say of the command line is true: commands, options, error codes and links that there are.

Usage: docs_test.py PATH_TO_INGOT"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

INGOT = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/cli/ingot"
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("docs/**/*.md")) + [ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
# Pages of decisions and results speak of other programs' options, too.
COMMAND_PAGES = [p for p in PAGES if p.parent.name != "decisions" and p.name not in ("acceptance.md", "ARCHITECTURE.md")]

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def said(*words):
    return subprocess.run([INGOT, *words], capture_output=True, text=True).stdout


class Manual:
    """The options of each command, as its help text has them."""

    def __init__(self):
        text = said("--help")
        self.of_all = set(OPTION.findall(text))
        listed = text.split("Subcommands:")[1].split("First steps:")[0]
        self.commands = set(re.findall(r"^  ([a-z][a-z-]*) ", listed, re.M)) | {"help"}
        self.options = {c: set(OPTION.findall(said("help", c))) for c in self.commands - {"help"}}


def fenced_lines(text):
    """Lines inside of code blocks, those that end in a backslash joined, with the number of the first."""
    inside, joined, start = False, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
            continue
        if not inside:
            continue
        start = start if joined else number
        joined += line.rstrip("\\") if line.endswith("\\") else line
        if line.endswith("\\"):
            continue
        yield start, joined
        joined = ""


def commands_of(text):
    """Commands in code blocks and in inline code."""
    for number, line in fenced_lines(text):
        found = re.match(r"\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:mpirun [^i]*)?(?:\./|build/\w+/cli/)?ingot ([a-z][a-z-]*)(.*)", line)
        if found:
            yield number, found[1], re.split(r" (?:\||>|&&|#) ", found[2] + " ")[0]
    for found in re.finditer(r"`ingot ([a-z][a-z-]*)([^`]*)`", text):
        yield text[: found.start()].count("\n") + 1, found[1], found[2]


class Docs(unittest.TestCase):
    maxDiff = None

    def test_commands_and_options_are_there(self):
        manual, wrong, seen = Manual(), [], 0
        for page in COMMAND_PAGES:
            for number, command, rest in commands_of(page.read_text()):
                seen += 1
                place = f"{page.relative_to(ROOT)}:{number}"
                if command not in manual.commands:
                    wrong.append(f"{place}: no command '{command}'")
                    continue
                for option in OPTION.findall(re.sub(r"'[^']*'|\"[^\"]*\"", "", rest)):
                    if option not in manual.options.get(command, set()) | manual.of_all:
                        wrong.append(f"{place}: '{command}' has no option {option}")
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 200)

    def test_every_option_is_on_a_page(self):
        manual, text = Manual(), "".join(p.read_text() for p in COMMAND_PAGES)
        named = set(OPTION.findall(text)) | {"--help", "--output"}  # -o
        missing = {c: sorted(options - named) for c, options in manual.options.items()}
        self.assertEqual({c: names for c, names in missing.items() if names}, {})

    def test_error_codes_are_there(self):
        wrong = []
        for page in PAGES:
            for code in sorted(set(re.findall(r"\bIG\d{4}\b", page.read_text()))):
                if subprocess.run([INGOT, "explain", code], capture_output=True).returncode != 0:
                    wrong.append(f"{page.relative_to(ROOT)}: {code}")
        self.assertEqual(wrong, [])

    def test_links_lead_somewhere(self):
        wrong = []
        for page in PAGES:
            text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if not re.match(r"[a-z]+:", target) and not os.path.exists(page.parent / target):
                    wrong.append(f"{page.relative_to(ROOT)}: {target}")
        self.assertEqual(wrong, [])

    def test_every_command_has_a_page_that_names_it(self):
        text = "".join(p.read_text() for p in COMMAND_PAGES)
        self.assertEqual([c for c in sorted(Manual().commands) if f"ingot {c}" not in text], [])


if __name__ == "__main__":
    unittest.main()

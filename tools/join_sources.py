#!/usr/bin/env python3
"""Says which sources of a target may be compiled as one, so that what their headers instantiate is compiled once.

Usage: join_sources.py MAX_LINES FILE...      prints one group a line, its files separated by spaces

Files are joined when no name that one keeps to itself (in a namespace without a name, as a macro or by `using`) could
mean something else in the other. A file that includes itself once per processor (Highway) or
opens a whole namespace stays alone. Where this guesses wrong the compiler says so; running cmake again regroups.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = re.compile(r'^#include "(\S+\.def)"', re.M)  # what it lists becomes code of the file that includes it
STAYS_ALONE = re.compile(r"^\s*(using namespace (?!std::)|#define HWY_TARGET_INCLUDE|#include .*foreach_target)", re.M)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
UNQUALIFIED = re.compile(r"(?<![\w.:])(?<!->)([A-Za-z_]\w*)(\s*\()?")
NAMELESS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
MACRO = re.compile(r"^#define (\w+)", re.M)
ALIAS = re.compile(r"^(?:using (?:[\w:]*::)?(\w+)(?: =.*)?;|namespace (\w+) = .*;)", re.M)
TYPE = re.compile(r"^(?:template <.*> ?)?(?:struct|class|enum class|enum|union|using|concept)\s+(\w+)")
FUNCTION = re.compile(r"(\w+)\(")
VARIABLE = re.compile(r"(\w+)(?:\[[^\]]*\])*\s*(?:=|\{|;)")
NO_NAMES = {"if", "for", "while", "switch", "return", "alignas", "decltype", "noexcept", "requires", "sizeof", "TEST",
            "TEST_F", "TEST_P", "INSTANTIATE_TEST_SUITE_P"}


class Source:
    def __init__(self, path):
        self.path = path
        raw = pathlib.Path(path).read_text(encoding="utf-8")
        text = NOISE.sub(" ", raw)
        self.lines = raw.count("\n")
        self.alone = bool(STAYS_ALONE.search(text))
        self.functions = set()  # that only this file knows
        self.others = set(MACRO.findall(text))
        self.aliases = {found.group(1) or found.group(2): found.group() for found in ALIAS.finditer(text)}
        for body in NAMELESS.findall(raw):
            self.note_declarations(NOISE.sub(" ", body))
        self.words = set()
        self.calls = set()
        for word, call in UNQUALIFIED.findall(text):
            self.words.add(word)
            if call:
                self.calls.add(word)
        for listed in LIST.findall(raw):
            if (ROOT / listed).exists():
                names = set(re.findall(r"\w+", NOISE.sub(" ", (ROOT / listed).read_text(encoding="utf-8"))))
                self.words |= names
                self.calls |= names

    def note_declarations(self, body):
        """Formatted code: what a namespace declares begins at the left margin."""
        for line in re.sub(r"^\[\[.*?\]\] ", "", body, flags=re.M).split("\n"):
            if not re.match(r"[A-Za-z_]", line):
                continue
            if ALIAS.match(line):
                continue
            if found := TYPE.match(line):
                self.others.add(found.group(1))
                continue
            named = VARIABLE.search(line.split("(")[0]) if not line.startswith("template") else None
            if named and not named.group().endswith(";"):  # its value may be a call
                self.others.add(named.group(1))
                continue
            function = next((name for name in FUNCTION.findall(line) if name not in NO_NAMES), None)
            if function:
                self.functions.add(function)
            elif found := VARIABLE.search(line):
                self.others.add(found.group(1))

    def hides_from(self, other):
        return bool(self.functions & (other.calls | other.functions | other.others) or self.others & other.words
                    or any(name in other.words and other.aliases.get(name) != alias  # the same alias twice is fine
                           for name, alias in self.aliases.items()))


def fits(source, group, max_lines):
    return (not source.alone and not group[0].alone
            and sum(other.lines for other in group) + source.lines <= max_lines
            and not any(source.hides_from(other) or other.hides_from(source) for other in group))


def join(sources, max_lines):
    groups = []
    for source in sources:
        group = next((group for group in groups if fits(source, group, max_lines)), None)
        if group:
            group.append(source)
        else:
            groups.append([source])
    return groups


def main():
    for group in join([Source(path) for path in sys.argv[2:]], int(sys.argv[1])):
        print(" ".join(source.path for source in group))


if __name__ == "__main__":
    main()

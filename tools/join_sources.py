#!/usr/bin/env python3
"""Says which sources of a target may be compiled as one, so that what their headers instantiate is compiled once.

Usage: join_sources.py MAX_LINES FILE...      prints one group a line, its files separated by spaces

Files are joined when no name that one keeps to itself (in a namespace without a name, as a macro or by `using`) could
mean something else in the other, or in a header that the other reads first. A file that includes itself once per
processor (Highway) or opens a whole namespace stays alone. Where this guesses wrong the compiler says so; running cmake
again regroups.

Files of one folder are joined, and small rests of folders with each other: so a file that comes or grows regroups its
own folder at most, and the rest is not compiled again.
"""
import collections
import functools
import pathlib
import re
import sys

HERE = pathlib.Path.cwd()
ROOT = next((folder for folder in (HERE, *HERE.parents) if (folder / "ingot").is_dir()), HERE)  # of the includes
INCLUDE = re.compile(r'^#include "((?:ingot|tests)/\S+\.(?:h|def|inc))"', re.M)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$", re.M)
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


@functools.lru_cache(maxsize=None)
def header(path):
    """What a header includes, the namespaces that it adds to and the words it says there."""
    if not (ROOT / path).exists():
        return frozenset(), (), frozenset()
    raw = (ROOT / path).read_text(encoding="utf-8")
    return (frozenset(INCLUDE.findall(raw)), tuple(NAMESPACE.findall(raw)),
            frozenset(word for word, _ in UNQUALIFIED.findall(NOISE.sub(" ", raw))))


def all_headers(raw):
    found, new = set(), set(INCLUDE.findall(raw))
    while new:
        found |= new
        new = set().union(*(header(path)[0] for path in new)) - found
    return found


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
        self.kept = self.functions | self.others | set(self.aliases)
        self.namespaces = NAMESPACE.findall(text)
        self.headers = all_headers(raw)
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
                           for name, alias in self.aliases.items())
                    or any(self.changes(path) for path in other.headers - self.headers))

    def changes(self, path):
        """Whether a header that is read behind this file says, in its namespace or within, what only this file means."""
        _, namespaces, words = header(path)
        return (not self.kept.isdisjoint(words)
                and any((inner + "::").startswith(outer + "::") for inner in namespaces for outer in self.namespaces))


def lines(group):
    return sum(source.lines for source in group)


def fits(one, other, max_lines):
    return (not one[0].alone and not other[0].alone and lines(one) + lines(other) <= max_lines
            and not any(a.hides_from(b) or b.hides_from(a) for a in one for b in other))


def first_fit(groups, max_lines):
    joined = []
    for group in groups:
        into = next((other for other in joined if fits(group, other, max_lines)), None)
        if into:
            into.extend(group)
        else:
            joined.append(list(group))
    return joined


def join(sources, max_lines):
    folders = collections.defaultdict(list)
    for source in sources:
        folders[pathlib.PurePath(source.path).parent].append([source])
    groups = [group for folder in folders.values() for group in first_fit(folder, max_lines)]
    rests = [group for group in groups if lines(group) < max_lines / 3]
    return [group for group in groups if group not in rests] + first_fit(rests, max_lines)


def main():
    for group in join([Source(path) for path in sys.argv[2:]], int(sys.argv[1])):
        print(" ".join(source.path for source in group))


if __name__ == "__main__":
    main()

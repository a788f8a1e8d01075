#!/usr/bin/env python3
"""Fails when a function of ingot/ or cli/ is longer than a screen.

A function is what stands between the braces that follow a parameter list, found by matching braces: strings, comments
and preprocessor lines do not count as code. A lambda is a part of the function around it, a member function is one of
its own. Its lines are counted from its signature to its closing brace.
"""
import argparse
import pathlib
import re
import sys

LIMIT = 80
FOLDERS = ("ingot", "cli")
SOURCES = {".h", ".cpp", ".inc"}

# Longer ones that are known, as `file: function`. The list only shrinks: an entry that is not needed is a problem too.
KNOWN = set()

BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
NO_FUNCTIONS = {"alignas", "catch", "decltype", "requires"}


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def functions(text):
    """Yields (name, line of the signature, number of lines) of each function."""
    text = DIRECTIVE.sub(blank, BLANKED.sub(blank, text))
    depth_inside = 0  # braces that are open inside of a function
    start = 0  # where the text before the next brace begins
    name, begin = "", 0
    line = 1
    for position, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char == "{":
            if depth_inside:
                depth_inside += 1
            else:
                head = text[start:position]
                found = function_name(head)
                if found:
                    name, depth_inside = found, 1
                    begin = line - head.lstrip().count("\n")
                start = position + 1
        elif char == "}":
            if depth_inside:
                depth_inside -= 1
                if not depth_inside:
                    yield name, begin, line - begin + 1
            start = position + 1
        elif char == ";" and not depth_inside:
            start = position + 1


def function_name(head):
    """The name of the function whose body follows this text; None if it is a scope, a table or a value."""
    head = re.sub(r"^\s*(?:public|private|protected)\s*:", "", head).strip()
    head = re.sub(r"^template\s*<", "<", head)
    call = re.search(r"([~\w:]+|operator\s*(?:\(\)|[^\s\w(]+|\w+))\s*\(", head)
    if not call or call.group(1) in NO_FUNCTIONS:
        return None
    is_value = "=" in re.sub(r"<[^<>]*>", "", head[: call.start()])
    return None if is_value else call.group(1)


def long_functions(root):
    """{`file: function`: (line, number of lines)} of those beyond the limit."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            for name, line, lines in functions(path.read_text(encoding="utf-8")):
                if lines > LIMIT:
                    found[f"{path.relative_to(root)}: {name}"] = (line, lines)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--known", nargs="*", default=sorted(KNOWN), help="`file: function` that may be longer")
    arguments = parser.parse_args()
    known, found = set(arguments.known), long_functions(arguments.root)
    problems = [f"{key}: {lines} lines from line {line}, at most {LIMIT}"
                for key, (line, lines) in found.items() if key not in known]
    problems += [f"{key}: known as long, which it is not: take it off the list" for key in sorted(known - found.keys())]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"long functions: {len(found)}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

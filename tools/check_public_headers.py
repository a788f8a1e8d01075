#!/usr/bin/env python3
"""Fails when ingot/ingot.h reaches other headers of Ingot than those that tools/public_headers.txt lists.

What a public header includes is public too: an internal header that slips in becomes a promise to users, and a third
party's becomes something that they must install. `--write` brings the list up to date; say in the commit why.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
# The IR that passes change, and what runs models: never for users.
INTERNAL = re.compile(r"ingot/(ir/(graph|model|attribute|name_table)\.h|engine/(session|in_place|inputs)\.h|"
                      r"train/(step_runner|trainer|checkpoint)\.h|(ops|onnx|formats|frontends|backends)/.*)")
C_HEADERS = {"stddef.h", "stdint.h"}


def reached(root, start):
    """All files of Ingot that `start` includes, and the problems on the way."""
    found, todo, problems = set(), [start], []
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        for mark, header in INCLUDE.findall((root / name).read_text(encoding="utf-8")):
            if (root / header).is_file():
                todo.append(header)
            elif mark == '"' or ("." in header and header not in C_HEADERS):
                problems.append(f"{name}: includes {header}, which is neither Ingot's nor the standard library's")
    return found, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--write", action="store_true", help="write the list instead of comparing with it")
    arguments = parser.parse_args()
    root = arguments.root
    found, problems = reached(root, "ingot/ingot.h")
    c_found, c_problems = reached(root, "ingot/ingot_c.h")
    problems += c_problems + [f"ingot/ingot_c.h: reaches {name}" for name in sorted(c_found - {"ingot/ingot_c.h"})]
    problems += [f"ingot/ingot.h: reaches {name}, which is internal" for name in sorted(found) if INTERNAL.fullmatch(name)]
    listing = root / "tools" / "public_headers.txt"
    if arguments.write:
        listing.write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")
    listed = set(listing.read_text(encoding="utf-8").split())
    problems += [f"ingot/ingot.h: reaches {name}, which is not public" for name in sorted(found - listed)]
    problems += [f"public_headers.txt: {name} is no longer reached" for name in sorted(listed - found)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"public headers: {len(found)}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

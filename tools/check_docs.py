#!/usr/bin/env python3
"""Fails when a relative link of a Markdown file leads nowhere, or a page of docs/ is not reached from docs/README.md."""
import argparse
import pathlib
import re
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links(page):
    """The files that a page links to, without web addresses and anchors."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    targets = (target.partition("#")[0] for target in LINK.findall(text))
    return [(page.parent / target).resolve() for target in targets if target and "://" not in target]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    pages = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    problems = [f"{page.relative_to(root)}: a link leads to {target}, which is not there"
                for page in pages for target in links(page) if not target.exists()]

    reached, todo = set(), [root / "docs" / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        todo += links(page)
    problems += [f"{page.relative_to(root)}: no link leads here from docs/README.md"
                 for page in pages if page.is_relative_to(root / "docs") and page not in reached]

    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

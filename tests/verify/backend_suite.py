#!/usr/bin/env python3
"""Runs the official backend suite and holds it against the failures that are known, by name and with a reason.

Usage: backend_suite.py PATH_TO_INGOT VARIANT. A new failure and a new pass both fail the test. The suite is that of
$INGOT_SHARED, else shared/ beside the source tree ("official" in the list), else Debian's libonnx-testdata ("debian").
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
VARIANTS = {
    "plain": [],
    "symbolic": ["--unknown-shapes", "symbolic"],
    "rank": ["--unknown-shapes", "rank"],
    "opset13": ["--opset", "13"],
    "opset17": ["--opset", "17"],
    "opset21": ["--opset", "21"],
}


def suite():
    """The directory and what the list calls it; (None, None) if there is none."""
    places = {
        "official": pathlib.Path(os.environ.get("INGOT_SHARED", HERE.parents[2] / "shared")) / "onnx-backend-tests",
        "debian": pathlib.Path("/usr/share/libonnx-testdata/data"),
    }
    return next(((p, name) for name, p in places.items() if p.is_dir()), (None, None))


def known_failures(variant, name):
    """The lines below headings with a word that holds: [all], [official], [debian], [opset13 opset17]."""
    applies, lines = False, []
    for line in (HERE / "known_failures.txt").read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            applies = not {"all", variant, name}.isdisjoint(line.strip("[]").split())
        elif line and applies:
            lines.append(line)
    return lines


def main():
    ingot, variant = sys.argv[1:]
    directory, name = suite()
    if directory is None:
        print("SKIPPED: no official backend tests here (INGOT_SHARED, or Debian's libonnx-testdata)")
        return SKIPPED
    if name == "debian" and variant.startswith("opset"):
        print("SKIPPED: re-versioned variants are checked with the official suite of INGOT_SHARED only")
        return SKIPPED
    known = pathlib.Path(f"known_failures_{variant}.txt")
    known.write_text("\n".join(known_failures(variant, name)) + "\n")
    print(f"{directory} {' '.join(VARIANTS[variant])}")
    sys.stdout.flush()
    return subprocess.run([ingot, "--quiet", "test", directory, "--known-failures", known, *VARIANTS[variant]]).returncode


if __name__ == "__main__":
    sys.exit(main())

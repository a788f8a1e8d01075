#!/usr/bin/env python3
"""What `ingot convert` writes for a corpus of models, as hashes: the same before and after a redesign.

  conversion_hashes.py record INGOT CORPUS OUT.json     converts every model below CORPUS, each way there is
  conversion_hashes.py compare BEFORE.json AFTER.json   lists what differs; exit code 1 if anything does
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LARGEST = 60_000_000  # bytes of an ONNX file; larger ones say nothing new
MODEL_FILES = {".tflite", ".pb", ".pbtxt"}
DIRECTORY_MARKS = ("saved_model.pb", "saved_model.pbtxt", "model.json")


def conversions(corpus):
    """(source, extension of the result, further options) for every model."""
    for folder, _, names in sorted(os.walk(corpus)):
        if any(mark in names for mark in DIRECTORY_MARKS):
            yield Path(folder), ".onnx", []
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix == ".onnx" and path.stat().st_size < LARGEST:
                yield path, ".tflite", []
                yield path, ".onnx", ["--opset", "21"]
            elif path.suffix in MODEL_FILES and not name.startswith("saved_model."):
                yield path, ".onnx", []


def convert(ingot, source, extension, options):
    with tempfile.TemporaryDirectory() as folder:
        command = [ingot, "convert", source, "-o", f"{folder}/model{extension}", "--no-verify", *options]
        try:
            done = subprocess.run(command, capture_output=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return {"exit": "timeout", "hash": "", "words": ""}
        digest = hashlib.sha256()
        for path in sorted(Path(folder).iterdir()):
            digest.update(path.name.encode() + path.read_bytes())
        words = done.stderr.decode(errors="replace").replace(folder, "")
        return {"exit": done.returncode, "hash": digest.hexdigest() if done.returncode == 0 else "", "words": words}


def record(ingot, corpus, out):
    jobs = list(conversions(corpus))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: convert(ingot, *job), jobs))
    named = {f"{source.relative_to(corpus)} -> {extension}": result
             for (source, extension, _), result in zip(jobs, results)}
    Path(out).write_text(json.dumps(named, indent=1, sort_keys=True) + "\n")
    print(len(named), "conversions:", dict(Counter(str(r["exit"]) for r in results)))


def compare(before, after):
    old, new = (json.loads(Path(p).read_text()) for p in (before, after))
    bytes_differ = [k for k in old if k in new and (old[k]["exit"], old[k]["hash"]) != (new[k]["exit"], new[k]["hash"])]
    words_differ = [k for k in old if k in new and k not in bytes_differ and old[k]["words"] != new[k]["words"]]
    for what, keys in (("bytes or exit code", bytes_differ), ("messages", words_differ)):
        for key in keys:
            print(f"{what}: {key}")
    print(f"{len(old)} conversions, {len(bytes_differ)} with other bytes or exit codes, {len(words_differ)} with other "
          f"messages")
    return 1 if bytes_differ or words_differ else 0


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "record":
        return record(arguments[1], Path(arguments[2]), arguments[3])
    if len(arguments) == 3 and arguments[0] == "compare":
        return compare(*arguments[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

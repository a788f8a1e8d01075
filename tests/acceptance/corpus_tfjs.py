#!/usr/bin/python3
"""Every ONNX file of the corpus and every light model becomes a TF.js graph-model, which `convert` compares in TF.js with
what ONNX Runtime (or, where it cannot, Ingot) makes of the source. A refusal is counted, not a failure; a difference is a
failure unless corpus_tfjs.txt explains it.

Usage: corpus_tfjs.py PATH_TO_INGOT [--every N] [--filter TEXT] [--limit SECONDS]"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", HERE.parents[2] / "shared"))
PEERS = pathlib.Path(os.environ.get("INGOT_PEERS", HERE.parents[1] / "build/peers/node_modules"))


def known():
    """Part of a path -> why its numbers differ in TF.js."""
    lines = [line for line in (HERE / "corpus_tfjs.txt").read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def sources(every, part):
    found = sorted([*(SHARED / "corpus/onnx").rglob("*.onnx"), *(SHARED / "onnx-backend-tests/light").rglob("*.onnx")])
    return [path for i, path in enumerate(found) if i % every == 0 and part in str(path)]


def judge(code, text, said):
    """(outcome, why) of a conversion."""
    if code == 4:
        return "refused", said
    if code in (3, 6):
        return "not valid, or parts of it missing", said
    if code not in (0, 1):
        return "failed", f"exit code {code}: {said}"
    verification = json.loads(text).get("verification") or {}
    answer = verification.get("answer", "none")
    if answer == "different":
        apart = [f"{o['a']}: {o.get('figure', '')}; {o.get('worst', '')}" for o in verification["outputs"] if not o["agrees"]]
        return "differs", "\n".join(apart) or said
    if answer != "same":
        return "not compared", verification.get("why_unknown") or said or answer
    return ("agrees in TF.js" if "TF.js" in verification["b_runtime"] else "agrees, read again by Ingot"), ""


def convert(ingot, path, limit):
    with tempfile.TemporaryDirectory() as scratch:
        words = [ingot, "convert", path, "-o", f"{scratch}/web", "--to", "tfjs", "--json"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=limit, check=False, errors="replace")
        except subprocess.TimeoutExpired:
            return "too slow", f"more than {limit} s"
        try:
            return judge(done.returncode, done.stdout, done.stderr.strip()[-600:])
        except ValueError as error:
            return "failed", f"no report: {error}: {done.stderr[-300:]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    # Style transfer of 720 x 720 pixels is 4 minutes of CPU time, most of them in doubles, to know how much rounding moves.
    parser.add_argument("--limit", type=int, default=900, help="seconds for one model")
    options = parser.parse_args()
    if not (SHARED / "corpus/onnx").exists() or not (PEERS / "@tensorflow").exists():
        print("no corpus, or no TF.js: INGOT_SHARED and INGOT_PEERS say where they are")
        return 77
    paths, reasons = sources(options.every, options.filter), known()
    counts, failures = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: convert(options.ingot, path, options.limit), paths)
        for path, (outcome, why) in zip(paths, results, strict=True):
            name = str(path.relative_to(SHARED))
            if outcome == "differs" and (reason := next((r for part, r in reasons.items() if part in name), "")):
                outcome, why = "differs, as listed", reason
            counts[outcome] += 1
            if why or outcome == "differs":
                print(f"{outcome}: {name}\n    " + why.replace("\n", "\n    "), flush=True)
            failures += outcome in ("differs", "failed", "too slow")
            done = sum(counts.values())
            if done % 100 == 0 or done == len(paths):
                print(f"{done} of {len(paths)} models: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()), flush=True)
    return 1 if failures or not counts["agrees in TF.js"] else 0


if __name__ == "__main__":
    sys.exit(main())

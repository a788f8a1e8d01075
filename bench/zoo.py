#!/usr/bin/env python3
"""Measures networks beside ONNX Runtime and says how much of their time reference kernels take; `script/bench --zoo` calls
it. The networks are those of bench/zoo_models.py, models that are named, and what Ingot makes of them in other types.

CPU time of one thread is measured, not the clock: other programs may run meanwhile. Each runtime has a process of its own
in which it warms up and then runs the model many times; the two take turns."""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

RUNNER = pathlib.Path(__file__).with_name("zoo_ort.mjs")


def ingot(args, *rest, **options):
    return subprocess.run([args.ingot, *rest], capture_output=True, text=True, **options)


def in_type(args, path, kind):
    """The model in float16 or bfloat16, or in integers ("int8": QuantizeLinear around float operators, "integer":
    QLinearConv, MatMulInteger and their like), made once."""
    if kind == "float32":
        return path
    made = args.models / kind / path.name
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        if kind in ("int8", "integer"):
            done = ingot(args, "quantize", str(path), "-o", str(made), "--form", "qdq" if kind == "int8" else kind,
                         "--random", "4", "--hold-back", "0")
        else:
            done = ingot(args, "convert", str(path), "-o", str(made), f"--{kind}", "--half-ports")
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["not converted"])[0])
    return made


def shares(args, path, shapes):
    """Per operator and kernel its share of the time of one run, in percent."""
    done = ingot(args, "run", str(path), "--random", "1", "--threads", "1", "--profile", *shapes)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it does not run"])[0])
    told_all = done.stdout + done.stderr
    table = told_all[told_all.index("slowest operators"):]
    found = {}
    for line in table.splitlines()[2:]:
        match = re.match(r"\s+(\S+)\s+(.+?)\s+\d+\s+[\d.]+\s+([\d.]+)$", line)
        if not match:
            break
        found[match[1], match[2].strip()] = float(match[3])
    return found


def ingot_cpu(args, path, shapes):
    done = ingot(args, "bench", str(path), "--threads", "1", "--runs", str(args.runs), "--json", *shapes)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it does not run"])[0])
    told = json.loads(done.stdout)["ingot"]
    return told.get("cpu_ms", told["latency_ms"]["min"])


def ort_cpu(args, path, shapes):
    given = [shapes[i + 1] for i in range(0, len(shapes), 2)]
    done = subprocess.run(["node", str(RUNNER), str(path), str(args.runs), *given], capture_output=True, text=True,
                          env={**os.environ, "NODE_PATH": os.environ["INGOT_PEERS"]})
    if done.returncode:
        return None
    return json.loads(done.stdout)["least_ms"]


def costs(args, path, shapes):
    """The first result and the peak memory of both, each in a process of its own: one that compares results with
    another runtime's holds more than the model."""
    alone = ingot(args, "bench", str(path), "--threads", "1", "--runs", "1", "--json", *shapes)
    done = ingot(args, "bench", str(path), "--threads", "1", "--runs", "1", "--vs", "ort", "--json", *shapes)
    told = json.loads(done.stdout) if done.stdout.strip() else {}
    if "ort" not in told:
        return {}
    own, peer = json.loads(alone.stdout)["ingot"], told["ort"]
    return {"first": own["first_result_ms"], "ort_first": peer["first_result_ms"], "agree": told["results_agree"],
            "mb": own["peak_bytes"] / 1e6, "ort_mb": (peer["peak_bytes"] - peer["base_bytes"]) / 1e6}


def measure(args, path, shapes):
    row = {"reference": {}, "ratio": None}
    kernels = shares(args, path, shapes)
    row["reference"] = {op: share for (op, kernel), share in kernels.items() if kernel == "reference" and share >= 0.5}
    row["share"] = sum(row["reference"].values())
    if args.shares:
        return row
    ratios, own, theirs = [], [], []
    for _ in range(args.turns):
        mine, peer = ingot_cpu(args, path, shapes), ort_cpu(args, path, shapes)
        own.append(mine)
        if peer:
            ratios.append(peer / mine)
            theirs.append(peer)
    row["ms"] = statistics.median(own)
    if args.costs:
        row.update(costs(args, path, shapes))
    if ratios:
        row.update(ratio=statistics.median(ratios), low=min(ratios), high=max(ratios), ort_ms=statistics.median(theirs))
    return row


def told(name, kind, row):
    ratio = f"{row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f})" if row["ratio"] else "-"
    slow = ", ".join(f"{op} {share:.0f} %" for op, share in sorted(row["reference"].items(), key=lambda i: -i[1]))
    times = f"{row.get('ms', 0):.4g} | {row.get('ort_ms', 0):.4g}"
    cost = f"{row['first']:.4g} / {row['ort_first']:.4g} | {row['mb']:.0f} / {row['ort_mb']:.0f}" if "first" in row else "- | -"
    return f"| {name} | {kind} | {times} | {ratio} | {row['share']:.1f} % {slow and '(' + slow + ')'} | {cost} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--types", nargs="+", default=["float32", "float16", "bfloat16"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--costs", action="store_true", help="the first result and the memory too")
    parser.add_argument("--shares", action="store_true", help="only how much reference kernels take")
    parser.add_argument("--out", type=pathlib.Path, help="write the table there too")
    parser.add_argument("row", nargs="*", help="names of the zoo, or paths of models")
    args = parser.parse_args()
    if not args.shares and not os.environ.get("INGOT_PEERS"):
        print("**** SKIPPED: no ONNX Runtime to measure beside (script/bootstrap installs it)", file=sys.stderr)
        return 1
    paths = [pathlib.Path(r) if "/" in r else args.models / f"{r}.onnx" for r in args.row]
    lines = ["| model | type | Ingot ms | ORT ms | ratio | in reference kernels | first result ms, Ingot / ORT | peak MB, "
             "Ingot / ORT without Node |", "|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    ratios, below = {}, []
    for path in paths or sorted(args.models.glob("*.onnx")):
        for kind in args.types:
            try:
                row = measure(args, in_type(args, path, kind), [])
            except (RuntimeError, ValueError) as problem:
                print(f"| {path.stem} | {kind} | failed: {problem} | | | | | |", flush=True)
                below.append(f"{path.stem} ({kind}) failed")
                continue
            lines.append(told(path.stem, kind, row))
            print(lines[-1], flush=True)
            if row["ratio"]:
                ratios.setdefault(kind, []).append(row["ratio"])
            if row["share"] > 2 or (row["ratio"] or 1) < 0.95 or row.get("mb", 0) > row.get("ort_mb", 0):
                below.append(f"{path.stem} ({kind})")
    for kind, values in ratios.items():
        lines.append(f"\nGeometric mean, {kind}: {math.exp(sum(map(math.log, values)) / len(values)):.2f}")
        print(lines[-1])
    lines.append("\nBelow what is wanted (0.95, at most 2 % in reference kernels, memory): " + ("; ".join(below) or "none"))
    print(lines[-1])
    if args.out:
        args.out.write_text("# The zoo\n\nWritten by `script/bench --zoo`: CPU time on one thread.\n\n" + "\n".join(lines) + "\n")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())

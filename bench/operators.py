#!/usr/bin/python3
"""Measures each operator alone on a middle-sized input beside ONNX Runtime and says which kernel it got:
`script/bench --operators` calls it. The cases are those of bench/operator_cases.py.

Each case is a model of one node; `ingot bench --vs ort` runs both on the same inputs, by turns. The ratio is that of the
least times, which other programs on the machine disturb least: above 1, Ingot is faster."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import operator_cases  # noqa: E402


def kernels_of(args, model, given):
    """The kernels of the nodes that the plan is left with, and what a refusal said."""
    done = subprocess.run([args.ingot, "run", str(model), "--threads", "1", "--explain", "--json", *given],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it does not run"])[0])
    told = json.loads(done.stdout)
    return [(k["op"], k["kernel"]) for k in told["kernels"]]


def measured(args, model, given):
    done = subprocess.run([args.ingot, "bench", str(model), "--vs", "ort", "--threads", str(args.threads), "--json",
                           *given], capture_output=True, text=True)
    if not done.stdout.strip():
        return None, (done.stderr.strip().splitlines() or ["not measured"])[0]
    told = json.loads(done.stdout)
    if "ingot" not in told:
        return None, told.get("error", {}).get("message", "not measured")
    if "ort" not in told:
        return told, "no ratio"
    return told, "" if told["results_agree"] else told["difference"]


def least(told):
    return told["latency_ms"]["min"]


def row_of(args, case):
    model, given = operator_cases.write(case, args.models)
    try:
        return measured_row(args, case, model, given)
    finally:
        for path in args.models.glob(model.stem + "*"):
            path.unlink()


def measured_row(args, case, model, given):
    kernels = kernels_of(args, model, given)
    slow = sorted({op for op, kernel in kernels if kernel == "reference"})
    row = {"name": case.name, "kernels": kernels, "reference": slow, "ratio": None, "note": ""}
    if args.kernels:
        return row
    told, row["note"] = measured(args, model, given)
    if told:
        row["ms"] = least(told["ingot"])
        if "ort" in told:
            row["ort_ms"] = least(told["ort"])
            row["ratio"] = row["ort_ms"] / row["ms"]
    return row


def told(row):
    kernel = ", ".join(f"{op}: {kernel}" for op, kernel in dict.fromkeys(row["kernels"])) or "-"
    times = f"{row.get('ms', 0):.3g} | {row.get('ort_ms', 0):.3g}"
    ratio = f"{row['ratio']:.2f}" if row["ratio"] else "-"
    return f"| {row['name']} | {kernel} | {times} | {ratio} | {row['note'][:100]} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kernels", action="store_true", help="only which kernels they get")
    parser.add_argument("--below", type=float, default=0.95)
    parser.add_argument("--out", type=pathlib.Path, help="write the table there too")
    parser.add_argument("case", nargs="*", help="beginnings of names; without any, all")
    args = parser.parse_args()
    if not args.kernels and not os.environ.get("INGOT_PEERS"):
        print("**** SKIPPED: no ONNX Runtime to measure beside (script/bootstrap installs it)", file=sys.stderr)
        return 1
    args.models.mkdir(parents=True, exist_ok=True)
    lines = ["| case | kernel | Ingot ms | ORT ms | ratio | |", "|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    below, alone = [], []
    for case in operator_cases.all_cases():
        if args.case and not any(case.name.startswith(c) for c in args.case):
            continue
        try:
            row = row_of(args, case)
        except RuntimeError as problem:
            lines.append(f"| {case.name} | failed: {problem} | | | | |")
            print(lines[-1], flush=True)
            below.append(case.name + " (failed)")
            continue
        lines.append(told(row))
        print(lines[-1], flush=True)
        if row["ratio"] and row["ratio"] < args.below:
            below.append(f"{case.name} ({row['ratio']:.2f})")
        elif row["ratio"] is None and row["reference"]:
            alone.append(case.name)
    lines.append(f"\nBelow {args.below}: " + ("; ".join(below) or "none"))
    lines.append("\nBy a reference kernel, and ONNX Runtime does not run it: " + ("; ".join(alone) or "none"))
    print("\n".join(lines[-2:]))
    if args.out:
        args.out.write_text("# Operators\n\nWritten by `script/bench --operators`.\n\n" + "\n".join(lines) + "\n")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())

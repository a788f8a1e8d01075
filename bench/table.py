#!/usr/bin/env python3
"""Measures the table of models with `ingot bench --vs ort` and writes bench/RESULTS.md; script/bench calls it."""
import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys

# name, model, what it is, options of ingot bench
ROWS = [
    ("resnet50", "resnet50", "ResNet50, 224 x 224", []),
    ("vgg19", "vgg19", "VGG19, 224 x 224", []),
    ("squeezenet", "squeezenet", "SqueezeNet 1.1, 224 x 224", []),
    ("mobilenet_v2", "mobilenet_v2", "MobileNetV2, 224 x 224", []),
    ("bert_base", "bert_base", "BERT-base, 128 tokens", []),
    ("lstm", "lstm", "LSTM, 2 layers, 256 units, 100 steps", []),
    ("mlp_1", "mlp", "MLP 784-512-512-10, batch 1", ["--input-shape", "x:1,784"]),
    ("mlp_1024", "mlp", "MLP 784-512-512-10, batch 1024", ["--input-shape", "x:1024,784"]),
    ("elementwise", "elementwise", "elementwise chain, 4 M elements", []),
    ("log", "log", "Log, 4 M elements", []),
    ("transpose", "transpose", "transpose, 2048 x 2048", []),
    ("forest_1", "forest", "500 trees of depth 8, 1 row", ["--input-shape", "x:1,30"]),
    ("forest_1000", "forest", "500 trees of depth 8, 1,000 rows", ["--input-shape", "x:1000,30"]),
    ("forest_100000", "forest", "500 trees of depth 8, 100,000 rows", ["--input-shape", "x:100000,30"]),
]
# The least ratio that is wanted; 0.8 for the others.
LEAST = {"elementwise": 2, "forest_1": 3, "forest_1000": 3, "forest_100000": 3}
# How many times as early as ONNX Runtime the first result is wanted.
FIRST = {"bert_base": 3}
# Measured alone: what counts is how long large graphs take to load and to run once.
LARGE = [("chain", "100,000 nodes, one after the other"), ("fan_in", "100,000 nodes into one"),
         ("fan_out", "100,000 readers of one value"), ("initializers", "100,000 initializers")]


def machine():
    cpu = "an unknown CPU"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cpu}, {len(os.sched_getaffinity(0))} cores, {ram:.0f} GiB"


def commit():
    def git(*args):
        return subprocess.run(["git", *args], capture_output=True, text=True, check=True).stdout.strip()
    # The results themselves may differ from the commit that they are of.
    changed = [line for line in git("status", "--porcelain").splitlines() if not line.endswith(("bench/RESULTS.md", "bench/TRAINING.md"))]
    return git("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")


def measure(ingot, path, threads, options):
    done = subprocess.run([ingot, "bench", path, "--threads", str(threads), "--json", *options],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        return {"error": (done.stderr.strip().splitlines() or ["no answer"])[0]}
    return json.loads(done.stdout)


def ms(value):
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def both(latency):
    return f"{ms(latency['median'])} ({ms(latency['min'])})"


def mb(value):
    return f"{value / 1e6:,.0f}"


def table_of(threads, results):
    lines = [f"## {threads} thread{'s' if threads > 1 else ''}", "",
             "| model | Ingot ms (least) | ORT ms (least) | ratio | 95 % interval | first result ms, Ingot / ORT "
             "| peak MB, Ingot / ORT | rate | of the limit |", "|---|---|---|---|---|---|---|---|---|"]
    for _, what, r in results:
        if "error" in r:
            lines.append(f"| {what} | failed: {r['error']} | | | | | | | |")
            continue
        own, ort, ratio = r["ingot"], r["ort"], r["ratio"]
        # What the kernels can do shows in the least time; the median has what else ran on the machine.
        faster = own["latency_ms"]["median"] / own["latency_ms"]["min"]
        rate = f"{faster * r['gflops']:.1f} GFLOP/s" if "gflops" in r else f"{faster * r['gbps']:.2g} GB/s"
        rate += f" | {100 * faster * r['share_of_peak']:.2g} %"
        note = "" if r["results_agree"] else " (**results differ**)"
        lines.append(
            f"| {what}{note} | {both(own['latency_ms'])} | {both(ort['latency_ms'])} "
            f"| **{ratio['speed']:.2f}** | {ratio['low']:.2f} to {ratio['high']:.2f} "
            f"| {ms(own['first_result_ms'])} / {ms(ort['first_result_ms'])} "
            f"| {mb(own['peak_bytes'])} / {mb(ort['peak_bytes'])} | {rate} |")
    measured = [r for _, _, r in results if "ratio" in r]
    if measured:
        mean = math.exp(sum(math.log(r["ratio"]["speed"]) for r in measured) / len(measured))
        lines += ["", f"Geometric mean of the ratios: **{mean:.2f}**."]
    below = [f"{what} ({r['ratio']['speed']:.2f}, wanted {LEAST.get(name, 0.8)})" for name, what, r in results
             if "ratio" in r and r["ratio"]["speed"] < LEAST.get(name, 0.8)]
    below += [f"first result of {what} ({r['ratio']['first_result']:.1f} times as early, wanted {FIRST[name]})"
              for name, what, r in results
              if name in FIRST and "ratio" in r and r["ratio"]["first_result"] < FIRST[name]]
    lines += ["", "Below what is wanted: " + ("; ".join(below) if below else "none") + "."]
    memory = [f"{what} ({mb(r['ingot']['peak_bytes'])} against {mb(r['ort']['peak_bytes'])} MB)" for _, what, r in results
              if "ratio" in r and r["ratio"]["peak_memory"] > 1]
    return lines + ["", "More memory than ONNX Runtime: " + ("; ".join(memory) if memory else "none") + ".", ""]


def large_table(results):
    lines = ["## Large graphs, Ingot alone", "", "| model | set-up ms | first result after ms | run ms | peak MB |",
             "|---|---|---|---|---|"]
    for what, r in results:
        if "error" in r:
            lines.append(f"| {what} | failed: {r['error']} | | | |")
        else:
            own = r["ingot"]
            lines.append(f"| {what} | {ms(own['set_up_ms'])} | {ms(own['first_result_ms'])} "
                         f"| {ms(own['latency_ms']['median'])} | {mb(own['peak_bytes'])} |")
    return lines + [""]


def heading(results, build):
    some = [r for rows in results.values() for _, _, r in rows if "ort" in r]
    version = some[0]["ort"]["version"] if some else "?"
    base = max((r["ort"]["base_bytes"] for r in some), default=0)
    load = os.getloadavg()[0]
    # One of the two that take turns is always at work.
    alone = "" if load < 2.5 else " Other programs ran meanwhile: read the ratios, not the times."
    counts = " and ".join(map(str, results))

    def peaks(name):
        best = [max((r[name] for _, _, r in rows if name in r), default=0) for rows in results.values()]
        return " and ".join(f"{b:.0f}" for b in best)
    return [
        "# Measurements", "",
        f"Written by `bench/table.py`, which `script/bench` calls, on {datetime.date.today()} for commit {commit()}:", f"{build}.",
        f"The machine: {machine()}; its load at the end: {load:.1f}.{alone}", "",
        f"Beside ONNX Runtime {version} (npm onnxruntime-node, in a process of its own; same file, inputs and threads).",
        "The two take turns; ratio = its time / Ingot's, the median over the pairs of turns, with a 95 % interval from",
        "order statistics: above 1, Ingot is faster. Rates are those of the least time. First result = loading, planning and",
        "one run, with the file in the system's cache for both. Peak memory is the",
        f"process's; ONNX Runtime's includes {mb(base)} MB of Node. The limit: multiply-adds alone ({peaks('peak_gflops')}",
        f"GFLOP/s on {counts} threads), or for models without matrix products and convolutions, what goes in and comes out",
        f"by copying memory ({peaks('copy_gbps')} GB/s read and written).", ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--make-models", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("bench/RESULTS.md"))
    parser.add_argument("--build", default="release build", help="what RESULTS.md says of the program")
    parser.add_argument("row", nargs="*")
    args = parser.parse_args()
    if not os.environ.get("INGOT_PEERS"):
        print("**** SKIPPED: no ONNX Runtime to measure beside (script/bootstrap installs it)", file=sys.stderr)
        return 1
    unknown = set(args.row) - {row[0] for row in ROWS}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(row[0] for row in ROWS)}")
    rows = [row for row in ROWS if not args.row or row[0] in args.row]
    large = [] if args.row else LARGE
    args.models.mkdir(parents=True, exist_ok=True)
    missing = sorted({m for m in [r[1] for r in rows] + [n for n, _ in large]
                      if not (args.models / f"{m}.onnx").exists()})
    if missing:
        subprocess.run([args.make_models, str(args.models), *missing], check=True)
    results = {}
    for threads in args.threads:
        results[threads] = []
        for name, model, what, options in rows:
            r = measure(args.ingot, args.models / f"{model}.onnx", threads, ["--vs", "ort", *options])
            said = r.get("error") or f"{r['ratio']['speed']:.2f} ({r['ratio']['low']:.2f} to {r['ratio']['high']:.2f})"
            print(f"{threads} thread(s)  {name:14} {said}", flush=True)
            results[threads].append((name, what, r))
    alone = [(what, measure(args.ingot, args.models / f"{name}.onnx", 1, ["--runs", "3"])) for name, what in large]
    lines = heading(results, args.build)
    for threads in args.threads:
        lines += table_of(threads, results[threads])
    if alone:
        lines += large_table(alone)
    args.out.write_text("\n".join(lines).rstrip() + "\n")
    print(f"wrote {args.out}")
    failed = any("error" in r or not r["results_agree"] for rs in results.values() for _, _, r in rs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

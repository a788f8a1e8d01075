#!/usr/bin/python3
"""Measures the TensorFlow, TFLite and TF.js networks of the corpus, converted, beside ONNX Runtime on the same file, and,
with --sources, TFLite's files beside TFLite.

Usage: corpus.py PATH_TO_INGOT [--filter TEXT] [--repeat N] [--least RATIO] [--state FILE] [--sources] [--operations N]
A model counts as a network from --operations multiplications and additions per run (1e5). One thread; the two
take turns (`ingot bench`), and the ratio of a model is the median of --repeat such runs. Of a model below --least it prints the operators that
take most of the time, beside what they take in ONNX Runtime. The exit code is 1 if there is one."""
import argparse
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/acceptance"))
import corpus_conversions  # noqa: E402

# What ONNX Runtime takes for each operator, in its own profile: [type, microseconds] of one run, slowest first.
ORT_PROFILE = r"""
const ort = require(process.argv[1] + '/onnxruntime-node');
const fs = require('fs');
(async () => {
  const [, peers, model, inputs, prefix, runs] = process.argv;
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: 1, interOpNumThreads: 1, enableProfiling: true, profileFilePrefix: prefix});
  const feeds = {};
  for (const [name, x] of Object.entries(JSON.parse(fs.readFileSync(inputs)))) {
    const types = {float: 'float32', double: 'float64'};
    const arrays = {float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int32: Int32Array,
                    int16: Int16Array, int64: BigInt64Array, bool: Uint8Array};
    const type = types[x.type] || x.type;
    const size = x.shape.reduce((a, b) => a * b, 1);
    const data = new arrays[type](size);
    if (type === 'float32' || type === 'float64') for (let i = 0; i < size; ++i) data[i] = ((i * 2654435761) % 1000) / 500 - 1;
    feeds[name] = new ort.Tensor(type, data, x.shape);
  }
  for (let i = 0; i < Number(runs); ++i) await session.run(feeds);
  session.endProfiling();
})();
"""


def call(*words, limit=300):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=limit)


def by_operator(nodes):
    total = {}
    for op, ms in nodes:
        total[op] = total.get(op, 0) + ms
    return sorted(total.items(), key=lambda item: -item[1])


def own_profile(ingot, model, options):
    done = call(ingot, "run", model, "--random", "1", "--threads", "1", "--profile", "--json", *options)
    if done.returncode:
        return []
    return by_operator((f"{n['op'].removeprefix('ingot.engine.')} ({n['kernel']})", n["self_ms"])
                       for n in json.loads(done.stdout)["profile"]["nodes"])


def ort_profile(ingot, model, scratch, runs=20):
    inputs = json.loads(call(ingot, "inspect", model, "--json").stdout)["inputs"]
    feeds = {}
    for x in inputs:
        element, _, sizes = x["type"].rstrip("]").partition("[")
        feeds[x["name"]] = {"type": element, "shape": [int(d) if d.isdigit() else 1 for d in sizes.split(",") if d]}
    (scratch / "feeds.json").write_text(json.dumps(feeds))
    call("node", "-e", ORT_PROFILE, corpus_conversions.PEERS, model, scratch / "feeds.json", scratch / "trace", str(runs))
    found = glob.glob(str(scratch / "trace*.json"))
    if not found:
        return []
    nodes = [e for e in json.loads(pathlib.Path(found[0]).read_text()) if e.get("cat") == "Node"
             and e["name"].endswith("_kernel_time")]
    calls = {}
    for e in nodes:
        calls.setdefault((e["name"], e["args"]["op_name"]), []).append(e["dur"] / 1000)
    return by_operator((op, statistics.median(times)) for (_, op), times in calls.items())


def measure(arguments, path, peer):
    """The line of one model, or None if it is no network, or cannot be converted or run."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        model = path
        if peer == "ort":
            model = scratch / "model.onnx"
            if call(arguments.ingot, "convert", path, "-o", model, "--no-verify").returncode:
                return None
        ratios, last = [], None
        for _ in range(arguments.repeat):
            done = call(arguments.ingot, "bench", model, "--vs", peer, "--threads", "1", "--json", "--runs", arguments.runs)
            if not done.stdout:
                return None
            last = json.loads(done.stdout)
            if last.get("work", {}).get("operations", 0) < arguments.operations or "ratio" not in last["peers"][0]:
                return None
            ratios.append(last["peers"][0]["ratio"]["speed"])
        line = {"ratio": statistics.median(ratios), "ratios": ratios, "ms": last["ingot"]["latency_ms"]["min"],
                "peer_ms": last["peers"][0]["latency_ms"]["min"], "agree": last["peers"][0]["results_agree"]}
        if line["ratio"] < arguments.least and peer == "ort":
            line["own"] = own_profile(arguments.ingot, model, [])[:8]
            line["ort"] = ort_profile(arguments.ingot, model, scratch)[:8]
        return line


def show(name, peer, line):
    print(f"{line['ratio']:.2f}  {name} beside {peer}: {line['ms']:.3f} ms, {line['peer_ms']:.3f} ms"
          + ("" if line["agree"] else ", RESULTS DIFFER"), flush=True)
    for who, rows in (("Ingot", line.get("own")), ("ORT", line.get("ort"))):
        if rows:
            print(f"      {who}: " + ", ".join(f"{op} {ms:.3f}" for op, ms in rows), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot", type=os.path.abspath)
    parser.add_argument("--filter", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--operations", type=float, default=1e5)
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("--state", help="a file with a line for each that was measured; it is added to")
    arguments = parser.parse_args()
    if not corpus_conversions.CORPUS.exists():
        print(f"SKIPPED: {corpus_conversions.CORPUS} is not here")
        sys.exit(77)
    done = {}
    if arguments.state and os.path.exists(arguments.state):
        done = {row["path"]: row["line"] for row in map(json.loads, open(arguments.state, encoding="utf-8"))}
    peer, below, seen = ("tflite" if arguments.sources else "ort"), 0, []
    for kind, path in corpus_conversions.sources():
        name = str(path.relative_to(corpus_conversions.CORPUS))
        if kind != "to onnx" or arguments.filter not in name or (arguments.sources and path.suffix != ".tflite"):
            continue
        if name not in done:
            try:
                done[name] = measure(arguments, path, peer)
            except subprocess.TimeoutExpired:
                done[name] = None
            if arguments.state:
                with open(arguments.state, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"path": name, "line": done[name]}) + "\n")
        if line := done[name]:
            seen.append(line["ratio"])
            below += line["ratio"] < arguments.least
            show(name, peer, line)
    if seen:
        print(f"{len(seen)} networks, {below} below {arguments.least}, geometric mean {statistics.geometric_mean(seen):.2f}")
    sys.exit(1 if below else 0)


if __name__ == "__main__":
    main()

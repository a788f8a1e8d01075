#!/usr/bin/env python3
"""How fast a table is scored, and how fast a large joblib file is converted.

usage: pipelines.py --ingot PROGRAM --peers build/peers [--rows 20000] [--trees 500] [--megabytes 500] [--only score|convert]

Scores a pipeline (a scaler and a forest) from a CSV file by Ingot, by scikit-learn (pandas reads the table) and by ONNX
Runtime (JavaScript reads it), each on one thread, and compares the CPU seconds from the table to the answers: what Ingot
takes for one row, to start and to read the model, is taken off, as the others' start is not counted. Then converts a forest of so many megabytes that joblib wrote
without compression. Limits: five times scikit-learn's speed, three times ONNX Runtime's; 2 s of CPU time and 100 MB beyond
the file.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

HERE = os.path.dirname(os.path.abspath(__file__))
FEATURES = 20
MOST_SECONDS, MOST_MEMORY = 2.0, 100 << 20


# A program inherits the most memory of whoever started it, so that a small one must.
WATCH = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
sys.exit(1 if status else 0)
"""


def cpu_of(command):
    """(CPU seconds, most memory in bytes) of a program."""
    done = subprocess.run([sys.executable, "-S", "-c", WATCH, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    seconds, memory = done.stdout.split()
    return float(seconds), int(memory)


def table(rows, seed):
    draw = np.random.RandomState(seed)
    return pd.DataFrame(draw.normal(size=(rows, FEATURES)) * 3, columns=[f"c{i}" for i in range(FEATURES)])


def by_sklearn(pipeline, file, names):
    start = time.process_time()
    frame = pd.read_csv(file)
    answers = pipeline.predict_proba(frame[names])
    return time.process_time() - start, answers


def by_onnx_runtime(options, model, file):
    done = subprocess.run(["node", os.path.join(HERE, "score_ort.mjs"), options.peers, model, file], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def score(options, folder):
    train = table(5000, 0)
    y = ((train["c0"] * train["c1"] > 0) ^ (train["c2"] > 1)).astype(int)
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(options.trees, max_depth=10, random_state=0, n_jobs=1))
    pipeline.fit(train, y)
    source, model, rows, out = (os.path.join(folder, name) for name in ("p.joblib", "p.onnx", "rows.csv", "out.csv"))
    joblib.dump(pipeline, source)
    subprocess.run([options.ingot, "-q", "convert", source, "-o", model, "--no-verify"], check=True, capture_output=True)
    table(options.rows, 1).to_csv(rows, index=False)
    theirs, answers = by_sklearn(pipeline, rows, list(train.columns))
    one_row = os.path.join(folder, "row.csv")
    table(1, 1).to_csv(one_row, index=False)
    scored = [(rows, out), (one_row, os.path.join(folder, "one.csv"))]
    whole, start = (cpu_of([options.ingot, "run", model, "--data", data, "--out", to, "--threads", "1"])[0]
                    for data, to in scored)
    ours = whole - start
    got = pd.read_csv(out)
    chance = got[[name for name in got.columns if name.startswith("probabilit")][-1]].to_numpy()
    worst = np.abs(chance - answers[:, 1]).max()
    runtime = by_onnx_runtime(options, model, rows)
    other = np.abs(np.array(runtime["first"]) - answers.ravel()[:len(runtime["first"])]).max()
    print(f"{options.rows} rows, {options.trees} trees: Ingot {ours:.2f} s ({whole:.2f} with its start), scikit-learn {theirs:.2f} s ({theirs / ours:.1f} x), "
          f"ONNX Runtime {runtime['seconds']:.2f} s ({runtime['seconds'] / ours:.1f} x); "
          f"answers within {worst:.1e} and {other:.1e}")
    return theirs >= 5 * ours and runtime["seconds"] >= 3 * ours and worst < 1e-12


def convert(options, folder):
    """A forest of copies of a few trees, so that fitting it does not take longer than the measurement."""
    draw = np.random.RandomState(0)
    x = draw.normal(size=(60000, 10))
    forest = RandomForestRegressor(3, random_state=0).fit(x, x[:, 0] * x[:, 1] + draw.normal(size=60000))
    source, model = os.path.join(folder, "large.joblib"), os.path.join(folder, "large.onnx")
    each = sum(one.tree_.node_count * 72 for one in forest.estimators_)
    import copy
    forest.estimators_ = [copy.deepcopy(one) for _ in range(max(1, (options.megabytes << 20) // each)) for one in
                          forest.estimators_]
    forest.n_estimators = len(forest.estimators_)
    joblib.dump(forest, source)
    size = os.path.getsize(source)
    seconds, memory = cpu_of([options.ingot, "convert", source, "-o", model, "--no-verify"])
    print(f"{size / 2 ** 20:.0f} MB joblib, {len(forest.estimators_)} trees: {seconds:.2f} s of CPU time, "
          f"{memory / 2 ** 20:.0f} MB at most, {os.path.getsize(model) / 2 ** 20:.0f} MB written")
    return seconds <= MOST_SECONDS and memory <= size + MOST_MEMORY


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--only", choices=["score", "convert"])
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, what in (("score", score), ("convert", convert)):
            if options.only in (None, name):
                good &= what(options, folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Pickled pipelines of the corpus, converted and scored from their CSV files, beside what Python said of the same rows.

sklearn_corpus.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not here.
sklearn/corpus.txt names the classes that make a file be refused, and files that differ, with the reason; every other file
must agree with the CSV of its own name.
"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

import agreement

MISSING = {"", "N/A", "NA", "None", "nan"}


def table(path):
    """name -> texts, by commas or by tabs"""
    with open(path, encoding="utf-8", newline="") as file:
        first = file.readline()
        file.seek(0)
        rows = list(csv.reader(file, delimiter="\t" if "\t" in first else ","))
    return {name: [row[i] if i < len(row) else "" for row in rows[1:]] for i, name in enumerate(rows[0])}


def rows_for(model, folder):
    """The CSV whose name ends the model's: LGBMAudit.pkl is of Audit.csv; its own are the answers."""
    base = os.path.basename(model)[:-4]
    names = [os.path.basename(path)[:-4] for path in glob.glob(os.path.join(folder, "*.csv"))]
    names = [name for name in names if base.endswith(name) and not os.path.exists(
        os.path.join(os.path.dirname(model), f"{name}.pkl"))]
    return os.path.join(folder, max(names, key=len) + ".csv") if names else None


def cleaned(path, made):
    """With empty fields where the corpus writes N/A."""
    columns = table(path)
    with open(made, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([["" if field in MISSING else field for field in row] for row in zip(*columns.values())])


def number(text):
    return {"true": 1.0, "false": 0.0}.get(text.lower()) if text.lower() in ("true", "false") else float(text)


def column_difference(name, wanted, got, tolerance):
    if len(wanted) != len(got):
        return f"{len(got)} rows instead of {len(wanted)}"
    try:
        a, b = [number(text) for text in wanted], [number(text) for text in got]
    except ValueError:
        wrong = sum(x != y for x, y in zip(wanted, got))
        return f"{wrong} of {len(wanted)} texts of {name} differ" if wrong else None
    found = agreement.real_difference(a, b, tolerance)
    return f"{name} {found}" if found else None


def differences(wanted, got, tolerance):
    """Answers stand in the order label, probabilities of the classes or just values; names are the corpus's own."""
    probabilities = [name for name in wanted if name.startswith("probability")]
    others = [name for name in wanted if name not in probabilities]
    chances = [name for name in got if name.startswith("probabilit")]
    labels = [name for name in got if name not in chances and not name.startswith("scores")]
    others = others[:len(labels)]  # what PMML says of them besides stands behind
    if "decisionFunction" in others:
        others, labels = ["decisionFunction"], [name for name in got if name.startswith("scores")]
    pairs = list(zip(others, labels)) + list(zip(probabilities, chances))
    if not pairs or len(others) > len(labels) or len(probabilities) > len(chances):
        return f"the answers are {', '.join(got)} in place of {', '.join(wanted)}"
    found = [column_difference(a, wanted[a], got[b], tolerance) for a, b in pairs]
    return "; ".join(one for one in found if one)


def columns_of(options, model, rows):
    """One array has the first columns of the file."""
    inputs = json.loads(agreement.inspected(options.ingot, model, "--json"))["inputs"]
    width = str(inputs[0]["type"]).rstrip("]").split(",")[-1] if len(inputs) == 1 else ""
    if [one["name"] for one in inputs] != ["X"] or not width.isdigit():
        return []
    return ["--columns", ",".join(list(table(rows))[:int(width)])]


def outcome(options, model, folder):
    answers = os.path.join(folder, "csv", os.path.basename(model)[:-4] + ".csv")
    rows = rows_for(model, os.path.join(folder, "csv"))
    with tempfile.TemporaryDirectory() as made:
        out = os.path.join(made, "m.onnx")
        done = subprocess.run([options.ingot, "convert", model, "-o", out, "--no-verify"], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            return "refused", " ".join(done.stderr.split())
        if not rows or not os.path.exists(answers):
            return "not compared", "its rows or answers are not here"
        clean, scored = os.path.join(made, "rows.csv"), os.path.join(made, "scored.csv")
        cleaned(rows, clean)
        done = subprocess.run([options.ingot, "run", out, "--data", clean, "--out", scored, *columns_of(options, out, rows)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return "fails", " ".join(done.stderr.split())
        single = "xgboost" in model.lower() or os.path.basename(model).startswith("XGB")
        differs = differences(table(answers), table(scored), 2e-6 if single else 1e-9)
        return ("differs", differs) if differs else ("agrees", "")


def main():
    options = agreement.parsed_arguments("sklearn")
    agreement.require(options.ingot, options.corpus)
    known = agreement.known_exceptions(os.path.join(agreement.HERE, "sklearn", "corpus.txt"), 1)
    tally = agreement.Tally(known, bool(options.filter), options.verbose)
    for model in sorted(glob.glob(os.path.join(options.corpus, "jpmml", "*", "src", "test", "resources", "pkl", "*.pkl"))):
        name = os.path.basename(model)[:-4]
        if options.filter not in name:
            continue
        kind, why = outcome(options, model, os.path.dirname(os.path.dirname(model)))
        tally.add(kind, name, why, name)
        excused = name in known and known[name][0].split(":")[0] == kind
        if kind not in ("agrees", "not compared") and not excused:
            tally.unexpected.append(f"{name}: {kind}: {why}")
    tally.finish()


if __name__ == "__main__":
    main()

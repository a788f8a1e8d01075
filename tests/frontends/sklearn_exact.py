#!/usr/bin/env python3
"""Trees at their own thresholds: rows that lie on a threshold, or one step of the last bit to either side of it.

sklearn_exact.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not here.
In double precision Ingot must give scikit-learn's numbers to the last bit and ONNX Runtime the same leaves; with
--precision float32 every row of floats must reach the same leaves. What KNNImputer answers where rows lie equally far is
checked against all answers that scikit-learn could give.
"""
import itertools
import os
import pickle
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import agreement
import sklearn_agreement as shared
from sklearn_agreement import cases

TREES = [("DecisionTreeClassifier", {}), ("DecisionTreeRegressor", {}), ("ExtraTreeClassifier", {}),
         ("ExtraTreeRegressor", {"max_depth": 6}), ("RandomForestClassifier", {"n_estimators": 25}),
         ("RandomForestRegressor", {"n_estimators": 25}), ("ExtraTreesClassifier", {"n_estimators": 20}),
         ("ExtraTreesRegressor", {"n_estimators": 20}), ("GradientBoostingClassifier", {"n_estimators": 12}),
         ("GradientBoostingRegressor", {"n_estimators": 12}), ("HistGradientBoostingClassifier", {"max_iter": 12}),
         ("HistGradientBoostingRegressor", {"max_iter": 12}), ("IsolationForest", {"n_estimators": 15})]
BIT_BY_BIT = ("DecisionTree", "ExtraTree", "RandomForest")  # sums in one order; what lies behind a logarithm is not


def thresholds(fitted):
    """(feature, threshold) of all splits."""
    if hasattr(fitted, "_predictors"):
        for one in itertools.chain(*fitted._predictors):
            for node in one.nodes:
                if not node["is_leaf"]:
                    yield int(node["feature_idx"]), float(node["num_threshold"])
        return
    trees = [fitted] if hasattr(fitted, "tree_") else np.ravel(fitted.estimators_)
    chosen = getattr(fitted, "estimators_features_", [range(fitted.n_features_in_)] * len(trees))
    for one, features in zip(trees, chosen):
        for feature, threshold in zip(one.tree_.feature, one.tree_.threshold):
            if feature >= 0:
                yield int(features[feature]), float(threshold)


def rows_at(fitted, x, kind):
    """Rows of x with one feature moved to a threshold or beside it, as numbers of type `kind`."""
    rng = np.random.RandomState(0)
    splits = sorted(set(thresholds(fitted)))
    picked = [splits[i] for i in rng.permutation(len(splits))[:250]]
    made = []
    for feature, threshold in picked:
        near = {kind(threshold), kind(np.float32(threshold))}
        for value in list(near):
            near |= {np.nextafter(value, kind(-np.inf)), np.nextafter(value, kind(np.inf))}
        for value in sorted(near):
            row = x[rng.randint(len(x))].astype(kind)
            row[feature] = value
            made.append(row)
    return np.array(made, dtype=kind)


def answers(fitted, rows):
    """What scikit-learn says of rows of any type: it is asked in double, as the floats are what they are."""
    return shared.expected(fitted, rows.astype(np.float64), "")


def compared(options, onnx, source, rows, wanted, precision, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.onnx")
        failed = shared.run([options.ingot, "convert", source, "-o", model, "--no-verify", "--precision", precision])
        if failed:
            return "refused: " + failed
        np.save(os.path.join(folder, "in.npy"), rows)
        inputs = {"X": (os.path.join(folder, "in.npy"), rows)}
        os.mkdir(os.path.join(folder, "out"))
        for runtime, (failed, got) in (("Ingot", shared.in_ingot(options, model, inputs, os.path.join(folder, "out"))),
                                       ("ONNX Runtime", shared.in_onnx_runtime(onnx, model, inputs, folder))):
            # ONNX Runtime adds trees up in an order of its own.
            bound = tolerance[0] if runtime == "Ingot" else tolerance[1]
            why = failed or shared.differences(wanted, got, bound)
            if why:
                return f"{precision} in {runtime}: {why}"
    return ""


def check_trees(options, onnx, sets, tally):
    for (name, parameters), place in itertools.product(TREES, ("iris", "wine", "line", "diabetes")):
        key = f"{name} on {place}"
        if options.filter not in key or ("Classifier" in name) != (place in ("iris", "wine")):
            continue
        x, y = sets[place]
        fitted = cases.make(name, **parameters).fit(x, y)
        exact = 0 if name.startswith(BIT_BY_BIT) else 1e-15
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "m.pkl")
            with open(source, "wb") as file:
                pickle.dump(fitted, file)
            rows = rows_at(fitted, x, np.float64)
            why = compared(options, onnx, source, rows, answers(fitted, rows), "float64", (exact, 1e-15))
            rows = rows_at(fitted, x, np.float32)
            why = why or compared(options, onnx, source, rows, answers(fitted, rows), "float32", (2e-6, 2e-6))
        tally.add("differs" if why else "agrees", key, why or f"{len(rows)} rows", key)
        if why:
            tally.unexpected.append(f"{key}: {why}")


def possible_answers(fitted, row, feature):
    """What the mean of the nearest donors may be: rows that lie equally far may stand in for one another."""
    donors = [i for i in range(len(fitted._fit_X)) if not np.isnan(fitted._fit_X[i, feature])]
    both = ~np.isnan(row) & ~np.isnan(fitted._fit_X[donors])
    apart = np.where(both, np.nan_to_num(row) - np.nan_to_num(fitted._fit_X[donors]), 0)
    count = both.sum(axis=1)
    distance = np.sqrt((apart ** 2).sum(axis=1) * row.size / np.maximum(count, 1))
    distance[count == 0] = np.inf
    values, k = fitted._fit_X[donors, feature], min(fitted.n_neighbors, len(donors))
    edge = np.sort(distance)[k - 1]
    near = np.isclose(distance, edge, rtol=1e-9)
    sure, tied = values[(distance < edge) & ~near], np.sort(values[near])
    left = k - len(sure)
    return (sure.sum() + tied[:left].sum()) / k, (sure.sum() + tied[len(tied) - left:].sum()) / k, len(tied) > left


def check_ties(options, sets, tally):
    """On iris, whose numbers have one decimal, many rows lie equally far from another; which of them counts is left to the
    order of a partial sort. Every answer must be one of those that are possible, and one without a tie must be equal."""
    for place, neighbours in (("gaps", 3), ("gaps", 5), ("wine_gaps", 3)):
        key = f"KNNImputer({neighbours}) on {place}"
        if options.filter not in key:
            continue
        x = sets[place][0]
        fitted = cases.make("KNNImputer", n_neighbors=neighbours).fit(x)
        wanted = fitted.transform(x)
        with tempfile.TemporaryDirectory() as folder:
            source, model = os.path.join(folder, "m.pkl"), os.path.join(folder, "m.onnx")
            with open(source, "wb") as file:
                pickle.dump(fitted, file)
            np.save(os.path.join(folder, "in.npy"), x)
            why = shared.run([options.ingot, "convert", source, "-o", model, "--no-verify"])
            os.mkdir(os.path.join(folder, "out"))
            failed, got = (why, {}) if why else shared.in_ingot(options, model, {"X": (os.path.join(folder, "in.npy"), x)},
                                                                os.path.join(folder, "out"))
            wrong, ties, other = [failed] if failed else [], 0, 0
            for i, feature in [] if failed else np.argwhere(np.isnan(x)):
                low, high, is_tied = possible_answers(fitted, x[i], feature)
                ties += is_tied
                ours, theirs = got["variable"][i, feature], wanted[i, feature]
                other += abs(ours - theirs) > 1e-9
                if not low - 1e-9 <= theirs <= high + 1e-9:
                    wrong.append(f"row {i}: scikit-learn's {theirs} is not between {low} and {high}")
                elif not low - 1e-9 <= ours <= high + 1e-9 or not is_tied and abs(ours - theirs) > 1e-9:
                    wrong.append(f"row {i}: {ours} instead of {theirs}")
        tally.add("differs" if wrong else "agrees", key, f"{ties} ties, {other} of them answered otherwise", key)
        tally.unexpected += [f"{key}: {one}" for one in wrong[:5]]


def main():
    options = agreement.parsed_arguments("sklearn")
    agreement.require(options.ingot, options.peers)
    tally = agreement.Tally({}, True, True)
    sets, onnx = cases.data_sets(), agreement.Onnx(options.peers)
    check_trees(options, onnx, sets, tally)
    check_ties(options, sets, tally)
    onnx.close()
    tally.finish()


if __name__ == "__main__":
    main()

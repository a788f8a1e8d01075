#!/usr/bin/env python3
"""Trees at their own thresholds: rows that lie on a threshold, or one step of the last bit to either side of it.

sklearn_exact.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not here.
In double precision Ingot must give scikit-learn's numbers to the last bit and ONNX Runtime the same leaves; with
--precision float32 every row of floats must reach the same leaves. What neighbours say where rows lie equally
far is checked against all answers that scikit-learn could give.
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


def nearest(distance, k):
    """(those that are nearest for sure, those that lie as far as the k-th): of the latter any may count."""
    edge = np.sort(distance)[k - 1]
    tied = np.isclose(distance, edge, rtol=1e-9)
    return (distance < edge) & ~tied, tied


def imputed_bounds(fitted, row, feature):
    """Between which numbers the mean of the nearest donors lies, and whether some of them may stand in for others."""
    donors = [i for i in range(len(fitted._fit_X)) if not np.isnan(fitted._fit_X[i, feature])]
    both = ~np.isnan(row) & ~np.isnan(fitted._fit_X[donors])
    apart = np.where(both, np.nan_to_num(row) - np.nan_to_num(fitted._fit_X[donors]), 0)
    count = both.sum(axis=1)
    distance = np.sqrt((apart ** 2).sum(axis=1) * row.size / np.maximum(count, 1))
    distance[count == 0] = np.inf
    values, k = fitted._fit_X[donors, feature], min(fitted.n_neighbors, len(donors))
    sure, near = nearest(distance, k)
    total, tied, left = values[sure].sum(), np.sort(values[near]), k - sure.sum()
    return (total + tied[:left].sum()) / k, (total + tied[len(tied) - left:].sum()) / k, len(tied) > left


def voted_bounds(fitted, row, place):
    """The same for the share of a class among the nearest."""
    k = fitted.n_neighbors
    sure, near = nearest(np.sqrt(((fitted._fit_X - row) ** 2).sum(axis=1)), k)
    is_it = fitted._y == place
    left, tied, own = k - sure.sum(), near.sum(), (near & is_it).sum()
    votes = (sure & is_it).sum()
    return (votes + max(0, left - (tied - own))) / k, (votes + min(left, own)) / k, tied > left


def answered(options, fitted, x, output):
    with tempfile.TemporaryDirectory() as folder:
        source, model, out = (os.path.join(folder, name) for name in ("m.pkl", "m.onnx", "out"))
        with open(source, "wb") as file:
            pickle.dump(fitted, file)
        np.save(os.path.join(folder, "in.npy"), x)
        failed = shared.run([options.ingot, "convert", source, "-o", model, "--no-verify"])
        os.mkdir(out)
        if not failed:
            failed, got = shared.in_ingot(options, model, {"X": (os.path.join(folder, "in.npy"), x)}, out)
        return failed, None if failed else got[output]


def check_ties(options, sets, tally):
    """On iris, whose numbers have one decimal, many rows lie equally far from another; which of them counts is left to the
    order of a partial sort. Every answer must be one of those that are possible, and one without a tie must be equal."""
    for name, place, neighbours in (("KNNImputer", "gaps", 3), ("KNNImputer", "gaps", 5), ("KNNImputer", "wine_gaps", 3),
                                    ("KNeighborsClassifier", "iris", 5), ("KNeighborsClassifier", "iris", 7)):
        key = f"{name}({neighbours}) on {place}"
        if options.filter not in key:
            continue
        x, y = sets[place]
        is_imputer = name == "KNNImputer"
        fitted = cases.make(name, n_neighbors=neighbours).fit(x, y)
        wanted = fitted.transform(x) if is_imputer else fitted.predict_proba(x)
        failed, got = answered(options, fitted, x, "variable" if is_imputer else "probabilities")
        wrong, ties, other = [failed] if failed else [], 0, 0
        asked = np.argwhere(np.isnan(x) if is_imputer else np.ones(wanted.shape))
        for i, column in [] if failed else asked:
            low, high, is_tied = (imputed_bounds if is_imputer else voted_bounds)(fitted, x[i], column)
            ties += is_tied
            ours, theirs = got[i, column], wanted[i, column]
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

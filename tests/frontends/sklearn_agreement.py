#!/usr/bin/env python3
"""Fits estimators of scikit-learn and XGBoost, and compares what they say with Ingot and ONNX Runtime on the converted
files.

sklearn_agreement.py --ingot PROGRAM --peers build/peers [--wide] [--filter WORD]; exit code 77: something that it needs
is not here. The quick run takes each class once, in one of the file forms. --wide takes every class on all data sets of
its kind and with all parameters, in four forms of file that must give the same model, on rows that it was not fitted on
too, and prints a table. sklearn/agreement.txt names what may be refused or differ by more than rounding, with the reason.
"""
import os
import pickle
import subprocess
import sys
import tempfile

try:
    import joblib
    import numpy as np
    from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import agreement
sys.path.insert(0, os.path.join(agreement.HERE, "sklearn"))
import cases  # noqa: E402
import skops_file  # noqa: E402

TREES = ("DecisionTree", "ExtraTree", "RandomForest", "IsolationForest")  # whose leaves are chosen, not computed
LINEAR = 1e-12  # of the output's scale
SINGLE = 2e-6  # what XGBoost computes in float32


def dense(values):
    return np.asarray(values.todense() if hasattr(values, "todense") else values)


def stacked(values):
    """predict_proba of several outputs is a list."""
    return {"probabilities" if i == 0 else f"probabilities_{i}": one for i, one in enumerate(values)}


def expected(estimator, x, how):
    """name of the output -> what scikit-learn gives."""
    name = type(estimator).__name__
    if how != "transform" and hasattr(estimator, "predict"):
        label = np.asarray(estimator.predict(x))
        if is_regressor(estimator) and not is_classifier(estimator):
            return {"variable": label}
        made = {"label": label}
        if hasattr(estimator, "predict_proba"):
            all_of = estimator.predict_proba(x)
            made.update(stacked(all_of) if isinstance(all_of, list) else {"probabilities": all_of})
        elif hasattr(estimator, "decision_function") and not is_outlier_detector(estimator):
            made["scores"] = estimator.decision_function(x)
        return made
    if name in ("LabelEncoder", "LabelBinarizer"):
        return {"variable": dense(estimator.transform(x.ravel()))}
    return {"variable": dense(estimator.transform(x)).astype(float)}


FORMS = (("pkl", lambda e, f: pickle.dump(e, f, 2)), ("pkl", lambda e, f: pickle.dump(e, f, 5)),
         ("joblib", joblib.dump), ("joblib", lambda e, f: joblib.dump(e, f, compress=3)),
         ("joblib", lambda e, f: joblib.dump(e, f, compress=("lzma", 3))))


def written(estimator, base, number):
    """The file of a fitted estimator, in another way from case to case."""
    if number % (len(FORMS) + 1) == len(FORMS):
        try:
            skops_file.dump(estimator, f"{base}.skops")
            return f"{base}.skops"
        except (NotImplementedError, RecursionError):
            pass  # cyclic, or of no kind that it knows: the plain pickle will do
    ending, write = FORMS[number % len(FORMS)]
    with open(f"{base}.{ending}", "wb") as file:
        write(estimator, file)
    return f"{base}.{ending}"


def converted(options, estimator, base, number):
    """Why it is refused, or None; the model is in base.onnx. The wide run takes four forms, which must agree."""
    first, failed = None, None
    for form in range(4) if options.wide else (number,):
        failed = run([options.ingot, "convert", written(estimator, base, form), "-o", base + ".onnx", "--no-verify"])
        if failed:
            return failed
        with open(base + ".onnx", "rb") as file:
            model = file.read()
        if first is not None and model != first:
            return f"form {form} of the file gives another model"
        first = model
    return None


def inputs_of(x, base):
    """name -> (file, array) as the graph wants them: one X, or a column each."""
    if isinstance(x, list):  # of dictionaries: a column for each key, numbers or texts
        columns = {key: np.array([[row.get(key, "")] for row in x]) for key in sorted({key for row in x for key in row})}
    elif not hasattr(x, "columns"):
        columns = {"X": x if x.ndim > 1 else x.reshape(-1, 1)}
    else:
        columns = {name: x[[name]].to_numpy() for name in x.columns}
    made = {}
    for i, (name, values) in enumerate(columns.items()):
        values = values.astype(str) if values.dtype.kind in "OUS" else values.astype(np.float64)
        np.save(f"{base}_{i}.npy", values)
        made[name] = (f"{base}_{i}.npy", values)
    return made


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return None if done.returncode == 0 else " ".join(done.stderr.split())


def in_ingot(options, model, inputs, folder):
    command = [options.ingot, "run", model, "--out", folder]
    for name, (file, _) in inputs.items():
        command += ["--in", f"{name}={file}"]
    failed = run(command)
    if failed:
        return failed, {}
    return None, {file[:-4]: np.load(os.path.join(folder, file)) for file in os.listdir(folder) if file.endswith(".npy")}


def in_onnx_runtime(onnx, model, inputs, folder):
    feeds = {}
    for i, (name, (_, values)) in enumerate(inputs.items()):
        file = os.path.join(folder, f"in_{i}")
        if values.dtype.kind == "U":
            with open(file, "w", encoding="utf-8") as out:
                out.write(agreement.json.dumps(values.ravel().tolist()))
        else:
            values.tofile(file)
        kind = "string" if values.dtype.kind == "U" else str(values.dtype)
        feeds[name] = {"type": kind, "shape": list(values.shape), "file": file}
    answer = onnx.run({"model": model, "inputs": feeds, "out": folder})
    if "error" in answer:
        return answer["error"], {}
    return None, {about["name"]: np.array(agreement.values(about)).reshape(about["shape"]) for about in answer["outputs"]}


def difference(name, wanted, got, tolerance):
    wanted = np.asarray(wanted)
    if wanted.size != got.size:
        return f"{name} is {list(got.shape)} instead of {list(wanted.shape)}"
    if wanted.dtype.kind in "OUS" or got.dtype.kind in "OUS" or name == "label":
        texts = wanted.dtype.kind in "OUS"
        a, b = (wanted.astype(str), got.astype(str)) if texts else (wanted.astype(float), got.astype(float))
        wrong = int((a.ravel() != b.ravel()).sum())
        return f"{wrong} of {a.size} labels differ" if wrong else None
    wanted, got = wanted.astype(float).ravel(), got.astype(float).ravel()
    if (np.isnan(wanted) != np.isnan(got)).any():
        return f"{name}: NaN in other places"
    here = np.isfinite(wanted)
    if (wanted[~here & ~np.isnan(wanted)] != got[~here & ~np.isnan(wanted)]).any():
        return f"{name}: infinities differ"
    worst = np.abs(wanted[here] - got[here]).max(initial=0)
    scale = np.abs(wanted[here]).max(initial=0)
    return f"{name} differs by {worst:.3g} at a scale of {scale:.3g}" if worst > tolerance * scale else None


def differences(wanted, got, tolerance):
    missing = [f"there is no {name}" for name in wanted if name not in got]
    found = [difference(name, wanted[name], got[name], tolerance) for name in wanted if name in got]
    return "; ".join(missing + [one for one in found if one])


def tolerance_of(estimator, known):
    names = {type(estimator).__name__} | {type(step).__name__ for _, step in getattr(estimator, "steps", [])}
    if known and known[0].startswith("within "):
        return float(known[0].split()[1])
    if any(name.startswith("XGB") for name in names):
        return SINGLE
    is_tree = len(names) == 1 and any(name.startswith(TREES) for name in names)
    return 4e-16 if is_tree else LINEAR


def fitted_on(estimator, x, y):
    fitted = clone(estimator)
    name = type(estimator).__name__
    if name in ("LabelEncoder", "LabelBinarizer"):
        return fitted.fit(x.ravel())
    return fitted.fit(x.ravel() if name == "IsotonicRegression" else x, y)


CONTINUOUS = ("iris", "wine", "two", "line", "positive", "diabetes", "gaps", "pair", "linnerud", "column", "classes")
POSITIVE_ROWS = ("SkewedChi2Sampler", "AdditiveChi2Sampler", "NMF", "MiniBatchNMF", "LatentDirichletAllocation",
                 "MultinomialNB", "ComplementNB")


def rows_to_ask(fitted, x, place, how):
    """(rows, what scikit-learn says of them): those that it was fitted on, and others where any number may stand."""
    if place.split("_")[0] in CONTINUOUS and isinstance(x, np.ndarray):
        rng = np.random.RandomState(1)
        others = x + rng.normal(0, 0.4, x.shape) * np.nanstd(x, axis=0)
        others = np.concatenate([x, np.abs(others) if type(fitted).__name__ in POSITIVE_ROWS else others])
        try:
            return others, expected(fitted, others, how)
        except ValueError:
            pass  # no neighbours, negative numbers: it refuses such rows
    return x, expected(fitted, x, how)


def outcome(options, onnx, case, number, data, known):
    estimator, place, how, _ = case
    x, y = data
    name = type(estimator).__name__
    if name in POSITIVE_ROWS:
        x = np.abs(x)
    if name.startswith("XGB") and y is not None and y.dtype.kind in "OUS":
        y = np.unique(y, return_inverse=True)[1]
    try:
        fitted = fitted_on(estimator, x, y)
    except (AttributeError, ValueError) as error:
        return "not run", f"scikit-learn does not fit it: {str(error).splitlines()[0]}"
    if options.wide:
        x, wanted = rows_to_ask(fitted, x, place, how)
    else:
        wanted = expected(fitted, x, how)
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(options.keep or folder, f"{number:03d}_{name}_{place}")
        model = base + ".onnx"
        failed = converted(options, fitted, base, number)
        if failed:
            return "refused", failed
        asked = {one["name"] for one in agreement.json.loads(agreement.inspected(options.ingot, model, "--json"))["inputs"]}
        inputs = {name: value for name, value in inputs_of(x, base).items() if name in asked}  # others are not read
        tolerance = tolerance_of(fitted, known)
        for runtime, (failed, got) in (("Ingot", in_ingot(options, model, inputs, folder)),
                                       ("ONNX Runtime", in_onnx_runtime(onnx, model, inputs, folder))):
            if failed:
                return "fails", f"in {runtime}: {failed}"
            differs = differences(wanted, got, tolerance)
            if differs:
                return "differs", f"in {runtime}: {differs}"
    return "agrees", ""


def print_table(rows):
    """A line for each class: on how many data sets and with how many parameters it agreed, and what else became of it."""
    print(f"{'class':34} {'data sets':>9} {'parameters':>10} {'agree':>6} {'other':>6}")
    for name, cases_of in sorted(rows.items()):
        agreed = [case for case in cases_of if case[2] == "agrees"]
        sets, parameters = {case[0] for case in agreed}, {case[1] for case in agreed}
        print(f"{name:34} {len(sets):9} {len(parameters):10} {len(agreed):6} {len(cases_of) - len(agreed):6}")
    few = [name for name, cases_of in sorted(rows.items()) if len({c[0] for c in cases_of if c[2] == "agrees"}) < 3]
    print(f"{len(rows)} classes; on fewer than three data sets: {', '.join(few) or 'none'}")


def main():
    options = agreement.parsed_arguments("sklearn", [("--wide", "every data set and parameter")])
    agreement.require(options.ingot, options.peers)
    known = agreement.known_exceptions(os.path.join(agreement.HERE, "sklearn", "agreement.txt"), 2)
    tally = agreement.Tally(known, bool(options.filter) or not options.wide, options.verbose)
    sets, onnx = cases.data_sets(), agreement.Onnx(options.peers)
    rows = {}
    for number, case in enumerate(cases.all_cases(options.wide)):
        name = f"{type(case[0]).__name__} on {case[1]}"
        key = f"{number:03d} {name}"
        if number < int(os.environ.get("INGOT_FIRST_CASE", "0")) or options.filter not in key or not (options.wide or case[3] or options.filter):
            continue
        data = sets.get(case[1])
        if data is None:
            tally.add("not run", name, "its data set is not here", name)
            continue
        kind, why = outcome(options, onnx, case, number, data, known.get(name))
        tally.add(kind, f"{key} {case[0]!r}".replace("\n", " ") if kind != "agrees" else key, why, name)
        rows.setdefault(type(case[0]).__name__, []).append((case[1], repr(case[0]), kind))
        if kind not in ("agrees", "not run") and kind not in [rest[0] for rest in [known.get(name)] if rest]:
            tally.unexpected.append(f"{key}: {kind}: {why}")
    onnx.close()
    if options.wide:
        print_table(rows)
    agreed = [name for name, all_of in rows.items() if any(case[2] == "agrees" for case in all_of)]
    tally.finish(f"{len(agreed)} classes agree")


if __name__ == "__main__":
    main()

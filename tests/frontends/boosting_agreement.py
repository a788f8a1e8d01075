#!/usr/bin/env python3
"""Files of boosting libraries in the corpus: converted, and compared with what their libraries said, stored beside them,
and with XGBoost itself on random rows with gaps. Models of libsvm and liblinear beside their own programs.

boosting_agreement.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not
here. Each comparison is made in Ingot and in ONNX Runtime. boosting/agreement.txt names what may be refused, with the
reason.
"""
import os
import re
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import agreement
import sklearn_agreement as shared

# Model, rows, what was stored, options of the conversion.
STORED = [
    ("leaves/lgmulticlass.model", "leaves/multiclass_test.tsv", "leaves/lgmulticlass_true_predictions.txt", []),
    ("leaves/lgmulticlass.model", "leaves/multiclass_test.tsv", "leaves/lgmulticlass_true_raw_predictions.txt",
     ["--raw-scores"]),
    ("leaves/lg_dart_breast_cancer.model", "leaves/breast_cancer_test.tsv",
     "leaves/lg_dart_breast_cancer_true_predictions.txt", []),
    ("leaves/lg_rf_iris.model", "leaves/iris_test.libsvm", "leaves/lg_rf_iris_true_predictions.txt", []),
    ("leaves/lg_kddcup99.model", "leaves/kddcup99_test.tsv", "leaves/lg_kddcup99_true_predictions.txt",
     ["--raw-scores"]),
    # The corpus calls these margins; they are the probabilities, to the last bit, of XGBoost 1.7.4 with this file.
    ("leaves/xgagaricus.model", "leaves/agaricus_test.libsvm", "leaves/xgagaricus_true_predictions.txt", []),
    ("leaves/xgblin_agaricus.model", "leaves/agaricus_test.libsvm", "leaves/xgblin_agaricus_true_predictions.txt", []),
    ("leaves/xgblin_agaricus.model", "leaves/agaricus_test.libsvm", "leaves/xgblin_agaricus_true_raw_predictions.txt",
     ["--raw-scores"]),
    ("leaves/xgdermatology.model", "leaves/dermatology_test.libsvm", "leaves/xgdermatology_true_predictions.txt",
     ["--raw-scores"]),
    ("leaves/genlin_fmtp_gamma_AvgClaimAmount.model", "leaves/genlin_fmtp_gamma_AvgClaimAmount_features.tsv",
     "leaves/genlin_fmtp_gamma_AvgClaimAmount_true_predictions.txt", []),
    ("leaves/genlin_fmtp_poisson_Frequency.model", "leaves/genlin_fmtp_poisson_Frequency_features.tsv",
     "leaves/genlin_fmtp_poisson_Frequency_true_predictions.txt", []),
    ("leaves/genlin_fmtp_tweedie_PurePremium.model", "leaves/genlin_fmtp_tweedie_PurePremium_features.tsv",
     "leaves/genlin_fmtp_tweedie_PurePremium_true_predictions.txt", []),
    ("treelite/toy_categorical/toy_categorical_model.txt", "treelite/toy_categorical/toy_categorical.test",
     "treelite/toy_categorical/toy_categorical.test.pred", []),
    ("treelite/sparse_categorical/sparse_categorical_model.txt", "treelite/sparse_categorical/sparse_categorical.test",
     "treelite/sparse_categorical/sparse_categorical.test.margin", ["--raw-scores"]),
]
WITH_LABEL = ("multiclass_test.tsv",)  # the first column is none of the features
DENSE = ("dermatology_test.libsvm",)  # what its lines leave out is zero


def width_of(options, model):
    """How many features the converted model takes."""
    text = shared.subprocess.run([options.ingot, "inspect", model, "--json"], capture_output=True, text=True).stdout
    return int(agreement.json.loads(text)["inputs"][0]["type"].rstrip("]").split(",")[-1])


def rows_of(path, width, gap):
    """Tables, or lines of label and place:value; what these leave out is `gap`."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip()]
    if ":" not in "".join(lines[0][1:2]):
        table = np.array([[float(v) for v in line] for line in lines])
        return table[:, 1:] if os.path.basename(path) in WITH_LABEL else table
    rows = np.full((len(lines), width), gap)
    for i, line in enumerate(lines):
        for entry in line[1:]:
            place, value = entry.split(":")
            if int(place) < width:
                rows[i, int(place)] = float(value)
    return rows


def said(outputs, like):
    """The output that answers to what was stored."""
    probabilities = outputs.get("probabilities")
    if probabilities is not None and probabilities.shape[1] > 2 and like.size == len(probabilities):
        return outputs["label"]
    for name in ("scores", "probabilities", "variable"):
        if name in outputs:
            got = outputs[name]
            break
    if got.ndim == 2 and got.shape[1] == 2 and like.size == got.shape[0]:
        got = got[:, 1]
    return got


def outcome(options, onnx, model, rows, wanted, more, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "m.onnx")
        failed = shared.run([options.ingot, "convert", model, "-o", target, "--no-verify", *more])
        if failed:
            return "refused", failed
        width = width_of(options, target)
        x = rows(width)
        expected = wanted(x)
        kind = np.float32 if "float[" in agreement.inspected(options.ingot, target, "--json") else np.float64
        x = x.astype(kind)
        np.save(os.path.join(folder, "x.npy"), x)
        inputs = {"X": (os.path.join(folder, "x.npy"), x)}
        for runtime, (failed, got) in (("Ingot", shared.in_ingot(options, target, inputs, folder)),
                                       ("ONNX Runtime", shared.in_onnx_runtime(onnx, target, inputs, folder))):
            if failed:
                return "fails", f"in {runtime}: {failed}"
            differs = shared.difference("output", expected, np.asarray(said(got, expected)), tolerance)
            if differs:
                return "differs", f"in {runtime}: {differs}"
    return "agrees", ""


def stored_cases(options, onnx, tally, judge):
    for model, data, result, more in STORED:
        name = " ".join([model, *more])
        if options.filter not in name:
            continue
        is_xgboost = os.path.basename(model).startswith("xg")
        path = os.path.join(options.corpus, data)
        gap = 0.0 if os.path.basename(data) in DENSE or not (is_xgboost or "sparse" in data) else np.nan
        expected = np.loadtxt(os.path.join(options.corpus, result))
        judge(name, outcome(options, onnx, os.path.join(options.corpus, model),
                            lambda width: rows_of(path, width, gap),
                            lambda _: expected, more, 2e-6 if is_xgboost else 1e-11))


def random_rows(width):
    rng = np.random.RandomState(width)
    rows = np.where(rng.rand(200, width) < 0.5, rng.randint(0, 6, (200, width)), rng.normal(0, 30, (200, width)))
    rows[rng.rand(200, width) < 0.1] = np.nan
    return rows.astype(np.float32)


def written_by(path):
    """The version of XGBoost that wrote a file of JSON or UBJSON; (0, 0) where it does not say."""
    with open(path, "rb") as file:
        text = file.read().decode("latin1")
    found = re.search(r'"version":\s*\[(\d+),\s*(\d+)', text)
    if found:
        return int(found[1]), int(found[2])
    return (3, 0) if path.endswith(".ubj") and "cats" in text else (0, 0)


def not_compared(options, tally, path, name, why):
    with tempfile.TemporaryDirectory() as folder:
        failed = shared.run([options.ingot, "convert", path, "-o", os.path.join(folder, "m.onnx"), "--no-verify"])
    tally.add("refused" if failed else "not compared", name, failed or why, name)


def live_cases(options, onnx, tally, judge):
    try:
        import xgboost
    except ImportError as error:
        print(f"not compared with XGBoost: {error}")
        return
    for folder, _, names in sorted(os.walk(options.corpus)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            short = os.path.relpath(path, options.corpus)
            is_one = name.endswith((".ubj", ".bst")) or ("xgboost" in folder and name.endswith((".json", ".model")))
            if not is_one or "lightgbm" in short or options.filter not in short:
                continue
            booster = xgboost.Booster()
            try:
                booster.load_model(path)
            except xgboost.core.XGBoostError as error:
                not_compared(options, tally, path, short, "XGBoost does not read it: " + str(error).split("\n")[0][:80])
                continue
            version = tuple(agreement.json.loads(booster.save_config())["version"][:2])
            if written_by(path) > version:
                not_compared(options, tally, path, short, "it was written by a newer XGBoost than is here")
                continue

            def predicted(x, booster=booster):
                frame = xgboost.DMatrix(x, feature_names=booster.feature_names, feature_types=booster.feature_types)
                return booster.predict(frame)

            judge(short, outcome(options, onnx, path, random_rows, predicted, [], 4e-6))


def catboost_cases(options, onnx, judge):
    """CatBoost's own files, written and computed here by the rules of their format."""
    sys.path.insert(0, os.path.join(agreement.HERE, "boosting"))
    import catboost_file

    def sigmoid(sums):
        return np.hstack([1 / (1 + np.exp(sums)), 1 / (1 + np.exp(-sums))])

    def softmax(sums):
        powers = np.exp(sums - sums.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    two, three = {"class_names": [0, 1]}, {"class_names": ["a", "b", "c"]}
    kinds = [("RMSE", 1, {}, [], lambda sums: sums), ("Logloss", 1, two, [], sigmoid), ("Poisson", 1, {}, [], np.exp),
             ("MultiClass", 3, three, [], softmax), ("MultiClass", 3, three, ["--raw-scores"], lambda sums: sums)]
    for loss, dimension, classes, more, link in kinds:
        for is_oblivious in (True, False):
            name = " ".join(["catboost", "oblivious" if is_oblivious else "steps", loss, *more])
            if options.filter not in name:
                continue
            info = {"params": {"loss_function": {"type": loss}}, "class_params": classes}
            model = catboost_file.example(np.random.RandomState(dimension), dimension, is_oblivious, info)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.cbm")
                catboost_file.written(model, path)
                judge(name, outcome(options, onnx, path, lambda _: random_rows(4),
                                    lambda x, m=model, f=link: f(catboost_file.raw_sums(m, x)), more, 1e-12))


def lightgbm_cases(options, onnx, judge):
    """Linear leaves and odd categories, by the rules of the format: no peer of LightGBM is at hand."""
    sys.path.insert(0, os.path.join(agreement.HERE, "boosting"))
    import lightgbm_file
    links = {"regression": lambda s: s, "poisson": np.exp, "cross_entropy_lambda": lambda s: np.log1p(np.exp(s))}
    for objective, link in links.items():
        for is_linear in (False, True):
            name = " ".join(["lightgbm", "linear" if is_linear else "constant", objective])
            if options.filter not in name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                path, leaves = os.path.join(folder, "model.txt"), (1.5, -0.25)
                lightgbm_file.written(path, objective, leaves, is_linear)
                judge(name, outcome(options, onnx, path, lambda _: lightgbm_file.rows(),
                                    lambda x, f=link, k=is_linear: f(lightgbm_file.sums(x, (1.5, -0.25), k)), [], 1e-12))


def machine_cases(options, onnx, judge):
    """libsvm and liblinear beside their own programs."""
    sys.path.insert(0, os.path.join(agreement.HERE, "boosting"))
    import machines
    sets, kinds = machines.data(), list(machines.all_kinds())
    if not kinds:
        print("not compared with libsvm and liblinear: svm-train and liblinear-train are not here")
    for name, train, predict, how, more, place in kinds:
        if options.filter not in name:
            continue
        x, y = sets[place]
        with tempfile.TemporaryDirectory() as folder:
            model, answers, chances = machines.asked(train, predict, how, more, folder, x, y)
            is_number = place == "numbers"
            wanted = {"variable" if is_number else "label": answers}
            if chances is not None:
                wanted["probabilities"] = chances
            judge(name, machine_outcome(options, onnx, model, x, wanted, folder))


def machine_outcome(options, onnx, source, x, wanted, folder):
    model = os.path.join(folder, "m.onnx")
    failed = shared.run([options.ingot, "convert", source, "-o", model, "--no-verify"])
    if failed:
        return "refused", failed
    np.save(os.path.join(folder, "x.npy"), x)
    inputs = {"X": (os.path.join(folder, "x.npy"), x)}
    os.mkdir(os.path.join(folder, "out"))
    for runtime, (failed, got) in (("Ingot", shared.in_ingot(options, model, inputs, os.path.join(folder, "out"))),
                                   ("ONNX Runtime", shared.in_onnx_runtime(onnx, model, inputs, folder))):
        if failed:
            return "fails", f"in {runtime}: {failed}"
        # The programs print six digits.
        differs = shared.differences(wanted, got, 1e-5)
        if differs:
            return "differs", f"in {runtime}: {differs}"
    return "agrees", ""


def main():
    options = agreement.parsed_arguments("boosting")
    agreement.require(options.ingot, options.peers, options.corpus)
    known = agreement.known_exceptions(os.path.join(agreement.HERE, "boosting", "agreement.txt"), 1)
    tally = agreement.Tally(known, bool(options.filter), options.verbose)
    onnx = agreement.Onnx(options.peers)

    def judge(name, found):
        kind, why = found
        tally.add(kind, name, why, name)
        if kind != "agrees" and kind not in known.get(name, [""]):
            tally.unexpected.append(f"{name}: {kind}: {why}")

    stored_cases(options, onnx, tally, judge)
    live_cases(options, onnx, tally, judge)
    catboost_cases(options, onnx, judge)
    lightgbm_cases(options, onnx, judge)
    machine_cases(options, onnx, judge)
    onnx.close()
    tally.finish()


if __name__ == "__main__":
    main()

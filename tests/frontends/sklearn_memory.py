#!/usr/bin/env python3
"""How much memory the conversion of a large file takes: the file itself and 100 MB.

sklearn_memory.py --ingot PROGRAM; exit code 77: something that it needs is not here. Fits small estimators and makes
what they learned large: each kind of data that can be most of a file, as joblib and as pickle write it. bench/pipelines.py
measures a file of 500 MB, and the time too.
"""
import argparse
import copy
import os
import pickle
import sys
import tempfile

try:
    import joblib
    import numpy as np
    from sklearn.decomposition import PCA
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.svm import SVC
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import pipelines  # noqa: E402

COUNT = 16 << 20  # numbers: 128 MB
DRAW = np.random.RandomState(0)
X = DRAW.uniform(size=(60, 8))
Y = (X[:, 0] > 0.5).astype(int)


def numbers(*dims):
    return DRAW.random_sample(dims)


def with_copies(forest, trees):
    """The same trees again and again: to fit as many would take minutes."""
    bytes_of_one = 80 * trees[0].tree_.node_count
    return [copy.deepcopy(trees[i % len(trees)]) for i in range((COUNT * 8) // bytes_of_one + 1)]


def forest(kind, y):
    x = DRAW.uniform(size=(20000, 5))
    made = kind(2, random_state=0).fit(x, y(x))
    made.estimators_ = with_copies(made, made.estimators_)
    return made


def boosted():
    made = GradientBoostingRegressor(n_estimators=2, max_depth=None).fit(numbers(20000, 4), numbers(20000))
    made.estimators_ = np.array([[one] for one in with_copies(made, made.estimators_.ravel())], dtype=object)
    return made


def neighbours():
    made = KNeighborsClassifier(algorithm="brute").fit(X, Y)
    made._fit_X, made._y, made.n_features_in_ = numbers(COUNT // 64, 64), np.arange(COUNT // 64) % 2, 64
    return made


def neighbours_of_floats():
    made = KNeighborsRegressor(algorithm="brute").fit(X, X[:, 0])
    made._fit_X, made._y = numbers(COUNT // 32, 64).astype(np.float32), numbers(COUNT // 32)
    made.n_features_in_ = 64
    return made


def network():
    made = MLPRegressor((4,), max_iter=1).fit(X, X[:, 0])
    made.coefs_ = [numbers(8, 4096), numbers(4096, 4096), numbers(4096, 1)]
    made.intercepts_ = [numbers(4096), numbers(4096), numbers(1)]
    made.n_layers_ = 4
    made._optimizer = None
    return made


def components():
    made = PCA(2).fit(X)
    made.components_, made.mean_, made.n_features_in_ = numbers(COUNT // 4096, 4096), numbers(4096), 4096
    return made


def coefficients():
    """Column by column, as solvers of several classes leave them."""
    made = LogisticRegression().fit(X, np.arange(60) % 3)
    made.coef_, made.intercept_ = np.asfortranarray(numbers(COUNT // 4096, 4096)), numbers(COUNT // 4096)
    made.classes_, made.n_features_in_ = np.arange(COUNT // 4096), 4096
    return made


def machine():
    made, count = SVC().fit(X, Y), COUNT // 64
    made.support_vectors_, made.n_features_in_ = numbers(count, 64), 64
    made._dual_coef_ = made.dual_coef_ = numbers(1, count)
    made.support_ = np.arange(count, dtype=np.int32)
    made._n_support = np.array([count // 2, count - count // 2], dtype=np.int32)
    return made


KINDS = {
    "forest of classes": lambda: forest(RandomForestClassifier, lambda x: DRAW.randint(0, 2, len(x))),
    "forest of numbers": lambda: forest(RandomForestRegressor, lambda x: x[:, 0] + numbers(len(x))),
    "boosted trees": boosted, "neighbours": neighbours, "neighbours of floats": neighbours_of_floats, "network": network,
    "components": components, "coefficients": coefficients, "support vectors": machine,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "model.pkl"), os.path.join(folder, "model.onnx")
        for number, (name, make) in enumerate(KINDS.items()):
            if options.filter not in name:
                continue
            estimator = make()
            if number % 2:
                joblib.dump(estimator, source)
            else:
                with open(source, "wb") as file:
                    pickle.dump(estimator, file, 5)
            size = os.path.getsize(source)
            seconds, memory = pipelines.cpu_of([options.ingot, "-q", "convert", source, "-o", result, "--no-verify"])
            is_good = memory <= size + pipelines.MOST_MEMORY
            failures += not is_good
            print(f"{'ok  ' if is_good else 'FAIL'} {name}: {size >> 20} MB, {memory >> 20} MB of memory, {seconds:.2f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

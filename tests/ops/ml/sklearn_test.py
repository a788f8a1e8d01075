#!/usr/bin/env python3
"""Models of scikit-learn written as ai.onnx.ml operators give its numbers. Usage: sklearn_test.py PATH_TO_INGOT

Trees are compared in float64. The attributes of the other operators are float32 by the specification, and so are their
results."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    from sklearn import ensemble, linear_model, preprocessing, svm
except ImportError as missing:
    print(f"SKIPPED: {missing} (Debian: python3-sklearn)")
    sys.exit(77)

INGOT = sys.argv.pop(1)
EXACT, SINGLE = 1e-12, 2e-6

HEAD = '<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 5]>\n'


def ints(values):
    return "[" + ", ".join(str(int(v)) for v in values) + "]"


def floats(values):
    return "[" + ", ".join(repr(float(np.float32(v))) for v in np.ravel(values)) + "]"


def tensor(kind, values):
    return f"{kind}[{len(values)}] {{" + ", ".join(repr(v) for v in values) + "}"


class Forest:
    """Trees as the attributes of TreeEnsemble: a leaf has one target, so a tree is repeated for each."""

    def __init__(self):
        self.roots, self.features, self.splits = [], [], []
        self.true_ids, self.true_leafs, self.false_ids, self.false_leafs = [], [], [], []
        self.targets, self.weights = [], []

    def add(self, tree, target, values):
        """`values`: what each node of the tree adds to the target if it is a leaf."""
        inner = [i for i in range(tree.node_count) if tree.children_left[i] >= 0]
        base = len(self.splits)
        number = {node: base + i for i, node in enumerate(inner)}
        self.roots.append(base)

        def reach(node):
            if node in number:
                return number[node], 0
            self.targets.append(target)
            self.weights.append(float(values[node]))
            return len(self.targets) - 1, 1

        for node in inner:
            self.features.append(tree.feature[node])
            self.splits.append(float(tree.threshold[node]))
            for child, ids, leafs in ((tree.children_left[node], self.true_ids, self.true_leafs),
                                      (tree.children_right[node], self.false_ids, self.false_leafs)):
                at, is_leaf = reach(child)
                ids.append(at)
                leafs.append(is_leaf)

    def text(self, targets):
        return (f"ai.onnx.ml.TreeEnsemble<aggregate_function = 1, n_targets = {targets}, post_transform = 0, "
                f"tree_roots = {ints(self.roots)}, nodes_featureids = {ints(self.features)}, "
                f"nodes_splits = {tensor('double', self.splits)}, nodes_modes = {tensor('uint8', [0] * len(self.splits))}, "
                f"nodes_truenodeids = {ints(self.true_ids)}, nodes_trueleafs = {ints(self.true_leafs)}, "
                f"nodes_falsenodeids = {ints(self.false_ids)}, nodes_falseleafs = {ints(self.false_leafs)}, "
                f"leaf_targetids = {ints(self.targets)}, leaf_weights = {tensor('double', self.weights)}>(x)")


class Sklearn(unittest.TestCase):
    def setUp(self):
        random = np.random.RandomState(7)
        # Trees of scikit-learn round their inputs to float32.
        self.x = random.randn(200, 6).astype(np.float32)
        self.number = self.x[:, 0] * 3 + np.sin(self.x[:, 1] * 2) + 0.1 * random.randn(200)
        self.label = np.digitize(self.number, [-1.5, 1.5])

    def run_model(self, graph, x):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory)
            (path / "model.onnxtxt").write_text(HEAD + graph)
            np.save(path / "x.npy", x)
            done = subprocess.run([INGOT, "run", path / "model.onnxtxt", "--in", f"x={path / 'x.npy'}", "--out",
                                   path / "out"], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            return {file.stem: np.load(file) for file in (path / "out").glob("*.npy")}

    def trees(self, forest, targets, expected):
        graph = f"g (double[N, 6] x) => (double[N, {targets}] y) {{ y = {forest.text(targets)} }}"
        y = self.run_model(graph, self.x.astype(np.float64))["y"]
        np.testing.assert_allclose(y, np.reshape(expected, (len(self.x), targets)), rtol=EXACT, atol=EXACT)

    def test_random_forest_regressor(self):
        model = ensemble.RandomForestRegressor(20, max_depth=6, random_state=1).fit(self.x, self.number)
        forest = Forest()
        for tree in (t.tree_ for t in model.estimators_):
            forest.add(tree, 0, tree.value[:, 0, 0] / len(model.estimators_))
        self.trees(forest, 1, model.predict(self.x))

    def test_random_forest_classifier(self):
        model = ensemble.RandomForestClassifier(20, max_depth=6, random_state=1).fit(self.x, self.label)
        forest = Forest()
        for tree in (t.tree_ for t in model.estimators_):
            share = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
            for target in range(3):
                forest.add(tree, target, share[:, target] / len(model.estimators_))
        self.trees(forest, 3, model.predict_proba(self.x))

    def test_gradient_boosting_regressor(self):
        model = ensemble.GradientBoostingRegressor(n_estimators=30, init="zero", random_state=1)
        model.fit(self.x, self.number)
        forest = Forest()
        for tree in (t.tree_ for t in model.estimators_[:, 0]):
            forest.add(tree, 0, tree.value[:, 0, 0] * model.learning_rate)
        self.trees(forest, 1, model.predict(self.x))

    def test_gradient_boosting_classifier(self):
        model = ensemble.GradientBoostingClassifier(n_estimators=15, init="zero", random_state=1)
        model.fit(self.x, self.label)
        forest = Forest()
        for row in model.estimators_:
            for target, tree in enumerate(t.tree_ for t in row):
                forest.add(tree, target, tree.value[:, 0, 0] * model.learning_rate)
        self.trees(forest, 3, model.decision_function(self.x))

    def test_linear_regression(self):
        model = linear_model.LinearRegression().fit(self.x, self.number)
        graph = ("g (float[N, 6] x) => (float[N, 1] y) { y = ai.onnx.ml.LinearRegressor<"
                 f"coefficients = {floats(model.coef_)}, intercepts = {floats([model.intercept_])}>(x) }}")
        y = self.run_model(graph, self.x)["y"]
        np.testing.assert_allclose(y[:, 0], model.predict(self.x), rtol=SINGLE, atol=SINGLE * np.abs(self.number).max())

    def classifier(self, call, model, scores):
        graph = f"g (float[N, 6] x) => (int64[N] label, float[N, 3] y) {{ label, y = {call} }}"
        outputs = self.run_model(graph, self.x)
        np.testing.assert_array_equal(outputs["label"], model.predict(self.x))
        np.testing.assert_allclose(outputs["y"], scores, rtol=SINGLE, atol=SINGLE * np.abs(scores).max())

    def test_logistic_regression(self):
        model = linear_model.LogisticRegression(max_iter=1000).fit(self.x, self.label)
        call = (f"ai.onnx.ml.LinearClassifier<classlabels_ints = {ints(model.classes_)}, multi_class = 1, "
                f'post_transform = "SOFTMAX", coefficients = {floats(model.coef_)}, '
                f"intercepts = {floats(model.intercept_)}>(x)")
        self.classifier(call, model, model.predict_proba(self.x))

    def test_support_vector_regressor(self):
        model = svm.SVR(gamma=0.2).fit(self.x, self.number)
        graph = ("g (float[N, 6] x) => (float[N, 1] y) { y = ai.onnx.ml.SVMRegressor<"
                 f'kernel_type = "RBF", kernel_params = [0.2, 0.0, 3.0], n_supports = {len(model.support_)}, '
                 f"coefficients = {floats(model.dual_coef_)}, support_vectors = {floats(model.support_vectors_)}, "
                 f"rho = {floats(model.intercept_)}>(x) }}")
        y = self.run_model(graph, self.x)["y"]
        scale = np.abs(model.dual_coef_).sum()
        np.testing.assert_allclose(y[:, 0], model.predict(self.x), rtol=0, atol=SINGLE * scale)

    def test_scaler(self):
        model = preprocessing.StandardScaler().fit(self.x)
        graph = ("g (float[N, 6] x) => (float[N, 6] y) { y = ai.onnx.ml.Scaler<"
                 f"offset = {floats(model.mean_)}, scale = {floats(1 / model.scale_)}>(x) }}")
        y = self.run_model(graph, self.x)["y"]
        np.testing.assert_allclose(y, model.transform(self.x), rtol=SINGLE, atol=SINGLE)


if __name__ == "__main__":
    unittest.main()

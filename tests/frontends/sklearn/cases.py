"""Estimators of scikit-learn and XGBoost with the data sets that each is fitted on, for sklearn_agreement.py.

A case is (estimator, data set). The first case of each class is part of the quick run; the wide one has all of them, on all
data sets of their kind, and the further parameters of variants.py.
"""
import os
import warnings

import numpy as np
import pandas
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (it is what makes the class importable)
from sklearn.utils import all_estimators

import variants

warnings.filterwarnings("ignore")
POSITIVE = variants.POSITIVE
ALL = dict(all_estimators())
XGBOOST = {}
try:
    import xgboost
    XGBOOST = {name: getattr(xgboost, name) for name in
               ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor", "XGBRanker")}
except ImportError:
    pass


TEXTS = ["The cat sat on the mat.", "A dog barked at the cat!", "Dogs and cats, cats and dogs", "stock  prices fell\ttoday",
         "The market rose; prices did not", "MARKET news of the day", "caf\u00e9 prices rose", "x", "", "the of and to",
         "a b c of the market 12 34_5", "cat   cat\n cat dog"]
TOPICS = ["pets", "pets", "pets", "money", "money", "money", "money", "pets", "money", "pets", "money", "pets"]
DICTIONARIES = [{"city": city, "rooms": float(rooms), "size": size} for city, rooms, size in
                (("Ulm", 3, 70.5), ("Bonn", 2, 50.0), ("Ulm", 1, 30.0), ("Trier", 4, 99.0), ("Bonn", 5, 120.0),
                 ("Trier", 2, 61.0))]
TEXTS_SHORT = ["good", "bad bad", "Good, good!", "not bad", "so-so", "worst ever", "best", "the best of the best", "it is bad",
               "GOOD"]
TEXTS_LONG = [" ".join(TEXTS[(i * k + k) % len(TEXTS)] for k in range(1, 6)) + f" {i} \u00fcber {i * 7} na\u00efve" for i in
              range(14)]
DICTIONARIES_NUMBERS = [{"a": float(i), "b": i * 0.5 - 2, "c": float(i % 3)} for i in range(8)]
DICTIONARIES_MIXED = [{"kind": "xyz"[i % 3], "weight": i / 4, "place": ["in", "out"][i % 2], "age": float(i)} for i in
                      range(9)]


def make(name, *args, **options):
    """An estimator by the name of its class, reproducible."""
    kind = ALL.get(name) or XGBOOST.get(name)
    if kind is None:
        return None
    made = kind(*args, **options)
    if "random_state" in made.get_params(deep=False) and "random_state" not in options:
        made.set_params(random_state=0)
    return made


def corpus_frame(file):
    shared = os.environ.get("INGOT_SHARED", os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "shared"))
    folder = "corpus/sklearn/jpmml/pmml-sklearn/src/test/resources/csv"
    path = os.path.join(shared, folder, file)
    return pandas.read_csv(path, na_values=["N/A", "NA"]) if os.path.exists(path) else None


def data_sets():
    """name -> (X, y). Classes: iris, wine (texts), two (two classes, noisy), counts, gaps (missing values), levels (few
    values). Numbers: line, pair (two outputs), positive, column (one feature). Columns of a frame: audit, auto."""
    rng = np.random.RandomState(0)
    iris_x, iris_y = datasets.load_iris(return_X_y=True)
    wine_x, wine_y = datasets.load_wine(return_X_y=True)
    line_x, line_y = datasets.make_regression(120, 5, noise=5, random_state=0)
    two = iris_y < 2
    gaps = iris_x.copy()
    gaps[rng.rand(*gaps.shape) < 0.1] = np.nan
    gaps[0] = iris_x[0]
    wine_gaps = wine_x.copy()
    wine_gaps[rng.rand(*wine_gaps.shape) < 0.1] = np.nan
    diabetes_x, diabetes_y = (part[:200] for part in datasets.load_diabetes(return_X_y=True))
    linnerud_x, linnerud_y = datasets.load_linnerud(return_X_y=True)
    line_gaps = line_x.copy()
    line_gaps[rng.rand(*line_gaps.shape) < 0.15] = np.nan
    noisy = iris_x[two] + rng.normal(0, 1.0, iris_x[two].shape)
    two_gaps = gaps[two]
    signs = (line_y > 0).astype(int)
    topics = np.array(TOPICS)
    made = {
        "iris": (iris_x, iris_y),
        "wine": (wine_x, np.array(["barolo", "grignolino", "barbera"])[wine_y]),
        "two": (noisy, iris_y[two]),
        "two_wine": (wine_x[wine_y < 2], wine_y[wine_y < 2]),
        "two_gaps": (two_gaps, iris_y[two]),
        "gaps": (gaps, iris_y),
        "wine_gaps": (wine_gaps, wine_y),
        "line_gaps": (line_gaps, signs),
        "counts": (np.floor(iris_x * 2), iris_y),
        "counts_wine": (np.floor(wine_x[:, :6]), wine_y),
        "line": (line_x, line_y),
        "diabetes": (diabetes_x * 10, diabetes_y),
        "pair": (line_x, np.stack([line_y, rng.normal(size=120) - line_y], 1)),
        "pair_wine": (wine_x[:, 2:], wine_x[:, :2]),
        "linnerud": (linnerud_x + rng.normal(0, 0.1, linnerud_x.shape), linnerud_y),  # whole numbers lie equally far
        "classes_pair": (iris_x, np.stack([iris_y, iris_y % 2], 1)),
        "classes_wine": (wine_x, np.stack([wine_y, (wine_x[:, 0] > 13).astype(int)], 1)),
        "classes_two": (noisy, np.stack([iris_y[two], (noisy[:, 0] > 5).astype(int)], 1)),
        "positive": (np.abs(line_x), np.abs(line_y) + 0.1),
        "positive_wine": (wine_x[:, :3], wine_x[:, 9]),
        "positive_diabetes": (np.abs(diabetes_x) * 10, diabetes_y),
        "levels": (np.floor(iris_x), iris_y),
        "levels_wine": (np.floor(wine_x[:, :4]), wine_y),
        "levels_line": (np.floor(np.abs(line_x) * 2), signs),
        "column": (line_x[:, :1], line_y),
        "column_wine": (wine_x[:, :1], wine_x[:, 9]),
        "column_down": (line_x[:, :1], -line_y),
        "square": (iris_x @ iris_x.T, None),
        "square_wine": (wine_x @ wine_x.T, None),
        "square_line": (line_x @ line_x.T, None),
        "texts": (np.array(TEXTS, dtype=object), topics),
        "texts_short": (np.array(TEXTS_SHORT, dtype=object), topics[:len(TEXTS_SHORT)]),
        "texts_long": (np.array(TEXTS_LONG, dtype=object), np.tile(topics, 2)[:len(TEXTS_LONG)]),
        "dicts": (DICTIONARIES, topics[:len(DICTIONARIES)]),
        "dicts_numbers": (DICTIONARIES_NUMBERS, topics[:len(DICTIONARIES_NUMBERS)]),
        "dicts_mixed": (DICTIONARIES_MIXED, topics[:len(DICTIONARIES_MIXED)]),
        "marks": (wine_x, np.eye(3, dtype=int)[wine_y]),
        "marks_two": (noisy, np.stack([iris_y[two], noisy[:, 0] > 5], 1).astype(int)),
        "products": (noisy @ noisy.T, iris_y[two]),
        "labels_numbers": (iris_y.reshape(-1, 1), None),
        "labels_two": (np.array(["no", "yes"])[signs].reshape(-1, 1), None),
    }
    made["numbers"] = (pandas.DataFrame(line_x, columns=["a", "b c", "d", "\u00e9", "a.b"]), line_y)
    made["labels"] = (made["wine"][1].reshape(-1, 1), None)
    for name, file, target, rows in (("audit", "Audit.csv", "Adjusted", 400), ("auto", "Auto.csv", "mpg", 200)):
        frame = corpus_frame(file)
        if frame is None:
            continue
        parts = ((name, 0), (f"{name}_middle", rows // 2), (f"{name}_end", len(frame) - rows))
        for place, first in parts:
            part = frame.iloc[first:first + rows].reset_index(drop=True)
            made[place] = (part.drop(columns=[target]), part[target])
    return made


def regressors(add):
    plain = """LinearRegression Ridge RidgeCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC Lars LarsCV ElasticNet
        ElasticNetCV OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV BayesianRidge ARDRegression HuberRegressor
        TheilSenRegressor SGDRegressor PassiveAggressiveRegressor LinearSVR QuantileRegressor RANSACRegressor
        DecisionTreeRegressor ExtraTreeRegressor HistGradientBoostingRegressor SVR NuSVR KNeighborsRegressor
        KernelRidge PLSRegression GaussianProcessRegressor DummyRegressor AdaBoostRegressor"""
    for name in plain.split():
        add(make(name), "line", "positive")
    add(make("RadiusNeighborsRegressor", radius=3.0), "line", "positive")
    add(make("MLPRegressor", max_iter=30), "line", "positive")
    for name in ("RandomForestRegressor", "ExtraTreesRegressor", "BaggingRegressor", "GradientBoostingRegressor"):
        add(make(name, n_estimators=7), "line", "positive")
    for name in ("MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV", "PLSCanonical",
                 "CCA", "DecisionTreeRegressor", "RandomForestRegressor", "LinearRegression", "KNeighborsRegressor"):
        options = {"n_estimators": 5} if "Forest" in name else {"n_components": 1} if name in ("CCA", "PLSCanonical") else {}
        add(make(name, **options), "pair")
    for name in ("PoissonRegressor", "GammaRegressor", "TweedieRegressor"):
        add(make(name), "positive")
    add(make("TweedieRegressor", power=1.5), "positive")
    for kernel in ("linear", "poly", "sigmoid"):
        add(make("SVR", kernel=kernel), "line")
        add(make("KernelRidge", kernel="polynomial" if kernel == "poly" else kernel), "line")
    for loss in ("absolute_error", "huber", "quantile"):
        add(make("GradientBoostingRegressor", loss=loss, n_estimators=5), "line")
    for loss in ("absolute_error", "poisson"):
        add(make("HistGradientBoostingRegressor", loss=loss, max_iter=8), *POSITIVE, only=True)
    add(make("KNeighborsRegressor", weights="distance", metric="manhattan"), "line")
    # Not on diabetes, where the largest difference of many rows is the one between men and women.
    add(make("KNeighborsRegressor", metric="chebyshev"), "line", "positive", "column", only=True)
    add(make("KNeighborsRegressor", metric="minkowski", p=3), "line")
    add(make("MLPRegressor", activation="tanh", max_iter=20), "line")
    add(make("MLPRegressor", activation="logistic", hidden_layer_sizes=(6, 5), max_iter=20), "line")
    add(make("AdaBoostRegressor", n_estimators=5, loss="square"), "line")
    add(make("IsotonicRegression", out_of_bounds="clip"), "column")


def composed_regressors(add):
    two = [("a", make("LinearRegression")), ("b", make("Ridge"))]
    add(make("VotingRegressor", two, weights=[1, 2]), "line", "positive")
    add(make("StackingRegressor", two, cv=2), "line", "positive")
    add(make("StackingRegressor", two, cv=2, passthrough=True), "line")
    scaler = make("StandardScaler")
    add(make("TransformedTargetRegressor", make("LinearRegression"), transformer=scaler), "line", "positive")
    add(make("TransformedTargetRegressor", make("Ridge"), func=np.log1p, inverse_func=np.expm1), *POSITIVE, only=True)
    add(make("TransformedTargetRegressor", make("Ridge"), transformer=make("PowerTransformer")), "line", "positive")
    add(make("TransformedTargetRegressor", make("Ridge"), transformer=make("PowerTransformer", method="box-cox")),
        *POSITIVE, only=True)
    add(make("MultiOutputRegressor", make("Ridge")), "pair")
    add(make("RegressorChain", make("Ridge")), "pair")
    from sklearn.gaussian_process import kernels
    for kernel in (kernels.RBF(2.0), kernels.Matern(nu=1.5), kernels.ConstantKernel(2.0) * kernels.RationalQuadratic(),
                   kernels.DotProduct() + kernels.WhiteKernel(), kernels.Matern(nu=2.5), kernels.Matern(nu=0.5)):
        add(make("GaussianProcessRegressor", kernel=kernel, normalize_y=True, alpha=1e-3), "line")


def classifiers(add):
    classes = ("two", "iris", "wine")
    plain = """LogisticRegression LogisticRegressionCV RidgeClassifier RidgeClassifierCV LinearSVC Perceptron
        PassiveAggressiveClassifier SGDClassifier LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis GaussianNB
        BernoulliNB MultinomialNB ComplementNB DecisionTreeClassifier ExtraTreeClassifier NearestCentroid
        KNeighborsClassifier NuSVC SVC AdaBoostClassifier HistGradientBoostingClassifier DummyClassifier"""
    for name in plain.split():
        options = {"max_iter": 12} if name.startswith("Hist") else {"n_estimators": 6} if name.startswith("Ada") else {}
        where = ("counts", "wine") if name in ("MultinomialNB", "ComplementNB") else classes
        add(make(name, **options), *where)
    add(make("CategoricalNB"), "levels")
    add(make("LogisticRegression", multi_class="ovr"), *classes)
    for loss in ("modified_huber", "log_loss"):
        add(make("SGDClassifier", loss=loss), *classes)
    for kernel in ("poly", "linear", "rbf", "sigmoid"):
        add(make("SVC", probability=True, kernel=kernel), *classes)
    add(make("SVC", decision_function_shape="ovo"), "iris")
    add(make("SVC", break_ties=True), "iris")
    add(make("NuSVC", nu=0.3, probability=True), *classes)
    add(make("KNeighborsClassifier", weights="distance", p=1), *classes)
    for name in ("RandomForestClassifier", "ExtraTreesClassifier", "GradientBoostingClassifier"):
        add(make(name, n_estimators=6), *classes)
    add(make("RandomForestClassifier", n_estimators=4), "classes_pair")
    add(make("DecisionTreeClassifier"), "classes_pair")
    add(make("GradientBoostingClassifier", n_estimators=6, loss="exponential"), "two", only=True)
    add(make("GradientBoostingClassifier", n_estimators=6, init="zero"), "iris")
    add(make("KNeighborsClassifier", 4, weights="distance"), "classes_two", "marks_two", only=True, quick=True)
    add(make("RadiusNeighborsClassifier", radius=400.0), "classes_wine", "marks", only=True, quick=True)
    add(make("RidgeClassifier"), "marks", "marks_two", only=True, quick=True)
    add(make("SVC", kernel="precomputed"), "products", only=True, quick=True)
    add(make("NuSVC", kernel="precomputed", probability=True), "products", only=True)
    add(make("OneClassSVM", kernel="precomputed"), "products", only=True)
    add(make("SVR", kernel="precomputed"), "products", only=True)
    add(make("HistGradientBoostingClassifier", max_iter=8), "gaps")
    add(make("HistGradientBoostingClassifier", max_iter=8, categorical_features=[0, 2]), "levels")
    add(make("MLPClassifier", max_iter=30), *classes)
    add(make("BaggingClassifier", n_estimators=4), *classes)
    add(make("BaggingClassifier", n_estimators=4, max_features=0.5), "iris")
    add(make("AdaBoostClassifier", algorithm="SAMME", n_estimators=5), *classes)
    add(make("GaussianProcessClassifier"), "two")
    add(make("RadiusNeighborsClassifier", radius=100.0), *classes)
    add(make("LinearDiscriminantAnalysis", solver="lsqr", shrinkage="auto"), *classes)
    for strategy in ("most_frequent", "prior"):
        add(make("DummyClassifier", strategy=strategy), "wine")


def composed_classifiers(add):
    classes = ("two", "iris", "wine")
    bayes, logistic = make("GaussianNB"), make("LogisticRegression")
    add(make("CalibratedClassifierCV", make("LinearSVC"), cv=2), *classes)
    add(make("CalibratedClassifierCV", bayes, method="isotonic", cv=2), *classes)
    add(make("CalibratedClassifierCV", bayes, cv=2, ensemble=False), *classes)
    add(make("OneVsRestClassifier", logistic), *classes)
    add(make("OneVsRestClassifier", make("LinearSVC")), *classes)
    add(make("OneVsRestClassifier", make("DecisionTreeClassifier", max_depth=2)), *classes)
    add(make("OneVsOneClassifier", logistic), *classes)
    add(make("OutputCodeClassifier", logistic), "iris", "wine")
    two = [("a", logistic), ("b", bayes)]
    add(make("VotingClassifier", two, voting="soft"), *classes)
    add(make("VotingClassifier", two, weights=[1, 2]), *classes)
    add(make("StackingClassifier", [("a", bayes), ("b", make("DecisionTreeClassifier", max_depth=2))], cv=2), *classes)
    for name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"):
        if name in ("HalvingGridSearchCV", "HalvingRandomSearchCV"):
            from sklearn.experimental import enable_halving_search_cv  # noqa: F401
            from sklearn import model_selection
            ALL[name] = getattr(model_selection, name)
        more = {"n_iter": 2} if name == "RandomizedSearchCV" else {}
        add(make(name, make("SVC"), {"C": [1, 2]}, cv=2, **more), *classes)
    add(make("SelfTrainingClassifier", logistic), "two", "iris", "two_wine", only=True)
    add(make("MultiOutputClassifier", logistic), "classes_pair")
    add(make("ClassifierChain", logistic), "classes_pair")
    add(make("RFE", logistic, n_features_to_select=2), "iris", "wine")
    add(make("RFECV", logistic, cv=2), "iris")


def transformers(add):
    plain = """StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer Binarizer PowerTransformer
        PolynomialFeatures PCA IncrementalPCA TruncatedSVD FastICA FactorAnalysis KernelPCA RBFSampler
        SkewedChi2Sampler BernoulliRBM VarianceThreshold SimpleImputer NeighborhoodComponentsAnalysis
        SplineTransformer NMF MiniBatchNMF LatentDirichletAllocation AdditiveChi2Sampler
        FeatureAgglomeration PolynomialCountSketch"""
    for name in plain.split():
        options = {"n_components": 2} if name in ("NMF", "MiniBatchNMF") else {}
        add(make(name, **options), "iris", "wine", how="transform")
    for name in ("GaussianRandomProjection", "SparseRandomProjection"):
        add(make(name, n_components=3), "iris", "wine")
    add(make("QuantileTransformer", n_quantiles=50), "iris", "wine")
    add(make("QuantileTransformer", n_quantiles=50, output_distribution="normal"), "iris", "wine")
    for encode in ("onehot-dense", "ordinal", "onehot"):
        add(make("KBinsDiscretizer", encode=encode), "iris", "wine")
    add(make("KBinsDiscretizer", strategy="kmeans", n_bins=4, encode="ordinal"), "iris")
    add(make("Nystroem", n_components=10), "iris", "wine")
    add(make("SparsePCA", n_components=2), "iris")
    add(make("MiniBatchSparsePCA", n_components=2), "iris")
    for kernel in ("rbf", "poly", "sigmoid", "cosine"):
        gamma = {"gamma": 1e-7} if kernel == "sigmoid" else {}  # or else it is 1 everywhere
        add(make("KernelPCA", kernel=kernel, n_components=3, **gamma), "iris")
    add(make("PCA", whiten=True), "wine")
    add(make("PCA", n_components=0.9), "wine")
    for norm in ("l1", "max"):
        add(make("Normalizer", norm=norm), "iris")
    add(make("PolynomialFeatures", 3, interaction_only=True), "iris")
    add(make("PolynomialFeatures", (2, 3), include_bias=False), "iris")
    add(make("PowerTransformer", method="box-cox", standardize=False), "iris", only=True)
    add(make("SplineTransformer", degree=2, n_knots=4, include_bias=False), "iris")
    add(make("SplineTransformer", extrapolation="linear", knots="quantile"), "wine")
    add(make("RandomTreesEmbedding", n_estimators=3, sparse_output=False), "iris", "wine")
    for function in (None, np.log1p, np.sqrt, np.exp):
        add(make("FunctionTransformer", function), "iris")
    add(make("KernelCenterer"), "square")


def selectors(add):
    logistic = make("LogisticRegression")
    for made in (make("SelectKBest", k=2), make("SelectPercentile", percentile=50), make("SelectFpr"), make("SelectFdr"),
                 make("SelectFwe"), make("GenericUnivariateSelect", mode="k_best", param=2),
                 make("SelectFromModel", logistic),
                 make("SelectFromModel", make("RandomForestClassifier", n_estimators=5)),
                 make("SelectFromModel", logistic, threshold="0.5*mean", max_features=2),
                 make("SequentialFeatureSelector", make("GaussianNB"), n_features_to_select=2, cv=2)):
        add(made, "iris", "wine")


def imputers(add):
    for strategy in ("mean", "median", "most_frequent"):
        add(make("SimpleImputer", strategy=strategy), "gaps")
    add(make("SimpleImputer", strategy="constant", fill_value=-1.0), "gaps")
    add(make("SimpleImputer", add_indicator=True), "gaps")
    add(make("IterativeImputer", max_iter=3), "gaps")
    add(make("MissingIndicator"), "gaps")
    add(make("KNNImputer", n_neighbors=3), "wine_gaps")
    add(make("KNNImputer", weights="distance", add_indicator=True), "wine_gaps")


def clusterers(add):
    for name in ("KMeans", "MiniBatchKMeans"):
        add(make(name, 3, n_init=1), "iris", "wine")
    add(make("BisectingKMeans", 3), "iris", "wine")
    add(make("Birch", n_clusters=3), "iris", "wine")
    add(make("MeanShift"), "iris")
    add(make("AffinityPropagation"), "iris")
    for covariance in ("full", "tied", "diag", "spherical"):
        add(make("GaussianMixture", 3, covariance_type=covariance), "iris")
    add(make("BayesianGaussianMixture", n_components=3), "iris", "wine")
    add(make("IsolationForest", n_estimators=8), "iris", "wine")
    add(make("IsolationForest", n_estimators=8, max_features=2, contamination=0.1), "iris")
    add(make("OneClassSVM"), "iris")
    add(make("SGDOneClassSVM"), "iris")
    add(make("LocalOutlierFactor", novelty=True), "iris")
    add(make("EllipticEnvelope"), "iris")


def pipelines(add):
    from sklearn import compose, pipeline, preprocessing
    scaled = pipeline.make_pipeline(make("StandardScaler"), make("LogisticRegression"))
    add(scaled, "two", "iris", "wine")
    add(pipeline.make_pipeline(make("SimpleImputer"), make("RandomForestClassifier", n_estimators=5)), "gaps")
    add(pipeline.make_pipeline(make("StandardScaler"), make("PCA", 2)), "iris", "wine")
    add(pipeline.FeatureUnion([("a", make("PCA", 2)), ("b", make("StandardScaler"))],
                              transformer_weights={"a": 2.0}), "iris")
    add(compose.ColumnTransformer([("a", make("StandardScaler"), [0, 2]), ("b", "passthrough", slice(1, 2)),
                                   ("c", make("MinMaxScaler"), [False, False, False, True])]), "iris", "two",
        "counts", only=True)
    add(compose.ColumnTransformer([("a", make("StandardScaler"), [0, 2]), ("b", make("MinMaxScaler"), [1, 3])],
                                  transformer_weights={"a": 2.5}), "iris", only=True, quick=True)
    add(make("StackingClassifier", [("a", scaled), ("b", make("GaussianNB"))], cv=2), "iris", only=True, quick=True)
    texts = ["Employment", "Education", "Marital", "Occupation", "Gender"]
    audit = compose.ColumnTransformer(
        [("text", make("OneHotEncoder", handle_unknown="ignore"), texts), ("number", make("StandardScaler"), ["Age", "Hours"])],
        remainder=make("MinMaxScaler"))
    add(pipeline.make_pipeline(audit, make("LogisticRegression", max_iter=50)), "audit")
    ordinal = preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    rest = compose.ColumnTransformer([("text", ordinal, texts)], remainder="passthrough")
    add(pipeline.make_pipeline(rest, make("RandomForestClassifier", n_estimators=6)), "audit")
    for options in ({"drop": "first"}, {"drop": "if_binary"}, {"min_frequency": 30, "handle_unknown": "infrequent_if_exist"}):
        encoder = make("OneHotEncoder", **options)
        add(pipeline.make_pipeline(compose.ColumnTransformer([("text", encoder, texts)]), make("Ridge")), "audit")
    numeric = compose.ColumnTransformer([("a", make("StandardScaler"), ["displacement", "weight"])],
                                        remainder="passthrough")
    add(pipeline.make_pipeline(numeric, make("DecisionTreeRegressor", max_depth=4)), "auto")
    add(make("OneHotEncoder"), "levels")
    add(make("OrdinalEncoder"), "levels")
    add(make("LabelEncoder"), "labels")
    add(make("LabelBinarizer"), "labels")


def texts(add):
    from sklearn import pipeline
    bayes, logistic = make("MultinomialNB"), make("LogisticRegression")
    for options in ({}, {"ngram_range": (1, 2)}, {"ngram_range": (1, 2), "stop_words": "english"},
                    {"stop_words": ["cat", "the"], "ngram_range": (2, 3)}, {"binary": True, "token_pattern": r"\w+"},
                    {"analyzer": "char", "ngram_range": (1, 3)}, {"analyzer": "char_wb", "ngram_range": (2, 4)},
                    {"analyzer": "char_wb", "ngram_range": (5, 6)}, {"token_pattern": r"(?u)\b[a-z]+\b"},
                    {"token_pattern": r"[^\s,]+"}, {"max_features": 5}, {"stop_words": "english"}):
        add(make("CountVectorizer", **options), "texts")
    for options in ({}, {"sublinear_tf": True, "norm": "l1"}, {"use_idf": False}, {"ngram_range": (1, 2), "min_df": 2},
                    {"norm": None, "smooth_idf": False}):
        add(make("TfidfVectorizer", **options), "texts")
    for options in ({"n_features": 64}, {"n_features": 50, "alternate_sign": False, "norm": None, "ngram_range": (1, 2)},
                    {"n_features": 16, "binary": True, "stop_words": "english"},
                    {"n_features": 128, "analyzer": "char_wb", "ngram_range": (3, 4), "norm": "l1"},
                    {"n_features": 128, "analyzer": "char", "ngram_range": (2, 3)}):
        add(make("HashingVectorizer", **options), "texts")
    add(pipeline.make_pipeline(make("CountVectorizer"), make("TfidfTransformer"), bayes), "texts")
    add(pipeline.make_pipeline(make("TfidfVectorizer", ngram_range=(1, 2)), logistic), "texts")
    add(pipeline.make_pipeline(make("HashingVectorizer", n_features=256), make("LinearSVC")), "texts")
    add(make("DictVectorizer"), "dicts")
    add(pipeline.make_pipeline(make("DictVectorizer", sparse=False), logistic), "dicts")


def boosters(add):
    if not XGBOOST:
        return
    add(make("XGBClassifier", n_estimators=5), "iris", "two", "gaps")
    add(make("XGBRegressor", n_estimators=5), "line", "positive")
    add(make("XGBRFRegressor", n_estimators=5), "line")
    add(make("XGBRFClassifier", n_estimators=5), "iris", "two")
    add(make("XGBClassifier", n_estimators=5, booster="dart", rate_drop=0.5), "iris", "two")
    add(make("XGBRegressor", n_estimators=5, booster="gblinear"), "line")
    for objective in ("count:poisson", "reg:gamma", "reg:tweedie", "reg:squaredlogerror", "reg:pseudohubererror"):
        add(make("XGBRegressor", n_estimators=5, objective=objective), *POSITIVE, only=True)
    add(make("XGBClassifier", n_estimators=5, objective="binary:hinge"), "two", only=True)
    add(make("XGBClassifier", n_estimators=4), "marks", "marks_two", only=True, quick=True)
    add(make("XGBClassifier", n_estimators=5, objective="binary:logitraw"), "two", only=True, quick=True)
    add(make("XGBRegressor", n_estimators=5, objective="binary:logistic"), "two", only=True, quick=True)
    add(make("XGBRegressor", n_estimators=5), "numbers", only=True, quick=True)
    from sklearn import pipeline
    add(pipeline.make_pipeline(make("StandardScaler"), make("XGBClassifier", n_estimators=4)), "iris")


GROUPS = (regressors, composed_regressors, classifiers, composed_classifiers, transformers, selectors, imputers,
          clusterers, pipelines, texts, boosters)


def all_cases(is_wide=False):
    """(estimator, name of the data set, "predict" or "transform" or "", whether it is part of the quick run)"""
    cases, seen, places = [], set(), {}

    def add(estimator, *where, how="", only=False, quick=False):
        if estimator is None:
            return
        name = type(estimator).__name__
        if is_wide and not only:
            where = list(dict.fromkeys(list(where) + [kin for place in where for kin in variants.kin(place, name)]))
        for place in where:
            cases.append((estimator, place, how, quick or (name, how) not in seen))
            seen.add((name, how))
        if not only:
            places.setdefault((name, how), dict.fromkeys(where))

    for group in GROUPS:
        group(add)
    if is_wide:
        for (name, how), where in list(places.items()):
            for options in variants.VARIANTS.get(name, []):
                add(make(name, **options), *where, how=how)
    return cases

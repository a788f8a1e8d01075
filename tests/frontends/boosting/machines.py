"""Models of libsvm and liblinear, trained and asked by their own programs (Debian's libsvm-tools and liblinear-tools)."""
import os
import shutil
import subprocess

import numpy as np


def write_rows(path, x, y):
    with open(path, "w", encoding="utf-8") as file:
        for row, label in zip(x, y):
            file.write(" ".join([f"{label:.17g}", *(f"{i + 1}:{v:.17g}" for i, v in enumerate(row) if v != 0)]) + "\n")


def data():
    """name -> (x, y): three classes that are no 0, 1, 2; two classes; numbers."""
    rng = np.random.RandomState(3)
    centres = np.array([[0.0, 0, 0, 0], [2, 1, 0, -1], [0, 2, 2, 1]])
    y = rng.randint(0, 3, 90)
    x = centres[y] + rng.normal(0, 0.9, (90, 4))
    return {"three": (x, np.array([7, -2, 3])[y]), "two": (x[y < 2], np.array([-1, 1])[y[y < 2]]),
            "numbers": (x, x @ [1.5, -2, 0.5, 0.1] + rng.normal(0, 0.3, 90))}


def asked(train, predict, options, more, folder, x, y):
    """(model file, what the program says of x: labels or numbers, probabilities in the order of the file's labels)"""
    rows, model, out = (os.path.join(folder, name) for name in ("rows.txt", "model.svm", "out.txt"))
    write_rows(rows, x, y)
    subprocess.run([train, "-q", *options, rows, model], check=True, capture_output=True)
    subprocess.run([predict, *more, rows, model, out], check=True, capture_output=True)
    with open(out, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    if not lines[0] or lines[0][0] != "labels":
        return model, np.array([float(line[0]) for line in lines]), None
    table = np.array([[float(v) for v in line] for line in lines[1:]])
    return model, table[:, 0], table[:, 1:]


def all_kinds():
    """(name, train, predict, options of training, options of asking, data set)"""
    if shutil.which("svm-train"):
        for kind, place in (("0", "three"), ("0", "two"), ("1", "three"), ("2", "two"), ("3", "numbers"), ("4", "numbers")):
            for kernel in "0123":
                chances = ["-b", "1"] if kind in "01" else []
                for b in ([], chances) if chances else ([],):
                    yield (f"libsvm {kind} kernel {kernel} {place}{' probabilities' if b else ''}", "svm-train",
                           "svm-predict", ["-s", kind, "-t", kernel, "-n", "0.3", "-r", "0.5", *b], b, place)
    if shutil.which("liblinear-train"):
        for solver in ("0", "1", "2", "3", "4", "5", "6", "7"):
            for place in ("three", "two"):
                for bias in ("-1", "1", "0.5"):
                    chances = ["-b", "1"] if solver in "067" else []
                    yield (f"liblinear {solver} bias {bias} {place}", "liblinear-train", "liblinear-predict",
                           ["-s", solver, "-B", bias], chances, place)
        for solver in ("11", "12", "13"):
            for bias in ("-1", "1"):
                yield (f"liblinear {solver} bias {bias} numbers", "liblinear-train", "liblinear-predict",
                       ["-s", solver, "-B", bias], [], "numbers")

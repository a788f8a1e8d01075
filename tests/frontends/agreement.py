"""What the agreement tests of all frameworks share: ONNX Runtime as a process, arrays from files, how real numbers are
compared, the list of exceptions, and the count at the end."""
import argparse
import array
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CODES = {"float32": "f", "int32": "i", "uint8": "B", "int64": "q", "bool": "B", "int16": "h", "int8": "b",
         "float64": "d", "uint64": "Q", "uint32": "I", "uint16": "H"}
TOLERANCE = 1e-4  # of the output's scale


class Onnx:
    """ONNX Runtime in a process of its own, started anew when it dies."""

    def __init__(self, peers):
        self.peers = peers
        self.process = None
        self.locales = None

    def run(self, job):
        answer = self.ask(job)
        if "Failed to construct locale" in answer.get("error", "") and self.locales is None:
            # StringNormalizer wants en_US, which small systems do not have: made here, for this process alone.
            self.locales = tempfile.TemporaryDirectory()
            subprocess.run(["localedef", "-i", "en_US", "-f", "UTF-8", os.path.join(self.locales.name, "en_US.UTF-8")],
                           capture_output=True, check=False)
            self.close()
            answer = self.ask(job)
        return answer

    def ask(self, job):
        if self.process is None or self.process.poll() is not None:
            places = {"LOCPATH": self.locales.name} if self.locales else {}
            self.process = subprocess.Popen(["node", os.path.join(HERE, "run_onnx.mjs"), self.peers], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            env={**os.environ, **places})
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "ONNX Runtime crashed"}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def values(about):
    with open(about["file"], "rb") as file:
        raw = file.read()
    return json.loads(raw) if about["type"] == "string" else array.array(CODES[about["type"]], raw)


def worst_of(a, b):
    return max((abs(x - y) for x, y in zip(a, b) if math.isfinite(x)), default=0)


def scale_of(a):
    return max((abs(x) for x in a if math.isfinite(x)), default=0)


def form_difference(reference, a, result, b):
    """How two results differ before their numbers are looked at; None if they do not."""
    if reference["shape"] != result["shape"]:
        return f"shape {result['shape']} instead of {reference['shape']}"
    return f"{len(b)} elements instead of {len(a)}" if len(a) != len(b) else None


def exact_difference(a, b):
    wrong = sum(x != y for x, y in zip(a, b))
    return f"{wrong} of {len(a)} elements differ" if wrong else None


def real_difference(a, b, tolerance=TOLERANCE):
    """How real numbers differ; what is not finite must be equal."""
    for x, y in zip(a, b):
        if math.isnan(x) != math.isnan(y) or (math.isinf(x) or math.isinf(y)) and x != y:
            return f"{y} instead of {x}"
    worst, scale = worst_of(a, b), scale_of(a)
    return f"differs by {worst:.3g} at a scale of {scale:.3g}" if worst > tolerance * scale else None


def inspected(ingot, model, how):
    return subprocess.run([ingot, "inspect", model, how], capture_output=True, text=True).stdout


def parsed_arguments(place, flags=()):
    """The options of every agreement test; `place` is the folder of the corpus that it is about, "" for all."""
    parser = argparse.ArgumentParser()
    for option in ("--ingot", "--peers"):
        parser.add_argument(option, required=True)
    shared = os.environ.get("INGOT_SHARED", os.path.join(HERE, "..", "..", "..", "shared"))
    parser.add_argument("--corpus", default=os.path.join(shared, "corpus", place) if place else
                        os.path.join(shared, "corpus"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep")
    for flag, about in [("--verbose", "a line for each model"), *flags]:
        parser.add_argument(flag, action="store_true", help=about)
    return parser.parse_args()


def require(*paths):
    for needed in paths:
        if not os.path.exists(needed):
            print(f"SKIPPED: {needed} is not here")
            sys.exit(77)


def known_exceptions(file, parts):
    """name -> the rest of its line, in so many parts"""
    known = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, *rest = line.strip().split(": ", parts)
                known[name] = rest
    return known


class Tally:
    """Counts what became of each model, and what is otherwise than expected."""

    def __init__(self, known, is_filtered, is_verbose):
        self.known, self.is_filtered, self.is_verbose = known, is_filtered, is_verbose
        self.counts, self.unexpected, self.seen = {}, [], set()

    def add(self, kind, name, reason, key):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.seen.add(key)
        if self.is_verbose or kind != "agrees":
            print(f"{kind}: {name}: {reason}", flush=True)

    def finish(self, *more):
        if not self.is_filtered:
            self.unexpected += [f"{name} is named in agreement.txt and is not in the corpus"
                                for name in sorted(set(self.known) - self.seen)]
        print(", ".join(f"{kind} {count}" for kind, count in sorted(self.counts.items())))
        for line in more:
            print(line)
        for line in self.unexpected:
            print("UNEXPECTED " + line)
        sys.exit(1 if self.unexpected else 0)

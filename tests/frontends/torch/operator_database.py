#!/usr/bin/python3
"""Traces samples of the operators that PyTorch's own tests are made of, with PyTorch's results beside them.

operator_database.py DIRECTORY [FILTER]: as cases.py. A case is named after its operator, its element type and its number."""
import os
import random
import sys
import types
import unittest
import warnings

# PyTorch's tests ask for this package, but not for anything of it that matters here.
sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase, ACCEPT=True)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
DIRECTORY = sys.argv[1]
WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
DTYPES = {"f32": torch.float32, "i64": torch.int64, "b": torch.bool}
SAMPLES = 5  # of each operator and type
ELEMENTS = 20_000  # at most, of all inputs
# Random numbers and memory that is not written have no results to compare with; others have no dense tensors.
LEFT_OUT = {"uniform", "empty", "empty_like", "new_empty", "new_empty_strided", "svd_lowrank", "pca_lowrank", "to_sparse",
            "sparse.sampled_addmm", "resize_", "resize_as_", "bernoulli", "multinomial", "normal", "randn", "rand_like",
            "randn_like", "randint_like", "nn.functional.rrelu", "nn.functional.feature_alpha_dropout",
            "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"}


class Holder(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function


def module_of(count, made={}):
    """A module whose forward has so many named arguments."""
    if count not in made:
        names, scope = ", ".join(f"x{i}" for i in range(count)), {}
        exec(f"def forward(self, {names}):\n  return self.function({names})", scope)
        made[count] = type(f"Case{count}", (Holder,), {"forward": scope["forward"]})
    return made[count]


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result
    return [tensor for part in parts for tensor in flat(part)] if isinstance(parts, (list, tuple)) else []


def without_tensors(item, tensors):
    """Moves the tensors of an argument to a list, and gives what puts others in their places."""
    if isinstance(item, torch.Tensor):
        tensors.append(item)
        return lambda given, at=len(tensors) - 1: given[at]
    if type(item) in (list, tuple):
        parts = [without_tensors(part, tensors) for part in item]
        return lambda given: type(item)(part(given) for part in parts)
    if isinstance(item, dict):
        named = {key: without_tensors(part, tensors) for key, part in item.items()}
        return lambda given: {key: part(given) for key, part in named.items()}
    return lambda given: item


def array_of(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).numpy()


def write(name, op, sample):
    """The line of the case; nothing where PyTorch cannot trace it, or says something else each time."""
    tensors = []
    put_back = without_tensors((sample.input, list(sample.args), dict(sample.kwargs)), tensors)
    if sum(t.numel() for t in tensors) > ELEMENTS or any(t.is_complex() or t.layout != torch.strided for t in tensors):
        return ""
    tensors = [t.detach().clone() for t in tensors]

    def function(*given):
        first, args, named = put_back(given)
        return op(first, *args, **named)

    path = os.path.join(DIRECTORY, name + ".pt")
    try:
        module = module_of(len(tensors))(function).eval()
        with torch.no_grad():
            torch.jit.trace(module, tuple(tensors), check_trace=False, strict=False).save(path)
            loaded = torch.jit.load(path)
            results, again = (flat(loaded(*[t.clone() for t in tensors])) for _ in range(2))
        arrays = [array_of(r) for r in results]
    except Exception:
        return ""
    if not arrays or not all(np.array_equal(a, array_of(b), equal_nan=a.dtype.kind == "f") for a, b in zip(arrays, again)):
        return ""
    for kind, group in (("x", [array_of(t) for t in tensors]), ("y", arrays)):
        for i, array in enumerate(group):
            np.save(os.path.join(DIRECTORY, f"{name}.{kind}{i}.npy"), array)
    return f"{name} {len(tensors)} {len(arrays)} 0"


lines = []
for op in op_db:
    full = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
    if WANTED not in full or op.name in LEFT_OUT or "jiterator" in op.name:
        continue
    for label, dtype in DTYPES.items():
        if not op.supports_dtype(dtype, "cpu"):
            continue
        torch.manual_seed(3)
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        random.Random(1).shuffle(samples)
        made = []
        for sample in samples:
            if len(made) < SAMPLES:
                made += filter(None, [write(f"{full}_{label}_{len(made)}".replace(".", "-"), op, sample)])
        lines += made
with open(os.path.join(DIRECTORY, "cases.txt"), "w") as out:
    out.write("\n".join(lines) + "\n")

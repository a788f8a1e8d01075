#!/usr/bin/python3
"""The official node tests in PyTorch: converted by Ingot, loaded and run by PyTorch, compared with their results.

nodes.py --ingot PROGRAM [--tests DIRECTORY] [--every N] [--filter WORD] [--at-least SHARE] [--source]; exit code 77:
something that it needs is not here. A refusal counts as a failure. --source: as Python modules, not as TorchScript."""
import argparse
import collections
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import onnx
    import torch

    from stored import difference, flat, text_of, value_of
except ImportError as missing:
    print(f"{missing}: script/bootstrap installs python3-torch and python3-onnx")
    sys.exit(77)

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", pathlib.Path(__file__).parents[4] / "shared"))


def converted(options, model, scratch):
    """The callable that PyTorch makes of what Ingot writes; a text: why there is none."""
    path = pathlib.Path(scratch) / ("module" if options.source else "model.pt")
    to = ["--to", "torch-source"] if options.source else []
    made = subprocess.run([options.ingot, "convert", str(model), *to, "-o", str(path), "--no-verify"],
                          capture_output=True, text=True, check=False, timeout=120)
    if made.returncode != 0:
        return "refused: " + made.stderr.strip()[:300].replace("\n", " | ")
    if not options.source:
        return torch.jit.load(str(path))
    spec = importlib.util.spec_from_file_location("model", path / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load()


def failure(options, case, scratch):
    try:
        made = converted(options, case / "model.onnx", scratch)
    except Exception as error:  # whatever PyTorch says to a file is a failure of ours
        return "load: " + text_of(error)
    if isinstance(made, str):
        return made
    graph = onnx.load(case / "model.onnx", load_external_data=False).graph
    for data in sorted(case.glob("test_data_set_*")):
        inputs = [value_of(data / f"input_{i}.pb", v.type) for i, v in enumerate(graph.input)
                  if (data / f"input_{i}.pb").exists()]
        try:
            with torch.no_grad():
                results = flat(made(*inputs))
        except Exception as error:
            return "run: " + text_of(error)
        for i, result in enumerate(results):
            off = difference(result, value_of(data / f"output_{i}.pb", graph.output[i].type))
            if off:
                return f"differs: output {i}: {off}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--tests", type=pathlib.Path, default=SHARED / "onnx-backend-tests/node")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--at-least", type=float, default=0)
    parser.add_argument("--source", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    cases = sorted(p for p in options.tests.glob("test_*") if options.filter in p.name)[::options.every]
    if not cases:
        print(f"there are no tests in {options.tests}")
        return 77
    failed, kinds = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases:
            try:
                why = failure(options, case, scratch)
            except Exception as error:  # data that no type of PyTorch holds
                why = f"data: {type(error).__name__}: {error}"
            if why:
                failed += 1
                kinds[why.split(":")[0]] += 1
                print(f"{case.name}: {why}", flush=True)
    share = 1 - failed / len(cases)
    print(f"{len(cases) - failed} of {len(cases)} node tests agree in PyTorch ({share:.1%}); {dict(kinds)}")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())

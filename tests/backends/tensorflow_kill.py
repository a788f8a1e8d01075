#!/usr/bin/env python3
"""Sets of files whose writer is killed: the old set or the new one is there, never parts of both.

tensorflow_kill.py --ingot PROGRAM [--kills N]; exit code 77: h5py is not here. Models are written over an earlier one and
killed at moments spread over the time that writing takes, and a little beyond.
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

WIDTH, LAYERS = 384, 8
FORMATS = {"savedmodel": ["--variables"], "tfjs": [], "keras": []}


def write_model(path, seed):
    draw = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        layers = [{"class_name": "Dense", "config": {"name": f"d{i}", "units": WIDTH, "activation": "relu", "use_bias": False,
                                                     **({} if i else {"batch_input_shape": [None, WIDTH]})}} for i in range(LAYERS)]
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}})
        file.attrs["keras_version"] = "2.4.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [f"d{i}".encode() for i in range(LAYERS)]
        for i in range(LAYERS):
            part = group.create_group(f"d{i}")
            part.attrs["weight_names"] = [f"d{i}/kernel:0".encode()]
            part.create_dataset(f"d{i}/kernel:0", data=draw.standard_normal((WIDTH, WIDTH), dtype=np.float32))


def digest(directory):
    made = hashlib.sha256()
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        made.update(str(path.relative_to(directory)).encode() + b"\0" + path.read_bytes())
    return made.hexdigest()


def command(options, source, target, name):
    return [options.ingot, "--quiet", "convert", str(source), "-o", str(target), "--to", name, "--no-verify", *FORMATS[name]]


def check(options, name, scratch):
    sources = [scratch / f"{which}.h5" for which in ("old", "new")]
    sets = [scratch / f"{name}_{which}" for which in ("old", "new")]
    for source, target in zip(sources, sets):
        subprocess.run(command(options, source, target, name), check=True)
    old, new = map(digest, sets)
    assert old != new
    (scratch / name).mkdir()
    target = scratch / name / "model"
    shutil.copytree(sets[0], target)
    start = time.monotonic()
    subprocess.run(command(options, sources[1], target, name), check=True)
    whole = time.monotonic() - start
    assert digest(target) == new
    ends = {"old": 0, "new": 0}
    for i in range(options.kills):
        shutil.rmtree(target)
        shutil.copytree(sets[0], target)
        child = subprocess.Popen(command(options, sources[1], target, name))
        time.sleep(1.2 * whole * i / options.kills)
        child.kill()
        child.wait()
        found = digest(target)
        if found not in (old, new):
            print(f"{name}: killed after {1.2 * whole * i / options.kills:.3f} s, the set is torn")
            return False
        ends["old" if found == old else "new"] += 1
    subprocess.run(command(options, sources[1], target, name), check=True)
    left = [p.name for p in target.parent.iterdir() if p != target]
    print(f"{name}: killed {options.kills} times in {whole:.2f} s: {ends['old']} times the old set, {ends['new']} times the new; left over: {left}")
    return digest(target) == new and not left and ends["old"] > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--kills", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        write_model(scratch / "old.h5", 1)
        write_model(scratch / "new.h5", 2)
        return 0 if all([check(options, name, scratch) for name in FORMATS]) else 1


if __name__ == "__main__":
    sys.exit(main())

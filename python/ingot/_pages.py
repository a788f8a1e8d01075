"""Pages and reports on many models: the program writes them, in a process of its own, whose memory and time it limits."""
from __future__ import annotations

import json
import os
import subprocess
import sys

from . import _ingot, errors


def run_program(arguments, allowed=()):
    """What 'ingot ARGUMENTS --json' prints; its errors are raised. `allowed`: exit codes that are answers."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    done = subprocess.run([sys.executable, "-m", "ingot", "--quiet", *map(os.fspath, arguments), "--json"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": found})
    answer = json.loads(done.stdout) if done.stdout.strip() else {}
    if "error" in answer:
        raise _as_error(answer["error"], done.stderr)
    if done.returncode != 0 and done.returncode not in allowed:
        raise errors.BugError(done.stderr.decode(errors="replace").strip())
    return answer


def _as_error(details, text):
    said = {key: details.get(key, "") for key in ("file", "node", "op", "hint")}
    text = text.decode(errors="replace").strip()
    return errors._make(details["code"], _ingot.explain(details["code"])[1], details["exit_code"], details["message"],
                        said["file"], said["node"], said["op"], said["hint"], text.partition("error: ")[2] or text)


def shapes(input_shapes):
    """{"x": [1, "N", None]} -> ["--input-shape", "x:1,N,?"]"""
    words = []
    for name, dims in (input_shapes or {}).items():
        words += ["--input-shape", name + ":" + ",".join("?" if d is None else str(d) for d in dims)]
    return words


def options(**given):
    """verify=True -> ["--verify"], peers="p" -> ["--peers", "p"]; what is None or False is left out, lists repeat."""
    words = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words += [flag] if one is True else [flag, os.fspath(one) if hasattr(one, "__fspath__") else str(one)]
    return words

#!/usr/bin/env python3
"""Writes ingot/backends/tensorflow/definitions.inc: what TensorFlow says of the operators that the backend uses.

    tools/generate_tensorflow_operators.py <TensorFlow>/tensorflow/core/ops/ops.pbtxt

The operators are those whose names the sources of the backend hold in quotes. A line says name, inputs, results and
attributes: "x:T", "values:N*T" (N of them), "input:Tin[]" (a list of types); "T:type{float,double}", "axis:int?"
(has a default), "Tidx:type=int32{int32,int64}" (has this type by default).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "ingot/backends/tensorflow"
ALWAYS = ["Placeholder"]
# What TF.js has and TensorFlow has not.
OF_TFJS = ['{"Prelu", "x:T alpha:T", "activations:T", "T:type{float}"},\n']


def parse(text):
    """Protobuf's text syntax, a field per line, as nested lists of (name, value)."""
    root = []
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith("{"):
            stack[-1].append((line[:-1].strip(), []))
            stack.append(stack[-1][-1][1])
        elif line:
            key, _, value = line.partition(":")
            stack[-1].append((key, value.strip().strip('"')))
    return root


def get(message, key, fallback=None):
    return next((value for name, value in message if name == key), fallback)


def word(data_type):
    return data_type.removeprefix("DT_").lower()


def argument(message):
    kind = get(message, "type_attr") or word(get(message, "type", "DT_INVALID"))
    if get(message, "type_list_attr"):
        kind = get(message, "type_list_attr") + "[]"
    if get(message, "number_attr"):
        kind = get(message, "number_attr") + "*" + kind
    return get(message, "name") + ":" + kind


def attribute(message):
    text = get(message, "name") + ":" + get(message, "type")
    default = get(message, "default_value")
    if default is not None:
        text += "=" + word(get(default, "type")) if get(default, "type") else "?"
    allowed = get(message, "allowed_values")
    if allowed:
        values = [word(v) if k == "type" else v for k, v in get(allowed, "list")]
        text += "{" + ",".join(dict.fromkeys(values)) + "}"
    return text


def main():
    known = {get(m, "name"): m for kind, m in parse(pathlib.Path(sys.argv[1]).read_text()) if kind == "op"}
    used = set(ALWAYS)
    for source in FOLDER.glob("*.cpp"):
        used.update(re.findall(r'"([A-Z_][A-Za-z0-9_]*)"', source.read_text()))
    head = "// Made by tools/generate_tensorflow_operators.py from TensorFlow's list of operators; sorted.\n"
    lines = list(OF_TFJS)
    for name in sorted(used & known.keys()):
        message = known[name]
        parts = [
            " ".join(argument(m) for key, m in message if key == "input_arg"),
            " ".join(argument(m) for key, m in message if key == "output_arg"),
            " ".join(attribute(m) for key, m in message if key == "attr"),
        ]
        lines.append("{" + ", ".join(f'"{text}"' for text in [name, *parts]) + "},\n")
    (FOLDER / "definitions.inc").write_text(head + "".join(sorted(lines, key=lambda line: line.split('"')[1])))


if __name__ == "__main__":
    main()

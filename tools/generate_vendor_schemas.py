#!/usr/bin/env python3
"""Writes ingot/ops/vendor/schema_data.inc, the table of operators that ONNX does not define.

usage: generate_vendor_schemas.py COM_MICROSOFT.json > ingot/ops/vendor/schema_data.inc

contrib_operators.txt beside this file lists the operators of other domains.

COM_MICROSOFT.json lists the operators of ONNX Runtime's domains and the old experiments of ai.onnx that it runs, as
their schemas have them. The table has no place for sparse tensors: an operator that reads nothing else is left out.
"""
import json
import pathlib
import re
import sys

from generate_schemas import ELEMENTS, UNBOUNDED, Table

# Experiments of the first releases of ONNX, and what ONNX Runtime put into ai.onnx. The rest of that list is about
# other programs, or about versions that a standard operator has today.
OLD = {"Affine", "Crop", "DynamicSlice", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh",
       "SimplifiedLayerNormalization"}


def types_of(parameter):
    if any(t.startswith("all tensor types") for t in parameter["types"]):
        return [f"tensor({e})" for e in ELEMENTS[1:17]]
    return [t for t in parameter["types"] if not t.startswith("sparse_")]


def parameter(p, types):
    # A name may stand for different sets in inputs and outputs: the set belongs to the name here.
    types.setdefault(p["type"], types_of(p))
    row = {"name": p["name"], "type": p["type"], "optional": p["optional"], "variadic": p["variadic"]}
    if p["variadic"]:
        row["min_arity"] = p.get("min_arity", 1)
        row["heterogeneous"] = not p.get("homogeneous", True)
    return row


def attribute(a):
    row = {"name": a["name"], "type": a["type"].upper(), "required": a["required"]}
    if a["default"] is not None and not a["required"]:
        row["default"] = a["default"]
    return row


def limits(parameters):
    least = 0
    for i, p in enumerate(parameters):
        if not p["optional"] and not (p["variadic"] and p.get("min_arity", 1) == 0):
            least = i + 1
    most = UNBOUNDED if parameters and parameters[-1]["variadic"] else len(parameters)
    return least, most


def operator(op):
    types = {}
    row = {"domain": "" if op["domain"] == "ai.onnx" else op["domain"], "name": op["name"], "since": op["since_version"],
           "inputs": [parameter(p, types) for p in op["inputs"]],
           "outputs": [parameter(p, types) for p in op["outputs"]],
           "attributes": [attribute(a) for a in op["attributes"]], "types": types,
           "has_function_body": op["has_function_body"]}
    row["min_inputs"], row["max_inputs"] = limits(op["inputs"])
    row["min_outputs"], row["max_outputs"] = limits(op["outputs"])
    return row


def listed(text):
    """The parts of a list in brackets: "a, b" -> ["a", "b"]."""
    return [part.strip() for part in text.split(",")] if text.strip() else []


def listed_parameter(text, types):
    kind, name = text.split()
    plain = kind.rstrip("?")
    spelling = f"tensor({plain})"
    types.setdefault(spelling, [spelling])
    return {"name": name, "type": spelling, "optional": kind.endswith("?"), "variadic": False}


def listed_attribute(text):
    head, _, default = text.partition(" = ")
    kind, name = head.split()
    row = {"name": name, "type": kind.rstrip("!").upper(), "required": kind.endswith("!")}
    if default:
        row["default"] = int(default) if kind == "int" else default
    return row


def listed_operators(path):
    operators, domain = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            domain = line.strip("[]")
        elif line and not line.startswith("#"):
            name, inputs, outputs, _, attributes = re.fullmatch(
                r"(\w+) \((.*?)\) => \((.*?)\)( <(.*)>)?", line).groups()
            types = {}
            row = {"domain": domain, "name": name, "since": 1,
                   "inputs": [listed_parameter(p, types) for p in listed(inputs)],
                   "outputs": [listed_parameter(p, types) for p in listed(outputs)],
                   "attributes": [listed_attribute(a) for a in listed(attributes or "")], "types": types,
                   "has_function_body": False}
            row["min_inputs"], row["max_inputs"] = limits(row["inputs"])
            row["min_outputs"], row["max_outputs"] = limits(row["outputs"])
            operators.append(row)
    return operators


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        facts = json.load(file)
    operators = [operator(o) for o in facts["operators"]]
    operators = [o for o in operators if all(o["types"].values())]
    operators += [operator(o) for o in facts["other_domains"] if o["name"] in OLD and o["since_version"] == 1]
    operators += listed_operators(pathlib.Path(__file__).with_name("contrib_operators.txt"))
    table = Table()
    for op in sorted(operators, key=lambda o: (o["domain"], o["name"])):
        # Their definition changed in place over the years: attributes that are gone are no fault of a file.
        extra = {"unchecked_attributes": True}
        if not op["domain"]:
            extra["experimental"] = True
        table.add(op, extra)
    sys.stdout.write(table.text().replace("tools/generate_schemas.py", "tools/generate_vendor_schemas.py"))


if __name__ == "__main__":
    main()

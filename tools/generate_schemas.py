#!/usr/bin/env python3
"""Writes ingot/ops/schema_data.inc, the table of all versions of all standard operators.

usage: generate_schemas.py OPERATORS.json EXTRAS.json > ingot/ops/schema_data.inc

OPERATORS.json lists the operator versions (attributes, parameters, types); EXTRAS.json adds facts by (domain, name,
since): allowed numbers of outputs, experimental operators, kinds of function bodies. A fact that the table has no
place for is an error, so that none gets lost. Equal lists are written once.
"""
import json
import re
import sys

UNBOUNDED = 2147483647

# ONNX's numbering of element types.
ELEMENTS = """undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64
complex128 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2
int2""".split()

# The enumerators of AttrType and the helper of schema.cpp that states a default.
ATTRIBUTES = {
    "FLOAT": ("float_", "float_attr"), "INT": ("int_", "int_attr"), "STRING": ("string", "string_attr"),
    "TENSOR": ("tensor", None), "GRAPH": ("graph", None), "FLOATS": ("floats", "floats_attr"),
    "INTS": ("ints", "ints_attr"), "STRINGS": ("strings", "strings_attr"), "TENSORS": ("tensors", None),
    "GRAPHS": ("graphs", None), "SPARSE_TENSOR": ("sparse_tensor", None), "SPARSE_TENSORS": ("sparse_tensors", None),
    "TYPE_PROTO": ("type_proto", None), "TYPE_PROTOS": ("type_protos", None),
}

OPERATOR_KEYS = {"domain", "name", "since", "deprecated", "attributes", "inputs", "outputs", "min_inputs", "max_inputs",
                 "min_outputs", "max_outputs", "types", "has_function_body"}
PARAMETER_KEYS = {"name", "type", "optional", "variadic", "min_arity", "heterogeneous", "differentiable"}
ATTRIBUTE_KEYS = {"name", "type", "required", "default"}
EXTRA_KEYS = {"domain", "name", "since", "allowed_num_outputs", "experimental", "function_opset_versions",
              "context_dependent_function_opset_versions", "unchecked_attributes"}


def expect_keys(item, known):
    unknown = set(item) - known
    if unknown:
        sys.exit(f"generate_schemas: no place for {sorted(unknown)} of {item}")


def quote(text):
    if not re.fullmatch(r"[ -!#-\[\]-~]*", text):
        sys.exit(f"generate_schemas: {text!r} cannot be written as it is")
    return f'"{text}"'


class Pool:
    """Lists of C++ initialisers laid out in one array; equal lists share their place."""

    def __init__(self):
        self.items, self.places = [], {}

    def place(self, items):
        items = tuple(items)
        if not items:
            return 0, 0
        if items not in self.places:
            self.places[items] = len(self.items)
            self.items.extend(items)
        return self.places[items], len(items)

    def index(self, item):
        return self.place([item])[0]

    def slice(self, function, items):
        first, count = self.place(items)
        return f"{function}({first}, {count})" if count else "{}"


class Table:
    def __init__(self):
        self.types, self.attributes, self.parameters = Pool(), Pool(), Pool()
        self.maps, self.ints, self.floats, self.strings, self.counts = Pool(), Pool(), Pool(), Pool(), Pool()
        self.rows = []

    def type(self, name, spellings):
        """The index of a constraint: what the parameters named after it may be."""
        bits = dict.fromkeys(("tensor", "seq", "optional", "optional seq"), 0)
        maps = []
        element = "|".join(ELEMENTS[1:])
        for spelling in spellings:
            if m := re.fullmatch(rf"tensor\(({element})\)", spelling):
                bits["tensor"] |= 1 << ELEMENTS.index(m[1])
            elif m := re.fullmatch(rf"seq\(tensor\(({element})\)\)", spelling):
                bits["seq"] |= 1 << ELEMENTS.index(m[1])
            elif m := re.fullmatch(rf"optional\(tensor\(({element})\)\)", spelling):
                bits["optional"] |= 1 << ELEMENTS.index(m[1])
            elif m := re.fullmatch(rf"optional\(seq\(tensor\(({element})\)\)\)", spelling):
                bits["optional seq"] |= 1 << ELEMENTS.index(m[1])
            elif m := re.fullmatch(rf"(seq\()?map\(({element}), ({element})\)\)?", spelling):
                maps.append(f"{{DType({ELEMENTS.index(m[2])}), DType({ELEMENTS.index(m[3])}), "
                            f"{'true' if m[1] else 'false'}}}")
            else:
                sys.exit(f"generate_schemas: cannot read the type {spelling!r}")
        fields = [f"set({b:#x})" if b else "{}" for b in bits.values()] + [self.maps.slice("maps", maps)]
        while fields[-1] == "{}":
            fields.pop()
        return self.types.index(f"{{{', '.join([quote(name)] + fields)}}}")

    def attribute(self, a):
        expect_keys(a, ATTRIBUTE_KEYS)
        enumerator, with_default = ATTRIBUTES[a["type"]]
        name = quote(a["name"])
        if "default" not in a:
            return f"attr({name}, AttrType::{enumerator}, {'true' if a.get('required') else 'false'})"
        if with_default is None or a.get("required"):
            sys.exit(f"generate_schemas: no place for the default of {a}")
        value = a["default"]
        text = {
            "INT": lambda: str(value),
            "FLOAT": lambda: f"{value!r}F",
            "STRING": lambda: quote(value),
            "INTS": lambda: self.ints.slice("ints", map(str, value)),
            "FLOATS": lambda: self.floats.slice("floats", (f"{v!r}F" for v in value)),
            "STRINGS": lambda: self.strings.slice("strings", map(quote, value)),
        }[a["type"]]()
        return f"{with_default}({name}, {text})"

    def parameter(self, p, types):
        expect_keys(p, PARAMETER_KEYS)
        option = "variadic" if p.get("variadic") else "optional" if p.get("optional") else "single"
        arity = p["min_arity"] if option == "variadic" else int(option == "single")
        differentiable = {None: "unstated", True: "yes", False: "no"}[p.get("differentiable")]
        index = self.type(p["type"], types.get(p["type"], [p["type"]]))
        same = "false" if p.get("heterogeneous") else "true"
        return (f"{{{quote(p['name'])}, &kTypes[{index}], ParamOption::{option}, {same}, {arity}, "
                f"Differentiable::{differentiable}}}")

    def add(self, op, extra):
        expect_keys(op, OPERATOR_KEYS)
        expect_keys(extra, EXTRA_KEYS)
        types = op.get("types", {})
        flags = [name for name, on in (
            ("kDeprecated", op.get("deprecated")),
            ("kExperimental", extra.get("experimental")),
            ("kFunctionBody", op.get("has_function_body")),
            ("kBodyDependsOnContext", "context_dependent_function_opset_versions" in extra),
            ("kUncheckedAttributes", extra.get("unchecked_attributes")),
        ) if on]
        inputs = self.parameters.slice("params", (self.parameter(p, types) for p in op.get("inputs", [])))
        outputs = self.parameters.slice("params", (self.parameter(p, types) for p in op.get("outputs", [])))
        attributes = self.attributes.slice("attrs", (self.attribute(a) for a in op.get("attributes", [])))
        counts = self.counts.slice("counts", map(str, extra.get("allowed_num_outputs", [])))
        limits = ", ".join("kUnbounded" if op[k] == UNBOUNDED else str(op[k])
                           for k in ("min_inputs", "max_inputs", "min_outputs", "max_outputs"))
        self.rows.append(f"row({quote(op['domain'])}, {quote(op['name'])}, {op['since']}, {' | '.join(flags) or 0}, "
                         f"{attributes}, {inputs}, {outputs}, {limits}, {counts})")

    def text(self):
        parts = ["// Written by tools/generate_schemas.py; do not edit. Included by schema.cpp alone.\n// clang-format off\n"]
        for comment, kind, name, items in (
            ("Default values.", "std::int64_t", "kInts", self.ints.items),
            (None, "float", "kFloats", self.floats.items),
            (None, "std::string_view", "kStrings", self.strings.items),
            ("Map types of constraints.", "MapForm", "kMaps", self.maps.items),
            ("Numbers of outputs that are allowed.", "int", "kCounts", self.counts.items),
            ("Type constraints.", "TypeConstraint", "kTypes", self.types.items),
            ("Attributes, by operator.", "AttrSchema", "kAttributes", self.attributes.items),
            ("Inputs or outputs, by operator.", "ParamSchema", "kParams", self.parameters.items),
            ("Operator versions, sorted by domain, name and version.", "Schema", "kSchemas", self.rows),
        ):
            slicer = {"kInts": "ints", "kFloats": "floats", "kStrings": "strings", "kMaps": "maps",
                      "kCounts": "counts", "kAttributes": "attrs", "kParams": "params"}.get(name)
            if not items:
                continue
            parts.append((f"\n// {comment}\n" if comment else "\n") + f"constexpr {kind} {name}[] = {{\n")
            parts.extend(f"    {item},\n" for item in items)
            parts.append("};\n")
            if slicer:
                parts.append(f"constexpr std::span<const {kind}> {slicer}(std::size_t first, std::size_t count) {{\n"
                             f"  return std::span({name}).subspan(first, count);\n}}\n")
        parts.append("// clang-format on\n")
        return "".join(parts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        operators = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        extras = {(e["domain"], e["name"], e["since"]): e for e in json.load(file)}
    table = Table()
    for op in sorted(operators, key=lambda o: (o["domain"], o["name"], o["since"])):
        table.add(op, extras.pop((op["domain"], op["name"], op["since"]), {}))
    if extras:
        sys.exit(f"generate_schemas: extras without an operator: {sorted(extras)}")
    sys.stdout.write(table.text())


if __name__ == "__main__":
    main()

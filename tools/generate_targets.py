#!/usr/bin/env python3
"""Writes ingot/driver/targets_data.inc: what runtimes say that they run, from the tables that they publish.

usage: generate_targets.py ONNXRUNTIME ONNX_TENSORRT ONNX_MLIR OPENVINO

Each argument is a checkout, or a bare repository, of the project at the version wanted.
"""
import json
import pathlib
import re
import subprocess
import sys

OUT = pathlib.Path(__file__).resolve().parents[1] / "ingot" / "driver" / "targets_data.inc"
TRT_TYPES = {"FP32": "float", "FP16": "float16", "BF16": "bfloat16", "INT32": "int32", "INT64": "int64", "INF64": "int64",
             "INT8": "int8", "INT4": "int4", "UINT8": "uint8", "BOOL": "bool", "FP8": "float8e4m3fn", "DOUBLE": "double"}


def text_of(repository, path):
    return subprocess.run(["git", "-C", repository, "show", f"HEAD:{path}"], check=True, capture_output=True, text=True).stdout


def cells(line):
    return [c.strip() for c in re.split(r"(?<!\\)\|", line.strip())[1:]]


def onnxruntime(repository):
    version = text_of(repository, "VERSION_NUMBER").strip().rsplit(".", 1)[0]
    operators, domain, name, params, is_cpu = {}, "", "", [], False
    for line in text_of(repository, "docs/OperatorKernels.md").splitlines():
        if line.startswith("## Operators implemented by"):
            is_cpu = "CPUExecutionProvider" in line
        if not is_cpu or not line.startswith("|"):
            continue
        row = cells(line)
        found = re.match(r"\*\*Operator Domain:\*\* \*(.*)\*", row[0])
        if found:
            domain = {"ai.onnx": ""}.get(found[1], found[1])
            continue
        if len(row) < 4 or row[0] in ("Op Name",) or row[0].startswith("---"):
            continue
        if row[0]:
            name, params = row[0], row[1].split("<br><br>or<br><br>")
        types = {k: re.findall(r"(?<![(a-z])tensor\((\w+)\)", v)
                 for k, v in re.findall(r"\*\*(\w+)\*\* = ([^<]*)", row[3])}
        versions = [int(v) for v in re.findall(r"\d+", row[2])]
        rule = {"versions": versions if len(versions) == 2 else [versions[0], 0 if "+" in row[2] else versions[0]]}
        if len(params) == 1:
            for kind, key in (("in", "inputs"), ("out", "outputs")):
                rule[key] = [re.findall(r"^tensor\((\w+)\)", t) or types.get(t, [])
                             for t in re.findall(rf"\*{kind}\* \w+:\*\*([^*]*)\*\*", params[0])]
        elif types:
            rule["types"] = sorted({t for names in types.values() for t in names})
        operators.setdefault(f"{domain}.{name}" if domain else name, []).append(rule)
    return {"name": f"ort-cpu-{version}", "title": f"ONNX Runtime {version}, CPU", "source": "docs/OperatorKernels.md",
            "operators": operators}


def tensorrt(repository):
    text = text_of(repository, "docs/operators.md")
    low, high = re.search(r"opset (\d+) to opset (\d+)", text).groups()
    operators = {}
    for line in text.splitlines():
        row = cells(line) if line.startswith("|") else []
        if len(row) < 2 or not row[1].startswith("Y"):
            continue
        rule = {"types": sorted({TRT_TYPES[t.strip()] for t in row[2].split(",") if t.strip() in TRT_TYPES})}
        limits = row[3] if len(row) > 3 else ""
        if re.search(r"2D or 3D", limits):
            rule["ranks"] = [4, 5]
        constants = {"CumSum": [1], "TopK": [1], "Slice": [3], "Squeeze": [1], "Unsqueeze": [1]}.get(row[0])
        if constants and re.search("initializer|constant", limits):
            rule["constant_inputs"] = constants
        if row[0] == "Resize":
            for attribute, words in (("coordinate_transformation_mode", "transformation modes"), ("mode", "resize modes"),
                                     ("nearest_mode", "nearest modes")):
                found = re.search(rf"{words}: ([^.<]*)", limits)
                if found:
                    rule.setdefault("attributes", {})[attribute] = re.findall(r"`(\w+)`", found[1])
        if limits:
            rule["note"] = re.sub(r"\s+", " ", limits.replace("\\", ""))
        operators[row[0]] = [rule]
    return {"name": "tensorrt-10", "title": "TensorRT 10", "source": "onnx-tensorrt, docs/operators.md",
            "opset": [int(low), int(high)], "operators": operators}


def onnx_mlir(repository):
    operators = {}
    text = text_of(repository, "docs/SupportedONNXOps-cpu.md")
    for line in text.splitlines():
        row = cells(line) if line.startswith("| **") else []
        if len(row) < 3 or row[1] == "none":
            continue
        first, last = row[1].split(" - ")
        rule = {"opset": [int(first), 0 if last == "*" else int(last)]}
        if row[2]:
            rule["note"] = row[2]
        if "W, B and R must be constants" in row[2]:
            rule["constant_inputs"] = [1, 2, 3]
        operators[row[0].strip("*")] = [rule]
    newest = re.search(r"up to opset (\d+)", text)[1]
    return {"name": "onnx-mlir", "title": "onnx-mlir, CPU", "source": "docs/SupportedONNXOps-cpu.md",
            "opset": [6, int(newest)], "operators": operators}


def openvino(repository):
    text = text_of(repository, "docs/articles_en/documentation/compatibility-and-support/supported-operations.rst")
    onnx = text.split(".. tab-item:: ONNX")[1].split(".. tab-item::")[0]
    operators, domain = {}, ""
    for line in onnx.splitlines():
        found = re.search(r"ONNX Supported Operations \((.*)\)", line)
        if found:
            domain = ("org.openvinotoolkit." if "org.openvinotoolkit" in found[1]
                      else "com.microsoft." if "com.microsoft" in found[1] else "")
            continue
        words = line.split(None, 1)
        if not words or words[0].startswith("=") or not re.match(r"^[A-Z]\w*$", words[0]):
            continue
        rule = {}
        if len(words) > 1:
            rule["note"] = words[1].strip()
            if "Only 4D input" in words[1]:
                rule["ranks"] = [4, 4]
        operators[domain + words[0].replace("_", "")] = [rule]
    return {"name": "openvino", "title": "OpenVINO", "source": "docs/.../supported-operations.rst",
            "operators": operators}


def main():
    ort, trt, mlir, vino = sys.argv[1:5]
    targets = [onnx_mlir(mlir), openvino(vino), onnxruntime(ort), tensorrt(trt)]
    lines = ["// Written by tools/generate_targets.py from the tables that the runtimes publish."]
    for target in sorted(targets, key=lambda t: t["name"]):
        head = {k: v for k, v in target.items() if k != "operators"}
        lines.append(f'{{"{target["name"]}", R"json({json.dumps(head)[:-1]}, "operators": {{')
        rows = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in sorted(target["operators"].items())]
        lines.append(",\n".join(rows) + '}})json"},')
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

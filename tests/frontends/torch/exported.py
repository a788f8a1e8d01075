#!/usr/bin/python3
"""Writes .pt2 archives as torch.export.save does, in each of its forms, from calls of ATen's operators.

PyTorch 1.13 cannot export; it runs the same calls, and its results stand beside the archives. exported.py DIRECTORY
[FILTER] writes the files that cases.py describes."""
import io
import json
import os
import sys
import warnings
import zipfile

import numpy as np
import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
directory = sys.argv[1]
wanted = sys.argv[2] if len(sys.argv) > 2 else ""
lines = []

SCALAR_TYPES = {torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6,
                torch.float32: 7, torch.float64: 8, torch.bool: 12, torch.bfloat16: 13}


def meta_of(tensor, dynamic=False):
    sizes = [{"as_int": s} for s in tensor.shape]
    if dynamic and sizes:
        sizes[0] = {"as_expr": {"expr_str": "s0", "hint": {"as_int": tensor.shape[0]}}}
    return {"dtype": SCALAR_TYPES[tensor.dtype], "sizes": sizes, "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": s} for s in tensor.stride()],
            "storage_offset": {"as_int": tensor.storage_offset()}, "layout": 7}


def saved(tensors):
    stream = io.BytesIO()
    torch.save(tensors, stream)
    return stream.getvalue()


def number(value):
    """Numbers that JSON has no words for are texts."""
    if value != value:
        return "NaN"
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, value)


class Program:
    """A graph as it grows: tensors that are given become inputs, those called weight or bias parameters."""

    def __init__(self, dynamic=False):
        self.dynamic = dynamic
        self.nodes, self.tensors, self.inputs, self.parameters, self.names = [], {}, [], {}, {}

    def name_of(self, tensor, label):
        if id(tensor) in self.names:
            return self.names[id(tensor)][0]
        if label in ("weight", "bias", "running_mean", "running_var"):
            name = f"p_{label}" if f"p_{label}" not in self.tensors else f"p_{label}_{len(self.parameters)}"
            self.parameters[name] = (f"layer.{name[2:]}", tensor)
        else:
            name = f"x{len(self.inputs)}"
            self.inputs.append((name, tensor))
        self.names[id(tensor)] = (name, tensor)  # the tensor too: its id must stay its own
        self.tensors[name] = meta_of(tensor, self.dynamic and name == "x0")
        return name

    def argument(self, value, label):
        if value is None:
            return {"as_none": True}
        if isinstance(value, torch.Tensor):
            return {"as_tensor": {"name": self.name_of(value, label)}}
        if isinstance(value, torch.dtype):
            return {"as_scalar_type": SCALAR_TYPES[value]}
        if isinstance(value, bool):
            return {"as_bool": value}
        if isinstance(value, int):
            return {"as_int": value}
        if isinstance(value, float):
            return {"as_float": number(value)}
        if isinstance(value, str):
            return {"as_string": value}
        if any(isinstance(v, torch.Tensor) for v in value):
            if any(v is None for v in value):
                return {"as_optional_tensors": [self.argument(v, label) for v in value]}
            return {"as_tensors": [{"name": self.name_of(v, label)} for v in value]}
        if any(isinstance(v, float) for v in value):
            return {"as_floats": [number(float(v)) for v in value]}
        return {"as_ints": list(value)}

    def result(self, value):
        name = f"v{len(self.tensors)}"
        self.names[id(value)] = (name, value)
        self.tensors[name] = meta_of(value)
        return {"name": name}

    def call(self, target, *args, **kwargs):
        op, overload = target.split(".")
        function = getattr(getattr(torch.ops.aten, op), overload)
        inputs = []
        for i, spec in enumerate(function._schema.arguments):
            if i < len(args):
                inputs.append({"name": spec.name, "arg": self.argument(args[i], spec.name), "kind": 1})
            elif spec.name in kwargs:
                inputs.append({"name": spec.name, "arg": self.argument(kwargs[spec.name], spec.name), "kind": 2})
        results = function(*[a.clone() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args],
                           **kwargs)
        if isinstance(results, (list,)):
            outputs = [{"as_tensors": [self.result(r) for r in results]}]
        elif isinstance(results, tuple):
            outputs = [{"as_tensor": self.result(r)} for r in results]
        else:
            outputs = [{"as_tensor": self.result(results)}]
        self.nodes.append({"target": f"torch.ops.aten.{target}", "inputs": inputs, "outputs": outputs,
                           "metadata": {"nn_module_stack": "root,,M;layer,layer,L"}, "is_hop_single_tensor_return": None})
        return results

    def json(self, outputs):
        graph_inputs, specs = [], []
        for name, (path, _) in self.parameters.items():
            kind = "buffer" if "running" in name else "parameter"
            spec = {"arg": {"name": name}, f"{kind}_name": path}
            if kind == "buffer":
                spec["persistent"] = True
            specs.append({kind: spec})
            graph_inputs.append({"as_tensor": {"name": name}})
        for name, _ in self.inputs:
            specs.append({"user_input": {"arg": {"as_tensor": {"name": name}}}})
            graph_inputs.append({"as_tensor": {"name": name}})
        graph_outputs = [{"as_tensor": {"name": self.names[id(o)][0]}} for o in outputs]
        graph = {"inputs": graph_inputs, "outputs": graph_outputs, "nodes": self.nodes, "tensor_values": self.tensors,
                 "sym_int_values": {}, "sym_bool_values": {}, "custom_obj_values": {}, "is_single_tensor_return": False}
        signature = {"input_specs": specs, "output_specs": [{"user_output": {"arg": o}} for o in graph_outputs]}
        ranges = {"s0": {"min_val": 1, "max_val": None}} if self.dynamic else {}
        return json.dumps({"graph_module": {"graph": graph, "signature": signature, "module_call_graph": []},
                           "opset_version": {"aten": 10}, "range_constraints": ranges,
                           "schema_version": {"major": 8, "minor": 2}, "verifiers": ["TRAINING"], "torch_version": "2.6.0"})


def write_flat(path, program, outputs):
    """As PyTorch 2.1 to 2.7."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", program.json(outputs))
        archive.writestr("serialized_state_dict.pt", saved({p: t for p, t in program.parameters.values()}))
        archive.writestr("serialized_constants.pt", saved({}))
        archive.writestr("version", "8.2")


def write_directories(path, program, outputs, has_payloads):
    """As PyTorch 2.8, with one file of weights, or 2.9, with a file for each."""
    root = os.path.splitext(os.path.basename(path))[0] + "/"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(root + "archive_format", "pt2")
        archive.writestr(root + "archive_version", "0")
        archive.writestr(root + "byteorder", "little")
        archive.writestr(root + "models/model.json", program.json(outputs))
        if not has_payloads:
            archive.writestr(root + "data/weights/model.pt", saved({p: t for p, t in program.parameters.values()}))
            archive.writestr(root + "data/constants/model.pt", saved({}))
            return
        config = {}
        for i, (fqn, tensor) in enumerate(program.parameters.values()):
            archive.writestr(f"{root}data/weights/weight_{i}", tensor.contiguous().numpy().tobytes())
            config[fqn] = {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": meta_of(tensor.contiguous())}
        archive.writestr(root + "data/weights/model_weights_config.json", json.dumps({"config": config}))
        archive.writestr(root + "data/constants/model_constants_config.json", json.dumps({"config": {}}))


def flat(results):
    return [results] if isinstance(results, torch.Tensor) else [t for r in results for t in flat(r)]


def write(name, program, results, keep=None):
    outputs = flat(results)
    if keep is not None:
        outputs = [outputs[i] for i in keep]
    path = os.path.join(directory, name + ".pt2")
    form = len(lines) % 3
    if form == 0:
        write_flat(path, program, outputs)
    else:
        write_directories(path, program, outputs, form == 2)
    for i, (_, x) in enumerate(program.inputs):
        np.save(os.path.join(directory, f"{name}.x{i}.npy"), x.numpy())
    for i, y in enumerate(outputs):
        np.save(os.path.join(directory, f"{name}.y{i}.npy"), y.detach().numpy())
    lines.append(f"{name} {len(program.inputs)} {len(outputs)} 0")


def case(target, *args, label="", keep=None, dynamic=False, **kwargs):
    """One call; `keep`: the outputs that are compared, where others are not for use."""
    name = "aten_" + target.replace(".", "_") + ("_" + label if label else "")
    if wanted not in name:
        return
    program = Program(dynamic)
    write(name, program, program.call(target, *args, **kwargs), keep)


def x(*shape, low=-2.0, high=2.0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(sum((i + 3) * s for i, s in enumerate(shape)) + 11)
    return (torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low).to(dtype)


def i64(*shape, low=0, high=5):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(sum(shape) + 5))


def F_log(scores):
    return torch.log_softmax(scores, 1)


for part in ("exported_cases.py", "exported_forms.py", "exported_rows.py"):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), part)
    exec(compile(open(path).read(), path, "exec"))
with open(os.path.join(directory, "cases.txt"), "w") as out:
    out.write("\n".join(lines) + "\n")

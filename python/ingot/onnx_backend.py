"""The ONNX project's backend interface (onnx.backend.base), so that its own test runner and scoreboard can run Ingot.

    >>> from onnx.backend.test import BackendTest
    >>> from ingot import onnx_backend
    >>> globals().update(BackendTest(onnx_backend, __name__).test_cases)
"""
from __future__ import annotations

import numpy
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from . import Session


# onnx holds stored bfloat16 as its bits in uint16 up to 1.12, and as float32 later.
HOLDS_BITS = tuple(int(part) for part in onnx.__version__.split(".")[:2]) < (1, 13)


def _bits_of_bfloat16(values):
    """The upper half of float32, rounded to nearest, ties to even."""
    bits = numpy.ascontiguousarray(values, numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)
    return numpy.where(numpy.isnan(values), numpy.uint16(0x7FC0), rounded)


def _from_bfloat16(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


class IngotRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model, **options):
        self._session = Session(model, checked=False, **options)  # tests hold models that are not quite valid

    def run(self, inputs, **kwargs):
        """Inputs in the model's order, or by name; outputs in order, and by name."""
        if not isinstance(inputs, dict):
            if isinstance(inputs, numpy.ndarray):
                inputs = [inputs]
            inputs = {port.name: value for port, value in zip(self._session.inputs, inputs)}
        types = {port.name: port.element_type for port in self._session.inputs}
        for name, value in inputs.items():
            if types.get(name) == "bfloat16" and getattr(value, "dtype", None) == numpy.float32:
                inputs = {**inputs, name: _bits_of_bfloat16(value)}
        outputs = self._session.run(inputs)
        for port in self._session.outputs:
            if port.element_type == "bfloat16" and not HOLDS_BITS:
                outputs[port.name] = _from_bfloat16(outputs[port.name])
        names = [port.name for port in self._session.outputs]
        return namedtupledict("Outputs", names)(*[outputs[name] for name in names])


class IngotBackend(Backend):
    """See onnx.backend.base.Backend."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        if not cls.supports_device(device):
            raise ValueError(f"Ingot runs on CPU, not on {device}")
        return IngotRep(model, **kwargs)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """One node, by the types of the values that are given."""
        arrays = [numpy.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        ports = [helper.make_tensor_value_info(name, helper.mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype], value.shape)
                 for name, value in zip(names, arrays)]
        made = [helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = helper.make_graph([node], "node", ports, made)
        imports = [helper.make_opsetid(node.domain, kwargs.pop("opset_version", onnx.defs.onnx_opset_version()))]
        model = helper.make_model(graph, opset_imports=imports)
        model = onnx.shape_inference.infer_shapes(model)
        return cls.run_model(model, dict(zip(names, arrays)), device, **kwargs)

    @classmethod
    def supports_device(cls, device):
        return Device(device).type == DeviceType.CPU


is_compatible = IngotBackend.is_compatible
prepare = IngotBackend.prepare
run = IngotBackend.run_model
run_model = IngotBackend.run_model
run_node = IngotBackend.run_node
supports_device = IngotBackend.supports_device

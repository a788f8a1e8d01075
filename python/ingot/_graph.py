"""Building models node by node."""
from __future__ import annotations

from typing import Any, Sequence, Tuple, Union

import numpy

from . import _ingot


class Value:
    """What a node makes. Arithmetic on values adds nodes: x * 2 + y."""

    __array_ufunc__ = None  # numpy leaves arithmetic to us

    def __init__(self, graph: "Graph", ref: Any):
        self._graph, self._ref = graph, ref

    def __add__(self, other):
        return self._graph.Add(self, other)

    def __radd__(self, other):
        return self._graph.Add(other, self)

    def __sub__(self, other):
        return self._graph.Sub(self, other)

    def __rsub__(self, other):
        return self._graph.Sub(other, self)

    def __mul__(self, other):
        return self._graph.Mul(self, other)

    def __rmul__(self, other):
        return self._graph.Mul(other, self)

    def __truediv__(self, other):
        return self._graph.Div(self, other)

    def __rtruediv__(self, other):
        return self._graph.Div(other, self)

    def __matmul__(self, other):
        return self._graph.MatMul(self, other)

    def __rmatmul__(self, other):
        return self._graph.MatMul(other, self)

    def __pow__(self, other):
        return self._graph.Pow(self, other)

    def __rpow__(self, other):
        return self._graph.Pow(other, self)

    def __abs__(self):
        return self._graph.Abs(self)

    def __bool__(self):
        raise TypeError("what a value of a graph is, is known when the model runs; see the operators If and Where")

    def __neg__(self):
        return self._graph.Neg(self)


class Graph:
    """Builds a model.

    >>> g = ingot.Graph(opset=21)
    >>> x = g.input("x", "float32", ["N", 4])
    >>> g.output("y", g.Softmax(x @ weights, axis=-1))
    >>> model = g.build()

    Every operator of ONNX is a method: inputs in order (None: left out), attributes by name, `outputs=2` where a node
    makes more than one value. Arrays among the inputs become initializers, numbers become scalars of float32 unless
    they are numpy's own. `ai.onnx.ml` operators are `g.node("ai.onnx.ml.Scaler", ...)`.
    """

    def __init__(self, opset: int = 21, name: str = "graph"):
        self._builder = _ingot.ModelBuilder(opset, name)
        self._constants = 0
        self._is_built = False

    def import_opset(self, domain: str, version: int) -> None:
        """Imports another domain, whose operators node() takes."""
        self._builder.import_opset(domain, version)

    def input(self, name: str, dtype: Any, shape: Sequence[Union[int, str, None]] = None) -> Value:
        """An input; a dimension is a number, a name, or None where it is not known."""
        return Value(self, self._builder.input(name, dtype, shape))

    def initializer(self, name: str, value: Any) -> Value:
        """A weight."""
        return Value(self, self._builder.initializer(name, numpy.asarray(value)))

    def output(self, name: str, value: Value) -> None:
        """Makes the value an output of the model, under this name."""
        if not isinstance(value, Value):
            raise TypeError(f"output '{name}' is to be a Value of this graph, not {type(value).__name__}")
        self._builder.output(name, value._ref)

    def node(self, op: str, *inputs: Any, outputs: int = 1, name: str = "",
             **attributes: Any) -> Union[Value, Tuple[Value, ...]]:
        """A node; `name` is that of its output."""
        made = self._builder.node(op, [self._ref(value) for value in inputs], outputs, attributes, name)
        values = tuple(Value(self, ref) for ref in made)
        return values[0] if outputs == 1 else values

    def build(self) -> "_ingot.Model":
        """The model with types inferred, and checked: one error lists every problem. A graph is built once."""
        if self._is_built:
            _ingot.refuse("bad_usage", "the graph is built already", "keep what build() returned, or begin a new one")
        self._is_built = True
        return self._builder.build()

    def _ref(self, value):
        if value is None or isinstance(value, Value):
            return None if value is None else value._ref
        if isinstance(value, (int, float)) and not isinstance(value, (bool, numpy.generic)):
            value = numpy.float32(value)
        self._constants += 1
        return self._builder.initializer(f"constant_{self._constants}", numpy.asarray(value))

    def __getattr__(self, op: str):
        if op.startswith("_") or not op[:1].isupper():
            raise AttributeError(op)
        return lambda *inputs, **attributes: self.node(op, *inputs, **attributes)

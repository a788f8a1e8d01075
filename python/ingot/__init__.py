"""Ingot carries machine-learning models between frameworks through ONNX and keeps them alive on the other side.

    >>> import ingot
    >>> model = ingot.load("model.tflite")                  # any format that Ingot reads
    >>> ingot.Session(model).run({"x": x})["y"]             # numpy in, numpy out
    >>> ingot.convert("model.tflite", "model.onnx").verified

Models do not change: what changes models returns new ones. Long work releases the interpreter's lock, and Ctrl-C ends
it. Whatever goes wrong is an ingot.Error with code, node and hint. docs/python.md is the guide.
"""
from __future__ import annotations

import contextlib as _contextlib
import os as _os
import tempfile as _tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _columns, _ingot
from ._graph import Graph, Value
from ._ingot import (FirstDifference, Function, Model, Node, OutputVerdict, Port, Problem, Report, Subgraph, Verdict,
                     __version__)
from ._sparse import SparseTensor
from .errors import (BugError, DivergedError, Error, FileError, InputError, LimitError, NoError, UnsupportedError,
                     UsageError)

__all__ = [
    "BugError", "DivergedError", "Error", "FileError", "FirstDifference", "Function", "Graph", "InputError",
    "LimitError", "Model", "NoError", "Node", "OutputVerdict", "Port", "Problem", "Report", "Session", "SparseTensor",
    "Subgraph", "Trainer", "UnsupportedError", "UsageError", "Value", "Verdict", "check", "convert", "convert_version",
    "evaluate", "formats", "infer_shapes", "load", "optimize", "parse", "random_inputs", "save", "verify",
]

_Source = Union[str, "_os.PathLike[str]", bytes, Model, Any]


def load(source: _Source, format: str = "", *, input_shapes: Optional[Dict[str, Sequence]] = None, checked: bool = True,
         allow_links: bool = False) -> Model:
    """A model from a file of any format that Ingot reads, from the bytes of one, or from an onnx.ModelProto.

    Weights stay where they are: in the mapped file, or in the bytes. `checked=False` takes models that check() refuses.
    """
    if isinstance(source, Model):
        return source
    if hasattr(source, "SerializeToString"):  # onnx.ModelProto, without importing onnx
        source = source.SerializeToString()
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _ingot.load_bytes(bytes(source), checked)
    return _ingot.load_path(source, format, input_shapes or {}, checked, allow_links)


def parse(text: str) -> Model:
    """A model in the text syntax of ONNX (docs/text.md)."""
    return _ingot.parse(text)


def save(model: _Source, path, **options: Any) -> List[str]:
    """Writes a model, whole or not at all; the extension tells the format. Options as in convert(). Returns notes."""
    return convert(model, path, verify=False, **options).notes


class _Saved:
    """What convert() reports of a model in memory: a Report without a file to compare with."""

    def __init__(self, model, notes, to_format):
        self.model, self.notes = model, notes
        self.from_format, self.to_format = model.format, to_format
        self.verdict = self.verified = None
        self.not_verified = "the source is no file"

    def __repr__(self):
        return f"<ingot.Report {self.from_format} to {self.to_format}, {len(self.notes)} notes>"


def convert(source: _Source, output=None, *, verify: bool = True, **options: Any) -> Union[Report, Model]:
    """From one file to another: format, operator set, shapes, names.

    Options are those of 'ingot convert', with underscores: opset=17, target="ort-1.15", input_shapes={"x": [1, 3]},
    batch="N", rename={"old": "new"}, inputs_as="nchw", auto_cast="up", float16=True, external_data=True, ...

    Between files, what comes from or goes to another framework is run beside its source, if the source's runtime is
    installed: see Report.verified. A model in memory is changed and written as asked. Without `output` the changed
    model is returned.
    """
    is_file = not isinstance(source, (Model, bytes)) and not hasattr(source, "SerializeToString")
    if is_file and output is not None:
        return _ingot.convert_file(source, output, verify, options)
    reading = {name: options.pop(name) for name in ("checked", "allow_links") if name in options}
    changed = _ingot.adjust(load(source, options.pop("from_format", "") if is_file else "", **reading), options)
    if output is None:
        return changed
    notes = changed.notes + _ingot.save(changed, output, options)
    return _Saved(changed, notes, options.get("to_format") or _os.path.splitext(_os.fspath(output))[1].lstrip("."))


def check(model: _Source) -> List[Problem]:
    """Is it valid ONNX? Every problem, with its place; [] if there is none."""
    return _ingot.check(load(model, checked=False))


def infer_shapes(model: _Source) -> Model:
    """The model with the types of all values written down: see Model.values."""
    return _ingot.adjust(load(model), {"infer_types": True})


def convert_version(model: _Source, opset: int) -> Model:
    """The model in another operator set, up or down."""
    return _ingot.adjust(load(model), {"opset": opset})


def optimize(model: _Source, level: str = "extended", *, ignore_nan: bool = False, opset: int = 0) -> Model:
    """A smaller model that means the same. `level` is basic, extended or all; `notes` say what was done."""
    return _ingot.optimize(load(model), level, ignore_nan, opset)


@_contextlib.contextmanager
def _as_file(model):
    if not isinstance(model, (Model, bytes)) and not hasattr(model, "SerializeToString"):
        yield model
        return
    with _tempfile.TemporaryDirectory() as folder:
        path = _os.path.join(folder, "model.onnx")
        _ingot.save(load(model), path, {})
        yield path


def verify(a: _Source, b: Optional[_Source] = None, *, runtimes: Sequence[str] = (), a_runtimes: Sequence[str] = (),
           b_runtimes: Sequence[str] = (), inputs: Sequence[str] = (), seed: int = 1, seeds: int = 0,
           rtol: Optional[float] = None, atol: Optional[float] = None,
           input_shapes: Optional[Dict[str, Sequence]] = None, bisect: bool = True) -> Verdict:
    """Do two models give the same numbers? With one, its own runtime is compared with Ingot.

    `runtimes` names programs for either side ("ort", "tflite", "litert", "tfjs", "ingot"); the first that runs the
    file is taken. A Verdict is true if the answer is 'same'.
    """
    with _as_file(a) as a_file, _as_file(a if b is None else b) as b_file:
        first = list(a_runtimes or runtimes)
        second = list(b_runtimes or (["ingot"] if b is None else runtimes))
        return _ingot.verify(a_file, b_file, first, second, list(inputs), seed, seeds, rtol, atol, input_shapes or {},
                             bisect)


def random_inputs(model: _Source, seed: int = 1) -> Dict[str, Any]:
    """Inputs drawn from a seed, the same on every machine; sizes that the model leaves open are 1."""
    return _ingot.random_inputs(load(model), seed)


def formats() -> List[Tuple[str, str, bool, bool]]:
    """Name, title, whether it can be read, whether it can be written."""
    return _ingot.formats()


class Session:
    """A model that is ready to run, any number of times and from several threads at once."""

    def __init__(self, model: _Source, *, threads: int = 0, fast: bool = True, max_memory: int = 0,
                 checked: bool = True):
        """`threads=0`: as many as the machine runs at once; `fast=False`: reference kernels only; `checked=False` tries
        models that `check` refuses."""
        self._session = _ingot.Session(load(model, checked=checked), threads, fast, max_memory, checked)
        self.inputs: List[Port] = self._session.inputs
        self.outputs: List[Port] = self._session.outputs

    def run(self, feeds: Any, *, draw: int = 0, copy: bool = True) -> Dict[str, Any]:
        """Outputs by name.

        `feeds` holds inputs by name: numpy arrays, anything with __array__ or __dlpack__, numbers and lists; lists and
        dictionaries for sequences and maps, None for an absent optional. An array must have the input's own type. Or it
        is a table: a pandas DataFrame, or vectors for a model with one input per column. A single array is that of the
        only input. With `copy=False` outputs are read-only and may be memory of an input or a weight.
        """
        return self._session.run(self._feeds(feeds), draw, copy)

    def __call__(self, *inputs: Any) -> Any:
        """Inputs in the model's order; the output, or a tuple of them."""
        outputs = tuple(self.run({port.name: value for port, value in zip(self.inputs, inputs)}).values())
        return outputs[0] if len(outputs) == 1 else outputs

    def profile(self, feeds: Any) -> List[Tuple[str, str, str, float]]:
        """Name, operator, kernel and microseconds of each node of one run."""
        return self._session.profile(self._feeds(feeds))

    def _feeds(self, feeds):
        if _columns.is_table(feeds):
            return _columns.from_table(feeds, self.inputs)
        if isinstance(feeds, dict):
            return _columns.from_columns(feeds, self.inputs)
        if len(self.inputs) != 1:
            raise UsageError(f"the model has inputs {[port.name for port in self.inputs]}: give a dictionary")
        return {self.inputs[0].name: feeds}


class Trainer:
    """A model in training. Not for several threads at once.

    >>> trainer = ingot.Trainer(model, loss="cross_entropy", optimizer="adam", lr=1e-3)
    >>> trainer.fit({"x": x, "y": y}, target="y", batch=64, epochs=5)
    >>> ingot.save(trainer.trained(), "trained.onnx")
    """

    def __init__(self, model: _Source, *, stored: bool = False, **options: Any):
        """Options: loss, optimizer, lr, momentum, weight_decay, trainable, frozen, clip_norm, accumulate, ...; with
        `stored=True` the training information that the model carries is used instead."""
        self._trainer = _ingot.Trainer(load(model), stored, options)

    @property
    def target_name(self) -> str:
        """The input of step() that takes the targets."""
        return self._trainer.target_name

    @property
    def notes(self) -> List[str]:
        """What a user should know of how the model is trained."""
        return self._trainer.notes

    def step(self, batch: Dict[str, Any]) -> float:
        """One step on inputs and targets by name; returns the loss."""
        return self._trainer.step(batch)

    def fit(self, data: Any, target: str = "", *, on_step: Optional[Callable[[int, int, float, float], Any]] = None,
            on_epoch: Optional[Callable[[int, float], Optional[float]]] = None, **options: Any) -> Dict[str, Any]:
        """Trains from where it stands, on arrays by name, a DataFrame, or a file that 'ingot train' takes.

        on_step(step, steps, loss, lr) may return False to end the run; on_epoch(epoch, mean_loss) may return what the
        epoch is judged by. Options: batch, epochs, steps, seed, shuffle, lr, schedule, warmup, checkpoints, resume,
        patience, ... Ctrl-C ends the run after the step at hand.
        """
        if _columns.is_table(data):
            data = {name: data[name].to_numpy() for name in data.columns}
        return self._trainer.fit(data, target, on_step, on_epoch, options)

    def trained(self, with_training: bool = False) -> Model:
        """The model with the weights as they are now."""
        return self._trainer.trained(with_training)


def evaluate(model: _Source, data: Any, target: str, loss: str = "cross_entropy", *, batch: int = 256,
             prediction: str = "") -> Dict[str, Any]:
    """What a model says of data: the mean loss and, by the kind of targets, accuracy, errors and so on."""
    if _columns.is_table(data):
        data = {name: data[name].to_numpy() for name in data.columns}
    return _ingot.evaluate(load(model), data, target, loss, batch, prediction)

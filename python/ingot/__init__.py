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

from . import _columns, _ingot, _pages
from ._graph import Graph, Value
from ._ingot import (Agreement, Compiled, Difference, Fallback, FirstDifference, Function, Model, Node, OutputVerdict, Part, Partition, Port,
                     Problem, Quantized, Report, Subgraph, Verdict, WeightDifference, __version__)
from ._sparse import SparseTensor
from .errors import (BugError, DivergedError, Error, FileError, InputError, LimitError, NoError, UnsupportedError,
                     UsageError)

__all__ = [
    "Agreement", "BugError", "Compiled", "Difference", "DivergedError", "Error", "Fallback", "FileError",
    "FirstDifference", "Function", "Graph", "InputError", "LimitError", "Model", "NoError", "Node", "OutputVerdict",
    "Part", "Partition", "Port", "Problem", "Quantized", "Report", "Session", "SparseTensor", "Subgraph", "Trainer",
    "UnsupportedError", "UsageError", "Value", "Verdict", "WeightDifference", "check", "compile", "compile_targets",
    "convert", "convert_options", "convert_version", "diff", "evaluate", "explain", "extract", "formats",
    "infer_shapes", "load", "load_plugin", "merge", "optimize", "parse", "partition", "quantize", "random_inputs",
    "rename", "report", "save", "split", "targets", "verify", "zoo_report",
]

def __dir__() -> List[str]:
    return sorted([*__all__, "errors", "__doc__", "__version__"])


for _name in __all__:  # the shared object is nothing that its user should have to know
    if getattr(globals().get(_name), "__module__", "") == _ingot.__name__:
        globals()[_name].__module__ = __name__

_Source = Union[str, "_os.PathLike[str]", bytes, Model, Any]


def _unpickled(data):
    return _ingot.load_bytes(data, {"checked": False, "from_format": "onnx"})


# Models do not change, so a copy is the model itself; to another process they go as ONNX.
Model.__copy__ = lambda self: self
Model.__deepcopy__ = lambda self, memo: self
Model.__reduce__ = lambda self: (_unpickled, (self.to_bytes(),))


def load(source: _Source, format: str = "", *, checked: bool = True, **options: Any) -> Model:
    """A model from a file of any format that Ingot reads, from the bytes of one or an open file, or from an onnx.ModelProto.

    Weights stay where they are: in the mapped file, or in the bytes. `checked=False` takes models that check() refuses.
    Options are those of convert() that say how a file is read: input_shapes={"x": [1, 3]}, signature="serve",
    precision="float32", input_types={"x": "int64"}, schema={"age": "int"}, allow_links=True, ...
    """
    if isinstance(source, Model):
        if options or format:
            _ingot.refuse("bad_usage", "what says how a file is read means nothing of a model in memory")
        return source
    options = {**options, "checked": checked, "from_format": format or None}
    if hasattr(source, "SerializeToString"):  # onnx.ModelProto, without importing onnx
        source = source.SerializeToString()
    if hasattr(source, "read"):  # a file that is open
        source = source.read()
        if isinstance(source, str):
            _ingot.refuse("bad_usage", "the file is open as text", 'open(path, "rb") reads bytes')
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _ingot.load_bytes(bytes(source), options)
    return _ingot.load_path(source, options)


def parse(text: str) -> Model:
    """A model in the text syntax of ONNX (docs/text.md)."""
    return _ingot.parse(text)


def save(model: _Source, path, **options: Any) -> List[str]:
    """Writes a model, whole or not at all; the extension tells the format. Options as in convert(). Returns notes."""
    return convert(model, path, verify=False, **options).notes


def _is_in_memory(source):
    return (isinstance(source, (Model, bytes, bytearray, memoryview)) or hasattr(source, "SerializeToString")
            or hasattr(source, "read"))


def convert(source: _Source, output=None, *, verify: bool = True, verify_inputs: Sequence[str] = (),
            seed: Optional[int] = None, seeds: Optional[int] = None, peers=None,
            on_progress: Optional[Callable[[str], Any]] = None, **options: Any) -> Union[Report, Model]:
    """From one file to another: format, operator set, shapes, names.

    Options are those of 'ingot convert', with underscores: opset=17, target="ort-1.15", input_shapes={"x": [1, 3]},
    batch="N", rename={"old": "new"}, inputs_as="nchw", auto_cast="up", float16=True, external_data=True, ...;
    convert_options() names all of them.

    Between files, what comes from or goes to another framework is run beside its source, if the source's runtime is
    installed: see Report.verified; verify_inputs, seed and seeds say on which inputs. A model in memory is changed and
    written as asked. Without `output` the changed model is returned. on_progress(stage) is told what begins: "read",
    "convert", "write", "verify"; what it raises ends the conversion.
    """
    if not _is_in_memory(source):
        if output is None:
            return _ingot.changed_file(source, options)
        how = {"verify": verify, "verify_inputs": list(verify_inputs), "seed": seed, "seeds": seeds, "peers": peers}
        return _ingot.convert_file(source, output, how, on_progress, options)
    model = load(source, checked=options.pop("checked", True))
    report = _ingot.convert_model(model, output, options)
    return report.model if output is None else report


def convert_options() -> List[str]:
    """The names of the options of convert()."""
    return _ingot.convert_options()


def check(model: _Source) -> List[Problem]:
    """Is it valid ONNX? Every problem, with its place; [] if there is none."""
    return _ingot.check(load(model, checked=False))


def infer_shapes(model: _Source) -> Model:
    """The model with the types of all values written down: see Model.values."""
    return _ingot.convert_model(load(model), None, {"infer_types": True}).model


def convert_version(model: _Source, opset: int) -> Model:
    """The model in another operator set, up or down."""
    return _ingot.convert_model(load(model), None, {"opset": opset}).model


def optimize(model: _Source, level: str = "extended", *, ignore_nan: bool = False, opset: int = 0) -> Model:
    """A smaller model that means the same. `level` is basic, extended or all; `notes` say what was done."""
    return _ingot.optimize(load(model), level, ignore_nan, opset)


def extract(model: _Source, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> Model:
    """What lies between the values named, as a model; [] stands for the model's own inputs or outputs."""
    return _ingot.extract(load(model), _names(inputs), _names(outputs))


def split(model: _Source, *, at: Sequence[Union[str, Sequence[str]]] = (), size: int = 0, parts: int = 0,
          stages: bool = False) -> Dict[str, Model]:
    """Models by name that run one after the other: what one gives and a later one needs has the same name in both.

    Give one of: `at`, values to cut behind (["a", ["b", "c"]] are two cuts); `size`, at most so many bytes of weights
    in a part; `parts`, so many of about equal weights; `stages`, those that the nodes name.
    """
    cuts = [_names(cut) for cut in at]
    return dict(_ingot.split(load(model), cuts, size, parts, stages))


def merge(a: _Source, b: _Source, connect: Optional[Dict[str, str]] = None, *, share_inputs: bool = False,
          prefix_a: str = "", prefix_b: str = "", outputs: Sequence[str] = ()) -> Model:
    """Two models become one: connect={"y": "x"} gives output y of `a` to input x of `b`; else those of the same name.

    Names inside that both have are kept apart, and `notes` tells; for inputs and outputs that both have, name a prefix,
    or `share_inputs`. `outputs` are those of the result, by their names in it.
    """
    return _ingot.merge(load(a), load(b), connect or {}, share_inputs, prefix_a, prefix_b, _names(outputs))


def rename(model: _Source, names: Optional[Dict[str, str]] = None, *,
           dims: Optional[Dict[str, Union[str, int]]] = None, prefix: str = "") -> Model:
    """Other names for values, {"old": "new"}, and for dimensions: dims={"batch": "N"}, or a size, {"batch": 1}.

    `prefix` is put before the names of nodes and of all values but inputs and outputs.
    """
    if not names and not dims and not prefix:
        _ingot.refuse("bad_usage", "nothing is renamed", "give names, dims or prefix")
    return _ingot.rename(load(model), names or {}, dims or {}, prefix)


def diff(a: _Source, b: _Source, *, report=None) -> Difference:
    """What two models say differently: operators, attributes, shapes, weights; verify() tells what they compute.

    `report` names a page to write, with both graphs side by side.
    """
    a, b = (load(model) if _is_in_memory(model) else model for model in (a, b))  # an open file is read once
    if report is not None:
        with _as_file(a) as a_file, _as_file(b) as b_file:
            _pages.run_program(["diff", a_file, b_file, "--report", report], allowed=[1])
    return _ingot.diff(load(a), load(b))


def compile(model: _Source, output, *, emit: str = "cpp", input_shapes: Optional[Dict[str, Sequence]] = None,
            target: str = "", weights: str = "", threads: bool = False, no_alloc: bool = False,
            float16_weights: bool = False, profile: bool = False, test: bool = True) -> Compiled:
    """The model as source code that needs nothing but a compiler: output="out/net" writes out/net.h, out/net.cpp, ...

    `emit` is one of compile_targets(); docs/compile.md tells what they and the other words mean.
    """
    return _ingot.compile(load(model), output, input_shapes or {}, emit, target, weights, threads, no_alloc,
                          float16_weights, profile, test)


def compile_targets() -> List[str]:
    """What compile() can emit."""
    return _ingot.compile_targets()


def _names(names):
    """Names of values; a single one may stand for itself."""
    return [names] if isinstance(names, str) else [str(name) for name in names]


def quantize(model: _Source, data: Any = None, *, hold_back: float = 0.2, batch: int = 16, samples: int = 256,
             random: int = 0, on_progress: Optional[Callable[[int, int], Any]] = None, method: str = "static",
             form: Optional[str] = None, calibration: str = "minmax", percentile: float = 99.99,
             activations: str = "int8", weights: Optional[str] = None, bits: int = 8, block: int = 0, opset: int = 0,
             per_tensor: bool = False, symmetric: bool = False, full_range: bool = False, only: Sequence[str] = (),
             exclude: Sequence[str] = ()) -> Quantized:
    """The model in integers, judged beside the one in floats; docs/quantize.md tells what the words mean.

    `data` is what ranges are found on: arrays by the names of inputs, a DataFrame, or a file that 'ingot train' takes.
    A part of it is held back, and both models run on it: see Quantized.outputs. The methods "dynamic" and "weights"
    need none; `random=32` draws inputs, to try it out. on_progress(done, total) counts batches.
    """
    data = _columns.as_arrays(data)
    words = {"method": method, "form": form, "calibration": calibration, "percentile": percentile,
             "activations": activations, "weights": weights, "bits": bits, "block": block, "opset": opset,
             "per_tensor": per_tensor, "symmetric": symmetric, "full_range": full_range, "only": list(only),
             "exclude": list(exclude)}
    return _ingot.quantize(load(model), data, hold_back, batch, samples, random, on_progress, words)


def partition(model: _Source, targets: Sequence[str], *, min_nodes: int = 1, functions: bool = False) -> Partition:
    """The model divided among targets, the preferred ones first: each part, and what falls back, why.

    A target is a name of targets(), or a file (docs/partition.md). With `functions=True`, Partition.model is the whole
    model with a function per part.
    """
    return _ingot.partition(load(model), [str(target) for target in targets], min_nodes, functions)


def targets() -> List[str]:
    """The targets that have a name: runtimes, formats, and 'ingot' itself."""
    return _ingot.targets()


def load_plugin(path) -> None:
    """Loads a shared library with more operators, formats or targets (docs/plugins.md); it runs in this process."""
    _ingot.load_plugin(path)


@_contextlib.contextmanager
def _as_file(model):
    if not _is_in_memory(model):
        yield model
        return
    with _tempfile.TemporaryDirectory() as folder:
        path = _os.path.join(folder, "model.onnx")
        _ingot.convert_model(load(model), path, {})
        yield path


def verify(a: _Source, b: Optional[_Source] = None, *, runtimes: Sequence[str] = (), a_runtimes: Sequence[str] = (),
           b_runtimes: Sequence[str] = (), inputs: Sequence[str] = (), seed: int = 1, seeds: int = 0,
           rtol: Optional[float] = None, atol: Optional[float] = None,
           input_shapes: Optional[Dict[str, Sequence]] = None, bisect: bool = True) -> Verdict:
    """Do two models give the same numbers? With one, its own runtime is compared with Ingot.

    `runtimes` names programs for either side ("ort", "tflite", "litert", "tfjs", "ingot"); the first that runs the
    file is taken. A Verdict is true if the answer is 'same'.
    """
    with _as_file(a) as a_file, _as_file(a_file if b is None else b) as b_file:
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


def explain(code: str) -> str:
    """What the code of an error means, and what to do about it: explain("IG0312"); 312 and bad_name are the same."""
    code, name, exit_code, meaning, remedy = _ingot.explain(str(code))
    return f"{code} {name}: {meaning}\nwhat to do: {remedy}\nexit code: {exit_code}"


def report(models: Union[_Source, Sequence[_Source]], output, *, verify: bool = False, training=None,
           input_shapes: Optional[Dict[str, Sequence]] = None, statistics: bool = True, peers=None
           ) -> List[Dict[str, str]]:
    """A page per model to look at and send on (docs/report.md), in the folder `output`: graph, layers, weights, facts.

    Returns a dictionary for each: "model" and "file" or, of several models, "problem" where one has no page.
    """
    many = list(models) if isinstance(models, (list, tuple)) else [models]
    with _contextlib.ExitStack() as files:
        paths = [files.enter_context(_as_file(model)) for model in many]
        words = _pages.options(verify=verify, training=training, no_statistics=not statistics, peers=peers)
        words += _pages.shapes(input_shapes)
        return _pages.run_program(["report", *paths, "-o", output, *words], allowed=range(2, 7))["pages"]


def zoo_report(directory, output, *, verify: bool = True, anew: bool = False, threads: int = 1,
               model_memory: str = "4G", model_seconds: float = 300, peers=None) -> List[Dict[str, Any]]:
    """Every model of a directory tree: read, converted, verified. A dictionary for each, and a page in `output`.

    A run that was interrupted goes on where it stopped; files that did not change are not looked at again, unless
    `anew`.
    """
    words = _pages.options(no_verify=not verify, anew=anew, threads=threads, model_memory=model_memory,
                           model_seconds=model_seconds, peers=peers)
    return _pages.run_program(["zoo-report", directory, "-o", output, *words], allowed=[1])["models"]


class Session:
    """A model that is ready to run, any number of times and from several threads at once."""

    def __init__(self, model: _Source, *, threads: int = 0, fast: bool = True, max_memory: int = 0,
                 checked: bool = True):
        """`threads=0`: as many as the machine runs at once; `fast=False`: reference kernels only; `checked=False` tries
        models that `check` refuses."""
        model = load(model, checked=checked)
        self._made_of = (model, threads, fast, max_memory, checked)
        self._session = _ingot.Session(model, threads, fast, max_memory, checked)
        self.inputs: List[Port] = self._session.inputs
        self.outputs: List[Port] = self._session.outputs

    def __reduce__(self):
        return _session_of, self._made_of

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
        if len(inputs) > len(self.inputs):
            _ingot.refuse("bad_usage", f"{len(inputs)} inputs are given, and the model has {len(self.inputs)}")
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
            _ingot.refuse("bad_usage", f"the model has inputs {[port.name for port in self.inputs]}", "give a dictionary")
        return {self.inputs[0].name: feeds}


def _session_of(model, threads, fast, max_memory, checked):
    return Session(model, threads=threads, fast=fast, max_memory=max_memory, checked=checked)


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
        data = _columns.as_arrays(data)
        return self._trainer.fit(data, target, on_step, on_epoch, options)

    def trained(self, with_training: bool = False) -> Model:
        """The model with the weights as they are now."""
        return self._trainer.trained(with_training)


def evaluate(model: _Source, data: Any, target: str, loss: str = "cross_entropy", *, batch: int = 256,
             prediction: str = "") -> Dict[str, Any]:
    """What a model says of data: the mean loss and, by the kind of targets, accuracy, errors and so on."""
    data = _columns.as_arrays(data)
    return _ingot.evaluate(load(model), data, target, loss, batch, prediction)

"""Tables as inputs: pandas frames and dictionaries of columns, by the inputs that a model has."""
import numpy

from . import _ingot


def is_table(value):
    """Whether this is a pandas DataFrame, or looks like one."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__") and hasattr(value, "iloc")


def _is_series(value):
    return hasattr(value, "iloc") and hasattr(value, "to_numpy")


def _is_missing(value):
    """None, NaN and pandas.NA, which is not even equal to itself in a way that is true or false."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def _as_dtype(series, name, port):
    """The column in the type of the input, where no value changes by more than rounding to that type. What is missing
    is NaN, and the empty text."""
    column = series.to_numpy()
    if port.dtype == numpy.dtype(object):
        return numpy.array(["" if _is_missing(value) else str(value) for value in column], object)
    if column.dtype == port.dtype:
        return column
    if column.dtype == object and port.dtype.kind == "f":
        column = numpy.array([numpy.nan if _is_missing(value) else value for value in column], object)
    wanted = None
    try:
        with numpy.errstate(invalid="ignore", over="ignore"):
            wanted = column.astype(port.dtype)
    except (TypeError, ValueError):
        pass
    if wanted is None:
        _ingot.refuse("bad_input", f"column '{name}' holds values that are no {port.element_type}")
    is_rounding = column.dtype.kind in "fO" and port.dtype.kind == "f"
    is_kept = (numpy.isinf(wanted) == numpy.isinf(column.astype(float))).all() if is_rounding else (wanted == column).all()
    if not is_kept:
        _ingot.refuse("bad_input", f"column '{name}' holds values that {port.element_type} does not have")
    return wanted


def as_arrays(data):
    """A table as {column: array}: what pandas marks as missing is NaN, and the empty text; else as it is given."""
    return {name: _plain(data[name]) for name in data.columns} if is_table(data) else data


def _plain(series):
    """The column in a type of numpy's own: of pandas' nullable types and categories, what they hold."""
    column = series.to_numpy()
    if column.dtype != object:
        return column
    present = [value for value in column if not _is_missing(value)]
    if not all(isinstance(value, (bool, int, float, numpy.number, numpy.bool_)) for value in present):
        return numpy.array(["" if _is_missing(value) else str(value) for value in column], object)
    if len(present) == len(column):
        return numpy.array(present)
    return numpy.array([numpy.nan if _is_missing(value) else float(value) for value in column])


def _takes_column(port):
    """Whether it is a matrix that may have one column."""
    return port.shape is not None and len(port.shape) == 2 and not (isinstance(port.shape[1], int) and port.shape[1] != 1)


def _shaped(column, port):
    """A value per row, in the rank that the input has."""
    if port.shape is None or len(port.shape) == 1:
        return column
    if _takes_column(port):
        return column.reshape(-1, 1)
    _ingot.refuse("bad_input", f"input '{port.name}' is {port.type}: it does not take one value per row")


def from_table(frame, inputs):
    """{input: array}. A model with an input per column gets them by name; one with a single input gets all of them as
    a matrix, in the order of the table."""
    names = [port.name for port in inputs if not port.has_default]
    columns = list(frame.columns)
    ports = {port.name: port for port in inputs}
    if len(names) == 1 and names[0] not in columns:
        port = ports[names[0]]
        return {port.name: numpy.stack([_as_dtype(frame[c], c, port) for c in columns], axis=1)}
    missing = [name for name in names if name not in columns]
    if missing:
        _ingot.refuse("bad_input", f"the table has no columns {missing}; the model has inputs {names}")
    return {name: _shaped(_as_dtype(frame[name], name, ports[name]), ports[name]) for name in columns if name in ports}


def from_columns(feeds, inputs):
    """A dictionary of columns for a model whose inputs are matrices of one column each: [n] becomes [n, 1]. Columns of
    pandas are converted as those of a table are; lists have no type of their own."""
    ports = {port.name: port for port in inputs}

    def shaped(name, value):
        port = ports.get(name)
        if port is None or not port.type or port.shape is None and not _is_series(value):
            return value
        if _is_series(value):
            return _shaped(_as_dtype(value, name, port), port)
        if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (list, tuple, numpy.ndarray)):
            value = numpy.asarray(value, port.dtype) if _takes_column(port) else value
        if not isinstance(value, numpy.ndarray) or value.ndim != 1 or not _takes_column(port):
            return value
        return value.reshape(-1, 1)

    return {name: shaped(name, value) for name, value in feeds.items()}

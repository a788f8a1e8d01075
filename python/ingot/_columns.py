"""Tables as inputs: pandas frames and dictionaries of columns, by the inputs that a model has."""
import numpy


def is_table(value):
    """Whether this is a pandas DataFrame, or looks like one."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__") and hasattr(value, "iloc")


def _as_dtype(column, port):
    """The column in the type of the input, where no value changes by more than rounding to that type."""
    if column.dtype == port.dtype:
        return column
    if port.dtype == numpy.dtype(object):
        return column.astype(str).astype(object)
    wanted = column.astype(port.dtype)
    is_rounding = column.dtype.kind == "f" and port.dtype.kind == "f"
    if not is_rounding and not (wanted == column).all():
        raise ValueError(f"column '{port.name}' holds values that {port.element_type} does not have")
    return wanted


def _shaped(column, port):
    """A value per row, in the rank that the input has."""
    rank = 1 if port.shape is None else len(port.shape)
    if rank == 1:
        return column
    if rank == 2 and port.shape[1] in (1, None) or isinstance(port.shape[-1], str):
        return column.reshape(-1, 1)
    raise ValueError(f"input '{port.name}' is {port.type}: it does not take one value per row")


def from_table(frame, inputs):
    """{input: array}. A model with an input per column gets them by name; one with a single input gets all of them as
    a matrix, in the order of the table."""
    names = [port.name for port in inputs if not port.has_default]
    columns = list(frame.columns)
    if len(names) == 1 and names[0] not in columns:
        port = inputs[0]
        return {port.name: numpy.stack([_as_dtype(frame[c].to_numpy(), port) for c in columns], axis=1)}
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"the table has no columns {missing}; the model has inputs {names}")
    ports = {port.name: port for port in inputs}
    return {name: _shaped(_as_dtype(frame[name].to_numpy(), ports[name]), ports[name]) for name in columns
            if name in ports}


def from_columns(feeds, inputs):
    """A dictionary of vectors for a model whose inputs are matrices of one column each: [n] becomes [n, 1]."""
    ports = {port.name: port for port in inputs}

    def shaped(name, value):
        port = ports.get(name)
        if port is None or not isinstance(value, numpy.ndarray) or value.ndim != 1 or port.shape is None:
            return value
        takes_column = len(port.shape) == 2 and port.shape[1] == 1
        return value.reshape(-1, 1) if takes_column else value

    return {name: shaped(name, value) for name, value in feeds.items()}

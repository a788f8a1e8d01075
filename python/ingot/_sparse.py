"""Sparse tensors, which numpy does not have."""
from typing import NamedTuple, Tuple

import numpy


class SparseTensor(NamedTuple):
    """Coordinate form: values [n], indices [n] (linear) or [n, rank], and the dense shape."""

    values: numpy.ndarray
    indices: numpy.ndarray
    shape: Tuple[int, ...]

    def to_dense(self) -> numpy.ndarray:
        """The same as an ordinary array."""
        dense = numpy.zeros(self.shape, self.values.dtype)
        if self.indices.ndim == 1:
            dense.reshape(-1)[self.indices] = self.values
        else:
            dense[tuple(self.indices.T)] = self.values
        return dense

"""Writes fitted estimators as skops does: an archive of arrays with a tree of their owners in schema.json.

skops itself is no package of Debian; this follows what its files of protocol 2 hold. What it does not know raises
NotImplementedError.
"""
import io
import json
import types
import zipfile

import numpy as np
from scipy import sparse


class Writer:
    def __init__(self, archive):
        self.archive, self.count, self.kept = archive, 0, []

    def member(self, data, suffix):
        self.count += 1
        name = f"{self.count}.{suffix}"
        self.archive.writestr(name, data)
        return name

    def array(self, value):
        if value.dtype == object:
            return {"__loader__": "NdArrayNode", "type": "json", "content": self.node(value.tolist())["content"],
                    "shape": self.node(value.shape)}
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        return {"__loader__": "NdArrayNode", "type": "numpy", "file": self.member(buffer.getvalue(), "npy")}

    def matrix(self, value):
        buffer = io.BytesIO()
        sparse.save_npz(buffer, value)
        return {"__loader__": "SparseMatrixNode", "type": "scipy", "file": self.member(buffer.getvalue(), "npz")}

    def dictionary(self, value):
        items = {key.item() if isinstance(key, np.generic) else key: self.node(one) for key, one in value.items()}
        return {"__loader__": "DictNode", "content": items, "key_types": self.node([type(key) for key in value])}

    def compiled(self, value):
        """A class of Cython: what __reduce__ says of it."""
        reduced = value.__reduce__()
        if reduced[0] is type(value):
            args, state = reduced[1], reduced[2] if len(reduced) > 2 else {}
        elif reduced[0].__name__.startswith("__pyx_unpickle"):
            args, state = reduced[1][2] or (), reduced[2] if len(reduced) > 2 else {}
        else:
            raise NotImplementedError(type(value).__name__)
        return {"__loader__": "TreeNode" if type(value).__name__ == "Tree" else "LossNode",
                "__reduce__": {"args": self.node(args)}, "content": self.node(state)}

    def body(self, value):
        if isinstance(value, np.random.RandomState):
            return {"__loader__": "RandomStateNode"}
        if isinstance(value, (np.ndarray, np.generic)):
            return self.array(np.asarray(value))
        if sparse.issparse(value):
            return self.matrix(value)
        if isinstance(value, dict):
            return self.dictionary(value)
        if isinstance(value, (list, tuple, set)):
            kind = "List" if isinstance(value, list) else "Set" if isinstance(value, set) else "Tuple"
            return {"__loader__": f"{kind}Node", "content": [self.node(one) for one in value]}
        if isinstance(value, slice):
            return {"__loader__": "SliceNode",
                    "content": {"start": value.start, "stop": value.stop, "step": value.step}}
        if isinstance(value, (bytes, bytearray)):
            return {"__loader__": "BytesNode", "file": self.member(bytes(value), "bin")}
        if not hasattr(value, "__dict__"):
            return self.compiled(value)
        return {"__loader__": "ObjectNode", "content": self.node(value.__getstate__())}

    def node(self, value):
        self.kept.append(value)  # so that no other gets its id
        if isinstance(value, (type, types.FunctionType, np.ufunc)):
            loader = "TypeNode" if isinstance(value, type) else "FunctionNode"
            return {"__class__": value.__name__, "__module__": getattr(value, "__module__", None) or "numpy",
                    "__loader__": loader, "__id__": id(value)}
        if value is None or isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic):
            return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode",
                    "content": json.dumps(value), "is_json": True, "__id__": id(value)}
        about = {"__class__": type(value).__name__, "__module__": type(value).__module__, "__id__": id(value)}
        return {**about, **self.body(value)}


def dump(estimator, file):
    with zipfile.ZipFile(file, "w") as archive:
        tree = Writer(archive).node(estimator)
        archive.writestr("schema.json", json.dumps({**tree, "protocol": 2, "_skops_version": "0.11"}, indent=2))

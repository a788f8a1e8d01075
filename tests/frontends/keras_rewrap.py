"""Files that TF.js cannot load as they stand, written again in words that it has, by h5py alone.

Keras 1 names settings, layers and weights otherwise and keeps the gates of an LSTM apart; Theano's convolutions turn
their kernels around; TF.js knows no regularizers of newer versions and no causal padding.
"""
import json
import pathlib

import h5py
import numpy as np

CLASSES = {"Convolution1D": "Conv1D", "Convolution2D": "Conv2D"}
SETTINGS = {"output_dim": "units", "nb_filter": "filters", "border_mode": "padding", "bias": "use_bias", "p": "rate",
            "inner_activation": "recurrent_activation", "subsample": "strides", "pool_length": "pool_size"}
UNUSED = ("_regularizer", "_constraint", "_initializer", "init", "inner_init", "forget_bias_init", "consume_less",
          "dropout_W", "dropout_U", "input_dtype")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def settings_of(layer, version):
    config = {k: v for k, v in layer["config"].items() if not k.endswith(UNUSED)}
    if version > 1:
        return config
    if layer["class_name"] == "Embedding":
        config.pop("dropout", None)
        return config
    config = {SETTINGS.get(k, k): v for k, v in config.items()}
    if layer["class_name"] == "Convolution2D":
        config["kernel_size"] = [config.pop("nb_row"), config.pop("nb_col")]
        config["data_format"] = {"tf": "channels_last", "th": "channels_first"}[config.pop("dim_ordering")]
    if layer["class_name"] == "Convolution1D":
        config["kernel_size"] = [config.pop("filter_length")]
        config["strides"] = [config.pop("subsample_length")]
    if config.get("input_dim") is None:
        config.pop("input_dim", None)
    if "layer" in config:
        config["layer"] = layer_of(config["layer"], version)
    return config


def layer_of(layer, version):
    return {"class_name": CLASSES.get(layer["class_name"], layer["class_name"]), "config": settings_of(layer, version)}


def gates(arrays, names, letters):
    """Gates apart, in the order of saving, as the three matrices of Keras 2."""
    def of(kind):
        return [next(a for a, n in zip(arrays, names) if n.endswith(f"_{kind}_{letter}")) for letter in letters]
    return [np.concatenate(of(kind), axis=-1) for kind in "WUb"]


def weights_of(group, layer, version, turns):
    names = [text(n).removesuffix(":0") for n in group.attrs["weight_names"]]
    arrays = [np.asarray(group[text(n)]) for n in group.attrs["weight_names"]]
    kind = layer["class_name"]
    if version == 1 and kind == "Bidirectional":
        half = len(arrays) // 2
        parts = []
        for side, at in (("forward", 0), ("backward", half)):
            inner = layer["config"]["layer"]
            made = cell(inner["class_name"], arrays[at:at + half], names[at:at + half])
            parts += [(f"{side}_{inner['config']['name']}/{n}", a) for n, a in made]
        return parts
    if version == 1 and kind in ("LSTM", "GRU", "SimpleRNN"):
        return cell(kind, arrays, names)
    words = ["kernel", "bias"] if kind != "Embedding" else ["embeddings"]
    if version > 1 or kind == "BatchNormalization":
        words = [n.rsplit("/", 1)[-1] for n in names]
        if version == 1:
            words = ["gamma", "beta", "moving_mean", "moving_variance"]
    if "Conv" in kind:
        if arrays[0].ndim == 4 and kind == "Convolution1D":
            arrays[0] = arrays[0][:, 0]
        if layer["config"].get("dim_ordering") == "th":
            arrays[0] = arrays[0].transpose(2, 3, 1, 0)
        if turns:
            axes = tuple(range(arrays[0].ndim - 2))
            arrays[0] = np.flip(arrays[0], axes)
    return list(zip(words, arrays))


def cell(kind, arrays, names):
    words = ["kernel", "recurrent_kernel", "bias"]
    if kind == "SimpleRNN":
        return list(zip(words, arrays))
    return list(zip(words, gates(arrays, names, {"LSTM": "ifco", "GRU": "zrh"}[kind])))


def rewrapped(path, directory):
    """Writes a layers-model and returns its file; None: the model is none of these, or is not a Sequential one."""
    with h5py.File(path) as file:
        model = json.loads(text(file.attrs["model_config"]))
        groups = file["model_weights"] if "model_weights" in file else file
        version = int(text(file.attrs.get("keras_version", groups.attrs.get("keras_version", b"1"))).split(".")[0])
        turns = text(file.attrs.get("backend", groups.attrs.get("backend", b"tensorflow"))) == "theano"
        if model["class_name"] != "Sequential" and version == 1:
            return None
        entries, data = [], b""
        for name in groups.attrs["layer_names"]:
            name = text(name)
            layer = next((l for l in layers_of(model) if l["config"]["name"] == name), None)
            if layer is None:
                return None
            for word, array in weights_of(groups[name], layer, version, turns):
                array = np.ascontiguousarray(array, np.float32)
                entries.append({"name": f"{name}/{word}", "dtype": "float32", "shape": list(array.shape)})
                data += array.tobytes()
    if version == 1:
        first = model["config"][0]["config"]
        ahead = {"batch_input_shape": first["batch_input_shape"], "dtype": first["input_dtype"], "sparse": False,
                 "name": first["name"] + "_input"}
        model["config"] = [{"class_name": "InputLayer", "config": ahead}] + [layer_of(layer, version)
                                                                            for layer in model["config"]]
    else:
        for layer in layers_of(model):
            layer["config"] = settings_of(layer, version)
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    (directory / "weights.bin").write_bytes(data)
    (directory / "model.json").write_text(json.dumps({
        "format": "layers-model",
        "modelTopology": {"keras_version": "2.1.6", "backend": "tensorflow", "model_config": model},
        "weightsManifest": [{"paths": ["weights.bin"], "weights": entries}]}))
    return directory / "model.json"


def layers_of(model):
    config = model["config"]
    return config if isinstance(config, list) else config["layers"]

// The files that Python imports: what stands around the code of a graph.
#include "ingot/backends/torch/python_file.h"

#include <fmt/format.h>

namespace ingot::backends::torch {
namespace {

constexpr std::string_view kWeights = R"(TYPES = {
    "BF16": torch.bfloat16,
    "BOOL": torch.bool,
    "F16": torch.float16,
    "F32": torch.float32,
    "F64": torch.float64,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "I8": torch.int8,
    "U8": torch.uint8,
}


def read_weights(path):
    """The tensors of a safetensors file by their names."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        dtype, shape = TYPES[entry["dtype"]], entry["shape"]
        if first == last:
            tensors[name] = torch.empty(shape, dtype=dtype)
        else:
            tensors[name] = torch.frombuffer(data[first:last], dtype=dtype).reshape(shape)
    return tensors


def write_weights(path, tensors):
    """Writes a safetensors file."""
    names = {dtype: name for name, dtype in TYPES.items()}
    header, data = {}, b""
    for name, tensor in tensors.items():
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        raw = bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)
)";

constexpr std::string_view kLoad = R"(

def load(path=None):
    """The model with its weights, which stand beside this file."""
    model = Model()
    model.load_state_dict(read_weights(path or pathlib.Path(__file__).with_name("weights.safetensors")))
    return model.eval()
)";

constexpr std::string_view kLoadStep = R"(

def load(path=None):
    """Training as it stands in the file beside this one, or in another."""
    return TrainStep(read_weights(path or pathlib.Path(__file__).with_name("training.safetensors")))
)";

/// "(self, x: Tensor)", over several lines where it is long.
std::string head_of(std::string_view name, const Signature& signature) {
  std::string one = fmt::format("    def {}(self", name);
  for (const std::string& argument : signature.arguments) one += ", " + argument;
  one += fmt::format(") -> {}:\n", signature.result);
  if (one.size() <= 120) return one;
  std::string made = fmt::format("    def {}(\n        self,\n", name);
  for (const std::string& argument : signature.arguments) made += "        " + argument + ",\n";
  return made + fmt::format("    ) -> {}:\n", signature.result);
}

}  // namespace

PythonFile::PythonFile(const std::string& title) {
  std::string words;
  for (const char c : title) words += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32 ? '_' : c;
  text_ =
      "\"\"\"" + words +
      "\"\"\"\n\nimport json\nimport pathlib\nfrom math import inf, nan  # noqa: F401\nfrom typing import List, "
      "Optional, Tuple  # noqa: F401\n\nimport torch\nimport torch.nn.functional as F  # noqa: F401\nfrom torch import "
      "Tensor, nn\n\n\n";
}

void PythonFile::add_module(const std::vector<std::string>& statements, const Signature& signature,
                            const std::string& forward) {
  text_ += "class Model(nn.Module):\n    def __init__(self) -> None:\n        super().__init__()\n";
  for (const std::string& line : statements) text_ += "        " + line + "\n";
  text_ += "\n" + head_of("forward", signature) + forward + "\n\n";
}

void PythonFile::add_names(const std::map<std::string, std::string>& names) {
  if (names.empty()) return;
  text_ += "# What the ONNX model calls the weights that have another name here.\nONNX_NAMES = {";
  for (const auto& [here, there] : names) text_ += fmt::format("\n    {}: {},", quoted(here), quoted(there));
  text_ += "\n}\n\n";
}

void PythonFile::add_weights() { text_ += kWeights; }

void PythonFile::add_loading() {
  add_weights();
  text_ += kLoad;
}

void PythonFile::add_step(const std::vector<std::string>& constants, const Signature& signature,
                          const std::string& body) {
  text_ +=
      "class TrainStep:\n    \"\"\"Each call makes one step: `state` holds the parameters, the optimizer's memory and "
      "its "
      "settings.\"\"\"\n\n    def __init__(self, state) -> None:\n        self.state = state\n";
  for (const std::string& name : constants) text_ += fmt::format("        self.{0} = state.pop(\"{0}\")\n", name);
  text_ += "\n    @torch.no_grad()\n" + head_of("__call__", signature) + body;
  text_ +=
      "\n    def save(self, path) -> None:\n        \"\"\"Writes the state by the names that the ONNX model has for "
      "it.\"\"\"\n        write_weights(path, self.state)\n\n\n";
  add_weights();
  text_ += kLoadStep;
}

}  // namespace ingot::backends::torch

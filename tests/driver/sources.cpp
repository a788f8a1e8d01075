#include "tests/driver/sources.h"

#include <filesystem>
#include <stdexcept>

#include "ingot/driver/load.h"
#include "ingot/onnx/text.h"

namespace ingot::test {

const char* const kOnnxText = R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[1,2,1,1] w = {1, -2}>
{ r = Relu(x)
  y = Add(r, w) }
)";

const char* const kTensorflowGraph =
    R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 3 } } } } }
node { name: "y" op: "Tanh" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
versions { producer: 1000 }
)";

std::string write_onnx(const TempDir& directory, const std::string& name) {
  driver::SaveOptions options;
  options.to = &driver::format_by_name("onnx");
  driver::save(onnx::parse_text(kOnnxText), directory / name, options);
  return directory / name;
}

std::string write_onnx_text(const TempDir& directory, const std::string& name) {
  write_text(directory / name, kOnnxText);
  return directory / name;
}

std::string write_tflite(const TempDir& directory, const std::string& name) {
  driver::SaveOptions options;
  options.to = &driver::format_by_name("tflite");
  driver::save(onnx::parse_text(kOnnxText), directory / name, options);
  return directory / name;
}

std::string write_tensorflow(const TempDir& directory, const std::string& name) {
  write_text(directory / name, kTensorflowGraph);
  return directory / name;
}

std::string write_keras(const TempDir& directory, const std::string& name) {
  write_text(directory / name,
             R"({"class_name": "Sequential", "keras_version": "2.11.0", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "config": {"name": "x", "dtype": "float32", "batch_input_shape": [null, 3]}},
    {"class_name": "Activation", "config": {"name": "y", "activation": "tanh"}}]}})");
  return directory / name;
}

std::string write_saved_model(const TempDir& directory, const std::string& name) {
  std::filesystem::create_directory(directory / name);
  write_text(directory.path() / name / "saved_model.pbtxt",
             "saved_model_schema_version: 1\nmeta_graphs { meta_info_def { tags: \"serve\" } graph_def { " +
                 std::string(kTensorflowGraph) + R"( }
  signature_def { key: "serving_default" value { inputs { key: "x" value { name: "x:0" dtype: DT_FLOAT } }
                                                 outputs { key: "y" value { name: "y:0" dtype: DT_FLOAT } } } } }
)");
  return directory / name;
}

std::string write_tfjs(const TempDir& directory, const std::string& name) {
  std::filesystem::create_directory(directory / name);
  write_text(directory.path() / name / "model.json", R"({"format": "graph-model", "modelTopology": {"node": [
  {"name": "x", "op": "Placeholder",
   "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "3"}]}}}},
  {"name": "y", "op": "Tanh", "input": ["x"], "attr": {"T": {"type": "DT_FLOAT"}}}]}})");
  return directory / name;
}

std::string write_source(const TempDir& directory, const std::string& format) {
  if (format == "onnx") return write_onnx(directory);
  if (format == "onnxtxt") return write_onnx_text(directory);
  if (format == "tflite") return write_tflite(directory);
  if (format == "tensorflow") return write_tensorflow(directory);
  if (format == "savedmodel") return write_saved_model(directory);
  if (format == "tfjs") return write_tfjs(directory);
  if (format == "keras") return write_keras(directory);
  throw std::runtime_error("no source of the format " + format + ": add one here");
}

}  // namespace ingot::test

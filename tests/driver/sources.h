#pragma once
#include <string>

#include "tests/support/files.h"

namespace ingot::test {

/// y = Relu(x) + w in the ONNX text syntax, opset 18, x of 1 x 2 x 3 x 3 floats.
extern const char* const kOnnxText;
/// y = Tanh(x), x of 3 floats, as TensorFlow's graph in text form.
extern const char* const kTensorflowGraph;

/// Writes small models of every format that can be read; each returns the path.
std::string write_onnx(const TempDir& directory, const std::string& name = "m.onnx");
std::string write_onnx_text(const TempDir& directory, const std::string& name = "m.onnxtxt");
std::string write_tflite(const TempDir& directory, const std::string& name = "m.tflite");
std::string write_tensorflow(const TempDir& directory, const std::string& name = "m.pbtxt");
/// y = tanh(x) as a Sequential model without weights.
std::string write_keras(const TempDir& directory, const std::string& name = "architecture.json");
/// A Binarizer of three columns.
std::string write_sklearn(const TempDir& directory, const std::string& name = "m.pkl");
/// A tree of one split, and machines of two classes.
std::string write_xgboost(const TempDir& directory, const std::string& name = "xgboost.json");
std::string write_lightgbm(const TempDir& directory, const std::string& name = "lightgbm.txt");
std::string write_catboost(const TempDir& directory, const std::string& name = "catboost.json");
std::string write_libsvm(const TempDir& directory, const std::string& name = "m.svm");
std::string write_liblinear(const TempDir& directory, const std::string& name = "m.liblinear");
/// y = Tanh(x), TorchScript.
std::string write_torch(const TempDir& directory, const std::string& name = "m.pt");
std::string write_safetensors(const TempDir& directory, const std::string& name = "m.safetensors");
/// y = 2 x, of a column of whole numbers.
std::string write_pandas(const TempDir& directory, const std::string& name = "prepare.py");
/// Directories.
std::string write_saved_model(const TempDir& directory, const std::string& name = "saved");
std::string write_tfjs(const TempDir& directory, const std::string& name = "web");

/// By the name of the format.
std::string write_source(const TempDir& directory, const std::string& format);

}  // namespace ingot::test

#include "tests/driver/sources.h"

#include <filesystem>
#include <stdexcept>

#include "ingot/base/sink.h"
#include "ingot/driver/load.h"
#include "ingot/formats/zip/archive.h"
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

std::string write_sklearn(const TempDir& directory, const std::string& name) {
  write_text(directory / name,
             "\x80\x02"
             "ccopy_reg\n_reconstructor\n(csklearn.preprocessing._data\nBinarizer\nc__builtin__\nobject\nNtR"
             "(dVthreshold\nF0.5\nsVn_features_in_\nI3\nsV_sklearn_version\nV1.2.1\nsb.");
  return directory / name;
}

std::string write_xgboost(const TempDir& directory, const std::string& name) {
  write_text(directory / name, R"({"learner": {"attributes": {}, "feature_names": [], "feature_types": [],
  "gradient_booster": {"name": "gbtree", "model": {"gbtree_model_param": {"num_trees": "1", "num_parallel_tree": "1"},
    "tree_info": [0], "trees": [{"id": 0, "categories": [], "categories_nodes": [], "categories_segments": [],
      "categories_sizes": [], "default_left": [1, 0, 0], "base_weights": [0, -1, 1], "left_children": [1, -1, -1],
      "right_children": [2, -1, -1], "parents": [2147483647, 0, 0], "split_conditions": [0.5, -1, 1],
      "split_indices": [0, 0, 0], "split_type": [0, 0, 0], "loss_changes": [1, 0, 0], "sum_hessian": [2, 1, 1],
      "tree_param": {"num_deleted": "0", "num_feature": "3", "num_nodes": "3", "size_leaf_vector": "0"}}]}},
  "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "3", "num_target": "1"},
  "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}}, "version": [1, 7, 4]})");
  return directory / name;
}

std::string write_lightgbm(const TempDir& directory, const std::string& name) {
  write_text(directory / name,
             "tree\nversion=v3\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=2\n"
             "objective=regression\nfeature_names=a b c\nfeature_infos=[0:1] [0:1] [0:1]\ntree_sizes=300\n\n"
             "Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nsplit_gain=1\nthreshold=0.5\ndecision_type=2\n"
             "left_child=-1\nright_child=-2\nleaf_value=-1 1\nleaf_weight=1 1\nleaf_count=1 1\ninternal_value=0\n"
             "internal_weight=0\ninternal_count=2\nis_linear=0\nshrinkage=1\n\n\nend of trees\n");
  return directory / name;
}

std::string write_catboost(const TempDir& directory, const std::string& name) {
  write_text(directory / name, R"({"model_info": {"params": {"loss_function": {"type": "RMSE"}}},
  "features_info": {"float_features": [{"feature_index": 0, "flat_feature_index": 0, "borders": [0.5],
                                        "has_nans": false, "nan_value_treatment": "AsIs"}]},
  "oblivious_trees": [{"leaf_values": [-1, 1], "leaf_weights": [1, 1], "splits": [
    {"border": 0.5, "float_feature_index": 0, "split_index": 0, "split_type": "FloatFeature"}]}],
  "scale_and_bias": [1, [0]]})");
  return directory / name;
}

std::string write_libsvm(const TempDir& directory, const std::string& name) {
  write_text(directory / name,
             "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\n"
             "SV\n1 1:0.5 2:1 \n-1 1:-0.5 3:2 \n");
  return directory / name;
}

std::string write_liblinear(const TempDir& directory, const std::string& name) {
  write_text(directory / name,
             "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias -1\nw\n0.1\n-0.2\n0.3\n");
  return directory / name;
}

std::string write_torch(const TempDir& directory, const std::string& name) {
  using namespace std::string_literals;
  // An instance of a class of the code, with one attribute; and no constants.
  const std::string data =
      "\x80\x02"
      "c__torch__\nNet\n)\x81}X\x08\0\0\0training\x89sb."s;
  const std::string code = R"(class Net(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return torch.tanh(torch.view(x, [3]))
)";
  StringSink sink;
  formats::zip::write({{"m/data.pkl", Bytes::own(data)},
                       {"m/code/__torch__.py", Bytes::own(code)},
                       {"m/constants.pkl", Bytes::own("\x80\x02)."s)},
                       {"m/version", Bytes::own("3\n"s)}},
                      sink);
  write_text(directory / name, sink.text());
  return directory / name;
}

std::string write_safetensors(const TempDir& directory, const std::string& name) {
  using namespace std::string_literals;
  write_text(directory / name, "\x40\0\0\0\0\0\0\0"s + R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})" +
                                   std::string(10, ' ') + "\0\0\x80\x3f"s);
  return directory / name;
}

std::string write_pandas(const TempDir& directory, const std::string& name) {
  write_text(directory / name, "def prepare(df):\n    df['y'] = df['x'] * 2\n    return df\n");
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
  if (format == "sklearn") return write_sklearn(directory);
  if (format == "xgboost") return write_xgboost(directory);
  if (format == "lightgbm") return write_lightgbm(directory);
  if (format == "catboost") return write_catboost(directory);
  if (format == "libsvm") return write_libsvm(directory);
  if (format == "liblinear") return write_liblinear(directory);
  if (format == "torch") return write_torch(directory);
  if (format == "safetensors") return write_safetensors(directory);
  if (format == "pandas") return write_pandas(directory);
  throw std::runtime_error("no source of the format " + format + ": add one here");
}

}  // namespace ingot::test

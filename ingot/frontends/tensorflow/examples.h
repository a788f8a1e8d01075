#pragma once
#include "ingot/frontends/tensorflow/body.h"
#include "ingot/ir/type.h"

namespace ingot::frontends::tensorflow {

/// One output of a node that parses serialised tf.Examples or tf.SequenceExamples. ONNX cannot read them: a graph is
/// cut behind such a node.
struct ExampleFeature {
  /// The feature's key; of a sparse feature key/indices, key/values and key/dense_shape, of a ragged one key/values and
  /// key/row_splits, or key/outer_splits and key/inner_splits where each step of a sequence has many; of a dense one
  /// for each step of a sequence also key/lengths. A key that the whole and the steps share is feature_list/key for the
  /// steps.
  std::string name;
  std::int32_t output = 0;
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims{};  // of one example; -1: open. Of a part of a feature: of all examples
  bool is_part = false;
  bool has_default = false;  // an example may lack it
};

bool parses_examples(std::string_view op);
/// Whether it always takes one example, not a list of them.
bool parses_one_example(std::string_view op);

/// What the node takes out of its examples, output by output; `is_list`: it parses a list of them. Refuses keys that
/// are not constants of the same graph or function.
std::vector<ExampleFeature> features_of(const Body& body, std::int32_t node, bool is_list);

/// The place of a named output among all outputs, which depends on how many features of each kind there are.
std::int32_t example_output(const tf::NodeDef& node, std::string_view output);

}  // namespace ingot::frontends::tensorflow

#pragma once
#include <map>
#include <string>
#include <utility>

#include "ingot/frontends/notes.h"
#include "ingot/frontends/tensorflow/examples.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {

/// The inputs of a model that stand for features of serialised examples.
class ExampleInputs {
 public:
  ExampleInputs(Graph& graph, const ImportOptions& options) : graph_(graph), options_(options) {}

  /// The input for a feature of what the input `examples` holds.
  Value* input(const Value* examples, const ExampleFeature& feature, Type type);
  /// Serialised examples that nobody reads any more, and features that nobody reads, are no inputs.
  void settle(Notes& notes);

 private:
  struct Input {
    Value* value = nullptr;
    bool has_default = false;
  };

  Graph& graph_;
  const ImportOptions& options_;
  std::map<std::pair<const Value*, std::string>, Input> inputs_;  // by the examples and the feature
};

}  // namespace ingot::frontends::tensorflow

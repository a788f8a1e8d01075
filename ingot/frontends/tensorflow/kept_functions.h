#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// Calls of functions that stay calls: model-local functions of ONNX, one for each combination of argument types.
class KeptFunctions {
 public:
  explicit KeptFunctions(Translation& t) : t_(t) {}

  /// The builder gets a node that calls the function; one that cannot be translated by itself is inlined, with a note.
  Operands call(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs,
                GraphBuilder& g, const std::string& prefix);

 private:
  struct Kept;
  /// Null: it cannot be translated by itself.
  std::shared_ptr<Kept> translate(const tf::FunctionDef& function, const Operands& arguments,
                                  const std::vector<tf::Attr>* attrs, Graph& around, const std::string& prefix);

  Translation& t_;
  std::map<std::string, std::shared_ptr<Kept>> kept_;  // by function and what its translation depends on
  std::set<std::string> inlined_;                      // functions that cannot be kept
};

}  // namespace ingot::frontends::tensorflow

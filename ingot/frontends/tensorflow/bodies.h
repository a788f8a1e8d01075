#pragma once
#include <memory>
#include <unordered_map>

#include "ingot/frontends/tensorflow/body.h"

namespace ingot::frontends::tensorflow {

/// A graph and its functions, the functions' edges resolved when first asked for.
class Bodies {
 public:
  explicit Bodies(const tf::GraphDef& graph);
  Bodies(const Bodies&) = delete;
  Bodies& operator=(const Bodies&) = delete;

  const tf::GraphDef& graph() const { return graph_; }
  const Body& main() const { return *main_; }
  /// Null: there is none.
  const tf::FunctionDef* find_function(std::string_view name) const;
  const Body& body_of(const tf::FunctionDef& function);

 private:
  const tf::GraphDef& graph_;
  Body::FindFunction find_function_;
  std::unordered_map<std::string_view, const tf::FunctionDef*> functions_;
  std::unordered_map<const tf::FunctionDef*, std::unique_ptr<Body>> bodies_;
  std::unique_ptr<Body> main_;
};

}  // namespace ingot::frontends::tensorflow

// A graph and its functions.
#include "ingot/frontends/tensorflow/bodies.h"

namespace ingot::frontends::tensorflow {

Bodies::Bodies(const tf::GraphDef& graph)
    : graph_(graph), find_function_([this](std::string_view name) { return find_function(name); }) {
  for (const tf::FunctionDef& f : graph.functions) functions_.try_emplace(f.name, &f);
  main_ = std::make_unique<Body>(graph.nodes, nullptr, find_function_);
}

const tf::FunctionDef* Bodies::find_function(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const Body& Bodies::body_of(const tf::FunctionDef& function) {
  auto& body = bodies_[&function];
  if (!body) body = std::make_unique<Body>(function.nodes, &function, find_function_);
  return *body;
}

}  // namespace ingot::frontends::tensorflow

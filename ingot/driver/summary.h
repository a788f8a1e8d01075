#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::driver {

/// What a person wants to know of a model at a glance. Nothing here touches the weights' bytes.
struct Summary {
  struct Port {
    std::string name, type;
    bool has_default = false;
  };
  struct Parameter {
    std::string name, type;
    std::uint64_t elements = 0, bytes = 0;
  };
  struct FunctionLine {
    std::string name;  // with its domain
    std::size_t nodes = 0, calls = 0;
  };
  struct Training {
    bool has_initialization = false, has_algorithm = false;
    std::size_t algorithm_nodes = 0;
    std::vector<std::string> state;  // what the update bindings name
  };

  std::int64_t ir_version = 0, model_version = 0;
  std::string producer, domain, graph_name, doc_string;
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::vector<Port> inputs, outputs;
  std::size_t nodes = 0, subgraphs = 0;
  std::map<std::string, std::size_t> operators;  // with the domain unless ai.onnx -> how often
  std::vector<Parameter> parameters;
  std::uint64_t parameter_elements = 0, parameter_bytes = 0;
  std::vector<FunctionLine> functions;
  std::vector<Training> training;
  std::map<std::string, std::size_t> stages;
  Metadata metadata;
};

Summary summarise(const Model& model);

/// The model in the ONNX text syntax for people: long weights are left out.
std::string readable_text(const Model& model);

}  // namespace ingot::driver

#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {
class Graph;
}

namespace ingot::train {

/// Which initializers are trained. Patterns are globs on names (* and ?), or "op:Gemm" for the weights of an operator.
struct ParameterOptions {
  std::vector<std::string> trainable{};  // empty: all that can be
  std::vector<std::string> frozen{};
  std::vector<std::string> tied = {};  // copies by Identity that stay what they are a copy of
  std::size_t last = 0;                // only those of the last so many nodes that have some; 0: no limit
};

/// One initializer of real numbers, and what was decided.
struct ParameterChoice {
  std::string name, type;
  std::uint64_t elements = 0;
  bool is_trained = false;
  std::string reason;
};

/// Decides for each initializer of real numbers in the main graph, which must be of the newest operator sets.
std::vector<ParameterChoice> choose_parameters(const Graph& graph, const ParameterOptions& options);

/// Gives each BatchNormalization running statistics of its own where exporters stored equal tensors once: training
/// would overwrite one with the other. Returns a line for each change.
std::vector<std::string> separate_statistics(Graph& graph);

/// Exporters store parameters that happen to be equal, such as the ones of all normalisations, once, and copy them by
/// Identity: those that `is_own` tells of by name become initializers. Returns their names.
std::vector<std::string> separate_copies(Graph& graph, const std::function<bool(const std::string&)>& is_own);

bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace ingot::train

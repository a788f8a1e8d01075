#pragma once
#include <string>
#include <vector>

#include "ingot/passes/legalize/target.h"

namespace ingot::passes::legalize {

struct Options;

/// Something of a model that a target lacks.
struct Obstacle {
  std::string where, op, reason, remedy;  // remedy: options that may help; empty: none known
  Refusal::Kind kind;
};

/// All that is in the way of a graph whose nodes are legalised as far as they can be.
std::vector<Obstacle> obstacles_of(Graph& graph, const Target& target, const Options& options);

/// Throws one Error that lists all of them and what may help, if there are any.
void require_none(const std::vector<Obstacle>& obstacles, const Target& target);

}  // namespace ingot::passes::legalize

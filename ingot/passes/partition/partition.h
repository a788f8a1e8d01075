#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/passes/partition/target.h"

namespace ingot::passes {

/// A graph as numbers, for those who divide it: nodes in an order in which each follows what it reads.
struct Pieces {
  struct Edge {
    std::size_t from, to;  // nodes
    std::size_t value;
  };
  std::vector<std::size_t> colours;  // of nodes: which target
  std::vector<Edge> edges;
  std::vector<std::uint64_t> bytes;    // of values
  std::vector<std::uint64_t> weights;  // of nodes: bytes that they bring
  std::vector<std::uint64_t> limits;   // of colours: the most weights in a part; 0: no limit
};

/// Parts that run one after the other: each has a colour, and a node reads from its own part or earlier ones.
struct Division {
  std::vector<std::size_t> colours;  // of parts
  std::vector<std::size_t> part_of;  // of nodes
};

/// What passes from part to part: a value counts once for each other part that reads it.
std::uint64_t crossing_bytes(const Pieces& pieces, const Division& division);

/// As few parts as there can be, and among those as few bytes between them: exactly on small graphs, else nearly.
Division divide(const Pieces& pieces);

struct PartitionNode {
  std::string node, op;
  std::size_t part = 0;
  std::vector<std::pair<std::string, Fallback>> refusals;  // by the targets that come before its own
};

struct PartitionPart {
  std::string name, target;
  std::size_t nodes = 0;
  Model model;
};

struct Partition {
  std::vector<PartitionPart> parts;  // in running order
  std::vector<PartitionNode> nodes;  // in running order
  std::uint64_t crossing = 0;        // bytes
  std::size_t crossings = 0;         // values
};

struct PartitionOptions {
  std::vector<PartitionTarget> targets;  // the first that runs a node gets it
  std::size_t least_nodes = 1;           // parts of fewer nodes go to the next target that runs all of them
};

/// Divides a model with inferred types among targets; throws for nodes that none of them runs.
Partition partition(const Model& model, const PartitionOptions& options);

/// The domain of the functions that parts become.
inline constexpr std::string_view kPartDomain = "ingot.parts";
/// The model that was divided, as calls of its parts: each is a function whose metadata names its target.
Model as_functions(const Model& model, const Partition& partition);

}  // namespace ingot::passes

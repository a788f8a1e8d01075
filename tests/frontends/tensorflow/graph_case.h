#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingot/engine/inputs.h"
#include "ingot/formats/tensorflow/graph_def.h"
#include "ingot/ir/model.h"

namespace ingot::test {

/// How a stored graph with expected values came out.
struct CaseResult {
  enum class Outcome { matches, not_converted, not_written, invalid, not_run, differs, constant, no_expectation };
  std::string name;
  Outcome outcome = Outcome::matches;
  std::string detail;                    // the first line of the message, or what differs
  std::vector<std::string> unsupported;  // operators without a translation
  bool lacks_kernel = false;             // an operator that the engine cannot run
  std::size_t compared = 0;              // outputs
  bool is_random = false;                // has operators of random numbers
  bool has_open_rank = false;            // of an output: a shape that is an input of open length decides it
  /// Operators that the outputs depend on, each with the attributes that its nodes have, as text.
  std::map<std::string, std::set<std::string>> operators{};
};

struct CaseOptions {
  bool dynamic_shapes = false;  // the inputs have names instead of sizes
  int opset = 0;                // converted to this version; 0: the newest, as made
  /// Called with the model, its inputs and what Ingot made of them, where that matches.
  std::function<void(Model&, const std::vector<engine::NamedDatum>&, const std::vector<engine::NamedDatum>&)> inspect{};
};

std::string_view name_of(CaseResult::Outcome outcome);

/// Converts a directory with frozen_model.pb, checks the model, runs it in Ingot, and compares with the values stored
/// beside it. Constants named in_* become inputs, and no output that depends on them may be a constant. rtol 1e-3, atol
/// 1e-5; integers, booleans and texts exactly; graphs with operators of random numbers by type, shape and distribution
/// (that of two samples, by Kolmogorov's and Smirnov's distance).
CaseResult run_case(const std::filesystem::path& directory, const std::string& name, const CaseOptions& options);

/// Adds the operators of the named nodes and of all functions, with their attributes.
void note_operators(const formats::tensorflow::GraphDef& graph, const std::set<std::string>& used,
                    std::map<std::string, std::set<std::string>>& operators);

}  // namespace ingot::test

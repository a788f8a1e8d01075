#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace ingot::test {

/// How a stored graph with expected values came out.
struct CaseResult {
  enum class Outcome { matches, not_converted, not_written, invalid, not_run, differs, no_expectation };
  std::string name;
  Outcome outcome = Outcome::matches;
  std::string detail;                    // the first line of the message, or what differs
  std::vector<std::string> unsupported;  // operators without a translation
  bool lacks_kernel = false;             // an operator that the engine cannot run
  std::size_t compared = 0;              // outputs
};

struct CaseOptions {
  bool dynamic_shapes = false;  // the inputs have names instead of sizes
  int opset = 0;                // written at this version and read again; 0: the newest, as made
};

std::string_view name_of(CaseResult::Outcome outcome);

/// Converts a directory with frozen_model.pb, runs it in Ingot, and compares with the values stored beside it.
/// Constants named in_* become inputs. rtol 1e-3, atol 1e-5; integers, booleans and texts exactly; operators of
/// random numbers by type and shape.
CaseResult run_case(const std::filesystem::path& directory, const std::string& name, const CaseOptions& options);

}  // namespace ingot::test

#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/error.h"

namespace ingot {
class Budget;
class Model;
}  // namespace ingot

namespace ingot::passes {

/// A warning is something that the standard forbids or advises against and that its own checker and the runtimes let
/// pass: many models in use have some. A note is allowed here; others may ask for more.
enum class Severity : std::uint8_t { error, warning, note };
/// "error", "warning" or "note".
std::string_view name_of(Severity severity);

/// One breach of the rules of ONNX.
struct Problem {
  Code code;
  Severity severity;
  /// "node 'loop' (Loop), body: node 'add' (Add)"; "graph" or "model" where it is no node's or value's.
  std::string place;
  std::string message;
  std::string hint;  // what to do about it; may be empty

  /// "error: node 'add' (Add): message [IG0302]\n  hint: ..."
  std::string str() const;
};

struct CheckOptions {
  /// Types and shapes are inferred too, and compared with what operators allow and the model states.
  bool infer = true;
  /// Problems beyond these are not listed: no file may fill the memory with them. Errors then take the place of
  /// warnings.
  std::size_t most_problems = 1000;
  Budget* budget = nullptr;
};

/// Checks all rules of the ONNX IR and of the operators. Does not stop at the first problem; what follows from
/// another problem is left out where that is known. The model is not changed.
std::vector<Problem> check(const Model& model, const CheckOptions& options = {});

/// "3 errors", and the first of them, a line each, with their places; for an Error of code `thrown`, which need not be said
/// of a single one.
std::string text_of(const std::vector<Problem>& errors, Code thrown);

/// Throws one Error that lists the first errors, with the code of the very first. Warnings do not count.
void require_valid(const Model& model, const CheckOptions& options = {});

}  // namespace ingot::passes

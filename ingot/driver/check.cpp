// The checker as commands use it: what it refuses is neither run nor transformed nor written.
#include "ingot/driver/check.h"

#include <algorithm>

namespace ingot::driver {
namespace {

passes::CheckOptions options_with(Budget* budget) {
  passes::CheckOptions options;
  options.budget = budget;
  return options;
}

/// Too few inputs, a type or a shape that an operator does not take: what a foreign file says is often taken over as it
/// is.
bool may_be_of_the_file(const Problem& p) {
  return p.code == Code::bad_arity || p.code == Code::type_mismatch || p.code == Code::missing_type ||
         static_cast<int>(p.code) / 100 == 4;
}

}  // namespace

std::vector<Problem> check(const Model& model, Budget* budget) { return passes::check(model, options_with(budget)); }

void require_valid(const Model& model, Budget* budget) {
  std::vector<Problem> problems = check(model, budget);
  std::erase_if(problems, [](const Problem& p) { return p.severity != Severity::error; });
  if (problems.empty()) return;
  const Code first = problems.front().code;
  throw Error(first, "the model is not valid: " + passes::text_of(problems, first))
      .hint("'ingot check' tells what to do about each; --unchecked goes on all the same");
}

void require_sound(const Model& model, const Made& made, Budget* budget) {
  std::vector<Problem> problems = check(model, budget);
  std::erase_if(problems, [&](const Problem& p) {
    const bool is_own_shape = made.is_imported && p.code == Code::shape_contradiction;
    return p.severity != Severity::error && !is_own_shape;
  });
  if (problems.empty()) return;
  if (made.has_given_shapes)
    throw Error(Code::bad_usage, "with the input shapes or the batch given the model is not valid: " +
                                     passes::text_of(problems, Code::bad_usage))
        .hint("give shapes that it takes; '?' keeps a dimension as it is");
  if (made.is_imported && std::ranges::all_of(problems, may_be_of_the_file))
    throw Error(Code::bad_source_graph, "its operators do not take the values that they get: " +
                                            passes::text_of(problems, Code::bad_source_graph))
        .hint(
            "if its own framework runs the file, this is a bug in Ingot: please report it; --unchecked writes the "
            "result all the same");
  throw Error(Code::broken_invariant,
              "what Ingot made of the file is not valid ONNX: " + passes::text_of(problems, Code::broken_invariant))
      .hint("this is a bug in Ingot: please report it; --unchecked writes the result all the same");
}

}  // namespace ingot::driver

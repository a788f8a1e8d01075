#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/verify/agreement.h"
#include "ingot/verify/runtime.h"

namespace ingot::verify {

struct SideRequest {
  std::string file{};
  std::vector<Runtime> runtimes{};  // the first that runs the file's format; none: its own, see docs/verify.md
  driver::LoadOptions load{};
};

struct VerifyRequest {
  SideRequest a{}, b{};  // a is what b is measured by
  Peers peers{};
  std::vector<std::string> inputs{};  // as `ingot run` takes them, in a's names; the others are drawn
  std::uint32_t seed = 1;
  std::uint32_t seeds = 0;  // how many, from `seed` on; 0: three where that takes little time, else one
  std::vector<std::pair<std::string, Shape>> input_shapes{};  // of a's inputs
  std::optional<double> rtol{}, atol{};                       // in place of the policy
  /// What b was rounded to on purpose, weights or results: two models may differ as much as this type's numbers do.
  DType rounded_to = DType::undefined;
  bool bisects = true;
};

/// One output of both.
struct OutputVerdict {
  std::string a_name, b_name;
  bool agrees = false;
  bool is_decided = true;  // off: agreement means nothing, since rounding alone or chance moves it
  std::string figure;      // how far apart: "2.3e-07 of the scale 1.5"
  std::string threshold;   // how far they may be, in the same unit
  std::string source;      // why that far
  std::string worst;       // where they differ most: "[0,3] is 0.25, and 0.26 in b"; empty: they are equal
  std::optional<Distance> distance;
};

/// Where two models part: the first value, in the order and words of a, that differs by more than rounding.
struct FirstDifference {
  std::string name, op;  // in a
  std::string b_name;    // the same value in b
  std::string a_value, b_value, place;
  std::string figure, threshold, source;
  std::size_t compared = 0;   // values before it that agree
  std::string last_agreeing;  // the one before it; may be empty
};

/// How far apart a quantised value inside is, the worst of all inputs.
struct LayerSteps {
  std::string name, op;  // in a
  double steps = 0;      // what 99.9 % of the elements stay within
  double largest = 0;    // what all do
  double share = 0;      // of the elements differ
};

struct Verdict {
  enum class Answer { same, different, unknown };
  Answer answer = Answer::unknown;
  std::string why_unknown;
  std::string a_runtime, b_runtime;  // with their versions
  /// Another program than Ingot ran a; off: that both agree says no more than that Ingot is of one mind.
  bool is_independent = false;
  std::vector<std::string> inputs;  // "x: float[1,224,224,3], drawn from the seed 1"
  std::vector<OutputVerdict> outputs;
  std::vector<std::string> notes;
  std::optional<FirstDifference> first;
  std::string why_not_bisected;     // if they differ and there is no `first`
  std::size_t compared_inside = 0;  // values inside that both have
  std::vector<LayerSteps> layers;   // those that are quantised
  std::size_t runs = 0;             // on inputs of their own
  double seconds = 0;
};

/// Runs both on the same inputs and compares their outputs and the values inside. A runtime that is absent, refuses or
/// crashes makes the answer unknown; files that cannot be read and requests that make no sense throw.
Verdict verify(const VerifyRequest& request);

}  // namespace ingot::verify

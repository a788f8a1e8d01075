#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/ir/type.h"
#include "ingot/passes/cast_types.h"
#include "ingot/passes/layout/layout.h"

namespace ingot::driver {

/// What may be done about element types that the target lacks.
using AutoCast = passes::CastRule;
using passes::Layout;

/// What of a model that can learn is wanted.
enum class Mode : std::uint8_t { inference, training, both };

/// How large float weights are stored.
enum class WeightForm : std::uint8_t { as_is, float16 };
/// How weights are stored in fewer bits, for runtimes that make floats of them again.
enum class Quantize : std::uint8_t { float16, uint8, uint16 };
/// How sequences whose members are not known leave for TensorFlow.
enum class Sequences : std::uint8_t { lists, ragged };

/// What models of classic libraries compute in: double, as they do, or float.
enum class Precision : std::uint8_t { float64, float32 };

/// In which layout inputs and outputs with channels are wanted; nothing: as they are.
struct LayoutWish {
  std::optional<Layout> inputs_as{}, outputs_as{};
};

/// Input name -> dimensions; an unknown one stays as it is.
using InputShapes = std::vector<std::pair<std::string, Shape>>;
using InputTypes = std::vector<std::pair<std::string, DType>>;
using InputValues = std::vector<std::pair<std::string, double>>;
using Renames = std::vector<std::pair<std::string, std::string>>;  // old -> new

// Words of the command line and of bindings become values here and nowhere else. What is not understood is refused with
// the words that are.
AutoCast parse_auto_cast(std::string_view word);
Layout parse_layout(std::string_view word);
Mode parse_mode(std::string_view word);
WeightForm parse_weights(std::string_view word);
Precision parse_precision(std::string_view word);
Quantize parse_quantize(std::string_view word);
Sequences parse_sequences(std::string_view word);
/// "x:1,3,224,224" -> name and dimensions; a word is a symbolic dimension, "?" or -1 keeps what the model says.
std::pair<std::string, Shape> parse_input_shape(const std::string& text);
/// "x:int64" -> name and element type.
std::pair<std::string, DType> parse_input_type(const std::string& text);
/// "rate=16000", "is_fast=true" -> name and number.
std::pair<std::string, double> parse_input_value(const std::string& text);
/// "8" or "N": a number of examples, or a name that leaves it open.
Dim parse_batch(const std::string& text);
/// "old=new"
std::pair<std::string, std::string> parse_rename(const std::string& text);
/// "Op" or "Op:domain"; returned as it is.
std::string parse_operator(const std::string& text);

/// The options that some formats take and others do not.
enum class Option : std::uint8_t {
#define INGOT_OPTION(name, flag) name,
#include "ingot/driver/options.def"
#undef INGOT_OPTION
};
inline constexpr std::string_view kOptionFlags[] = {
#define INGOT_OPTION(name, flag) flag,
#include "ingot/driver/options.def"
#undef INGOT_OPTION
};
inline constexpr std::size_t kOptionCount = std::size(kOptionFlags);
static_assert(kOptionCount < 64, "a set has a bit for each");

/// As the command line spells it: "--keep-functions".
std::string_view flag_of(Option option);

class OptionSet {
 public:
  constexpr OptionSet() = default;
  constexpr OptionSet(std::initializer_list<Option> options) {
    for (const Option o : options) bits_ |= bit(o);
  }
  constexpr bool has(Option option) const { return (bits_ & bit(option)) != 0; }
  constexpr void add(Option option, bool is_given = true) { bits_ |= is_given ? bit(option) : 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr OptionSet operator|(OptionSet other) const { return OptionSet(bits_ | other.bits_); }
  constexpr OptionSet without(OptionSet other) const { return OptionSet(bits_ & ~other.bits_); }

 private:
  constexpr explicit OptionSet(std::uint64_t bits) : bits_(bits) {}
  static constexpr std::uint64_t bit(Option option) { return std::uint64_t{1} << static_cast<unsigned>(option); }
  std::uint64_t bits_ = 0;
};

struct Format;

/// Refuses options that neither the source's format takes when it is read nor the result's when it is written, all at
/// once, and names the formats that take them. One of the two may be null.
void require_taken(OptionSet given, const Format* from, const Format* to);

}  // namespace ingot::driver

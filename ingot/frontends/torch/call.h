#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/error.h"
#include "ingot/frontends/torch/item.h"
#include "ingot/frontends/torch/translation.h"
#include "ingot/frontends/translator.h"
#include "ingot/ops/known.h"

namespace ingot::frontends::torch {

using Ints = std::vector<std::int64_t>;

/// Of a row: what its arguments are called, with their defaults, and whether its result shares its first argument's
/// storage.
struct Signature {
  std::string_view parameters{};  // "self, dim=-1, keepdim=False"; "dim|other": known by either name
  bool is_view = false;
};
using Row = Translator<Item(const Call&), Signature>;

/// One call of an operator while it is translated, its arguments in the order of the row's parameters.
struct Call {
  Translation& t;
  const Row& row;
  std::vector<Item> args;

  GraphBuilder& g() const { return t.g(); }
  const Item& arg(std::size_t i) const;
  bool has(std::size_t i) const { return i < args.size() && !args[i].is_none(); }
  bool is_tensor(std::size_t i) const { return i < args.size() && args[i].is_tensor(); }

  /// A tensor; a number becomes one of rank 0.
  Value* tensor(std::size_t i) const;
  Value* optional_tensor(std::size_t i) const { return has(i) ? tensor(i) : nullptr; }
  Values tensors(std::size_t i) const;
  /// A tensor in a floating-point type: integers become float32.
  Value* real_tensor(std::size_t i) const;
  /// Tensors and numbers in their common type, as PyTorch promotes them.
  Values promoted(std::initializer_list<std::size_t> which) const;

  std::int64_t integer(std::size_t i) const;
  std::optional<std::int64_t> known_integer(std::size_t i) const;
  double real(std::size_t i) const;
  bool flag(std::size_t i) const;
  std::string text(std::size_t i) const;
  /// Numbers that must be known; one number is a list of one.
  Ints ints(std::size_t i) const;
  /// The same, one for each of so many axes.
  Ints ints(std::size_t i, std::size_t count) const;
  std::vector<double> reals(std::size_t i) const;
  /// Integers that may be known only later, as int64 of rank 1 or 0.
  Value* index_vector(std::size_t i) const;
  Value* index(std::size_t i) const;
  /// As number in the code; `otherwise` where it is None.
  DType dtype(std::size_t i, DType otherwise) const;

  /// Refuses an unknown one, or asks for what is needed.
  std::int64_t rank(Value* x) const;
  std::int64_t axis(std::size_t i, Value* x) const;
  /// The same as a value, which only the run may know.
  Value* axis_value(std::size_t i, Value* x) const;
  /// All axes where the argument is None or empty.
  Ints axes(std::size_t i, Value* x) const;
  /// The value has this many axes; an input of unknown shape gets it.
  void expect_rank(Value* x, std::size_t rank, std::int64_t channels = -1) const;
};

[[noreturn]] void refuse(std::string why);

/// Along an axis a tensor without axes counts as one of a single element: `translate` is given those of the arguments
/// `which` as such, and its results lose their axis.
Item on_single(const Call& c, Item (*translate)(const Call&), std::initializer_list<std::size_t> which = {0});
/// Whether the first argument is one.
bool is_single(const Call& c);

/// `axis` from the front; refuses what lies outside.
std::int64_t normal_axis(std::int64_t axis, std::int64_t rank);

// Types as PyTorch promotes them.
DType promoted_types(DType a, DType b);
/// Of tensors and numbers together.
DType result_type(const Call& c, std::initializer_list<std::size_t> which);

}  // namespace ingot::frontends::torch

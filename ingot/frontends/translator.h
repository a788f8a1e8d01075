#pragma once
#include <algorithm>
#include <span>
#include <string_view>

namespace ingot::frontends {

struct NoGuard {};

/// A row of a framework's table: how one operator is said in ONNX. `Function` is how that framework calls its
/// translators, `Guard` what is asked before one is called.
template <class Function, class Guard = NoGuard> struct Translator {
  std::string_view name;
  Function* translate;
  [[no_unique_address]] Guard guard{};
};

/// Whether the rows ascend by name, each name once: what find_translator() relies on. For a static_assert beside the
/// table.
template <class Row> constexpr bool is_sorted_table(std::span<const Row> rows) {
  return std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, &Row::name) == rows.end();
}

/// Null: the operator has no translation.
template <class Row> constexpr const Row* find_translator(std::span<const Row> rows, std::string_view name) {
  const auto row = std::ranges::lower_bound(rows, name, {}, &Row::name);
  return row != rows.end() && row->name == name ? &*row : nullptr;
}

}  // namespace ingot::frontends

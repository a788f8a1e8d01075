#pragma once
#include <string>
#include <vector>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

/// All rows, sorted by name.
std::span<const Row> all_rows();
/// Null: there is no translation.
const Row* find_row(std::string_view op);

/// The arguments in the order of the row's parameters, with its defaults; refuses names that it does not have.
std::vector<Item> bound_arguments(const Row& row, std::vector<Item> args,
                                  const std::vector<std::pair<std::string, Item>>& named);

/// What the code does to Python's numbers, lists and texts, without a tensor; nothing: it is an operator's matter.
std::optional<Item> python_call(Translation& t, std::string_view name, const std::vector<Item>& args);
/// The same where the first argument is a text.
std::optional<Item> text_call(std::string_view name, const std::vector<Item>& args);
/// As str() shows it.
std::string shown(const Item& item);

}  // namespace ingot::frontends::torch

#pragma once
#include <optional>
#include <string_view>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

// Numbers of the code; nothing: the item is none, or known only when the model runs.
std::optional<double> known_number(const Item& item);
std::optional<std::int64_t> known_int(const Item& item);  // true and false too

// What Python's operators and functions do to numbers, by their names in TorchScript ("add", "__and__"); those known
// only when the model runs make nodes. Nothing: there is no such function.
std::optional<Item> of_one_number(Translation& t, std::string_view name, const Item& a);
std::optional<Item> of_two_numbers(Translation& t, std::string_view name, const Item& a, const Item& b);

/// Whether two items are equal as Python says it; nothing: that is not known before running.
std::optional<bool> equal(const Item& a, const Item& b);

}  // namespace ingot::frontends::torch

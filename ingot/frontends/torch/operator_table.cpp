// Which function translates which operator, and how its arguments are found.
#include "ingot/frontends/torch/operator_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ingot/frontends/torch/import.h"

namespace ingot::frontends::torch {

#define INGOT_ATEN(op, function, signature) Item function(const Call&);
#define INGOT_ATEN_VIEW(op, function, signature) Item function(const Call&);
#define INGOT_ATEN_SAME(op, onnx)
#include "ingot/frontends/torch/operators.def"
#undef INGOT_ATEN
#undef INGOT_ATEN_VIEW
#undef INGOT_ATEN_SAME

namespace {

/// The ONNX operator of the same meaning, of one tensor of floats.
template <const ops::OpDef& kDef> Item same(const Call& c) { return c.g().op(ops::Name(kDef), {c.real_tensor(0)}); }

constexpr Row kRows[] = {
#define INGOT_ATEN(op, function, signature) {op, function, {signature, false}},
#define INGOT_ATEN_VIEW(op, function, signature) {op, function, {signature, true}},
#define INGOT_ATEN_SAME(op, onnx) {op, same<ops::defs::onnx>, {"self", false}},
#include "ingot/frontends/torch/operators.def"
#undef INGOT_ATEN
#undef INGOT_ATEN_VIEW
#undef INGOT_ATEN_SAME
};
static_assert(is_sorted_table<Row>(kRows), "rows ascend by name, each once");

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Item default_value(std::string_view text) {
  if (text == "None") return {};
  if (text == "True") return true;
  if (text == "False") return false;
  if (text.starts_with('\'')) return std::string(text.substr(1, text.size() - 2));
  if (text == "[]") return Item::list({});
  if (text.find_first_of(".e") != std::string_view::npos) {
    double real = 0;
    std::from_chars(text.data(), text.data() + text.size(), real);
    return real;
  }
  std::int64_t integer = 0;
  std::from_chars(text.data(), text.data() + text.size(), integer);
  return integer;
}

bool has_name(std::string_view alternatives, std::string_view name) {
  while (true) {
    const std::size_t bar = alternatives.find('|');
    if (alternatives.substr(0, bar) == name) return true;
    if (bar == std::string_view::npos) return false;
    alternatives.remove_prefix(bar + 1);
  }
}

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* find_row(std::string_view op) { return find_translator<Row>(kRows, op); }

std::vector<Item> bound_arguments(const Row& row, std::vector<Item> args,
                                  const std::vector<std::pair<std::string, Item>>& named) {
  const std::size_t positional = args.size();
  std::vector<bool> is_used(named.size());
  std::size_t position = 0;
  for (std::string_view rest = row.guard.parameters; !rest.empty(); ++position) {
    const std::size_t comma = rest.find(',');
    const std::string_view parameter = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = parameter.find('=');
    const std::string_view name = parameter.substr(0, equals);
    for (std::size_t i = 0; i < named.size() && position >= positional; ++i) {
      if (is_used[i] || !has_name(name, named[i].first)) continue;
      is_used[i] = true;
      args.push_back(named[i].second);
      break;
    }
    if (position < args.size()) continue;
    if (equals == std::string_view::npos)
      throw Error(Code::bad_source_graph, fmt::format("the argument '{}' is missing", name));
    args.push_back(default_value(parameter.substr(equals + 1)));
  }
  if (std::ranges::all_of(is_used, [](bool used) { return used; })) return args;
  // Where a tensor lies and how its memory is laid out does not matter here.
  for (const auto& [given, item] : named) {
    constexpr std::string_view kIgnored[] = {"layout",       "device",   "pin_memory", "memory_format",
                                             "non_blocking", "copy",     "generator",  "requires_grad",
                                             "dtype",        "implicit", "out"};
    if (!has_name(row.guard.parameters, given) && std::ranges::find(kIgnored, given) == std::end(kIgnored) &&
        row.guard.parameters.find(given) == std::string_view::npos)
      throw Error(Code::unsupported_setting, fmt::format("there is no argument '{}'", given));
  }
  return args;
}

std::vector<std::string> translated_operators() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace ingot::frontends::torch

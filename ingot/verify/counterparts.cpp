// What of one model is what of the other, from outside.
#include "ingot/verify/counterparts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ingot/base/error.h"

namespace ingot::verify {

using Inputs = std::vector<engine::NamedDatum>;

std::vector<const Value*> fed_inputs(const Model& model) {
  std::vector<const Value*> inputs;
  for (const Value* v : model.graph->inputs())
    if (!v->initializer && !v->sparse_initializer) inputs.push_back(v);
  return inputs;
}

std::vector<std::size_t> paired(const std::vector<const Value*>& wanted, const std::vector<const Value*>& given) {
  std::vector<std::size_t> result(wanted.size(), given.size());
  std::vector<bool> is_taken(given.size(), false);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t j = 0; j < given.size(); ++j)
      if (!is_taken[j] && result[i] == given.size() && wanted[i]->name() == given[j]->name()) {
        result[i] = j;
        is_taken[j] = true;
      }
  // What is listed twice under one name is one value.
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto [place, is_first] = places.try_emplace(wanted[i]->name(), result[i]);
    if (!is_first && result[i] == given.size()) result[i] = place->second;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (result[i] != given.size()) continue;
    const auto free = std::ranges::find(is_taken, false);
    if (free == is_taken.end()) continue;
    result[i] = static_cast<std::size_t>(free - is_taken.begin());
    *free = true;
  }
  return result;
}

ChannelPlace place_of(const Contender& side, const std::string& name, bool is_moved) {
  return is_moved ? ChannelPlace::last : stated_place(side.model(), name);
}

void complete(ChannelPlace& a, ChannelPlace& b, bool is_moved) {
  if (!is_moved) return;
  if (a == ChannelPlace::unstated) a = ChannelPlace::first;
  if (b == ChannelPlace::unstated) b = ChannelPlace::first;
}

Inputs inputs_for_b(const Contender& a, const Contender& b, const Inputs& a_inputs, Verdict& verdict) {
  const auto a_values = fed_inputs(a.model()), b_values = fed_inputs(b.model());
  const auto pairs = paired(b_values, a_values);
  const bool is_moved = a.inputs_moved() || b.inputs_moved();
  Inputs inputs;
  for (std::size_t i = 0; i < b_values.size(); ++i) {
    if (pairs[i] == a_values.size())
      throw Error(Code::bad_usage, "input '" + b_values[i]->name() + "' has no counterpart in " + a.file())
          .in_file(b.file());
    const std::string& name = a_values[pairs[i]]->name();
    const auto given = std::ranges::find(a_inputs, name, &engine::NamedDatum::name);
    const Array* array = given == a_inputs.end() ? nullptr : given->value.array();
    if (!array) {
      if (given != a_inputs.end()) inputs.push_back({b_values[i]->name(), given->value});
      continue;
    }
    ChannelPlace from = place_of(a, name, a.inputs_moved());
    ChannelPlace to = place_of(b, b_values[i]->name(), b.inputs_moved());
    complete(from, to, is_moved);
    std::vector<std::string> changes;
    const auto fit = fitted(*array, from, b_values[i]->type, to, changes);
    if (!fit)
      throw Error(Code::bad_usage,
                  fmt::format("input '{}' is {}, and '{}' of {} is {}: the one does not fit the other",
                              b_values[i]->name(), b_values[i]->type.str(), name, a.file(), array->type().str()))
          .in_file(b.file());
    std::string note;
    if (name != b_values[i]->name()) note = fmt::format("is '{}' in {}", b_values[i]->name(), b.file());
    for (const std::string& change : changes) note += (note.empty() ? "" : ", ") + change;
    if (!note.empty()) verdict.notes.push_back("input '" + name + "' " + note);
    inputs.push_back({b_values[i]->name(), *fit});
  }
  return inputs;
}

}  // namespace ingot::verify

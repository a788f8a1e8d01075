// JSON with a few values changed.
#include <nlohmann/json.hpp>

#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

using nlohmann::json;

void collect(json& value, std::vector<json*>& places, std::vector<json*>& holders) {
  places.push_back(&value);
  if (!value.is_structured()) return;
  if (!value.empty()) holders.push_back(&value);
  for (json& inner : value) collect(inner, places, holders);
}

json odd_value(Draws& draws) {
  switch (draws.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return draws.coin();
    case 2:
      return draws.odd_number();
    case 3:
      return std::to_string(draws.odd_number());  // as int64 stands in such files
    case 4:
      return json::array();
    case 5:
      return json::object();
    case 6:
      return 1e308;
    default:
      return "";
  }
}

void drop_one(json& holder, Draws& draws) {
  auto victim = holder.begin();
  std::advance(victim, static_cast<std::ptrdiff_t>(draws.below(holder.size())));
  holder.erase(victim);
}

void change(json& root, Draws& draws) {
  std::vector<json*> places, holders;
  collect(root, places, holders);
  json& place = *draws.one_of(places);
  switch (draws.below(5)) {
    case 0:
      if (!holders.empty()) drop_one(*draws.one_of(holders), draws);
      break;
    case 1: {
      json other = *draws.one_of(places);  // may hold this one
      place = std::move(other);
      break;
    }
    case 2:
      if (place.is_array() && !place.empty()) place.push_back(json(place[draws.below(place.size())]));
      break;
    case 3:
      if (place.is_string() && draws.coin())
        place = place.get<std::string>() + (draws.coin() ? ":1" : "x");
      else if (place.is_number())
        place = draws.odd_number();
      else
        place = odd_value(draws);
      break;
    default:
      place = odd_value(draws);
  }
}

}  // namespace

std::string mutated_json(const std::string& file, std::uint64_t seed) {
  json root = json::parse(file, nullptr, false);
  if (root.is_discarded()) return file;
  Draws draws(seed);
  for (std::size_t left = 1 + draws.below(3); left > 0; --left) change(root, draws);
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace ingot::test

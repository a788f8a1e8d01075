// What a conversion to half precision did.
#include "half_report.h"

#include <cstdio>
#include <map>

#include "terminal.h"

namespace ingot::cli {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

std::string text_of(const driver::HalfReport& report) {
  std::string text = std::to_string(report.converted) + " nodes in half precision, " + std::to_string(report.kept) +
                     " stay float, " + std::to_string(report.casts) + " casts; weights " +
                     human_bytes(report.bytes_before) + " -> " + human_bytes(report.bytes_after) + "\n";
  std::map<std::pair<std::string, std::string>, std::size_t> islands;
  for (const auto& island : report.islands) ++islands[{island.op, island.reason}];
  Table kept({true});
  for (const auto& [key, count] : islands) kept.add({std::to_string(count), key.first, key.second});
  if (!islands.empty()) text += "kept float:\n" + kept.str();
  Table ranges;
  for (const auto& r : report.ranges)
    ranges.add({r.name, "|x| " + number(r.smallest) + " to " + number(r.largest),
                std::to_string(r.vanishing) + " vanish", std::to_string(r.too_large) + " too large"});
  if (!report.ranges.empty()) text += "weights out of range:\n" + ranges.str();
  return text;
}

Json to_json(const driver::HalfReport& report) {
  Json json{{"converted", report.converted},
            {"kept", report.kept},
            {"casts", report.casts},
            {"weight_bytes_before", report.bytes_before},
            {"weight_bytes_after", report.bytes_after},
            {"islands", Json::array()},
            {"ranges", Json::array()}};
  for (const auto& i : report.islands)
    json["islands"].push_back({{"node", i.node}, {"op", i.op}, {"reason", i.reason}});
  for (const auto& r : report.ranges)
    json["ranges"].push_back({{"weight", r.name},
                              {"smallest", r.smallest},
                              {"largest", r.largest},
                              {"elements", r.elements},
                              {"vanishing", r.vanishing},
                              {"too_large", r.too_large}});
  return json;
}

}  // namespace ingot::cli

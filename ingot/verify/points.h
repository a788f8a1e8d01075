#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/verify/agreement.h"
#include "ingot/verify/contender.h"

namespace ingot::verify {

/// A value of a, and those of b that may be the same one, the most likely first.
struct PointPair {
  Point a;
  std::vector<std::string> b;
};

/// In a's order.
std::vector<PointPair> pair_points(const Contender& a, const Contender& b);

/// The value of a side's model that each point of that side is, as Ingot reads the file.
std::unordered_map<std::string, std::string> values_of_points(const Contender& side);

/// The nearest form of an array to another, and how far it is from that.
struct Match {
  Array form;
  Distance distance;
};

/// Layouts may differ.
std::optional<Match> nearest(const Array& wanted, const Array& array);

/// The values that a side gives; where it refuses some, those that are left when they are asked for apart.
std::unordered_map<std::string, Datum> values_of(Contender& side, const std::vector<engine::NamedDatum>& inputs,
                                                 const std::vector<std::string>& names);

}  // namespace ingot::verify

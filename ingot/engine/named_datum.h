#pragma once
#include <string>

#include "ingot/ir/array.h"

namespace ingot::engine {

struct NamedDatum {
  std::string name;
  Datum value;
};

}  // namespace ingot::engine

// The failing side of narrow().
#include "ingot/base/checked.h"

#include <string>

#include "ingot/base/error.h"

namespace ingot {

void throw_does_not_fit(std::int64_t value) {
  throw Error(Code::overflow, "the number " + std::to_string(value) + " is out of range");
}

void throw_does_not_fit(std::uint64_t value) {
  throw Error(Code::overflow, "the number " + std::to_string(value) + " is out of range");
}

}  // namespace ingot

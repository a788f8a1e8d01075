#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot {
class Budget;
}

namespace ingot::test {

using Step = std::function<void(Budget&)>;

/// What is too slow, or too many, for each file: a few of these are tried on each. They refer to the model.
std::vector<std::pair<const char*, Step>> rare_commands(const Model& model, const std::string& path,
                                                        const std::string& scratch, std::uint64_t seed);

/// Runs a model on drawn inputs.
void run(const Model& model, Budget& budget);

}  // namespace ingot::test

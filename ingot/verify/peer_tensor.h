#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ingot/engine/inputs.h"

namespace ingot::verify {

/// A tensor as it travels to and from another runtime: {name, type, dims, file | strings}, where `file` holds
/// little-endian elements. Throws where the other side has no such type.
nlohmann::json to_peer(const engine::NamedDatum& tensor, const std::string& file);
engine::NamedDatum from_peer(const nlohmann::json& tensor);

}  // namespace ingot::verify

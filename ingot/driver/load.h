#pragma once
#include <optional>
#include <string>

#include "ingot/driver/format.h"
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

struct LoadOptions {
  std::optional<Format> from;  // absent: the file tells
  bool allow_links = false;
  Budget* budget = nullptr;
};

struct Loaded {
  Model model;
  Format format;
};

/// Reads a model of any format that Ingot knows. Errors name the file.
Loaded load(const std::string& path, const LoadOptions& options = {});

struct SaveOptions {
  std::optional<Format> to;  // absent: the extension tells
  bool external_data = false;
  std::uint64_t external_threshold = 1024;
};

/// Writes a model, whole or not at all.
void save(const Model& model, const std::string& path, const SaveOptions& options = {});

}  // namespace ingot::driver

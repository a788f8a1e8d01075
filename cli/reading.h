#pragma once
#include "command.h"

namespace ingot::cli {

/// What commands that look at a model can be told of a file that does not say it: see driver::ImportOptions.
struct Reading {
  std::string from, signature, tag, weights_from, data, schema;

  driver::LoadOptions load_options(const Global& global) const;
};
void add_reading(App& app, Reading& reading);

}  // namespace ingot::cli

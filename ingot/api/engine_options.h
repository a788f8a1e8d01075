#pragma once
#include "ingot/api/session.h"
#include "ingot/driver/check.h"
#include "ingot/engine/session.h"

namespace ingot {

/// The engine's own options, which know more than users need.
inline engine::SessionOptions engine_options(const SessionOptions& options) {
  engine::SessionOptions own;
  own.budget = options.budget;
  own.threads = options.threads;
  own.is_fast = options.is_fast;
  return own;
}

/// What the commands refuse the library refuses as well.
inline const Model& checked(const Model& model, const SessionOptions& options) {
  if (options.requires_valid) driver::require_valid(model, options.budget);
  return model;
}

}  // namespace ingot

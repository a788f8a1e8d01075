#pragma once
#include "ingot/api/session.h"
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

}  // namespace ingot

#pragma once
#include <memory>
#include <string>

#include "ingot/api/session.h"
#include "ingot/base/error.h"
#include "ingot/driver/check.h"
#include "ingot/engine/session.h"

namespace ingot {

/// The engine's own options, which know more than users need.
inline engine::SessionOptions engine_options(const SessionOptions& options) {
  if (options.threads < 0) throw Error(Code::bad_usage, "the number of threads is negative").hint("0: all there are");
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

/// What a class of the interface works on; one that was moved from has nothing left.
template <class Pointer> auto& held(const Pointer& state, const char* what) {
  if (!state) throw Error(Code::bad_usage, std::string("this ") + what + " was moved from").hint("use the new one");
  return *state;
}

}  // namespace ingot

#pragma once
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/api/graph_view.h"
#include "ingot/api/session.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/ingot_c.h"

// What the handles of ingot_c.h are. Only its implementation includes this.

struct ingot_error {
  ingot_status status;
  int32_t code;
  std::string message, hint, text;
};

struct ingot_model {
  struct Port {
    std::string name, type;
  };
  explicit ingot_model(ingot::Model loaded);

  ingot::Model model;
  std::vector<Port> inputs, outputs;  // spelt once, so that pointers to them last
};

struct ingot_report {
  std::vector<std::string> notes;
};

struct ingot_session {
  ingot_session(const ingot::Model& model, const ingot_session_options& options);

  ingot::Budget budget;
  ingot::Session session;
};

struct ingot_outputs {
  std::vector<ingot::NamedDatum> values;
};

namespace ingot {

/// Puts what was thrown into `error`, if that is wanted. To be called in a handler.
ingot_status report_exception(ingot_error** error) noexcept;

/// Runs the body of a function of ingot_c.h: no exception leaves.
template <class F> ingot_status guarded(ingot_error** error, F&& body) noexcept {
  if (error) *error = nullptr;
  try {
    body();
    return INGOT_OK;
  } catch (...) {
    return report_exception(error);
  }
}

/// Refuses a null pointer, by the name of the argument.
template <class T> T* required(T* argument, const char* name) {
  if (!argument) throw Error(Code::bad_usage, std::string("the argument '") + name + "' is NULL");
  return argument;
}

}  // namespace ingot

// ingot::Error as an exception of Python.
#include "bind.h"
#include "ingot/base/error.h"

namespace ingot::python {
namespace {

std::string_view name_of(Code code) {
  for (const CodeInfo& info : all_codes())
    if (info.code == code) return info.name;
  return {};
}

void raise(const Error& error) {
  const py::object made =
      py::module_::import("ingot.errors")
          .attr("_make")(code_name(error.code()), name_of(error.code()), error.exit_code(), error.message(),
                         error.file(), error.node(), error.op(), error.hint_text(), error.what());
  PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
}

}  // namespace

void bind_errors(py::module_& m) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    }
  });
  m.def("explain", [](const std::string& code) {
    for (const CodeInfo& info : all_codes())
      if (code_name(info.code) == code || info.name == code) return std::string(info.meaning);
    throw Error(Code::unknown_name, "there is no error '" + code + "'");
  });
}

}  // namespace ingot::python

// ingot::Error as an exception of Python.
#include "bind.h"
#include "cli/explain.h"
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
    } catch (const py::cast_error& error) {  // Python's word for it
      PyErr_SetString(PyExc_TypeError, error.what());
    }
  });
  // What the Python side refuses is an Error like the others.
  m.def(
      "refuse",
      [](const std::string& name, const std::string& message, const std::string& hint) {
        for (const CodeInfo& info : all_codes())
          if (info.name == name) throw Error(info.code, message).hint(hint);
      },
      py::arg("name"), py::arg("message"), py::arg("hint") = "");
  m.def("explain", [](const std::string& code) {
    const cli::Explanation e = cli::explain(code);
    return py::make_tuple(e.code, e.name, e.exit_code, e.meaning, e.remedy);
  });
}

}  // namespace ingot::python

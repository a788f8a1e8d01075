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

/// Names of files and of what is in models are bytes, which need not be UTF-8. `invalid`: what becomes of them then.
py::object text_of(std::string_view bytes, const char* invalid = "backslashreplace") {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), invalid));
}

void raise(const Error& error) {
  const py::object made =
      py::module_::import("ingot.errors")
          .attr("_make")(code_name(error.code()), name_of(error.code()), error.exit_code(), text_of(error.message()),
                         text_of(error.file(), "surrogateescape"), text_of(error.node()), text_of(error.op()),
                         text_of(error.hint_text()), text_of(error.what()));
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

#pragma once
#include <pybind11/pybind11.h>

// The parts of the module, each in a file of its name.

namespace ingot::python {

namespace py = pybind11;

void bind_convert(py::module_& m);
void bind_edit(py::module_& m);
void bind_errors(py::module_& m);
void bind_graph(py::module_& m);
void bind_model(py::module_& m);
void bind_quantize(py::module_& m);
void bind_session(py::module_& m);
void bind_trainer(py::module_& m);
void bind_verify(py::module_& m);

}  // namespace ingot::python

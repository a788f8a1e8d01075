#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "ingot/ingot.h"

// Values between Python and Ingot.
//
// Element types that numpy lacks are seen as their bits: bfloat16 as uint16, 8-bit and 4-bit floats as uint8; integers
// of 4 and 2 bits as one byte each.

namespace ingot::python {

namespace py = pybind11;

py::dtype numpy_dtype(DType dtype);
/// "float32", numpy.float32, numpy.dtype("f4"), or ONNX's own names: "float", "bfloat16", ...
DType to_dtype(const py::handle& dtype);

/// The bytes that the model holds, read-only; a copy only where the elements are packed.
py::object to_numpy(const Tensor& tensor);
Tensor to_tensor(const py::handle& value);

/// Arrays are copied if `copies`, else they are read-only: they may be an input's memory, or a weight's.
py::object to_python(const Datum& datum, bool copies);
/// `type` is what the model wants; `name` is for messages. Arrays are not copied where they are contiguous.
Datum to_datum(const py::handle& value, const Type& type, const std::string& name);

/// Keeps a Python object for as long as anything needs its memory, on whatever thread that ends.
std::shared_ptr<const void> keep(const py::object& object);

/// Of an input, a dimension, a column: a text, or the bytes of one that is not UTF-8.
std::string to_name(const py::handle& key);

/// Arrays, sequences, maps by the names of inputs.
std::vector<NamedDatum> to_inputs(const py::dict& values, const std::vector<PortView>& ports);

py::object to_python(const Dim& dim);                     // int, str or None
py::object to_python(const std::optional<Shape>& shape);  // list, or None where not even the rank is known
Shape to_shape(const py::handle& shape);
Type to_type(const py::handle& dtype, const py::handle& shape);

/// str, os.PathLike
std::string to_path(const py::handle& path);
driver::InputShapes to_input_shapes(const py::dict& shapes);

/// Text that need not be UTF-8, since it comes from a file: a str, or bytes where it is not.
py::object to_text(const std::string& text);

}  // namespace ingot::python

// Building models.
#include <pybind11/stl.h>

#include <algorithm>

#include "bind.h"
#include "held_model.h"
#include "values.h"

namespace ingot::python {
namespace {

bool is_type(const py::handle& value) { return PyType_Check(value.ptr()) || py::isinstance<py::dtype>(value); }

AttributeValue list_value(const py::sequence& list, const std::string& name) {
  if (list.empty()) return std::vector<std::int64_t>{};
  bool are_ints = true, are_numbers = true, are_texts = true;
  for (const py::handle& item : list) {
    are_ints &= PyIndex_Check(item.ptr()) != 0;
    are_numbers &= PyNumber_Check(item.ptr()) != 0;
    are_texts &= py::isinstance<py::str>(item) || py::isinstance<py::bytes>(item);
  }
  if (are_ints) return list.cast<std::vector<std::int64_t>>();
  if (are_numbers) return list.cast<std::vector<float>>();
  if (are_texts) return list.cast<std::vector<std::string>>();
  throw py::type_error("attribute '" + name + "' mixes numbers and texts");
}

/// Integers of ONNX's operators that say an element type, which Python says by its name.
bool is_type_name(const std::string& op, const std::string& attribute, const py::handle& value) {
  constexpr std::string_view kTypes[] = {
      "dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type", "to"};
  return py::isinstance<py::str>(value) && op.find('.') == std::string::npos &&
         std::ranges::find(kTypes, attribute) != std::end(kTypes);
}

AttributeValue attribute_value(const py::handle& value, const std::string& name) {
  if (is_type(value)) return static_cast<std::int64_t>(to_dtype(value));
  if (py::isinstance<py::bool_>(value) || PyLong_Check(value.ptr())) return value.cast<std::int64_t>();
  if (PyFloat_Check(value.ptr())) return value.cast<float>();
  if (py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value)) return value.cast<std::string>();
  if (py::isinstance<py::array>(value)) return to_tensor(value);
  if (PyIndex_Check(value.ptr())) return value.cast<std::int64_t>();  // numpy's own integers
  if (PyNumber_Check(value.ptr())) return value.cast<float>();
  if (py::isinstance<py::sequence>(value)) return list_value(value.cast<py::sequence>(), name);
  throw py::type_error("attribute '" + name + "' cannot be a " + std::string(py::str(py::type::of(value))));
}

using Ref = ModelBuilder::Ref;

std::vector<Ref> add_node(ModelBuilder& builder, const std::string& op, const std::vector<std::optional<Ref>>& inputs,
                          std::size_t outputs, const py::dict& attributes, const std::string& name) {
  std::vector<Ref> values;
  for (const std::optional<Ref>& input : inputs) values.push_back(input.value_or(Ref()));
  std::vector<ModelBuilder::Attribute> list;
  for (const auto& [key, value] : attributes) {
    const auto attribute = key.cast<std::string>();
    try {
      if (is_type_name(op, attribute, value))
        list.emplace_back(attribute, static_cast<std::int64_t>(to_dtype(value)));
      else
        list.emplace_back(attribute, attribute_value(value, attribute));
    } catch (const py::cast_error&) {  // more than 64 bits hold
      throw py::type_error("attribute '" + attribute + "' cannot be " + py::repr(value).cast<std::string>());
    }
  }
  if (outputs == 1) return {builder.node(op, values, list, name)};
  return builder.node_outputs(op, values, outputs, list);
}

}  // namespace

void bind_graph(py::module_& m) {
  py::class_<Ref>(m, "Ref");
  py::class_<ModelBuilder>(m, "ModelBuilder")
      .def(py::init<std::int64_t, std::string>())
      .def("import_opset", &ModelBuilder::import_opset)
      .def("input", [](ModelBuilder& b, const std::string& name, const py::object& dtype,
                       const py::object& shape) { return b.input(name, to_type(dtype, shape)); })
      .def("initializer", [](ModelBuilder& b, const std::string& name,
                             const py::object& value) { return b.initializer(name, to_tensor(value)); })
      .def("node", &add_node)
      .def("output", &ModelBuilder::output)
      .def("build", [](ModelBuilder& b) { return HeldModel{b.build()}; });
}

}  // namespace ingot::python

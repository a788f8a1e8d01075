// Scalars, types and tensors between Python and Ingot.
#include "values.h"

#include <pybind11/stl.h>

#include "dlpack.h"
#include "lock.h"

namespace ingot::python {
namespace {

/// The type as numpy knows it, or the one whose bits stand for it.
const char* numpy_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::f16:
      return "float16";
    case DType::i8:
    case DType::i4:
    case DType::i2:
      return "int8";
    case DType::i16:
      return "int16";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::u16:
    case DType::bf16:
      return "uint16";
    case DType::u32:
      return "uint32";
    case DType::u64:
      return "uint64";
    case DType::boolean:
      return "bool";
    case DType::c64:
      return "complex64";
    case DType::c128:
      return "complex128";
    case DType::string:
    case DType::undefined:
      return "object";
    default:
      return "uint8";
  }
}

std::vector<py::ssize_t> numpy_shape(const Dims& dims) { return {dims.begin(), dims.end()}; }

py::object string_array(const Dims& dims, std::span<const std::string> values) {
  py::list list;
  for (const std::string& text : values) list.append(to_text(text));
  const py::object flat = py::module_::import("numpy").attr("empty")(py::int_(values.size()), py::arg("dtype") = "O");
  if (!values.empty()) flat.attr("__setitem__")(py::ellipsis(), list);
  return flat.attr("reshape")(py::cast(dims));
}

std::vector<std::string> strings_of(const py::array& array) {
  std::vector<std::string> values;
  for (const py::handle& item : array.attr("ravel")()) {
    if (!py::isinstance<py::str>(item) && !py::isinstance<py::bytes>(item))
      throw py::type_error("an array of strings holds " + std::string(py::str(py::type::of(item))));
    values.push_back(item.cast<std::string>());
  }
  return values;
}

py::object read_only(py::array array) {
  array.attr("flags").attr("writeable") = false;
  return array;
}

template <class T> py::object view_of(const T& owner, DType dtype, const Dims& dims, const void* data) {
  const py::capsule keeper(new T(owner), [](void* kept) { delete static_cast<T*>(kept); });
  return read_only(py::array(numpy_dtype(dtype), numpy_shape(dims), data, keeper));
}

py::object to_python(const Array& array, bool copies) {
  if (array.dtype() == DType::string) return string_array(array.dims(), array.data<std::string>());
  if (copies) return py::array(numpy_dtype(array.dtype()), numpy_shape(array.dims()), array.bytes());
  return view_of(array, array.dtype(), array.dims(), array.bytes());
}

py::object to_python(const MapData& map, bool copies) {
  py::dict result;
  const py::object values = to_python(map.values, copies);
  for (std::size_t i = 0; i < map.int_keys.size(); ++i) result[py::int_(map.int_keys[i])] = values[py::int_(i)];
  for (std::size_t i = 0; i < map.string_keys.size(); ++i) result[to_text(map.string_keys[i])] = values[py::int_(i)];
  return result;
}

py::array as_array(const py::handle& value, const py::object& dtype) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::handle ndarray = numpy.attr("ndarray");
  py::object array = py::reinterpret_borrow<py::object>(value);
  // Numbers and lists have no type of their own and get the one that is wanted; what has one keeps it.
  if (py::hasattr(value, "mask") && numpy.attr("ma").attr("is_masked")(value).cast<bool>())
    throw Error(Code::bad_input, "elements are masked").hint("say what they are: array.filled(0)");
  const bool has_dtype = py::isinstance(value, ndarray) || py::hasattr(value, "dtype");
  if (!py::isinstance(value, ndarray))
    array = has_dtype ? numpy.attr("asarray")(value) : numpy.attr("asarray")(value, py::arg("dtype") = dtype);
  const auto shape = array.attr("shape");  // ascontiguousarray makes a vector of a scalar
  array = numpy.attr("require")(array, py::arg("requirements") = py::make_tuple("C", "A")).attr("reshape")(shape);
  if (!array.attr("dtype").attr("isnative").cast<bool>())
    array = array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
  return py::reinterpret_borrow<py::array>(array);
}

Dims dims_of(const py::array& array) { return {array.shape(), array.shape() + array.ndim()}; }

/// The element type that the array is taken for: bits of what numpy lacks are what the model wants them to be.
DType taken_as(const py::array& array, DType wanted) {
  if (wanted != DType::undefined && array.dtype().is(numpy_dtype(wanted))) return wanted;
  const DType own = to_dtype(array.dtype());
  const bool is_same = wanted != DType::undefined && std::string_view(numpy_name(wanted)) == numpy_name(own);
  return is_same ? wanted : own;
}

/// What is no array of numpy's and has __dlpack__: torch's and jax's tensors, with all their types.
std::optional<Array> foreign_array(const py::handle& value, DType wanted) {
  if (py::isinstance<py::array>(value)) return std::nullopt;
  try {
    const std::optional<Array> array = from_dlpack(value);
    if (!array || array->dtype() == wanted) return array;
    // Bits of what numpy lacks, as numpy's own arrays may bring them.
    const bool is_bits = array->dtype() == DType::u8 || array->dtype() == DType::u16 || array->dtype() == DType::i8;
    if (!is_bits || wanted == DType::undefined || std::string_view(numpy_name(wanted)) != numpy_name(array->dtype()))
      return array;
    return Array::view(wanted, array->dims(), const_cast<std::byte*>(array->bytes()), std::make_shared<Array>(*array));
  } catch (py::error_already_set&) {
    if (!py::hasattr(value, "__array__")) throw;
    return std::nullopt;  // it has another way, with another word about what is wrong
  }
}

Array to_array(const py::handle& value, DType wanted) {
  if (std::optional<Array> array = foreign_array(value, wanted)) return *std::move(array);
  const py::object dtype_wanted = wanted == DType::undefined ? py::object(py::none()) : numpy_dtype(wanted);
  const py::array array = as_array(value, dtype_wanted);
  const DType dtype = taken_as(array, wanted);
  if (dtype == DType::string) return Array::of<std::string>(dims_of(array), strings_of(array));
  return Array::view(dtype, dims_of(array), const_cast<void*>(array.data()), keep(array));
}

Datum to_map(const py::dict& values, const Type& type) {
  MapData map;
  std::vector<std::pair<py::object, py::object>> entries;
  const py::list keys = py::module_::import("builtins").attr("sorted")(values);
  py::list items;
  for (const py::handle& key : keys) {
    if (type.elem == DType::string)
      map.string_keys.push_back(key.cast<std::string>());
    else
      map.int_keys.push_back(key.cast<std::int64_t>());
    items.append(values[key]);
  }
  map.values = to_array(items, type.inner().elem);
  return map;
}

}  // namespace

std::shared_ptr<const void> keep(const py::object& object) {
  return {new py::object(object), [](const void* kept) {
            if (!Py_IsInitialized()) return;
            const WithLock lock(true);
            delete static_cast<const py::object*>(kept);
          }};
}

std::string to_name(const py::handle& key) {
  if (py::isinstance<py::bytes>(key)) return key.cast<std::string>();
  if (!py::isinstance<py::str>(key))
    throw py::type_error("names are texts, and " + py::repr(key).cast<std::string>() + " is none");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
  if (!text) throw py::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

py::dtype numpy_dtype(DType dtype) { return py::dtype(numpy_name(dtype)); }

DType to_dtype(const py::handle& dtype) {
  if (py::isinstance<py::str>(dtype))
    if (const auto named = dtype_from_name(dtype.cast<std::string>())) return *named;
  if (dtype.is(py::type::of(py::str()))) return DType::string;
  const py::dtype own = py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype));
  if (own.kind() == 'O' || own.kind() == 'U' || own.kind() == 'S') return DType::string;
  for (const DType candidate : {DType::f32, DType::f64, DType::f16, DType::i8, DType::i16, DType::i32, DType::i64,
                                DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean, DType::c64, DType::c128})
    if (own.attr("newbyteorder")("=").equal(numpy_dtype(candidate))) return candidate;
  throw Error(Code::bad_input, "ONNX has no element type for numpy's " + py::str(py::handle(own)).cast<std::string>());
}

py::object to_numpy(const Tensor& tensor) {
  if (!tensor) return py::none();
  if (tensor.dtype() == DType::string) return string_array(tensor.dims(), tensor.strings());
  if (!is_sub_byte(tensor.dtype())) return view_of(tensor, tensor.dtype(), tensor.dims(), tensor.bytes().data());
  const Array unpacked = Array::from(tensor);
  return view_of(unpacked, tensor.dtype(), tensor.dims(), unpacked.bytes());
}

Tensor to_tensor(const py::handle& value) {
  const py::object numpy = py::module_::import("numpy");
  const Array array = to_array(numpy.attr("asarray")(value), DType::undefined);
  if (array.dtype() == DType::string) return array.to_tensor();
  return Tensor(array.dtype(), array.dims(), Bytes::copy({array.bytes(), array.byte_size()}));
}

py::object to_python(const Datum& datum, bool copies) {
  if (const Array* array = datum.array()) return to_python(*array, copies);
  if (const MapData* map = datum.map()) return to_python(*map, copies);
  if (const SparseArray* sparse = datum.sparse())
    return py::module_::import("ingot._sparse")
        .attr("SparseTensor")(to_python(sparse->values, copies), to_python(sparse->indices, copies),
                              py::tuple(py::cast(sparse->dims)));
  if (!datum.sequence()) return py::none();
  py::list items;
  for (const Datum& item : *datum.sequence()) items.append(to_python(item, copies));
  return items;
}

Datum to_datum(const py::handle& value, const Type& type, const std::string& name) {
  if (value.is_none()) return {};
  if (type.is_optional()) return to_datum(value, type.inner(), name);
  if (type.kind == Type::Kind::map) return to_map(py::reinterpret_borrow<py::dict>(value), type);
  if (type.is_sequence()) {
    Sequence items;
    for (const py::handle& item : value) items.push_back(to_datum(item, type.inner(), name));
    return items;
  }
  if (type.kind == Type::Kind::sparse_tensor)
    return SparseArray{to_array(value.attr("values"), type.elem), to_array(value.attr("indices"), DType::i64),
                       value.attr("shape").cast<Dims>()};
  const auto refused = [&](const std::string& why) { return Error(Code::bad_input, "input '" + name + "': " + why); };
  try {
    return to_array(value, type.elem);
  } catch (const Error& error) {
    throw refused(error.message()).hint(error.hint_text());
  } catch (const py::builtin_exception& error) {
    throw refused(error.what());
  } catch (const py::error_already_set& error) {  // what numpy makes no array of
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError) && !error.matches(PyExc_OverflowError))
      throw;
    throw refused(py::str(error.value()).cast<std::string>());
  }
}

std::vector<NamedDatum> to_inputs(const py::dict& values, const std::vector<PortView>& ports) {
  std::vector<NamedDatum> inputs;
  for (const auto& [key, value] : values) {
    const std::string name = to_name(key);
    Type type;
    for (const PortView& port : ports)
      if (port.name == name) type = port.type;
    inputs.push_back({name, to_datum(value, type, name)});
  }
  return inputs;
}

py::object to_python(const Dim& dim) {
  if (dim.is_unknown()) return py::none();
  if (dim.is_known()) return py::int_(dim.value());
  return to_text(dim.str());
}

py::object to_python(const std::optional<Shape>& shape) {
  if (!shape) return py::none();
  py::list dims;
  for (const Dim& dim : *shape) dims.append(to_python(dim));
  return dims;
}

Dim to_dim(const py::handle& size) {
  const Py_ssize_t number = PyNumber_AsSsize_t(size.ptr(), PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (number < -1) throw py::value_error("a dimension cannot be " + std::to_string(number));
  return number == -1 ? Dim() : Dim(number);
}

Shape to_shape(const py::handle& shape) {
  if (py::isinstance<py::str>(shape))  // whose letters are no dimensions
    throw Error(Code::bad_usage, "the shape '" + shape.cast<std::string>() + "' is a text")
        .hint("a list such as [1, 3] or ['N', 3]");
  Shape dims;
  for (const py::handle& dim : shape) {
    if (dim.is_none())
      dims.emplace_back();
    else if (py::isinstance<py::str>(dim))
      dims.push_back(Dim::symbol(dim.cast<std::string>()));
    else
      dims.push_back(to_dim(dim));
  }
  return dims;
}

Type to_type(const py::handle& dtype, const py::handle& shape) {
  return Type::tensor(to_dtype(dtype), shape.is_none() ? std::nullopt : std::optional(to_shape(shape)));
}

std::string to_path(const py::handle& path) {
  return py::module_::import("os").attr("fsencode")(path).cast<std::string>();
}

driver::InputShapes to_input_shapes(const py::dict& shapes) {
  driver::InputShapes all;
  for (const auto& [name, shape] : shapes) all.emplace_back(to_name(name), to_shape(shape));
  return all;
}

py::object to_text(const std::string& text) {
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), nullptr);
  if (made) return py::reinterpret_steal<py::object>(made);
  PyErr_Clear();
  return py::bytes(text);
}

}  // namespace ingot::python

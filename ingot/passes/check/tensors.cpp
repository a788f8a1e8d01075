// Tensors: initializers and those in attributes, against their types, their places and their values.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/checked.h"
#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

/// Whether the bytes are UTF-8: no overlong forms, surrogates or numbers beyond U+10FFFF.
bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || length > text.size() - i) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    if (length > 2) {
      const unsigned char second = byte(i + 1);
      if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
          (first == 0xF4 && second > 0x8F))
        return false;
    }
    i += length;
  }
  return true;
}

class TensorRules {
 public:
  TensorRules(Context& c, std::string place, std::string what)
      : c_(c), place_(std::move(place)), what_(std::move(what)) {}

  void check(const Tensor& tensor) {
    if (tensor.dtype() == DType::undefined) {
      error(Code::bad_elements, "{} has no element type", "state the type of its elements");
    } else if (tensor.dtype() == DType::string) {
      const auto strings = tensor.strings();
      const auto bad = std::ranges::find_if(strings, [](const std::string& s) { return !is_utf8(s); });
      if (bad != strings.end())
        c_.report.warning(Code::bad_elements, place_,
                          fmt::format("string {} of {} is not UTF-8", bad - strings.begin(), what_),
                          "store bytes in a tensor of uint8");
    } else if (tensor.dtype() == DType::boolean) {
      const std::byte* data = tensor.bytes().data();
      const auto count = static_cast<std::size_t>(tensor.size());
      if (std::any_of(data, data + count, [](std::byte b) { return b > std::byte{1}; }))
        c_.report.warning(Code::bad_elements, place_, fmt::format("{} holds booleans that are neither 0 nor 1", what_),
                          "store 1 for true");
    }
  }

  void check(const SparseTensor& sparse) {
    const Tensor &values = sparse.values, &indices = sparse.indices;
    check(values);
    if (values.rank() != 1) return error(Code::bad_sparse_tensor, "the values of {} must have rank 1", "list them");
    if (sparse.dims.empty()) return error(Code::bad_sparse_tensor, "{} must not be a scalar", "store it dense");
    if (std::ranges::any_of(sparse.dims, [](std::int64_t d) { return d <= 0; }))
      return error(Code::bad_sparse_tensor, "{} has a dimension that is not positive", "correct its shape");
    const std::int64_t count = values.size();
    if (!indices) {
      if (count != 0) error(Code::bad_sparse_tensor, "{} has values but no indices", "say where the values are");
      return;
    }
    if (indices.dtype() != DType::i64)
      return error(Code::bad_sparse_tensor, "the indices of {} must be int64", "convert them");
    const auto rank = static_cast<std::int64_t>(sparse.dims.size());
    const bool is_linear = indices.rank() == 1;
    if (!is_linear && !(indices.rank() == 2 && indices.dims()[1] == rank))
      return error(Code::bad_sparse_tensor, "the indices of {} must have the shape [values] or [values, rank]",
                   "give one position, or one index per dimension, for each value");
    if (indices.dims()[0] != count)
      return error(Code::bad_sparse_tensor, "{} must have as many indices as values", "give each value one place");
    check_places(sparse, is_linear);
  }

 private:
  void error(Code code, std::string_view format, std::string_view hint) {
    c_.report.error(code, place_, fmt::format(fmt::runtime(format), what_), std::string(hint));
  }

  /// Places lie in the shape and ascend.
  void check_places(const SparseTensor& sparse, bool is_linear) {
    const Tensor& indices = sparse.indices;
    const std::int64_t count = sparse.values.size();
    const auto width = is_linear ? std::int64_t{1} : static_cast<std::int64_t>(sparse.dims.size());
    const auto size = element_count(sparse.dims);  // positions of the linear form lie below it
    if (!size || !std::in_range<std::int64_t>(*size))
      return error(Code::bad_sparse_tensor, "the dense size of {} overflows", "correct its shape");
    for (std::int64_t i = 0; i < count; ++i) {
      bool ascends = false;
      for (std::int64_t k = 0; k < width; ++k) {
        const auto index = indices.at<std::int64_t>(i * width + k);
        const std::int64_t end =
            is_linear ? static_cast<std::int64_t>(*size) : sparse.dims[static_cast<std::size_t>(k)];
        if (index < 0 || index >= end)
          return c_.report.error(
              Code::bad_sparse_tensor, place_,
              fmt::format("index {} of value {} of {} lies outside 0 to {}", index, i, what_, end - 1),
              "correct the index");
        if (i > 0 && !ascends) {
          const auto before = indices.at<std::int64_t>((i - 1) * width + k);
          if (index < before) break;
          ascends = index > before;
        }
      }
      if (i > 0 && !ascends)
        return c_.report.error(
            Code::bad_sparse_tensor, place_,
            fmt::format("the place of value {} of {} does not follow that of value {}", i, what_, i - 1),
            "sort the values by their places, each place once");
    }
  }

  Context& c_;
  std::string place_, what_;
};

void check_initializer(Context& c, const Value& value, bool is_nested) {
  const Type held = value.initializer ? value.initializer->type() : value.sparse_initializer->type();
  if (value.initializer) {
    const DType dtype = value.initializer->dtype();
    // Places are words: only made for tensors that have rules for their values.
    if (dtype == DType::undefined || dtype == DType::string || dtype == DType::boolean)
      TensorRules(c, c.places.of(value), "the tensor").check(*value.initializer);
  } else {
    TensorRules(c, c.places.of(value), "the sparse tensor").check(*value.sparse_initializer);
  }
  if (!value.is_input()) {
    if (c.model.ir_version > 0 && c.model.ir_version < 4 && !value.graph().is_function_body)
      c.report.warning(Code::bad_initializer, c.places.of(value),
                       fmt::format("IR version {} wants every initializer to be an input too", c.model.ir_version),
                       "add it to the graph's inputs, or state IR version 4 or newer");
  } else if (is_nested && c.model.ir_version >= 4) {
    c.report.warning(Code::bad_initializer, c.places.of(value), "an input of a nested graph must not have a default",
                     "remove it from the graph's inputs");
  }
  std::string why;
  // A sparse initializer is read as the dense tensor of the same shape.
  Type stated = value.type;
  if (value.sparse_initializer && stated.is_tensor()) stated.kind = held.kind;
  if (!may_match(stated, held, &why))
    c.report.error(
        Code::bad_initializer, c.places.of(value),
        fmt::format("it is stated to be {}, but the initializer is {} ({})", value.type.str(), held.str(), why),
        "correct the type that is stated");
}

void check_attribute(Context& c, const Node& node, const Attribute& a) {
  const auto rules = [&] { return TensorRules(c, c.places.of(node), "attribute " + quoted(a.name)); };
  if (const auto* t = std::get_if<Tensor>(&a.value)) {
    if (t->dtype() == DType::undefined || t->dtype() == DType::string || t->dtype() == DType::boolean)
      rules().check(*t);
  } else if (const auto* list = std::get_if<std::vector<Tensor>>(&a.value)) {
    for (const Tensor& one : *list) rules().check(one);
  } else if (const auto* sparse = std::get_if<SparseTensor>(&a.value)) {
    rules().check(*sparse);
  } else if (const auto* sparse_list = std::get_if<std::vector<SparseTensor>>(&a.value)) {
    for (const SparseTensor& one : *sparse_list) rules().check(one);
  }
}

}  // namespace

void check_tensors(Context& c) {
  for (const GraphPlace& place : c.graphs) {
    const Graph& graph = *place.graph;
    const bool is_training_root = place.training && (&graph == place.training->algorithm.get());
    const bool is_nested = graph.parent() && !is_training_root;
    for (const Value* v : graph.initializers()) check_initializer(c, *v, is_nested);
    for (const Node& node : graph.nodes())
      for (const Attribute& a : node.attributes) check_attribute(c, node, a);
  }
}

}  // namespace ingot::passes::rules

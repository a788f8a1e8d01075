// An operator of a plug-in: C functions behind inference and kernel.
#include <algorithm>
#include <cctype>
#include <exception>
#include <limits>
#include <vector>

#include "ingot/base/error.h"
#include "ingot/driver/plugin_parts.h"
#include "ingot/ingot_plugin.h"
#include "ingot/ops/extra_operators.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"

/// What the C side sees of a node; either of the contexts is there.
struct ingot_call {
  const ingot::Node& node;
  ingot::ops::InferContext* infer = nullptr;
  ingot::ops::KernelContext* kernel = nullptr;
  std::vector<std::vector<std::int64_t>> dims{};  // of inputs, alive as long as the call
  std::vector<bool> made{};                       // outputs
  std::string failure{};
  std::exception_ptr error{};  // of our own side, which must not pass through C
};

namespace ingot::driver {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

std::size_t input_count(const ingot_call* call) { return call->node.input_count(); }
std::size_t output_count(const ingot_call* call) { return call->node.output_count(); }

int input(const ingot_call* call, std::size_t index, ingot_tensor* tensor) {
  if (!tensor || index >= call->dims.size()) return 0;
  if (call->kernel) {
    if (!call->kernel->has(index) || !call->kernel->datum(index).array()) return 0;
    const Array& array = *call->kernel->datum(index).array();
    // Texts are objects of C++, which do not cross.
    *tensor = {static_cast<std::int32_t>(array.dtype()), static_cast<std::int32_t>(array.rank()), array.dims().data(),
               array.dtype() == DType::string ? nullptr : array.bytes()};
    return 1;
  }
  if (!call->infer->has(index) || !call->infer->type(index).is_tensor()) return 0;
  const auto rank = call->infer->rank(index);
  *tensor = {static_cast<std::int32_t>(call->infer->elem(index)), rank ? static_cast<std::int32_t>(*rank) : -1,
             call->dims[index].data(), nullptr};
  return 1;
}

template <class T> int attribute(const ingot_call* call, const char* name, T* value) {
  const T* found = name ? call->node.attributes.get<T>(name) : nullptr;
  if (found && value) *value = *found;
  return found != nullptr;
}

int attribute_string(const ingot_call* call, const char* name, const char** value, std::size_t* length) {
  const auto* found = name ? call->node.attributes.get<std::string>(name) : nullptr;
  if (found && value) *value = found->c_str();
  if (found && length) *length = found->size();
  return found != nullptr;
}

int attribute_ints(const ingot_call* call, const char* name, const std::int64_t** values, std::size_t* count) {
  const auto* found = name ? call->node.attributes.get<std::vector<std::int64_t>>(name) : nullptr;
  if (found && values) *values = found->data();
  if (found && count) *count = found->size();
  return found != nullptr;
}

void fail(ingot_call* call, const char* message) {
  call->failure = message ? message : "it fails and does not say why";
}

bool is_element_type(std::int32_t type) {
  const auto dtype = static_cast<DType>(type);
  return type > 0 && type <= 26 && dtype != DType::string && bits_of(dtype) >= 8;
}

/// Whether what is made is what inference said.
bool is_as_said(const Value& v, DType dtype, const Dims& dims) {
  if (!v.type.is_tensor()) return true;
  if (v.type.elem != DType::undefined && v.type.elem != dtype) return false;
  if (!v.type.shape) return true;
  if (v.type.shape->size() != dims.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if ((*v.type.shape)[i].is_known() && (*v.type.shape)[i].value() != dims[i]) return false;
  return true;
}

void* output(ingot_call* call, std::size_t index, std::int32_t type, std::int32_t rank, const std::int64_t* sizes) {
  const bool is_sound = index < call->node.output_count() && is_element_type(type) && rank >= 0 &&
                        rank <= static_cast<std::int32_t>(ops::kMostDims) && (rank == 0 || sizes);
  if (!is_sound) {
    fail(call, "it asks for an output that cannot be");
    return nullptr;
  }
  const auto dtype = static_cast<DType>(type);
  const Dims dims(sizes, sizes + rank);
  if (call->infer) {
    Shape shape;
    for (const std::int64_t d : dims) shape.push_back(d < 0 ? Dim() : Dim(d));
    try {
      call->infer->out(index, Type::tensor(dtype, shape));
    } catch (...) {
      call->error = std::current_exception();
    }
    return nullptr;
  }
  if (std::ranges::any_of(dims, [](std::int64_t d) { return d < 0; })) {
    fail(call, "it asks for an output of a negative size");
    return nullptr;
  }
  const Value* v = call->node.output(index);
  if (!v) return nullptr;
  if (!is_as_said(*v, dtype, dims)) {
    Shape shape;
    for (const std::int64_t d : dims) shape.emplace_back(d);
    fail(call, ("it makes " + Type::tensor(dtype, shape).str() + " where it said " + v->type.str()).c_str());
    return nullptr;
  }
  try {
    void* memory = call->kernel->make(index, dtype, dims).bytes();
    call->made[index] = true;
    return memory;
  } catch (...) {
    call->error = std::current_exception();
    return nullptr;
  }
}

constexpr ingot_host kHost = {sizeof(ingot_host), input_count,      output_count,   input,  attribute<std::int64_t>,
                              attribute<float>,   attribute_string, attribute_ints, output, fail};

/// Calls out, and lets nothing but an Error come back.
void call_out(int (*function)(const ingot_host*, ingot_call*), ingot_call& call, const std::string& plugin) {
  int code = 1;
  try {
    code = function(&kHost, &call);
  } catch (...) {
    call.failure = "it throws an exception through the interface";
  }
  if (call.error) std::rethrow_exception(call.error);
  if (code != 0 && call.failure.empty())
    call.failure = "it fails with " + std::to_string(code) + " and does not say why";
  if (!call.failure.empty()) throw Error(Code::execution_failed, "plug-in '" + plugin + "': " + call.failure);
}

void check_counts(const Node& node, const OperatorSchema& schema, const std::string& plugin) {
  const bool fits = node.input_count() >= schema.least_inputs && node.input_count() <= schema.most_inputs &&
                    node.output_count() >= schema.least_outputs && node.output_count() <= schema.most_outputs;
  if (!fits)
    throw Error(Code::bad_arity, "plug-in '" + plugin + "' has " + schema.text + ", and this node has " +
                                     std::to_string(node.input_count()) + " inputs and " +
                                     std::to_string(node.output_count()) + " outputs");
}

/// Words between brackets: how many there must be, and can be.
void count_words(const std::string& list, std::size_t& least, std::size_t& most) {
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string word = list.substr(begin, end - begin);
    std::erase_if(word, [](unsigned char c) { return std::isspace(c) != 0; });
    begin = end + 1;
    if (word.ends_with("...")) {
      most = kAny;
    } else if (!word.empty()) {
      if (most != kAny) ++most;
      if (!word.ends_with('?')) least = most;
    }
  }
}

}  // namespace

OperatorSchema parse_schema(const std::string& text, const std::string& plugin) {
  const auto refuse = [&]() {
    throw Error(Code::bad_usage, "plug-in '" + plugin + "': the schema '" + text + "' is not understood");
  };
  const std::size_t open = text.find('('), close = text.find(')'), arrow = text.find("->");
  if (open == std::string::npos || close == std::string::npos || arrow == std::string::npos || close < open ||
      arrow < close)
    refuse();
  const std::size_t second = text.find('(', arrow), last = text.find(')', arrow);
  const std::string full = text.substr(0, open);
  const std::size_t dot = full.rfind('.');
  if (second == std::string::npos || last == std::string::npos || last < second || dot == std::string::npos ||
      dot == 0 || dot + 1 == full.size())
    refuse();
  OperatorSchema schema{.domain = full.substr(0, dot), .name = full.substr(dot + 1), .text = text};
  count_words(text.substr(open + 1, close - open - 1), schema.least_inputs, schema.most_inputs);
  count_words(text.substr(second + 1, last - second - 1), schema.least_outputs, schema.most_outputs);
  if (schema.most_outputs == 0) refuse();
  return schema;
}

void add_plugin_operator(const std::string& plugin, OperatorSchema schema, const ingot_operator& op) {
  ops::ExtraOperator extra{.domain = schema.domain, .name = schema.name, .infer = {}, .run = {}};
  extra.infer = [plugin, schema, infer = op.infer](ops::InferContext& c) {
    check_counts(c.node(), schema, plugin);
    ingot_call call{.node = c.node(), .infer = &c};
    for (std::size_t i = 0; i < c.input_count(); ++i) {
      auto& dims = call.dims.emplace_back();
      if (const Shape* shape = c.shape(i))
        for (const Dim& d : *shape) dims.push_back(d.is_known() ? d.value() : -1);
    }
    call_out(infer, call, plugin);
  };
  extra.run = [plugin, run = op.run](ops::KernelContext& c) {
    ingot_call call{.node = c.node, .kernel = &c};
    call.dims.resize(c.input_count());
    call.made.resize(c.output_count());
    call_out(run, call, plugin);
    for (std::size_t i = 0; i < c.output_count(); ++i)
      if (c.wants(i) && !call.made[i])
        throw Error(Code::execution_failed, "plug-in '" + plugin + "': output " + std::to_string(i) + " was not made");
  };
  try {
    ops::add_operator(std::move(extra));
  } catch (const Error& error) {
    throw Error(error.code(), "plug-in '" + plugin + "': " + error.message());
  }
}

}  // namespace ingot::driver

// LabelEncoder: looks each element up in a list of keys and gives the value at the same place.
#include "ingot/ops/ml/label_encoder.h"

#include <cmath>
#include <numeric>
#include <unordered_map>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

struct Column {
  DType elem = DType::undefined;
  std::size_t size = 0;
};

/// Which of keys_* or values_* is given.
Column column(const Attributes& attributes, const std::string& prefix) {
  if (const auto* t = attributes.get<Tensor>(prefix + "_tensor"))
    return {t->dtype(), static_cast<std::size_t>(t->size())};
  if (const auto* s = attributes.get<Strings>(prefix + "_strings")) return {DType::string, s->size()};
  if (const auto* i = attributes.get<Ints>(prefix + "_int64s")) return {DType::i64, i->size()};
  if (const auto* f = attributes.get<Floats>(prefix + "_floats")) return {DType::f32, f->size()};
  return {};
}

void infer(InferContext& c) {
  const Column keys = column(c.node().attributes, "keys"), values = column(c.node().attributes, "values");
  if (keys.elem == DType::undefined || values.elem == DType::undefined) c.fail("keys or values are missing");
  if (keys.size != values.size)
    c.fail(std::to_string(keys.size) + " keys for " + std::to_string(values.size) + " values");
  if (c.elem(0) != DType::undefined && c.elem(0) != keys.elem) c.fail("the input and the keys differ in type");
  if (const auto* fallback = c.node().attributes.get<Tensor>("default_tensor"))
    c.require(fallback->dtype() == values.elem && fallback->size() == 1, "the default must be one of the values' type");
  c.out_elem(0, values.elem);
  c.out_shape_like(0, 0);
}

Ints counted(std::size_t size) {
  Ints numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Version 1 knew strings and their positions only; the input's type said which way.
void up_2(StepContext& c) {
  Attributes& a = c.node.attributes;
  const auto* classes = a.get<Strings>("classes_strings");
  if (!classes) c.cannot("attribute 'classes_strings' is missing");
  Strings strings = *classes;
  Ints positions = counted(strings.size());
  const DType x = c.type(0).elem;
  const DType y = c.node.output() ? c.node.output()->type.elem : DType::undefined;
  if (x != DType::string && x != DType::i64 && y != DType::string && y != DType::i64)
    c.cannot("the type of the input is needed but not known");
  const bool from_strings = x == DType::string || (x == DType::undefined && y == DType::i64);
  a.erase("classes_strings");
  a.set(Attribute(from_strings ? "keys_strings" : "values_strings", AttrValue(std::move(strings))));
  a.set(Attribute(from_strings ? "values_int64s" : "keys_int64s", AttrValue(std::move(positions))));
}

void down_2(StepContext& c) {
  Attributes& a = c.node.attributes;
  const auto *keys = a.get<Strings>("keys_strings"), *values = a.get<Strings>("values_strings");
  const auto *numbers = a.get<Ints>("values_int64s"), *codes = a.get<Ints>("keys_int64s");
  const bool forth = keys && numbers && *numbers == counted(keys->size());
  const bool back = values && codes && *codes == counted(values->size());
  if (!forth && !back) c.cannot("version 1 maps between strings and their positions only", "use ai.onnx.ml 2 or newer");
  Strings classes = forth ? *keys : *values;
  for (const char* name : {"keys_strings", "values_strings", "values_int64s", "keys_int64s", "default_float"})
    a.erase(name);
  a.set(Attribute("classes_strings", AttrValue(std::move(classes))));
}

/// The list attribute that holds a tensor's values before version 4.
void unpack(StepContext& c, const std::string& prefix, bool is_list) {
  Attributes& a = c.node.attributes;
  const auto* found = a.get<Tensor>(prefix + "_tensor");
  if (!found) return;
  const Tensor t = *found;
  if (!is_list && t.size() != 1) c.cannot("the default must be one element");
  const std::string ending = is_list ? "s" : "";
  a.erase(prefix + "_tensor");
  switch (t.dtype()) {
    case DType::string: {
      const Strings values(t.strings().begin(), t.strings().end());
      a.set(Attribute(prefix + "_string" + ending, is_list ? AttrValue(values) : AttrValue(values.front())));
      break;
    }
    case DType::i64: {
      const Ints values = t.to_ints();
      a.set(Attribute(prefix + "_int64" + ending, is_list ? AttrValue(values) : AttrValue(values.front())));
      break;
    }
    case DType::f32: {
      const Floats values = t.to_vector<float>();
      a.set(Attribute(prefix + "_float" + ending, is_list ? AttrValue(values) : AttrValue(values.front())));
      break;
    }
    default:
      c.cannot(std::string(name_of(t.dtype())) + " keys and values exist since version 4 only");
  }
}

void down_4(StepContext& c) {
  unpack(c, "keys", true);
  unpack(c, "values", true);
  unpack(c, "default", false);
}

constexpr Step kSteps[] = {{.since = 2, .up = up_2, .down = down_2}, {.since = 4, .down = down_4}};

/// keys_* or values_*, whichever form is given; nothing: none.
Array list_of(const KernelContext& c, const std::string& prefix) {
  const Attributes& a = c.node.attributes;
  if (const auto* tensor = a.get<Tensor>(prefix + "_tensor")) return Array::from(*tensor);
  const auto list = [](const auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    return Array::of<T>({std::ssize(values)}, values);
  };
  if (const auto* strings = a.get<Strings>(prefix + "_strings")) return list(*strings);
  if (const auto* ints = a.get<Ints>(prefix + "_int64s")) return list(*ints);
  if (const auto* floats = a.get<Floats>(prefix + "_floats")) return list(*floats);
  return {};
}

/// The place of the key that each element equals, and whether there is one.
std::pair<Value*, Value*> looked_up(DecomposeContext& c, const Tensor& keys) {
  GraphBuilder& g = c.g;
  const Ints counted_keys = keys.dtype() == DType::i64 ? keys.to_ints() : Ints();
  if (!counted_keys.empty() && counted_keys == counted(counted_keys.size())) {
    Value *first = g.index(0), *last = g.index(std::ssize(counted_keys) - 1);
    Value* place = g.op("Clip", {c.in(0), first, last});
    return {place, g.op("Equal", {place, c.in(0)})};
  }
  const auto rank = c.rank(0).value_or(0);
  Value* is_key = g.op("Equal", {g.unsqueeze(c.in(0), {rank}), g.constant(keys.reshaped({keys.size()}))});
  Value* numbers = g.cast(is_key, DType::f32);
  Value* place = g.op("ArgMax", {numbers}, {{"axis", rank}, {"keepdims", 0}});
  Value* most = g.op("ReduceMax", {numbers, g.ints({rank})}, {{"keepdims", 0}});
  return {place, g.op("Greater", {most, g.scalar(0, DType::f32)})};
}

/// Whether each element of the input is the place of a maximum among at most `count`.
bool is_place(const Value* x, std::int64_t count) {
  const Node* node = x->producer();
  if (!node || !node->is("ArgMax") || !node->input(0)->type.shape) return false;
  const Shape& shape = *node->input(0)->type.shape;
  std::int64_t axis = node->attributes.int_or("axis", 0);
  if (axis < 0) axis += std::ssize(shape);
  const Dim& size = shape[static_cast<std::size_t>(axis)];
  return size.is_known() && size.value() <= count;
}

/// Numbers by comparison with all keys; strings as values where no element can be without a key.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const Attributes& a = c.node.attributes;
  const auto keys = label_list(a, "keys"), values = label_list(a, "values");
  if (!keys || !values || keys->size() != values->size() || keys->size() == 0 || !c.rank(0)) return {};
  if (keys->dtype() != c.elem(0) || keys->dtype() == DType::string) return {};
  for (const double key : keys->to_doubles())
    if (std::isnan(key)) return {};
  Value* list = g.constant(values->reshaped({values->size()}));
  if (keys->dtype() == DType::i64 && keys->to_ints() == counted(static_cast<std::size_t>(keys->size())) &&
      is_place(c.in(0), keys->size()))
    return {g.op("Gather", {list, c.in(0)})};
  if (values->dtype() == DType::string) return {};
  const auto [place, is_key] = looked_up(c, *keys);
  const auto* stated = a.get<Tensor>("default_tensor");
  Value* absent =
      stated ? g.constant(stated->reshaped({}))
             : g.scalar(is_float(values->dtype()) ? static_cast<double>(c.attr("default_float", -0.0f))
                                                  : static_cast<double>(c.attr("default_int64", std::int64_t{-1})),
                        values->dtype());
  return {g.where(is_key, g.op("Gather", {list, place}), absent)};
}

/// What stands for elements that are no key.
Array default_of(KernelContext& c, DType elem) {
  if (const auto* tensor = c.node.attributes.get<Tensor>("default_tensor")) {
    if (tensor->dtype() != elem || tensor->size() != 1) c.fail("the default must be one of the values' type");
    return Array::from(*tensor);
  }
  if (elem == DType::string) return Array::scalar(c.attr("default_string", "_Unused"));
  if (is_float(elem)) return converted(Array::scalar(c.attr("default_float", -0.0f)), elem, c.host());
  return converted(Array::scalar(c.attr("default_int64", std::int64_t{-1})), elem, c.host());
}

/// NaN equals NaN here.
template <class T> struct SameKey {
  bool operator()(const T& a, const T& b) const { return a == b || (is_nan(a) && is_nan(b)); }
};
template <class T> struct KeyHash {
  std::size_t operator()(const T& key) const { return is_nan(key) ? 0 : std::hash<T>()(key); }
};

using KeyTypes = Types<std::string, std::int64_t, float, std::int32_t, std::int16_t, double>;

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const Array keys = list_of(c, "keys"), values = list_of(c, "values");
  if (!keys || !values || keys.size() != values.size()) c.fail("keys or values are missing, or differ in number");
  if (keys.dtype() != x.dtype()) c.fail("the input and the keys differ in type");
  const Array absent = default_of(c, values.dtype());
  Array& y = c.make(0, values.dtype(), x.dims());
  dispatch(x.dtype(), KeyTypes{}, [&]<class K>() {
    std::unordered_map<K, std::size_t, KeyHash<K>, SameKey<K>> places;
    for (std::size_t i = 0; i < keys.data<K>().size(); ++i) places.try_emplace(keys.data<K>()[i], i);
    dispatch_cell(values.dtype(), [&]<class T>() {
      T* out = cells<T>(y);
      for (const K& key : x.data<K>()) {
        const auto it = places.find(key);
        *out++ = it == places.end() ? cells<T>(absent)[0] : cells<T>(values)[it->second];
      }
    });
  });
}

}  // namespace

std::optional<Tensor> label_list(const Attributes& a, const std::string& prefix) {
  if (const auto* t = a.get<Tensor>(prefix + "_tensor")) return *t;
  if (const auto* ints = a.get<Ints>(prefix + "_int64s")) return Tensor::ints(*ints);
  if (const auto* floats = a.get<Floats>(prefix + "_floats"))
    return Tensor::of<float>({static_cast<std::int64_t>(floats->size())}, *floats);
  if (const auto* strings = a.get<Strings>(prefix + "_strings"))
    return Tensor::of_strings({static_cast<std::int64_t>(strings->size())}, *strings);
  return std::nullopt;
}

constinit const OpDef defs::LabelEncoder = {
    .name = "LabelEncoder",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops

// Nodes and constants of one graph or function.
#include "ingot/backends/tensorflow/emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tensorflow/definitions.h"
#include "ingot/backends/tensorflow/operators.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

/// As TensorFlow holds elements: whole bytes each.
Bytes whole_bytes(const Tensor& tensor) {
  if (!is_sub_byte(tensor.dtype())) return tensor.bytes();
  std::vector<std::byte> out(static_cast<std::size_t>(tensor.size()));
  dispatch(tensor.dtype(), Any{}, [&]<class T>() {
    if constexpr (kIsPacked<T>)
      for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint32_t bits = load_element<T>(tensor.bytes().data(), i).to_bits();
        if constexpr (std::is_same_v<T, Int4> || std::is_same_v<T, Int2>)
          bits = static_cast<std::uint32_t>(static_cast<int>(load_element<T>(tensor.bytes().data(), i)));
        out[i] = static_cast<std::byte>(bits & 0xff);
      }
  });
  return Bytes::own(std::move(out));
}

/// How an argument of a function is marked while its body is made.
constexpr std::string_view kArgument = "_Arg";

const tf::AttrValue* find(const std::vector<tf::Attr>& attrs, std::string_view name) {
  const auto found = std::ranges::find(attrs, name, &tf::Attr::name);
  return found == attrs.end() ? nullptr : &found->value;
}

}  // namespace

tf::TensorProto proto_of(const Tensor& tensor) {
  tf::TensorProto proto;
  proto.dtype = word_for(tensor.dtype());
  proto.shape.dims = tensor.dims();
  if (tensor.dtype() == DType::string)
    proto.strings.assign(tensor.strings().begin(), tensor.strings().end());
  else
    proto.elements = whole_bytes(tensor);
  return proto;
}

std::string node_name(std::string_view name) {
  if (name.size() > 2 && name.ends_with(":0")) name.remove_suffix(2);
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
  };
  std::string made;
  for (const char c : name)
    made += is_letter(c) || (!made.empty() && (c == '_' || c == '-' || c == '/' || c == '>')) ? c : '_';
  if (made.empty() || !is_letter(made.front())) made.insert(0, "value");
  return made;
}

std::string Output::unique(std::string_view wanted) {
  const std::string base = node_name(wanted);
  std::string made = base;
  if (names.insert(made).second) return made;
  std::size_t& next = next_numbers.try_emplace(base, 1).first->second;
  do made = fmt::format("{}_{}", base, next++);
  while (!names.insert(made).second);
  return made;
}

tf::TensorShape shape_word(const std::optional<Shape>& shape) {
  tf::TensorShape word;
  word.unknown_rank = !shape;
  if (shape)
    for (const Dim& d : *shape) word.dims.push_back(d.as_int().value_or(-1));
  return word;
}

tf::DataType word_for(const Type& type) { return type.is_tensor() ? word_for(type.elem) : tf::DataType::variant; }

std::int32_t Emitter::add_item(Item item) {
  items_.push_back(std::move(item));
  return static_cast<std::int32_t>(items_.size() - 1);
}

tf::DataType Emitter::type_of(Ref tensor) const {
  return items_[static_cast<std::size_t>(tensor.node)].types.at(static_cast<std::size_t>(tensor.port));
}

void Emitter::settle_types(Item& item) const {
  const Definition* definition = definition_of(item.op);
  const auto refuse = [&](const std::string& why) {
    throw Error(Code::broken_invariant, fmt::format("{} '{}' as it was made: {}", item.op, item.name, why));
  };
  if (!definition) refuse("TensorFlow has no such operator");
  std::size_t at = 0, singles = 0;
  for (const auto& input : definition->inputs) singles += input.number_attr.empty() && input.type_list_attr.empty();
  if (item.inputs.size() < singles) refuse("too few inputs");
  for (const auto& input : definition->inputs) {
    const bool is_list = !input.number_attr.empty() || !input.type_list_attr.empty();
    const std::size_t count = is_list ? item.inputs.size() - singles : 1;
    if (!input.number_attr.empty() && !find(item.attrs, input.number_attr))
      item.attrs.push_back({std::string(input.number_attr), static_cast<std::int64_t>(count)});
    tf::AttrList types;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      if (at >= item.inputs.size()) refuse("too few inputs");
      const tf::DataType type = type_of(item.inputs[at]);
      types.types.push_back(type);
      if (!input.type_list_attr.empty()) continue;
      if (!input.type_attr.empty() && !find(item.attrs, input.type_attr))
        item.attrs.push_back({std::string(input.type_attr), type});
      const tf::DataType wanted =
          input.type_attr.empty() ? input.type : std::get<tf::DataType>(*find(item.attrs, input.type_attr));
      if (type != wanted) refuse(fmt::format("input {} is {}, not {}", at, tf::name_of(type), tf::name_of(wanted)));
    }
    if (!input.type_list_attr.empty() && !find(item.attrs, input.type_list_attr))
      item.attrs.push_back({std::string(input.type_list_attr), std::make_shared<const tf::AttrList>(std::move(types))});
  }
  if (at != item.inputs.size()) refuse("too many inputs");
  for (const auto& attribute : definition->attributes) {
    const tf::AttrValue* value = find(item.attrs, attribute.name);
    if (!value && !attribute.has_default) refuse("it lacks " + std::string(attribute.name));
    if (const auto* type = value ? std::get_if<tf::DataType>(value) : nullptr; type && !attribute.allows(*type))
      refuse(fmt::format("{} may not be {}", attribute.name, tf::name_of(*type)));
  }
  for (const auto& result : definition->results) {
    const std::size_t count = count_of(result, item.attrs);
    for (std::size_t i = 0; i < count; ++i) {
      if (!result.type_list_attr.empty()) {
        item.types.push_back(
            std::get<std::shared_ptr<const tf::AttrList>>(*find(item.attrs, result.type_list_attr))->types[i]);
        continue;
      }
      const tf::AttrValue* stated = result.type_attr.empty() ? nullptr : find(item.attrs, result.type_attr);
      item.types.push_back(result.type_attr.empty() ? result.type
                           : stated                 ? std::get<tf::DataType>(*stated)
                                                    : definition->find(result.type_attr)->default_type);
    }
  }
}

Ref Emitter::add(std::string_view op, Refs inputs, const AttrArgs& attrs) {
  Item item;
  item.name = output_.unique(scope_.empty() ? std::string(op) : fmt::format("{}/{}", scope_, op));
  item.op = std::string(op);
  item.inputs = std::move(inputs);
  for (const AttrArg& a : attrs) item.attrs.push_back(a.attr);
  settle_types(item);
  return {add_item(std::move(item))};
}

Ref Emitter::constant(const Tensor& tensor, std::string_view name) {
  constexpr std::size_t kSmall = 256;  // larger ones are rarely equal
  std::string key;
  if (tensor.dtype() != DType::string && tensor.bytes().size() <= kSmall) {
    key = fmt::format("{}:", ingot::name_of(tensor.dtype()));
    for (const std::int64_t d : tensor.dims()) key += fmt::format("{},", d);
    key += ':';
    key += tensor.bytes().text();
    if (const auto found = small_constants_.find(key); found != small_constants_.end()) return found->second;
  }
  Item item;
  item.name = output_.unique(!name.empty() ? std::string(name) : scope_ + "/Const");
  item.op = "Const";
  item.attrs = {{"dtype", word_for(tensor.dtype())},
                {"value", std::make_shared<const tf::TensorProto>(proto_of(tensor))}};
  item.types = {word_for(tensor.dtype())};
  item.is_settled = true;
  const Ref made{add_item(std::move(item))};
  if (!key.empty()) small_constants_[key] = made;
  return made;
}

Ref Emitter::ints(const Ints& values) {
  std::vector<std::int32_t> narrow;
  for (const std::int64_t v : values)
    narrow.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(v, INT32_MIN, INT32_MAX)));
  return constant(Tensor::of<std::int32_t>({static_cast<std::int64_t>(values.size())}, narrow));
}

Ref Emitter::index(std::int64_t value) {
  return constant(
      Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX))));
}

Ref Emitter::scalar(double value, DType dtype) { return constant(Tensor::scalar(value, dtype)); }

Ref Emitter::ref(const Value* value) {
  if (const auto found = refs_.find(value); found != refs_.end()) return found->second;
  const Tensor* stored = ops::constant_of(value);
  if (!value) throw Error(Code::broken_invariant, "an input that must be there is absent in '" + scope_ + "'");
  if (!stored) throw Error(Code::broken_invariant, "value '" + value->name() + "' is used before it is made");
  return refs_[value] = constant(*stored, value->name());
}

void Emitter::set(const Value* value, Ref tensor) {
  if (!value) return;
  refs_[value] = tensor;
  Item& item = items_[static_cast<std::size_t>(tensor.node)];
  if (item.is_settled || tensor.port != 0) return;
  std::string name = node_name(value->name());
  if (name != item.name && output_.names.insert(name).second) {
    output_.names.erase(item.name);
    item.name = std::move(name);
  }
  item.is_settled = true;
}

Ref Emitter::argument(tf::DataType type) {
  Item item;
  item.name = fmt::format("arg_{}", std::ranges::count(items_, kArgument, &Item::op));
  item.op = std::string(kArgument);
  item.types = {type};
  item.is_settled = true;
  return {add_item(std::move(item))};
}

Ref Emitter::placeholder(const Type& type, const std::string& name) {
  Item item;
  item.name = name;
  item.op = "Placeholder";
  item.attrs = {{"dtype", word_for(type)}, {"shape", shape_word(type.shape)}};
  item.types = {word_for(type)};
  item.is_settled = true;
  return {add_item(std::move(item))};
}

Ref Emitter::table(const Tensor& keys, const Tensor& values) {
  Item item;
  item.name = output_.unique(scope_ + "/table");
  item.op = "Placeholder";
  item.attrs = {{"dtype", tf::DataType::resource}, {"shape", tf::TensorShape{}}};
  item.types = {tf::DataType::resource};
  item.is_settled = true;
  output_.tables.push_back({item.name, keys, values});
  return {add_item(std::move(item))};
}

Ref Emitter::named(Ref tensor, const std::string& name) {
  if (const Item& item = items_[static_cast<std::size_t>(tensor.node)]; tensor.port == 0 && item.name == name)
    return tensor;
  Item item;
  item.name = output_.unique(name);
  item.op = "Identity";
  item.inputs = {tensor};
  settle_types(item);
  item.is_settled = true;
  return {add_item(std::move(item))};
}

Ref Emitter::unread(Ref tensor) {
  Item& item = items_[static_cast<std::size_t>(tensor.node)];
  const auto reads = [&](const Item& other) {
    return std::ranges::find(other.inputs, tensor.node, &Ref::node) != other.inputs.end();
  };
  if (item.op == "Placeholder" || std::ranges::none_of(items_, reads)) return tensor;
  const std::string name = item.name;
  item.name = output_.unique(name + "/value");
  output_.names.erase(name);
  return named(tensor, name);
}

std::vector<bool> Emitter::needed_for(const Refs& results) const {
  std::vector<bool> needed(items_.size());
  std::vector<std::int32_t> pending;
  const auto want = [&](std::int32_t i) {
    if (needed[static_cast<std::size_t>(i)]) return;
    needed[static_cast<std::size_t>(i)] = true;
    pending.push_back(i);
  };
  for (const Ref& r : results) want(r.node);
  while (!pending.empty()) {
    const std::int32_t i = pending.back();
    pending.pop_back();
    for (const Ref& r : items_[static_cast<std::size_t>(i)].inputs) want(r.node);
  }
  return needed;
}

std::vector<tf::NodeDef> Emitter::graph_nodes(const Refs& results) const {
  const std::vector<bool> needed = needed_for(results);
  std::vector<tf::NodeDef> nodes;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!needed[i] && item.op != "Placeholder") continue;
    tf::NodeDef node{item.name, item.op, {}, {}, item.attrs};
    for (const Ref& r : item.inputs) {
      const std::string& name = items_[static_cast<std::size_t>(r.node)].name;
      node.inputs.push_back(r.port ? fmt::format("{}:{}", name, r.port) : name);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

void Emitter::add_function(const std::string& name, const Refs& results) {
  tf::FunctionDef function;
  function.name = name;
  // A result is an operator of its own: callers tell results apart by those.
  set_scope(name);
  Refs named;
  for (const Ref& result : results) named.push_back(add("Identity", {result}));
  const auto text = [&](const Ref& r) {
    const Item& item = items_[static_cast<std::size_t>(r.node)];
    return item.op == kArgument ? item.name : item.name + ":" + result_name(item.op, item.attrs, r.port);
  };
  const std::vector<bool> needed = needed_for(named);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.op == kArgument) {
      function.inputs.push_back({item.name, item.types[0], {}, {}, {}});
      continue;
    }
    if (!needed[i]) continue;
    tf::NodeDef node{item.name, item.op, {}, {}, item.attrs};
    for (const Ref& r : item.inputs) node.inputs.push_back(text(r));
    function.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    function.outputs.push_back({fmt::format("result_{}", i), type_of(named[i]), {}, {}, {}});
    function.returns.emplace_back(function.outputs.back().name, text(named[i]));
  }
  output_.graph.functions.push_back(std::move(function));
}

void Emitter::emit_node(const Node& node) {
  scope_ = node.name.empty() && node.output(0) ? node.output(0)->name() : node.name;
  NodeOut out(*this, node);
  row_of(node)->emit(out);
}

void Emitter::emit_nodes(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (!node.is("Constant")) emit_node(node);
}

std::string Emitter::function_of(const Graph& graph, const std::vector<const Value*>& captured, std::string_view name) {
  Emitter inner(output_);
  const std::string made = output_.unique(name);
  inner.set_scope(made);
  for (const Value* v : graph.inputs())
    if (!v->initializer) inner.bind(v, inner.argument(word_for(v->type)));
  for (const Value* v : captured) inner.bind(v, inner.argument(word_for(v->type)));
  inner.emit_nodes(graph);
  Refs results;
  for (const Value* v : graph.outputs()) results.push_back(inner.ref(v));
  inner.add_function(made, results);
  return made;
}

}  // namespace ingot::backends::tensorflow

// The modules of an archive.
#include "ingot/frontends/torch/module_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::frontends::torch {

Tensor stored_tensor(const formats::torch::Tensor& source, Budget* budget) {
  if (!is_complex(source.dtype)) return Tensor(source.dtype, source.sizes, source.contiguous(budget));
  std::vector<std::int64_t> sizes = source.sizes;
  sizes.push_back(2);
  return Tensor(source.dtype == DType::c128 ? DType::f64 : DType::f32, sizes, source.contiguous(budget));
}

namespace {

namespace pickle = formats::pickle;
using pickle::Kind;
constexpr int kDeepestModule = 100;

std::string joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

/// Bytes with a sign as bytes without, 128 higher: ONNX Runtime multiplies these exactly on every machine, those not.
Tensor without_sign(const formats::torch::Tensor& source, Budget* budget) {
  const Bytes raw = source.contiguous(budget);
  std::vector<std::uint8_t> moved;
  moved.reserve(raw.size());
  for (const std::byte b : raw.span()) moved.push_back(static_cast<std::uint8_t>(b) ^ 0x80U);
  return Tensor::of<std::uint8_t>(source.sizes, moved);
}

/// What the integers stand for.
Value* dequantized(Graph& graph, const std::string& name, const formats::torch::Tensor& source, Budget* budget) {
  GraphBuilder g(graph);
  const formats::torch::Quantizer& by = *source.quantizer;
  const bool has_sign = source.dtype == DType::i8;
  Value* whole = graph.add_initializer(name, has_sign ? without_sign(source, budget) : stored_tensor(source, budget));
  const DType elem = whole->type.elem;
  std::vector<std::int64_t> zero_points = by.zero_points;
  for (std::int64_t& zero : zero_points)
    if (has_sign) zero = std::clamp<std::int64_t>(zero, -128, 127) + 128;
  if (!by.axis)
    return g.op("DequantizeLinear",
                {whole, g.scalar(by.scales.at(0), DType::f32), g.scalar(static_cast<double>(zero_points.at(0)), elem)});
  const auto count = static_cast<std::int64_t>(by.scales.size());
  Value* scales = g.cast(g.constant(Tensor::of<double>({count}, by.scales)), DType::f32);
  return g.op("DequantizeLinear", {whole, scales, g.cast(g.ints(zero_points), elem)}, {{"axis", *by.axis}});
}

}  // namespace

Item ModuleReader::tensor(const formats::torch::Tensor& source, const std::string& path) {
  std::string key =
      fmt::format("{} {} {}", static_cast<const void*>(source.storage.data()), source.offset, name_of(source.dtype));
  for (std::size_t i = 0; i < source.sizes.size(); ++i)
    key += fmt::format(" {}:{}", source.sizes[i], source.strides[i]);
  if (!source.storage.empty())
    if (const auto known = tensors_.find(key); known != tensors_.end()) return known->second;
  Graph& graph = t_.main();
  const std::string name = graph.fresh_name(path.empty() ? "constant" : path);
  const bool is_pairs = is_complex(source.dtype);
  Value* value = source.quantizer ? dequantized(graph, name, source, t_.budget())
                                  : graph.add_initializer(name, stored_tensor(source, t_.budget()));
  if (state_.contains(name)) graph.set_is_input(value, true);
  Item made(value);
  (*made.get<TensorRef>())->is_complex = is_pairs;
  (*made.get<TensorRef>())->requires_grad = source.requires_grad;
  tensors_.emplace(std::move(key), *made.get<TensorRef>());
  return made;
}

Item ModuleReader::object(const pickle::Value& value, const std::string& path) {
  if (const formats::torch::Tensor* stored = saved_.tensor(value)) return tensor(*stored, path);
  const pickle::Object& source = *value.object;
  const pickle::Symbol* symbol =
      source.callable && source.callable->is(Kind::global) ? source.callable->symbol : nullptr;
  if (!symbol) return Unknown{};
  const auto& args = source.args->items;
  // Lists that tell their type, and what only adds a type.
  if (symbol->module == "torch.jit._pickle" && !args.empty()) {
    if (symbol->name == "restore_type_tag") return read(*args[0], path);
    if (symbol->name.starts_with("build_")) return read(*args[0], path);
  }
  if (symbol->is("torch", "device") && !args.empty() && args[0]->is_text()) return Device{std::string(args[0]->text)};
  if (symbol->is("collections", "OrderedDict")) {
    auto dict = std::make_shared<DictBody>();
    const auto entries = pickle::entries_of(value);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      Item key = read(*entries[i], path);
      dict->entries.emplace_back(std::move(key), read(*entries[i + 1], path));
    }
    return Item(DictRef(std::move(dict)));
  }
  auto made = std::make_shared<Object>();
  made->path = path;
  made->type = program_.find_class(symbol->full_name());
  known_.insert_or_assign(&value, Item(made));  // before its attributes, which may lead back to it
  if (!source.states.empty() && !source.states.back()->is(Kind::dict)) {
    // A state of its own form: the class's code takes it, or an operator that knows the class.
    made->attributes.insert_or_assign("__state__", read(*source.states.back(), path));
    if (made->type && find_method(*made->type, "__setstate__")) restored_.push_back(made);
    return Item(std::move(made));
  }
  const std::vector<pickle::Ref> attributes = pickle::attributes_of(value);
  for (std::size_t i = 0; i + 1 < attributes.size(); i += 2) {
    if (!attributes[i]->is_text()) continue;
    const std::string_view name = attributes[i]->text;
    made->attributes.insert_or_assign(std::string(name), read(*attributes[i + 1], joined(path, name)));
  }
  return Item(std::move(made));
}

Item ModuleReader::read(const pickle::Value& value, const std::string& path) {
  if (const auto known = known_.find(&value); known != known_.end()) return known->second;
  if (++depth_ > kDeepestModule) throw Error(Code::too_deep, "modules are nested too deeply");
  Item made(Unknown{});
  switch (value.kind) {
    case Kind::none:
      made = Item();
      break;
    case Kind::boolean:
      made = value.integer != 0;
      break;
    case Kind::integer:
      made = value.integer;
      break;
    case Kind::real:
      made = value.real;
      break;
    case Kind::bytes:
    case Kind::text:
      made = Item(std::string(value.text));
      break;
    case Kind::list:
    case Kind::tuple: {
      std::vector<Item> items;
      for (std::size_t i = 0; i < value.items.size(); ++i)
        items.push_back(read(*value.items[i], joined(path, std::to_string(i))));
      made = value.is(Kind::list) ? Item::list(std::move(items)) : Item::tuple(std::move(items));
      break;
    }
    case Kind::dict: {
      auto dict = std::make_shared<DictBody>();
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        Item key = read(*value.items[i], path);
        const std::string name = value.items[i]->is_text() ? joined(path, value.items[i]->text) : path;
        dict->entries.emplace_back(std::move(key), read(*value.items[i + 1], name));
      }
      made = Item(DictRef(std::move(dict)));
      break;
    }
    case Kind::global:
      if (value.symbol->module == "torch")
        if (const DType dtype = formats::torch::dtype_of_name(value.symbol->name); dtype != DType::undefined)
          made = formats::torch::number_of(dtype);
      break;
    case Kind::object:
      made = object(value, path);
      break;
    default:
      break;
  }
  --depth_;
  if (value.is(Kind::list) || value.is(Kind::dict) || value.is(Kind::object)) known_.insert_or_assign(&value, made);
  return made;
}

}  // namespace ingot::frontends::torch

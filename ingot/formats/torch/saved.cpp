// Pickled objects of PyTorch: tensors are calls of functions that rebuild them from storages.
#include "ingot/formats/torch/saved.h"

#include <fmt/format.h>

#include <cstring>

#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::formats::torch {
namespace {

using Value = pickle::Value;

constexpr unsigned char kLegacyMagic[] = {0x80, 2,    0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46,
                                          0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
constexpr int kMostWrapped = 16;

[[noreturn]] void refuse_object(const std::string& why) { throw Error(Code::bad_pickle, why); }

const Value& argument(const Value& args, std::size_t i) {
  if (i >= args.items.size()) refuse_object("a tensor is rebuilt from too few parts");
  return *args.items[i];
}

std::int64_t integer(const Value& value) {
  if (!value.is(pickle::Kind::integer)) refuse_object("a tensor has a size or offset that is no integer");
  return value.integer;
}

std::vector<std::int64_t> integers(const Value& value) {
  std::vector<std::int64_t> made;
  for (const pickle::Ref item : pickle::items_of(value)) made.push_back(integer(*item));
  // torch.Size is a call with the tuple.
  if (value.is(pickle::Kind::object) && value.object->args && !value.object->args->items.empty())
    return integers(*value.object->args->items[0]);
  return made;
}

DType dtype_named(const Value& value) {
  const DType dtype = value.is(pickle::Kind::global) && value.symbol->module == "torch"
                          ? dtype_of_name(value.symbol->name)
                          : DType::undefined;
  if (dtype == DType::undefined) refuse_object("a tensor has an element type that Ingot does not know");
  return dtype;
}

}  // namespace

bool looks_like_legacy(const Bytes& file) {
  return file.size() >= sizeof kLegacyMagic && std::memcmp(file.data(), kLegacyMagic, sizeof kLegacyMagic) == 0;
}

Saved::Saved(std::shared_ptr<const zip::Archive> archive, const std::string& pickle, std::string storages,
             Budget* budget)
    : archive_(std::move(archive)), prefix_(std::move(storages)), budget_(budget) {
  const zip::Member* member = archive_->find(pickle);
  if (!member) throw Error(Code::bad_archive, fmt::format("the archive has no '{}'", pickle));
  document_ = pickle::read(archive_->read(*member, budget), {.budget = budget});
}

Saved::Saved(const Bytes& legacy, Budget* budget) : budget_(budget) { read_legacy_storages(legacy); }

void Saved::read_legacy_storages(const Bytes& stream) {
  pickle::ReadOptions options{.budget = budget_};
  // The magic number, the protocol and what the machine was like come first.
  for (int i = 0; i < 3; ++i) {
    const pickle::Document part = pickle::read(stream, options);
    options.offset = part.end;
    const pickle::Ref order = i == 2 ? pickle::find(*part.root, "little_endian") : nullptr;
    if (order && order->is(pickle::Kind::boolean) && order->integer == 0)
      throw Error(Code::unsupported_setting, "the file was written by a big-endian machine");
  }
  document_ = pickle::read(stream, options);
  options.offset = document_.end;
  const pickle::Document keys = pickle::read(stream, options);
  ByteReader r(stream.span());
  r.seek(keys.end);
  // Storages follow one another; how wide their elements are stands with the tensors: widths are found first.
  std::map<std::string, unsigned, std::less<>> widths;
  std::vector<pickle::Ref> open{document_.root};
  std::unordered_map<pickle::Ref, bool> seen;
  while (!open.empty()) {
    const Value& v = *open.back();
    open.pop_back();
    if (!seen.emplace(&v, true).second) continue;
    if (v.is(pickle::Kind::persistent) && !v.items.empty() && v.items[0]->items.size() >= 5) {
      const auto& id = v.items[0]->items;
      if (id[1]->is(pickle::Kind::global))
        widths[std::string(id[2]->text)] = bits_of(dtype_of_storage(id[1]->symbol->name)) / 8;
    }
    open.insert(open.end(), v.items.begin(), v.items.end());
    if (v.object) {
      for (const pickle::Ref part : {v.object->callable, v.object->args, v.object->kwargs})
        if (part) open.push_back(part);
      for (const auto* parts : {&v.object->states, &v.object->items, &v.object->entries})
        open.insert(open.end(), parts->begin(), parts->end());
    }
  }
  for (const pickle::Ref key : pickle::items_of(*keys.root)) {
    const std::int64_t count = r.i64();
    const auto width = widths.find(key->text);
    const auto bytes = count < 0 || width == widths.end()
                           ? std::nullopt
                           : checked_mul<std::uint64_t>(static_cast<std::uint64_t>(count), width->second);
    if (!bytes) refuse_object(fmt::format("the storage '{}' has no valid size", key->text));
    const std::size_t at = r.position();
    r.skip(*bytes);
    legacy_[std::string(key->text)] = stream.slice(at, *bytes);
  }
}

Bytes Saved::bytes_of(std::string_view key, DType dtype, std::uint64_t count) const {
  if (!archive_) {
    const auto found = legacy_.find(key);
    if (found == legacy_.end()) refuse_object(fmt::format("there is no storage '{}'", key));
    return found->second;
  }
  if (const auto found = storages_.find(key); found != storages_.end()) return found->second;
  const zip::Member* member = archive_->find(prefix_ + std::string(key));
  if (!member) throw Error(Code::bad_archive, fmt::format("the archive has no storage '{}'", key));
  const auto wanted = byte_count(dtype, count);
  if (!wanted || *wanted > member->size)
    throw Error(Code::bad_archive, fmt::format("the storage '{}' is shorter than its tensors say", key));
  return storages_.emplace(std::string(key), archive_->read(*member, budget_)).first->second;
}

Saved::Storage Saved::storage(const Value& value) const {
  if (!value.is(pickle::Kind::persistent) || value.items.empty()) refuse_object("a tensor has no storage");
  const auto& id = value.items[0]->items;
  if (id.size() < 5 || id[0]->text != "storage" || !id[2]->is_text() || !id[4]->is(pickle::Kind::integer) ||
      id[4]->integer < 0)
    refuse_object("a tensor's storage is not described as PyTorch does");
  Storage made;
  if (id[1]->is(pickle::Kind::global)) made.dtype = dtype_of_storage(id[1]->symbol->name);
  if (made.dtype == DType::undefined) refuse_object("a storage has an element type that Ingot does not know");
  const bool is_view = id.size() > 5 && !id[5]->is_none();
  std::string_view key = id[2]->text;
  made.bytes = bytes_of(key, made.dtype, static_cast<std::uint64_t>(id[4]->integer));
  if (is_view && id[5]->items.size() == 3) {  // old: a part of another storage
    const auto width = static_cast<std::size_t>(bits_of(made.dtype) / 8);
    const std::int64_t offset = integer(*id[5]->items[1]), size = integer(*id[5]->items[2]);
    if (offset < 0 || size < 0 || static_cast<std::uint64_t>(offset) > made.bytes.size() / width ||
        static_cast<std::uint64_t>(size) > made.bytes.size() / width - static_cast<std::uint64_t>(offset))
      refuse_object("a part of a storage leaves it");
    made.bytes = made.bytes.slice(static_cast<std::size_t>(offset) * width, static_cast<std::size_t>(size) * width);
  }
  return made;
}

const Tensor* Saved::tensor(const Value& value) const {
  const auto [found, is_new] = tensors_.try_emplace(&value);
  if (is_new)
    if (std::optional<Tensor> made = read_tensor(value, 0))
      found->second = std::make_unique<const Tensor>(std::move(*made));
  return found->second.get();
}

std::optional<Tensor> Saved::read_tensor(const Value& value, int depth) const {
  if (!value.is(pickle::Kind::object) || !value.object->callable || !value.object->callable->is(pickle::Kind::global))
    return {};
  if (depth > kMostWrapped) refuse_object("a tensor is wrapped too often");
  const pickle::Symbol& called = *value.object->callable->symbol;
  const std::string_view name = called.name;
  if (called.module != "torch._utils") return {};
  const Value& args = *value.object->args;
  if (name == "_rebuild_parameter" || name == "_rebuild_parameter_with_state") {
    auto made = read_tensor(argument(args, 0), depth + 1);
    if (made && args.items.size() > 1) made->requires_grad = args.items[1]->integer != 0;
    return made;
  }
  const bool is_v3 = name == "_rebuild_tensor_v3", is_v2 = name == "_rebuild_tensor_v2";
  const bool is_quantized = name == "_rebuild_qtensor";
  if (!is_v3 && !is_v2 && !is_quantized && name != "_rebuild_tensor") return {};
  const Storage from = storage(argument(args, 0));
  Tensor made{.dtype = from.dtype, .storage = from.bytes, .offset = integer(argument(args, 1))};
  made.sizes = integers(argument(args, 2));
  made.strides = integers(argument(args, 3));
  if (made.strides.size() != made.sizes.size()) refuse_object("a tensor has not as many strides as sizes");
  if (is_v3) made.dtype = dtype_named(argument(args, 6));
  if (is_v2 || is_v3) made.requires_grad = argument(args, 4).integer != 0;
  if (is_quantized) {
    const auto& how = argument(args, 4).items;
    if (how.size() < 3) refuse_object("a quantised tensor does not tell its scale");
    Quantizer q;
    if (how.size() == 3) {
      q.scales = {how[1]->number()};
      q.zero_points = {saturate_cast<std::int64_t>(how[2]->number())};
    } else {
      const auto list = [&](const Value& part) {
        const auto tensor = read_tensor(part, depth + 1);
        std::vector<double> numbers;
        if (!tensor) return numbers;
        const Bytes bytes = tensor->contiguous(budget_);
        ByteReader r(bytes.span());
        while (!r.at_end()) {
          if (tensor->dtype == DType::f64)
            numbers.push_back(r.f64());
          else if (tensor->dtype == DType::f32)
            numbers.push_back(static_cast<double>(r.f32()));
          else if (tensor->dtype == DType::i64)
            numbers.push_back(static_cast<double>(r.i64()));
          else if (tensor->dtype == DType::i32)
            numbers.push_back(static_cast<double>(r.i32()));
          else
            refuse_object("a quantised tensor's scales have an unexpected type");
        }
        return numbers;
      };
      q.scales = list(*how[1]);
      for (const double zero : list(*how[2])) q.zero_points.push_back(saturate_cast<std::int64_t>(zero));
      q.axis = integer(*how[3]);
    }
    made.quantizer = std::move(q);
  }
  return made;
}

}  // namespace ingot::formats::torch

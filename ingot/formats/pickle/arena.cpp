// The memory of a document, charged to its budget.
#include "ingot/base/budget.h"
#include "ingot/formats/pickle/document.h"

namespace ingot::formats::pickle {
namespace {

constexpr std::uint64_t kStep = 64 << 10;  // charged at once: the budget is shared between threads

}  // namespace

Arena::Arena(Budget& budget) : budget_(budget) {
  none_ = &make(Kind::none);
  Value& yes = make(Kind::boolean);
  yes.integer = 1;
  true_ = &yes;
  false_ = &make(Kind::boolean);
}

Arena::~Arena() { budget_.release_memory(charged_); }

void Arena::charge(std::uint64_t bytes) {
  uncharged_ += bytes;
  if (uncharged_ < kStep) return;
  budget_.charge_memory(uncharged_);
  charged_ += uncharged_;
  uncharged_ = 0;
  budget_.poll();
}

Value& Arena::make(Kind kind) {
  charge(sizeof(Value));
  Value& value = values_.emplace_back();
  value.kind = kind;
  return value;
}

Value& Arena::make_integer(std::int64_t number) {
  const bool is_small = number >= -1 && number <= 255;
  Value** const known = is_small ? &small_[number + 1] : nullptr;
  if (known && *known) return **known;
  Value& value = make(Kind::integer);
  value.integer = number;
  if (known) *known = &value;
  return value;
}

Value& Arena::make_real(double number) {
  Value& value = make(Kind::real);
  value.real = number;
  return value;
}

Value& Arena::make_text(std::string text, Kind kind) {
  charge(text.size() + sizeof(std::string));
  return make_view(texts_.emplace_back(std::move(text)), kind);
}

Value& Arena::make_view(std::string_view text, Kind kind) {
  Value& value = make(kind);
  value.text = text;
  return value;
}

Value& Arena::make_global(std::string_view module, std::string_view name) {
  std::string key = std::string(module) + '\n' + std::string(name);
  const auto [known, is_new] = globals_.try_emplace(std::move(key));
  if (!is_new) return *known->second;
  charge(2 * (module.size() + name.size()) + sizeof(Symbol));
  Value& value = make(Kind::global);
  value.integer = static_cast<std::int64_t>(symbols_.size());
  value.symbol = &symbols_.emplace_back(Symbol{std::string(module), std::string(name)});
  known->second = &value;
  return value;
}

Value& Arena::make_object(Ref callable, Ref args) {
  charge(sizeof(Object));
  Value& value = make(Kind::object);
  value.object = std::make_unique<Object>();
  value.object->callable = callable;
  value.object->args = args;
  mark_called(callable);
  return value;
}

Ref Arena::none() { return none_; }
Ref Arena::boolean(bool value) { return value ? true_ : false_; }

void Arena::grew(std::size_t before, std::size_t after) { charge((after - before) * 2 * sizeof(Ref)); }

void Arena::mark_called(Ref callable) {
  if (callable->is(Kind::global)) symbols_[static_cast<std::size_t>(callable->integer)].is_called = true;
}

std::uint64_t Arena::source_size() const {
  std::uint64_t size = 0;
  for (const Bytes& source : sources_) size += source.size();
  return size;
}

Bytes Arena::bytes_of(std::string_view view) const {
  const auto* begin = reinterpret_cast<const std::byte*>(view.data());
  for (const Bytes& source : sources_)
    if (begin >= source.data() && begin + view.size() <= source.data() + source.size())
      return source.slice(static_cast<std::size_t>(begin - source.data()), view.size());
  return Bytes::copy(std::as_bytes(std::span(view)));
}

}  // namespace ingot::formats::pickle

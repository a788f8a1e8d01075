// Attributes of nodes: construction and look-up.
#include "ingot/ir/attribute.h"

#include "ingot/ir/graph.h"

namespace ingot {

Attribute::Attribute() = default;
Attribute::Attribute(std::string n, AttrValue v) : name(std::move(n)), value(std::move(v)) {}
Attribute::Attribute(std::string n, int v) : Attribute(std::move(n), AttrValue(std::int64_t{v})) {}
Attribute::Attribute(std::string n, bool v) : Attribute(std::move(n), AttrValue(std::int64_t{v})) {}
Attribute::Attribute(std::string n, DType v) : Attribute(std::move(n), AttrValue(static_cast<std::int64_t>(v))) {}
Attribute::Attribute(std::string n, double v) : Attribute(std::move(n), AttrValue(static_cast<float>(v))) {}
Attribute::Attribute(std::string n, const char* v) : Attribute(std::move(n), AttrValue(std::string(v))) {}
Attribute::Attribute(std::string n, std::initializer_list<std::int64_t> v)
    : Attribute(std::move(n), AttrValue(std::vector<std::int64_t>(v))) {}
Attribute::Attribute(Attribute&&) noexcept = default;
Attribute& Attribute::operator=(Attribute&&) noexcept = default;
Attribute::~Attribute() = default;

AttrType Attribute::type() const {
  if (std::holds_alternative<std::monostate>(value)) return reference_type;
  return static_cast<AttrType>(value.index());
}

Attributes::Attributes() = default;
Attributes::Attributes(Attributes&&) noexcept = default;
Attributes& Attributes::operator=(Attributes&&) noexcept = default;
Attributes::~Attributes() = default;

void Attributes::append(Attribute attribute) { list_.push_back(std::move(attribute)); }

const Attribute* Attributes::find(std::string_view name) const {
  for (const Attribute& a : list_)
    if (a.name == name) return &a;
  return nullptr;
}

Attribute* Attributes::find(std::string_view name) {
  return const_cast<Attribute*>(static_cast<const Attributes&>(*this).find(name));
}

std::int64_t Attributes::int_or(std::string_view name, std::int64_t fallback) const {
  const auto* v = get<std::int64_t>(name);
  return v ? *v : fallback;
}

float Attributes::float_or(std::string_view name, float fallback) const {
  const auto* v = get<float>(name);
  return v ? *v : fallback;
}

std::string Attributes::string_or(std::string_view name, std::string_view fallback) const {
  const auto* v = get<std::string>(name);
  return v ? *v : std::string(fallback);
}

std::vector<std::int64_t> Attributes::ints_or(std::string_view name, std::vector<std::int64_t> fallback) const {
  const auto* v = get<std::vector<std::int64_t>>(name);
  return v ? *v : std::move(fallback);
}

void Attributes::set(Attribute attribute) {
  if (Attribute* old = find(attribute.name))
    *old = std::move(attribute);
  else
    list_.push_back(std::move(attribute));
}

bool Attributes::erase(std::string_view name) {
  return std::erase_if(list_, [&](const Attribute& a) { return a.name == name; }) != 0;
}

}  // namespace ingot

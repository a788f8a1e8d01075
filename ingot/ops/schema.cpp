// The table of operator versions and how to find one.
#include "ingot/ops/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ingot/ir/type.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

// The words in which schema_data.inc is written.
constexpr unsigned kDeprecated = 1;
constexpr unsigned kExperimental = 2;
constexpr unsigned kFunctionBody = 4;
constexpr unsigned kBodyDependsOnContext = 8;
constexpr unsigned kUncheckedAttributes = 16;

constexpr TypeSet set(std::uint32_t bits) { return TypeSet::from_bits(bits); }

constexpr AttrSchema attr(std::string_view name, AttrType type, bool required) {
  return {.name = name, .type = type, .required = required};
}
constexpr AttrSchema int_attr(std::string_view name, std::int64_t value) {
  return {.name = name, .type = AttrType::int_, .has_default = true, .int_default = value};
}
constexpr AttrSchema float_attr(std::string_view name, float value) {
  return {.name = name, .type = AttrType::float_, .has_default = true, .float_default = value};
}
constexpr AttrSchema string_attr(std::string_view name, std::string_view value) {
  return {.name = name, .type = AttrType::string, .has_default = true, .string_default = value};
}
constexpr AttrSchema ints_attr(std::string_view name, std::span<const std::int64_t> values) {
  return {.name = name, .type = AttrType::ints, .has_default = true, .ints_default = values};
}
constexpr AttrSchema strings_attr(std::string_view name, std::span<const std::string_view> values) {
  return {.name = name, .type = AttrType::strings, .has_default = true, .strings_default = values};
}

constexpr Schema row(std::string_view domain, std::string_view name, int since, unsigned flags,
                     std::span<const AttrSchema> attributes, std::span<const ParamSchema> inputs,
                     std::span<const ParamSchema> outputs, int min_inputs, int max_inputs, int min_outputs,
                     int max_outputs, std::span<const int> allowed_output_counts) {
  return {.domain = domain,
          .name = name,
          .since = since,
          .deprecated = (flags & kDeprecated) != 0,
          .experimental = (flags & kExperimental) != 0,
          .has_function_body = (flags & kFunctionBody) != 0,
          .body_depends_on_context = (flags & kBodyDependsOnContext) != 0,
          .unchecked_attributes = (flags & kUncheckedAttributes) != 0,
          .attributes = attributes,
          .inputs = inputs,
          .outputs = outputs,
          .min_inputs = min_inputs,
          .max_inputs = max_inputs,
          .min_outputs = min_outputs,
          .max_outputs = max_outputs,
          .allowed_output_counts = allowed_output_counts};
}

#include "ingot/ops/schema_data.inc"

/// Operators that ONNX does not define, in the same words.
namespace vendor {
#include "ingot/ops/vendor/schema_data.inc"
}  // namespace vendor

struct Domain {
  std::string_view name;
  int newest;
};
// ai.onnx.training is versioned by the standard although no operator is left in it.
constexpr Domain kDomains[] = {
    {"", 28}, {"ai.onnx.ml", 5}, {"ai.onnx.preview", 1}, {"ai.onnx.preview.training", 1}, {"ai.onnx.training", 1}};

constexpr std::string_view normal(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

constexpr std::uint32_t hash(std::string_view domain, std::string_view name) {
  std::uint32_t h = 2166136261U;  // FNV-1a
  for (const std::string_view part : {name, domain}) {
    for (const char c : part) h = (h ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return h;
}

/// Where the versions of an operator stand in kSchemas; count 0: no operator.
struct Run {
  std::uint16_t first = 0;
  std::uint16_t count = 0;
};

/// Open addressing, at most half full.
constexpr std::size_t kSlots = 512;
constexpr auto kIndex = [] {
  std::array<Run, kSlots> slots{};
  for (std::size_t first = 0; first < std::size(kSchemas);) {
    const Schema& s = kSchemas[first];
    std::size_t end = first + 1;
    while (end < std::size(kSchemas) && kSchemas[end].name == s.name && kSchemas[end].domain == s.domain) ++end;
    std::size_t slot = hash(s.domain, s.name) % kSlots;
    while (slots[slot].count != 0) slot = (slot + 1) % kSlots;
    slots[slot] = {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(end - first)};
    first = end;
  }
  return slots;
}();
static_assert(2 * std::ranges::count_if(kIndex, [](Run run) { return run.count != 0; }) <= std::ssize(kIndex));

const ParamSchema* parameter(std::span<const ParamSchema> parameters, std::size_t i) {
  if (i < parameters.size()) return &parameters[i];
  const bool more = !parameters.empty() && parameters.back().option == ParamOption::variadic;
  return more ? &parameters.back() : nullptr;
}

bool allows_tensor(TypeSet set, const Type& type) {
  if (set.empty()) return false;
  if (!type) return true;
  return type.is_tensor() && (type.elem == DType::undefined || set.has(type.elem));
}

}  // namespace

bool TypeConstraint::allows(const Type& type) const {
  const auto allows_map = [&](const Type& map, bool in_sequence) {
    return std::ranges::any_of(maps, [&](const MapForm& form) {
      if (form.in_sequence != in_sequence) return false;
      if (!map) return true;
      return map.kind == Type::Kind::map && (map.elem == DType::undefined || map.elem == form.key) &&
             allows_tensor({form.value}, map.inner());
    });
  };
  switch (type.kind) {
    case Type::Kind::none:
      return true;
    case Type::Kind::tensor:
      return allows_tensor(tensors, type);
    case Type::Kind::map:
      return allows_map(type, false);
    case Type::Kind::sequence:
      return allows_tensor(sequences, type.inner()) || allows_map(type.inner(), true);
    case Type::Kind::optional: {
      const Type& inner = type.inner();
      if (inner.is_sequence()) return allows_tensor(optional_sequences, inner.inner());
      return allows_tensor(optionals, inner) || (!inner && !optional_sequences.empty());
    }
    case Type::Kind::sparse_tensor:
    case Type::Kind::opaque:
      break;
  }
  return false;
}

std::optional<DType> TypeConstraint::only_tensor_type() const {
  const bool nothing_else = sequences.empty() && optionals.empty() && optional_sequences.empty() && maps.empty();
  if (!nothing_else || tensors.size() != 1) return std::nullopt;
  return static_cast<DType>(std::countr_zero(tensors.bits()));
}

std::string TypeConstraint::str() const {
  std::string text;
  const auto add = [&](std::string_view before, DType dtype, std::string_view after) {
    if (!text.empty()) text += ", ";
    text.append(before).append(name_of(dtype)).append(after);
  };
  const auto add_all = [&](std::string_view before, TypeSet types, std::string_view after) {
    for (int i = 1; i < kDTypeCount; ++i) {
      if (const auto dtype = static_cast<DType>(i); types.has(dtype)) add(before, dtype, after);
    }
  };
  add_all("tensor(", tensors, ")");
  add_all("seq(tensor(", sequences, "))");
  add_all("optional(tensor(", optionals, "))");
  add_all("optional(seq(tensor(", optional_sequences, ")))");
  for (const MapForm& form : maps) {
    std::string before = form.in_sequence ? "seq(map(" : "map(";
    before.append(name_of(form.key)).append(", ");
    add(before, form.value, form.in_sequence ? "))" : ")");
  }
  return text;
}

const AttrSchema* Schema::attribute(std::string_view attribute_name) const {
  const auto it = std::ranges::find(attributes, attribute_name, &AttrSchema::name);
  return it == attributes.end() ? nullptr : &*it;
}

const ParamSchema* Schema::input(std::size_t i) const { return parameter(inputs, i); }

const ParamSchema* Schema::output(std::size_t i) const { return parameter(outputs, i); }

std::span<const Schema> all_schemas() { return kSchemas; }

std::span<const Schema> vendor_schemas() { return vendor::kSchemas; }

std::span<const Schema> versions_of(std::string_view domain, std::string_view name) {
  domain = normal(domain);
  for (std::size_t slot = hash(domain, name) % kSlots; kIndex[slot].count != 0; slot = (slot + 1) % kSlots) {
    const Schema& first = kSchemas[kIndex[slot].first];
    if (first.name == name && first.domain == domain) return {&first, kIndex[slot].count};
  }
  using Key = std::pair<std::string_view, std::string_view>;
  const auto key_of = [](const Schema& s) { return Key(s.domain, s.name); };
  const Key key(vendor_domain(domain), name);
  return {std::ranges::lower_bound(vendor::kSchemas, key, {}, key_of),
          std::ranges::upper_bound(vendor::kSchemas, key, {}, key_of)};
}

const Schema* schema_for(std::string_view domain, std::string_view name, std::int64_t opset) {
  const std::span<const Schema> versions = versions_of(domain, name);
  const auto after = std::ranges::find_if(versions, [&](const Schema& s) { return s.since > opset; });
  return after == versions.begin() ? nullptr : &*(after - 1);
}

const Schema* newest_schema(std::string_view domain, std::string_view name) {
  const std::span<const Schema> versions = versions_of(domain, name);
  return versions.empty() ? nullptr : &versions.back();
}

int newest_opset(std::string_view domain) {
  const auto* it = std::ranges::find(kDomains, normal(domain), &Domain::name);
  return it == std::end(kDomains) ? 0 : it->newest;
}

bool is_standard_domain(std::string_view domain) { return newest_opset(domain) != 0; }

}  // namespace ingot::ops

#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/ops/builder.h"
#include "ingot/passes/optimize/rules.h"

// What the fusions are made of. A fusion looks at one node and takes out no node but it: what nobody reads then, goes
// afterwards.

namespace ingot::passes::fuse {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

struct Fusion {
  std::string_view made;  // the operator it makes; empty: it clears the way for others
  std::string_view op;    // of the nodes it looks at
  bool (*apply)(Node&);
  std::string_view domain = "";  // of the nodes it looks at
};

std::span<const Fusion> shape_fusions();
std::span<const Fusion> gelu_fusions();
std::span<const Fusion> rotary_fusions();
std::span<const Fusion> attention_fusions();
std::span<const Fusion> quantized_attention_fusions();
std::span<const Fusion> packed_attention_fusions();
std::span<const Fusion> normalization_fusions();
std::span<const Fusion> bias_fusions();
std::span<const Fusion> quantized_fusions();
std::span<const Fusion> block_fusions();
std::span<const Fusion> product_fusions();
std::span<const Fusion> activation_fusions();

/// Adds a node of com.microsoft; inputs at the end that are null are left out.
Node* add_microsoft(GraphBuilder& g, std::string_view op, const Values& inputs, const Attrs& attrs,
                    std::size_t outputs = 1);
/// The same, in place of a node with one output.
void replace_by_microsoft(Node& node, std::string_view op, const Values& inputs, const Attrs& attrs);

bool is_float_tensor(const Value* v);
std::int64_t rank_of(const Value* v);                  // -1: not known
const Dim& dim_of(const Value* v, std::int64_t axis);  // of a known rank; from the end where negative
/// The size, or -1.
std::int64_t size_of(const Value* v, std::int64_t axis);
/// A number that a node adds or multiplies, where it does not widen the other operand.
WithNumber split_lone_number(const Node& node);
bool has_perm(const Node& transpose, const std::vector<std::int64_t>& perm);

/// Of a sum: a list of numbers, one for each element of the last axis, and what it is added to.
struct Biased {
  Value *x = nullptr, *row = nullptr;
};
std::optional<Biased> split_bias(const Node& sum);

}  // namespace ingot::passes::fuse

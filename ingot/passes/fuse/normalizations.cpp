// Sums and embeddings whose rows are normalised.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {
namespace {

bool is_row(const Value* v) { return !v || (ops::constant_of(v) && ops::constant_of(v)->rank() == 1); }

/// Whether the last axis alone is normalised, with constant weights and nothing else asked for.
bool is_plain(const Node& norm) {
  const std::int64_t axis = norm.attributes.int_or("axis", -1), rank = rank_of(norm.input(0));
  if (rank < 2 || (axis != -1 && axis != rank - 1) || !is_float_tensor(norm.input(0))) return false;
  for (std::size_t i = 1; i < norm.output_count(); ++i)
    if (norm.output(i) && !norm.output(i)->uses().empty()) return false;
  return norm.input(1) && is_row(norm.input(1)) && is_row(norm.input(2)) &&
         norm.attributes.int_or("stash_type", 1) == 1;
}

double epsilon_of(const Node& norm) { return static_cast<double>(norm.attributes.float_or("epsilon", 1e-5f)); }

/// Whether ONNX Runtime takes it as the skip of x: the same for all rows of the batch, if not its own.
bool is_skip_of(const Value* skip, const Value* x) {
  if (may_have_same_shape(skip, x)) return true;
  const std::int64_t rank = rank_of(skip);
  if (rank_of(x) != 3 || (rank != 2 && rank != 3) || !is_float_tensor(skip)) return false;
  return same(dim_of(skip, -1), dim_of(x, -1)) && may_be_same(dim_of(skip, -2), dim_of(x, -2)) &&
         (rank == 2 || size_of(skip, 0) == 1);
}

struct Sum {
  Value *x = nullptr, *skip = nullptr, *bias = nullptr;
};

/// x + skip (+ bias); x is as large as the sum.
std::optional<Sum> split_sum(const Node& sum) {
  Sum found;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (!found.x && may_have_same_shape(sum.input(i), sum.output()) && is_skip_of(sum.input(1 - i), sum.output()))
      found = {sum.input(i), sum.input(1 - i), nullptr};
  if (!found.x) return std::nullopt;
  for (Value** part : {&found.x, &found.skip}) {
    const Node* inner = own_maker(*part, "Add", sum);
    const auto biased = inner ? split_bias(*inner) : std::nullopt;
    if (!biased) continue;
    *part = biased->x;
    found.bias = biased->row;
    break;
  }
  return found;
}

/// An output further back, with those before it not produced.
Value* add_late_output(Node& made, std::size_t index, const Value* like) {
  while (made.output_count() < index) made.add_output("");
  Value* value = made.add_output(made.graph().fresh_name(like->name() + "_sum"));
  value->type = like->type;
  return value;
}

bool is_read_besides(const Value* v, const Node& reader) { return !is_read_only_by(v, reader); }

/// LayerNormalization(x + skip): the sum is an output of its own where others read it.
bool fuse_skip(Node& norm) {
  const bool is_simple = norm.op != "LayerNormalization";
  Node* sum = maker(norm.input(0), "Add");
  if (!sum || !is_plain(norm) || rank_of(norm.input(0)) > 3) return false;
  const auto parts = split_sum(*sum);
  if (!parts) return false;
  GraphBuilder g(norm.graph(), sum);
  g.name_after(norm);
  const Values inputs = is_simple ? Values{parts->x, parts->skip, norm.input(1), parts->bias}
                                  : Values{parts->x, parts->skip, norm.input(1), norm.input(2), parts->bias};
  Node* made = add_microsoft(g, is_simple ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization", inputs,
                             {{"epsilon", epsilon_of(norm)}});
  const bool keeps_sum = is_read_besides(sum->output(), norm);
  Value* rest = keeps_sum ? add_late_output(*made, 3, sum->output()) : nullptr;
  replace_node(norm, {made->output(0)});
  if (keeps_sum) norm.graph().replace_all_uses(sum->output(), rest);
  return true;
}

bool fuse_simplified(Node& norm) {
  if (!is_plain(norm)) return false;
  GraphBuilder g(norm.graph(), &norm);
  g.name_after(norm);
  Node* made = g.node("SimplifiedLayerNormalization", "", {norm.input(0), norm.input(1)},
                      {{"axis", -1}, {"epsilon", epsilon_of(norm)}, {"stash_type", 1}}, 1);
  replace_node(norm, {made->output(0)});
  return true;
}

/// One addend of an embedding: rows of a table by numbers, or the same rows for each text.
struct Addend {
  Value *table = nullptr, *ids = nullptr;
  bool is_position = false;  // it is the same for the whole batch
};

std::optional<Addend> addend_of(Value* v, const Node& sum) {
  const Node* gather = own_maker(v, "Gather", sum);
  if (gather && gather->attributes.int_or("axis", 0) == 0 && ops::constant_of(gather->input(0)) &&
      rank_of(gather->input(0)) == 2 && (rank_of(gather->input(1)) == 2 || rank_of(gather->input(1)) == 1)) {
    const bool is_shared = rank_of(gather->input(1)) == 1 || size_of(gather->input(1), 0) == 1;
    return Addend{gather->input(0), gather->input(1), is_shared};
  }
  if (rank_of(v) == 2 || (rank_of(v) == 3 && size_of(v, 0) == 1)) return Addend{v, nullptr, true};
  return std::nullopt;
}

/// What is summed up, of sums that nothing else reads.
void collect_addends(const Node& sum, std::vector<std::optional<Addend>>& found) {
  for (Value* v : sum.inputs()) {
    const Node* inner = own_maker(v, "Add", sum);
    if (inner && found.size() < 3)
      collect_addends(*inner, found);
    else
      found.push_back(addend_of(v, sum));
  }
}

struct Embedding {
  Addend word, position;
  std::optional<Addend> segment;
};

std::optional<Embedding> embedding_of(const Node& sum) {
  std::vector<std::optional<Addend>> all;
  collect_addends(sum, all);
  if (all.size() < 2 || all.size() > 3 || !std::ranges::all_of(all, [](const auto& a) { return a.has_value(); }))
    return std::nullopt;
  // The one that is the same for all texts must be the position; among the others a sum has no order.
  auto position = std::ranges::find_if(all, [](const auto& a) { return a->is_position; });
  if (position == all.end()) position = all.end() - 1;
  Embedding found{.word = {}, .position = **position, .segment = {}};
  all.erase(position);
  found.word = *all[0];
  if (all.size() == 2) found.segment = all[1];
  for (const Addend* own : {&found.word, found.segment ? &*found.segment : nullptr})
    if (own && (!own->ids || rank_of(own->ids) != 2 || !may_be_same(dim_of(own->ids, 0), dim_of(sum.output(), 0)) ||
                !may_be_same(dim_of(own->ids, 1), dim_of(sum.output(), 1))))
      return std::nullopt;
  return found;
}

Value* small_ids(GraphBuilder& g, Value* ids) {
  if (!ids) return nullptr;
  return g.cast(rank_of(ids) == 1 ? g.unsqueeze(ids, {0}) : ids, DType::i32);
}

bool fuse_embedding(Node& norm) {
  Node* sum = maker(norm.input(0), "Add");
  if (!sum || !is_plain(norm) || rank_of(norm.input(0)) != 3 || size_of(norm.input(0), 2) < 0) return false;
  const auto found = embedding_of(*sum);
  if (!found) return false;
  GraphBuilder g(norm.graph(), sum);
  g.name_after(norm);
  const std::int64_t width = size_of(norm.input(0), 2);
  Value* positions = found->position.table;
  if (!may_be_same(dim_of(positions, -2), dim_of(norm.input(0), 1)) && !found->position.ids) return false;
  if (rank_of(positions) == 3) positions = g.squeeze(positions, {0});
  Value* beta = norm.input(2);
  if (!beta) beta = g.constant(Tensor::of<float>({width}, std::vector<float>(static_cast<std::size_t>(width), 0.0f)));
  Node* made =
      add_microsoft(g, "EmbedLayerNormalization",
                    {small_ids(g, found->word.ids), found->segment ? small_ids(g, found->segment->ids) : nullptr,
                     found->word.table, positions, found->segment ? found->segment->table : nullptr, norm.input(1),
                     beta, nullptr, small_ids(g, found->position.ids)},
                    {{"epsilon", epsilon_of(norm)}});
  made->add_output("");
  const bool keeps_sum = is_read_besides(sum->output(), norm);
  Value* rest = keeps_sum ? add_late_output(*made, 2, sum->output()) : nullptr;
  replace_node(norm, {made->output(0), nullptr});
  if (keeps_sum) norm.graph().replace_all_uses(sum->output(), rest);
  return true;
}

constexpr Fusion kFusions[] = {
    {"EmbedLayerNormalization", "LayerNormalization", fuse_embedding},
    {"SkipLayerNormalization", "LayerNormalization", fuse_skip},
    {"SkipSimplifiedLayerNormalization", "RMSNormalization", fuse_skip},
    {"SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization", fuse_skip},
    {"SimplifiedLayerNormalization", "RMSNormalization", fuse_simplified},
};

}  // namespace

std::span<const Fusion> normalization_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse

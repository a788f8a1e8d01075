// Attention spelled out becomes MultiHeadAttention, or GroupQueryAttention where heads share keys.
#include <cmath>

#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/attention_match.h"

namespace ingot::passes::fuse {
namespace {

/// Added to a score it leaves nothing of it, and two of them are still numbers.
constexpr double kNothing = -1e30;

/// Keys or values: rows that were there before, and those of this run.
struct Cached {
  Node* join = nullptr;  // of both; null: there are none from before
  Value *past = nullptr, *now = nullptr;
};

Cached split_past(Value* v) {
  Node* join = maker(v, "Concat");
  const std::int64_t axis = join ? join->attributes.int_or("axis", 0) : 0;
  if (rank_of(v) != 4 || (axis != 2 && axis != -2) || join->input_count() != 2) return {nullptr, nullptr, v};
  return {join, join->input(0), join->input(1)};
}

/// [batch, heads, rows, width] of which each stands several times, or the value itself.
Value* before_repeat(Value* v) {
  const Node* flat = maker(v, "Reshape");
  const Node* repeat = flat ? maker(flat->input(0), "Expand") : nullptr;
  if (!repeat || rank_of(repeat->output()) != 5 || rank_of(v) != 4) return v;
  const Value* each = repeat->input(0);
  const Node* wide = each->producer();
  if (!wide || !(wide->is("Unsqueeze") || wide->is("Reshape")) || rank_of(each) != 5 || size_of(each, 2) != 1) return v;
  Value* x = wide->input(0);
  const bool fits = rank_of(x) == 4 && may_be_same(dim_of(x, 0), dim_of(v, 0)) &&
                    may_be_same(dim_of(x, 2), dim_of(v, 2)) && may_be_same(dim_of(x, 3), dim_of(v, 3)) &&
                    may_be_same(dim_of(each, 1), dim_of(x, 1)) && may_be_same(dim_of(each, 3), dim_of(x, 2));
  return fits && size_of(x, 1) > 0 && size_of(v, 1) % size_of(x, 1) == 0 ? x : v;
}

/// The rows before heads were split off and brought first; null: they were not.
Value* whole_rows(const Value* heads) {
  const Node* turn = maker(heads, "Transpose");
  if (!turn || !has_perm(*turn, {0, 2, 1, 3})) return nullptr;
  const Node* cut = maker(turn->input(0), "Reshape");
  Value* rows = cut ? cut->input(0) : nullptr;
  const std::int64_t width = size_of(heads, 1) * size_of(heads, 3);
  if (rank_of(rows) != 3 || size_of(rows, 2) != width || !may_be_same(dim_of(rows, 0), dim_of(heads, 0)))
    return nullptr;
  return may_be_same(dim_of(rows, 1), dim_of(heads, 2)) ? rows : nullptr;
}

class Writer {
 public:
  Writer(Node& mix, SpelledAttention found) : mix_(mix), found_(std::move(found)), g_(mix.graph(), &mix) {
    g_.name_after(mix);
  }

  bool write_grouped() { return !found_.has_rank_3() && start() && write_shared(); }
  bool write_heads() {
    if (!start()) return false;
    found_.has_rank_3() ? write_one_head() : write_all_heads();
    return true;
  }

 private:
  bool start() {
    heads_ = found_.has_rank_3() ? 1 : size_of(found_.q, 1);
    if (heads_ < 1 || size_of(found_.q, -1) < 1 || size_of(found_.v, -1) < 1) return false;
    if (found_.is_k_turned) turn_keys();
    return true;
  }

  void turn_keys() {
    const bool is_flat = found_.has_rank_3();
    const Node* turn = maker(found_.k, "Transpose");
    if (turn && has_perm(*turn, {0, 2, 3, 1})) {
      found_.k = g_.transpose(turn->input(0), {0, 2, 1, 3});
      return;
    }
    found_.k =
        g_.transpose(found_.k, is_flat ? std::vector<std::int64_t>{0, 2, 1} : std::vector<std::int64_t>{0, 1, 3, 2});
  }

  /// Heads that are rows of the batch: each is an attention of one head.
  void write_one_head() {
    Node* made = add_microsoft(g_, "MultiHeadAttention", {found_.q, found_.k, found_.v, nullptr, nullptr, bias()},
                               {{"num_heads", 1}, {"scale", found_.scale}});
    replace_node(mix_, {made->output(0)});
  }

  Value* rows_of(Value* heads) {
    if (Value* rows = whole_rows(heads)) return rows;
    Value* turned = g_.transpose(heads, {0, 2, 1, 3});
    return g_.reshape(turned, {0, 0, size_of(heads, 1) * size_of(heads, 3)});
  }

  /// What is added to the scores, [batch or 1, heads or 1, rows, keys]; null: nothing.
  Value* bias() {
    Value* all = nullptr;
    const auto add = [&](Value* one) { all = all ? g_.add(all, one) : one; };
    for (const auto& choice : found_.choices) {
      Value* nothing = g_.scalar(0, DType::f32);
      Value* cut = g_.scalar(std::isfinite(choice.otherwise) ? kNothing : choice.otherwise, DType::f32);
      add(choice.is_inverted ? g_.where(choice.keeps, cut, nothing) : g_.where(choice.keeps, nothing, cut));
    }
    for (Value* one : found_.biases) add(one);
    if (!all) return nullptr;
    const bool is_flat = found_.has_rank_3();
    while (rank_of(all) < (is_flat ? 3 : 4)) all = g_.unsqueeze(all, {0});
    const std::int64_t rows = is_flat ? 1 : 2;
    const bool is_whole =
        same(dim_of(all, rows), dim_of(found_.q, rows)) && same(dim_of(all, -1), dim_of(found_.k, rows));
    if (!is_whole) {
      Value* ones =
          g_.constant(Tensor::of<std::int64_t>({rows}, std::vector<std::int64_t>(static_cast<std::size_t>(rows), 1)));
      all = g_.op("Expand", {all, g_.concat({ones, length(found_.q, rows), length(found_.k, rows)}, 0)});
    }
    return is_flat ? g_.unsqueeze(all, {1}) : all;
  }

  Value* length(Value* v, std::int64_t axis) {
    if (size_of(v, axis) >= 0) return g_.ints({size_of(v, axis)});
    return g_.op("Shape", {v}, {{"start", axis}, {"end", axis + 1}});
  }

  void write_all_heads() {
    const Cached keys = split_past(found_.k), values = split_past(found_.v);
    const bool has_past = keys.join && values.join && may_be_same(dim_of(keys.past, 2), dim_of(values.past, 2)) &&
                          may_be_same(dim_of(keys.now, 2), dim_of(values.now, 2));
    Value *q = rows_of(found_.q), *k = nullptr, *v = nullptr, *added = bias();
    if (has_past) {
      k = rows_of(keys.now);
      v = rows_of(values.now);
    } else if (whole_rows(found_.k) && whole_rows(found_.v)) {
      k = rows_of(found_.k);
      v = rows_of(found_.v);
    } else {
      k = found_.k;
      v = found_.v;
    }
    Node* made = add_microsoft(
        g_, "MultiHeadAttention",
        {q, k, v, nullptr, nullptr, added, has_past ? keys.past : nullptr, has_past ? values.past : nullptr},
        {{"num_heads", heads_}, {"scale", found_.scale}}, has_past ? 3 : 1);
    finish(*made, has_past ? keys.join : nullptr, has_past ? values.join : nullptr);
  }

  /// Heads of queries share those of keys. ONNX Runtime takes a past of several rows of one text only.
  bool write_shared() {
    Value *k = before_repeat(found_.k), *v = before_repeat(found_.v);
    const std::int64_t shared = size_of(k, 1), width = size_of(found_.q, 3);
    if (k == found_.k || v == found_.v || size_of(v, 1) != shared || width % 8 != 0 || size_of(v, 3) != width)
      return false;
    const Cached keys = split_past(k), values = split_past(v);
    const bool has_past = keys.join && values.join;
    if (has_past && size_of(found_.q, 0) != 1 && size_of(found_.q, 2) != 1) return false;
    if (!may_be_same(dim_of(has_past ? keys.now : k, 2), dim_of(found_.q, 2))) return false;
    Value *all = length(k, 2), *batch = length(found_.q, 0);
    Value* total = g_.squeeze(g_.cast(all, DType::i32), {0});
    Value* lengths = g_.op("Expand", {g_.cast(g_.op("Sub", {all, g_.ints({1})}), DType::i32), batch});
    Node* made =
        add_microsoft(g_, "GroupQueryAttention",
                      {rows_of(found_.q), rows_of(has_past ? keys.now : k), rows_of(has_past ? values.now : v),
                       has_past ? keys.past : nullptr, has_past ? values.past : nullptr, lengths, total, nullptr,
                       nullptr, nullptr, bias()},
                      {{"num_heads", heads_}, {"kv_num_heads", shared}, {"scale", found_.scale}, {"causal", 0}}, 3);
    finish(*made, has_past ? keys.join : nullptr, has_past ? values.join : nullptr);
    return true;
  }

  /// Rows take the place of heads that were put together again, or are cut into heads for who still reads them.
  void finish(Node& made, Node* keys, Node* values) {
    const Shape& q = *found_.q->type.shape;
    made.output(0)->type = Type::tensor(DType::f32, Shape{q[0], q[2], Dim(heads_ * size_of(found_.v, 3))});
    if (keys) {
      made.output(1)->type = keys->output()->type;
      made.output(2)->type = values->output()->type;
      hand_on(*keys, made.output(1));
      hand_on(*values, made.output(2));
    }
    Value* heads = g_.transpose(g_.reshape(made.output(0), {0, 0, heads_, size_of(found_.v, 3)}), {0, 2, 1, 3});
    replace_node(mix_, {heads});
  }

  /// Outputs of the graph read what the attention kept; the old nodes are not read any more.
  void hand_on(Node& join, Value* present) {
    Graph& graph = join.graph();
    const std::string name = join.output()->name();
    for (std::size_t i = 0; i < graph.output_count(); ++i)
      if (graph.output(i) == join.output()) {
        graph.rename(join.output(), graph.fresh_name(name + "_joined"));
        graph.rename(present, name);
        present->is_declared = true;
        graph.set_output(i, present);
      }
  }

  Node& mix_;
  SpelledAttention found_;
  GraphBuilder g_;
  std::int64_t heads_ = 0;
};

bool fuse_grouped(Node& mix) {
  auto found = match_attention(mix);
  return found && Writer(mix, std::move(*found)).write_grouped();
}

bool fuse_heads(Node& mix) {
  auto found = match_attention(mix);
  return found && Writer(mix, std::move(*found)).write_heads();
}

/// The shape of scores is that of queries and keys: who asks for it must not keep the scores from being fused.
bool ask_before_scores(Node& shape) {
  if (shape.attributes.find("start") || shape.attributes.find("end") || rank_of(shape.input(0)) != 4) return false;
  const Node* node = shape.input(0)->producer();
  if (!node || &node->graph() != &shape.graph()) return false;
  GraphBuilder g(shape.graph(), &shape);
  g.name_after(shape);
  if (node->is("Mul") || node->is("Div")) {
    const WithNumber parts = split_lone_number(*node);
    if (!parts.other || (node->is("Div") && parts.place != 0)) return false;
    replace_node(shape, {g.shape(parts.other)});
    return true;
  }
  if (!node->is("MatMul") || rank_of(node->input(0)) != 4 || rank_of(node->input(1)) != 4) return false;
  for (const std::int64_t axis : {0, 1})
    if (!may_be_same(dim_of(node->input(0), axis), dim_of(node->input(1), axis))) return false;
  replace_node(
      shape,
      {g.concat({g.op("Shape", {node->input(0)}, {{"end", 3}}), g.op("Shape", {node->input(1)}, {{"start", 3}})}, 0)});
  return true;
}

constexpr Fusion kQuestions[] = {{"", "Shape", ask_before_scores}};
constexpr Fusion kFusions[] = {
    {"GroupQueryAttention", "MatMul", fuse_grouped},
    {"MultiHeadAttention", "MatMul", fuse_heads},
};

}  // namespace

std::span<const Fusion> shape_fusions() { return kQuestions; }
std::span<const Fusion> attention_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse

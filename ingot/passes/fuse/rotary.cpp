// x * cos + turned(x) * sin becomes RotaryEmbedding.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {
namespace {

/// A part of the last axis: its source and where it begins and ends.
struct Half {
  Value* x = nullptr;
  std::int64_t begin = 0, end = 0;
};

std::optional<std::int64_t> only_int(const Value* v) {
  const Tensor* t = ops::constant_of(v);
  if (!t || t->size() != 1 || !is_integer(t->dtype())) return std::nullopt;
  return t->to_ints()[0];
}

std::optional<Half> half_of(const Value* v) {
  const std::int64_t rank = rank_of(v);
  if (const Node* slice = maker(v, "Slice")) {
    const auto begin = only_int(slice->input(1)), end = only_int(slice->input(2)), axis = only_int(slice->input(3));
    const auto step = slice->input(4) ? only_int(slice->input(4)) : std::optional<std::int64_t>(1);
    if (!begin || !end || !axis || step != 1 || (*axis != -1 && *axis != rank - 1)) return std::nullopt;
    const std::int64_t width = size_of(slice->input(0), -1);
    if (width < 0) return std::nullopt;
    const auto place = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + width : i, 0, width); };
    return Half{slice->input(0), place(*begin), place(*end)};
  }
  if (const Node* split = maker(v, "Split")) {
    const std::int64_t axis = split->attributes.int_or("axis", 0);
    if (split->output_count() != 2 || (axis != -1 && axis != rank - 1)) return std::nullopt;
    const std::int64_t first = size_of(split->output(0), -1), second = size_of(split->output(1), -1);
    if (first < 0 || second < 0) return std::nullopt;
    return v == split->output(0) ? Half{split->input(0), 0, first} : Half{split->input(0), first, first + second};
  }
  return std::nullopt;
}

/// Whether v = [-second half of x, first half of x].
bool is_turned(const Value* v, const Value* x) {
  const Node* join = maker(v, "Concat");
  if (!join || join->input_count() != 2) return false;
  const std::int64_t axis = join->attributes.int_or("axis", 0);
  const Node* minus = maker(join->input(0), "Neg");
  if (!minus || (axis != -1 && axis != rank_of(v) - 1)) return false;
  const auto second = half_of(minus->input(0)), first = half_of(join->input(1));
  const std::int64_t width = size_of(x, -1);
  return first && second && first->x == x && second->x == x && first->begin == 0 && first->end * 2 == width &&
         second->begin == first->end && second->end == width;
}

/// Cosines or sines: a table of one half, and the rows of it that are asked for.
struct Table {
  Value *rows = nullptr, *positions = nullptr;  // null positions: the rows in their order
};

/// Whether the second half of each row of a constant is the first again.
bool has_equal_halves(const Tensor& table) {
  const std::vector<float> numbers = table.to_vector<float>();
  const auto width = static_cast<std::size_t>(table.dims().back());
  for (std::size_t at = 0; at + width <= numbers.size(); at += width)
    if (!std::equal(numbers.begin() + static_cast<std::ptrdiff_t>(at),
                    numbers.begin() + static_cast<std::ptrdiff_t>(at + width / 2),
                    numbers.begin() + static_cast<std::ptrdiff_t>(at + width / 2)))
      return false;
  return true;
}

Tensor first_halves(const Tensor& table) {
  const std::vector<float> numbers = table.to_vector<float>();
  const std::int64_t width = table.dims().back(), rows = table.size() / width;
  std::vector<float> half;
  for (std::int64_t r = 0; r < rows; ++r)
    half.insert(half.end(), numbers.begin() + r * width, numbers.begin() + r * width + width / 2);
  return Tensor::of<float>({rows, width / 2}, half);
}

/// Views that add axes of one element, taken off.
Value* before_views(Value* v) {
  while (const Node* view = v->producer()) {
    const bool is_view = view->is("Unsqueeze") || (view->is("Reshape") && rank_of(view->input(0)) < rank_of(v));
    if (!is_view || &view->graph() != &v->graph()) break;
    v = view->input(0);
  }
  return v;
}

/// What the angles are computed from, if both halves come from one Concat; null: they do not.
Value* before_doubling(const Value* v) {
  const Node* join = maker(v, "Concat");
  const bool is_double =
      join && join->input_count() == 2 && join->input(0) == join->input(1) &&
      (join->attributes.int_or("axis", 0) == -1 || join->attributes.int_or("axis", 0) == rank_of(v) - 1);
  return is_double ? join->input(0) : nullptr;
}

class Rotary {
 public:
  Rotary(Node& sum, Value* x) : sum_(sum), x_(x), g_(sum.graph(), &sum) { g_.name_after(sum); }

  std::optional<Table> table_of(Value* v) {
    if (rank_of(v) != 4 || size_of(v, 1) != 1 || size_of(v, 3) != size_of(x_, 3)) return std::nullopt;
    Value* inner = before_views(v);
    if (const Tensor* table = ops::constant_of(inner); table && table->dtype() == DType::f32) {
      if (size_of(v, 0) != 1 || !may_be_same(dim_of(v, 2), dim_of(x_, 2)) || !has_equal_halves(*table))
        return std::nullopt;
      return Table{g_.constant(first_halves(*table)), nullptr};
    }
    if (const Node* gather = maker(inner, "Gather")) return gathered(*gather, v);
    return computed(inner, v);
  }

  void write(const Table& cos, const Table& sin) {
    Value* positions = cos.positions ? cos.positions : g_.ints({0});
    replace_node(sum_, {add_microsoft(g_, "RotaryEmbedding", {x_, positions, cos.rows, sin.rows}, {})->output(0)});
  }

 private:
  /// Rows of a constant, by the position of each token.
  std::optional<Table> gathered(const Node& gather, const Value* v) {
    const Tensor* table = ops::constant_of(gather.input(0));
    Value* positions = gather.input(1);
    if (!table || table->rank() != 2 || table->dtype() != DType::f32 || gather.attributes.int_or("axis", 0) != 0)
      return std::nullopt;
    if (rank_of(positions) != 2 || !has_equal_halves(*table) || !may_be_same(dim_of(positions, 0), dim_of(x_, 0)) ||
        !may_be_same(dim_of(positions, 1), dim_of(v, 2)))
      return std::nullopt;
    return Table{g_.constant(first_halves(*table)), g_.cast(positions, DType::i64)};
  }

  /// Computed angles: what one half gives is the table, of one text or of all behind each other.
  std::optional<Table> computed(Value* inner, const Value* v) {
    const Node* function = inner->producer();
    double factor = 1;
    if (function && function->is("Mul"))
      if (const WithNumber parts = split_number(*function); parts.other) {
        factor = parts.number;
        function = parts.other->producer();
      }
    if (!function || !(function->is("Cos") || function->is("Sin"))) return std::nullopt;
    Value* angles = before_doubling(function->input(0));
    if (!angles || !is_float_tensor(angles) || !may_be_same(dim_of(v, 2), dim_of(x_, 2))) return std::nullopt;
    const bool is_shared = size_of(v, 0) == 1;
    if (!is_shared && !may_be_same(dim_of(v, 0), dim_of(x_, 0))) return std::nullopt;
    Value* half = function->is("Cos") ? g_.op("Cos", {angles}) : g_.op("Sin", {angles});
    if (factor != 1) half = g_.mul(half, factor);
    Value* rows = g_.reshape(half, {-1, size_of(x_, 3) / 2});
    return Table{rows, is_shared ? nullptr : all_positions()};
  }

  /// 0, 1, 2 ... for each token of the batch.
  Value* all_positions() {
    const auto size = [&](std::int64_t axis) { return g_.op("Shape", {x_}, {{"start", axis}, {"end", axis + 1}}); };
    Value *batch = size(0), *length = size(2);
    Value* count = g_.squeeze(g_.mul(batch, length), {0});
    return g_.op("Reshape", {g_.op("Range", {g_.index(0), count, g_.index(1)}), g_.concat({batch, length}, 0)});
  }

  Node& sum_;
  Value* x_;
  GraphBuilder g_;
};

bool fuse_rotary(Node& sum) {
  if (rank_of(sum.output()) != 4 || !is_float_tensor(sum.output())) return false;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Node *straight = own_maker(sum.input(i), "Mul", sum), *turned = own_maker(sum.input(1 - i), "Mul", sum);
    if (!straight || !turned) continue;
    for (const std::size_t a : {std::size_t{0}, std::size_t{1}})
      for (const std::size_t b : {std::size_t{0}, std::size_t{1}}) {
        Value* x = straight->input(a);
        if (rank_of(x) != 4 || size_of(x, 3) < 2 || !is_turned(turned->input(b), x)) continue;
        Rotary rotary(sum, x);
        const auto cos = rotary.table_of(straight->input(1 - a)), sin = rotary.table_of(turned->input(1 - b));
        if (!cos || !sin || (cos->positions == nullptr) != (sin->positions == nullptr)) continue;
        rotary.write(*cos, *sin);
        return true;
      }
  }
  return false;
}

constexpr Fusion kFusions[] = {{"RotaryEmbedding", "Add", fuse_rotary}};

}  // namespace

std::span<const Fusion> rotary_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse

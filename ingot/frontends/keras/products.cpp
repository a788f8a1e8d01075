// Products of arrays, distances and systems of equations among keras.ops.
#include <algorithm>
#include <limits>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/tensorflow_node.h"
#include "ingot/frontends/keras/translators.h"
#include "ingot/frontends/numeric/matrices.h"

namespace ingot::frontends::keras {
namespace {

/// Both with their axes by letters; those that are summed share one.
IrValue* contracted(Call& call, IrValue* x, IrValue* y, const Ints& of_x, const Ints& of_y) {
  const std::int64_t left = rank_needed(call, x), right = rank_needed(call, y);
  call.require(left + right <= 20 && of_x.size() == of_y.size(), "its axes do not fit");
  std::string in_x, in_y, out;
  for (std::int64_t i = 0; i < left; ++i) in_x += static_cast<char>('a' + i);
  for (std::int64_t i = 0; i < right; ++i) in_y += static_cast<char>('a' + left + i);
  const Ints from_x = counted_from_front(call, of_x, left), from_y = counted_from_front(call, of_y, right);
  for (std::size_t i = 0; i < from_x.size(); ++i)
    in_y[static_cast<std::size_t>(from_y[i])] = in_x[static_cast<std::size_t>(from_x[i])];
  for (const char c : in_x)
    if (in_y.find(c) == std::string::npos) out += c;
  for (const char c : in_y)
    if (in_x.find(c) == std::string::npos) out += c;
  return einsum(call.b, {x, y}, in_x + "," + in_y + "->" + out);
}

IrValue* with_ones(GraphBuilder& b, IrValue* x, std::size_t rank, std::size_t wanted) {
  Ints added;
  for (std::size_t i = rank; i < wanted; ++i) added.push_back(static_cast<std::int64_t>(added.size()));
  return added.empty() ? x : b.unsqueeze(x, added);
}

/// TensorFlow's operator of matrices.
Values of_matrices(Call& call, const char* op, const Values& inputs, std::size_t outputs,
                   std::vector<formats::tensorflow::Attr> attrs = {}) {
  formats::tensorflow::NodeDef node;
  node.op = op;
  node.attrs = std::move(attrs);
  std::vector<NodeInput> given;
  for (IrValue* input : inputs) given.push_back({.tensor = real(call.b, input)});
  node.attrs.push_back({"T", formats::tensorflow::data_type_of(given[0].tensor->type.elem)});
  return translate_node(call, std::move(node), given, outputs);
}

IrValue* part(GraphBuilder& b, IrValue* x, std::initializer_list<std::int64_t> places) {
  return b.op("Gather", {x, b.ints(places)}, {{"axis", -1}});
}

}  // namespace

/// NumPy's: the last axis with the last but one.
void op_dot(Call& call) {
  const auto [x, y] = pair_of(call);
  const std::int64_t left = rank_needed(call, x), right = rank_needed(call, y);
  if (left == 0 || right == 0) return call.set(call.b.mul(x, y));
  if (right <= 2) return call.set(call.b.op("MatMul", {x, y}));
  call.set(contracted(call, x, y, {-1}, {-2}));
}
void op_inner(Call& call) {
  const auto [x, y] = pair_of(call);
  if (rank_needed(call, x) == 0 || rank_needed(call, y) == 0) return call.set(call.b.mul(x, y));
  call.set(contracted(call, x, y, {-1}, {-1}));
}
void op_outer(Call& call) {
  const auto [x, y] = pair_of(call);
  call.set(call.b.mul(call.b.reshape(x, {-1, 1}), call.b.reshape(y, {1, -1})));
}
void op_vdot(Call& call) {
  const auto [x, y] = pair_of(call);
  IrValue* products = call.b.mul(call.b.reshape(x, {-1}), call.b.reshape(y, {-1}));
  call.set(call.b.op("ReduceSum", {products}, {{"keepdims", 0}}));
}
void op_tensordot(Call& call) {
  const auto [x, y] = pair_of(call);
  const Config axes = setting(call, 2, {"axes"});
  Ints of_x, of_y;
  if (axes.is_list()) {
    call.require(axes.size() == 2, "its axes are no pair");
    of_x = ints_of(axes[0]);
    of_y = ints_of(axes[1]);
  } else {
    const std::int64_t count = axes.as_int().value_or(2);
    call.require(count >= 0 && count <= 10, "its axes do not fit");
    for (std::int64_t i = 0; i < count; ++i) {
      of_x.push_back(i - count);
      of_y.push_back(i);
    }
  }
  call.set(contracted(call, x, y, of_x, of_y));
}

/// Blocks of the one, each times an element of the other.
void op_kron(Call& call) {
  GraphBuilder& b = call.b;
  auto [x, y] = pair_of(call);
  const auto left = static_cast<std::size_t>(rank_needed(call, x)),
             right = static_cast<std::size_t>(rank_needed(call, y));
  const std::size_t rank = std::max(left, right);
  x = with_ones(b, x, left, rank);
  y = with_ones(b, y, right, rank);
  IrValue* sizes = b.op("Mul", {b.shape(x), b.shape(y)});
  Ints behind, before;
  for (std::size_t i = 0; i < rank; ++i) {
    before.push_back(static_cast<std::int64_t>(2 * i));
    behind.push_back(static_cast<std::int64_t>(2 * i + 1));
  }
  if (rank) x = b.unsqueeze(x, behind), y = b.unsqueeze(y, before);
  call.set(b.op("Reshape", {b.mul(x, y), sizes}));
}

void op_cross(Call& call) {
  GraphBuilder& b = call.b;
  auto [x, y] = pair_of(call);
  const Config one = setting(call, 5, {"axis"});
  const auto axis = [&](const char* name, std::size_t place) {
    return one.as_int().value_or(setting(call, place, {name}).as_int().value_or(-1));
  };
  const auto to_last = [&](IrValue* v, std::int64_t from, bool is_back) {
    const std::int64_t rank = rank_needed(call, v);
    from = counted_from_front(call, {from}, rank)[0];
    if (from == rank - 1) return v;
    Ints order;
    for (std::int64_t i = 0; i < rank - (is_back ? 1 : 0); ++i)
      if (is_back || i != from) order.push_back(i);
    order.insert(is_back ? order.begin() + from : order.end(), is_back ? rank - 1 : from);
    return b.transpose(v, order);
  };
  x = to_last(x, axis("axisa", 2), false);
  y = to_last(y, axis("axisb", 3), false);
  const std::int64_t in_x = dim_of(x, -1).value_or(0), in_y = dim_of(y, -1).value_or(0);
  call.require((in_x == 2 || in_x == 3) && (in_y == 2 || in_y == 3), "its vectors do not have two or three elements");
  const auto in_space = [&](IrValue* v, std::int64_t size) {
    if (size == 3) return v;
    Ints pads(2 * static_cast<std::size_t>(*rank_of(v)), 0);
    pads.back() = 1;
    return b.op("Pad", {v, b.ints(pads)});
  };
  IrValue *p = in_space(x, in_x), *q = in_space(y, in_y);
  IrValue* z =
      b.sub(b.mul(part(b, p, {1, 2, 0}), part(b, q, {2, 0, 1})), b.mul(part(b, p, {2, 0, 1}), part(b, q, {1, 2, 0})));
  if (in_x == 2 && in_y == 2) return call.set(b.op("Gather", {z, b.index(2)}, {{"axis", -1}}));
  call.set(to_last(z, axis("axisc", 4), true));
}

/// The area below points that lie beside each other.
void op_trapezoid(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* y = real(b, first(call));
  const std::int64_t axis = setting(call, 3, {"axis"}).as_int().value_or(-1);
  IrValue *one = b.ints({1}), *zero = b.ints({0}), *last = b.ints({-1}), *at = b.ints({axis});
  IrValue* end = b.ints({std::numeric_limits<std::int64_t>::max()});
  const auto two = [&](IrValue* v, IrValue* along) {
    return std::pair{b.op("Slice", {v, one, end, along}), b.op("Slice", {v, zero, last, along})};
  };
  const auto [right, left] = two(y, at);
  IrValue* mean = b.div(b.add(right, left), 2);
  const Config places = setting(call, 1, {"x"});
  if (places.is_null()) {
    mean = b.mul(mean, setting(call, 2, {"dx"}).as_number().value_or(1));
  } else {
    const Config held = places["config"]["value"].exists() ? places["config"]["value"] : places;
    IrValue* x = argument_of(call, 1, {"x"}) ? operand_named(call, 1, {"x"}, y->type.elem)
                                             : b.constant(literal(call, held, y->type.elem));
    call.require(rank_needed(call, x) == 1, "its places are no list");
    const auto [to, from] = two(x, zero);
    Ints sizes(static_cast<std::size_t>(rank_needed(call, y)), 1);
    sizes[static_cast<std::size_t>(counted_from_front(call, {axis}, rank_needed(call, y))[0])] = -1;
    mean = b.mul(mean, b.reshape(b.cast(b.sub(to, from), y->type.elem), sizes));
  }
  call.set(b.op("ReduceSum", {mean, at}, {{"keepdims", 0}}));
}

/// Powers of a list, in columns.
void op_vander(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  call.require(rank_needed(call, x) == 1, "its input is no list");
  const auto stated = setting(call, 1, {"N"}).as_int();
  IrValue* count = stated ? b.index(*stated) : size_of(b, x, 0);
  IrValue* powers = counted(b, count);
  if (!setting(call, 2, {"increasing"}).as_bool().value_or(false)) powers = b.sub(b.sub(count, 1), powers);
  call.set(b.op("Pow", {b.unsqueeze(x, {1}), b.cast(powers, x->type.elem)}));
}

/// Between all rows of the one and of the other.
void op_distances(Call& call) {
  GraphBuilder& b = call.b;
  auto [x, y] = pair_of(call);
  x = real(b, x);
  y = real(b, y);
  IrValue* away = b.sub(b.unsqueeze(x, {-2}), b.unsqueeze(y, {-3}));
  call.set(b.op("ReduceL2", {away, b.ints({-1})}, {{"keepdims", 0}}));
}

/// "Solve" and "SolveTriangular"; a list is a column.
void op_solve(Call& call) {
  GraphBuilder& b = call.b;
  const auto [a, right] = pair_of(call);
  const bool is_list = rank_needed(call, right) + 1 == rank_needed(call, a);
  const Values inputs{a, is_list ? b.unsqueeze(right, {-1}) : right};
  IrValue* x = nullptr;
  if (call.layer.class_name == "Solve")
    x = of_matrices(call, "MatrixSolve", inputs, 1)[0];
  else
    x = of_matrices(call, "MatrixTriangularSolve", inputs, 1,
                    {{"lower", setting(call, 2, {"lower"}).as_bool().value_or(false)}})[0];
  call.set(is_list ? b.squeeze(x, {-1}) : x);
}

void op_qr(Call& call) {
  const bool is_full = setting(call, 1, {"mode"}).text() == "complete";
  for (IrValue* factor : of_matrices(call, "Qr", {first(call)}, 2, {{"full_matrices", is_full}}))
    call.outputs.push_back({factor, nullptr});
}

/// Values ascending, vectors in columns.
void op_eigh(Call& call) {
  for (IrValue* v : of_matrices(call, "SelfAdjointEigV2", {first(call)}, 2, {{"compute_v", true}}))
    call.outputs.push_back({v, nullptr});
}

/// TensorFlow gives the values first and v as it is; Keras the values second and v turned.
void op_svd(Call& call) {
  const bool is_full = setting(call, 1, {"full_matrices"}).as_bool().value_or(true);
  const bool has_vectors = setting(call, 2, {"compute_uv"}).as_bool().value_or(true);
  const Values made = of_matrices(call, "Svd", {first(call)}, 3, {{"full_matrices", is_full}, {"compute_uv", true}});
  if (!has_vectors) return call.set(made[0]);
  call.outputs = {{made[1], nullptr}, {made[0], nullptr}, {numeric::transposed_matrix(call.b, made[2]), nullptr}};
}

/// The logarithm of the determinant's size; "Slogdet" gives its sign before.
void op_log_determinant(Call& call) {
  const Values made = of_matrices(call, "LogMatrixDeterminant", {first(call)}, 2);
  if (call.layer.class_name == "Logdet") return call.set(made[1]);
  call.outputs = {{made[0], nullptr}, {made[1], nullptr}};
}

/// The inverse of what a triangle is a factor of.
void op_cholesky_inverse(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* factor = first(call);
  IrValue* turned = numeric::transposed_matrix(b, factor);
  const bool is_upper = setting(call, 1, {"upper"}).as_bool().value_or(false);
  IrValue* whole = is_upper ? b.op("MatMul", {turned, factor}) : b.op("MatMul", {factor, turned});
  call.set(of_matrices(call, "MatrixInverse", {whole}, 1)[0]);
}

/// By squares; of the inverse where it is negative.
void op_matrix_power(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  std::int64_t n = setting(call, 1, {"n"}).as_int().value_or(1);
  call.require(std::abs(n) <= (1 << 20), "its power is too large");
  if (n == 0) return call.set(numeric::unit_like(b, x));
  if (n < 0) x = of_matrices(call, "MatrixInverse", {x}, 1)[0];
  IrValue* y = nullptr;
  for (n = std::abs(n); n; n >>= 1) {
    if (n & 1) y = y ? b.op("MatMul", {y, x}) : x;
    if (n > 1) x = b.op("MatMul", {x, x});
  }
  call.set(y);
}

/// Without the directions whose singular values are next to nothing.
void op_pinv(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t rows = dim_of(x, -2).value_or(0), columns = dim_of(x, -1).value_or(0);
  const auto stated = setting(call, 1, {"rcond"}).as_number();
  call.require(stated || (rows && columns), "the size of its matrix is not known");
  const Values made = of_matrices(call, "Svd", {x}, 3, {{"full_matrices", false}, {"compute_uv", true}});
  const double share = stated.value_or(1.1920929e-7 * 10 * static_cast<double>(std::max(rows, columns)));
  IrValue* least = b.mul(b.op("ReduceMax", {made[0], b.ints({-1})}), share);
  IrValue* counts = b.op("Greater", {made[0], least});
  IrValue* zero = b.scalar(0, x->type.elem);
  IrValue* inverse = b.where(counts, b.op("Reciprocal", {b.where(counts, made[0], b.scalar(1, x->type.elem))}), zero);
  IrValue* v = b.mul(made[2], b.unsqueeze(inverse, {-2}));
  call.set(b.op("MatMul", {v, numeric::transposed_matrix(b, made[1])}));
}

}  // namespace ingot::frontends::keras

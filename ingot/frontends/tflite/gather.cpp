// Gathering, scattering, and what selects by value.
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

/// Gather whose first dimensions run along with those of the indices.
Value* batched_gather(Op& op, Value* x, Value* indices, std::int64_t axis, std::int64_t batch) {
  const std::int64_t rank = op.rank_of(x), index_rank = op.rank_of(indices);
  // The axis comes right behind the batch, so that GatherND can take along it, and what it skipped comes back before.
  Ints perm;
  for (std::int64_t i = 0; i < batch; ++i) perm.push_back(i);
  perm.push_back(axis);
  for (std::int64_t i = batch; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  if (axis != batch) x = op.b.transpose(x, perm);
  Value* points = op.b.unsqueeze(indices, {-1});
  Value* taken = op.b.op("GatherND", {x, points}, {{"batch_dims", batch}});
  if (axis == batch) return taken;
  Ints back;
  for (std::int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (std::int64_t i = 0; i < axis - batch; ++i) back.push_back(index_rank + i);
  for (std::int64_t i = batch; i < index_rank; ++i) back.push_back(i);
  for (std::int64_t i = index_rank + axis - batch; i < index_rank + rank - batch - 1; ++i) back.push_back(i);
  return op.b.transpose(taken, back);
}

Value* filled(Op& op, Value* shape, double value, DType dtype) {
  return op.b.op("ConstantOfShape", {shape}, {{"value", Tensor::scalar(value, dtype).reshaped({1})}});
}

}  // namespace

void gather(Op& op) {
  Value* indices = op.indices(1);
  const std::int64_t rank = op.rank(0);
  const std::int64_t axis = op.axis(op.options.get_int("axis"), rank);
  std::int64_t batch = op.options.get_int("batch_dims");
  if (batch < 0) batch += op.rank(1);
  op.move(0, [&](Value* x) {
    if (batch > 0) return batched_gather(op, x, indices, axis, batch);
    return op.b.op("Gather", {x, indices}, {{"axis", axis}});
  });
}

void gather_nd(Op& op) {
  Value* indices = op.indices(1);
  op.move(0, [&](Value* x) { return op.b.op("GatherND", {x, indices}); });
}

void embedding_lookup(Op& op) {
  Value* ids = op.indices(0);
  op.move(1, [&](Value* x) { return op.b.op("Gather", {x, ids}); });
}

void embedding_lookup_sparse(Op& op) {
  // Rows of the table, weighted, summed over the entries of each row of a sparse matrix of ids.
  using tfl::CombinerType;
  const auto combiner = op.options.get_enum<CombinerType>("combiner");
  Value* ids = op.indices(0);
  Value* places = op.indices(1);
  Value* shape = op.index_list(2);
  Value* weights = op.real(3);
  Value* table = op.real(4);
  Value* rows = op.b.op("Gather", {table, ids});
  const std::int64_t rank = op.rank_of(table);
  Ints trailing;
  for (std::int64_t i = 1; i < rank; ++i) trailing.push_back(i);
  Value* factors = trailing.empty() ? weights : op.b.unsqueeze(weights, trailing);
  Value* weighted = op.b.mul(rows, factors);
  // The last index of an entry only tells entries of one row apart.
  Value* first = op.b.ints({0});
  Value* last = op.b.ints({-1});
  Value* along = op.b.ints({1});
  Value* targets = op.b.op("Slice", {places, first, last, along});
  Value* along_shape = op.b.ints({0});
  Value* leading = op.b.op("Slice", {shape, first, last, along_shape});
  Value* table_shape = op.b.shape(table);
  Value* one = op.b.ints({1});
  Value* end = op.b.ints({64});
  Value* row_shape = op.b.op("Slice", {table_shape, one, end, along_shape});
  Value* full = op.b.concat({leading, row_shape}, 0);
  Value* zeros = filled(op, full, 0, DType::f32);
  Value* sums = op.b.op("ScatterND", {zeros, targets, weighted}, {{"reduction", "add"}});
  if (combiner != CombinerType::SUM) {
    Value* counted = combiner == CombinerType::MEAN ? weights : op.b.mul(weights, weights);
    Value* none = filled(op, leading, 0, DType::f32);
    Value* total = op.b.op("ScatterND", {none, targets, counted}, {{"reduction", "add"}});
    if (combiner == CombinerType::SQRTN) total = op.b.op("Sqrt", {total});
    Value* zero = op.b.scalar(0, DType::f32);
    Value* is_empty = op.b.op("Equal", {total, zero});
    Value* unit = op.b.scalar(1, DType::f32);
    total = op.b.where(is_empty, unit, total);
    Ints behind;
    const std::int64_t lead = op.rank_of(total);
    for (std::int64_t i = 0; i < rank - 1; ++i) behind.push_back(lead + i);
    if (!behind.empty()) total = op.b.unsqueeze(total, behind);
    sums = op.b.div(sums, total);
  }
  op.set_real(0, sums);
}

void hashtable_lookup(Op& op) {
  // Keys are few and sorted: each is compared. A key that is not there gives zeros and no hit.
  Value* asked = op.b.cast(op.stored(0), DType::i64);
  Value* keys = op.b.cast(op.stored(1), DType::i64);
  Value* values = op.real(2);
  Value* column = op.b.unsqueeze(asked, {1});
  Value* row = op.b.unsqueeze(keys, {0});
  Value* equal = op.b.op("Equal", {column, row});
  Value* numbers = op.b.cast(equal, DType::i32);
  Value* place = op.b.op("ArgMax", {numbers}, {{"axis", 1}, {"keepdims", 0}});
  Value* axes = op.b.ints({1});
  Value* hit = op.b.op("ReduceMax", {numbers, axes}, {{"keepdims", 0}});
  Value* found = op.b.op("Gather", {values, place});
  op.require(is_float(found->type.elem) || is_integer(found->type.elem), "only numbers can be looked up");
  Value* factor = op.b.cast(hit, found->type.elem);
  Ints trailing;
  for (std::int64_t i = 1; i < op.rank_of(found); ++i) trailing.push_back(i);
  if (!trailing.empty()) factor = op.b.unsqueeze(factor, trailing);
  op.set_real(0, op.b.mul(found, factor));
  op.set(1, op.b.cast(hit, op.out_dtype(1)));
}

void scatter_nd(Op& op) {
  Value* indices = op.indices(0);
  Value* updates = op.stored(1);
  Value* shape = op.index_list(2);
  const bool is_truth = updates->type.elem == DType::boolean;
  if (is_truth) updates = op.b.cast(updates, DType::i32);
  Value* zeros = filled(op, shape, 0, updates->type.elem);
  Value* y = op.b.op("ScatterND", {zeros, indices, updates}, {{"reduction", "add"}});
  op.set(0, is_truth ? op.b.cast(y, DType::boolean) : y);
}

void sparse_to_dense(Op& op) {
  Value* indices = op.indices(0);
  const std::int64_t rank = op.rank(0);
  Value* shape = op.index_list(1);
  Value* values = op.stored(2);
  Value* base = op.stored(3);
  if (!base->type.shape || !base->type.shape->empty()) base = op.b.reshape(base, {});
  Value* dense = op.b.op("Expand", {base, shape});
  // A list of indices is a column; a single index a row.
  if (rank == 0) indices = op.b.reshape(indices, {1, 1});
  if (rank == 1) indices = op.b.unsqueeze(indices, {1});
  Value* count = op.b.shape(indices);
  Value* zero = op.b.ints({0});
  Value* rows = op.b.op("Gather", {count, zero});
  Value* updates = op.b.op("Expand", {values, rows});
  op.set(0, op.b.op("ScatterND", {dense, indices, updates}));
}

void one_hot(Op& op) {
  // Indices outside of the range give no "on", which ONNX's operator reads otherwise.
  Value* indices = op.indices(0);
  Value* depth = op.index_scalar(1);
  Value* on = op.stored(2);
  Value* off = op.stored(3);
  const std::int64_t rank = op.rank_of(indices) + 1;
  const std::int64_t axis = op.axis(op.options.get_int("axis"), rank);
  Value* zero = op.b.index(0);
  Value* one = op.b.index(1);
  Value* numbers = op.b.op("Range", {zero, depth, one});
  Ints around;
  for (std::int64_t i = 0; i < rank - 1; ++i) around.push_back(i < axis ? i : i + 1);
  Value* classes = around.empty() ? numbers : op.b.unsqueeze(numbers, around);
  Value* spread = op.b.unsqueeze(indices, {axis});
  Value* is_on = op.b.op("Equal", {spread, classes});
  op.set(0, op.b.where(is_on, on, off));
}

void where(Op& op) {
  Value* condition = op.stored(0);
  Value* places = op.b.op("NonZero", {condition});
  Value* rows = op.b.transpose(places, {1, 0});
  op.set(0, op.b.cast(rows, op.out_dtype()));
}

void unique(Op& op) {
  Value* x = op.stored(0);
  const Values found = op.b.op("Unique", {x}, {{"sorted", 0}}, 4);
  op.set(0, found[0]);
  op.set(1, op.b.cast(found[2], op.out_dtype(1)));
}

namespace {

/// A square of truth values with "true" on the diagonal of the last two dimensions.
Value* diagonal(Op& op, std::int64_t rows, std::int64_t columns) {
  op.require(rows >= 0 && columns >= 0 && rows * columns < (std::int64_t{1} << 28), "the matrix is too large");
  std::vector<std::byte> flags(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows && i < columns; ++i)
    flags[static_cast<std::size_t>(i * columns + i)] = std::byte{1};
  return op.b.constant(Tensor(DType::boolean, {rows, columns}, Bytes::own(std::move(flags))));
}

}  // namespace

void matrix_diag(Op& op) {
  Value* x = op.stored(0);
  op.require(x->type.shape && !x->type.shape->empty() && x->type.shape->back().is_known(), "the size must be known");
  const std::int64_t size = x->type.shape->back().value();
  Value* is_diagonal = diagonal(op, size, size);
  Value* columns = op.b.unsqueeze(x, {-1});
  Value* zero = op.b.scalar(0, x->type.elem);
  op.set(0, op.b.where(is_diagonal, columns, zero));
}

void matrix_set_diag(Op& op) {
  Value* x = op.stored(0);
  Value* diag = op.stored(1);
  const auto& shape = x->type.shape;
  op.require(shape && shape->size() >= 2 && shape->back().is_known() && (*shape)[shape->size() - 2].is_known(),
             "the sizes must be known");
  const std::int64_t rows = (*shape)[shape->size() - 2].value(), columns = shape->back().value();
  Value* is_diagonal = diagonal(op, rows, columns);
  // The diagonal is as long as the shorter side: it is spread along the other one.
  Value* spread = op.b.unsqueeze(diag, {rows <= columns ? std::int64_t{-1} : std::int64_t{-2}});
  op.set(0, op.b.where(is_diagonal, spread, x));
}

constexpr std::int64_t kMostListed = std::int64_t{1} << 24;

void dynamic_update_slice(Op& op) {
  Value* x = op.stored(0);
  Value* update = op.stored(1);
  const auto whole = static_dims(x->type.shape), part = static_dims(update->type.shape);
  op.require(whole && part && whole->size() == part->size(), "the sizes must be known");
  Value* starts = op.index_list(2);
  Value* is_inside = nullptr;
  for (std::size_t d = 0; d < whole->size(); ++d) {
    if ((*whole)[d] == (*part)[d]) continue;
    op.require((*part)[d] > 0, "the update is empty");
    op.require((*whole)[d] <= kMostListed, "an axis is too long to be listed");
    Value* which = op.b.index(static_cast<std::int64_t>(d));
    Value* asked = op.b.op("Gather", {starts, which});
    Value* zero = op.b.index(0);
    Value* most = op.b.index((*whole)[d] - (*part)[d]);
    Value* start = op.b.op("Clip", {asked, zero, most});
    Ints numbers;
    for (std::int64_t i = 0; i < (*whole)[d]; ++i) numbers.push_back(i);
    Value* places = op.b.ints(numbers);
    Value* offset = op.b.sub(places, start);
    Value* last = op.b.index((*part)[d] - 1);
    Value* bounded = op.b.op("Clip", {offset, zero, last});
    update = op.b.op("Gather", {update, bounded}, {{"axis", static_cast<std::int64_t>(d)}});
    Value* covered = op.b.op("Equal", {offset, bounded});
    Ints behind;
    for (std::size_t i = d + 1; i < whole->size(); ++i) behind.push_back(static_cast<std::int64_t>(i - d));
    if (!behind.empty()) covered = op.b.unsqueeze(covered, behind);
    is_inside = is_inside ? op.b.op("And", {is_inside, covered}) : covered;
  }
  op.set(0, is_inside ? op.b.where(is_inside, update, x) : op.b.op("Identity", {update}));
}

namespace {

/// Rows of input 0 brought together by the ids of input 1 in `count` rows; negative ids count nowhere.
Value* segments(Op& op, Value* count, double start, const char* reduction) {
  Value* x = op.real(0);
  Value* ids = op.indices(1);
  const std::int64_t id_rank = op.rank_of(ids);
  Value* shape = op.b.shape(x);
  Value* from = op.b.ints({id_rank});
  Value* to = op.b.ints({64});
  Value* along = op.b.ints({0});
  Value* row = op.b.op("Slice", {shape, from, to, along});
  if (id_rank != 1) {
    Value* open = op.b.ints({-1});
    Value* flat = op.b.concat({open, row}, 0);
    x = op.b.op("Reshape", {x, flat});
    ids = op.b.reshape(ids, {-1});
  }
  Value* zero = op.b.index(0);
  Value* is_negative = op.b.op("Less", {ids, zero});
  Value* targets = op.b.where(is_negative, count, ids);
  Value* places = op.b.unsqueeze(targets, {1});
  Value* one = op.b.index(1);
  Value* more = op.b.add(count, one);
  Value* rows = op.b.reshape(more, {1});
  Value* full = op.b.concat({rows, row}, 0);
  Value* base = filled(op, full, start, x->type.elem);
  Value* sums = op.b.op("ScatterND", {base, places, x}, {{"reduction", reduction}});
  Value* first = op.b.ints({0});
  Value* end = op.b.reshape(count, {1});
  return op.b.op("Slice", {sums, first, end, along});
}

double lowest(DType dtype) {
  return is_float(dtype) ? -3.4028234663852886e38 : dtype == DType::i32 ? -2147483648.0 : -9.2233720368547748e18;
}
double highest(DType dtype) {
  return is_float(dtype) ? 3.4028234663852886e38 : dtype == DType::i32 ? 2147483647.0 : 9.2233720368547748e18;
}

}  // namespace

void segment_sum(Op& op) {
  Value* ids = op.indices(1);
  Value* last = op.b.op("ReduceMax", {ids}, {{"keepdims", 0}});
  Value* one = op.b.index(1);
  Value* count = op.b.add(last, one);
  op.set_real(0, segments(op, count, 0, "add"));
}

void unsorted_segment_sum(Op& op) { op.set_real(0, segments(op, op.index_scalar(2), 0, "add")); }
void unsorted_segment_prod(Op& op) { op.set_real(0, segments(op, op.index_scalar(2), 1, "mul")); }
void unsorted_segment_max(Op& op) {
  op.set_real(0, segments(op, op.index_scalar(2), lowest(op.real(0)->type.elem), "max"));
}
void unsorted_segment_min(Op& op) {
  op.set_real(0, segments(op, op.index_scalar(2), highest(op.real(0)->type.elem), "min"));
}

}  // namespace ingot::frontends::tflite

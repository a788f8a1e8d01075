// ai.onnx.contrib: RaggedTensorToSparse, RaggedTensorToDense, StringRaggedTensorToDense.
#include <algorithm>
#include <limits>

#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Ints = std::span<const std::int64_t>;

/// Where rows begin, and the last one's end: none falls back, none is beyond `values`. Returns the longest row.
std::int64_t longest_row(KernelContext& c, Ints splits, std::int64_t values) {
  if (splits.empty()) c.fail("the row splits are empty");
  if (splits.front() < 0 || splits.back() > values) c.fail("a row is outside of the values");
  std::int64_t most = 0;
  for (std::size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1]) c.fail("the row splits fall back");
    most = std::max(most, splits[i] - splits[i - 1]);
  }
  return most;
}

void infer_sparse(InferContext& c) {
  c.out_shape(0, {c.data_dim(0, 0), 2});
  c.out_shape(1, {2});
}

void run_sparse(KernelContext& c) {
  if (c.in(0).rank() != 1) c.fail("the row splits must be a vector");
  const Ints splits = c.in(0).data<std::int64_t>();
  const std::int64_t most = longest_row(c, splits, std::numeric_limits<std::int64_t>::max());
  if (splits.front() != 0) c.fail("the row splits must begin with 0");
  auto out = c.make(0, DType::i64, {splits.back(), 2}).mutable_data<std::int64_t>().begin();
  for (std::size_t row = 0; row + 1 < splits.size(); ++row)
    for (std::int64_t column = 0; column < splits[row + 1] - splits[row]; ++column) {
      *out++ = static_cast<std::int64_t>(row);
      *out++ = column;
    }
  give_ints(c, 1, {2}, {std::ssize(splits) - 1, most});
}

template <class T> void fill(KernelContext& c, std::span<const T> values, Ints splits, const T& missing) {
  const std::int64_t most = longest_row(c, splits, std::ssize(values));
  auto out = c.make(0, dtype_of<T>, {std::ssize(splits) - 1, most}).template mutable_data<T>().begin();
  for (std::size_t row = 0; row + 1 < splits.size(); ++row) {
    const auto part =
        values.subspan(static_cast<std::size_t>(splits[row]), static_cast<std::size_t>(splits[row + 1] - splits[row]));
    out = std::fill_n(std::ranges::copy(part, out).out, most - std::ssize(part), missing);
  }
}

void infer_dense(InferContext& c) {
  const Shape* splits = c.shape(3);
  c.out_shape(0, {splits && splits->size() == 1 ? (*splits)[0] - 1 : c.data_dim(0, 0), c.data_dim(0, 1)});
}

void run_dense(KernelContext& c) {
  if (c.in(2).size() < 1) c.fail("the default is empty");
  fill(c, c.in(1).data<std::int64_t>(), c.in(3).data<std::int64_t>(), c.in(2).data<std::int64_t>()[0]);
}

/// As many rows as the last input has elements, less one.
void run_text_dense(KernelContext& c) {
  const Ints splits = c.in(2).data<std::int64_t>();
  const auto rows = static_cast<std::size_t>(c.in(3).size());
  if (rows > splits.size()) c.fail("there are fewer row splits than rows");
  fill<std::string>(c, c.in(1).data<std::string>(), splits.first(rows), {});
}

}  // namespace

constinit const OpDef defs::contrib::RaggedTensorToDense = {
    .name = "RaggedTensorToDense", .domain = kContrib, .infer = infer_dense, .kernel = run_dense};
constinit const OpDef defs::contrib::RaggedTensorToSparse = {
    .name = "RaggedTensorToSparse", .domain = kContrib, .infer = infer_sparse, .kernel = run_sparse};
constinit const OpDef defs::contrib::StringRaggedTensorToDense = {
    .name = "StringRaggedTensorToDense", .domain = kContrib, .infer = infer_dense, .kernel = run_text_dense};

}  // namespace ingot::ops

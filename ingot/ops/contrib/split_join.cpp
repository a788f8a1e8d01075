// ai.onnx.contrib: StringSplit, StringJoin.
#include <algorithm>

#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void infer_split(InferContext& c) {
  c.out_shape(0, {c.data_dim(1, 0), 2});
  c.out_shape(1, {c.data_dim(1, 0)});
  c.out_shape(2, {2});
}

/// The separators are bytes, each by itself; none: every byte is a word.
Texts words_of(const std::string& text, const std::string& separators, bool skip_empty) {
  Texts words;
  if (text.empty()) return words;
  if (separators.empty()) {
    for (const char b : text) words.emplace_back(1, b);
    return words;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (!skip_empty || end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void run_split(KernelContext& c) {
  const std::string& separators = text_argument(c, 1);
  const bool skip_empty = bool_argument(c, 2, false);
  give_words(c, [&](const std::string& text) { return words_of(text, separators, skip_empty); });
}

void infer_join(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  if (x->size() <= 1) return c.out_shape(0, {1});
  const auto axis = c.const_int(2);
  if (!axis) return c.out_rank(0, std::ssize(*x) - 1);
  c.require(*axis >= 0 && *axis < std::ssize(*x), "the axis is not one of the input's");
  Shape y = *x;
  y.erase(y.begin() + static_cast<std::ptrdiff_t>(*axis));
  c.out_shape(0, std::move(y));
}

void run_join(KernelContext& c) {
  const Array& x = c.in(0);
  const std::string& separator = text_argument(c, 1);
  const auto in = x.data<std::string>();
  if (x.rank() == 0) return give_texts(c, 0, {1}, {in[0]});
  const std::int64_t axis = int_argument(c, 2);
  if (axis < 0 || axis >= x.rank()) c.fail("the axis is not one of the input's");
  Dims dims = x.dims();
  const std::int64_t count = dims[static_cast<std::size_t>(axis)];
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < dims.size(); ++d) inner *= dims[d];
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  if (dims.empty()) dims = {1};
  const auto out = c.make(0, DType::string, dims).mutable_data<std::string>();
  Pace pace(c.host().budget());
  for (std::size_t i = 0; i < out.size() && count > 0; ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t first = place / inner * inner * count + place % inner;
    for (std::int64_t j = 0; j < count; ++j) {
      if (j) out[i] += separator;
      out[i] += in[static_cast<std::size_t>(first + j * inner)];
    }
    pace.step(std::ssize(out[i]) + 1);
  }
}

}  // namespace

constinit const OpDef defs::contrib::StringJoin = {
    .name = "StringJoin", .domain = kContrib, .infer = infer_join, .kernel = run_join};
constinit const OpDef defs::contrib::StringSplit = {
    .name = "StringSplit", .domain = kContrib, .infer = infer_split, .kernel = run_split};

}  // namespace ingot::ops

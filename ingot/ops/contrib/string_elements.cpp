// ai.onnx.contrib: StringUpper, StringLower, StringLength, StringStrip, StringConcat, StringEqual, MaskedFill.
#include <algorithm>

#include "ingot/ops/builder.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

constexpr std::string_view kWhite = " \t\n\r\f\v";

template <class Map> void run_each(KernelContext& c, Map map) {
  const Array& x = c.in(0);
  const auto out = c.make(0, DType::string, x.dims()).mutable_data<std::string>();
  Pace pace(c.host().budget());
  std::size_t i = 0;
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    out[i++] = map(text);
  }
}

void run_upper(KernelContext& c) {
  run_each(c, [](std::string text) {
    for (char& b : text) b = b >= 'a' && b <= 'z' ? static_cast<char>(b - 32) : b;
    return text;
  });
}

void run_lower(KernelContext& c) {
  run_each(c, [](const std::string& text) {
    std::string lower;
    for (const char32_t code : codes_of(text)) append_utf8(lower, extension_lower(code));
    return lower;
  });
}

/// A text of nothing but space stays as it is.
void run_strip(KernelContext& c) {
  run_each(c, [](const std::string& text) {
    const std::size_t begin = text.find_first_not_of(kWhite);
    return begin == std::string::npos ? text : text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
  });
}

void run_length(KernelContext& c) {
  const Array& x = c.in(0);
  const auto out = c.make(0, DType::i64, x.dims()).mutable_data<std::int64_t>();
  Pace pace(c.host().budget());
  std::size_t i = 0;
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    out[i++] = std::ssize(codes_of(text));
  }
}

void run_concat(KernelContext& c) {
  const Array &a = c.in(0), &b = c.in(1);
  if (a.dims() != b.dims()) c.fail("both inputs must have one shape");
  const auto left = a.data<std::string>(), right = b.data<std::string>();
  const auto out = c.make(0, DType::string, a.dims()).mutable_data<std::string>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = left[i] + right[i];
}

/// The input of fewer elements is stretched to the other; dimensions are aligned from the left.
void run_equal(KernelContext& c) {
  const bool is_first_larger = c.in(0).size() >= c.in(1).size();
  const Array &large = c.in(is_first_larger ? 0 : 1), &small = c.in(is_first_larger ? 1 : 0);
  if (small.rank() > large.rank()) c.fail("the smaller input has more dimensions");
  std::vector<std::int64_t> strides(large.dims().size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = small.dims().size(); d-- > 0;) {
    const std::int64_t size = small.dims()[d];
    if (size != 1 && size != large.dims()[d]) c.fail("the inputs' shapes do not fit, dimension " + std::to_string(d));
    if (size != 1) strides[d] = stride;
    stride *= size;
  }
  const auto a = large.data<std::string>(), b = small.data<std::string>();
  const auto out = c.make(0, DType::boolean, large.dims()).mutable_data<bool>();
  Pace pace(c.host().budget());
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::int64_t at = 0, rest = static_cast<std::int64_t>(i);
    for (std::size_t d = strides.size(); d-- > 0;) {
      at += rest % large.dims()[d] * strides[d];
      rest /= large.dims()[d];
    }
    out[i] = a[i] == b[static_cast<std::size_t>(at)];
    pace.step(std::ssize(strides) + 1);
  }
}

void infer_kept(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0)}); }

Values concat_in_onnx(DecomposeContext& c) { return {c.g.op("StringConcat", {c.in(0), c.in(1)})}; }
Values kept_in_onnx(DecomposeContext& c) { return {c.g.op("Compress", {c.in(0), c.in(1)}, {{"axis", 0}})}; }

/// A filter, in spite of its name.
void run_masked_fill(KernelContext& c) {
  const Array &x = c.in(0), &mask = c.in(1);
  if (x.rank() > 1 || x.dims() != mask.dims()) c.fail("text and mask must be vectors of one length");
  Texts kept;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i)
    if (mask.data<bool>()[i]) kept.push_back(x.data<std::string>()[i]);
  const auto count = std::ssize(kept);
  give_texts(c, 0, {count}, std::move(kept));
}

void infer_equal(InferContext& c) {
  const Shape *a = c.shape(0), *b = c.shape(1);
  if (a && b && *a == *b) c.out_shape(0, *a);
}

}  // namespace

constinit const OpDef defs::contrib::MaskedFill = {.name = "MaskedFill",
                                                   .domain = kContrib,
                                                   .infer = infer_kept,
                                                   .decompose = kept_in_onnx,
                                                   .kernel = run_masked_fill};
constinit const OpDef defs::contrib::StringConcat = {.name = "StringConcat",
                                                     .domain = kContrib,
                                                     .infer = infer_same_shape,
                                                     .decompose = concat_in_onnx,
                                                     .kernel = run_concat};
constinit const OpDef defs::contrib::StringEqual = {
    .name = "StringEqual", .domain = kContrib, .infer = infer_equal, .kernel = run_equal};
constinit const OpDef defs::contrib::StringLength = {
    .name = "StringLength", .domain = kContrib, .infer = infer_same_shape, .kernel = run_length};
constinit const OpDef defs::contrib::StringLower = {
    .name = "StringLower", .domain = kContrib, .infer = infer_same_shape, .kernel = run_lower};
constinit const OpDef defs::contrib::StringStrip = {
    .name = "StringStrip", .domain = kContrib, .infer = infer_same_shape, .kernel = run_strip};
constinit const OpDef defs::contrib::StringUpper = {
    .name = "StringUpper", .domain = kContrib, .infer = infer_same_shape, .kernel = run_upper};

}  // namespace ingot::ops

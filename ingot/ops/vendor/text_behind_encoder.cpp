// com.microsoft: texts from a decoder behind an encoder, as T5 and Whisper have.
#include <algorithm>

#include "ingot/ops/compute.h"
#include "ingot/ops/vendor/text_generation.h"

namespace ingot::ops {
namespace {

constexpr std::size_t kMask = 9, kPrompt = 10;  // inputs of BeamSearch

bool has_word(const Value& input, std::string_view word) { return input.name().find(word) != std::string::npos; }

const Graph& subgraph(const KernelContext& c, const char* name) {
  const auto* graph = c.node.attributes.get<GraphPtr>(name);
  if (!graph || !*graph) c.fail("attribute '" + std::string(name) + "' is missing");
  return **graph;
}

bool takes_one_token(const Graph& decoder) {
  const auto& shape = decoder.inputs().empty() ? std::nullopt : decoder.inputs()[0]->type.shape;
  return shape && shape->size() == 2 && (*shape)[1].is_known() && (*shape)[1].value() == 1;
}

/// Each row several times, behind each other.
Array repeated(const Array& x, std::int64_t copies, KernelHost& host) {
  Dims dims = x.dims();
  const std::int64_t rows = dims[0];
  dims[0] *= copies;
  Array y = host.allocate(x.dtype(), dims);
  const std::size_t each = rows > 0 ? x.byte_size() / static_cast<std::size_t>(rows) : 0;
  for (std::int64_t i = 0; i < dims[0]; ++i)
    std::copy_n(x.bytes() + static_cast<std::size_t>(i / copies) * each, each,
                y.bytes() + static_cast<std::size_t>(i) * each);
  return y;
}

}  // namespace

void Generation::begin_with_encoder() {
  const Graph& decoder = subgraph(c_, "decoder");
  for (const Value* input : decoder.inputs())
    if (input->name() == "past_sequence_length") c_.fail("a decoder that writes into its own inputs is not run");
  reads_whole_texts_ = !takes_one_token(decoder);
  const Array& source = c_.in(0);
  if (source.rank() < 2) c_.fail("what the encoder reads must have rank 2 or more");
  const std::int64_t rows = source.dims()[0];
  Array prompt;
  if (c_.has(kPrompt)) prompt = converted(c_.in(kPrompt), DType::i32, c_.host());
  if (prompt && (prompt.rank() != 2 || prompt.dims()[0] != rows)) c_.fail("decoder_input_ids has another shape");
  length_ = prompt ? prompt.dims()[1] : 1;
  const auto start = static_cast<std::int32_t>(c_.attr("decoder_start_token_id", std::int64_t{-1}));
  for (std::int64_t i = 0; i < rows * copies_; ++i) {
    std::vector<std::int32_t> text(static_cast<std::size_t>(length_), start);
    if (prompt) std::copy_n(prompt.data<std::int32_t>().begin() + i / copies_ * length_, length_, text.begin());
    texts_.push_back(text);
  }
  next_tokens_ = texts_;
  masks_.resize(texts_.size());
  next_positions_.assign(texts_.size(), {0});
  source_ = Datum(repeated(source, copies_, c_.host()));
  if (is_float(source.dtype())) return;
  const Array ids = converted(source, DType::i32, c_.host());
  const std::int64_t pad = c_.attr("pad_token_id", std::int64_t{0});
  Array mask = c_.host().allocate(DType::i32, ids.dims());
  if (c_.has(kMask)) {
    mask = converted(c_.in(kMask), DType::i32, c_.host());
    if (mask.dims() != ids.dims()) c_.fail("attention_mask has another shape than input_ids");
  } else {
    std::ranges::transform(ids.data<std::int32_t>(), mask.mutable_data<std::int32_t>().begin(),
                           [&](std::int32_t id) { return id != pad ? 1 : 0; });
  }
  source_mask_ = Datum(repeated(mask, copies_, c_.host()));
}

Datum Generation::tokens_for(const Value& input) const {
  const auto& rows = reads_whole_texts_ ? texts_ : next_tokens_;
  Array array = c_.host().allocate(DType::i32, {std::ssize(rows), std::ssize(rows[0])});
  auto to = array.mutable_data<std::int32_t>().begin();
  for (const auto& row : rows) to = std::ranges::copy(row, to).out;
  return Datum(input.type.elem == DType::i64 ? converted(array, DType::i64, c_.host()) : array);
}

/// Scores of the first token, hidden rows if there are any, and states of the decoder and of what it reads.
std::vector<Datum> Generation::run_encoder() {
  const Graph &encoder = subgraph(c_, "encoder"), &decoder = subgraph(c_, "decoder");
  std::vector<Datum> given;
  for (const Value* input : encoder.inputs()) {
    if (given.empty())
      given.push_back(source_);
    else if (has_word(*input, "attention_mask"))
      given.push_back(source_mask_);
    else
      given.push_back(tokens_for(*input));
  }
  std::vector<Datum> made = c_.host().run_graph(encoder, given);
  const auto states = static_cast<std::size_t>(
      std::ranges::count_if(decoder.inputs(), [](const Value* input) { return has_word(*input, "past"); }));
  if (made.size() < states + 1 || made.size() > states + 2)
    c_.fail("the encoder gives other states than the decoder reads");
  if (made.size() == states + 2) hidden_ = made[1];
  past_.assign(made.end() - static_cast<std::ptrdiff_t>(states), made.end());
  for (const Datum& state : past_)
    if (!state.array() || state.array()->rank() < 1 || state.array()->dims()[0] != rows())
      c_.fail("a state has another number of rows");
  return made;
}

std::vector<Datum> Generation::run_behind_encoder() {
  const Graph& decoder = subgraph(c_, "decoder");
  std::vector<Datum> given;
  std::size_t state = 0;
  for (const Value* input : decoder.inputs()) {
    if (has_word(*input, "past"))
      given.push_back(past_[state++]);
    else if (has_word(*input, "attention_mask"))
      given.push_back(source_mask_);
    else if (has_word(*input, "hidden_states"))
      given.push_back(hidden_);
    else
      given.push_back(tokens_for(*input));
  }
  std::vector<Datum> made = c_.host().run_graph(decoder, given);
  if (made.size() > past_.size() + 1) c_.fail("the decoder gives more states than it reads");
  for (std::size_t i = 1; i < made.size(); ++i) past_[i - 1] = made[i];
  return made;
}

}  // namespace ingot::ops

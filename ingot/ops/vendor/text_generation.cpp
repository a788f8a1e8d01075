// com.microsoft: texts, token by token, from a decoder of GPT's kind.
#include "ingot/ops/vendor/text_generation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

std::int64_t whole_number(KernelContext& c, std::size_t i, std::int64_t fallback) {
  if (!c.has(i)) return fallback;
  if (c.in(i).size() != 1) c.fail("input " + std::to_string(i) + " is not one number");
  return static_cast<std::int64_t>(converted(c.in(i), DType::f64, c.host()).data<double>()[0]);
}

float real_number(KernelContext& c, std::size_t i, float fallback) {
  if (!c.has(i)) return fallback;
  if (c.in(i).size() != 1) c.fail("input " + std::to_string(i) + " is not one number");
  return converted(c.in(i), DType::f32, c.host()).data<float>()[0];
}

const Graph& graph_of(const KernelContext& c, const char* name) {
  const auto* graph = c.node.attributes.get<GraphPtr>(name);
  return graph && *graph ? **graph : *std::get<GraphPtr>(c.node.attributes.find("decoder")->value);
}

/// Where the inputs stand: those of BeamSearch come between.
struct Places {
  std::size_t penalty, vocabulary, prefix, mask;
};
Places places_of(const KernelContext& c) {
  return c.node.op.ends_with("BeamSearch") ? Places{6, 7, 8, 9} : Places{3, 4, 5, 6};
}

enum ModelType : std::int64_t { kGpt, kT5, kWhisper };

}  // namespace

Generation::Generation(KernelContext& c, std::int64_t copies) : c_(c), copies_(copies) {
  const std::int64_t type = c.attr("model_type", std::int64_t{c.node.op == "WhisperBeamSearch" ? kWhisper : kGpt});
  if (type < kGpt || type > kWhisper) c.fail("decoders of the model_type " + std::to_string(type) + " are not known");
  has_encoder_ = type != kGpt;
  if (!c.node.attributes.get<GraphPtr>("decoder")) c.fail("attribute 'decoder' is missing");
  most_ = whole_number(c, 1, 0);
  least_ = whole_number(c, 2, 0);
  penalty_ = real_number(c, places_of(c).penalty, 1);
  if (type == kWhisper) begin_with_sound();
  if (has_encoder_)
    begin_with_encoder();
  else
    begin_with_prompt(converted(c.in(0), DType::i32, c.host()));
  constexpr std::int64_t kLongest = 1 << 20;
  if (length_ < 1 || most_ <= length_ || most_ > kLongest) c.fail("max_length must be above the length of the prompt");
}

/// What only Whisper's have.
void Generation::begin_with_sound() {
  constexpr std::size_t kRules = 11, kForced = 13, kTemperature = 14;
  if (c_.in(0).rank() != 3 || !is_float(c_.in(0).dtype())) c_.fail("a sound must be floats of rank 3");
  if (c_.has(kForced)) c_.fail("extra_decoding_ids are not looked at, nor does ONNX Runtime on a CPU");
  if (c_.attr("decoder_output_cross_qk", std::int64_t{0}) || c_.wants(3))
    c_.fail("what the decoder looks at (cross_qk) is not kept, nor does ONNX Runtime on a CPU");
  temperature_ = real_number(c_, kTemperature, 1);
  if (whole_number(c_, kRules, 0) == 1) time_marks_.emplace(c_);
}

void Generation::begin_with_prompt(const Array& ids) {
  if (ids.rank() != 2) c_.fail("input_ids must have rank 2");
  const std::int64_t rows = ids.dims()[0];
  length_ = ids.dims()[1];
  const auto pad = static_cast<std::int32_t>(c_.attr("pad_token_id", std::int64_t{0}));
  Array given;
  if (c_.has(places_of(c_).mask)) given = converted(c_.in(places_of(c_).mask), DType::i32, c_.host());
  if (given && given.dims() != ids.dims()) c_.fail("attention_mask has another shape than input_ids");
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int32_t> text, mask, positions;
    std::int32_t position = 0;
    for (std::int64_t k = 0; k < length_; ++k) {
      const auto at = static_cast<std::size_t>(row * length_ + k);
      text.push_back(ids.data<std::int32_t>()[at]);
      mask.push_back(given ? given.data<std::int32_t>()[at] != 0 : text.back() != pad);
      positions.push_back(mask.back() ? position++ : 0);
    }
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      texts_.push_back(text);
      masks_.push_back(mask);
      next_tokens_.push_back(text);
      next_positions_.push_back(positions);
    }
  }
}

std::vector<Datum> Generation::decoder_inputs(const Graph& graph) {
  const auto inputs = graph.inputs();
  if (inputs.size() < 3) c_.fail("the decoder has fewer than three inputs");
  const auto table = [&](const std::vector<std::vector<std::int32_t>>& rows, const Value* input) {
    Array array = c_.host().allocate(DType::i32, {std::ssize(rows), std::ssize(rows[0])});
    auto to = array.mutable_data<std::int32_t>().begin();
    for (const auto& row : rows) to = std::ranges::copy(row, to).out;
    const DType wanted = input->type.elem;
    return Datum(wanted == DType::i64 ? converted(array, DType::i64, c_.host()) : array);
  };
  std::vector<Datum> made{table(next_tokens_, inputs[0]), table(next_positions_, inputs[1]), table(masks_, inputs[2])};
  for (std::size_t i = 3; i < inputs.size(); ++i) {
    if (i - 3 < past_.size()) {
      made.push_back(past_[i - 3]);
      continue;
    }
    const auto& shape = inputs[i]->type.shape;  // [2, rows, heads, 0, width]
    if (!shape || shape->size() != 5 || !(*shape)[2].is_known() || !(*shape)[4].is_known())
      c_.fail("the decoder does not say how large its states are");
    made.emplace_back(
        c_.host().allocate(inputs[i]->type.elem, {2, rows(), (*shape)[2].value(), 0, (*shape)[4].value()}));
  }
  return made;
}

std::vector<std::vector<float>> Generation::scores() {
  c_.host().budget().poll();
  std::vector<Datum> made;
  if (has_encoder_) {
    made = is_first_ ? run_encoder() : run_behind_encoder();
  } else {
    const Graph& graph = graph_of(c_, is_first_ ? "init_decoder" : "decoder");
    made = c_.host().run_graph(graph, decoder_inputs(graph));
    if (!made.empty()) past_.assign(made.begin() + 1, made.end());
  }
  if (made.empty() || !made[0].array()) c_.fail("the decoder gives no scores");
  const Array logits = converted(*made[0].array(), DType::f32, c_.host());
  if (logits.rank() != 3 || logits.dims()[0] != rows() || logits.dims()[1] < 1) c_.fail("scores have another shape");
  const std::int64_t steps = logits.dims()[1], all = logits.dims()[2];
  const std::int64_t stated = c_.attr("vocab_size", std::int64_t{-1}), used = stated > 0 ? std::min(stated, all) : all;
  std::vector<std::vector<float>> last;
  for (std::int64_t row = 0; row < rows(); ++row) {
    const auto from = logits.data<float>().begin() + ((row + 1) * steps - 1) * all;
    last.emplace_back(from, from + used);
  }
  return last;
}

void Generation::forbid_repeated_runs(std::vector<float>& scores, std::int64_t row) const {
  const std::int64_t n = c_.attr("no_repeat_ngram_size", std::int64_t{0});
  const auto& seen = text(row);
  if (n <= 0 || n > std::ssize(seen)) return;
  const auto tail = seen.end() - (n - 1);
  for (auto begin = seen.begin(); begin + n <= seen.end(); ++begin) {
    const std::int32_t token = *(begin + n - 1);
    if (std::equal(tail, seen.end(), begin) && token >= 0 && token < std::ssize(scores))
      scores[static_cast<std::size_t>(token)] = kLowest;
  }
}

void Generation::adjust(std::vector<std::vector<float>>& scores) const {
  const Places places = places_of(c_);
  const auto forbid = [&](std::vector<float>& row, std::size_t input, std::int64_t from) {
    const Array mask = converted(c_.in(input), DType::i32, c_.host());
    if (mask.size() < from + std::ssize(row)) c_.fail("a mask of the vocabulary is too short");
    for (std::size_t k = 0; k < row.size(); ++k)
      if (mask.data<std::int32_t>()[static_cast<std::size_t>(from) + k] == 0) row[k] = kLowest;
  };
  for (std::int64_t i = 0; i < rows(); ++i) {
    std::vector<float>& row = scores[static_cast<std::size_t>(i)];
    if (penalty_ != 1) {
      std::vector<std::int32_t> seen = text(i);
      std::ranges::sort(seen);
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
      for (const std::int32_t token : seen)
        if (token >= 0 && token < std::ssize(row)) {
          float& score = row[static_cast<std::size_t>(token)];
          score = score < 0 ? score * penalty_ : score / penalty_;
        }
    }
    forbid_repeated_runs(row, i);
    if (c_.has(places.vocabulary)) forbid(row, places.vocabulary, 0);
    if (is_first_ && c_.has(places.prefix)) forbid(row, places.prefix, i / copies_ * std::ssize(row));
    const std::int64_t end = c_.attr("eos_token_id", std::int64_t{0});
    if (length_ < least_ && end >= 0 && end < std::ssize(row)) row[static_cast<std::size_t>(end)] = kLowest;
    if (temperature_ > 0 && temperature_ != 1)
      for (float& score : row) score /= temperature_;
    if (time_marks_) time_marks_->restrict(text(i), row);
  }
}

void Generation::extend(const std::vector<std::int32_t>& tokens, const std::vector<std::int64_t>& from) {
  const auto reordered = [&](const auto& rows) {
    auto moved = rows;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = rows[static_cast<std::size_t>(from[i])];
    return moved;
  };
  texts_ = reordered(texts_);
  masks_ = reordered(masks_);
  auto positions = reordered(next_positions_);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    texts_[i].push_back(tokens[i]);
    masks_[i].push_back(1);
    next_tokens_[i] = {tokens[i]};
    next_positions_[i] = {positions[i].back() + 1};
  }
  if (!std::ranges::is_sorted(from) || std::ranges::adjacent_find(from) != from.end())
    for (Datum& state : past_) move_rows(state, from, has_encoder_ ? 1 : 2);
  ++length_;
  is_first_ = false;
}

void Generation::move_rows(Datum& state, const std::vector<std::int64_t>& from, std::size_t parts) const {
  const Array& old = *state.array();
  Array moved = c_.host().allocate(old.dtype(), old.dims());
  const std::size_t part_size = old.byte_size() / parts, each = part_size / texts_.size();
  for (std::size_t part = 0; part < parts; ++part)
    for (std::size_t i = 0; i < texts_.size(); ++i)
      std::copy_n(old.bytes() + part * part_size + static_cast<std::size_t>(from[i]) * each, each,
                  moved.bytes() + part * part_size + i * each);
  state = Datum(moved);
}

}  // namespace ingot::ops

#pragma once
#include <functional>
#include <optional>

#include "ingot/ops/kernel.h"
#include "ingot/ops/vendor/time_marks.h"

// What GreedySearch, Sampling and BeamSearch share: a decoder that is run until texts end.

namespace ingot::ops {

/// A text for each row, of tokens that a decoder is asked for one by one: of GPT's kind, or behind an encoder, which
/// reads another text (T5) or a sound (Whisper) and makes the first scores too.
class Generation {
 public:
  /// `copies` of each row of the input.
  Generation(KernelContext& c, std::int64_t copies);

  std::int64_t rows() const { return std::ssize(texts_); }
  std::int64_t length() const { return length_; }
  std::int64_t most() const { return most_; }
  const std::vector<std::int32_t>& text(std::int64_t row) const { return texts_[static_cast<std::size_t>(row)]; }

  /// Runs the decoder on what is new: for each row a score for each token, in floats.
  std::vector<std::vector<float>> scores();
  /// What the attributes and inputs say of tokens that are not wanted: repeated ones, masked ones, too early ends.
  void adjust(std::vector<std::vector<float>>& scores) const;
  /// Row i goes on from what row from[i] was, by a token.
  void extend(const std::vector<std::int32_t>& tokens, const std::vector<std::int64_t>& from);

 private:
  void begin_with_prompt(const Array& ids);
  void begin_with_encoder();
  void begin_with_sound();
  std::vector<Datum> decoder_inputs(const Graph& graph);
  std::vector<Datum> run_encoder();
  std::vector<Datum> run_behind_encoder();
  Datum tokens_for(const Value& input) const;
  void move_rows(Datum& state, const std::vector<std::int64_t>& from, std::size_t parts) const;
  void forbid_repeated_runs(std::vector<float>& scores, std::int64_t row) const;

  KernelContext& c_;
  std::int64_t copies_, length_ = 0, most_ = 0, least_ = 0;
  float penalty_ = 1, temperature_ = 1;
  std::optional<TimeMarks> time_marks_;
  std::vector<std::vector<std::int32_t>> texts_, masks_;
  std::vector<std::vector<std::int32_t>> next_tokens_, next_positions_;  // what the decoder has not seen
  std::vector<Datum> past_;
  bool has_encoder_ = false;
  bool reads_whole_texts_ = false;       // the decoder, each time
  Datum source_, source_mask_, hidden_;  // what the encoder reads, and what it made of it
  bool is_first_ = true;
};

/// The token that goes on a row, by the scores of all.
using ChooseToken = std::function<std::int64_t(std::vector<float>& scores)>;
/// A text for each row of the input, token by token; the kernel of GreedySearch and Sampling.
void write_texts(KernelContext& c, const ChooseToken& choose);

}  // namespace ingot::ops

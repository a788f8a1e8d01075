// ai.onnx.contrib: SentencepieceTokenizer, SentencepieceDecoder.
#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/contrib/sentencepiece_model.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// The attribute holds the model's bytes, or, for the tokenizer, base64 of them.
SentencePieceModel model_of(const Node& node) {
  const std::string& text = need_text(node, "model");
  std::string bytes;
  return SentencePieceModel(node.op == "SentencepieceTokenizer" && decode_base64(text, bytes) ? bytes : text);
}

/// Numbers as fairseq gives them: three special ones moved, the rest one higher.
std::int64_t to_fairseq(std::int64_t id) { return id == 0 ? 3 : id == 1 ? 0 : id == 2 ? 2 : id + 1; }
std::int64_t from_fairseq(std::int64_t id) { return id == 3 ? 0 : id == 0 ? 1 : id == 2 ? 2 : id - 1; }

class Tokenizer : public TextMachine {
 public:
  explicit Tokenizer(const Node& node) : model_(model_of(node)) {}

  void run(KernelContext& c) const override {
    const bool adds_bos = bool_argument(c, 3, false), adds_eos = bool_argument(c, 4, false);
    const bool reverses = bool_argument(c, 5, false), is_fairseq = bool_argument(c, 6, false) && !reverses;
    std::vector<SentencePieceModel::Token> all;
    std::vector<std::int64_t> rows;
    for (const std::string& text : c.in(0).data<std::string>()) {
      rows.push_back(std::ssize(all));
      std::vector<SentencePieceModel::Token> tokens = model_.encode(text, c.host().budget());
      if (adds_bos) tokens.insert(tokens.begin(), {model_.bos(), 0});
      if (adds_eos) tokens.push_back({model_.eos(), static_cast<std::int32_t>(text.size())});
      if (reverses)
        all.insert(all.end(), tokens.rbegin(), tokens.rend());
      else
        all.insert(all.end(), tokens.begin(), tokens.end());
      c.host().budget().poll();
    }
    rows.push_back(std::ssize(all));
    const auto ids = c.make(0, DType::i32, {std::ssize(all)}).mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < all.size(); ++i)
      ids[i] = is_fairseq ? static_cast<std::int32_t>(to_fairseq(all[i].id)) : all[i].id;
    give_ints(c, 1, {std::ssize(rows)}, rows);
    if (!c.wants(2)) return;
    const auto begins = c.make(2, DType::i32, {std::ssize(all)}).mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < all.size(); ++i) begins[i] = all[i].begin;
  }

 private:
  SentencePieceModel model_;
};

class Decoder : public TextMachine {
 public:
  explicit Decoder(const Node& node) : model_(model_of(node)) {}
  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    if (x.rank() != 1 && !(x.rank() == 2 && x.dims()[0] == 1)) c.fail("ids must have the shape [n] or [1, n]");
    std::vector<std::int64_t> ids = x.to_ints();
    if (bool_argument(c, 1, false))
      for (std::int64_t& id : ids) id = from_fairseq(id);
    give_texts(c, 0, {1}, {model_.decode(ids)});
  }

 private:
  SentencePieceModel model_;
};

void infer_tokenizer(InferContext& c) {
  c.out_shape(0, {c.data_dim(0, 0)});
  if (const Shape* x = c.shape(0)) c.out_shape(1, {product(*x) + 1});
  c.out_shape(2, {c.data_dim(0, 0)});
}

void infer_decoder(InferContext& c) { c.out_shape(0, {1}); }

}  // namespace

std::unique_ptr<TextMachine> make_sentencepiece(const Node& node) { return std::make_unique<Tokenizer>(node); }
std::unique_ptr<TextMachine> make_sentencepiece_decoder(const Node& node) { return std::make_unique<Decoder>(node); }

constinit const OpDef defs::contrib::SentencepieceDecoder = {
    .name = "SentencepieceDecoder", .domain = kContrib, .infer = infer_decoder, .kernel = run_machine<Decoder>};
constinit const OpDef defs::contrib::SentencepieceTokenizer = {
    .name = "SentencepieceTokenizer", .domain = kContrib, .infer = infer_tokenizer, .kernel = run_machine<Tokenizer>};

}  // namespace ingot::ops

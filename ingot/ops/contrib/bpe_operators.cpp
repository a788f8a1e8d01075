// ai.onnx.contrib: GPT2Tokenizer, RobertaTokenizer, CLIPTokenizer, SpmTokenizer.
#include "ingot/formats/json/document.h"
#include "ingot/ops/contrib/bpe_tokenizer.h"
#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// What each operator calls its special tokens.
struct Kind {
  std::string_view op, model, unknown, bos, eos, pad;
};
constexpr Kind kKinds[] = {
    {"GPT2Tokenizer", "GPT2", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", {}},
    {"RobertaTokenizer", "Roberta", "<unk>", "<s>", "</s>", "<pad>"},
    {"CLIPTokenizer", "CLIP", "<|endoftext|>", "<|startoftext|>", "<|endoftext|>", "<|endoftext|>"},
    {"SpmTokenizer", "Llama", "<unk>", "<s>", "</s>", {}},
};

class BpeMachine : public TextMachine {
 public:
  explicit BpeMachine(const Node& node) : padding_(node.attributes.int_or("padding_length", -1)) {
    if (padding_ != -1 && padding_ <= 0) refuse_text(node, "'padding_length' must be positive, or -1");
    const Kind& kind = *std::ranges::find(kKinds, node.op, &Kind::op);
    std::string name = node.attributes.string_or("model_name", "");
    if (name.empty()) name = kind.model;
    load(node, kind);
    const bool adds_both = name != "GPT2" && name != "CodeGen";
    t_.is_clip = name == "CLIP";
    t_.is_spm = t_.has_prefix = kind.op == "SpmTokenizer";
    t_.is_whole = t_.is_spm && name == "Gemma";
    t_.adds_bos = adds_both || t_.is_spm;
    t_.adds_eos = adds_both && !t_.is_spm;
    t_.steps.emplace_back(t_.is_spm || name == "Llama" ? kLlamaPattern : kGpt2Pattern);
  }

  void run(KernelContext& c) const override { t_.run(c, padding_); }

 private:
  void load(const Node& node, const Kind& kind) {
    const formats::json::Value vocabulary = formats::json::parse(need_text(node, "vocab"));
    if (!vocabulary.is_object()) refuse_text(node, "'vocab' is not an object of JSON");
    for (const auto& [token, id] : vocabulary.members())
      t_.model.add(std::string(token), static_cast<std::uint32_t>(id.as_int().value_or(BpeModel::kNone)));
    t_.model.add_if_new(std::string(kind.unknown));
    if (kind.op == "SpmTokenizer") t_.model.add_byte_tokens();
    load_merges(node);
    for (const std::string_view token : {kind.unknown, kind.bos, kind.eos, kind.pad}) {
      const bool is_there = std::ranges::any_of(t_.specials, [&](const auto& s) { return s.first == token; });
      if (!token.empty() && !is_there) t_.specials.emplace_back(token, t_.model.add_if_new(std::string(token)));
    }
    load_added(node);
    t_.bos = t_.model.id_of(std::string(kind.bos));
    t_.eos = t_.model.id_of(std::string(kind.eos));
    if (kind.op != "GPT2Tokenizer") t_.pad = t_.model.id_of(std::string(kind.pad));
  }

  void load_merges(const Node& node) {
    bool is_first = true;
    for (const std::string_view raw : lines_of(need_text(node, "merges"))) {
      std::string line(raw);
      std::erase(line, '\r');
      if (line.empty() || (is_first && line[0] == '#')) continue;
      is_first = false;
      const std::size_t space = line.find(' ');
      if (space == std::string::npos) refuse_text(node, "a line of 'merges' has no space");
      t_.model.add_merge(std::string_view(line).substr(0, space), std::string_view(line).substr(space + 1));
    }
  }

  /// Lines "token=number".
  void load_added(const Node& node) {
    const std::string text = node.attributes.string_or("added_token", "");
    for (const std::string_view raw : lines_of(text)) {
      std::string line(raw);
      std::erase(line, '\r');
      if (line.empty()) continue;
      const std::size_t equals = line.rfind('=');
      std::int64_t id = 0;
      if (equals == std::string::npos || !parse_int(std::string_view(line).substr(equals + 1), id))
        refuse_text(node, "a line of 'added_token' is not a token, '=' and a number");
      t_.added.add(line.substr(0, equals), std::ssize(t_.added_tokens));
      t_.added_tokens.push_back({static_cast<std::uint32_t>(id), false});
    }
    t_.added.seal();
  }

  BpeTokenizer t_;
  std::int64_t padding_;
};

}  // namespace

std::unique_ptr<TextMachine> make_bpe(const Node& node) { return std::make_unique<BpeMachine>(node); }

constinit const OpDef defs::contrib::CLIPTokenizer = {
    .name = "CLIPTokenizer", .domain = kContrib, .infer = infer_bpe, .kernel = run_machine<BpeMachine>};
constinit const OpDef defs::contrib::GPT2Tokenizer = {
    .name = "GPT2Tokenizer", .domain = kContrib, .infer = infer_bpe, .kernel = run_machine<BpeMachine>};
constinit const OpDef defs::contrib::RobertaTokenizer = {
    .name = "RobertaTokenizer", .domain = kContrib, .infer = infer_bpe, .kernel = run_machine<BpeMachine>};
constinit const OpDef defs::contrib::SpmTokenizer = {
    .name = "SpmTokenizer", .domain = kContrib, .infer = infer_bpe, .kernel = run_machine<BpeMachine>};

}  // namespace ingot::ops

// ai.onnx.contrib.HfJsonTokenizer: the files tokenizer_config.json and tokenizer.json of Transformers.
#include <algorithm>

#include "ingot/ops/contrib/bpe_tokenizer.h"
#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/contrib/unigram.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using formats::json::Value;

constexpr std::string_view kBpeTypes[] = {
    "PreTrainedTokenizer", "CLIPTokenizer",     "WhisperTokenizer", "GemmaTokenizer",
    "InternLM2Tokenizer",  "LlamaTokenizer",    "Phi3Tokenizer",    "CodeLlamaTokenizer",
    "CodeGenTokenizer",    "GPT2Tokenizer",     "Qwen2Tokenizer",   "BaichuanTokenizer",
    "GPTNeoXTokenizer",    "TokenizersBackend", "PythonBackend",    "MistralCommonBackend"};
constexpr std::string_view kUnigramTypes[] = {"",
                                              "T5Tokenizer",
                                              "ChatGLMTokenizer",
                                              "XLMRobertaTokenizer",
                                              "MarianTokenizer",
                                              "DebertaV2Tokenizer",
                                              "SentencePieceBackend"};

/// A token is a text, or an object with one.
std::string token_of(const Value& config, std::string_view key) {
  const Value v = config[key];
  return std::string(v.is_object() ? v["content"].text() : v.text());
}

TokenizerConfig config_of(const Value& file) {
  TokenizerConfig config;
  config.type = file["tokenizer_class"].text();
  if (config.type.empty())  // old files of XLM-RoBERTa have no class
    return {{}, "<s>", "</s>", "<unk>", {}, true, true, true, true};
  config.bos = token_of(file, "bos_token");
  config.eos = token_of(file, "eos_token");
  config.unknown = token_of(file, "unk_token");
  config.pad = file["pad_token"].text();
  config.tells_bos = file["add_bos_token"].is_bool();
  config.tells_eos = file["add_eos_token"].is_bool();
  config.adds_bos = file["add_bos_token"].as_bool().value_or(false);
  config.adds_eos = file["add_eos_token"].as_bool().value_or(false);
  if (config.type == "MarianTokenizer") config.adds_eos = config.tells_eos = true;
  if (config.type == "T5Tokenizer" || config.type == "ChatGLMTokenizer") {
    config.adds_bos = false;
    config.adds_eos = config.type == "T5Tokenizer";
    config.tells_bos = config.tells_eos = true;
  }
  return config;
}

/// "Qwen2Tokenizer" -> "Qwen2".
std::string model_name(const std::string& type) {
  for (const std::string_view ending : {"Tokenizer", "Backend"})
    if (const std::size_t at = type.find(ending); at != std::string::npos) return type.substr(0, at);
  return type;
}

void load_vocabulary(const Node& node, const Value& model, BpeModel& bpe, bool is_spm) {
  if (!model["vocab"].is_object()) refuse_text(node, "the file's model has no vocabulary");
  for (const auto& [token, id] : model["vocab"].members())
    bpe.add(std::string(token), static_cast<std::uint32_t>(id.as_int().value_or(BpeModel::kNone)));
  if (is_spm) bpe.add_byte_tokens();
  for (const Value& merge : model["merges"].entries()) {
    if (merge.is_list()) {
      bpe.add_merge(merge[0].text(), merge[1].text());
      continue;
    }
    std::string line(merge.text());
    std::erase(line, '\r');
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) refuse_text(node, "a merge of the file has no space");
    bpe.add_merge(std::string_view(line).substr(0, space), std::string_view(line).substr(space + 1));
  }
}

/// How texts are cut into words. True: not at all.
bool load_steps(const Value& cutter, std::vector<PreTokenizer>& steps) {
  if (cutter["type"].text() == "Split") {
    const Value pattern = cutter["pattern"];
    if (pattern.exists() && !pattern["Regex"].is_text()) return true;
    if (pattern.exists()) steps.emplace_back(pattern["Regex"].text());
    return false;
  }
  for (const Value& step : cutter["pretokenizers"].entries())
    if (step["type"].text() == "Split" && step["pattern"]["Regex"].is_text())
      steps.emplace_back(step["pattern"]["Regex"].text());
  return false;
}

/// Those that the settings alone know come after the file's own.
void load_added(const TokenizerConfig& config, const Value& settings, const Value& file, BpeTokenizer& t) {
  const auto add = [&](const Value& token, std::int64_t number) {
    const std::string content(token["content"].text());
    const auto id = static_cast<std::uint32_t>(number);
    if (content.empty()) return;
    if (content == config.bos) t.bos = id;
    if (content == config.eos) t.eos = id;
    if (content == config.pad && content != config.bos && content != config.eos) t.pad = id;
    t.added.add(content, std::ssize(t.added_tokens));
    t.added_tokens.push_back({id, token["rstrip"].as_bool().value_or(false)});
  };
  for (const Value& token : file["added_tokens"].entries()) add(token, token["id"].as_int().value_or(0));
  for (const auto& [key, token] : settings["added_tokens_decoder"].members())
    if (std::int64_t id = 0; parse_int(key, id)) add(token, id);
  t.added.seal();
}

/// Files of newer versions do not say whether texts get a beginning and an end: the post processor names them.
void load_ends(const TokenizerConfig& config, const Value& file, const std::string& name, BpeTokenizer& t) {
  t.adds_bos = config.adds_bos;
  t.adds_eos = config.adds_eos;
  if (config.bos.empty() || (config.tells_bos && config.adds_bos)) return;
  const Value processor = file["post_processor"];
  const std::string text = processor.exists() ? processor.dump() : "";
  const bool names_bos = text.find(config.bos) != std::string::npos;
  const bool names_eos = !text.empty() && text.find(config.eos) != std::string::npos;
  constexpr std::string_view kWithBos[] = {"Llama", "Phi3", "InternLM2", "Gemma", "CodeLlama", "Mistral"};
  if (names_bos || (!config.tells_bos && std::ranges::find(kWithBos, name) != std::end(kWithBos))) t.adds_bos = true;
  if (names_eos && (config.tells_bos || !config.tells_eos)) t.adds_eos = true;
}

/// Which steps undo the encoding tells how it was done.
void load_decoder(const Value& decoder, BpeTokenizer& t) {
  for (const Value& step : decoder["decoders"].entries()) {
    const std::string_view type = step["type"].text();
    if (type == "Replace" && step["pattern"]["String"].text() == kLowBlockText) t.is_spm = true;
    if (type == "Metaspace" && step["replacement"].text() == kLowBlockText) t.is_spm = true;
    if (type == "Metaspace" && step["add_prefix_space"].as_bool().value_or(false)) t.has_prefix = true;
    if (type == "Strip" && step["content"].text() == " ") t.has_prefix = true;
  }
}

class JsonBpe : public TextMachine {
 public:
  JsonBpe(const Node& node, const TokenizerConfig& config, const Value& settings, const Value& file) {
    const std::string name = model_name(config.type);
    load_decoder(file["decoder"], t_);
    load_vocabulary(node, file["model"], t_.model, t_.is_spm);
    const bool is_uncut = load_steps(file["pre_tokenizer"], t_.steps);
    if (is_uncut) t_.has_prefix = false;
    t_.is_whole = is_uncut || name == "Gemma";
    t_.is_clip = name == "CLIP";
    if (t_.steps.empty()) t_.steps.emplace_back(name == "Llama" || t_.is_spm ? kLlamaPattern : kGpt2Pattern);
    load_added(config, settings, file, t_);
    load_ends(config, file, name, t_);
  }
  void run(KernelContext& c) const override { t_.run(c, -1); }

 private:
  BpeTokenizer t_;
};

std::unique_ptr<TextMachine> make_hf(const Node& node) {
  const Value settings = formats::json::parse(need_text(node, "tokenizer_config"));
  const TokenizerConfig config = config_of(settings);
  const Value file = formats::json::parse(need_text(node, "tokenizer_vocab"));
  std::string type = config.type;
  if (type.ends_with("Fast")) type.erase(type.size() - 4);
  const bool is_bpe_file = file["model"]["type"].text() == "BPE";
  const bool is_unigram = std::ranges::find(kUnigramTypes, type) != std::end(kUnigramTypes);
  if (is_unigram && !is_bpe_file) return make_unigram(node, config, file);
  if (!is_unigram && std::ranges::find(kBpeTypes, type) == std::end(kBpeTypes))
    refuse_text(node, "tokenizers of the class '" + type.substr(0, 80) + "' are not known");
  return std::make_unique<JsonBpe>(node, config, settings, file);
}

/// The kind of model decides how many dimensions there are; it stands in the larger of the two files.
void infer_hf(InferContext& c) {
  const Value settings = formats::json::parse(c.attr("tokenizer_config", "{}"));
  std::string type(settings["tokenizer_class"].text());
  if (type.ends_with("Fast")) type.erase(type.size() - 4);
  if (std::ranges::find(kUnigramTypes, type) == std::end(kUnigramTypes)) infer_bpe(c);
}

void run_hf(KernelContext& c) { make_hf(c.node)->run(c); }

}  // namespace

std::unique_ptr<TextMachine> make_hf_json(const Node& node) { return make_hf(node); }

constinit const OpDef defs::contrib::HfJsonTokenizer = {
    .name = "HfJsonTokenizer", .domain = kContrib, .infer = infer_hf, .kernel = run_hf};

}  // namespace ingot::ops

// Fuzzes what text operators make of their attributes: any vocabulary ends as tokens or as a refusal. The input is the
// number of an operator, and texts with a 0 between them: its attributes, in order, then what it is run on.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot {
namespace {

struct Kind {
  const char* op;
  std::vector<const char*> attributes;
  bool reads_ids = false;
  bool is_binary = false;  // its one attribute is all there is, zeros too
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{"BertTokenizer", {"vocab_file"}},
                                        {"GPT2Tokenizer", {"vocab", "merges", "added_token"}},
                                        {"CLIPTokenizer", {"vocab", "merges", "added_token"}},
                                        {"SpmTokenizer", {"vocab", "merges", "added_token"}},
                                        {"HfJsonTokenizer", {"tokenizer_config", "tokenizer_vocab"}},
                                        {"TrieTokenizer", {"vocab"}},
                                        {"WordpieceTokenizer", {"vocab", "suffix_indicator", "unknown_token"}},
                                        {"StringToVector", {"map", "unk"}},
                                        {"SentencepieceTokenizer", {"model"}},
                                        {"BpeDecoder", {"id_vocab", "byte_decoder", "added_tokens"}, true},
                                        {"SentencepieceDecoder", {"model"}, true},
                                        {"BlingFireSentenceBreaker", {"model"}, false, true}};
  return all;
}

class Host : public ops::KernelHost {
 public:
  explicit Host(Budget& budget) : budget_(budget) {}
  Array allocate(DType dtype, Dims dims) override {
    Array made(dtype, std::move(dims));
    budget_.charge_memory(made.byte_size());
    return made;
  }
  std::vector<Datum> run_graph(const Graph&, const std::vector<Datum>&) override { return {}; }
  Budget& budget() override { return budget_; }

 private:
  Budget& budget_;
};

void run(const Kind& kind, const std::vector<std::string>& texts) {
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5)});
  Graph graph;
  Attrs attrs;
  for (std::size_t i = 0; i < kind.attributes.size(); ++i)
    attrs.emplace_back(kind.attributes[i], i < texts.size() ? texts[i] : std::string());
  const std::string text = kind.attributes.size() < texts.size() ? texts[kind.attributes.size()] : "";
  std::vector<Datum> inputs;
  if (kind.reads_ids) {
    std::vector<std::int64_t> ids(text.begin(), text.end());
    inputs.emplace_back(Array::of<std::int64_t>({std::ssize(ids)}, ids));
  } else {
    inputs.emplace_back(Array::of<std::string>({1}, {text}));
  }
  const std::string op = kind.op;
  if (op == "WordpieceTokenizer") inputs.emplace_back(Array(DType::i64, {0}));
  if (op == "SentencepieceTokenizer") {
    inputs.emplace_back(Array(DType::i64, {1}));
    inputs.emplace_back(Array(DType::f32, {1}));
    for (int i = 0; i < 3; ++i) inputs.emplace_back(Array(DType::boolean, {1}));
  }
  constexpr std::size_t kOutputs = 4;
  GraphBuilder builder(graph);
  const Node* node = builder.node(op, "fuzz", Values(inputs.size(), nullptr), attrs, kOutputs);
  std::vector<Datum> outputs(kOutputs);
  Host host(budget);
  ops::KernelContext context(*node, inputs, outputs, host);
  ops::make_text_machine(*node)->run(context);
}

}  // namespace
}  // namespace ingot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  if (size == 0 || data[0] >= kinds().size()) return 0;
  std::vector<std::string> texts(1);
  if (kinds()[data[0]].is_binary) {
    texts = {std::string(data + 1, data + size), "Hi. You, too?"};
    size = 0;
  }
  for (std::size_t i = 1; i < size; ++i) {
    if (data[i] == 0 && texts.size() < 5)
      texts.emplace_back();
    else
      texts.back() += static_cast<char>(data[i]);
  }
  try {
    run(kinds()[data[0]], texts);
  } catch (const Error&) {
    // A refusal is an answer.
  }
  return 0;
}

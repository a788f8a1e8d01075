// Vocabularies: StringLookup, IntegerLookup, and what TextVectorization has of them.
#include "ingot/frontends/keras/lookup.h"

#include <algorithm>
#include <set>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/encoding.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

std::string text_of(const Config& config) { return config.is_text() ? std::string(config.text()) : config.dump(); }

/// Whether a file lies in the folder of a layer: one part of its path is the layer's.
bool is_asset_of(std::string_view path, const std::string& folder) {
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == folder) return true;
    begin = end + 1;
  }
  return false;
}

/// A vocabulary of the configuration, or of the asset that lies where the layer's weights do.
std::vector<std::string> vocabulary_of(const Call& call) {
  std::vector<std::string> words;
  for (const Config& entry : call.at("vocabulary").entries()) words.push_back(text_of(entry));
  if (!words.empty()) return words;
  std::string folder = snake_case(call.layer.class_name);
  if (call.layer.number) folder += "_" + std::to_string(call.layer.number);
  std::vector<const Bytes*> fitting;
  for (const auto& [path, content] : call.import.source.assets)
    if (path.ends_with("/vocabulary.txt") && is_asset_of(path, folder)) fitting.push_back(&content);
  if (fitting.size() != 1)
    throw Error(Code::bad_source_graph, "its vocabulary is not in the file")
        .hint("adapt the layer, or give it a vocabulary, before the model is saved");
  std::string_view text = fitting[0]->text();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool looks_up_texts(const Call& call) { return call.layer.class_name != "IntegerLookup"; }

IrValue* encoded_labels(GraphBuilder& b, IrValue* x, DType to, const Attrs& attrs) {
  IrValue* y = b.node("LabelEncoder", "ai.onnx.ml", {x}, attrs, 1)->output();
  y->type = Type::tensor(to, x->type.shape);
  return y;
}

Ints as_numbers(const std::vector<std::string>& words) {
  Ints numbers;
  for (const std::string& word : words) numbers.push_back(std::strtoll(word.c_str(), nullptr, 10));
  return numbers;
}

/// From index to word.
IrValue* inverted(Call& call, const Lookup& lookup) {
  GraphBuilder& b = call.b;
  IrValue* x = b.cast(call.in(), DType::i64);
  if (looks_up_texts(call))
    return encoded_labels(b, x, DType::string,
                          {{"keys_int64s", lookup.indices},
                           {"values_strings", lookup.words},
                           {"default_string", call.text("oov_token", "[UNK]")}});
  return encoded_labels(b, x, DType::i64,
                        {{"keys_int64s", lookup.indices},
                         {"values_int64s", as_numbers(lookup.words)},
                         {"default_int64", call.integer("oov_token", -1)}});
}

}  // namespace

Lookup lookup_of(Call& call, const std::optional<std::string>& mask) {
  Lookup lookup;
  lookup.mode = call.text("output_mode", "int");
  if (lookup.mode == "binary") lookup.mode = "multi_hot";
  if (lookup.mode == "tf-idf") lookup.mode = "tf_idf";
  lookup.words = vocabulary_of(call);
  const std::int64_t out_of = call.integer("num_oov_indices", 1);
  call.require(out_of >= 0 && out_of < (std::int64_t{1} << 31), "it has a bad number of unknown words");
  const Config token = call.at("oov_token");
  const std::string unknown = token.exists() ? text_of(token) : looks_up_texts(call) ? "[UNK]" : "-1";
  const bool is_index = lookup.mode == "int";
  // Saved vocabularies may begin with the tokens that have a meaning of their own.
  std::vector<std::string>& words = lookup.words;
  if (mask && !words.empty() && words.front() == *mask) words.erase(words.begin());
  while (out_of > 0 && !words.empty() && words.front() == unknown) words.erase(words.begin());
  call.require(std::set<std::string_view>(words.begin(), words.end()).size() == words.size(),
               "its vocabulary has a word twice");
  std::int64_t next = mask && is_index ? 1 : 0;
  lookup.first_unknown = next;
  if (out_of == 1) lookup.unknown = next;
  if (out_of > 1) lookup.spread = out_of;
  next += out_of;
  for (std::size_t i = 0; i < words.size(); ++i) lookup.indices.push_back(next++);
  const Config most = call.at("max_tokens");
  lookup.size = call.flag("pad_to_max_tokens", false) && most.as_int() ? *most.as_int() : next;
  if (mask) {
    words.push_back(*mask);
    lookup.indices.push_back(is_index ? 0 : lookup.size);
  }
  return lookup;
}

IrValue* indices_of(Call& call, const Lookup& lookup, IrValue* x) {
  GraphBuilder& b = call.b;
  const bool is_text = looks_up_texts(call);
  if (lookup.spread && is_text)
    call.refuse("words that are not in the vocabulary are hashed into several, which ONNX cannot",
                "make the layer with num_oov_indices=1");
  Attrs attrs{{"values_int64s", lookup.indices}, {"default_int64", lookup.unknown}};
  if (is_text) {
    attrs.emplace_back("keys_strings", lookup.words);
  } else {
    attrs.emplace_back("keys_int64s", as_numbers(lookup.words));
    x = b.cast(x, DType::i64);
  }
  IrValue* index = encoded_labels(b, x, DType::i64, attrs);
  if (!lookup.spread) return index;
  IrValue* rest = b.add(b.op("Mod", {x, b.index(lookup.spread)}), b.index(lookup.first_unknown));
  return b.where(b.op("Less", {index, b.index(0)}), rest, index);
}

IrValue* given_out(Call& call, const Lookup& lookup, IrValue* index) {
  if (lookup.mode != "tf_idf") return encoded(call, index, lookup.size, lookup.mode, nullptr);
  GraphBuilder& b = call.b;
  std::vector<float> weights;
  for (const Config& entry : call.at("idf_weights").entries())
    weights.push_back(static_cast<float>(entry.as_number().value_or(0)));
  const auto known = static_cast<std::int64_t>(weights.size());
  if (weights.empty()) call.refuse("its weights of words (idf_weights) are not in the file");
  // Those of the words; what is unknown has their mean.
  if (known < lookup.size) {
    double sum = 0;
    for (const float w : weights) sum += w;
    const std::int64_t missing = std::min(lookup.size - known, std::max<std::int64_t>(1, lookup.spread));
    weights.insert(weights.begin(), static_cast<std::size_t>(missing),
                   static_cast<float>(sum / static_cast<double>(known)));
  }
  weights.resize(static_cast<std::size_t>(lookup.size), 0);
  IrValue* counts = encoded(call, index, lookup.size, "count", nullptr);
  return b.mul(counts, b.cast(b.constant(Tensor::of<float>({lookup.size}, weights)), call.elem()));
}

void string_lookup(Call& call) {
  const Config token = call.at("mask_token");
  std::optional<std::string> mask;
  if (token.exists() && !token.is_null()) mask = text_of(token);
  const Lookup lookup = lookup_of(call, mask);
  if (call.flag("invert", false)) return call.set(inverted(call, lookup));
  call.set(given_out(call, lookup, indices_of(call, lookup, call.in())));
}

}  // namespace ingot::frontends::keras

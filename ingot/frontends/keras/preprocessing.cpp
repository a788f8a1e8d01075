// Preparation of features: numbers, categories, vocabularies.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/encoding.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Numbers of a setting, however deeply its lists are nested.
std::vector<float> numbers_in(const Config& config) {
  std::vector<float> numbers;
  std::vector<Config> stack{config};
  while (!stack.empty()) {
    const Config at = stack.back();
    stack.pop_back();
    if (const auto number = at.as_number()) numbers.push_back(static_cast<float>(*number));
    const auto entries = at.entries();
    stack.insert(stack.end(), entries.rbegin(), entries.rend());
  }
  return numbers;
}

Tensor vector_of(const std::vector<float>& numbers) {
  return Tensor::of<float>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

/// A vocabulary of the configuration, or of the asset that lies where the layer's weights do.
std::vector<std::string> vocabulary_of(const Call& call) {
  std::vector<std::string> words;
  for (const Config& entry : call.at("vocabulary").entries())
    words.push_back(entry.is_text() ? std::string(entry.text()) : entry.dump());
  if (!words.empty()) return words;
  const std::string key = "/" + snake_case(call.layer.class_name);
  std::vector<const Bytes*> fitting;
  for (const auto& [path, content] : call.import.source.assets)
    if (path.ends_with("/vocabulary.txt") && path.find(key) != std::string::npos) fitting.push_back(&content);
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

struct Lookup {
  std::vector<std::string> words;
  Ints indices;               // of the words
  std::int64_t unknown = -1;  // of what is not among them; -1: nothing may be
  std::int64_t size = 0;      // all indices are below
};

Lookup lookup_of(Call& call, bool is_index) {
  Lookup lookup;
  lookup.words = vocabulary_of(call);
  const std::int64_t out_of = call.integer("num_oov_indices", 1);
  if (out_of > 1) call.refuse("words that are not in the vocabulary are hashed into several, which ONNX cannot");
  const auto token = [&](const char* key) {
    const Config found = call.at(key);
    return found.is_null() ? std::string() : found.is_text() ? std::string(found.text()) : found.dump();
  };
  const std::string mask = token("mask_token"), unknown = token("oov_token");
  const bool has_mask = !call.at("mask_token").is_null();
  // Saved vocabularies may begin with the tokens that have a meaning of their own.
  if (has_mask && !lookup.words.empty() && lookup.words.front() == mask) lookup.words.erase(lookup.words.begin());
  if (out_of == 1 && !lookup.words.empty() && lookup.words.front() == unknown) lookup.words.erase(lookup.words.begin());
  std::int64_t next = has_mask && is_index ? 1 : 0;
  if (out_of == 1) lookup.unknown = next++;
  for (std::size_t i = 0; i < lookup.words.size(); ++i) lookup.indices.push_back(next++);
  if (has_mask && is_index) {
    lookup.words.push_back(mask);
    lookup.indices.push_back(0);
  }
  lookup.size = next;
  return lookup;
}

}  // namespace

void normalization(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.cast(call.in(), call.elem());
  IrValue *mean = nullptr, *variance = nullptr;
  if (!call.at("mean").is_null()) {
    mean = b.constant(vector_of(numbers_in(call.at("mean"))));
    variance = b.constant(vector_of(numbers_in(call.at("variance"))));
  } else {
    mean = call.weight("mean", false);
    variance = call.weight("variance", false);
  }
  // Statistics of several axes, or of one that is not the last, stand with the sizes of their axes.
  const std::int64_t rank = call.rank();
  const Config axis = call.at("axis");
  Ints axes = axis.is_list() ? call.ints("axis", axis.size(), -1) : Ints{call.integer("axis", -1)};
  for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
  std::ranges::sort(axes);
  if (!axis.exists() || !axis.is_null()) {
    Ints sizes(static_cast<std::size_t>(rank), 1);
    for (const std::int64_t a : axes) {
      call.require(a > 0 && a < rank, "its axis lies outside the input");
      sizes[static_cast<std::size_t>(a)] = axes.size() == 1 ? -1 : call.size(0, a);
    }
    mean = b.reshape(mean, sizes);
    variance = b.reshape(variance, sizes);
  }
  IrValue* deviation = b.op("Max", {b.op("Sqrt", {b.cast(variance, call.elem())}), b.scalar(1e-7, call.elem())});
  mean = b.cast(mean, call.elem());
  call.set(call.flag("invert", false) ? b.add(b.mul(x, deviation), mean) : b.div(b.sub(x, mean), deviation));
}

void discretization(Call& call) {
  GraphBuilder& b = call.b;
  const std::vector<float> bounds = numbers_in(call.at("bin_boundaries"));
  IrValue* x = b.cast(call.in(), DType::f32);
  IrValue* is_past = b.op("GreaterOrEqual", {b.unsqueeze(x, {-1}), b.constant(vector_of(bounds))});
  IrValue* index = b.reduce_sum(b.cast(is_past, DType::i64), {-1}, false);
  call.set(
      encoded(call, index, static_cast<std::int64_t>(bounds.size()) + 1, call.text("output_mode", "int"), nullptr));
}

void category_encoding(Call& call) {
  const Argument* weights = call.argument(1, "count_weights");
  IrValue* index = call.b.cast(call.in(), DType::i64);
  call.set(encoded(call, index, call.integer("num_tokens"), call.text("output_mode", "multi_hot"),
                   weights && weights->tensor ? weights->tensor->value : nullptr));
}

void string_lookup(Call& call) {
  GraphBuilder& b = call.b;
  const bool is_text = call.layer.class_name == "StringLookup";
  const std::string mode = call.text("output_mode", "int");
  const Lookup lookup = lookup_of(call, mode == "int");
  const Ints& indices = lookup.indices;
  std::vector<std::int64_t> numbers;
  if (!is_text)
    for (const std::string& word : lookup.words) numbers.push_back(std::strtoll(word.c_str(), nullptr, 10));
  const auto made = [&](IrValue* x, const Attrs& attrs) {
    return b.node("LabelEncoder", "ai.onnx.ml", {x}, attrs, 1)->output();
  };
  if (call.flag("invert", false)) {
    IrValue* x = b.cast(call.in(), DType::i64);
    if (!is_text) call.refuse("an inverted IntegerLookup has no translation");
    return call.set(made(x, {{"keys_int64s", indices},
                             {"values_strings", lookup.words},
                             {"default_string", call.text("oov_token", "[UNK]")}}));
  }
  Attrs attrs{{"values_int64s", indices}, {"default_int64", lookup.unknown}};
  IrValue* x = call.in();
  if (is_text) {
    attrs.emplace_back("keys_strings", lookup.words);
  } else {
    attrs.emplace_back("keys_int64s", numbers);
    x = b.cast(x, DType::i64);
  }
  IrValue* index = made(x, attrs);
  if (mode == "tf_idf") call.refuse("output_mode 'tf_idf' has no translation");
  call.set(encoded(call, index, lookup.size, mode, nullptr));
}

}  // namespace ingot::frontends::keras

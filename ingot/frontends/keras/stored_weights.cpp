// How many weights layers have, and whose they are where a file only lists them.
#include "ingot/frontends/keras/stored_weights.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "ingot/frontends/keras/layer_table.h"
#include "ingot/frontends/keras/network.h"

namespace ingot::frontends::keras {
namespace {

using formats::keras::Weight;
using formats::keras::WeightTree;
using List = std::vector<const Weight*>;
using Count = std::optional<WeightCount>;

std::size_t flag(const Config& config, std::string_view key, bool otherwise) {
  return config[key].as_bool().value_or(otherwise) ? 1 : 0;
}
std::size_t bias(const Config& config) { return flag(config, config["bias"].exists() ? "bias" : "use_bias", true); }

Count biased(const Config& config, int) { return WeightCount{1 + bias(config), 0}; }
Count einsum(const Config& config, int) { return WeightCount{config["bias_axes"].text().empty() ? 1U : 2U, 0}; }
Count separable(const Config& config, int) { return WeightCount{2 + bias(config), 0}; }
Count doubled(const Config& config, int) { return WeightCount{2 + 2 * bias(config), 0}; }
Count one(const Config&, int) { return WeightCount{1, 0}; }
Count reversible(const Config& config, int) { return WeightCount{2 - flag(config, "tie_weights", true), 0}; }
Count scaled_and_moved(const Config& config, int) {
  const std::size_t scale = flag(config, "scale", true) | flag(config, "rms_scaling", false);
  return WeightCount{scale + (flag(config, "rms_scaling", false) ? 0 : flag(config, "center", true)), 0};
}
Count batch_normalized(const Config& config, int) {
  if (flag(config, "renorm", false)) return std::nullopt;
  return WeightCount{flag(config, "scale", true) + flag(config, "center", true), 2};
}
Count normalized(const Config& config, int) { return WeightCount{0, config["mean"].is_null() ? 3U : 0U}; }
/// tf.keras keeps what adapt() saw.
Count in_bins(const Config& config, int version) {
  return WeightCount{0, version < 3 && config["bin_boundaries"].is_null() ? 1U : 0U};
}
Count recurrent(const Config& config, int) { return WeightCount{2 + bias(config), 0}; }
Count lstm(const Config& config, int version) {
  return version == 1 ? WeightCount{12, 0} : WeightCount{2 + bias(config), 0};
}
Count gru(const Config& config, int version) {
  return version == 1 ? WeightCount{9, 0} : WeightCount{2 + bias(config), 0};
}
Count of_cudnn(const Config&, int) { return WeightCount{3, 0}; }
Count attention(const Config& config, int) {
  return WeightCount{flag(config, "use_scale", false) + (config["score_mode"].text() == "concat" ? 1 : 0), 0};
}
Count additive_attention(const Config& config, int) { return WeightCount{flag(config, "use_scale", true), 0}; }
Count of_heads(const Config& config, int) { return WeightCount{4 + 4 * bias(config), 0}; }

Count sum_of(const std::vector<Config>& entries, int version) {
  WeightCount sum;
  for (const Config& entry : entries) {
    const Count each = weight_count(entry, version);
    if (!each) return std::nullopt;
    sum.trained += each->trained;
    sum.kept += each->kept;
  }
  return sum;
}
Count of_cells(const Config& config, int version) {
  const Config cell = config["cell"];
  if (!cell.exists()) return sum_of(config["cells"].entries(), version);
  const bool is_stacked = cell["class_name"].text() == "StackedRNNCells";
  return is_stacked ? sum_of(cell["config"]["cells"].entries(), version) : weight_count(cell, version);
}
Count of_inner(const Config& config, int version) { return weight_count(config["layer"], version); }
Count of_spectral(const Config& config, int version) {
  Count inner = weight_count(config["layer"], version);
  if (inner) ++inner->kept;
  return inner;
}
Count of_both(const Config& config, int version) {
  const Config behind = config["backward_layer"];
  return sum_of({config["layer"], behind.is_null() ? config["layer"] : behind}, version);
}
Count not_told(const Config&, int) { return std::nullopt; }

struct Kind {
  std::string_view name;
  Count (*count)(const Config& config, int version);
};
/// By the beginnings of the names of classes; all others that have a translation have no weights.
constexpr Kind kKinds[] = {
    {"AdditiveAttention", additive_attention},
    {"AtrousConvolution", biased},
    {"Attention", attention},
    {"BatchNormalization", batch_normalized},
    {"Bidirectional", of_both},
    {"Conv", biased},
    {"ConvLSTM", recurrent},
    {"CuDNN", of_cudnn},
    {"Deconvolution", biased},
    {"Dense", biased},
    {"DepthwiseConv", biased},
    {"Discretization", in_bins},
    {"EinsumDense", einsum},
    {"Embedding", one},
    {"GRU", gru},
    {"GroupNormalization", scaled_and_moved},
    {"GroupedQueryAttention", of_heads},
    {"Highway", doubled},
    {"LSTM", lstm},
    {"LayerNormalization", scaled_and_moved},
    {"LocallyConnected", biased},
    {"MaxoutDense", biased},
    {"MelSpectrogram", not_told},
    {"MultiHeadAttention", of_heads},
    {"Normalization", normalized},
    {"PReLU", one},
    {"Pipeline", not_told},
    {"RMSNormalization", one},
    {"RNN", of_cells},
    {"Random", not_told},  // some keep the state of a generator
    {"ReversibleEmbedding", reversible},
    {"STFTSpectrogram", not_told},
    {"SeparableConv", separable},
    {"SimpleRNN", recurrent},
    {"SpectralNormalization", of_spectral},
    {"SyncBatchNormalization", batch_normalized},
    {"TernaryDense", not_told},
    {"TimeDistributed", of_inner},
    {"TimeDistributedDense", biased},
};
static_assert(std::ranges::is_sorted(kKinds, {}, &Kind::name), "keep the table sorted");

std::vector<Config> layers_of(const Config& model) {
  const Config config = model["config"];
  return (config.is_list() ? config : config["layers"]).entries();
}
bool holds_layers(const Config& entry) {
  return is_network(entry["class_name"].text()) || entry["config"]["input_layers"].exists();
}
std::string name_of(const Config& entry) {
  return std::string(entry["name"].is_text() ? entry["name"].text() : entry["config"]["name"].text());
}

/// A layer that is no model, and its place in the tree.
struct Leaf {
  Config entry;
  WeightCount count;
  bool is_trainable;
  WeightTree* part;
  const Leaf* same = nullptr;  // one object with this layer
};

/// The tree without its weights; false: how many some layer has cannot be told.
bool list_leaves(const Config& model, bool is_trainable, int version, WeightTree& tree, std::vector<Leaf>& leaves) {
  const std::vector<Config> entries = layers_of(model);
  tree.parts.reserve(entries.size());  // leaves point into it
  for (const Config& entry : entries) {
    WeightTree& part = tree.parts.emplace_back(name_of(entry), WeightTree()).second;
    const bool is_own = is_trainable && entry["config"]["trainable"].as_bool().value_or(true);
    if (holds_layers(entry)) {
      if (!list_leaves(entry, is_own, version, part, leaves)) return false;
      continue;
    }
    const Count count = weight_count(entry, version);
    if (!count) return false;
    if (count->all()) leaves.push_back({entry, *count, is_own, &part});
  }
  return true;
}

/// tf.keras numbers objects, so that one that stands in two models is one again.
void find_same(std::vector<Leaf>& leaves) {
  std::map<std::int64_t, const Leaf*> known;
  for (Leaf& leaf : leaves)
    if (const auto number = leaf.entry["shared_object_id"].as_int()) {
      const auto [first, is_new] = known.emplace(*number, &leaf);
      if (!is_new && name_of(first->second->entry) == name_of(leaf.entry)) leaf.same = first->second;
    }
}

/// Whose names hold a layer's, for all layers: "a/b/kernel" is of a and b, "dense_1_W" of Keras 1 of dense_1.
std::multimap<std::string, const Weight*> by_words(const List& list) {
  std::multimap<std::string, const Weight*> words;
  for (const Weight* weight : list)
    for (std::string& name : layers_named_by(weight->name)) words.emplace(std::move(name), weight);
  return words;
}

bool deal_by_names(const Config& model, const List& list, int version, WeightTree& tree,
                   std::map<const Weight*, Config>& owners) {
  const auto words = by_words(list);
  const std::vector<Config> entries = layers_of(model);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto [first, last] = words.equal_range(tree.parts[i].first);
    List own;
    for (auto word = first; word != last; ++word) own.push_back(word->second);
    WeightTree& part = tree.parts[i].second;
    if (holds_layers(entries[i])) {
      if (!deal_by_names(entries[i], own.empty() ? list : own, version, part, owners)) return false;
      continue;
    }
    const Count count = weight_count(entries[i], version);
    if (!count || count->all() != own.size()) return false;
    for (const Weight* weight : own) {
      const auto [owner, is_first] = owners.emplace(weight, entries[i]);
      const auto number = entries[i]["shared_object_id"].as_int();
      if (!is_first && (!number || owner->second["shared_object_id"].as_int() != number)) return false;
      part.values.push_back(*weight);
    }
  }
  return true;
}

/// First what is trained of all layers, then the rest.
bool deal_in_order(const std::vector<Leaf>& leaves, const List& list) {
  std::size_t count = 0, next = 0;
  for (const Leaf& leaf : leaves)
    if (!leaf.same) count += leaf.count.all();
  if (count != list.size()) return false;
  const auto take = [&](const Leaf& leaf, std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) leaf.part->values.push_back(*list[next++]);
  };
  for (const Leaf& leaf : leaves)
    if (!leaf.same && leaf.is_trainable) take(leaf, leaf.count.trained);
  for (const Leaf& leaf : leaves)
    if (!leaf.same) take(leaf, leaf.is_trainable ? leaf.count.kept : leaf.count.all());
  for (const Leaf& leaf : leaves)
    if (leaf.same) leaf.part->values = leaf.same->part->values;
  return true;
}

}  // namespace

std::optional<WeightCount> weight_count(const Config& entry, int version) {
  if (holds_layers(entry)) return sum_of(layers_of(entry), version);
  const std::string_view name = entry["class_name"].text();
  const Config dtype = entry["config"]["dtype"];
  const std::string_view policy = dtype.is_text() ? dtype.text() : dtype["config"]["name"].text();
  const bool is_quantized = policy.find("_from_") != policy.npos || dtype["config"]["mode"].exists();
  if (is_quantized) return std::nullopt;
  const Kind* kind = nullptr;  // the longest beginning is the last
  for (const Kind& each : kKinds)
    if (name.starts_with(each.name)) kind = &each;
  if (name.ends_with("Cell")) return recurrent(entry["config"], version);
  if (kind) return kind->count(entry["config"], version);
  const bool is_function = name == "TFOpLambda" || name == "SlicingOpLambda";
  if (!is_function && !find_row(name) && !find_row("op:" + std::string(name))) return std::nullopt;
  return WeightCount{};
}

std::shared_ptr<const WeightTree> by_layers(const List& list, const Config& model, int version) {
  auto tree = std::make_shared<WeightTree>();
  std::vector<Leaf> leaves;
  if (!list_leaves(model, true, version, *tree, leaves)) return nullptr;
  std::map<const Weight*, Config> owners;
  if (deal_by_names(model, list, version, *tree, owners)) return tree;
  for (const Leaf& leaf : leaves) leaf.part->values.clear();
  find_same(leaves);
  return deal_in_order(leaves, list) ? tree : nullptr;
}

}  // namespace ingot::frontends::keras

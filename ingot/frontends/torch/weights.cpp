// Weights without a graph: state dictionaries and safetensors.
#include "ingot/frontends/torch/weights.h"

#include <fmt/format.h>

#include <map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/frontends/torch/finish.h"

namespace ingot::frontends::torch {
namespace {

namespace pickle = formats::pickle;

constexpr int kDeepest = 64;

class Gatherer {
 public:
  Gatherer(const formats::torch::Saved& saved, Graph& graph, Budget* budget)
      : saved_(saved), graph_(graph), budget_(budget) {}

  void gather(const pickle::Value& value, const std::string& path, int depth) {
    if (const formats::torch::Tensor* tensor = saved_.tensor(value)) {
      const std::string name = graph_.fresh_name(path.empty() ? "tensor" : path);
      graph_.add_initializer(name, Tensor(tensor->dtype, tensor->sizes, tensor->contiguous(budget_)));
      return;
    }
    if (depth > kDeepest || !open_.insert(&value).second) return;
    const auto entries = pickle::entries_of(value);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
      gather(*entries[i + 1], joined(path, key_of(*entries[i])), depth + 1);
    const auto items = pickle::items_of(value);
    for (std::size_t i = 0; i < items.size(); ++i) gather(*items[i], joined(path, std::to_string(i)), depth + 1);
    open_.erase(&value);
  }

 private:
  static std::string key_of(const pickle::Value& key) {
    return key.is_text() ? std::string(key.text) : key.is(pickle::Kind::integer) ? std::to_string(key.integer) : "?";
  }
  static std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  const formats::torch::Saved& saved_;
  Graph& graph_;
  Budget* budget_;
  std::unordered_set<const pickle::Value*> open_;  // a dictionary may hold itself
};

}  // namespace

Model import_weights(const formats::torch::Saved& saved, Budget* budget) {
  const pickle::Value& root = saved.root();
  const pickle::Symbol* type = pickle::class_of(root);
  // Of modules, streams of old keep the class by a reference with its source.
  const bool is_referred = !type && root.is(pickle::Kind::object);
  const bool is_plain = !is_referred && (!type || type->module == "collections" || type->module == "torch._utils" ||
                                         type->module == "torch");
  if (!is_plain)
    throw Error(Code::code_refused, fmt::format("the file holds a pickled module{}, which is Python code",
                                                type ? " of class '" + type->full_name() + "'" : ""))
        .hint("save torch.jit.script(model) for the whole model, or model.state_dict() for its weights");
  Model model = empty_model("state_dict");
  Gatherer(saved, *model.graph, budget).gather(root, "", 0);
  return model;
}

Model import_weights(const formats::torch::Safetensors& content) {
  Model model = empty_model("safetensors");
  for (const formats::torch::NamedTensor& t : content.tensors)
    model.graph->add_initializer(model.graph->fresh_name(t.name), Tensor(t.dtype, t.dims, t.data));
  for (const auto& [key, value] : content.metadata) model.metadata.emplace_back(key, value);
  return model;
}

namespace {

/// What stands before the model's names in most of the weights' names.
std::string common_prefix(const Graph& model, const Graph& weights) {
  std::map<std::string, std::size_t> votes;
  for (const Value* stored : weights.initializers()) {
    const std::string& name = stored->name();
    for (std::size_t at = 0; at != std::string::npos; at = name.find('.', at), at += at != std::string::npos)
      if (const Value* own = model.find(std::string_view(name).substr(at)); own && own->initializer)
        ++votes[name.substr(0, at)];
  }
  std::string best;
  for (const auto& [prefix, count] : votes)
    if (!votes.contains(best) || count > votes[best]) best = prefix;
  return best;
}

}  // namespace

std::vector<std::string> put_weights(Model& model, const Model& weights) {
  const std::string prefix = common_prefix(*model.graph, *weights.graph);
  std::string wrong;
  std::size_t put = 0, kept = 0;
  for (Value* own : model.graph->initializers()) {
    const Value* stored = weights.graph->find(prefix + own->name());
    if (!own->initializer || !stored || !stored->initializer) {
      kept += own->initializer && !own->name().starts_with("CONSTANTS.");
      continue;
    }
    if (stored->initializer->type() != own->initializer->type())
      wrong += fmt::format("\n  '{}' is {} in the file of weights and {} in the model", own->name(),
                           stored->initializer->type().str(), own->initializer->type().str());
    own->initializer = stored->initializer;
    ++put;
  }
  if (!wrong.empty()) throw Error(Code::bad_tensor, "the weights do not fit the model:" + wrong);
  if (!put)
    throw Error(Code::unknown_name, "the file of weights has none of the model's names")
        .hint("`ingot inspect` shows the names of both");
  if (!kept) return {};
  return {fmt::format("{} of the model's {} weights are not in the file of weights and stay as they are", kept,
                      put + kept)};
}

formats::torch::Safetensors weights_of(const Model& model) {
  formats::torch::Safetensors content;
  for (const Value* value : model.graph->initializers())
    if (value->initializer)
      content.tensors.push_back(
          {value->name(), value->initializer->dtype(), value->initializer->dims(), value->initializer->bytes()});
  content.metadata["format"] = "pt";
  return content;
}

}  // namespace ingot::frontends::torch

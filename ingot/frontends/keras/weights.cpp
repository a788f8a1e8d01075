// Which weights belong to which layer.
#include "ingot/frontends/keras/weights.h"

#include <algorithm>
#include <cctype>

#include "ingot/frontends/keras/stored_weights.h"

namespace ingot::frontends::keras {
namespace {

using formats::keras::Grouping;
using formats::keras::Weight;
using formats::keras::WeightTree;

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool belongs_to(std::string_view weight, std::string_view layer) {
  return std::ranges::count(layers_named_by(weight), layer) != 0;
}

/// Searches the whole tree for the object of a layer, for files whose order of attributes is another. Null: there is
/// none, or more than one.
const WeightTree* by_name(const WeightTree& root, std::string_view name) {
  const WeightTree* found = nullptr;
  std::vector<const WeightTree*> stack{&root};
  while (!stack.empty()) {
    const WeightTree* tree = stack.back();
    stack.pop_back();
    if (tree->name == name) {
      if (found) return nullptr;
      found = tree;
    }
    for (const auto& [key, part] : tree->parts) stack.push_back(&part);
  }
  return found;
}

}  // namespace

std::vector<std::string> layers_named_by(std::string_view weight) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  for (std::size_t end = weight.find('/'); end != weight.npos; end = weight.find('/', begin)) {
    if (std::ranges::count(names, weight.substr(begin, end - begin)) == 0)
      names.emplace_back(weight.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string_view last = weight.substr(begin);
  for (std::size_t end = last.find('_'); end != last.npos && end + 1 < last.size(); end = last.find('_', end + 1))
    if (!is_digit(last[end + 1]) && std::ranges::count(names, last.substr(0, end)) == 0)
      names.emplace_back(last.substr(0, end));
  return names;
}

std::string snake_case(std::string_view class_name) {
  // Before a capital that small letters follow, then between a small letter and a capital.
  std::string apart;
  for (std::size_t i = 0; i < class_name.size(); ++i) {
    const bool begins_word =
        i > 0 && is_upper(class_name[i]) && i + 1 < class_name.size() && is_lower(class_name[i + 1]);
    if (begins_word) apart += '_';
    apart += class_name[i];
  }
  std::string snake;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    if (i > 0 && is_upper(apart[i]) && is_lower(apart[i - 1])) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(apart[i])));
  }
  return snake;
}

Weights::Weights(const formats::keras::ModelFile& source) {
  is_present_ = source.has_weights;
  if (!is_present_) return;
  if (source.grouping == Grouping::by_object) {
    root_ = &source.weights;
    *this = of(root_);
    return;
  }
  if (source.grouping == Grouping::by_layer) parts_ = &source.weights;
  for (const Weight& weight : source.weights.values) values_.push_back(&weight);
}

Weights Weights::of(const WeightTree* tree) const {
  Weights weights;
  weights.is_present_ = true;
  weights.tree_ = tree;
  weights.root_ = root_;
  if (tree)
    for (const Weight& weight : tree->values) weights.values_.push_back(&weight);
  return weights;
}

Weights Weights::layer(std::string_view name, std::string_view class_name, std::size_t same_class_before) const {
  if (!is_present_) return {};
  if (tree_) {
    const std::string key = snake_case(class_name) + (same_class_before ? "_" + std::to_string(same_class_before) : "");
    for (const char* list : {"layers", "_layer_checkpoint_dependencies"})
      if (const WeightTree* layers = tree_->part(list))
        if (const WeightTree* found = layers->part(key); found && (found->name.empty() || found->name == name))
          return of(found);
    // An object that several hold is written where the first of them stands.
    const WeightTree* here = by_name(*tree_, name);
    return of(here || !root_ ? here : by_name(*root_, name));
  }
  Weights found;
  found.is_present_ = true;
  if (parts_) {
    found.is_ordered_ = true;
    if (const WeightTree* part = parts_->part(name)) {
      for (const Weight& weight : part->values) found.values_.push_back(&weight);
      if (!part->parts.empty()) found.parts_ = part;  // a model that is told apart already
      found.owned_ = owned_;
    }
    return found;
  }
  for (const Weight* weight : values_)
    if (belongs_to(weight->name, name)) found.values_.push_back(weight);
  return found;
}

Weights Weights::by_layers_of(const formats::json::Value& model, int version) const {
  if (tree_ || parts_ || !is_ordered_) return *this;
  Weights dealt = *this;
  dealt.owned_ = by_layers(values_, model, version);
  dealt.parts_ = dealt.owned_.get();
  return dealt;
}

Weights Weights::part(std::string_view attribute, std::string_view word) const {
  if (tree_) {
    if (const WeightTree* found = tree_->part(attribute)) return of(found);
    if (const WeightTree* found = tree_->part("_" + std::string(attribute))) return of(found);
    return of(nullptr);
  }
  if (word.empty()) return *this;
  Weights found = *this;
  std::erase_if(found.values_, [&](const Weight* w) { return w->name.find(word) == std::string::npos; });
  return found.values_.empty() ? *this : found;
}

Weights Weights::entry(std::string_view list, std::string_view class_name, std::size_t same_class_before) const {
  const WeightTree* all = tree_ ? tree_->part(list) : nullptr;
  const std::string key = snake_case(class_name) + (same_class_before ? "_" + std::to_string(same_class_before) : "");
  return all ? of(all->part(key)) : of(nullptr);
}

Weights Weights::range(std::size_t first, std::size_t count) const {
  Weights part = *this;
  part.values_.clear();
  for (std::size_t i = first; i < std::min(first + count, values_.size()); ++i) part.values_.push_back(values_[i]);
  return part;
}

}  // namespace ingot::frontends::keras

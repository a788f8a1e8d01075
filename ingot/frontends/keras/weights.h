#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/keras/model_file.h"

namespace ingot::frontends::keras {

/// The weights of one layer or of a part of it, found in whatever way the file groups them.
class Weights {
 public:
  Weights() = default;
  explicit Weights(const formats::keras::ModelFile& source);

  bool has_any() const { return is_present_; }
  /// Its own, in the order of saving.
  const std::vector<const formats::keras::Weight*>& values() const { return values_; }

  /// Of layer number `index` of this model. `class_name` and `same_class_before` tell Keras 3's place.
  Weights layer(std::string_view name, std::string_view class_name, std::size_t same_class_before) const;
  /// Of an object inside: "forward_layer", "cell", "query_dense". In files that list a layer's weights these are told
  /// apart by `word` in their names; where no name has it, all of them are meant.
  Weights part(std::string_view attribute, std::string_view word = {}) const;
  /// Of an object in a list of objects.
  Weights entry(std::string_view list, std::string_view class_name, std::size_t same_class_before) const;
  /// `count` weights from `first` on.
  Weights range(std::size_t first, std::size_t count) const;
  bool is_tree() const { return tree_ != nullptr; }
  bool is_empty() const { return values_.empty() && !tree_ && !parts_; }
  /// Of a model in a model: told apart by its layers where the file only lists them. `model`: its configuration.
  Weights by_layers_of(const formats::json::Value& model, int version) const;

 private:
  Weights of(const formats::keras::WeightTree* tree) const;

  bool is_present_ = false;
  const formats::keras::WeightTree* tree_ = nullptr;         // Keras 3's objects
  const formats::keras::WeightTree* root_ = nullptr;         // of all of them
  const formats::keras::WeightTree* parts_ = nullptr;        // a part for each layer
  std::shared_ptr<const formats::keras::WeightTree> owned_;  // which parts_ are of, where the file has no parts
  bool is_ordered_ = false;  // the list is of one layer or model, in the order of saving
  std::vector<const formats::keras::Weight*> values_;
};

/// The layers whose weight this name may be: "a/b/kernel" is of a and b, "dense_1_W" of Keras 1 of dense_1.
std::vector<std::string> layers_named_by(std::string_view weight);

/// The name of a class as files of Keras 3 spell it: "Conv2DTranspose" -> "conv2d_transpose".
std::string snake_case(std::string_view class_name);

}  // namespace ingot::frontends::keras

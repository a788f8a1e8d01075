#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "ingot/formats/torch/saved.h"
#include "ingot/frontends/torch/program.h"
#include "ingot/frontends/torch/translation.h"

namespace ingot::frontends::torch {

/// The elements of a tensor of a file, complex ones as pairs of reals.
Tensor stored_tensor(const formats::torch::Tensor& source, Budget* budget);

/// Makes items of what an archive pickled: modules with their attributes, tensors as initializers named by their paths.
class ModuleReader {
 public:
  /// `state`: tensors, by their names, that are inputs of the model too.
  ModuleReader(Translation& translation, Program& program, const formats::torch::Saved& saved,
               const std::set<std::string>& state)
      : t_(translation), program_(program), saved_(saved), state_(state) {}

  Item read(const formats::pickle::Value& value, const std::string& path);
  /// Objects whose class makes them of a state, kept as their attribute __state__: inner ones first.
  const std::vector<ObjectRef>& restored() const { return restored_; }

 private:
  Item object(const formats::pickle::Value& value, const std::string& path);
  Item tensor(const formats::torch::Tensor& tensor, const std::string& path);

  Translation& t_;
  Program& program_;
  const formats::torch::Saved& saved_;
  const std::set<std::string>& state_;
  std::unordered_map<const formats::pickle::Value*, Item> known_;
  std::vector<ObjectRef> restored_;
  std::map<std::string, TensorRef> tensors_;  // by place in the file: what is shared stays shared
  int depth_ = 0;
};

}  // namespace ingot::frontends::torch

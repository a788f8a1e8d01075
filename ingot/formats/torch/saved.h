#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ingot/formats/pickle/document.h"
#include "ingot/formats/torch/tensor.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::formats::torch {

/// An object that PyTorch pickled, with its tensors' storages, which stay in the file.
class Saved {
 public:
  /// Of an archive: `pickle` is the member with the object, `storages` what stands before the keys of its tensors.
  Saved(std::shared_ptr<const zip::Archive> archive, const std::string& pickle, std::string storages, Budget* budget);
  /// The stream that torch.save wrote before 1.6.
  Saved(const Bytes& legacy, Budget* budget);

  const pickle::Value& root() const { return *document_.root; }
  const pickle::Document& document() const { return document_; }

  /// What the value stands for if it is a tensor, however it was wrapped (parameter, quantised, subclass); null: it is
  /// none. Refuses damaged ones.
  const Tensor* tensor(const pickle::Value& value) const;

 private:
  struct Storage {
    DType dtype = DType::undefined;
    Bytes bytes{};
  };
  Storage storage(const pickle::Value& id) const;
  Bytes bytes_of(std::string_view key, DType dtype, std::uint64_t count) const;
  void read_legacy_storages(const Bytes& stream);
  std::optional<Tensor> read_tensor(const pickle::Value& value, int depth) const;

  std::shared_ptr<const zip::Archive> archive_;
  std::string prefix_;
  Budget* budget_ = nullptr;
  pickle::Document document_;
  std::map<std::string, Bytes, std::less<>> legacy_;
  mutable std::map<std::string, Bytes, std::less<>> storages_;  // by key, as far as they were asked for
  mutable std::unordered_map<const pickle::Value*, std::unique_ptr<const Tensor>> tensors_;
};

/// Whether a stream begins as those of torch.save before 1.6 do.
bool looks_like_legacy(const Bytes& file);

}  // namespace ingot::formats::torch

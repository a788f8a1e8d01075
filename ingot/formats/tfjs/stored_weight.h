#pragma once
#include <string>

#include "ingot/formats/tfjs/graph_model_writer.h"

namespace ingot::formats::tfjs {

/// A constant as the files hold it. Its bytes are made when they are asked for, where they are others than its own.
class Weight {
 public:
  Weight(const std::string& name, const tensorflow::TensorProto& tensor, StoredWeights stored, Budget& budget);

  /// The type that TF.js computes in, in its own words and in TensorFlow's.
  struct Held {
    const char *name, *tensorflow;
  };
  Held held() const { return held_; }
  std::uint64_t size() const { return size_; }
  Bytes bytes() const;
  /// How the manifest says that it is stored.
  struct Quantization {
    const char* dtype = nullptr;  // null: as it is held
    bool has_range = false;
    double scale = 1, min = 0;
  };
  const Quantization& quantization() const { return quantization_; }

 private:
  void store(StoredWeights stored);

  Bytes elements_;  // as the constant has them
  DType dtype_ = DType::undefined;
  Held held_{};
  std::uint64_t size_ = 0;
  StoredWeights stored_ = StoredWeights::as_is;
  Quantization quantization_{};
};

}  // namespace ingot::formats::tfjs

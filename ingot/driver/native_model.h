#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/driver/inputs.h"

namespace ingot::driver {

/// A library that `ingot compile --emit so` made. It is code and runs as we do: never open what you do not trust.
class NativeModel {
 public:
  explicit NativeModel(const std::string& path);
  /// The model as native code of this process.
  static std::unique_ptr<NativeModel> of(const Model& model);
  ~NativeModel();
  NativeModel(const NativeModel&) = delete;
  NativeModel& operator=(const NativeModel&) = delete;

  /// A model of the same inputs and outputs, with one node that stands for the code.
  const Model& ports() const;
  /// One at a time: results are copied from the library's own memory. Strings are passed as bytes and the ends of each
  /// in them, and come back so: NAME and NAME_ends.
  std::vector<NamedDatum> run(const std::vector<NamedDatum>& inputs);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// What a library gave, with the strings of the model's outputs.
std::vector<NamedDatum> with_strings(std::vector<NamedDatum> outputs, const Model& model);

}  // namespace ingot::driver

#pragma once
#include <string>
#include <vector>

#include "ingot/driver/load.h"

namespace ingot::driver {

/// The functions of the file that --functions names: what they say of custom operators.
class OwnFunctions {
 public:
  explicit OwnFunctions(const LoadOptions& options);

  /// Custom nodes of their names and domains are to be kept.
  void allow(std::vector<std::string>& custom) const;
  /// They become the model's own.
  void add_to(Model& model);

 private:
  Model source_;
};

}  // namespace ingot::driver

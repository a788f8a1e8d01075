#pragma once
#include <map>
#include <optional>
#include <string>

#include "ingot/frontends/tensorflow/bodies.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {

/// A table that maps keys to values, and what is in it.
struct LookupTable {
  Tensor keys, values;  // rank 1, of the same size
  std::optional<Tensor> fallback;
};

/// What each table of a graph holds, by the name of its node, as the nodes and functions that fill tables say: from
/// constants, or from text files that are assets. Found when first asked for.
class LookupTables {
 public:
  LookupTables(Bodies& bodies, const ModelFiles& files, Budget& budget)
      : bodies_(bodies), files_(files), budget_(budget) {}

  /// Null: nothing fills it in such a way.
  const LookupTable* find(const std::string& name);

 private:
  Bodies& bodies_;
  const ModelFiles& files_;
  Budget& budget_;
  std::optional<std::map<std::string, LookupTable>> tables_;
};

}  // namespace ingot::frontends::tensorflow

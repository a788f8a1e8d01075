#pragma once
#include <span>
#include <string_view>

#include "ingot/ir/graph.h"

namespace ingot::ops {

class InferContext;
class StepContext;
class DecomposeContext;
class KernelContext;
class GradContext;

/// How one version of an operator and the one before it turn into each other. Only changes that the
/// schemas cannot tell need a step: removed, added and re-defaulted attributes and wider types are seen
/// from the schemas (passes/convert_version.cpp).
struct Step {
  int since;                             // the newer of the two versions
  void (*up)(StepContext&) = nullptr;    // from the version before to `since`
  void (*down)(StepContext&) = nullptr;  // from `since` to the version before
};

/// All that Ingot itself knows of one ONNX operator beyond its schemas, as constant data. Everything but
/// `steps` speaks of the newest version only: readers upgrade, writers downgrade.
struct OpDef {
  std::string_view name;
  std::string_view domain = {};
  void (*infer)(InferContext&) = nullptr;            // types, shapes and small integer values of the outputs
  std::span<const Step> steps = {};                  // ascending by `since`
  Values (*decompose)(DecomposeContext&) = nullptr;  // the same in simpler operators; {}: not for this node
  void (*kernel)(KernelContext&) = nullptr;          // reference kernel: portable and plain
  Values (*gradient)(GradContext&) = nullptr;        // d loss / d inputs from d loss / d outputs
};

}  // namespace ingot::ops

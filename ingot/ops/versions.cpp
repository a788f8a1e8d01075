// The releases of ONNX and ONNX Runtime with what they can read.
#include "ingot/ops/versions.h"

#include <algorithm>
#include <string>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"

namespace ingot::ops {
namespace {

constexpr Target kTargets[] = {
    {"onnx-1.0", 1, 1, 0, 3},    {"onnx-1.1", 5, 1, 0, 3},    {"onnx-1.1.2", 6, 1, 0, 3},  {"onnx-1.2", 7, 1, 0, 3},
    {"onnx-1.3", 8, 1, 0, 3},    {"onnx-1.4", 9, 1, 0, 4},    {"onnx-1.5", 10, 1, 0, 5},   {"onnx-1.6", 11, 2, 0, 6},
    {"onnx-1.7", 12, 2, 1, 7},   {"onnx-1.8", 13, 2, 1, 7},   {"onnx-1.9", 14, 2, 1, 7},   {"onnx-1.10", 15, 2, 1, 8},
    {"onnx-1.11", 16, 3, 1, 8},  {"onnx-1.12", 17, 3, 1, 8},  {"onnx-1.13", 18, 3, 1, 8},  {"onnx-1.14", 19, 3, 1, 9},
    {"onnx-1.15", 20, 4, 1, 9},  {"onnx-1.16", 21, 5, 1, 10}, {"onnx-1.17", 22, 5, 1, 10}, {"onnx-1.18", 23, 5, 1, 11},
    {"onnx-1.19", 24, 5, 1, 12}, {"onnx-1.20", 25, 5, 1, 13}, {"onnx-1.21", 26, 5, 1, 13}, {"onnx-1.22", 27, 5, 1, 13},
    {"ort-1.0", 11, 2, 0, 6},    {"ort-1.1", 11, 2, 0, 6},    {"ort-1.2", 11, 2, 0, 6},    {"ort-1.3", 12, 2, 1, 7},
    {"ort-1.4", 12, 2, 1, 7},    {"ort-1.5", 12, 2, 1, 7},    {"ort-1.6", 13, 2, 1, 7},    {"ort-1.7", 13, 2, 1, 7},
    {"ort-1.8", 14, 2, 1, 7},    {"ort-1.9", 15, 2, 1, 8},    {"ort-1.10", 15, 2, 1, 8},   {"ort-1.11", 16, 3, 1, 8},
    {"ort-1.12", 17, 3, 1, 8},   {"ort-1.13", 17, 3, 1, 8},   {"ort-1.14", 18, 3, 1, 8},   {"ort-1.15", 19, 3, 1, 9},
    {"ort-1.16", 19, 3, 1, 9},   {"ort-1.17", 20, 4, 1, 9},   {"ort-1.18", 21, 5, 1, 10},  {"ort-1.19", 21, 5, 1, 10},
    {"ort-1.20", 21, 5, 1, 10},  {"ort-1.21", 22, 5, 1, 10},  {"ort-1.22", 22, 5, 1, 10},  {"ort-1.23", 23, 5, 1, 11},
    {"ort-1.24", 25, 5, 1, 13},  {"ort-1.25", 26, 5, 1, 13},  {"ort-1.26", 26, 5, 1, 13},  {"ort-1.27", 26, 5, 1, 13},
    {"ort-1.28", 27, 5, 1, 13},  {"ort-1.29", 27, 5, 1, 13},
};

/// Of the opset that no release has yet.
constexpr int kNewestIrVersion = 14;

const Target* find(std::string_view name) {
  const auto* it = std::ranges::find(kTargets, name, &Target::name);
  return it == std::end(kTargets) ? nullptr : it;
}

/// "ort-1.15.1" -> "ort-1.15"; empty if the name does not end in a third number.
std::string_view without_patch(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find('.') == dot) return {};
  const std::string_view patch = name.substr(dot + 1);
  const bool number = !patch.empty() && patch.find_first_not_of("0123456789") == std::string_view::npos;
  return number ? name.substr(0, dot) : std::string_view();
}

bool has(const Target& release, const OpsetImports& imports) {
  return imports.version("") <= release.opset && imports.version("ai.onnx.ml") <= release.ml_opset &&
         imports.version("ai.onnx.training") <= release.training_opset &&
         imports.version("ai.onnx.preview.training") <= release.training_opset;
}

}  // namespace

std::span<const Target> all_targets() { return kTargets; }

const Target& target_by_name(std::string_view name) {
  if (const Target* target = find(name)) return *target;
  if (const Target* target = find(without_patch(name))) return *target;
  std::string known;
  for (const Target& target : kTargets) known.append(known.empty() ? "" : ", ").append(target.name);
  throw Error(Code::bad_usage, "there is no target '" + std::string(name) + "'").hint("one of " + known);
}

int ir_version_for(const OpsetImports& imports) {
  for (const Target& target : kTargets) {
    if (target.name.starts_with("onnx-") && has(target, imports)) return target.ir_version;
  }
  return kNewestIrVersion;
}

}  // namespace ingot::ops

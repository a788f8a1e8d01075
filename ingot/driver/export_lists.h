#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/format.h"
#include "ingot/passes/legalize/obstacles.h"

namespace ingot::driver {

// What a backend says, as the vocabulary of a format's row hands it on.

template <class OperatorSupport> std::vector<ExportLine> lines_of(const std::vector<OperatorSupport>& supported) {
  std::vector<ExportLine> lines;
  for (const OperatorSupport& s : supported)
    lines.push_back({s.domain.empty() ? "ai.onnx" : s.domain, s.op, s.is_native, s.decomposes});
  return lines;
}

inline std::vector<ExportObstacle> lines_of(std::vector<passes::legalize::Obstacle> obstacles) {
  std::vector<ExportObstacle> lines;
  for (passes::legalize::Obstacle& o : obstacles)
    lines.push_back({std::move(o.where), std::move(o.op), std::move(o.reason), std::move(o.remedy), name_of(o.kind)});
  return lines;
}

}  // namespace ingot::driver

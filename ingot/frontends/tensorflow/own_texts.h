#pragma once
#include <string>
#include <string_view>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// A text operator that ONNX lacks, or has in part: as an operator that Ingot itself runs, and, where it means the
/// same, of ONNX Runtime's extensions.
struct OwnText {
  std::string_view op;
  Values (*own)(const TfNode&, GraphBuilder&);
  Values (*contrib)(const TfNode&, GraphBuilder&) = nullptr;  // gives nothing where the meanings differ
};

/// Null: it is none of them.
const OwnText* find_own_text(std::string_view op);

/// What to do about one that is refused.
std::string own_text_remedy(std::string_view op);

inline constexpr std::string_view kOwnDomain = "ingot";

}  // namespace ingot::frontends::tensorflow

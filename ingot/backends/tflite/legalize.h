#pragma once
#include "ingot/backends/tflite/export.h"

namespace ingot::backends::tflite {

/// Whether a node can be emitted as it stands, or may stay a custom operator.
bool is_native(const Node& node, const ExportOptions& options);

/// Rewrites what TFLite says differently: global pools, normalisation by stored statistics, the error function,
/// dropout, identities. Notes what is approximated.
void rewrite_for_tflite(Graph& graph, std::vector<std::string>& notes);

/// Puts casts around nodes for whose types TFLite has no kernel, as far as the options allow it. Notes each.
void cast_for_tflite(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes);

}  // namespace ingot::backends::tflite

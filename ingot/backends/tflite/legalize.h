#pragma once
#include "ingot/backends/tflite/export.h"

namespace ingot::backends::tflite {

/// Types and sizes that nobody knew: of nodes that stood before what they read, or behind what is a constant now.
void infer_again(Graph& graph);

/// Whether a node can be emitted as it stands, or may stay a custom operator.
bool is_native(const Node& node, const ExportOptions& options);

/// Says in TFLite's operators what it says differently: rewrites, decompositions of the operators' own, folding, until
/// nothing changes. Notes what is approximated. Returns the number of nodes that were replaced.
std::size_t legalize(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes);

/// Takes a node out whose output is its input; the name of an output of the graph moves to the value that it carried.
/// False: names from outside to outside, which stay.
bool take_out_identity(Node& node);

bool has_doubles(Graph& graph);
/// All doubles become floats; for graphs whose doubles are Ingot's own. Returns the number of values.
std::size_t narrow_doubles(Graph& graph);

/// Puts casts around nodes for whose types TFLite has no kernel, as far as the options allow it. Notes each.
void cast_for_tflite(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes);

}  // namespace ingot::backends::tflite

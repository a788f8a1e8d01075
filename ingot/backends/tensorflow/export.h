#pragma once
#include <string>
#include <vector>

#include "ingot/backends/tensorflow/tables.h"
#include "ingot/formats/tensorflow/saved_model.h"
#include "ingot/ir/model.h"
#include "ingot/passes/layout/layout.h"
#include "ingot/passes/legalize/legalize.h"

namespace ingot::backends::tensorflow {

/// TensorFlow itself, or as much of it as TF.js has.
enum class Dialect : std::uint8_t { tensorflow, tfjs };

struct ExportOptions : passes::legalize::Options {
  Dialect dialect = Dialect::tensorflow;
  /// Texts are looked up in tables, which the file can fill when it is loaded.
  bool has_tables = false;
  /// Sequences may be inputs and outputs: as the parts of ragged tensors, `name/values` and `name/row_splits`.
  bool has_ragged_ports = false;
  /// Nothing reads what is an output: files without signatures know outputs by that.
  bool outputs_are_ends = false;
  /// Names that functions must not have: those of another graph that goes into the same file.
  std::vector<std::string> taken{};
};

struct Exported {
  formats::tensorflow::GraphDef graph;
  formats::tensorflow::Signature signature;  // the model's own names -> tensors of the graph, in the model's order
  std::vector<std::string> notes;            // each cast, approximation and change of layout
  passes::LayoutReport layout;
  std::vector<Table> tables;
};

/// Expresses an ONNX model in TensorFlow's operators. Throws one Error that lists everything that cannot be expressed.
Exported to_tensorflow(const Model& model, const ExportOptions& options = {});

using passes::legalize::Obstacle;
/// All that TensorFlow cannot express, without writing anything.
std::vector<Obstacle> find_obstacles(const Model& model, const ExportOptions& options = {});

/// What TensorFlow has for one ONNX operator, for `ingot ops --to tensorflow`.
struct OperatorSupport {
  std::string op, domain;
  bool is_native = false, decomposes = false;
};
std::vector<OperatorSupport> supported_operators(Dialect dialect = Dialect::tensorflow);

}  // namespace ingot::backends::tensorflow

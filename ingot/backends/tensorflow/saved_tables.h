#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/backends/tensorflow/tables.h"
#include "ingot/formats/tensorflow/saved_model.h"

namespace ingot::backends::tensorflow {

/// A table in a SavedModel: the functions that make it, fill it and let it go, and the file that it is filled from.
struct SavedTable {
  SavedTable(const Table& table, std::string name, std::size_t number);

  std::string node;   // of the table in the main graph
  std::string asset;  // the node that names the file; empty: the entries are constants of the function
  std::string filename, text;
  formats::tensorflow::FunctionDef create, fill, destroy;
  std::vector<formats::tensorflow::NodeDef> nodes;  // of the main graph

  /// Puts the table, its functions and its file behind the objects there are, and returns the table's number.
  std::int32_t add_objects(formats::tensorflow::MetaGraph& meta) const;
};

}  // namespace ingot::backends::tensorflow

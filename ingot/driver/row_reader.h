#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/train/dataset.h"

namespace ingot::driver {

/// Examples of any number, some at a time: what is not asked for yet is not in memory.
class RowReader {
 public:
  virtual ~RowReader() = default;

  /// At most so many examples more; none at the end.
  virtual train::Dataset next(std::size_t rows) = 0;
  /// How far it is, in rows or bytes; a total of 0 is not known.
  virtual std::uint64_t done() const = 0;
  virtual std::uint64_t total() const = 0;

  /// Columns of the source as they stand there, for the rows that next() gave last.
  virtual std::vector<std::string> column(const std::string& name);
  /// Columns that tell rows apart and go into every result, such as the names of files.
  virtual std::vector<std::string> own_columns() const { return {}; }
  /// What a user should know, a line each.
  virtual std::vector<std::string> notes() const { return {}; }

 protected:
  RowReader() = default;
  RowReader(const RowReader&) = delete;
};

/// Of a .csv, .npz, .npy or idx file, or a directory of pictures. `scratch` is a directory for what is packed.
std::unique_ptr<RowReader> open_rows(const std::string& path, const train::DatasetOptions& options, const Model& model,
                                     const LoadOptions& load, const std::string& scratch);

}  // namespace ingot::driver

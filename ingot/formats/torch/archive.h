#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/torch/saved.h"

namespace ingot::formats::torch {

/// What a file of PyTorch's holds.
enum class Kind : std::uint8_t {
  none,           // nothing of PyTorch's
  script,         // TorchScript: torch.jit.save
  mobile,         // the same with code for the lite interpreter beside it
  old_script,     // TorchScript of PyTorch 1.0 and 1.1
  saved,          // torch.save
  legacy,         // torch.save before 1.6
  exported,       // torch.export.save since 2.8: directories in an archive
  exported_flat,  // torch.export.save 2.1 to 2.7
};

Kind kind_of(const Bytes& file);

/// An archive with the directory that all of its members stand in.
class Archive {
 public:
  Archive(const Bytes& file, Budget* budget);

  Kind kind() const { return kind_; }
  bool has(std::string_view name) const { return zip_->find(root_ + std::string(name)) != nullptr; }
  /// Refuses a name that is not there.
  Bytes read(std::string_view name) const;
  /// The members below a directory ("code/"), by their names from there on.
  std::vector<std::string> below(std::string_view directory) const;
  /// A pickled object in the archive with its storages: data.pkl with data/, constants.pkl with constants/.
  Saved saved(std::string_view name) const;
  const std::string& root() const { return root_; }

 private:
  std::shared_ptr<const zip::Archive> zip_;
  std::string root_;  // with its slash; may be empty
  Budget* budget_;
  Kind kind_ = Kind::none;
};

}  // namespace ingot::formats::torch

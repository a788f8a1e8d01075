#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ingot/base/atomic_file.h"
#include "ingot/base/file_descriptor.h"
#include "ingot/base/hash.h"
#include "ingot/base/sink.h"

namespace ingot {

/// A model file and the data file that it names, replaced together: whoever opens the model, at any moment and after a
/// kill at any moment, finds the old pair or the new one.
///
///   FileSet files("out/model.onnx");
///   files.data().align(4096);
///   files.data().write(weights);
///   const std::string name = files.finish_data();   // "model.onnx-0123456789abcdef.data"
///   write_model(files.model(), name);
///   files.commit();
///
/// The data's name holds the hash of its content, so new data never replaces what the old model names, and the model is
/// renamed last. Data files of this model that nothing names any more are then removed, as are the temporary files of
/// killed processes. A set without data() is just the model.
class FileSet {
 public:
  explicit FileSet(std::string model_path);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  /// Without commit(): the old files stay, the new ones go.
  ~FileSet();

  class DataFile final : public Sink {
   public:
    explicit DataFile(const std::string& model_path) : file_(model_path) {}
    void write(std::span<const std::byte> bytes) override;
    void align(std::size_t boundary);
    std::uint64_t position() const { return file_.position(); }

   private:
    friend FileSet;
    AtomicFile file_;
    Hasher hasher_;
  };

  DataFile& data();
  /// Ends the data file and gives its name, relative to the model's directory.
  const std::string& finish_data();
  AtomicFile& model() { return model_; }
  void commit();

 private:
  void unlock() { (void)directory_lock_.close(); }

  SplitPath path_;
  AtomicFile model_;
  std::unique_ptr<DataFile> data_;
  std::string data_name_;
  // Shared by writers between the renaming of data and of model, when the data is not yet named by anything.
  FileDescriptor directory_lock_;
  bool committed_ = false;
};

/// Whether `entry` is named as FileSet names the data files of the model file `model_name`.
bool is_data_name(std::string_view entry, std::string_view model_name);

/// Removes what no one needs of earlier writings of this model: temporary files whose writer is gone, and data files
/// whose name appears in no file of the directory. Files that are not named by Ingot's pattern are never touched. Gives
/// the number of files removed; what cannot be removed stays for the next run.
int collect_leftovers(const std::string& directory, const std::string& model_name);

}  // namespace ingot

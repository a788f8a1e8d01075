// Examples from files, some at a time.
#include "ingot/driver/row_reader.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/spill_file.h"
#include "ingot/formats/npy/npy.h"
#include "ingot/formats/zip/archive.h"
#include "ingot/ir/model.h"
#include "ingot/train/table.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;
using formats::npy::NpyArray;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

class TableRows final : public RowReader {
 public:
  TableRows(const Bytes& file, const train::DatasetOptions& options) : file_(file), table_(file, wanted(options)) {
    prepared_ = options.preparation();
  }
  train::Dataset next(std::size_t rows) override {
    train::Dataset data;
    data.columns = table_.read(rows);
    data.count = data.columns.front().second.dims()[0];
    data.is_table = true;
    data.preparation = prepared_;
    constexpr std::uint64_t kPiece = 8u << 20;
    if (table_.bytes_read() - dropped_ >= kPiece) {
      drop_pages(file_.slice(dropped_, table_.bytes_read() - dropped_));
      dropped_ = table_.bytes_read();
    }
    return data;
  }
  std::uint64_t done() const override { return table_.bytes_read(); }
  std::uint64_t total() const override { return file_.size(); }
  std::vector<std::string> column(const std::string& name) override {
    const auto& names = table_.names();
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (at == names.size())
      throw Error(Code::bad_usage, "there is no column '" + name + "' to keep")
          .hint("its columns are " + listed(names));
    if (std::ranges::find(kept_, name) == kept_.end()) kept_.push_back(name);
    return table_.last_texts(at);
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    std::vector<std::string> unused = table_.unused();
    std::erase_if(unused, [&](const auto& name) { return std::ranges::find(kept_, name) != kept_.end(); });
    if (!unused.empty())
      notes.push_back("the model does not take the column" + std::string(unused.size() == 1 ? " " : "s ") +
                      listed(unused));
    if (const std::uint64_t missing = table_.missing())
      notes.push_back(missing == 1 ? "1 field is empty and goes in as NaN"
                                   : std::to_string(missing) + " fields are empty and go in as NaN");
    return notes;
  }

 private:
  static train::TableOptions wanted(const train::DatasetOptions& options) {
    train::TableOptions wanted;
    wanted.inputs = options.inputs;
    wanted.target = options.target;
    wanted.columns = options.columns;
    wanted.known = options.preparation();
    wanted.allows_missing = true;
    wanted.reads_target = false;
    return wanted;
  }

  Bytes file_;
  train::Table table_;
  train::Preparation prepared_;
  std::vector<std::string> kept_;
  std::uint64_t dropped_ = 0;
};

/// Rows of arrays that lie in files.
class ArrayRows final : public RowReader {
 public:
  ArrayRows(std::vector<std::pair<std::string, NpyArray>> arrays, train::Preparation prepared)
      : arrays_(std::move(arrays)), prepared_(std::move(prepared)) {
    for (const auto& [name, array] : arrays_) {
      if (array.dims.empty()) throw Error(Code::bad_input, "array '" + name + "' is a single number, not rows");
      if (array.dtype == DType::undefined) throw Error(Code::bad_input, "array '" + name + "' holds raw bytes");
      if (count_ >= 0 && array.dims[0] != count_)
        throw Error(Code::bad_input, "array '" + name + "' has " + std::to_string(array.dims[0]) + " rows, others " +
                                         std::to_string(count_));
      count_ = array.dims[0];
    }
  }
  train::Dataset next(std::size_t rows) override {
    train::Dataset data;
    data.count = std::min(count_ - at_, static_cast<std::int64_t>(rows));
    data.preparation = prepared_;
    for (const auto& [name, array] : arrays_) data.columns.emplace_back(name, rows_of(array, data.count));
    at_ += data.count;
    return data;
  }
  std::uint64_t done() const override { return static_cast<std::uint64_t>(at_); }
  std::uint64_t total() const override { return static_cast<std::uint64_t>(count_); }

 private:
  Array rows_of(const NpyArray& array, std::int64_t rows) const {
    Dims dims = array.dims;
    dims[0] = rows;
    const auto each = static_cast<std::size_t>(tensor_size(Dims(dims.begin() + 1, dims.end())));
    const auto count = static_cast<std::size_t>(rows), first = static_cast<std::size_t>(at_);
    if (array.dtype == DType::string) {
      Array texts(DType::string, dims);
      std::copy_n(array.strings.begin() + static_cast<std::ptrdiff_t>(first * each), count * each,
                  texts.mutable_data<std::string>().begin());
      return texts;
    }
    const std::size_t bytes = each * array.item_bytes;
    const Bytes part = array.data.slice(first * bytes, count * bytes);
    Array made = Array::from(Tensor(array.dtype, dims, Bytes::copy(part.span())));
    drop_pages(part);
    return made;
  }

  std::vector<std::pair<std::string, NpyArray>> arrays_;
  train::Preparation prepared_;
  std::int64_t count_ = -1, at_ = 0;
};

/// Pictures by the names of their files; whatever else is small enough to be in memory.
class ImageRows final : public RowReader {
 public:
  explicit ImageRows(train::Dataset data) : data_(std::move(data)) { data_.columns.clear(); }
  train::Dataset next(std::size_t rows) override {
    train::Dataset some = data_;
    std::vector<std::int64_t> numbers(
        static_cast<std::size_t>(std::min(data_.count - at_, static_cast<std::int64_t>(rows))));
    std::iota(numbers.begin(), numbers.end(), at_);
    some.images = data_.images->picked(numbers);
    some.count = static_cast<std::int64_t>(numbers.size());
    at_ += some.count;
    last_ = some.images->paths();
    return some;
  }
  std::uint64_t done() const override { return static_cast<std::uint64_t>(at_); }
  std::uint64_t total() const override { return static_cast<std::uint64_t>(data_.count); }
  std::vector<std::string> column(const std::string& name) override {
    return name == "file" ? last_ : RowReader::column(name);
  }
  std::vector<std::string> own_columns() const override { return {"file"}; }

 private:
  train::Dataset data_;
  std::int64_t at_ = 0;
  std::vector<std::string> last_;
};

/// A member of an archive: where it lies if it is stored as it is, else unpacked to the disk.
Bytes unpacked(const formats::zip::Archive& archive, const formats::zip::Member& member, const LoadOptions& load,
               const std::string& scratch) {
  if (!member.is_deflated) return archive.read(member, load.budget);
  SpillFile spill(scratch);
  archive.unpack(member, spill, load.budget);
  return spill.contents();
}

std::vector<std::pair<std::string, NpyArray>> arrays_in(const Bytes& file, const LoadOptions& load,
                                                        const std::string& scratch) {
  std::vector<std::pair<std::string, NpyArray>> arrays;
  if (!formats::zip::looks_like_zip(file)) {
    arrays.emplace_back("features", formats::npy::read(file, load.budget));
    return arrays;
  }
  const formats::zip::Archive archive(file);
  for (const formats::zip::Member& member : archive.members()) {
    if (!member.name.ends_with(".npy"))
      throw Error(Code::bad_array_file, "the archive holds '" + member.name + "', which is no .npy file");
    arrays.emplace_back(member.name.substr(0, member.name.size() - 4),
                        formats::npy::read(unpacked(archive, member, load, scratch), load.budget));
  }
  return arrays;
}

/// Keeps the arrays that inputs take, under the inputs' names.
void match(std::vector<std::pair<std::string, NpyArray>>& arrays, const train::DatasetOptions& options) {
  for (auto& [name, array] : arrays) {
    const std::string end = "_" + options.part;
    if (name.ends_with(end)) name.resize(name.size() - end.size());
    for (const auto& [from, to] : options.map)
      if (name == from) name = to;
  }
  const auto is_input = [&](const auto& entry) {
    return std::ranges::find(options.inputs, entry.first, &train::TableInput::name) != options.inputs.end();
  };
  std::vector<std::string> names, missing;
  for (const auto& [name, array] : arrays) names.push_back(name);
  for (const train::TableInput& input : options.inputs)
    if (std::ranges::find(names, input.name) == names.end()) missing.push_back(input.name);
  constexpr std::string_view kTargets[] = {"y", "target", "targets", "label", "labels"};
  const auto is_target = [&](const auto& entry) {
    return entry.first == options.target || std::ranges::find(kTargets, entry.first) != std::end(kTargets);
  };
  if (options.inputs.size() == 1 && missing.size() == 1 && arrays.size() > 1) std::erase_if(arrays, is_target);
  if (options.inputs.size() == 1 && missing.size() == 1 && arrays.size() == 1) {
    arrays[0].first = missing[0];
    missing.clear();
  }
  if (!missing.empty())
    throw Error(Code::bad_input, "the file has no array for " +
                                     std::string(missing.size() == 1 ? "input " : "inputs ") + listed(missing))
        .hint("it has " + listed(names) + "; --map ARRAY=INPUT says which is which");
  std::erase_if(arrays, [&](const auto& entry) { return !is_input(entry); });
}

}  // namespace

std::vector<std::string> RowReader::column(const std::string& name) {
  throw Error(Code::bad_usage, "the data has no column '" + name + "' to keep");
}

std::unique_ptr<RowReader> open_rows(const std::string& path, const train::DatasetOptions& options, const Model& model,
                                     const LoadOptions& load, const std::string& scratch) try {
  if (fs::is_directory(path)) {
    train::Dataset data = load_dataset(path, options, model, load);
    if (!data.images) throw Error(Code::bad_input, "the directory holds no pictures").hint("'--in DIR' runs one batch");
    return std::make_unique<ImageRows>(std::move(data));
  }
  const Bytes file = map_file(path);
  if (formats::npy::looks_like_npy(file) || formats::zip::looks_like_zip(file)) {
    auto arrays = arrays_in(file, load, scratch);
    match(arrays, options);
    return std::make_unique<ArrayRows>(std::move(arrays), options.preparation());
  }
  if (path.ends_with(".csv") || path.ends_with(".tsv") || path.ends_with(".txt"))
    return std::make_unique<TableRows>(file, options);
  const train::Dataset whole = train::load_dataset(path, {});
  const Array& rows = whole.columns.front().second;
  NpyArray array{
      rows.dtype(), 0, rows.dims(), Bytes(std::make_shared<Array>(rows), rows.bytes(), rows.byte_size()), {}};
  array.item_bytes = rows.size() ? rows.byte_size() / static_cast<std::size_t>(rows.size()) : 1;
  std::vector<std::pair<std::string, NpyArray>> arrays;
  arrays.emplace_back("features", std::move(array));
  match(arrays, options);
  return std::make_unique<ArrayRows>(std::move(arrays), options.preparation());
} catch (Error& error) {
  error.in_file(path);
  throw;
}

}  // namespace ingot::driver

// Predictions on their way to files.
#include "ingot/driver/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/driver/spill_file.h"
#include "ingot/formats/csv/csv.h"
#include "ingot/formats/npy/npy.h"
#include "ingot/formats/npy/text.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::driver {
namespace {

namespace csv = formats::csv;
namespace npy = formats::npy;

/// Names of the columns that an answer takes in a table: y, y_0, y_iris, y_1_0.
std::vector<std::string> columns_of(const Answer& answer) {
  const Dims& dims = answer.values.dims();
  const std::int64_t width = tensor_size(Dims(dims.begin() + 1, dims.end()));
  constexpr std::int64_t kMost = 100'000;
  if (width > kMost)
    throw Error(Code::unsupported_feature,
                fmt::format("output '{}' has {} numbers per row: too many columns for a table", answer.name, width))
        .hint("--out with a name that ends in .npz");
  if (width == 1 && answer.labels.empty()) return {answer.name};
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < width; ++i) {
    std::string index;
    std::int64_t rest = i;
    for (std::size_t axis = dims.size(); axis-- > 1; rest /= dims[axis])
      index = std::to_string(rest % dims[axis]) + (index.empty() ? "" : "_") + index;
    if (!answer.labels.empty()) index = answer.labels[static_cast<std::size_t>(i)];
    names.push_back(answer.name + "_" + index);
  }
  return names;
}

/// The elements of an array as texts that read back as the same numbers.
class Texts {
 public:
  explicit Texts(const Array& array) : array_(array) {
    switch (array.dtype()) {
      case DType::string:
      case DType::f32:
      case DType::f64:
      case DType::u64:
        break;
      case DType::boolean:
      case DType::i64:
      case DType::i32:
      case DType::i16:
      case DType::i8:
      case DType::u8:
      case DType::u16:
      case DType::u32:
        ints_ = array.to_ints();
        break;
      default:
        doubles_ = array.to_doubles();
        break;
    }
  }
  void append(std::size_t i, std::string& line) const {
    const auto end = std::back_inserter(line);
    if (array_.dtype() == DType::string)
      line += csv::field(array_.data<std::string>()[i]);
    else if (array_.dtype() == DType::f32)
      fmt::format_to(end, "{}", array_.data<float>()[i]);
    else if (array_.dtype() == DType::f64)
      fmt::format_to(end, "{}", array_.data<double>()[i]);
    else if (array_.dtype() == DType::u64)
      fmt::format_to(end, "{}", array_.data<std::uint64_t>()[i]);
    else if (!doubles_.empty())
      fmt::format_to(end, "{}", doubles_[i]);
    else
      fmt::format_to(end, "{}", ints_[i]);
  }

 private:
  const Array& array_;
  std::vector<double> doubles_;
  std::vector<std::int64_t> ints_;
};

class TableFile final : public Predictions {
 public:
  explicit TableFile(const std::string& path) : file_(path) {}

  void add(const Kept& kept, const std::vector<Answer>& answers) override {
    std::vector<Texts> texts;
    std::vector<std::size_t> widths;
    std::string header;
    const auto name = [&](const std::string& column) { header += (header.empty() ? "" : ",") + csv::field(column); };
    for (const auto& [column, values] : kept) name(column);
    const bool has_probabilities =
        std::ranges::any_of(answers, [](const Answer& a) { return a.is_derived && a.name == "probability"; });
    for (const Answer& answer : answers) {
      // Scores of classes stand there as probabilities.
      const bool is_said = has_probabilities && !answer.is_derived && !answer.labels.empty();
      if (is_said) continue;
      const std::vector<std::string> columns = columns_of(answer);
      for (const std::string& column : columns) name(column);
      widths.push_back(columns.size());
      texts.emplace_back(answer.values);
    }
    if (header_.empty()) file_.write((header_ = header) + "\n");
    if (header != header_)
      throw Error(Code::unsupported_feature, "batches give different columns: " + header_ + " and then " + header)
          .hint("--out with a name that ends in .npz, or --batch 1");
    const std::size_t rows = answers.empty() ? 0 : static_cast<std::size_t>(answers.front().values.dims()[0]);
    std::string lines;
    for (std::size_t row = 0; row < rows; ++row) {
      for (const auto& [column, values] : kept) lines += csv::field(values[row]) + ",";
      for (std::size_t t = 0; t < texts.size(); ++t)
        for (std::size_t i = 0; i < widths[t]; ++i) {
          texts[t].append(row * widths[t] + i, lines);
          lines += ',';
        }
      lines.back() = '\n';
      if (row + 1 < rows && lines.size() < kPiece) continue;
      file_.write(lines);
      lines.clear();
    }
  }
  void commit() override { file_.commit(); }

 private:
  static constexpr std::size_t kPiece = 1 << 16;  // bytes that go out at once
  AtomicFile file_;
  std::string header_;
};

/// One array that grows by rows, on disk. Of texts, the disk has numbers, and memory each different text once.
class GrowingArray {
 public:
  GrowingArray(const Array& like, const std::string& directory)
      : dtype_(like.dtype()), dims_(like.dims()), rows_(directory) {
    dims_[0] = 0;
  }
  void add(const Array& rows, const std::string& name) {
    Dims dims = rows.dims();
    dims[0] = dims_[0];
    if (dims != dims_ || rows.dtype() != dtype_)
      throw Error(Code::unsupported_feature,
                  "output '" + name + "' is " + rows.type().str() + " in one batch and was of other sizes before");
    dims_[0] += rows.dims()[0];
    if (dtype_ != DType::string) return rows_.write({rows.bytes(), rows.byte_size()});
    for (const std::string& text : rows.data<std::string>()) {
      const auto [entry, is_new] = codes_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
      if (is_new) texts_.push_back(text);
      rows_.write(std::as_bytes(std::span(&entry->second, 1)));
    }
  }
  /// As a .npy file.
  void write(Sink& sink) {
    npy::NpyArray array{dtype_, bits_of(dtype_) / 8, dims_, {}, {}};
    array.strings = texts_;
    sink.write(bytes_of(npy::head_of(array)));
    if (dtype_ != DType::string) return copy_to(rows_.contents(), sink);
    std::size_t width = 0;
    for (const std::string& text : texts_) width = std::max(width, npy::code_points(text));
    std::vector<std::string> wide;
    for (const std::string& text : texts_) wide.push_back(npy::utf32_of(text, width));
    const Bytes codes = rows_.contents();
    for (std::size_t at = 0; at + 4 <= codes.size(); at += 4) {
      std::uint32_t code = 0;
      std::copy_n(codes.data() + at, 4, reinterpret_cast<std::byte*>(&code));
      sink.write(bytes_of(wide[code]));
    }
  }

 private:
  DType dtype_;
  Dims dims_;
  SpillFile rows_;
  std::map<std::string, std::uint32_t> codes_;
  std::vector<std::string> texts_;
};

class ArrayFile final : public Predictions {
 public:
  explicit ArrayFile(const std::string& path) : path_(path), is_archive_(path.ends_with(".npz")), file_(path) {}

  void add(const Kept& kept, const std::vector<Answer>& answers) override {
    for (const auto& [name, texts] : kept) {
      Array array(DType::string, {std::ssize(texts)});
      std::ranges::copy(texts, array.mutable_data<std::string>().begin());
      if (is_archive_) add(name, array);
    }
    std::size_t outputs = 0;
    for (const Answer& answer : answers) outputs += !answer.is_derived;
    if (!is_archive_ && outputs > 1)
      throw Error(Code::bad_usage, "the model has several outputs, a .npy file holds one array")
          .hint("--out with a name that ends in .npz");
    for (const Answer& answer : answers)
      if (is_archive_ || !answer.is_derived) add(answer.name, answer.values);
  }
  void commit() override {
    if (!is_archive_ && !arrays_.empty()) {
      arrays_.front().second->write(file_);
    } else {
      std::vector<std::pair<std::string, Bytes>> members;
      for (const auto& [name, array] : arrays_) {
        SpillFile whole(split_path(path_).directory);
        array->write(whole);
        members.emplace_back(name + ".npy", whole.contents());
      }
      formats::zip::write(members, file_);
    }
    file_.commit();
  }

 private:
  void add(const std::string& name, const Array& rows) {
    auto found = std::ranges::find(arrays_, name, [](const auto& entry) { return entry.first; });
    if (found == arrays_.end()) {
      arrays_.emplace_back(name, std::make_unique<GrowingArray>(rows, split_path(path_).directory));
      found = arrays_.end() - 1;
    }
    found->second->add(rows, name);
  }

  std::string path_;
  bool is_archive_;
  AtomicFile file_;
  std::vector<std::pair<std::string, std::unique_ptr<GrowingArray>>> arrays_;
};

}  // namespace

bool is_predictions_name(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".npz") || path.ends_with(".npy");
}

std::unique_ptr<Predictions> open_predictions(const std::string& path) {
  if (!is_predictions_name(path))
    throw Error(Code::bad_usage, "'" + path + "' does not say in which form predictions are written")
        .hint("a name that ends in .csv, .npz or .npy");
  if (path.ends_with(".csv")) return std::make_unique<TableFile>(path);
  return std::make_unique<ArrayFile>(path);
}

}  // namespace ingot::driver

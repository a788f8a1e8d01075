// Training data from files.
#include "ingot/train/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/base/hash.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/idx/idx.h"
#include "ingot/formats/npy/npy.h"
#include "ingot/train/table.h"

namespace ingot::train {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::bad_training_data, message); }

Array array_of(const formats::npy::NpyArray& npy, const std::string& name) {
  if (npy.dtype == DType::undefined || npy.dtype == DType::string) refuse("array '" + name + "' holds no numbers");
  return Array::from(Tensor(npy.dtype, npy.dims, npy.data));
}

Array joined(const std::vector<Array>& pieces) {
  Dims dims = pieces.front().dims();
  dims[0] = 0;
  for (const Array& piece : pieces) dims[0] += piece.dims()[0];
  Array whole(pieces.front().dtype(), dims);
  if (whole.dtype() == DType::string) {
    auto texts = whole.mutable_data<std::string>().begin();
    for (const Array& piece : pieces) texts = std::ranges::copy(piece.data<std::string>(), texts).out;
    return whole;
  }
  std::byte* out = whole.bytes();
  for (const Array& piece : pieces) {
    if (piece.byte_size()) std::memcpy(out, piece.bytes(), piece.byte_size());
    out += piece.byte_size();
  }
  return whole;
}

bool ends_with(const std::string& text, std::string_view end) { return std::string_view(text).ends_with(end); }

/// All of a table, in pieces: a field takes less memory as a number than as text.
Dataset from_csv(const Bytes& file, const DatasetOptions& options) {
  TableOptions wanted;
  wanted.target = options.target;
  wanted.columns = options.columns;
  wanted.known = options.preparation();
  wanted.inputs = options.inputs;
  Table table(file, wanted);
  constexpr std::size_t kRows = 4096;
  std::vector<std::vector<Array>> pieces;
  Dataset data;
  for (;;) {
    Table::Columns columns = table.read(kRows);
    const bool is_end = columns.front().second.dims()[0] == 0;
    if (is_end && !pieces.empty()) break;
    pieces.resize(columns.size());
    data.columns.resize(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      data.columns[i].first = columns[i].first;
      pieces[i].push_back(std::move(columns[i].second));
    }
    if (is_end) break;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) data.columns[i].second = joined(pieces[i]);
  data.is_table = true;
  data.target = table.target();
  data.preparation = wanted.known;
  data.preparation.classes = table.classes();
  data.preparation.target = table.target();
  if (const auto features = table.features(); !features.empty()) data.preparation.columns = features;
  return data;
}

Array read_array(const std::string& path, const Bytes& file) {
  if (formats::npy::looks_like_npy(file)) return array_of(formats::npy::read(file, &current_budget()), path);
  if (formats::idx::looks_like_idx(file)) {
    const formats::idx::IdxArray idx = formats::idx::read(file);
    return Array::from(Tensor(idx.dtype, idx.dims, idx.data));
  }
  refuse("'" + path + "' is neither .npz, .npy, .csv nor idx");
}

}  // namespace

const Array* Dataset::find(const std::string& name) const {
  for (const auto& [column, array] : columns)
    if (column == name) return &array;
  return nullptr;
}

namespace {

/// Of arrays such as x_train and x_test those of one part, without the ending; nothing changes where there are none.
void choose_part(Dataset& data, const std::string& part) {
  const std::string end = "_" + part;
  const auto is_part = [&](const auto& column) { return ends_with(column.first, end); };
  if (std::ranges::none_of(data.columns, is_part)) return;
  std::erase_if(data.columns, [&](const auto& column) { return !is_part(column); });
  for (auto& [name, array] : data.columns) name.resize(name.size() - end.size());
}

}  // namespace

Preparation DatasetOptions::preparation() const {
  Preparation made = known;
  if (scale) made.scale = *scale;
  if (mean) made.mean = *mean;
  if (deviation) made.deviation = *deviation;
  if (!labels.empty()) made.classes = labels;
  if (!resize.empty()) made.resize = resize;
  return made;
}

namespace {

std::int64_t examples_in(const Dataset& data) {
  std::int64_t count = data.images ? static_cast<std::int64_t>(data.images->paths().size()) : -1;
  for (const auto& [name, array] : data.columns) {
    if (array.rank() == 0) refuse("'" + name + "' is a single number");
    if (count >= 0 && array.dims()[0] != count)
      refuse("'" + name + "' has " + std::to_string(array.dims()[0]) + " examples, others " + std::to_string(count));
    count = array.dims()[0];
  }
  return count;
}

}  // namespace

void finish(Dataset& data, const DatasetOptions& options) {
  const Preparation given = options.preparation();
  data.preparation.scale = given.scale;
  data.preparation.mean = given.mean;
  data.preparation.deviation = given.deviation;
  if (data.preparation.classes.empty()) data.preparation.classes = given.classes;
  for (const auto& [from, to] : options.map) {
    const auto found = std::ranges::find(data.columns, from, [](const auto& column) { return column.first; });
    if (found == data.columns.end()) refuse("there is no array '" + from + "' to become input '" + to + "'");
    if (data.target == from) data.target = to;
    found->first = to;
  }
  data.count = examples_in(data);
}

Dataset dataset_of(std::vector<std::pair<std::string, Array>> columns, const std::string& target) {
  Dataset data;
  data.columns = std::move(columns);
  data.target = target;
  if (!target.empty() && !data.find(target)) refuse("there is no column '" + target + "' to take the targets from");
  finish(data, {});
  return data;
}

void require_examples(const Dataset& data) {
  const std::int64_t count = examples_in(data);
  if (count <= 0) refuse("the data has no examples");
  if (count != data.count)
    refuse("the data states " + std::to_string(data.count) + " examples, but has " + std::to_string(count));
}

Dataset load_dataset(const std::string& path, const DatasetOptions& options) {
  try {
    const Bytes file = map_file(path);
    Dataset data;
    constexpr std::string_view kZip = "PK";
    if (ends_with(path, ".csv")) {
      data = from_csv(file, options);
    } else if (file.text().starts_with(kZip)) {
      for (const auto& [name, npy] : formats::npy::read_npz(file, &current_budget()))
        data.columns.emplace_back(name, array_of(npy, name));
      choose_part(data, options.part);
      for (const char* usual : {"y", "target", "targets", "label", "labels"})
        if (data.target.empty() && options.target.empty() && data.find(usual)) data.target = usual;
      if (!options.target.empty() && data.find(options.target)) data.target = options.target;
    } else {
      data.columns.emplace_back("features", read_array(path, file));
    }
    if (!options.target.empty() && data.target.empty()) {
      data.target = "target";
      data.columns.emplace_back(data.target, read_array(options.target, map_file(options.target)));
    }
    finish(data, options);
    return data;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

namespace {

Array rows_of(const Array& all, const std::vector<std::int64_t>& examples) {
  if (all.dtype() == DType::string) refuse("texts cannot be split");
  Dims dims = all.dims();
  const std::size_t each = dims[0] ? all.byte_size() / static_cast<std::size_t>(dims[0]) : 0;
  dims[0] = static_cast<std::int64_t>(examples.size());
  Array rows(all.dtype(), dims);
  for (std::size_t i = 0; i < examples.size(); ++i)
    std::memcpy(rows.bytes() + i * each, all.bytes() + static_cast<std::size_t>(examples[i]) * each, each);
  return rows;
}

Dataset draw_off(Dataset& data, double share, std::uint64_t seed) {
  constexpr std::uint64_t kBeforeAllEpochs = ~std::uint64_t{0};
  std::vector<std::int64_t> kept = shuffled(data.count, seed, kBeforeAllEpochs);
  const auto count = static_cast<std::ptrdiff_t>(std::llround(static_cast<double>(data.count) * (1 - share)));
  std::vector<std::int64_t> drawn(kept.begin() + count, kept.end());
  kept.resize(static_cast<std::size_t>(count));
  std::ranges::sort(kept);
  std::ranges::sort(drawn);
  Dataset rest = data;
  for (std::size_t c = 0; c < data.columns.size(); ++c) {
    const Array all = data.columns[c].second;
    data.columns[c].second = rows_of(all, kept);
    rest.columns[c].second = rows_of(all, drawn);
  }
  if (data.images) {
    rest.images = data.images->picked(drawn);
    data.images = data.images->picked(kept);
  }
  data.count = static_cast<std::int64_t>(kept.size());
  rest.count = static_cast<std::int64_t>(drawn.size());
  return rest;
}

}  // namespace

Dataset split_off(Dataset& data, double share, std::optional<std::uint64_t> seed) {
  if (!(share >= 0 && share < 1))
    throw Error(Code::bad_usage, "the share of the examples that is held back is at least 0 and less than 1");
  if (seed) return draw_off(data, share, *seed);
  Dataset rest = data;
  const auto kept = static_cast<std::int64_t>(std::llround(static_cast<double>(data.count) * (1 - share)));
  for (std::size_t c = 0; c < data.columns.size(); ++c) {
    const Array all = data.columns[c].second;
    const std::size_t each = data.count ? all.byte_size() / static_cast<std::size_t>(data.count) : 0;
    const auto part = [&](std::int64_t first, std::int64_t count) {
      Dims dims = all.dims();
      dims[0] = count;
      return Array::view(all.dtype(), dims,
                         const_cast<std::byte*>(all.bytes()) + static_cast<std::size_t>(first) * each,
                         std::make_shared<Array>(all));
    };
    data.columns[c].second = part(0, kept);
    rest.columns[c].second = part(kept, rest.count - kept);
  }
  if (data.images) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(data.count));
    std::iota(numbers.begin(), numbers.end(), 0);
    rest.images = data.images->picked({numbers.begin() + kept, numbers.end()});
    data.images = data.images->picked({numbers.begin(), numbers.begin() + kept});
  }
  rest.count -= kept;
  data.count = kept;
  return rest;
}

std::string fingerprint(const Dataset& data) {
  Hasher hasher;
  for (const auto& [name, array] : data.columns) {
    hasher.update(std::as_bytes(std::span(name)));
    if (array.dtype() != DType::string) hasher.update({array.bytes(), array.byte_size()});
  }
  for (const std::string& path : data.images ? data.images->paths() : std::vector<std::string>()) {
    std::error_code none;
    const std::string file = path + " " + std::to_string(std::filesystem::file_size(path, none));
    hasher.update(std::as_bytes(std::span(file)));
  }
  return std::to_string(data.count) + " examples, " + hash_text(hasher.digest());
}

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + epoch * 0xd1342543de82ef95 + 1;
  const auto next = [&] {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next() % i]);
  return order;
}

}  // namespace ingot::train

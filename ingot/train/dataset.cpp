// Training data from files.
#include "ingot/train/dataset.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/idx/idx.h"
#include "ingot/formats/npy/npy.h"

namespace ingot::train {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::bad_training_data, message); }

Array array_of(const formats::npy::NpyArray& npy, const std::string& name) {
  if (npy.dtype == DType::undefined || npy.dtype == DType::string) refuse("array '" + name + "' holds no numbers");
  return Array::from(Tensor(npy.dtype, npy.dims, npy.data));
}

bool ends_with(const std::string& text, std::string_view end) { return std::string_view(text).ends_with(end); }

/// The fields of one line; quotes may enclose commas.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char ch : line) {
    if (ch == '"')
      is_quoted = !is_quoted;
    else if ((ch == ',' || ch == ';') && !is_quoted)
      fields.emplace_back();
    else if (ch != '\r')
      fields.back() += ch;
  }
  return fields;
}

std::optional<double> number_of(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  if (first == std::string::npos) return std::nullopt;
  double value = 0;
  const char* end = text.data() + last + 1;
  const auto [stop, error] = std::from_chars(text.data() + first, end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

Dataset from_csv(const Bytes& file, const DatasetOptions& options) {
  std::vector<std::vector<std::string>> rows;
  std::string_view rest = file.text();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.find_first_not_of(" \r") != std::string_view::npos) rows.push_back(fields_of(line));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  if (rows.empty()) refuse("the file is empty");
  std::vector<std::string> names;
  const bool has_header = std::ranges::none_of(rows[0], [](const std::string& s) { return number_of(s).has_value(); });
  if (has_header) {
    names = rows[0];
    rows.erase(rows.begin());
  } else {
    for (std::size_t i = 0; i < rows[0].size(); ++i) names.push_back(std::to_string(i));
  }
  std::size_t target = names.size();
  if (!options.target.empty()) {
    target = static_cast<std::size_t>(std::ranges::find(names, options.target) - names.begin());
    if (target == names.size()) refuse("there is no column '" + options.target + "'");
  }
  Dataset data;
  data.count = static_cast<std::int64_t>(rows.size());
  std::vector<float> features;
  std::vector<double> targets;
  std::set<std::string> words;
  for (const auto& row : rows)
    if (target < row.size() && !number_of(row[target])) words.insert(row[target]);
  data.classes.assign(words.begin(), words.end());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto where = [&](std::size_t c) { return "row " + std::to_string(r + 1) + ", column '" + names[c] + "'"; };
    if (rows[r].size() != names.size())
      refuse("row " + std::to_string(r + 1) + " has " + std::to_string(rows[r].size()) + " fields, not " +
             std::to_string(names.size()));
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (c == target && !data.classes.empty()) {
        const auto found = std::ranges::lower_bound(data.classes, rows[r][c]);
        if (found == data.classes.end() || *found != rows[r][c]) refuse(where(c) + ": numbers and words are mixed");
        targets.push_back(static_cast<double>(found - data.classes.begin()));
        continue;
      }
      const auto value = number_of(rows[r][c]);
      if (!value) refuse(where(c) + ": '" + rows[r][c] + "' is no number");
      if (c == target)
        targets.push_back(*value);
      else
        features.push_back(static_cast<float>(*value / options.scale));
    }
  }
  const auto width = static_cast<std::int64_t>(names.size() - (target < names.size() ? 1 : 0));
  data.columns.emplace_back("features", Array::of<float>({data.count, width}, features));
  if (target < names.size()) {
    data.target = options.target;
    data.columns.emplace_back(data.target, Array::of<double>({data.count}, targets));
  }
  return data;
}

Array scaled(const Array& array, double scale) {
  if (scale == 1) return array;
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(array.size()));
  const auto divisor = static_cast<float>(scale);
  for (const double v : array.to_doubles()) values.push_back(static_cast<float>(v) / divisor);
  return Array::of<float>(array.dims(), values);
}

Array read_array(const std::string& path, const Bytes& file) {
  if (formats::npy::looks_like_npy(file)) return array_of(formats::npy::read(file), path);
  if (formats::idx::looks_like_idx(file)) {
    const formats::idx::IdxArray idx = formats::idx::read(file);
    return Array::from(Tensor(idx.dtype, idx.dims, idx.data));
  }
  refuse("'" + path + "' is neither .npz, .npy, .csv nor idx");
}

template <class T> Array converted(const Array& from, Dims dims, const std::vector<std::int64_t>& examples) {
  const std::int64_t each = examples.empty() ? 0 : from.size() / from.dims()[0];
  std::vector<T> values;
  values.reserve(examples.size() * static_cast<std::size_t>(each));
  const auto take = [&](auto data) {
    for (const std::int64_t example : examples)
      for (std::int64_t i = 0; i < each; ++i)
        values.push_back(static_cast<T>(data[static_cast<std::size_t>(example * each + i)]));
  };
  switch (from.dtype()) {
    case DType::f32:
      take(from.data<float>());
      break;
    case DType::f64:
      take(from.data<double>());
      break;
    case DType::i64:
      take(from.data<std::int64_t>());
      break;
    case DType::i32:
      take(from.data<std::int32_t>());
      break;
    case DType::u8:
      take(from.data<std::uint8_t>());
      break;
    default:
      take(std::span<const double>(from.to_doubles()));
      break;
  }
  return Array::of<T>(std::move(dims), values);
}

/// The examples as an input of this type.
Array as_input(const Array& column, const Value& input, const std::vector<std::int64_t>& examples) {
  Dims dims = {static_cast<std::int64_t>(examples.size())};
  dims.insert(dims.end(), column.dims().begin() + 1, column.dims().end());
  if (input.type.shape && !input.type.shape->empty()) {
    const Shape& stated = *input.type.shape;
    const auto rest = static_dims(Shape(stated.begin() + 1, stated.end()));
    const std::int64_t each = column.dims()[0] ? column.size() / column.dims()[0] : 0;
    if (rest && tensor_size(*rest) == each) {
      dims.resize(1);
      dims.insert(dims.end(), rest->begin(), rest->end());
    }
  }
  switch (input.type.elem) {
    case DType::f32:
      return converted<float>(column, dims, examples);
    case DType::f64:
      return converted<double>(column, dims, examples);
    case DType::i64:
      return converted<std::int64_t>(column, dims, examples);
    case DType::i32:
      return converted<std::int32_t>(column, dims, examples);
    case DType::u8:
      return converted<std::uint8_t>(column, dims, examples);
    default:
      refuse("input '" + input.name() + "' is " + input.type.str() + ": data of that type is not supported");
  }
}

}  // namespace

const Array* Dataset::find(const std::string& name) const {
  for (const auto& [column, array] : columns)
    if (column == name) return &array;
  return nullptr;
}

Dataset load_dataset(const std::string& path, const DatasetOptions& options) {
  try {
    const Bytes file = map_file(path);
    if (ends_with(path, ".csv")) return from_csv(file, options);
    Dataset data;
    constexpr std::string_view kZip = "PK";
    if (file.text().starts_with(kZip)) {
      for (const auto& [name, npy] : formats::npy::read_npz(file)) data.columns.emplace_back(name, array_of(npy, name));
      for (const char* usual : {"y", "target", "targets", "label", "labels", "y_train"})
        if (data.target.empty() && options.target.empty() && data.find(usual)) data.target = usual;
      if (!options.target.empty() && data.find(options.target)) data.target = options.target;
    } else {
      data.columns.emplace_back("features", read_array(path, file));
    }
    for (auto& [name, array] : data.columns)
      if (name != data.target && !is_float(array.dtype())) array = scaled(array, options.scale);
    if (!options.target.empty() && data.target.empty()) {
      data.target = "target";
      data.columns.emplace_back(data.target, read_array(options.target, map_file(options.target)));
    }
    data.count = -1;
    for (const auto& [name, array] : data.columns) {
      if (array.rank() == 0) refuse("'" + name + "' is a single number");
      if (data.count >= 0 && array.dims()[0] != data.count)
        refuse("'" + name + "' has " + std::to_string(array.dims()[0]) + " examples, others " +
               std::to_string(data.count));
      data.count = array.dims()[0];
    }
    return data;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

std::vector<engine::NamedDatum> batch_of(const Dataset& data, const Model& model, const std::string& target,
                                         const std::vector<std::int64_t>& examples) {
  std::vector<engine::NamedDatum> batch;
  std::vector<const Array*> features;
  for (const auto& [name, array] : data.columns)
    if (name != data.target) features.push_back(&array);
  std::size_t next = 0;
  for (const Value* input : model.graph->inputs()) {
    if (input->initializer) continue;
    if (input->name() == target) {
      if (data.target.empty()) refuse("the data has no targets");
      batch.push_back({target, as_input(*data.find(data.target), *input, examples)});
      continue;
    }
    const Array* column = data.find(input->name());
    if (!column && next < features.size()) column = features[next];
    ++next;
    if (!column) refuse("nothing in the data fits input '" + input->name() + "'");
    batch.push_back({input->name(), as_input(*column, *input, examples)});
  }
  return batch;
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

// Training data from files.
#include "ingot/train/dataset.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/base/hash.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/idx/idx.h"
#include "ingot/formats/npy/npy.h"
#include "ingot/ir/model.h"

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
  const bool names_target = !number_of(options.target) && std::ranges::find(rows[0], options.target) != rows[0].end();
  const bool has_header =
      names_target || std::ranges::none_of(rows[0], [](const std::string& s) { return number_of(s).has_value(); });
  if (has_header) {
    names = rows[0];
    rows.erase(rows.begin());
  } else {
    for (std::size_t i = 0; i < rows[0].size(); ++i) names.push_back(std::to_string(i));
  }
  std::size_t target = names.size();
  if (!options.target.empty()) {
    target = static_cast<std::size_t>(std::ranges::find(names, options.target) - names.begin());
    if (target == names.size()) {
      std::string known;
      for (const std::string& name : names) known += (known.empty() ? "'" : ", '") + name + "'";
      throw Error(Code::bad_training_data, "there is no column '" + options.target + "'")
          .hint("its columns are " + known);
    }
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
      if (!value)
        throw Error(Code::bad_training_data, where(c) + ": '" + rows[r][c] + "' is no number")
            .hint("only targets may be words: --target '" + names[c] + "'");
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

Array read_array(const std::string& path, const Bytes& file) {
  if (formats::npy::looks_like_npy(file)) return array_of(formats::npy::read(file, &current_budget()), path);
  if (formats::idx::looks_like_idx(file)) {
    const formats::idx::IdxArray idx = formats::idx::read(file);
    return Array::from(Tensor(idx.dtype, idx.dims, idx.data));
  }
  refuse("'" + path + "' is neither .npz, .npy, .csv nor idx");
}

/// How a column's numbers become an input's.
struct Treatment {
  float scale = 1, mean = 0, deviation = 1;

  static Treatment of(const Dataset& data, const Array& column) {
    return {is_float(column.dtype()) ? 1.0f : data.scale, data.mean, data.deviation};
  }
  template <class T, class From> T operator()(From v) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (scale == 1 && mean == 0 && deviation == 1) return static_cast<T>(v);
      return static_cast<T>((static_cast<float>(v) / scale - mean) / deviation);
    } else {
      return static_cast<T>(v);
    }
  }
};

template <class T>
Array converted(const Array& from, Dims dims, const std::vector<std::int64_t>& examples, const Treatment& treatment) {
  const std::int64_t each = examples.empty() ? 0 : from.size() / from.dims()[0];
  std::vector<T> values;
  values.reserve(examples.size() * static_cast<std::size_t>(each));
  const auto take = [&](auto data) {
    for (const std::int64_t example : examples)
      for (std::int64_t i = 0; i < each; ++i)
        values.push_back(treatment.operator()<T>(data[static_cast<std::size_t>(example * each + i)]));
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

std::string dims_text(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

/// Says what does not fit while it is still known where it comes from.
void require_fit(const Dims& dims, const Value& input, bool is_target) {
  if (!input.type.shape) return;
  const Shape& stated = *input.type.shape;
  bool fits = stated.size() == dims.size();
  for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = !stated[i].is_known() || stated[i].value() == dims[i];
  if (fits) return;
  if (is_target)
    throw Error(Code::bad_training_data,
                "the targets of a batch are " + dims_text(dims) + ", the loss wants " + input.type.str())
        .hint("cross_entropy and nll take classes, other losses numbers in the shape of the output");
  throw Error(Code::bad_training_data, "the data gives input '" + input.name() + "' a batch " + dims_text(dims) +
                                           ", the model wants " + input.type.str())
      .hint("--map says which array is which input, --target which column is none");
}

/// The examples as an input of this type.
Array as_input(const Array& column, const Value& input, const std::vector<std::int64_t>& examples,
               const Treatment& treatment = {}, bool is_target = false) {
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
  require_fit(dims, input, is_target);
  switch (input.type.elem) {
    case DType::f32:
      return converted<float>(column, dims, examples, treatment);
    case DType::f64:
      return converted<double>(column, dims, examples, treatment);
    case DType::i64:
      return converted<std::int64_t>(column, dims, examples, treatment);
    case DType::i32:
      return converted<std::int32_t>(column, dims, examples, treatment);
    case DType::u8:
      return converted<std::uint8_t>(column, dims, examples, treatment);
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

void finish(Dataset& data, const DatasetOptions& options) {
  data.scale = static_cast<float>(options.scale);
  data.mean = static_cast<float>(options.mean);
  data.deviation = static_cast<float>(options.deviation);
  for (const auto& [from, to] : options.map) {
    const auto found = std::ranges::find(data.columns, from, [](const auto& column) { return column.first; });
    if (found == data.columns.end()) refuse("there is no array '" + from + "' to become input '" + to + "'");
    if (data.target == from) data.target = to;
    found->first = to;
  }
  data.count = -1;
  for (const auto& [name, array] : data.columns) {
    if (array.rank() == 0) refuse("'" + name + "' is a single number");
    if (data.count >= 0 && array.dims()[0] != data.count)
      refuse("'" + name + "' has " + std::to_string(array.dims()[0]) + " examples, others " +
             std::to_string(data.count));
    data.count = array.dims()[0];
  }
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
  data.count = static_cast<std::int64_t>(kept.size());
  rest.count = static_cast<std::int64_t>(drawn.size());
  return rest;
}

}  // namespace

Dataset split_off(Dataset& data, double share, std::optional<std::uint64_t> seed) {
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
  return std::to_string(data.count) + " examples, " + hash_text(hasher.digest());
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
      batch.push_back({target, as_input(*data.find(data.target), *input, examples, {}, true)});
      continue;
    }
    const Array* column = data.find(input->name());
    if (!column && next < features.size()) column = features[next];
    ++next;
    if (!column) refuse("nothing in the data fits input '" + input->name() + "'");
    batch.push_back({input->name(), as_input(*column, *input, examples, Treatment::of(data, *column))});
  }
  return batch;
}

std::optional<std::uint64_t> fixed_batch(const Model& model) {
  for (const Value* v : model.graph->inputs()) {
    if (v->initializer || !v->type.is_tensor() || !v->type.shape || v->type.shape->empty()) continue;
    const Dim& first = v->type.shape->front();
    if (first.is_known() && first.value() > 0) return static_cast<std::uint64_t>(first.value());
  }
  return std::nullopt;
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

// What an instance in a pickle says of itself.
#include "ingot/frontends/sklearn/estimator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ingot/base/error.h"

namespace ingot::frontends::sklearn {
namespace {

[[noreturn]] void refuse_value(std::string_view attribute, const char* wanted) {
  throw Error(Code::bad_source_graph, "'" + std::string(attribute) + "' is " + wanted);
}

}  // namespace

Matrix Matrix::turned() const { return {columns, rows, frontends::turned(values, rows, columns)}; }

Matrix Matrix::rows_of(std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0 || first + count > rows) throw Error(Code::bad_source_graph, "a matrix is too small");
  const auto begin = static_cast<std::size_t>(first * columns), size = static_cast<std::size_t>(count * columns);
  return {count, columns, values.copy(begin, size)};
}

std::string_view Estimator::module() const {
  const pickle::Symbol* symbol = pickle::class_of(*value_);
  return symbol ? std::string_view(symbol->module) : std::string_view();
}

void Estimator::missing(std::string_view attribute) const {
  throw Error(Code::bad_source_graph, "it has no '" + std::string(attribute) + "'")
      .hint("only fitted estimators can be converted");
}

bool Estimator::has(std::string_view attribute) const {
  const pickle::Ref value = find(attribute);
  return value && !value->is_none();
}

pickle::Ref Estimator::get(std::string_view attribute) const {
  const pickle::Ref value = find(attribute);
  if (!value) missing(attribute);
  return value;
}

pickle::Ref Estimator::get_any(std::initializer_list<std::string_view> attributes) const {
  for (const std::string_view name : attributes)
    if (has(name)) return find(name);
  missing(*attributes.begin());
}

double Estimator::number(std::string_view attribute) const {
  const auto number = number_in(get(attribute));
  if (!number) refuse_value(attribute, "no number");
  return *number;
}

double Estimator::number(std::string_view attribute, double fallback) const {
  const pickle::Ref value = find(attribute);
  return value ? number_in(value).value_or(fallback) : fallback;
}

std::int64_t Estimator::integer(std::string_view attribute) const {
  const double value = number(attribute);
  if (!(std::abs(value) < 9e15) || value != std::floor(value)) refuse_value(attribute, "no whole number");
  return static_cast<std::int64_t>(value);
}

std::int64_t Estimator::integer(std::string_view attribute, std::int64_t fallback) const {
  return find(attribute) && number_in(find(attribute)) ? integer(attribute) : fallback;
}

bool Estimator::flag(std::string_view attribute, bool fallback) const {
  return number(attribute, fallback ? 1 : 0) != 0;
}

std::string Estimator::text(std::string_view attribute, std::string_view fallback) const {
  const pickle::Ref value = find(attribute);
  return value ? text_in(value).value_or(std::string(fallback)) : std::string(fallback);
}

std::vector<double> Estimator::doubles(pickle::Ref value) const {
  if (const auto array = pickle::read_array(*document_, *value)) return pickle::to_doubles(*document_, *array);
  if (const auto number = number_in(value)) return {*number};
  std::vector<double> values;
  for (const pickle::Ref item : pickle::items_of(*value)) {
    const auto number = number_in(item);
    if (!number) throw Error(Code::bad_source_graph, "a list holds something that is no number");
    values.push_back(*number);
  }
  return values;
}

std::vector<double> Estimator::vector(std::string_view attribute) const { return doubles(get(attribute)); }

namespace {

/// Where they lie, if they lie there as they are needed.
Numbers numbers_of(const pickle::Document& document, const pickle::Array& array) {
  const std::string type = array.dtype.name();
  if ((type != "f8" && type != "f4") || array.dtype.is_big_endian || !array.dtype.sub_dims.empty())
    return pickle::to_doubles(document, array);
  const bool is_turned = array.is_fortran && array.dims.size() == 2;
  return {array.data, type == "f8" ? DType::f64 : DType::f32, is_turned ? static_cast<std::size_t>(array.dims[0]) : 0};
}

}  // namespace

Matrix Estimator::to_matrix(pickle::Ref value) const {
  if (auto dense = pickle::read_sparse(*document_, *value))
    return {dense->rows, dense->columns, std::move(dense->values)};
  const auto array = pickle::read_array(*document_, *value);
  if (!array) {
    Matrix m{1, 0, doubles(value)};
    m.columns = std::ssize(m.values);
    return m;
  }
  if (array->dims.size() > 2) throw Error(Code::bad_source_graph, "an array has more than two dimensions");
  Matrix m{1, 1, numbers_of(*document_, *array)};
  if (!array->dims.empty()) m.columns = array->dims.back();
  if (array->dims.size() == 2) m.rows = array->dims[0];
  return m;
}

Matrix Estimator::matrix(std::string_view attribute) const { return to_matrix(get(attribute)); }

Labels Estimator::to_labels(pickle::Ref value) const {
  Labels labels;
  const auto array = pickle::read_array(*document_, *value);
  if (!array) {
    labels.numbers = doubles(value);
    return labels;
  }
  const auto is_text = [&](pickle::Ref item) { return pickle::text_of(*document_, *item).has_value(); };
  const bool holds_text = std::ranges::any_of(array->objects, is_text);
  labels.kind = array->dtype.kind;
  if (labels.kind == 'u') labels.kind = 'i';
  if (labels.kind == 'S' || holds_text) labels.kind = 'U';
  if (labels.kind == 'U') {
    labels.texts = pickle::to_texts(*document_, *array);
    for (std::size_t i = 0; i < array->objects.size(); ++i)
      if (!is_text(array->objects[i])) labels.missing.push_back(i);
  } else {
    if (labels.kind == 'O') {
      const auto is_real = [](pickle::Ref item) { return item->is(pickle::Kind::real) || item->is_none(); };
      const auto is_bool = [](pickle::Ref item) { return item->is(pickle::Kind::boolean); };
      labels.kind = std::ranges::any_of(array->objects, is_real)   ? 'f'
                    : std::ranges::all_of(array->objects, is_bool) ? 'b'
                                                                   : 'i';
    }
    labels.numbers = pickle::to_doubles(*document_, *array);
  }
  return labels;
}

Labels Estimator::labels(std::string_view attribute) const { return to_labels(get(attribute)); }

std::string Estimator::numpy_function(pickle::Ref value) const {
  if (!value->is(pickle::Kind::global)) return {};
  const std::string& module = value->symbol->module;
  return module == "numpy" || module.starts_with("numpy.") ? value->symbol->name : "";
}

std::vector<Estimator> Estimator::items(pickle::Ref value) const {
  std::vector<Estimator> all;
  if (const auto array = pickle::read_array(*document_, *value)) {
    for (const pickle::Ref item : array->objects) all.emplace_back(*document_, item);
    return all;
  }
  for (const pickle::Ref item : pickle::items_of(*value)) all.emplace_back(*document_, item);
  return all;
}

std::vector<Estimator> Estimator::list(std::string_view attribute) const { return items(get(attribute)); }

int Estimator::version() const {
  const std::string text = this->text("_sklearn_version");
  int major = 0, minor = 0;
  if (std::sscanf(text.c_str(), "%d.%d", &major, &minor) != 2) return 0;
  return major * 100 + minor;
}

std::vector<std::string> Estimator::feature_names() const {
  const pickle::Ref names = has("feature_names_in_") ? find("feature_names_in_") : find("_feature_names_in");
  if (!names || names->is_none()) return {};
  const auto array = pickle::read_array(*document_, *names);
  return array && array->is_text() ? pickle::to_texts(*document_, *array) : std::vector<std::string>();
}

std::optional<std::int64_t> Estimator::feature_count() const {
  for (const std::string_view name : {"n_features_in_", "_n_features", "n_features_", "n_features"})
    if (const pickle::Ref value = find(name); value && number_in(value))
      return static_cast<std::int64_t>(*number_in(value));
  return std::nullopt;
}

}  // namespace ingot::frontends::sklearn

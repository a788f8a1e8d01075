#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/pickle/numpy.h"
#include "ingot/frontends/numbers.h"

namespace ingot::frontends::sklearn {

namespace pickle = formats::pickle;

/// Numbers in rows.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  Numbers values{};

  double at(std::int64_t r, std::int64_t c) const { return values[static_cast<std::size_t>(r * columns + c)]; }
  Matrix turned() const;
  /// Some of the rows.
  Matrix rows_of(std::int64_t first, std::int64_t count) const;
};

/// Labels or categories: texts, or numbers that know whether they were integers or booleans.
struct Labels {
  std::vector<std::string> texts{};
  std::vector<double> numbers{};
  char kind = 'i';                     // as NumPy has it: b i f U
  std::vector<std::size_t> missing{};  // which of the texts are None or NaN in truth

  bool is_text() const { return kind == 'U'; }
  std::size_t size() const { return is_text() ? texts.size() : numbers.size(); }
};

/// An instance of a class of scikit-learn in a pickle: what it says of itself.
class Estimator {
 public:
  Estimator(const pickle::Document& document, pickle::Ref value) : document_(&document), value_(value) {}

  /// The class's own name, without its module.
  std::string_view name() const { return pickle::class_name(*value_); }
  std::string_view module() const;
  bool is_instance() const { return pickle::class_of(*value_) != nullptr; }
  pickle::Ref value() const { return value_; }
  const pickle::Document& document() const { return *document_; }

  /// An attribute, null where it is missing.
  pickle::Ref find(std::string_view attribute) const { return pickle::attribute(*value_, attribute); }
  /// It is there and not None.
  bool has(std::string_view attribute) const;
  /// Throws where it is missing: the estimator is not fitted, or of another version.
  pickle::Ref get(std::string_view attribute) const;
  /// The first of these names that is there: attributes were renamed from version to version.
  pickle::Ref get_any(std::initializer_list<std::string_view> attributes) const;

  double number(std::string_view attribute) const;
  double number(std::string_view attribute, double fallback) const;
  std::int64_t integer(std::string_view attribute) const;
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  bool flag(std::string_view attribute, bool fallback = false) const;
  /// The fallback where it is missing or no text.
  std::string text(std::string_view attribute, std::string_view fallback = {}) const;
  std::vector<double> vector(std::string_view attribute) const;
  /// A vector becomes one row.
  Matrix matrix(std::string_view attribute) const;
  Labels labels(std::string_view attribute) const;
  Estimator child(std::string_view attribute) const { return {*document_, get(attribute)}; }
  /// The items of a list, tuple or array of objects.
  std::vector<Estimator> list(std::string_view attribute) const;

  /// The version of scikit-learn that wrote it, 1.2 as 102; 0 where it is not told.
  int version() const;
  /// Names of the columns that it was fitted on; empty: it was no data frame.
  std::vector<std::string> feature_names() const;
  /// How many columns it was fitted on; nothing: it does not tell.
  std::optional<std::int64_t> feature_count() const;
  /// The name of a function of NumPy; empty where it is another's, which may do anything under the same name.
  std::string numpy_function(pickle::Ref value) const;

  // Of any value of the same document.
  std::vector<Estimator> items(pickle::Ref value) const;
  std::vector<double> doubles(pickle::Ref value) const;
  Matrix to_matrix(pickle::Ref value) const;
  Labels to_labels(pickle::Ref value) const;
  std::optional<double> number_in(pickle::Ref value) const { return pickle::number_of(*document_, *value); }
  std::optional<std::string> text_in(pickle::Ref value) const { return pickle::text_of(*document_, *value); }

 private:
  [[noreturn]] void missing(std::string_view attribute) const;

  const pickle::Document* document_;
  pickle::Ref value_;
};

}  // namespace ingot::frontends::sklearn

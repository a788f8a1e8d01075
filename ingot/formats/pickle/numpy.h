#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/pickle/document.h"

namespace ingot::formats::pickle {

struct Field;

/// The type of an array's elements, as NumPy names them.
struct Dtype {
  char kind = 'V';         // b i u f c U S O V M m
  std::uint64_t size = 0;  // bytes of one element
  bool is_big_endian = false;
  std::vector<Field> fields;             // of a structure
  std::vector<std::int64_t> sub_dims{};  // each element is itself an array of these dimensions

  std::string name() const;  // "f8"
};
struct Field {
  std::string name;
  Dtype dtype;
  std::uint64_t offset = 0;
};

/// "<f8", "|b1", "U12"; nothing: it is none.
std::optional<Dtype> parse_dtype(std::string_view text);
/// A dtype object, a NumPy type, or its name as text; throws where it is none.
Dtype read_dtype(const Value& value);

struct Array {
  Dtype dtype;
  std::vector<std::int64_t> dims{};
  bool is_fortran = false;  // the first index is the fastest
  Bytes data{};
  std::vector<Ref> objects{};  // in place of data: dtype 'O'

  std::uint64_t size() const;
  bool is_text() const { return dtype.kind == 'U' || dtype.kind == 'S' || dtype.kind == 'O'; }
  bool is_number() const { return std::string_view("biuf").find(dtype.kind) != std::string_view::npos; }
};

/// An array of NumPy 1 or 2 or of joblib; nothing: the value is something else. Throws where it is damaged.
std::optional<Array> read_array(const Document& document, const Value& value);

/// A Python or NumPy number, or an array of one element; nothing: it is no number.
std::optional<double> number_of(const Document& document, const Value& value);
/// A Python or NumPy text; nothing: it is none.
std::optional<std::string> text_of(const Document& document, const Value& value);

/// The texts of an ArrowStringArray of pandas; nothing: it is something else. Throws where it is damaged.
std::optional<std::vector<std::string>> arrow_texts(const Document& document, const Value& value);

/// All elements in C order; of objects, those that are numbers. Throws for what is none.
std::vector<double> to_doubles(const Document& document, const Array& array);
std::vector<std::int64_t> to_ints(const Document& document, const Array& array);
/// Texts as UTF-8; numbers among objects as Python prints them, None as "None".
std::vector<std::string> to_texts(const Document& document, const Array& array);
/// The elements in C order and little-endian, in place where they are so already.
Bytes to_bytes(const Array& array);

/// What bytes or a bytearray hold, in any protocol.
Bytes raw_bytes(const Document& document, const Value& value);

/// The i-th number as they lie; throws where the array holds none.
double number_at(const Array& array, std::size_t i);

/// The numbers of one field of an array of structures, read where they lie.
class FieldNumbers {
 public:
  FieldNumbers(const Array& array, const Field& field);

  std::size_t size() const { return size_; }    // of the array
  std::size_t width() const { return width_; }  // numbers in each structure
  /// The k-th number of structure i; throws where the field holds none.
  double at(std::size_t i, std::size_t k = 0) const;

 private:
  Bytes data_;
  Dtype type_;
  std::size_t offset_, step_, size_, width_;
};
/// Nothing: there is no field of that name.
std::optional<FieldNumbers> field_of(const Array& array, std::string_view name);

/// A matrix of scipy.sparse as rows of numbers; nothing: it is none.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
};
std::optional<Dense> read_sparse(const Document& document, const Value& value);

}  // namespace ingot::formats::pickle

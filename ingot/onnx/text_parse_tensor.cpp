// The text syntax: types and tensors.
#include <fmt/format.h>

#include <charconv>
#include <complex>

#include "ingot/base/elements.h"
#include "ingot/onnx/external_data.h"
#include "ingot/onnx/text_parser.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {
namespace {

constexpr int kMaxTypeDepth = 64;
constexpr std::size_t kMaxRank = 1024;

/// All types of fixed width but bool, which is read as a byte.
using Listed = JoinTypes<JoinTypes<Numeric, Complexes>, JoinTypes<SmallFloats, SmallIntegers>>;

}  // namespace

// Types.

void TextParser::dims(Type& t, TypeNotes& notes_of_type) {
  Shape shape;
  std::vector<std::string> denotations, unknown;
  list("[", "]", [&] {
    if (shape.size() == kMaxRank) lexer_.fail(Code::bad_shape, lexer_.peek().position, "the rank is beyond 1024");
    if (lexer_.accept("?"))
      shape.emplace_back();
    else if (lexer_.peek().kind == Token::Kind::integer)
      shape.emplace_back(integer("a dimension"));
    else
      shape.push_back(Dim::symbol(name("a dimension: a number, a name or '?'")));
    notes([&](std::string_view key) {
      if (key == "denotation") {
        denotations.resize(shape.size());
        denotations.back() = string("a string");
      } else if (key == "unknown") {
        unknown.resize(shape.size());
        unknown.back() = bytes();
      } else {
        return false;
      }
      return true;
    });
  });
  // "float[]" is a tensor of unknown rank, "float" a scalar.
  if (shape.empty()) return;
  if (!denotations.empty()) denotations.resize(shape.size());
  if (!unknown.empty()) unknown.resize(shape.size());
  notes_of_type.dim_denotations = std::move(denotations);
  notes_of_type.dim_unknown = std::move(unknown);
  t.shape = std::move(shape);
}

void TextParser::tensor_type(Type& t, TypeNotes& notes_of_type) {
  const Token token = lexer_.peek();
  const auto elem = element_type_from_word(identifier("an element type"));
  if (!elem) lexer_.fail(Code::text_unknown_word, token.position, "this is not an element type");
  t.elem = *elem;
  if (lexer_.is("["))
    dims(t, notes_of_type);
  else
    t.shape.emplace();
}

Type TextParser::type() {
  if (++type_depth_ > kMaxTypeDepth)
    lexer_.fail(Code::too_deep, lexer_.peek().position, fmt::format("types are nested deeper than {}", kMaxTypeDepth));
  Type t;
  TypeNotes type_notes;
  const Token word = lexer_.peek();
  const auto container = [&](Type::Kind kind) {
    lexer_.take();
    t.kind = kind;
    lexer_.expect("(", "after the kind of a type");
  };
  const auto element = [&] { t.element = std::make_shared<const Type>(type()); };
  if (lexer_.accept("?")) {
    t.kind = Type::Kind::none;
  } else if (word.text == "seq" || word.text == "optional") {
    container(word.text == "seq" ? Type::Kind::sequence : Type::Kind::optional);
    if (!lexer_.is(")")) element();
    lexer_.expect(")", "after an element's type");
  } else if (word.text == "map") {
    container(Type::Kind::map);
    const Token key = lexer_.peek();
    const auto elem = element_type_from_word(identifier("the type of the keys"));
    if (!elem) lexer_.fail(Code::text_unknown_word, key.position, "this is not an element type");
    t.elem = *elem;
    if (lexer_.accept(",")) element();
    lexer_.expect(")", "after the type of the values");
  } else if (word.text == "sparse_tensor") {
    container(Type::Kind::sparse_tensor);
    tensor_type(t, type_notes);
    lexer_.expect(")", "after the type of a sparse tensor");
  } else if (word.text == "opaque") {
    container(Type::Kind::opaque);
    if (!lexer_.is(")")) type_notes.opaque_name = qualified("the name of an opaque type");
    if (lexer_.accept(",")) {
      type_notes.opaque_domain = std::move(type_notes.opaque_name);
      type_notes.opaque_name = name("the name of an opaque type");
    }
    lexer_.expect(")", "after the name of an opaque type");
  } else {
    t.kind = Type::Kind::tensor;
    tensor_type(t, type_notes);
  }
  notes([&](std::string_view key) {
    if (key == "denotation")
      type_notes.denotation = string("a string");
    else if (key == "shape_unknown")
      type_notes.shape_unknown = bytes();
    else if (key == "content_unknown")
      type_notes.content_unknown = bytes();
    else if (key == "unknown")
      type_notes.unknown = bytes();
    else
      return false;
    return true;
  });
  if (type_notes != TypeNotes()) t.notes = std::make_shared<const TypeNotes>(std::move(type_notes));
  --type_depth_;
  return t;
}

// Numbers.

/// A number, or the bits of one after 0x.
template <class T> T TextParser::float_number(const Token& token) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const char *first = token.text.data(), *last = first + token.text.size();
  const auto fail = [&](const char* why) { lexer_.fail(Code::text_bad_literal, token.position, why); };
  if (token.kind == Token::Kind::bytes) {
    Bits bits = 0;
    const auto result = std::from_chars(first, last, bits, 16);
    if (token.text.size() != sizeof(T) * 2 || result.ptr != last) fail("the bits of a number need all their digits");
    return std::bit_cast<T>(bits);
  }
  const bool is_number = token.kind == Token::Kind::integer || token.kind == Token::Kind::decimal ||
                         (token.kind == Token::Kind::identifier && is_reserved(token.text));
  if (!is_number) lexer_.fail_expected("a number");
  T value = 0;
  const auto result = std::from_chars(first, last, value);
  if (result.ec == std::errc::result_out_of_range) fail("this number is beyond the range of its type");
  if (result.ec != std::errc() || result.ptr != last) fail("this is not a number");
  // NaN has many bit patterns: these two are the ones that are spelt this way.
  if (value != value) {
    constexpr Bits kUsual = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    return std::bit_cast<T>(*first == '-' ? kUsual | Bits{1} << (sizeof(T) * 8 - 1) : kUsual);
  }
  return value;
}

float TextParser::attribute_float() {
  const auto value = float_number<float>(lexer_.peek());
  lexer_.take();
  return value;
}

template <class T> T TextParser::element() {
  const Token token = lexer_.peek();
  const char *first = token.text.data(), *last = first + token.text.size();
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using Part = typename T::value_type;
    const auto real = float_number<Part>(token);
    lexer_.take();
    lexer_.expect(",", "between the parts of a complex number");
    const auto imaginary = float_number<Part>(lexer_.peek());
    lexer_.take();
    return {real, imaginary};
  } else if constexpr (std::is_floating_point_v<T>) {
    const T value = float_number<T>(token);
    lexer_.take();
    return value;
  } else if constexpr (is_float(dtype_of<T>)) {
    // Upstream lists these as bit patterns; a point, an exponent or a word makes it a number.
    if (token.kind != Token::Kind::integer) {
      const auto value = float_number<float>(token);
      lexer_.take();
      return T(value);
    }
    std::uint32_t bits = 0;
    if (std::from_chars(first, last, bits).ec != std::errc() || bits >> T::kBits != 0)
      lexer_.fail(Code::text_bad_literal, token.position,
                  fmt::format("this is not a pattern of {} bits; write a number with a point", T::kBits));
    lexer_.take();
    return T::from_bits(bits);
  } else {
    using Wide = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;
    if (token.kind != Token::Kind::integer) lexer_.fail_expected("an integer");
    Wide value = 0;
    bool fits = std::from_chars(first, last, value).ec == std::errc();
    if constexpr (kIsPacked<T>)
      fits = fits && value >= static_cast<Wide>(T::lowest()) && value <= static_cast<Wide>(T::max());
    else
      fits = fits && std::in_range<T>(value);
    if (!fits)
      lexer_.fail(Code::text_bad_literal, token.position,
                  fmt::format("this number does not fit {}", ingot::name_of(dtype_of<T>)));
    lexer_.take();
    return static_cast<T>(value);
  }
}

// Tensors.

Tensor TextParser::listed(DType dtype, Dims dims) {
  const std::size_t position = lexer_.peek().position;
  const auto check_cut = [&] {
    if (lexer_.is("..."))
      lexer_.fail(Code::text_syntax, lexer_.peek().position, "the values are cut off here: print the complete form");
  };
  std::size_t count = 0;
  std::string data;
  std::vector<std::string> strings;
  if (dtype == DType::string) {
    list("{", "}", [&] {
      check_cut();
      strings.push_back(string("a string"));
      ++count;
    });
  } else if (dtype == DType::undefined) {
    list("{", "}", [&] { lexer_.fail_expected("'}': a tensor without a type has no elements"); });
    return Tensor();
  } else {
    // A bool is a byte of any value.
    dispatch(dtype == DType::boolean ? DType::u8 : dtype, Listed{}, [&]<class T>() {
      list("{", "}", [&] {
        check_cut();
        const T value = element<T>();
        if constexpr (kIsPacked<T>) {
          if (count % (8 / T::kBits) == 0) data += '\0';
          store_element<T>(reinterpret_cast<std::byte*>(data.data()), count, value);
        } else {
          data.append(reinterpret_cast<const char*>(&value), sizeof(value));
        }
        ++count;
      });
    });
  }
  const auto needed = static_cast<std::uint64_t>(tensor_size(dims));
  if (count != needed)
    lexer_.fail(Code::tensor_size_mismatch, position,
                fmt::format("the shape needs {} elements, here are {}", needed, count));
  if (dtype == DType::string) return Tensor::of_strings(std::move(dims), std::move(strings));
  return Tensor(dtype, std::move(dims), Bytes::own(std::move(data)));
}

Tensor TextParser::tensor_data(const Type& head) {
  context_.count_object();
  const std::size_t position = lexer_.peek().position;
  const auto sizes = static_dims(head.shape);
  if (!head.is_tensor() || !sizes)
    lexer_.fail(Code::text_syntax, position, "a tensor's data needs an element type and a shape of numbers");
  try {
    (void)tensor_size(*sizes);
    if (lexer_.is("{")) return listed(head.elem, *sizes);
    if (lexer_.is("[")) {
      const Metadata external = entries();
      const auto needed = byte_count(head.elem, static_cast<std::uint64_t>(tensor_size(*sizes)));
      return Tensor(head.elem, *sizes, read_external_data(external, needed.value_or(0), context_));
    }
    if (lexer_.peek().kind == Token::Kind::bytes) return Tensor(head.elem, *sizes, Bytes::own(bytes()));
  } catch (const Error& error) {
    if (error.message().starts_with("line ") || !error.file().empty()) throw;
    lexer_.fail(error.code(), position, error.message());
  }
  lexer_.fail_expected("a tensor's data: '{' elements '}', bytes (0x...) or '[' external data ']'");
}

void TextParser::tensor_notes(Tensor& t, std::string tensor_name) {
  TensorNotes result;
  result.name = std::move(tensor_name);
  notes([&](std::string_view key) {
    if (key == "name")
      result.name = string("a string");
    else if (key == "doc_string")
      result.doc_string = string("a string");
    else if (key == "metadata_props")
      result.metadata = entries();
    else if (key == "unknown")
      result.unknown = bytes();
    else
      return false;
    return true;
  });
  if (result != TensorNotes()) t.notes = std::make_shared<const TensorNotes>(std::move(result));
}

Tensor TextParser::tensor() {
  const Type head = type();
  std::string tensor_name;
  // 0x after the type is the data; a name that needs it stands among the notes.
  const Token::Kind next = lexer_.peek().kind;
  if (next == Token::Kind::identifier || next == Token::Kind::string) tensor_name = name("the name of a tensor");
  return tensor(head, std::move(tensor_name));
}

Tensor TextParser::tensor(const Type& head, std::string tensor_name) {
  lexer_.accept("=");
  Tensor t = tensor_data(head);
  tensor_notes(t, std::move(tensor_name));
  return t;
}

Dims TextParser::sparse_dims() {
  Dims result;
  if (lexer_.is("["))
    list("[", "]", [&] {
      if (result.size() == kMaxRank) lexer_.fail(Code::bad_shape, lexer_.peek().position, "the rank is beyond 1024");
      result.push_back(integer("a dimension"));
    });
  return result;
}

SparseTensor TextParser::sparse() {
  if (lexer_.peek().text != "sparse") lexer_.fail_expected("'sparse'");
  lexer_.take();
  return sparse_data(sparse_dims());
}

SparseTensor TextParser::sparse_data(Dims dims_of_sparse) {
  const std::size_t position = lexer_.peek().position;
  if (!element_count(dims_of_sparse)) lexer_.fail(Code::bad_shape, position, "a dimension is negative or all overflow");
  SparseTensor s;
  s.dims = std::move(dims_of_sparse);
  lexer_.expect("{", "to begin a sparse tensor");
  s.values = tensor();
  lexer_.expect(",", "between values and indices");
  s.indices = tensor();
  lexer_.expect("}", "after the indices");
  notes([&](std::string_view key) { return key == "unknown" && (s.unknown = bytes(), true); });
  return s;
}

}  // namespace ingot::onnx

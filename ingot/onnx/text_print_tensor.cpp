// Types and tensors as text.
#include <complex>

#include "ingot/base/elements.h"
#include "ingot/onnx/text_printer.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {

// Types.

void Printer::dims(const Dims& dims) {
  if (dims.empty()) return;
  out_ << '[';
  Comma comma(out_, ",");
  for (const std::int64_t dim : dims) {
    comma();
    out_ << std::to_string(dim);
  }
  out_ << ']';
}

namespace {
std::string_view nth(const std::vector<std::string>& list, std::size_t i) {
  return i < list.size() ? std::string_view(list[i]) : std::string_view();
}
}  // namespace

void Printer::tensor_type(const Type& t, const TypeNotes& notes) {
  out_ << name_of(t.elem);
  if (!t.shape) {
    out_ << "[]";
  } else if (!t.shape->empty()) {
    out_ << '[';
    Comma comma(out_, ",");
    for (std::size_t i = 0; i < t.shape->size(); ++i) {
      const Dim& dim = (*t.shape)[i];
      comma();
      if (dim.is_unknown())
        out_ << '?';
      else if (dim.is_known())
        out_ << std::to_string(dim.value());
      else
        name(dim.str());
      Notes dim_notes(*this);
      dim_notes.text("denotation", nth(notes.dim_denotations, i));
      dim_notes.bytes("unknown", nth(notes.dim_unknown, i));
    }
    out_ << ']';
  }
}

void Printer::type(const Type& t) {
  static const TypeNotes kNone;
  const TypeNotes& notes = t.notes ? *t.notes : kNone;
  const auto inner = [&] {
    if (t.element) type(*t.element);
    out_ << ')';
  };
  switch (t.kind) {
    case Type::Kind::none:
      out_ << '?';
      break;
    case Type::Kind::tensor:
      tensor_type(t, notes);
      break;
    case Type::Kind::sparse_tensor:
      out_ << "sparse_tensor(";
      tensor_type(t, notes);
      out_ << ')';
      break;
    case Type::Kind::sequence:
      out_ << "seq(";
      inner();
      break;
    case Type::Kind::optional:
      out_ << "optional(";
      inner();
      break;
    case Type::Kind::map:
      out_ << "map(" << name_of(t.elem);
      if (t.element) out_ << ", ";
      inner();
      break;
    case Type::Kind::opaque:
      out_ << "opaque(";
      if (!notes.opaque_domain.empty()) {
        qualified(notes.opaque_domain);
        out_ << ", ";
        name(notes.opaque_name);
      } else if (!notes.opaque_name.empty()) {
        qualified(notes.opaque_name);
      }
      out_ << ')';
      break;
  }
  Notes list(*this);
  list.text("denotation", notes.denotation);
  list.bytes("shape_unknown", notes.shape_unknown);
  list.bytes("content_unknown", notes.content_unknown);
  list.bytes("unknown", notes.unknown);
}

void Printer::info(std::string_view value_name, const Type& value_type, std::string_view doc_string,
                   const Metadata& metadata, std::string_view unknown) {
  if (value_type || value_type.notes) {
    type(value_type);
    out_ << ' ';
  }
  name(value_name);
  Notes notes(*this);
  notes.text("doc_string", doc_string);
  notes.entries("metadata_props", metadata);
  notes.bytes("unknown", unknown);
}

// Tensors.

template <class T> void Printer::element(T v) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    number(v);
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    number(v.real());
    out_ << ", ";
    number(v.imag());
  } else if constexpr (std::is_integral_v<T>)
    out_ << std::to_string(v);
  else if constexpr (is_integer(dtype_of<T>))
    out_ << std::to_string(static_cast<int>(v));
  else if (options_.small_floats_as_numbers)
    attribute_float(static_cast<float>(v));
  else
    out_ << std::to_string(v.to_bits());
}

void Printer::elements(const Tensor& t, std::size_t count) {
  Comma comma(out_);
  if (t.dtype() == DType::string) {
    for (const std::string& text : t.strings().first(count)) {
      comma();
      string(text);
    }
  } else if (t.dtype() == DType::boolean) {
    // A bool is a byte; those other than 0 and 1 stay what they are.
    for (std::size_t i = 0; i < count; ++i) {
      comma();
      out_ << std::to_string(static_cast<unsigned>(t.bytes().data()[i]));
    }
  } else if (t) {
    dispatch(t.dtype(), Fixed{}, [&]<class T>() {
      for (std::size_t i = 0; i < count; ++i) {
        comma();
        element(load_element<T>(t.bytes().data(), i));
      }
    });
  }
  if (count < static_cast<std::size_t>(t.size())) {
    comma();
    out_ << "...";
  }
}

namespace {
/// Whether the bits of a packed tensor's last byte that no element uses are zero, as the list of elements says.
bool has_clean_tail(const Tensor& t) {
  if (!is_sub_byte(t.dtype()) || t.bytes().empty()) return true;
  const auto used = static_cast<unsigned>(static_cast<std::uint64_t>(t.size()) * bits_of(t.dtype()) % 8);
  return used == 0 || static_cast<unsigned>(t.bytes().data()[t.bytes().size() - 1]) >> used == 0;
}
}  // namespace

void Printer::tensor_data(const Tensor& t) {
  const auto size = static_cast<std::size_t>(t.size());
  const bool is_short = size > options_.max_elements;
  const bool listed = t.dtype() == DType::string || is_short || (size <= options_.max_listed && has_clean_tail(t));
  if (!listed) return hex(t.bytes().text());
  out_ << '{';
  elements(t, is_short ? options_.max_elements : size);
  out_ << '}';
}

void Printer::tensor_head(const Tensor& t) {
  out_ << name_of(t.dtype());
  dims(t.dims());
}

void Printer::tensor_notes(const Tensor& t) {
  if (!t.notes) return;
  Notes notes(*this);
  if (!is_printable(t.notes->name)) notes.text("name", t.notes->name);
  notes.text("doc_string", t.notes->doc_string);
  notes.entries("metadata_props", t.notes->metadata);
  notes.bytes("unknown", t.notes->unknown);
}

void Printer::tensor(const Tensor& t) {
  tensor_head(t);
  out_ << ' ';
  if (t.notes && !t.notes->name.empty() && is_printable(t.notes->name)) {
    name(t.notes->name);
    out_ << ' ';
  }
  tensor_data(t);
  tensor_notes(t);
}

void Printer::sparse_data(const SparseTensor& s) {
  out_ << '{';
  tensor(s.values);
  out_ << ", ";
  tensor(s.indices);
  out_ << '}';
  Notes(*this).bytes("unknown", s.unknown);
}

void Printer::sparse(const SparseTensor& s) {
  out_ << "sparse";
  dims(s.dims);
  out_ << ' ';
  sparse_data(s);
}

}  // namespace ingot::onnx

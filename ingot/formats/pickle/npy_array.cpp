// Arrays of .npy files as values of a document.
#include "ingot/formats/pickle/npy_array.h"

#include "ingot/base/error.h"
#include "ingot/formats/pickle/numpy.h"
#include "ingot/formats/python/syntax.h"

namespace ingot::formats::pickle {
namespace {

using python::Expr;
using python::Expression;

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void refuse_array(const std::string& what) { throw Error(Code::bad_pickle, "an array " + what); }

struct File {
  Ref dtype = nullptr, shape = nullptr;
  bool is_fortran = false;
  std::string_view data{};
};

Value& tuple_of(Arena& arena, std::vector<Ref> items) {
  Value& made = arena.make(Kind::tuple);
  made.items = std::move(items);
  arena.grew(0, made.items.size());
  return made;
}

Ref whole_numbers(Arena& arena, const Expr& e) {
  std::vector<Ref> items;
  const bool is_one = e->is(Expression::Kind::integer);
  for (const Expr& part : is_one ? std::vector<Expr>{e} : e->parts) {
    if (!part->is(Expression::Kind::integer)) refuse_array("has a shape that is none");
    items.push_back(&arena.make_integer(static_cast<std::int64_t>(part->number)));
  }
  return &tuple_of(arena, std::move(items));
}

/// '<f8', or a list of ('name', '<f8') and ('name', '<f8', (2, 3)): a structure without gaps.
Ref dtype_of(Arena& arena, const Expr& e) {
  if (e->is(Expression::Kind::text)) return &arena.make_text(e->text);
  if (!e->is(Expression::Kind::list)) refuse_array("has an element type that is none");
  Value& names = tuple_of(arena, {});
  Value& fields = arena.make(Kind::dict);
  std::uint64_t offset = 0;
  for (const Expr& field : e->parts) {
    if (!field->is(Expression::Kind::tuple) || field->parts.size() != 2 || !field->parts[1]->is(Expression::Kind::text))
      refuse_array("is made of structures that are not read");
    const Ref name = &arena.make_text(field->parts[0]->text), type = &arena.make_text(field->parts[1]->text);
    const auto parsed = parse_dtype(field->parts[1]->text);
    if (!parsed || parsed->size > (std::uint64_t{1} << 32)) refuse_array("has an element type that is none");
    names.items.push_back(name);
    fields.items.push_back(name);
    fields.items.push_back(&tuple_of(arena, {type, &arena.make_integer(static_cast<std::int64_t>(offset))}));
    offset += parsed->size;
  }
  Value& made = arena.make_object(&arena.make_global("numpy", "dtype"),
                                  &tuple_of(arena, {&arena.make_text("V" + std::to_string(offset))}));
  const Ref state = &tuple_of(arena, {&arena.make_integer(3), &arena.make_text("|"), arena.none(), &names, &fields,
                                      &arena.make_integer(static_cast<std::int64_t>(offset))});
  made.object->states.push_back(state);
  return &made;
}

File opened(Arena& arena, const Bytes& file) {
  const std::string_view text = file.text();
  if (!text.starts_with(kMagic) || text.size() < 12) refuse_array("is no .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i])); };
  const bool is_first = byte(6) == 1;
  const std::size_t begin = is_first ? 10 : 12;
  const std::size_t size = byte(8) | byte(9) << 8 | (is_first ? 0 : byte(10) << 16 | byte(11) << 24);
  if (size > text.size() - begin) refuse_array("is a .npy file that ends too early");
  const auto program = python::parse(text.substr(begin, size));
  if (program.size() != 1 || !program[0].value || !program[0].value->is(Expression::Kind::dict))
    refuse_array("has a header that is none");
  File made{.data = text.substr(begin + size)};
  const auto& entries = program[0].value->parts;
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (entries[i]->text == "descr") made.dtype = dtype_of(arena, entries[i + 1]);
    if (entries[i]->text == "fortran_order") made.is_fortran = entries[i + 1]->text == "True";
    if (entries[i]->text == "shape") made.shape = whole_numbers(arena, entries[i + 1]);
  }
  if (!made.dtype || !made.shape) refuse_array("has a header that lacks something");
  return made;
}

Ref array_of(Arena& arena, Ref shape, Ref dtype, bool is_fortran, Ref data) {
  Value& made = arena.make_object(&arena.make_global("numpy.core.multiarray", "_reconstruct"), &tuple_of(arena, {}));
  made.object->states.push_back(
      &tuple_of(arena, {&arena.make_integer(1), shape, dtype, arena.boolean(is_fortran), data}));
  return &made;
}

}  // namespace

Ref npy_array(Arena& arena, const Bytes& file) {
  const File opened_file = opened(arena, file);
  return array_of(arena, opened_file.shape, opened_file.dtype, opened_file.is_fortran,
                  &arena.make_view(opened_file.data, Kind::bytes));
}

Ref npy_scalar(Arena& arena, const Bytes& file) {
  const File one = opened(arena, file);
  return &arena.make_object(&arena.make_global("numpy.core.multiarray", "scalar"),
                            &tuple_of(arena, {one.dtype, &arena.make_view(one.data, Kind::bytes)}));
}

Ref npy_tuple(Arena& arena, const Bytes& file) {
  const File opened_file = opened(arena, file);
  const auto type = read_dtype(*opened_file.dtype);
  if (type.kind != 'i' || type.is_big_endian || (type.size != 4 && type.size != 8) || opened_file.data.size() > 1024)
    refuse_array("holds something else than a few whole numbers");
  std::vector<Ref> items;
  for (std::size_t at = 0; at + type.size <= opened_file.data.size(); at += type.size) {
    std::uint64_t value = 0;
    for (std::size_t i = type.size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(opened_file.data[at + i]);
    items.push_back(&arena.make_integer(static_cast<std::int64_t>(value)));
  }
  return &tuple_of(arena, std::move(items));
}

Ref object_array(Arena& arena, Ref shape, Ref objects) {
  return array_of(arena, shape, &arena.make_text("O8"), false, objects);
}

}  // namespace ingot::formats::pickle

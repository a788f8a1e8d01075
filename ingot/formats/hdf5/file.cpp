// Superblocks, and the way from path to object.
#include "ingot/formats/hdf5/file.h"

#include "ingot/base/error.h"
#include "ingot/formats/hdf5/object.h"

namespace ingot::formats::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

/// Users may keep bytes of their own before the superblock.
std::size_t superblock_offset(const Bytes& file) {
  if (file.text().starts_with(kSignature)) return 0;
  for (std::size_t at = 512; at < file.size() && at < (std::size_t{1} << 40); at *= 2)
    if (file.text().substr(at).starts_with(kSignature)) return at;
  throw Error(Code::bad_hdf5, "the file is not HDF5");
}

std::uint64_t read_superblock(Space& space, std::size_t at) {
  ByteReader in = space.reader(at);
  in.skip(kSignature.size());
  const unsigned version = in.u8();
  if (version > 3) throw Error(Code::unsupported_format_version, "the HDF5 file is of a newer version than 3");
  if (version < 2) in.skip(4);
  const unsigned offset_size = in.u8();
  const unsigned length_size = in.u8();
  space.set_sizes(offset_size, length_size);
  in.skip(version < 2 ? (version == 0 ? 9 : 13) : 1);
  if (version >= 2) {  // signature, version, sizes, flags, four addresses, checksum
    ByteReader whole = space.checked_reader(at, 16 + 4 * std::uint64_t{offset_size}, "\x89HDF");
    (void)whole;
  }
  const std::uint64_t base = space.offset(in);
  in.skip(version < 2 ? 3 * offset_size : 2 * offset_size);
  if (version < 2) in.skip(offset_size);  // the name of the root
  const std::uint64_t root = space.offset(in);
  if (base != 0 && base != at) refuse("its base is not where it begins");
  if (base) space.set_base(base);
  return root;
}

}  // namespace

Object::Object(Objects& all, std::unique_ptr<ObjectData> data) : all_(all), data_(std::move(data)) {}
Object::~Object() = default;

bool Object::is_group() const { return data_->is_group; }
bool Object::is_dataset() const { return data_->layout.has_value(); }

std::vector<std::string> Object::members() const {
  std::vector<std::string> names;
  for (const Link& link : data_->links) names.push_back(link.name);
  return names;
}

const Object* Object::member(std::string_view name) const {
  for (const Link& link : data_->links)
    if (link.name == name) return &all_.at(link.address);
  return nullptr;
}

std::unique_ptr<Array> Object::attribute(std::string_view name) const {
  const auto found = data_->attributes.find(name);
  if (found == data_->attributes.end()) return nullptr;
  return std::make_unique<Array>(read_attribute(all_.space, all_.heap, found->second));
}

Array Object::read() const {
  if (!data_->layout || !data_->datatype || !data_->dataspace) refuse("an object that should be a dataset is none");
  ByteReader type_in(data_->datatype->span()), dims_in(data_->dataspace->span());
  const Datatype type = read_datatype(type_in);
  auto dims = read_dataspace(all_.space, dims_in);
  if (!dims) return {type.dtype, type.size, {0}, {}, {}};
  const Bytes elements = read_elements(all_.space, *data_, type, *dims);
  return to_array(all_.space, all_.heap, type, std::move(*dims), elements);
}

const Object& Objects::at(std::uint64_t address) {
  std::unique_ptr<Object>& object = known[address];
  if (!object)
    object = std::unique_ptr<Object>(new Object(*this, std::make_unique<ObjectData>(read_object(space, address))));
  return *object;
}

File::File(Bytes contents, Budget* budget) {
  const std::size_t at = superblock_offset(contents);
  objects_ = std::make_unique<Objects>(std::move(contents), budget);
  objects_->root = read_superblock(objects_->space, at);
}
File::File(File&&) noexcept = default;
File::~File() = default;

const Object& File::root() const { return objects_->at(objects_->root); }

const Object* File::find(std::string_view path) const { return hdf5::find(root(), path); }

const Object* find(const Object& from, std::string_view path) {
  const Object* at = &from;
  while (at && !path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end) at = at->member(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

bool looks_like_hdf5(const Bytes& file) { return file.text().starts_with(kSignature); }

}  // namespace ingot::formats::hdf5

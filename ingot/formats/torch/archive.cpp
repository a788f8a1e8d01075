// Archives of PyTorch: which kind they are, and what they hold.
#include "ingot/formats/torch/archive.h"

#include <fmt/format.h>

#include "ingot/base/error.h"

namespace ingot::formats::torch {
namespace {

constexpr std::string_view kFlat = "serialized_exported_program.json";

/// The directory in which a member of that name stands; nothing: there is none.
std::optional<std::string> directory_with(const zip::Archive& zip, std::string_view name) {
  if (zip.find(name)) return std::string();
  for (const zip::Member& m : zip.members()) {
    const std::size_t slash = m.name.find('/');
    if (slash != std::string::npos && std::string_view(m.name).substr(slash + 1) == name)
      return m.name.substr(0, slash + 1);
  }
  return std::nullopt;
}

Kind kind_in(const zip::Archive& zip, std::string& root) {
  const auto is_in = [&](std::string_view name) {
    const auto directory = directory_with(zip, name);
    if (directory) root = *directory;
    return directory.has_value();
  };
  if (is_in(kFlat)) return Kind::exported_flat;
  if (is_in("archive_format")) return Kind::exported;
  if (is_in("model.json") && is_in("version")) return Kind::old_script;
  if (!is_in("data.pkl")) return Kind::none;
  const bool has_code = zip.find(root + "constants.pkl") != nullptr;
  if (!has_code) return Kind::saved;
  return zip.find(root + "bytecode.pkl") ? Kind::mobile : Kind::script;
}

}  // namespace

Kind kind_of(const Bytes& file) {
  if (looks_like_legacy(file)) return Kind::legacy;
  if (!zip::looks_like_zip(file)) return Kind::none;
  try {
    std::string root;
    return kind_in(zip::Archive(file), root);
  } catch (const Error&) {
    return Kind::none;  // a damaged archive is nobody's
  }
}

Archive::Archive(const Bytes& file, Budget* budget)
    : zip_(std::make_shared<const zip::Archive>(file)), budget_(budget) {
  kind_ = kind_in(*zip_, root_);
  if (const zip::Member* order = zip_->find(root_ + "byteorder"))
    if (zip_->read(*order, budget).text() == "big")
      throw Error(Code::unsupported_setting, "the archive was written by a big-endian machine");
}

Bytes Archive::read(std::string_view name) const {
  const zip::Member* member = zip_->find(root_ + std::string(name));
  if (!member) throw Error(Code::bad_archive, fmt::format("the archive has no '{}'", name));
  return zip_->read(*member, budget_);
}

std::vector<std::string> Archive::below(std::string_view directory) const {
  const std::string prefix = root_ + std::string(directory);
  std::vector<std::string> names;
  for (const zip::Member& m : zip_->members())
    if (m.name.size() > prefix.size() && m.name.starts_with(prefix)) names.push_back(m.name.substr(prefix.size()));
  return names;
}

Saved Archive::saved(std::string_view name) const {
  return Saved(zip_, root_ + std::string(name) + ".pkl", root_ + std::string(name) + "/", budget_);
}

}  // namespace ingot::formats::torch

// What all parts of one reading share.
#include "ingot/onnx/read_context.h"

#include <fmt/format.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/safe_path.h"
#include "ingot/onnx/fields.h"

namespace ingot::onnx {
namespace {

// What a node, value or tensor takes at least, so that the memory limit holds for files of a million empty messages.
constexpr std::uint64_t kObjectSize = 400;
constexpr std::uint64_t kPollInterval = 1024;
constexpr std::uint64_t kShownNames = 3;

}  // namespace

ReadContext::ReadContext(std::string directory, const ReadOptions& options)
    : directory_(std::move(directory)),
      options_(options),
      budget_(options.budget ? *options.budget : Budget::unlimited()) {}

ReadContext::~ReadContext() { budget_.release_memory(objects_ * kObjectSize); }

void ReadContext::count_object() {
  budget_.charge_memory(kObjectSize);
  if (++objects_ % kPollInterval == 0) budget_.poll();
}

void ReadContext::count_node() {
  budget_.charge_nodes(1);
  count_object();
}

void ReadContext::note_negative_size(const std::string& value) {
  if (++negative_sizes_ <= kShownNames) with_negative_size_.push_back("'" + value + "'");
}

void ReadContext::tell() const {
  if (!options_.notes) return;
  for (const auto& [location, file] : files_)
    if (!file) options_.notes->push_back("the file '" + location + "' is missing: its weights are not known");
  if (negative_sizes_ == 0) return;
  std::string names = fmt::format("{}", fmt::join(with_negative_size_, ", "));
  if (negative_sizes_ > kShownNames) names += fmt::format(" and {} more", negative_sizes_ - kShownNames);
  options_.notes->push_back("negative sizes are read as unknown: " + names);
}

const Bytes* ReadContext::external_file(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second ? &*known->second : nullptr;
  if (directory_.empty())
    throw Error(Code::bad_external_data, "a model that is read from memory cannot have external data");
  std::optional<Bytes>& file = files_[location];
  try {
    file = map_beneath(directory_, location, {.allow_links = options_.allow_links});
  } catch (Error& error) {
    if (error.code() != Code::cannot_open) throw;
    if (options_.allow_missing_data) return nullptr;
    error.hint("the model keeps weights in the file '" + location + "': put it into the directory '" + directory_ +
               "', where the model is");
    throw;
  }
  return &*file;
}

void read_entry(const protobuf::Reader& field, Metadata& entries, std::string& unknown) {
  std::string key, value;
  for (protobuf::Reader entry = field.message(); entry.next();) {
    if (entry.field() == EntryField::key) {
      key = entry.string();
    } else if (entry.field() == EntryField::value) {
      value = entry.string();
    } else {
      keep(field, unknown);
      return;
    }
  }
  entries.emplace_back(std::move(key), std::move(value));
}

DType read_dtype(const protobuf::Reader& field) {
  const std::int64_t number = field.int64();
  if (number != 0 && !is_valid_dtype(number))
    throw Error(Code::bad_element_type,
                fmt::format("element type {} at byte {} does not exist", number, field.offset()));
  return static_cast<DType>(number);
}

}  // namespace ingot::onnx

// A model file with its data file, replaced together; and the collection of what earlier writings left.
#include "ingot/base/file_set.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "ingot/base/error.h"

namespace ingot {
namespace {

constexpr std::size_t kLongestStem = 200;
constexpr std::uint64_t kMostSearched = std::uint64_t{4} << 30;  // of the other files of a directory, in all

std::string data_name(std::string_view model_name, std::uint64_t hash) {
  return fmt::format("{}-{}.data", model_name.substr(0, kLongestStem), hash_text(hash));
}

constexpr std::size_t kTailSize = 22;  // "-0123456789abcdef.data"

/// Whether this is the data file of any model.
bool is_any_data_name(std::string_view entry) {
  if (entry.size() <= kTailSize || !entry.ends_with(".data")) return false;
  const std::string_view tail = entry.substr(entry.size() - kTailSize);
  return tail[0] == '-' && tail.substr(1, 16).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Nothing if the directory cannot be read to its end.
std::optional<std::vector<std::string>> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  if (error) return std::nullopt;
  return names;
}

FileDescriptor open_regular(int directory, const std::string& name, int flags) {
  FileDescriptor file(::openat(directory, name.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return FileDescriptor();
  return file;
}

/// Removes from `candidates` the names that appear in a file. All of them if the file cannot be read, or has more bytes
/// than `budget`, which is reduced: what is not known to be a leftover stays. Read, not mapped: the file may be
/// anybody's and shrink meanwhile.
void remove_mentioned(int directory, const std::string& name, std::uint64_t& budget,
                      std::vector<std::string>& candidates) {
  const FileDescriptor file = open_regular(directory, name, O_RDONLY);
  if (!file) {
    struct stat status;
    const bool may_mention = ::fstatat(directory, name.c_str(), &status, 0) == 0 && S_ISREG(status.st_mode);
    if (may_mention) candidates.clear();
    return;
  }
  std::string window;  // a chunk after the end of the one before, since a name may lie across
  std::vector<char> chunk(1 << 20);
  while (!candidates.empty()) {
    const ssize_t size = ::read(file.get(), chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size == 0) return;
    if (size < 0 || static_cast<std::uint64_t>(size) > budget) return candidates.clear();
    budget -= static_cast<std::uint64_t>(size);
    window.erase(0, window.size() - std::min(window.size(), candidates.front().size() - 1));
    window.append(chunk.data(), static_cast<std::size_t>(size));
    std::erase_if(candidates, [&](const std::string& candidate) {
      return ::memmem(window.data(), window.size(), candidate.data(), candidate.size()) != nullptr;
    });
  }
}

bool remove_if_unlocked(int directory, const std::string& name) {
  const FileDescriptor file = open_regular(directory, name, O_RDONLY | O_NOFOLLOW);
  return file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::unlinkat(directory, name.c_str(), 0) == 0;
}

}  // namespace

int collect_leftovers(const std::string& directory_path, const std::string& model_name) {
  const std::string path = directory_path.empty() ? "." : directory_path;
  const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return 0;
  int removed = 0;
  std::vector<std::string> candidates;
  const auto before = entries_of(path);
  if (!before) return 0;
  for (const std::string& entry : *before) {
    if (is_temporary_name(entry, model_name)) removed += remove_if_unlocked(directory.get(), entry);
    if (is_data_name(entry, model_name)) candidates.push_back(entry);
  }
  // A writer may be between the renaming of its data and of its model; then the next run collects.
  if (candidates.empty() || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return removed;
  const auto entries = entries_of(path);
  if (!entries) return removed;
  std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
  remove_mentioned(directory.get(), model_name, budget, candidates);
  budget = kMostSearched;
  for (const std::string& entry : *entries)
    if (!candidates.empty() && entry != model_name && !is_any_data_name(entry))
      remove_mentioned(directory.get(), entry, budget, candidates);
  for (const std::string& candidate : candidates)
    if (open_regular(directory.get(), candidate, O_RDONLY | O_NOFOLLOW))
      removed += ::unlinkat(directory.get(), candidate.c_str(), 0) == 0;
  return removed;
}

bool is_data_name(std::string_view entry, std::string_view model_name) {
  const std::string_view stem = model_name.substr(0, kLongestStem);
  return is_any_data_name(entry) && entry.substr(0, entry.size() - kTailSize) == stem;
}

FileSet::FileSet(std::string model_path) : path_(split_path(model_path)), model_(std::move(model_path)) {}

FileSet::~FileSet() {
  if (committed_ || data_name_.empty()) return;
  unlock();
  try {
    (void)collect_leftovers(path_.directory, path_.name);
  } catch (const std::exception&) {  // no memory: the next run collects
  }
}

void FileSet::DataFile::write(std::span<const std::byte> bytes) {
  file_.write(bytes);
  hasher_.update(bytes);
}

void FileSet::DataFile::align(std::size_t boundary) { write_padding(*this, position(), boundary); }

FileSet::DataFile& FileSet::data() {
  if (!data_name_.empty()) throw Error(Code::internal, "a data file was written after its end").in_file(model_.path());
  if (data_ == nullptr) data_ = std::make_unique<DataFile>(model_.path());
  return *data_;
}

const std::string& FileSet::finish_data() {
  DataFile& file = data();
  directory_lock_ = FileDescriptor(::open(path_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (directory_lock_ && ::flock(directory_lock_.get(), LOCK_SH) != 0 && errno == EINTR) {
  }
  std::string name = data_name(path_.name, file.hasher_.digest());
  file.file_.commit_as(name);
  data_.reset();
  data_name_ = std::move(name);
  return data_name_;
}

void FileSet::commit() {
  if (data_ != nullptr) throw Error(Code::internal, "a model was written before its data ended").in_file(model_.path());
  model_.commit();
  committed_ = true;
  unlock();
  (void)collect_leftovers(path_.directory, path_.name);
}

}  // namespace ingot

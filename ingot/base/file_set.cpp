// A model file with its data file, replaced together; and the collection of what earlier writings left.
#include "ingot/base/file_set.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot {
namespace {

constexpr std::size_t kLongestStem = 200;
constexpr std::size_t kSearchedSize = std::size_t{1} << 30;

std::string data_name(std::string_view model_name, std::uint64_t hash) {
  return fmt::format("{}-{}.data", model_name.substr(0, kLongestStem), hash_text(hash));
}

std::vector<std::string> entries_of(int directory) {
  std::vector<std::string> names;
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    if (copy >= 0) ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(stream)) names.emplace_back(entry->d_name);
  ::closedir(stream);
  return names;
}

FileDescriptor open_regular(int directory, const std::string& name, int flags) {
  FileDescriptor file(::openat(directory, name.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return FileDescriptor();
  return file;
}

/// Takes from `candidates` the names that appear in the file; all of them if it cannot be searched.
void keep_mentioned(int directory, const std::string& name, std::vector<std::string>& candidates) {
  const FileDescriptor file = open_regular(directory, name, O_RDONLY);
  if (!file) {
    struct stat status;
    const bool may_mention = ::fstatat(directory, name.c_str(), &status, 0) == 0 && S_ISREG(status.st_mode);
    if (may_mention) candidates.clear();
    return;
  }
  try {
    const Bytes content = map_open_file(file, name);
    if (content.size() > kSearchedSize) candidates.clear();
    std::erase_if(candidates, [&](const std::string& candidate) {
      return content.text().find(candidate) != std::string_view::npos;
    });
  } catch (const Error&) {
    candidates.clear();
  }
}

bool remove_if_unlocked(int directory, const std::string& name) {
  const FileDescriptor file = open_regular(directory, name, O_RDONLY | O_NOFOLLOW);
  return file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::unlinkat(directory, name.c_str(), 0) == 0;
}

/// `named`: the data file that the model names ("" for none), if that is known; else the model is searched too.
int collect(const std::string& directory_path, const std::string& model_name, const std::string* named) {
  const FileDescriptor directory(::open(directory_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return 0;
  const std::vector<std::string> entries = entries_of(directory.get());
  int removed = 0;
  std::vector<std::string> candidates;
  for (const std::string& entry : entries) {
    if (is_temporary_name(entry, model_name)) removed += remove_if_unlocked(directory.get(), entry);
    if (is_data_name(entry, model_name) && (named == nullptr || entry != *named)) candidates.push_back(entry);
  }
  // A writer may be between the renaming of its data and of its model; then the next run collects.
  if (candidates.empty() || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return removed;
  for (const std::string& entry : entries_of(directory.get())) {
    const bool searched = !is_data_name(entry, model_name) && (named == nullptr || entry != model_name);
    if (searched && !candidates.empty()) keep_mentioned(directory.get(), entry, candidates);
  }
  for (const std::string& candidate : candidates)
    if (open_regular(directory.get(), candidate, O_RDONLY | O_NOFOLLOW))
      removed += ::unlinkat(directory.get(), candidate.c_str(), 0) == 0;
  return removed;
}

}  // namespace

bool is_data_name(std::string_view entry, std::string_view model_name) {
  const std::string_view stem = model_name.substr(0, kLongestStem);
  if (entry.size() != stem.size() + 22 || !entry.starts_with(stem) || !entry.ends_with(".data")) return false;
  const std::string_view hash = entry.substr(stem.size() + 1, 16);
  return entry[stem.size()] == '-' && hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

int collect_leftovers(const std::string& directory, const std::string& model_name) {
  return collect(directory.empty() ? "." : directory, model_name, nullptr);
}

FileSet::FileSet(std::string model_path) : path_(split_path(model_path)), model_(std::move(model_path)) {}

FileSet::~FileSet() {
  if (committed_ || data_name_.empty()) return;
  unlock();
  try {
    (void)collect(path_.directory, path_.name, nullptr);
  } catch (const std::exception&) {  // no memory: the next run collects
  }
}

void FileSet::DataFile::write(std::span<const std::byte> bytes) {
  file_.write(bytes);
  hasher_.update(bytes);
}

void FileSet::DataFile::align(std::size_t boundary) {
  static constexpr std::byte kZeros[4096] = {};
  while (boundary > 1 && position() % boundary != 0)
    write(std::span(kZeros).first(std::min<std::uint64_t>(sizeof(kZeros), boundary - position() % boundary)));
}

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
  (void)collect(path_.directory, path_.name, &data_name_);
}

}  // namespace ingot

// Mapped files, and what happens when they shrink under our hands.
#include "ingot/base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/file_descriptor.h"

namespace ingot {
namespace {

/// An entry of the list of mappings that the signal handler searches. Entries are reused but never freed, so that the
/// handler needs no lock.
struct Range {
  std::atomic<std::uintptr_t> begin{0};  // 0: the entry is free; 1: somebody is filling it
  std::atomic<std::uintptr_t> end{0};
  Range* next = nullptr;
};

std::atomic<Range*> ranges{nullptr};
std::atomic<bool> truncated{false};
struct sigaction previous_action;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

Range* claim_range(std::uintptr_t begin, std::uintptr_t end) {
  Range* range = ranges.load();
  for (; range != nullptr; range = range->next)
    if (std::uintptr_t expected = 0; range->begin.compare_exchange_strong(expected, 1)) break;
  if (range == nullptr) {
    range = new Range;
    range->begin = 1;
    range->next = ranges.load();
    while (!ranges.compare_exchange_weak(range->next, range)) {
    }
  }
  range->end = end;
  range->begin = begin;
  return range;
}

class Mapping {
 public:
  Mapping(void* address, std::size_t size) : address_(address), size_(size) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    range_ = claim_range(begin, begin + size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    range_->begin = 0;
    ::munmap(address_, size_);
  }

 private:
  void* address_;
  std::size_t size_;
  Range* range_;
};

void on_sigbus(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto fault = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Range* range = ranges.load(); range != nullptr; range = range->next) {
    const std::uintptr_t begin = range->begin;
    const std::uintptr_t end = range->end;
    if (begin <= 1 || fault < begin || fault >= end) continue;
    // All that follows is beyond the end of the file too, so one mapping serves for the rest.
    const std::uintptr_t into_page = fault % static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    void* const zeros = ::mmap(static_cast<char*>(info->si_addr) - into_page, end - (fault - into_page), PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) break;
    truncated = true;
    errno = saved_errno;
    return;
  }
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    ::sigaction(SIGBUS, &previous_action, nullptr);  // the access is repeated and ends the program
  }
  errno = saved_errno;
}

}  // namespace

Bytes map_open_file(const FileDescriptor& file, const std::string& path) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) throw system_error(Code::cannot_read, "cannot read", path, errno);
  if (!S_ISREG(status.st_mode)) throw Error(Code::not_regular_file, "is not a regular file").in_file(path);
  const auto size = narrow<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) throw system_error(Code::cannot_read, "cannot map", path, errno);
  std::shared_ptr<const Mapping> mapping;
  try {
    mapping = std::make_shared<const Mapping>(address, size);
  } catch (...) {
    ::munmap(address, size);
    throw;
  }
  return Bytes(std::move(mapping), static_cast<const std::byte*>(address), size);
}

Bytes map_file(const std::string& path) {
  if (path.find('\0') != std::string::npos)  // what stands before it names another file
    throw Error(Code::cannot_open, "is not the name of a file").in_file(path);
  // O_NONBLOCK: a pipe must not make us wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file && errno == ENXIO) throw Error(Code::not_regular_file, "is not a regular file").in_file(path);
  if (!file) throw system_error(Code::cannot_open, "cannot open", path, errno);
  return map_open_file(file, path);
}

void drop_pages(const Bytes& bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()), end = begin + bytes.size();
  for (const Range* range = ranges.load(); range != nullptr; range = range->next) {
    const std::uintptr_t first = range->begin;
    if (first <= 1 || begin < first || end > range->end) continue;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = (begin + page - 1) / page * page, to = end / page * page;
    // The mapping is private and never written: what is dropped is a copy.
    if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    return;
  }
}

void install_sigbus_guard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previous_action);
  });
}

bool mapping_was_truncated() { return truncated; }

void check_mapped_files() {
  if (truncated.exchange(false))
    throw Error(Code::truncated_while_mapped, "a file became shorter or unreadable while it was in use");
}

}  // namespace ingot

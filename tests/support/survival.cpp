// Trials in processes of their own, so that one death does not hide the others.
#include "tests/support/survival.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace ingot::test {
namespace {

constexpr std::size_t kRoom = 4096;
constexpr unsigned kSeconds = 120;
constexpr int kThrew = 99;

void write(char* room, const std::string& text) {
  const std::size_t length = std::min(text.size(), kRoom - 1);
  std::memcpy(room, text.data(), length);
  room[length] = '\0';
}

}  // namespace

std::string death_of(const std::function<void(const Say&)>& trial) {
  void* shared = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  char* last_words = static_cast<char*>(shared);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no further process");
  if (child == 0) {
    alarm(kSeconds);
    try {
      trial([&](const std::string& text) { write(last_words, text); });
    } catch (const std::exception& error) {
      write(last_words, std::string(last_words) + ": " + error.what());
      _exit(kThrew);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::string words = last_words;
  munmap(shared, kRoom);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + " in " + words;
  if (WEXITSTATUS(status) == kThrew) return "exception in " + words;
  return WEXITSTATUS(status) == 0 ? "" : "exit code " + std::to_string(WEXITSTATUS(status)) + " in " + words;
}

}  // namespace ingot::test

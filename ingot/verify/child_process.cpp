// Other programs, kept at a distance.
#include "ingot/verify/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "ingot/base/error.h"
#include "ingot/driver/other_programs.h"

namespace ingot::verify {
namespace {

constexpr rlim_t kLargestFile = rlim_t{4} << 30;
constexpr std::size_t kLongestAnswer = 64u << 20;
#ifdef __SANITIZE_ADDRESS__
constexpr bool kLimitsMemory = false;  // the sanitizer's map of the address space is larger than any limit
#else
constexpr bool kLimitsMemory = true;
#endif

[[noreturn]] void become(const std::vector<char*>& arguments, const char* directory, int in, int out,
                         std::uint64_t memory) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  const int nothing = ::open("/dev/null", O_WRONLY);
  if (nothing >= 0) ::dup2(nothing, STDERR_FILENO);
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::unshare(CLONE_NEWUSER | CLONE_NEWNET);  // where it is not allowed, the network stays
  const rlimit files{kLargestFile, kLargestFile}, cores{0, 0};
  ::setrlimit(RLIMIT_FSIZE, &files);
  ::setrlimit(RLIMIT_CORE, &cores);
  // Not the address space: JavaScript engines reserve far more of it than they use.
  const rlimit data{memory, memory};
  if (memory && kLimitsMemory) ::setrlimit(RLIMIT_DATA, &data);
  char path[] = "PATH=/usr/bin:/bin";
  char home[] = "HOME=/nonexistent";
  char* const environment[] = {path, home, nullptr};
  if (::chdir(directory) == 0) ::execve(arguments[0], arguments.data(), environment);
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& directory,
                           std::uint64_t memory) {
  if (command.empty() || command[0].empty() || command[0][0] != '/')
    throw Error(Code::bad_usage, "another program is started by its absolute path only");
  driver::require_other_programs(command[0]);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) throw system_error(Code::cannot_open, "cannot make a pipe", command[0], errno);
  if (::pipe2(out, O_CLOEXEC) != 0) {
    ::close(in[0]);
    ::close(in[1]);
    throw system_error(Code::cannot_open, "cannot make a pipe", command[0], errno);
  }
  process_ = ::fork();
  if (process_ == 0) become(arguments, directory.c_str(), in[0], out[1], memory);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (process_ < 0) throw system_error(Code::cannot_open, "cannot start", command[0], errno);
}

ChildProcess::~ChildProcess() { end(true); }

void ChildProcess::end(bool is_late) {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  to_ = from_ = -1;
  if (process_ > 0) {
    int status = 0;
    if (is_late) ::kill(process_, SIGKILL);
    ::waitpid(process_, &status, 0);
    if (is_late)
      ending_ = "it did not answer in time";
    else if (WIFSIGNALED(status))
      ending_ = std::string("it crashed (") + ::strsignal(WTERMSIG(status)) + ")";
    else
      ending_ = "it ended with exit code " + std::to_string(WEXITSTATUS(status));
  }
  process_ = -1;
}

std::optional<std::string> ChildProcess::ask(const std::string& line, std::chrono::milliseconds time,
                                             const std::function<bool()>& stops) {
  if (!is_running()) return std::nullopt;
  const auto deadline = std::chrono::steady_clock::now() + time;
  const std::string text = line + "\n";
  // A program that ended is noticed by its answer; the signal of a closed pipe must not end us.
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(to_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  ::sigaction(SIGPIPE, &before, nullptr);
  for (;;) {
    if (const std::size_t end_of_line = buffer_.find('\n'); end_of_line != std::string::npos) {
      std::string answer = buffer_.substr(0, end_of_line);
      buffer_.erase(0, end_of_line + 1);
      return answer;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (stops && stops()) {
      end(true);
      return std::nullopt;
    }
    pollfd poll_entry{from_, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&poll_entry, 1, static_cast<int>(std::min<long long>(left, 100))) : -1;
    if (ready == 0 || (ready < 0 && left > 0 && errno == EINTR)) continue;
    char piece[65536];
    const ssize_t n = ready > 0 ? ::read(from_, piece, sizeof piece) : -1;
    if (n <= 0 || buffer_.size() > kLongestAnswer) {
      end(n != 0);  // it closes its output when it ends
      return std::nullopt;
    }
    buffer_.append(piece, static_cast<std::size_t>(n));
  }
}

}  // namespace ingot::verify

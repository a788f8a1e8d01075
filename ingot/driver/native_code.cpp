// Modules of MLIR become native code by Debian's LLVM, which is run as programs: nobody needs it to build or run Ingot.
#include "ingot/driver/native_code.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/native_tools.h"
#include "ingot/driver/other_programs.h"
#include "ingot/driver/work_directory.h"

namespace ingot::driver {
namespace {

using File = backends::mlir::File;

std::string tool(const std::string& name) { return std::string(kLlvmDirectory) + "/" + name; }

[[noreturn]] void become(const std::vector<char*>& arguments, const char* directory) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);  // what it starts itself ends with it
  char path[] = "PATH=/usr/bin:/bin", temporary[] = "TMPDIR=.";
  char* const environment[] = {path, temporary, nullptr};
  if (::chdir(directory) == 0) {
    const int log = ::open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600), nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);
    ::execve(arguments[0], arguments.data(), environment);
  }
  ::_exit(127);
}

/// Waits for a child, and ends it where the time is over or a signal came: the directory it writes to goes in order.
int status_of(pid_t child) {
  constexpr std::chrono::milliseconds kBetweenLooks{2};
  for (int status = 0;;) {
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    try {
      current_budget().poll();
    } catch (...) {
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);  // before it had a group of its own
      ::waitpid(child, &status, 0);
      throw;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void run_tool(const WorkDirectory& directory, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) become(arguments, directory.path().c_str());
  if (child < 0) throw system_error(Code::cannot_open, "cannot start", command[0], errno);
  const int status = status_of(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFSIGNALED(status) ? std::string("crashed (") + ::strsignal(WTERMSIG(status)) + ")"
                                              : "ended with " + std::to_string(WEXITSTATUS(status));
  throw Error(Code::internal, command[0] + " " + how + ": " + directory.read("log").substr(0, 2000));
}

std::string processor(const std::string& target) {
  if (target == "avx2") return "x86-64-v3";
  if (target == "avx512") return "x86-64-v4";
  return "native";
}

/// NAME.mlir becomes NAME.ll.
void translate(const WorkDirectory& directory, const std::string& name) {
  run_tool(directory, {tool("mlir-opt"),
                       name + ".mlir",
                       "--canonicalize",
                       "--cse",
                       "--convert-vector-to-scf",
                       "--convert-scf-to-cf",
                       "--expand-strided-metadata",
                       "--lower-affine",
                       "--convert-math-to-llvm",
                       "--convert-math-to-libm",
                       "--convert-vector-to-llvm",
                       "--convert-ub-to-llvm",
                       "--convert-arith-to-llvm",
                       "--convert-index-to-llvm",
                       "--finalize-memref-to-llvm",
                       "--convert-func-to-llvm",
                       "--convert-cf-to-llvm",
                       "--reconcile-unrealized-casts",
                       "-o",
                       "lowered.mlir"});
  run_tool(directory, {tool("mlir-translate"), "--mlir-to-llvmir", "lowered.mlir", "-o", name + ".ll"});
}

/// NAME.ll becomes module.o.
void assemble(const WorkDirectory& directory, const std::string& name, const std::string& target) {
  const std::string triple = "-mtriple=x86_64-pc-linux-gnu", cpu = "-mcpu=" + processor(target);
  run_tool(directory, {tool("opt"), "-O3", "--vector-library=LIBMVEC", triple, cpu, name + ".ll", "-o", "module.bc"});
  run_tool(directory,
           {tool("llc"), "-O3", triple, cpu, "-relocation-model=pic", "-filetype=obj", "module.bc", "-o", "module.o"});
}

}  // namespace

std::string why_no_native_code() {
#if !defined(__x86_64__)
  return "native code is made for x86-64 processors only";
#endif
  for (const char* name : {"mlir-opt", "mlir-translate", "opt", "llc"})
    if (::access(tool(name).c_str(), X_OK) != 0) return tool(name) + " is not here";
  if (::access(kCCompiler, X_OK) != 0) return std::string(kCCompiler) + " is not here";
  return "";
}

std::vector<File> make_native(std::vector<File> files, const std::string& name, const std::string& kind,
                              const std::string& target) {
  require_other_programs("the compiler");
  if (const std::string why = why_no_native_code(); !why.empty())
    throw Error(Code::cannot_open, "native code is made by LLVM 22, and " + why)
        .hint("apt-get install mlir-22-tools llvm-22 gcc; --emit mlir and --emit cpp need none of it");
  const WorkDirectory directory;
  for (const File& file : files) directory.write(file.name, file.content);
  translate(directory, name);
  std::vector<File> made;
  if (kind == "llvm") {
    for (File& file : files)
      if (file.name != name + ".mlir") made.push_back(std::move(file));
    made.push_back({name + ".ll", directory.read(name + ".ll")});
    return made;
  }
  assemble(directory, name, target);
  std::vector<std::string> parts = {"module.o"};
  for (const File& file : files) {
    if (file.name.ends_with(".h")) made.push_back(file);
    if (!file.name.ends_with(".c") && !file.name.ends_with(".s")) continue;
    parts.push_back(file.name.ends_with(".c") ? "interface.o" : "weights.o");
    run_tool(directory, {kCCompiler, "-O2", "-fPIC", "-c", file.name, "-o", parts.back()});
  }
  const bool is_library = kind == "so";
  const std::string result = name + (is_library ? ".so" : ".o");
  std::vector<std::string> link = {kCCompiler};
  if (is_library)
    link.insert(link.end(), {"-shared", "-s"});
  else
    link.insert(link.end(), {"-r", "-nostdlib"});
  link.insert(link.end(), {"-o", result});
  link.insert(link.end(), parts.begin(), parts.end());
  if (is_library) link.push_back("-lm");
  run_tool(directory, link);
  made.push_back({result, directory.read(result)});
  return made;
}

}  // namespace ingot::driver

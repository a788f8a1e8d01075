// ingot compile: a model as source code, all of its files or none.
#include "ingot/driver/compile.h"

#include <algorithm>
#include <memory>

#include "ingot/backends/cpp/emit.h"
#include "ingot/backends/matlab/emit.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/lower/lower.h"

namespace ingot::driver {
namespace {

constexpr std::int64_t kMostEmbedded = 1 << 20;  // bytes of weights that a compiler reads quickly

std::int64_t weight_bytes(const lower::Program& program) {
  std::int64_t bytes = 0;
  for (const lower::Buffer& b : program.buffers)
    if (b.value) bytes += static_cast<std::int64_t>(b.value->bytes().size());
  return bytes;
}

/// All files stand beside their old versions before the first is replaced.
void write_all(const std::string& directory, const std::vector<backends::cpp::File>& files, CompileReport& report) {
  std::vector<std::unique_ptr<AtomicFile>> open;
  for (const auto& file : files) {
    open.push_back(std::make_unique<AtomicFile>(directory + "/" + file.name));
    open.back()->write(std::string_view(file.content));
  }
  // The header last: who sees it sees what it declares.
  for (std::size_t i = open.size(); i-- > 0;) open[i]->commit();
  for (const auto& file : files) report.files.push_back(directory == "." ? file.name : directory + "/" + file.name);
}

}  // namespace

std::vector<std::string> compile_targets() { return {"c", "cpp", "matlab"}; }

CompileReport compile(Model& model, const CompileRequest& request) {
  const SplitPath path = split_path(request.output);
  if (path.name.empty()) throw Error(Code::bad_usage, "'" + request.output + "' names no file");
  lower::legalize(model);
  const lower::Program program = lower::lower(model, path.name);
  if (backends::cpp::identifier_of(program) != path.name)
    throw Error(Code::bad_usage, "'" + path.name + "' is no name for a function")
        .hint("letters, digits and single underscores, such as -o " + backends::cpp::identifier_of(program));
  CompileReport report;
  report.is_static = program.is_static();
  report.weight_bytes = weight_bytes(program);
  if (request.emit == "matlab") {
    std::vector<backends::cpp::File> files;
    for (auto& file : backends::matlab::emit(program)) files.push_back({file.name, std::move(file.content)});
    write_all(path.directory, files, report);
    return report;
  }
  backends::cpp::Options options;
  options.is_c = request.emit == "c";
  options.target = request.target;
  options.weights_in_file =
      request.weights == "file" || (request.weights.empty() && report.weight_bytes > kMostEmbedded);
  backends::cpp::Sizes sizes;
  const auto files = backends::cpp::emit(program, options, &sizes);
  report.arena_bytes = sizes.arena;
  write_all(path.directory, files, report);
  return report;
}

}  // namespace ingot::driver

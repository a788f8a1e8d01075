// Generated C++ of stored cases, compiled in batches and run.
#include "tests/backends/generated_cpp.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>

#include "ingot/backends/cpp/emit.h"
#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "ingot/lower/lower.h"
#include "ingot/verify/compare.h"

namespace ingot::test {
namespace {

/// Runs the compiler; what it said, or nothing if all went well.
std::string compile(const std::string& directory) {
  const std::string log = directory + "/log";
  const std::string command = "cd " + directory +
                              " && g++ -std=c++17 -O0 -Wall -Wextra -Werror -fmax-errors=20 -fPIC -shared -o batch.so "
                              "batch.cpp -lm > log 2>&1";
  return std::system(command.c_str()) == 0 ? "" : read_text(log);
}

void write_batch(const std::vector<GeneratedCase*>& cases, const std::string& directory) {
  std::string all;
  for (const GeneratedCase* c : cases)
    if (c->problem.empty()) all += "#include \"" + c->name + ".cpp\"\n";
  write_text(directory + "/batch.cpp", all);
}

/// Programs that the compiler refuses are taken out with its first words, and the rest is compiled again.
bool compile_batch(std::vector<GeneratedCase*>& cases, const std::string& directory) {
  for (int round = 0; round < 12; ++round) {
    write_batch(cases, directory);
    const std::string said = compile(directory);
    if (said.empty()) return true;
    bool found = false;
    for (GeneratedCase* c : cases) {
      std::smatch match;
      const std::regex error("(^|\n)" + c->name + "\\.(cpp|h):[^\n]*error:[^\n]*");
      if (!c->problem.empty() || !std::regex_search(said, match, error)) continue;
      c->problem = "does not compile: " + match.str().substr(match.str()[0] == '\n');
      found = true;
    }
    if (!found) {
      for (GeneratedCase* c : cases)
        if (c->problem.empty()) c->problem = "the batch does not compile: " + said.substr(0, 300);
      return false;
    }
  }
  return false;
}

using Call = int (*)(const void* const*, const std::int64_t* const*, const void**, std::int64_t* const*);

/// A value as the function takes it: see lower/lower.cpp.
void pass(const Datum& value, const Type& type, std::vector<Array>& to) {
  if (type.is_optional()) {
    to.push_back(Array::scalar<bool>(static_cast<bool>(value)));
    return pass(value, type.inner(), to);
  }
  if (!type.is_sequence()) {
    const Shape shape = type.shape.value_or(Shape());
    const std::vector<Array> one = {value.array() ? *value.array() : Array(type.elem, Dims(shape.size()))};
    for (Array& a : backends::cpp::as_passed(one)) to.push_back(std::move(a));
    return;
  }
  std::vector<std::int64_t> table;
  std::string bytes;
  const std::size_t rank = type.inner().shape.value_or(Shape()).size();
  std::int64_t count = 0, total = 0;
  if (const Sequence* sequence = value.sequence())
    for (const Datum& element : *sequence) {
      const Array& a = *element.array();
      table.insert(table.end(), a.dims().begin(), a.dims().end());
      bytes.append(reinterpret_cast<const char*>(a.bytes()), a.byte_size());
      total += a.size();
      ++count;
    }
  Array data(type.inner().elem, {total});
  std::memcpy(data.bytes(), bytes.data(), bytes.size());
  to.push_back(std::move(data));
  to.push_back(Array::of<std::int64_t>({count, static_cast<std::int64_t>(rank)}, table));
}

/// What the function gave, taken in order.
struct Results {
  const std::vector<const void*>& data;
  const std::vector<std::vector<std::int64_t>>& dims;
  std::size_t port = 0;

  Array tensor(DType type, Dims shape) {
    Array a(type, std::move(shape));
    std::memcpy(a.bytes(), data[port++], a.byte_size());
    return a;
  }
  Datum take(const Type& type, const Datum& expected) {
    if (type.is_optional()) return *static_cast<const bool*>(data[port++]) ? take(type.inner(), expected) : Datum();
    if (type.is_sequence()) return sequence(type.inner().elem);
    const Array* like = expected.array();
    if (!like) return Datum();
    const bool is_text = like->dtype() == DType::string;
    Dims shape = dims[port + is_text];
    shape.resize(static_cast<std::size_t>(like->rank()));
    if (!is_text) return Datum(tensor(like->dtype(), shape));
    Array text(DType::string, shape);
    const auto* bytes = static_cast<const char*>(data[port]);
    const auto* ends = static_cast<const std::int64_t*>(data[port + 1]);
    std::int64_t begin = 0;
    for (std::string& s : text.mutable_data<std::string>()) {
      s.assign(bytes + begin, bytes + *ends);
      begin = *ends++;
    }
    port += 2;
    return Datum(text);
  }
  Datum sequence(DType type) {
    const std::int64_t count = dims[port + 1][0], rank = dims[port + 1][1];
    const auto* elements = static_cast<const std::byte*>(data[port]);
    const auto* table = static_cast<const std::int64_t*>(data[port + 1]);
    Sequence made;
    for (std::int64_t i = 0; i < count; ++i, table += rank) {
      Array a(type, Dims(table, table + rank));
      std::memcpy(a.bytes(), elements, a.byte_size());
      elements += a.byte_size();
      made.push_back(Datum(std::move(a)));
    }
    port += 2;
    return Datum(std::move(made));
  }
};

/// The first difference between what the function gives and what is stored.
std::string run_set(const GeneratedCase& c, Call call, std::size_t set, const Model& model) {
  verify::TestData data = verify::load_test_data(c.test, set, model);
  std::vector<Array> inputs;
  std::vector<const void*> pointers;
  std::vector<const std::int64_t*> dims;
  for (const Value* input : model.graph->inputs()) {
    if (input->initializer) continue;
    Datum given;
    for (auto& [name, value] : data.inputs)
      if (name == input->name()) given = value;
    pass(given, input->type, inputs);
  }
  for (const Array& a : inputs) {
    pointers.push_back(a.bytes());
    dims.push_back(a.dims().data());
  }
  const std::size_t count = 3 * model.graph->output_count();  // strings and sequences are two, optionals one more
  std::vector<const void*> results(count);
  std::vector<std::vector<std::int64_t>> result_dims(count, std::vector<std::int64_t>(16));
  std::vector<std::int64_t*> dim_pointers;
  for (auto& d : result_dims) dim_pointers.push_back(d.data());
  if (const int code = call(pointers.data(), dims.data(), results.data(), dim_pointers.data()))
    return "returned " + std::to_string(code);
  Results given{results, result_dims};
  for (std::size_t i = 0; i < data.outputs.size(); ++i) {
    const Datum got = given.take(model.graph->output(i)->type, data.outputs[i]);
    if (const auto what = verify::difference(got, data.outputs[i], c.test.tolerance))
      return "output " + std::to_string(i) + " " + *what;
  }
  return "";
}

/// In a process of its own: generated code may crash or never end.
std::string run_apart(const GeneratedCase& c, Call call, const Model& model) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::string what;
    try {
      for (std::size_t set = 0; set < verify::data_set_count(c.test) && what.empty(); ++set)
        what = run_set(c, call, set, model);
    } catch (const std::exception& error) {
      what = error.what();
    }
    if (write(ends[1], what.data(), std::min<std::size_t>(what.size(), 2000)) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string said(2000, '\0');
  std::size_t length = 0;
  for (ssize_t n = 0; (n = read(ends[0], said.data() + length, said.size() - length)) > 0;)
    length += static_cast<std::size_t>(n);
  close(ends[0]);
  said.resize(length);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "crashed: " + std::string(strsignal(WTERMSIG(status)));
  return said;
}

void run_batch(std::vector<GeneratedCase*> cases, std::map<const GeneratedCase*, Model>& models,
               const TempDir& directory) {
  if (!compile_batch(cases, directory.path().string())) return;
  void* library = dlopen((directory / "batch.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  for (GeneratedCase* c : cases) {
    if (!c->problem.empty()) continue;
    const auto call = library ? reinterpret_cast<Call>(dlsym(library, (c->name + "_call").c_str())) : nullptr;
    c->problem = call ? run_apart(*c, call, models.at(c)) : "has no entry";
  }
  if (library) dlclose(library);
}

constexpr std::size_t kBatch = 100;

}  // namespace

void run_generated(std::vector<GeneratedCase>& cases, const std::function<void(Model&)>& change) {
  for (std::size_t from = 0; from < cases.size(); from += kBatch) {
    const TempDir directory;
    std::map<const GeneratedCase*, Model> models;
    std::vector<GeneratedCase*> batch;
    for (std::size_t i = from; i < std::min(cases.size(), from + kBatch); ++i) {
      GeneratedCase& c = cases[i];
      try {
        Model model = driver::load(c.test.model).model;
        models[&c] = model.clone();
        if (change) change(model);
        lower::legalize(model);
        const lower::Program program = lower::lower(model, "case_" + std::to_string(i), {.forests = true});
        c.name = backends::cpp::identifier_of(program);
        backends::cpp::Options options;
        options.has_entry = true;
        for (const auto& file : backends::cpp::emit(program, options)) write_text(directory / file.name, file.content);
        batch.push_back(&c);
      } catch (const std::exception& error) {
        c.problem = std::string("refused: ") + error.what();
      }
    }
    // Who only asks what is refused need not wait for the compiler.
    if (!std::getenv("INGOT_REFUSALS_ONLY")) run_batch(batch, models, directory);
  }
}

}  // namespace ingot::test

// Libraries of native code, called through the table that they export.
#include "ingot/driver/native_model.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "ingot/backends/cpp/emit.h"
#include "ingot/base/error.h"
#include "ingot/driver/compile.h"
#include "ingot/driver/other_programs.h"
#include "ingot/driver/work_directory.h"
#include "ingot/ir/model.h"

namespace ingot::driver {
namespace {

// As backends/mlir/interface.cpp prints them.
struct NativePort {
  const char* name;
  std::int64_t type, rank;
  const std::int64_t* dims;
};
struct NativeTable {
  std::int64_t version, input_count, output_count;
  const NativePort *inputs, *outputs;
  int (*call)(const void* const*, const std::int64_t* const*, const void**, std::int64_t* const*);
};

constexpr std::int64_t kVersion = 1, kHighestRank = 64;

Type type_of(const NativePort& port) {
  Shape shape;
  for (std::int64_t d = 0; d < port.rank; ++d) shape.push_back(port.dims[d] >= 0 ? Dim(port.dims[d]) : Dim());
  return Type::tensor(static_cast<DType>(port.type), shape);
}

/// `sizes`: what earlier inputs said of dimensions that the library leaves open.
void require_fit(const NativePort& port, const Array& array, std::map<std::int64_t, std::int64_t>& sizes) {
  bool fits = array.dtype() == static_cast<DType>(port.type) && array.rank() == port.rank;
  for (std::int64_t d = 0; fits && d < port.rank; ++d) {
    const std::int64_t size = array.dims()[static_cast<std::size_t>(d)];
    fits = (port.dims[d] < 0 ? sizes.try_emplace(port.dims[d], size).first->second : port.dims[d]) == size;
  }
  if (!fits)
    throw Error(Code::bad_input,
                std::string("input '") + port.name + "' is " + array.type().str() + ", not " + type_of(port).str())
        .hint("dimensions of one name must be equal in all inputs");
}

}  // namespace

struct NativeModel::Library {
  void* handle = nullptr;
  const NativeTable* table = nullptr;
  Model ports;

  ~Library() {
    if (handle) ::dlclose(handle);
  }
};

NativeModel::NativeModel(const std::string& path) : library_(std::make_unique<Library>()) {
  library_->handle = open_library(path);
  library_->table = static_cast<const NativeTable*>(::dlsym(library_->handle, "ingot_native_model"));
  if (!library_->table || library_->table->version != kVersion)
    throw Error(Code::not_a_model, "the library holds no model that ingot compile made").in_file(path);
  Model& model = library_->ports;
  model.graph = std::make_unique<Graph>();
  for (std::int64_t i = 0; i < library_->table->input_count; ++i)
    model.graph->add_input(library_->table->inputs[i].name, type_of(library_->table->inputs[i]));
  Node* code = model.graph->add_node("Native", "ingot");
  for (std::int64_t i = 0; i < library_->table->output_count; ++i) {
    Value* value = code->add_output(library_->table->outputs[i].name);
    value->type = type_of(library_->table->outputs[i]);
    model.graph->add_output(value);
  }
}

NativeModel::~NativeModel() = default;

std::unique_ptr<NativeModel> NativeModel::of(const Model& model) {
  const WorkDirectory directory;  // what is loaded stays when the file goes
  Model compiled = model.clone();
  CompileRequest request;
  request.output = (directory.path() / "net").string();
  request.emit = "so";
  compile(compiled, request);
  return std::make_unique<NativeModel>(request.output + ".so");
}

const Model& NativeModel::ports() const { return library_->ports; }

std::vector<NamedDatum> with_strings(std::vector<NamedDatum> outputs, const Model& model) {
  std::vector<NamedDatum> joined;
  std::size_t at = 0;
  for (const Value* output : model.graph->outputs()) {
    if (at < outputs.size()) joined.push_back(std::move(outputs[at++]));
    if (output->type.elem != DType::string || !output->type.is_tensor() || at >= outputs.size()) continue;
    const Array bytes = *joined.back().value.array(), ends = *outputs[at++].value.array();
    Array strings(DType::string, ends.dims());
    std::size_t begin = 0;
    const std::string_view all(reinterpret_cast<const char*>(bytes.bytes()), bytes.byte_size());
    for (std::int64_t i = 0; i < strings.size(); ++i) {
      const auto end = static_cast<std::size_t>(ends.data<std::int64_t>()[static_cast<std::size_t>(i)]);
      if (end < begin || end > all.size()) throw Error(Code::execution_failed, "the library gave no strings");
      strings.mutable_data<std::string>()[static_cast<std::size_t>(i)] = all.substr(begin, end - begin);
      begin = end;
    }
    joined.back().value = Datum(std::move(strings));
  }
  return joined;
}

namespace {

/// Strings as two inputs.
std::vector<NamedDatum> as_given(const std::vector<NamedDatum>& inputs) {
  std::vector<NamedDatum> given;
  for (const NamedDatum& input : inputs) {
    const Array* array = input.value.array();
    given.push_back(input);
    if (!array || array->dtype() != DType::string) continue;
    const std::vector<Array> parts = backends::cpp::as_passed({*array});
    given.back().value = Datum(parts[0]);
    given.push_back({input.name + "_ends", Datum(parts[1])});
  }
  return given;
}

}  // namespace

std::vector<NamedDatum> NativeModel::run(const std::vector<NamedDatum>& all_inputs) {
  const NativeTable& table = *library_->table;
  const std::vector<NamedDatum> inputs = as_given(all_inputs);
  std::vector<const void*> given;
  std::vector<const std::int64_t*> given_dims;
  std::map<std::int64_t, std::int64_t> sizes;
  for (std::int64_t i = 0; i < table.input_count; ++i) {
    const auto found = std::ranges::find(inputs, std::string(table.inputs[i].name), &NamedDatum::name);
    const Array* array = found == inputs.end() ? nullptr : found->value.array();
    if (!array) throw Error(Code::bad_input, std::string("input '") + table.inputs[i].name + "' is missing");
    require_fit(table.inputs[i], *array, sizes);
    given.push_back(array->bytes());
    given_dims.push_back(array->dims().data());
  }
  const auto count = static_cast<std::size_t>(table.output_count);
  std::vector<const void*> made(count);
  std::vector<std::vector<std::int64_t>> dims(count, std::vector<std::int64_t>(kHighestRank));
  std::vector<std::int64_t*> made_dims;
  for (auto& d : dims) made_dims.push_back(d.data());
  const int problem = table.call(given.data(), given_dims.data(), made.data(), made_dims.data());
  if (problem == 2)
    throw Error(Code::execution_failed, "the sizes of the inputs do not fit each other")
        .hint("run the model without native code: that says which operator they do not fit");
  if (problem != 0) throw Error(Code::out_of_memory, "there is no memory to run in");
  std::vector<NamedDatum> outputs;
  for (std::size_t i = 0; i < count; ++i) {
    dims[i].resize(static_cast<std::size_t>(table.outputs[i].rank));
    Array array(static_cast<DType>(table.outputs[i].type), dims[i]);
    if (array.byte_size() > 0) std::memcpy(array.bytes(), made[i], array.byte_size());
    outputs.push_back({table.outputs[i].name, Datum(std::move(array))});
  }
  return outputs;
}

}  // namespace ingot::driver

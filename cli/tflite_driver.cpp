// ingot-tflite-driver: runs models in the TFLite C library for Ingot's comparisons, as docs/verify.md describes. It is
// a program of its own so that a crash of the library is an answer. Usage: ingot-tflite-driver LIBRARY
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

constexpr int kString = 5;
/// By the library's numbers; empty: types that are not passed.
constexpr const char* kTypes[] = {"",     "float32", "int32", "uint8", "int64",   "string",
                                  "bool", "int16",   "",      "int8",  "float16", "float64",
                                  "",     "uint64",  "",      "",      "uint32",  "uint16"};

/// The functions of the library that are used here.
struct Library {
  explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle) throw std::runtime_error(std::string("the library cannot be loaded: ") + dlerror());
  }
  template <class F> F* get(const char* name) const {
    void* found = dlsym(handle, name);
    if (!found) throw std::runtime_error(std::string("the library has no ") + name);
    return reinterpret_cast<F*>(found);
  }
  void* handle;
};

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void append(std::string& bytes, std::int32_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Texts as the library holds them: their number, where each begins, where the last ends, then the texts.
std::string joined(const std::vector<std::string>& texts) {
  std::string bytes;
  append(bytes, static_cast<std::int32_t>(texts.size()));
  std::size_t at = 4 * (texts.size() + 2);
  append(bytes, static_cast<std::int32_t>(at));
  for (const std::string& text : texts) append(bytes, static_cast<std::int32_t>(at += text.size()));
  for (const std::string& text : texts) bytes += text;
  return bytes;
}

std::vector<std::string> split(const char* data, std::size_t size) {
  const auto number = [&](std::size_t i) {
    std::int32_t n = 0;
    if ((i + 1) * 4 > size) throw std::runtime_error("a text output is damaged");
    std::memcpy(&n, data + i * 4, sizeof n);
    if (n < 0 || static_cast<std::size_t>(n) > size) throw std::runtime_error("a text output is damaged");
    return static_cast<std::size_t>(n);
  };
  std::vector<std::string> texts;
  for (std::size_t i = 0, count = number(0); i < count; ++i) {
    const std::size_t begin = number(i + 1), end = number(i + 2);
    if (end < begin) throw std::runtime_error("a text output is damaged");
    texts.emplace_back(data + begin, end - begin);
  }
  return texts;
}

class Interpreter {
 public:
  Interpreter(const Library& library, const std::string& path, int threads) : l_(library) {
    model_ = l_.get<void*(const char*)>("TfLiteModelCreateFromFile")(path.c_str());
    if (!model_) throw std::runtime_error("the model is refused");
    options_ = l_.get<void*()>("TfLiteInterpreterOptionsCreate")();
    l_.get<void(void*, int)>("TfLiteInterpreterOptionsSetNumThreads")(options_, threads);
    it_ = l_.get<void*(void*, void*)>("TfLiteInterpreterCreate")(model_, options_);
    if (!it_) throw std::runtime_error("there is no interpreter for the model: an operator is missing");
  }
  Interpreter(const Interpreter&) = delete;
  ~Interpreter() {
    if (it_) l_.get<void(void*)>("TfLiteInterpreterDelete")(it_);
    if (options_) l_.get<void(void*)>("TfLiteInterpreterOptionsDelete")(options_);
    if (model_) l_.get<void(void*)>("TfLiteModelDelete")(model_);
  }

  /// Makes room for inputs of these sizes.
  void prepare(const Json& inputs) {
    const int count = l_.get<int(const void*)>("TfLiteInterpreterGetInputTensorCount")(it_);
    if (static_cast<std::size_t>(count) != inputs.size())
      throw std::runtime_error("it takes " + std::to_string(count) + " inputs");
    for (int i = 0; i < count; ++i) {
      const std::vector<int> dims = inputs[static_cast<std::size_t>(i)].at("dims");
      if (dims == dims_of(input(i))) continue;
      if (l_.get<int(void*, int, const int*, int)>("TfLiteInterpreterResizeInputTensor")(it_, i, dims.data(),
                                                                                         static_cast<int>(dims.size())))
        throw std::runtime_error("input " + std::to_string(i) + " cannot be resized");
    }
    if (l_.get<int(void*)>("TfLiteInterpreterAllocateTensors")(it_))
      throw std::runtime_error("it does not prepare the model");
  }

  void set_inputs(const Json& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) set_input(inputs[i], static_cast<int>(i));
  }

  void run() {
    if (l_.get<int(void*)>("TfLiteInterpreterInvoke")(it_)) throw std::runtime_error("it does not run the model");
  }

  Json outputs(const std::string& directory) const {
    Json outputs = Json::array();
    const int count = l_.get<int(const void*)>("TfLiteInterpreterGetOutputTensorCount")(it_);
    for (int i = 0; i < count; ++i) outputs.push_back(output(i, directory));
    return outputs;
  }

 private:
  void* input(int i) const { return l_.get<void*(const void*, int)>("TfLiteInterpreterGetInputTensor")(it_, i); }
  int type_of(const void* tensor) const { return l_.get<int(const void*)>("TfLiteTensorType")(tensor); }

  std::vector<int> dims_of(const void* tensor) const {
    std::vector<int> dims(static_cast<std::size_t>(l_.get<int(const void*)>("TfLiteTensorNumDims")(tensor)));
    const auto dim = l_.get<int(const void*, int)>("TfLiteTensorDim");
    for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = dim(tensor, static_cast<int>(d));
    return dims;
  }

  void set_input(const Json& given, int i) {
    void* tensor = input(i);
    const int type = type_of(tensor);
    const std::string wanted = type >= 0 && type < static_cast<int>(std::size(kTypes)) ? kTypes[type] : "";
    if (given.at("type") != wanted) throw std::runtime_error("input " + std::to_string(i) + " is of another type");
    if (type == kString) {
      const std::string bytes = joined(given.at("strings"));
      l_.get<int(std::size_t, void*)>("TfLiteTensorRealloc")(bytes.size(), tensor);
      std::memcpy(l_.get<void*(const void*)>("TfLiteTensorData")(tensor), bytes.data(), bytes.size());
      return;
    }
    const std::string bytes = contents_of(given.at("file"));
    if (l_.get<int(void*, const void*, std::size_t)>("TfLiteTensorCopyFromBuffer")(tensor, bytes.data(), bytes.size()))
      throw std::runtime_error("input " + std::to_string(i) + " has another size");
  }

  Json output(int i, const std::string& directory) const {
    const void* tensor = l_.get<const void*(const void*, int)>("TfLiteInterpreterGetOutputTensor")(it_, i);
    const char* name = l_.get<const char*(const void*)>("TfLiteTensorName")(tensor);
    Json json{{"name", name ? name : ""}};
    const int type = type_of(tensor);
    if (type < 0 || type >= static_cast<int>(std::size(kTypes)) || !*kTypes[type]) return json;
    const std::size_t size = l_.get<std::size_t(const void*)>("TfLiteTensorByteSize")(tensor);
    const auto* data = static_cast<const char*>(l_.get<void*(const void*)>("TfLiteTensorData")(tensor));
    json["type"] = kTypes[type];
    json["dims"] = dims_of(tensor);
    if (type == kString) {
      json["strings"] = split(data, size);
      return json;
    }
    const std::string path = directory + "/output_" + std::to_string(i);
    std::ofstream(path, std::ios::binary).write(data, static_cast<std::streamsize>(size));
    json["file"] = path;
    return json;
  }

  const Library& l_;
  void *model_ = nullptr, *options_ = nullptr, *it_ = nullptr;
};

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The most memory that the process had, as the system counts it.
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

/// The model that was loaded last stays, to be timed.
class Driver {
 public:
  explicit Driver(const Library& library) : library_(library), base_bytes_(peak_bytes()) {}

  Json answer(const Json& request) {
    if (request.at("do") == "time") return time(request.at("runs").get<std::size_t>());
    if (request.at("do") != "run") throw std::runtime_error("this runtime runs and times models");
    const auto start = Clock::now();
    const Json& inputs = request.at("inputs");
    interpreter_.reset();
    interpreter_ =
        std::make_unique<Interpreter>(library_, request.at("model").get<std::string>(), request.value("threads", 1));
    interpreter_->prepare(inputs);
    interpreter_->set_inputs(inputs);
    Json reply{{"version", library_.get<const char*()>("TfLiteVersion")()}, {"base_bytes", base_bytes_}};
    reply["load_ms"] = ms_since(start);
    interpreter_->run();
    reply["first_ms"] = ms_since(start);
    for (int i = 1; i < request.value("runs", 1); ++i) {
      interpreter_->set_inputs(inputs);
      interpreter_->run();
    }
    reply["outputs"] = interpreter_->outputs(request.at("directory"));
    return reply;
  }

 private:
  Json time(std::size_t runs) {
    if (!interpreter_) throw std::runtime_error("no model is loaded");
    std::vector<double> ms;
    for (std::size_t i = 0; i < runs; ++i) {
      const auto start = Clock::now();
      interpreter_->run();
      ms.push_back(ms_since(start));
    }
    return {{"ms", ms}, {"peak_bytes", peak_bytes()}};
  }

  const Library& library_;
  std::uint64_t base_bytes_;
  std::unique_ptr<Interpreter> interpreter_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: ingot-tflite-driver LIBRARY; requests are lines of JSON (docs/verify.md)\n";
    return 2;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    Json reply;
    try {
      static const Library library(argv[1]);
      static Driver driver(library);
      reply = driver.answer(Json::parse(line));
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

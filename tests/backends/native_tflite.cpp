// Runs models in the native TFLite library.
#include "tests/backends/native_tflite.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/string_tensor.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

std::optional<DType> dtype_of_native(int type) {
  switch (type) {
    case 1:
      return DType::f32;
    case 2:
      return DType::i32;
    case 3:
      return DType::u8;
    case 4:
      return DType::i64;
    case 5:
      return DType::string;
    case 6:
      return DType::boolean;
    case 7:
      return DType::i16;
    case 9:
      return DType::i8;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 13:
      return DType::u64;
    case 16:
      return DType::u32;
    case 17:
      return DType::u16;
    default:
      return std::nullopt;
  }
}

/// The functions of the C interface that are used here.
struct Api {
  explicit Api(const std::string& path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  template <class F> F* get(const char* name) const { return reinterpret_cast<F*>(dlsym(handle, name)); }
  void* handle;
};

void put(std::string& out, const void* data, std::size_t size) { out.append(static_cast<const char*>(data), size); }

/// In the child: runs and returns what the parent reads, a text for a failure or 'o' and the outputs.
std::string run_here(const std::string& library, const std::string& model, const std::vector<Tensor>& inputs) {
  const Api api(library);
  if (!api.handle) return "the library cannot be loaded";
  void* m = api.get<void*(const void*, std::size_t)>("TfLiteModelCreate")(model.data(), model.size());
  if (!m) return "the model is refused";
  void* options = api.get<void*()>("TfLiteInterpreterOptionsCreate")();
  void* it = api.get<void*(void*, void*)>("TfLiteInterpreterCreate")(m, options);
  if (!it) return "no interpreter: an operator is missing";
  if (api.get<int(const void*)>("TfLiteInterpreterGetInputTensorCount")(it) != static_cast<int>(inputs.size()))
    return "another number of inputs";
  const auto input = api.get<void*(void*, int)>("TfLiteInterpreterGetInputTensor");
  const auto resize = api.get<int(void*, int, const int*, int)>("TfLiteInterpreterResizeInputTensor");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int> dims(inputs[i].dims().begin(), inputs[i].dims().end());
    if (resize(it, static_cast<int>(i), dims.data(), static_cast<int>(dims.size())))
      return "an input cannot be resized";
  }
  if (api.get<int(void*)>("TfLiteInterpreterAllocateTensors")(it)) return "no allocation";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    void* tensor = input(it, static_cast<int>(i));
    if (inputs[i].dtype() == DType::string) {
      const Bytes texts = formats::tflite::string_data(inputs[i].strings());
      api.get<void(std::size_t, void*)>("TfLiteTensorRealloc")(texts.size(), tensor);
      std::memcpy(api.get<void*(const void*)>("TfLiteTensorData")(tensor), texts.data(), texts.size());
    } else if (api.get<int(void*, const void*, std::size_t)>("TfLiteTensorCopyFromBuffer")(
                   tensor, inputs[i].bytes().data(), inputs[i].bytes().size())) {
      return "an input has another size";
    }
  }
  if (api.get<int(void*)>("TfLiteInterpreterInvoke")(it)) return "it does not run";
  std::string out = "o";
  const int count = api.get<int(const void*)>("TfLiteInterpreterGetOutputTensorCount")(it);
  put(out, &count, sizeof count);
  for (int i = 0; i < count; ++i) {
    const void* t = api.get<const void*(const void*, int)>("TfLiteInterpreterGetOutputTensor")(it, i);
    const int type = api.get<int(const void*)>("TfLiteTensorType")(t);
    const int rank = api.get<int(const void*)>("TfLiteTensorNumDims")(t);
    put(out, &type, sizeof type);
    put(out, &rank, sizeof rank);
    for (int d = 0; d < rank; ++d) {
      const std::int64_t size = api.get<int(const void*, int)>("TfLiteTensorDim")(t, d);
      put(out, &size, sizeof size);
    }
    const std::uint64_t bytes = api.get<std::size_t(const void*)>("TfLiteTensorByteSize")(t);
    put(out, &bytes, sizeof bytes);
    const void* data = api.get<void*(const void*)>("TfLiteTensorData")(t);
    if (bytes) put(out, data, bytes);
  }
  return out;
}

template <class T> T take(const std::string& text, std::size_t& at) {
  T value{};
  std::memcpy(&value, text.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace

std::optional<NativeTflite> NativeTflite::find() {
  NativeTflite native;
  native.library_ = test::source_dir().string() +
                    "/build/peers/node_modules/tfjs-tflite-node/cc_deps/linux_amd64/libtensorflowlite_c.so";
  return std::filesystem::exists(native.library_) ? std::optional(native) : std::nullopt;
}

NativeTflite::Result NativeTflite::run(const std::string& model, const std::vector<Tensor>& inputs) const {
  int ends[2];
  if (pipe(ends) != 0) return {"no pipe", {}};
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(1);
    const std::string text = run_here(library_, model, inputs);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[1 << 16];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || text.empty()) return {"it crashed", {}};
  if (text[0] != 'o') return {text, {}};
  Result result;
  std::size_t at = 1;
  const int count = take<int>(text, at);
  for (int i = 0; i < count; ++i) {
    const auto dtype = dtype_of_native(take<int>(text, at));
    const int rank = take<int>(text, at);
    Dims dims;
    for (int d = 0; d < rank; ++d) dims.push_back(take<std::int64_t>(text, at));
    const auto bytes = static_cast<std::size_t>(take<std::uint64_t>(text, at));
    if (!dtype) return {"an output of another type", {}};
    Bytes data = Bytes::own(text.substr(at, bytes));
    try {
      if (*dtype == DType::string) {
        std::vector<std::string> texts;
        for (const std::string_view one : formats::tflite::string_elements(data)) texts.emplace_back(one);
        result.outputs.push_back(Tensor::of_strings(dims, std::move(texts)));
      } else {
        result.outputs.emplace_back(*dtype, dims, std::move(data));
      }
    } catch (const Error& error) {
      return {"an output is damaged: " + error.message(), {}};
    }
    at += bytes;
  }
  return result;
}

}  // namespace ingot::test

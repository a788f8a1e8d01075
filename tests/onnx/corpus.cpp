// The models that tests of the reader, the writer and the text syntax go through.
#include "tests/onnx/corpus.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

#include "ingot/onnx/reader.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

/// Models that cannot be read, with the reason: damaged on purpose by those who made them, or without their data file.
const std::map<std::string, Code> kRefused = {
    {"corpus/onnx/ort_csharp_testdata/conv_qdq_external_ini.onnx", Code::cannot_open},
    {"corpus/onnx/ort_testdata/icm-31000000518082.onnx", Code::bad_wire_type},
    {"corpus/onnx/winml/corrupt-model.onnx", Code::unmatched_group},
};

std::vector<std::string> model_names(const std::filesystem::path& shared) {
  std::vector<std::string> names;
  for (const char* directory : {"onnx-backend-tests", "corpus/onnx"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shared / directory))
      if (entry.is_regular_file() && entry.path().extension() == ".onnx")
        names.push_back(std::filesystem::relative(entry.path(), shared).string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

void for_each_shared_model(const std::function<void(const std::string& name, const Model& model)>& visit) {
  const auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "the shared models are not there: set INGOT_SHARED";
  int read = 0, refused = 0;
  for (const std::string& name : model_names(*shared)) {
    const auto expected = kRefused.find(name);
    try {
      const Model model = onnx::read((*shared / name).string());
      ++read;
      if (expected != kRefused.end()) ADD_FAILURE() << name << " was read but ought to be refused";
      visit(name, model);
    } catch (const Error& error) {
      ++refused;
      if (expected == kRefused.end())
        ADD_FAILURE() << error.what();
      else
        EXPECT_EQ(error.code(), expected->second) << error.what();
    }
  }
  std::cout << read << " models read, " << refused << " refused\n";
  EXPECT_GT(read, 2800);
}

}  // namespace ingot::test

// Which format a file or directory is of.
#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "tests/driver/sources.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using driver::Certainty;

class Recognition : public testing::Test {
 protected:
  std::string format_of(const std::string& path) const {
    return std::string(driver::recognise(driver::open_source(path)).name);
  }

  std::string refusal(const std::string& path) const try {
    return "recognised as " + format_of(path);
  } catch (const Error& error) {
    return error.what();
  }

  std::string refusal_of_load(const std::string& path) const try {
    return "read as " + std::string(driver::load(path).format->name);
  } catch (const Error& error) {
    return error.what();
  }

  test::TempDir directory_;
};

TEST_F(Recognition, ContentsTellWhateverTheNameSays) {
  EXPECT_EQ(format_of(test::write_onnx(directory_, "a.tflite")), "onnx");
  EXPECT_EQ(format_of(test::write_onnx_text(directory_, "b.onnx")), "onnxtxt");
  EXPECT_EQ(format_of(test::write_tflite(directory_, "c.pb")), "tflite");
  EXPECT_EQ(format_of(test::write_tensorflow(directory_, "d.onnxtxt")), "tensorflow");
  fs::copy_file(fs::path(test::write_saved_model(directory_)) / "saved_model.pbtxt", directory_ / "e.tflite");
  EXPECT_EQ(format_of(directory_ / "e.tflite"), "savedmodel");
  fs::copy_file(fs::path(test::write_tfjs(directory_)) / "model.json", directory_ / "f.onnx");
  EXPECT_EQ(format_of(directory_ / "f.onnx"), "tfjs");
}

TEST_F(Recognition, BinaryGraphsAreKnownByTheirStructure) {
  // GraphDef { node { name: "x" op: "NoOp" } }
  test::write_text(directory_ / "graph.onnx", "\x0a\x09\x0a\x01x\x12\x04NoOp");
  EXPECT_EQ(format_of(directory_ / "graph.onnx"), "tensorflow");
  // SavedModel { saved_model_schema_version: 1 meta_graphs { graph_def { that } } }
  test::write_text(directory_ / "saved.onnx", "\x08\x01\x12\x0d\x12\x0b\x0a\x09\x0a\x01x\x12\x04NoOp");
  EXPECT_EQ(format_of(directory_ / "saved.onnx"), "savedmodel");
}

TEST_F(Recognition, DirectoriesTellByTheFilesThatTheirFormatPrescribes) {
  const std::string saved = test::write_saved_model(directory_), web = test::write_tfjs(directory_);
  EXPECT_EQ(format_of(saved), "savedmodel");
  EXPECT_EQ(format_of(web), "tfjs");
  fs::copy_file(fs::path(web) / "model.json", fs::path(saved) / "model.json");
  EXPECT_EQ(format_of(saved), "savedmodel") << "the surer one wins";
}

TEST_F(Recognition, ADirectoryOfVersionsIsRefusedWithTheNewest) {
  fs::create_directory(directory_ / "versions");
  const std::string versions = directory_ / "versions";
  EXPECT_EQ(refusal(versions), versions + ": the directory holds no model of a format that Ingot knows [IG0701]");
  test::write_saved_model(directory_, "versions/7");
  test::write_saved_model(directory_, "versions/6");
  EXPECT_EQ(refusal(versions), versions + ": the directory holds no model of a format that Ingot knows [IG0701]\n" +
                                   "  hint: there is one in " + versions + "/7");
}

TEST_F(Recognition, TheNameTellsWhereContentsDoNot) {
  test::write_text(directory_ / "what.onnx", "\x07");
  EXPECT_EQ(format_of(directory_ / "what.onnx"), "onnx");
  test::write_text(directory_ / "WHAT.TFLITE", "\x07");
  EXPECT_EQ(format_of(directory_ / "WHAT.TFLITE"), "tflite");
}

TEST_F(Recognition, AServersMessageIsNoModel) {
  for (const char* said : {"{\"error\": \"not found\"}", "Entry not found\n", "Access denied\r\nask for it"})
    for (const char* name : {"m.onnx", "m.tflite", "m.pb", "m.h5", "m.keras", "m.pt", "m.safetensors"}) {
      test::write_text(directory_ / name, said);
      try {
        driver::load(directory_ / name);
        ADD_FAILURE() << name << " was read: " << said;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::unknown_format) << error.what();
        const std::string line = std::string(said).substr(0, std::string(said).find_first_of("\r\n"));
        EXPECT_NE(error.message().find("not a model; it begins: " + line), std::string::npos) << error.what();
      }
    }
}

TEST_F(Recognition, WhatIsNoModelIsNamedWithWhatToDo) {
  using namespace std::string_literals;
  const std::string tar = std::string(257, '\0') + "ustar\0"s;
  const std::tuple<std::string, std::string, std::string> kFiles[] = {
      {"", "empty", "download or export it again"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n", "a Git LFS pointer", "git lfs pull"},
      {"\n<!DOCTYPE html>\n<html lang=en>", "a page of the web", "the link to the file itself"},
      {"<html><body>404</body></html>", "a page of the web", "the link to the file itself"},
      {"\x1f\x8b\x08"s, "compressed by gzip", "gunzip"},
      {"PK\x03\x04...readme.md"s, "a zip archive", "unpack it"},
      {"PK\x03\x04...archive/data.pkl"s, "a PyTorch file", "leave --from out"},
      {"PK\x03\x04...model.weights.h5"s, "a Keras file", "SavedModel"},
      {tar, "a tar archive", "tar -xf"},
      {"\x10\0\0\0PTMF...."s, "bytecode of PyTorch's Lite interpreter", "TorchScript file"},
      {"7z\xbc\xaf\x27\x1c"s, "a 7z archive", "unpack it"},
  };
  for (const auto& [contents, what, remedy] : kFiles)
    for (const char* name : {"m.onnx", "m.tflite", "m.bin"})
      for (const driver::Format* from :
           {static_cast<const driver::Format*>(nullptr), &driver::format_by_name("onnx")}) {
        test::write_text(directory_ / name, contents);
        try {
          driver::load(directory_ / name, {.from = from});
          ADD_FAILURE() << "read: " << what;
        } catch (const Error& error) {
          EXPECT_EQ(error.exit_code(), 3);
          EXPECT_NE(std::string(error.what()).find("the file is " + what), std::string::npos) << error.what();
          EXPECT_NE(error.hint_text().find(remedy), std::string::npos) << error.what();
        }
      }
}

TEST_F(Recognition, WhatAServerSaysInPlaceOfAFileIsNamed) {
  const std::pair<const char*, const char*> kAnswers[] = {
      {"Entry not found", "the file is a text, not a model; it begins: Entry not found"},
      {"\n Invalid username or password.\n", "it begins: Invalid username or password."},
      {R"({"error":"Repository not found"})", R"(the file is JSON, not a model; it begins: {"error":"Repository)"},
      {R"([{"message": "API rate limit exceeded"}])", "the file is JSON"},
  };
  for (const auto& [contents, what] : kAnswers)
    for (const char* name : {"m.onnx", "M.ONNX", "m.tflite", "m.pb", "m.h5", "m.keras", "m.pt", "m.safetensors"}) {
      test::write_text(directory_ / name, contents);
      EXPECT_NE(refusal_of_load(directory_ / name).find(what), std::string::npos) << name << ": " << contents;
    }
  test::write_text(directory_ / "m.onnx", std::string(100, '\0'));
  EXPECT_NE(refusal_of_load(directory_ / "m.onnx").find("nothing but zeros"), std::string::npos);
}

TEST_F(Recognition, PicklesAreKnownAlsoWhereTheyAreCompressed) {
  const std::string plain = test::write_source(directory_, "sklearn");
  EXPECT_EQ(format_of(plain), "sklearn");
  // {'a': [1] * 30}, by pickle.dumps and gzip.compress of Python
  using namespace std::string_literals;
  const std::string packed =
      "\x1f\x8b\x08\0\0\0\0\0\x02\x03k`\xaa-d\x88`d``H,d\x8c-d\xd2\xf0"s
      "f$\x1f\xa6\x16\xeb\x01\0\xea\x05*5P\0\0\0"s;
  test::write_text(directory_ / "m.gz", packed);
  EXPECT_EQ(format_of(directory_ / "m.gz"), "sklearn");
  test::write_text(directory_ / "m.gz", packed.substr(0, 12));
  EXPECT_NE(refusal(directory_ / "m.gz").find("compressed by gzip"), std::string::npos);
  driver::LoadOptions options;
  options.from = &driver::format_by_name("onnx");
  try {
    driver::load(plain, options);
    FAIL() << "read as ONNX";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a pickle of Python"), std::string::npos) << error.what();
  }
}

TEST_F(Recognition, AnOnnxFileWithoutAGraphIsNone) {
  test::write_text(directory_ / "m.onnx", "\x08\x08");  // ir_version: 8
  EXPECT_NE(refusal_of_load(directory_ / "m.onnx").find("the file holds no graph"), std::string::npos);
}

TEST_F(Recognition, WhatNothingTellsIsRefusedWithTheNamesThatFromTakes) {
  for (const char* name : {"what.bin", "what.json"}) {  // descriptions are written, not read
    test::write_text(directory_ / name, "what?");
    const std::string text = refusal(directory_ / name);
    EXPECT_EQ(
        text.find(directory_ / name + std::string(": the format of this file is not recognised [IG0701]\n"
                                                  "  hint: name it with --from: onnx, onnxtxt, tflite, "
                                                  "tensorflow, savedmodel, tfjs, keras, torch, safetensors, sklearn")),
        0U)
        << text;
  }
}

TEST_F(Recognition, NoTwoFormatsAreEquallySure) {
  for (const driver::Format* format : driver::all_formats()) {
    if (!format->load || format->name == "toy") continue;
    const driver::Source source = driver::open_source(test::write_source(directory_, std::string(format->name)));
    const Certainty own = format->recognise(source);
    EXPECT_GT(own, Certainty::no) << format->name;
    for (const driver::Format* other : driver::all_formats()) {
      if (other == format || !other->recognise) continue;
      EXPECT_LT(other->recognise(source), own) << format->name << ' ' << other->name;
    }
  }
}

TEST_F(Recognition, FromWins) {
  driver::LoadOptions options;
  options.from = &driver::format_by_name("onnxtxt");
  try {
    driver::load(test::write_tflite(directory_), options);
    FAIL() << "read as text";
  } catch (const Error& error) {
    EXPECT_NE(error.code(), Code::unknown_format) << error.what();
  }
  options.from = &driver::format_by_name("tensorflow");
  EXPECT_EQ(driver::load(test::write_saved_model(directory_), options).format->name, "savedmodel");
}

TEST_F(Recognition, EverySourceIsLoadedAsWhatItIs) {
  for (const char* name : {"onnx", "onnxtxt", "tflite", "tensorflow", "savedmodel", "tfjs", "torch", "safetensors",
                           "sklearn", "xgboost", "lightgbm", "catboost", "libsvm", "liblinear"})
    EXPECT_EQ(driver::load(test::write_source(directory_, name)).format->name, name);
}

TEST(FormatTable, UnknownNamesAreRefusedWithThoseKnown) {
  try {
    driver::format_by_name("caffe");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what())
                  .find("there is no format 'caffe' [IG1301]\n  hint: known formats: onnx, onnxtxt, tflite, "
                        "tensorflow, savedmodel, tfjs, keras, torch, torch-source, safetensors, sklearn"),
              0U)
        << error.what();
  }
}

TEST(FormatTable, WhatCannotBeWrittenIsRefusedWithWhatCan) {
  for (const auto& [path, message] :
       {std::pair{"m.pkl",
                  "m.pkl: scikit-learn pickle files cannot be written [IG1301]\n  hint: formats that can: onnx"},
        std::pair{"m",
                  "m: the extension of the output does not name a format [IG1301]\n  hint: name it with --to: onnx"}})
    try {
      driver::format_to_write(path, nullptr);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find(message), 0U) << error.what();
    }
}

TEST(FormatTable, DescriptionsCannotBeRead) {
  const test::TempDir directory;
  driver::LoadOptions options;
  options.from = &driver::format_by_name("json");
  try {
    driver::load(test::write_onnx(directory), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "JSON description files cannot be read");
    EXPECT_EQ(error.hint_text().find("formats that can: onnx, onnxtxt, tflite"), 0U) << error.hint_text();
  }
}

}  // namespace
}  // namespace ingot

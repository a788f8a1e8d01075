// Other runtimes: what they answer, and what is answered when they cannot.
#include "ingot/verify/peer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ingot/driver/load.h"
#include "ingot/onnx/text.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"
#include "tests/verify/peers.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using verify::Peer;
using verify::Runtime;

constexpr const char* kSum = R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2] x, float[2] y) => (float[2] z) { z = Sub(x, y) })";

/// A program that stands in for node, and packages that look installed.
verify::Peers stand_in(const test::TempDir& directory, const std::string& script) {
  verify::Peers peers;
  peers.node = directory / "node";
  test::write_text(peers.node, "#!/bin/sh\n" + script + "\n");
  fs::permissions(peers.node, fs::perms::owner_all);
  peers.packages = directory / "node_modules";
  fs::create_directories(peers.packages + "/onnxruntime-node");
  peers.time = std::chrono::milliseconds(500);
  return peers;
}

std::string error_of(const verify::Peers& peers) { return Peer(Runtime::ort, peers).run({.model = "m.onnx"}).error; }

TEST(Peer, ThatCrashesIsAnAnswer) {
  const test::TempDir directory;
  EXPECT_NE(error_of(stand_in(directory, "read line; kill -SEGV $$")).find("crashed"), std::string::npos);
}

TEST(Peer, ThatHangsIsAnAnswer) {
  const test::TempDir directory;
  EXPECT_EQ(error_of(stand_in(directory, "exec sleep 60")), "it did not answer in time");
}

TEST(Peer, ThatTalksNonsenseIsAnAnswer) {
  const test::TempDir directory;
  EXPECT_NE(error_of(stand_in(directory, "read line; echo hello; sleep 1")).find("not understood"), std::string::npos);
}

TEST(Peer, ThatIsAbsentSaysHowToInstallIt) {
  const std::string error = error_of({});
  EXPECT_NE(error.find("npm install"), std::string::npos) << error;
  EXPECT_NE(error.find("onnxruntime-node"), std::string::npos) << error;
}

TEST(Peer, IsStartedAgainAfterACrash) {
  const test::TempDir directory;
  // It lives for one request; the second process answers.
  const std::string script = "if [ -e '" + (directory / "was_here") +
                             "' ]; then read line; echo '{\"outputs\": []}'; " + "sleep 5; else touch '" +
                             (directory / "was_here") + "'; read line; exit 3; fi";
  Peer peer(Runtime::ort, stand_in(directory, script));
  EXPECT_EQ(peer.run({.model = "m.onnx"}).error, "it ended with exit code 3");
  EXPECT_EQ(peer.run({.model = "m.onnx"}).error, "");
}

TEST(Peer, OnnxRuntimeSubtractsByName) {
  const verify::Peers peers = test::peers();
  if (const auto missing = verify::why_missing(peers, Runtime::ort)) GTEST_SKIP() << *missing;
  const test::TempDir directory;
  driver::save(onnx::parse_text(kSum), directory / "m.onnx");
  Peer peer(Runtime::ort, peers);
  const auto answer =
      peer.run({.model = directory / "m.onnx",
                .inputs = {{"y", Array::of<float>({2}, {1, 2})}, {"x", Array::of<float>({2}, {9, 9})}}});
  ASSERT_EQ(answer.error, "");
  ASSERT_EQ(answer.outputs.size(), 1u);
  EXPECT_EQ(answer.outputs[0].name, "z");
  EXPECT_EQ(answer.outputs[0].value.array()->to_doubles(), (std::vector<double>{8, 7}));
  EXPECT_FALSE(answer.version.empty());
  const auto times = peer.time(3);
  EXPECT_EQ(times.ms.size(), 3u);
  EXPECT_GT(times.peak_bytes, 1u << 20);
  EXPECT_NE(peer.run({.model = directory / "nothing.onnx"}).error, "");
}

TEST(Runtimes, AreKnownByName) {
  for (const verify::RuntimeInfo& info : verify::all_runtimes())
    EXPECT_EQ(verify::runtime_by_name(info.name), info.runtime);
  EXPECT_REFUSED(Code::bad_usage, verify::runtime_by_name("abacus"));
  EXPECT_EQ(verify::why_missing({}, Runtime::ingot), std::nullopt);
}

}  // namespace
}  // namespace ingot

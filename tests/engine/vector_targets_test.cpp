// The kernels that are chosen are those that Highway's own library would choose.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace {

TEST(VectorTargets, AreThoseThatHighwayFinds) {
#if HWY_ARCH_X86
  void* library = ::dlopen("libhwy.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) GTEST_SKIP() << "Highway's library is not installed";
  const auto theirs = reinterpret_cast<std::int64_t (*)()>(::dlsym(library, "_ZN3hwy16SupportedTargetsEv"));
  ASSERT_NE(theirs, nullptr);
  ASSERT_NE(theirs, &hwy::SupportedTargets);
  constexpr std::int64_t kKnown = HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3;
  EXPECT_EQ(hwy::SupportedTargets() & kKnown, theirs() & kKnown);
#else
  GTEST_SKIP() << "other processors ask Highway's library";
#endif
}

}  // namespace

// Which vectors this processor has, for Highway's choice among kernels. Its library tells it too, but measures the
// machine's clock first, for more than two milliseconds in every program that loads it: its headers are enough.
#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>

namespace hwy {
namespace {

constinit ChosenTarget chosen;

bool converts_halves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/// What Highway compiles each of them for, and whether the system keeps such registers.
std::int64_t find_targets() {
  std::int64_t targets = HWY_ENABLED_BASELINE;
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.1") || !__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul") ||
      !__builtin_cpu_supports("aes"))
    return targets;
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("fma") || !converts_halves())
    return targets;
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw"))
    return targets;
  return targets | HWY_AVX3;
}

}  // namespace

ChosenTarget& GetChosenTarget() { return chosen; }

std::int64_t SupportedTargets() { return find_targets(); }

}  // namespace hwy
#endif

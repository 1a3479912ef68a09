#include "executors/cpu/instructions.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace thunder {

Instructions instructions_of_this_machine() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#elif defined(__aarch64__)
  return Instructions::neon;
#endif
  return Instructions::none;
}

#if defined(__x86_64__) && defined(__linux__)
constexpr long kStatesThereAre = 0x1021, kAskForState = 0x1023, kTileData = 18;  // ARCH_GET_XCOMP_SUPP, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA

bool tile_registers_of_this_machine() {
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24;  // Intel's manual, CPUID leaf 7
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kBf16) || !(d & kTiles) || !__builtin_cpu_supports("avx512bw")) return false;
  uint64_t states = 0;
  return syscall(SYS_arch_prctl, kStatesThereAre, &states) == 0 && states >> kTileData & 1;
}

bool enable_tile_registers() {
  static const bool enabled = syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
  return enabled;
}
#else
bool tile_registers_of_this_machine() { return false; }
bool enable_tile_registers() { return false; }
#endif

}  // namespace thunder

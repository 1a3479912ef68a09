#include "base/machine.h"

#include <unistd.h>

#include <algorithm>

#include "base/cpu_count.h"
#include "base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#endif

namespace thunder {
namespace {

// 0 if the system does not tell.
size_t read_sysconf(int name) {
  const long number = ::sysconf(name);
  return number > 0 ? static_cast<size_t>(number) : 0;
}

void read_caches(Machine& m) {
  if (const size_t page = read_sysconf(_SC_PAGESIZE)) m.page = page;
#ifdef _SC_LEVEL3_CACHE_SIZE  // glibc
  // Virtual machines report the whole cache of a host that others use as well; more than this for each processor is not
  // ours.
  constexpr size_t kShare = size_t{16} << 20;
  if (const size_t line = read_sysconf(_SC_LEVEL1_DCACHE_LINESIZE)) m.line = line;
  m.l1 = std::max(m.l1, read_sysconf(_SC_LEVEL1_DCACHE_SIZE));
  m.l2 = read_sysconf(_SC_LEVEL2_CACHE_SIZE);
  m.last_level = std::min(read_sysconf(_SC_LEVEL3_CACHE_SIZE), kShare * read_sysconf(_SC_NPROCESSORS_ONLN));
  if (const size_t ways = read_sysconf(_SC_LEVEL1_DCACHE_ASSOC)) m.conflict_stride = m.l1 / ways;
#endif
}

#if defined(__x86_64__)
std::string processor() {
  constexpr unsigned kBrand = 0x80000002;  // three leaves of text
  std::string out;
  unsigned words[4] = {};
  for (unsigned leaf = kBrand; leaf < kBrand + 3; leaf++)
    if (__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]))
      out.append(reinterpret_cast<const char*>(words), sizeof words);
  out = out.c_str();  // without the zeros at its end
  if (__get_cpuid(1, &words[0], &words[1], &words[2], &words[3]))
    append(out, cat(" ", words[0]));  // family, model, stepping
  return out;
}

#if defined(__linux__)
bool has_tile_registers() {
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24;               // Intel's manual, CPUID leaf 7
  constexpr long kGetSupportedStates = 0x1021, kTileData = 18;  // ARCH_GET_XCOMP_SUPP, XFEATURE_XTILEDATA
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kBf16) || !(d & kTiles) || !__builtin_cpu_supports("avx512bw"))
    return false;
  uint64_t states = 0;
  return syscall(SYS_arch_prctl, kGetSupportedStates, &states) == 0 && states >> kTileData & 1;
}
#else
bool has_tile_registers() { return false; }
#endif

// Instruction set extensions that a compiler may use for numeric loops.
std::string extensions() {
  std::string out;
#define THUNDER_EXTENSION(name) \
  if (__builtin_cpu_supports(name)) out += out.empty() ? name : " " name
  THUNDER_EXTENSION("sse3");
  THUNDER_EXTENSION("ssse3");
  THUNDER_EXTENSION("sse4.1");
  THUNDER_EXTENSION("sse4.2");
  THUNDER_EXTENSION("popcnt");
  THUNDER_EXTENSION("avx");
  THUNDER_EXTENSION("avx2");
  THUNDER_EXTENSION("fma");
  THUNDER_EXTENSION("bmi");
  THUNDER_EXTENSION("bmi2");
  THUNDER_EXTENSION("avx512f");
  THUNDER_EXTENSION("avx512vl");
  THUNDER_EXTENSION("avx512bw");
  THUNDER_EXTENSION("avx512dq");
  THUNDER_EXTENSION("avx512cd");
  THUNDER_EXTENSION("avx512ifma");
  THUNDER_EXTENSION("avx512vbmi");
  THUNDER_EXTENSION("avx512vbmi2");
  THUNDER_EXTENSION("avx512vnni");
  THUNDER_EXTENSION("avx512bitalg");
  THUNDER_EXTENSION("avx512vpopcntdq");
  THUNDER_EXTENSION("avx512bf16");
  THUNDER_EXTENSION("gfni");
  THUNDER_EXTENSION("vpclmulqdq");
#undef THUNDER_EXTENSION
  return out;
}

void read_processor(Machine& m) {
  m.processor = processor();
  m.extensions = extensions();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    m.instructions = Instructions::avx512, m.vector_bytes = 64, m.vector_registers = 32;
    m.bf16_dot_products = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw");
    m.tile_registers = has_tile_registers();
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
    m.instructions = Instructions::avx2, m.vector_bytes = 32;
  }
}
#elif defined(__aarch64__)
void read_processor(Machine& m) {
  m.processor = "AArch64";
  m.instructions = Instructions::neon, m.vector_registers = 32;
}
#else
void read_processor(Machine&) {}
#endif

}  // namespace

const char* name(Instructions i) {
  constexpr const char* kNames[] = {"none", "neon", "avx2", "avx512"};
  return kNames[static_cast<size_t>(i)];
}

std::string kind_of(const Machine& m) {
  return cat(m.processor, " with ", m.extensions.empty() ? name(m.instructions) : m.extensions);
}

Machine read_machine() {
  Machine m;
  read_processor(m);
  read_caches(m);
  m.threads = thread_count();
  return m;
}

}  // namespace thunder

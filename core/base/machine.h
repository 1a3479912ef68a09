// The machine that a program is compiled for and runs on, as far as decisions depend on it: a plain value, so that a
// test can ask for the schedule of a machine that is not at hand. A context reads it once and hands it to whatever
// plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace thunder {

// Vector instructions that kernels are compiled for: one translation unit each.
enum class Instructions : uint8_t { none, neon, avx2, avx512 };
const char* name(Instructions i);  // "none", "neon", "avx2", "avx512"

// Bytes of a cache line that kernels are compiled for: every x86-64, and AArch64 servers. Machine::line is what the
// system reports.
constexpr size_t kCacheLine = 64;

struct Machine {
  std::string processor;  // its own name, family, model and stepping: what measurements that are kept on disk belong to
  std::string extensions;  // sets of instructions beyond the architecture's first, as compilers name them: "avx2 fma"
  Instructions instructions = Instructions::none;
  bool bf16_dot_products = false;  // avx512_bf16
  bool tile_registers = false;     // AMX for bf16, and a system that can save its registers

  size_t vector_bytes = 16, vector_registers = 16;

  // Bytes; 0: the system does not say. The last level is shared: this is the part of it that may be counted on.
  size_t line = kCacheLine;
  size_t l1 = 32 << 10, l2 = 0, last_level = 0;
  // Bytes between addresses that compete for the same few lines of the first level: its size over its ways.
  size_t conflict_stride = 4096;
  size_t page = 4096;

  size_t threads = 1;  // of the context's pool, the caller's among them
};

// Identifies machines that can run each other's machine code: equal texts mean machines of one kind.
std::string kind_of(const Machine& machine);

// Reads the machine's properties from the processor and the system. Throws where THUNDER_NUM_THREADS is malformed.
Machine read_machine();

}  // namespace thunder

// Machines to plan for: the one at hand, parts of it, and ones that are described, so that schedules for them are tested anywhere.
#pragma once

#include <array>

#include "base/machine.h"

namespace thunder::test {

inline const Machine& this_machine() {
  static const Machine m = read_machine();
  return m;
}

// The machine at hand as if it had no better vectors than these; it lives as long as the process, as executors need it.
inline const Machine& limited_to(Instructions instructions) {
  static const auto limited = [] {
    std::array<Machine, 4> out;
    for (size_t i = 0; i < out.size(); i++) {
      out[i] = this_machine();
      out[i].instructions = static_cast<Instructions>(i);
      if (out[i].instructions < Instructions::avx512) out[i].bf16_dot_products = out[i].tile_registers = false;
    }
    return out;
  }();
  return limited[static_cast<size_t>(instructions)];
}

// A machine of which nothing is known but its caches; bytes.
inline Machine with_caches(size_t l1, size_t l2, size_t last_level) {
  Machine m;
  m.l1 = l1, m.l2 = l2, m.last_level = last_level;
  return m;
}

// Sizes in bytes, by the vendors' documents; the last level is what one virtual machine of two processors may count on.
inline Machine zen3() {
  Machine m;
  m.processor = "AMD EPYC 7003", m.instructions = Instructions::avx2, m.vector_bytes = 32, m.vector_registers = 16;
  m.l1 = 32 << 10, m.l2 = 512 << 10, m.last_level = 32 << 20, m.conflict_stride = 4096, m.threads = 2;
  return m;
}
inline Machine sapphire_rapids() {
  Machine m;
  m.processor = "Intel Xeon 8481C", m.instructions = Instructions::avx512, m.vector_bytes = 64, m.vector_registers = 32;
  m.bf16_dot_products = m.tile_registers = true;
  m.l1 = 48 << 10, m.l2 = 2 << 20, m.last_level = 32 << 20, m.conflict_stride = 4096, m.threads = 8;
  return m;
}
inline Machine neoverse_n1() {
  Machine m;
  m.processor = "Neoverse N1", m.instructions = Instructions::neon, m.vector_bytes = 16, m.vector_registers = 32;
  m.l1 = 64 << 10, m.l2 = 1 << 20, m.last_level = 16 << 20, m.conflict_stride = 16 << 10, m.threads = 4;
  return m;
}
// A small core whose system tells nothing of its caches.
inline Machine unknown_machine() {
  Machine m;
  m.processor = "unknown";
  return m;
}
inline const std::array<Machine, 4>& described_machines() {
  static const std::array<Machine, 4> all = {zen3(), sapphire_rapids(), neoverse_n1(), unknown_machine()};
  return all;
}

}  // namespace thunder::test

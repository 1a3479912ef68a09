// Kernels for a machine that is not here: AArch64, whose vectors have 128 bits, and which can neither mask nor gather.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "loops/kernels.h"

namespace thunder::loops {

constexpr TargetOptions kAArch64 = {"aarch64-unknown-linux-gnu", "neoverse-n1", ""};
constexpr TargetOptions kAvx2 = {"x86_64-unknown-linux-gnu", "x86-64-v3", ""}, kAvx512 = {"x86_64-unknown-linux-gnu", "x86-64-v4", ""};

// What an object says of itself.
struct Elf {
  uint16_t machine = EM_NONE;
  std::set<std::string> undefined;  // what it calls of others

  explicit Elf(const std::vector<char>& code) {
    const auto at = [&](size_t offset, auto& to) {
      if (offset + sizeof to > code.size()) return false;
      std::memcpy(&to, code.data() + offset, sizeof to);
      return true;
    };
    Elf64_Ehdr header;
    if (!at(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    machine = header.e_machine;
    for (size_t i = 0; i < header.e_shnum; i++) {
      Elf64_Shdr symbols, names;
      if (!at(header.e_shoff + i * sizeof symbols, symbols) || symbols.sh_type != SHT_SYMTAB || !at(header.e_shoff + symbols.sh_link * sizeof names, names)) continue;
      Elf64_Sym symbol;
      for (size_t k = 1; k < symbols.sh_size / sizeof symbol; k++)
        if (at(symbols.sh_offset + k * sizeof symbol, symbol) && symbol.st_shndx == SHN_UNDEF) undefined.insert(code.data() + names.sh_offset + symbol.st_name);
    }
  }
};

// An object for AArch64 comes of the nest, and calls nothing that code for x86 does not call as well, which runs here. So does one
// for AVX-512, which tests may run without.
inline void expect_emitted_elsewhere(const CpuNest& nest) {
  static std::set<std::string> known;
  if (!known.insert(print(nest)).second) return;
  const Object made = compile_for(kAArch64, nest);
  ASSERT_EQ(made.error, "") << print(nest);
  ASSERT_EQ(compile_for(kAvx512, nest).error, "") << print(nest);
  const Elf there(made.code);
  EXPECT_EQ(there.machine, EM_AARCH64) << print(nest);
  if (there.undefined.empty()) return;
  const Elf here(compile_for(kAvx2, nest).code);
  EXPECT_EQ(here.machine, EM_X86_64);
  for (const std::string& name : there.undefined) EXPECT_TRUE(here.undefined.contains(name)) << name << " is called in\n" << print(nest);
}

}  // namespace thunder::loops

#include "loops/perf_map.h"

#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace thunder::loops {
namespace {

bool is_enabled() {
  static const bool asked = [] {
    const char* value = ::secure_getenv("THUNDER_PERF_MAP");
    return value && std::string_view(value) == "1";
  }();
  return asked;
}

template <class T>
bool read(std::string_view object, uint64_t at, T& out) {
  if (at > object.size() || object.size() - at < sizeof(T)) return false;
  std::memcpy(&out, object.data() + at, sizeof(T));
  return true;
}

}  // namespace

void record_code(const void* address, size_t bytes, std::string_view name) noexcept {
  if (!is_enabled() || !bytes) return;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  char path[64];
  std::snprintf(path, sizeof path, P_tmpdir "/perf-%d.map", static_cast<int>(::getpid()));
  std::FILE* file = std::fopen(path, "a");
  if (!file) return;
  std::fprintf(file, "%zx %zx thunder:%.*s\n", reinterpret_cast<size_t>(address), bytes, static_cast<int>(name.size()),
               name.data());
  std::fclose(file);
}

size_t function_bytes(std::string_view object, std::string_view name) {
  Elf64_Ehdr head;
  if (!read(object, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (size_t i = 0; i < head.e_shnum; i++) {
    Elf64_Shdr symbols, names;
    if (!read(object, head.e_shoff + i * sizeof symbols, symbols) || symbols.sh_type != SHT_SYMTAB) continue;
    if (!read(object, head.e_shoff + symbols.sh_link * sizeof names, names)) return 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read(object, symbols.sh_offset + at, symbol)) return 0;
      const uint64_t text = names.sh_offset + symbol.st_name;
      if (text < object.size() && object.substr(text, name.size() + 1) == std::string(name) + '\0')
        return symbol.st_size;
    }
  }
  return 0;
}

}  // namespace thunder::loops

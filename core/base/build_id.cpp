#include "base/build_id.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace thunder {
namespace {

struct Search {
  uintptr_t address;
  std::string found;
};

std::string hexadecimal(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4];
    out += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

// The id among the notes of a segment: each has a head, a name and a description, padded to words.
std::string find_build_id_note(std::string_view notes) {
  const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  for (ElfW(Nhdr) head; notes.size() >= sizeof head;) {
    std::memcpy(&head, notes.data(), sizeof head);
    const size_t name = padded(head.n_namesz), bytes = sizeof head + name + padded(head.n_descsz);
    if (bytes > notes.size()) break;
    if (head.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof head, head.n_namesz) == std::string_view("GNU", 4))
      return hexadecimal(notes.substr(sizeof head + name, head.n_descsz));
    notes.remove_prefix(bytes);
  }
  return "";
}

int search_loaded_object(dl_phdr_info* file, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* const end = file->dlpi_phdr + file->dlpi_phnum;
  const bool here = std::any_of(file->dlpi_phdr, end, [&](const ElfW(Phdr) & p) {
    return p.p_type == PT_LOAD && search.address - (file->dlpi_addr + p.p_vaddr) < p.p_memsz;
  });
  if (!here) return 0;
  for (const ElfW(Phdr)* p = file->dlpi_phdr; p != end && search.found.empty(); p++)
    if (p->p_type == PT_NOTE)
      search.found = find_build_id_note({reinterpret_cast<const char*>(file->dlpi_addr + p->p_vaddr), p->p_memsz});
  return 1;
}

}  // namespace

std::string file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

std::string build_id(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(search_loaded_object, &search);
  struct stat facts {};
  if (!search.found.empty() || ::stat(file_of(address).c_str(), &facts) != 0) return search.found;
  return cat(static_cast<int64_t>(facts.st_size), " bytes of ", static_cast<int64_t>(facts.st_mtim.tv_sec), ".",
             static_cast<int64_t>(facts.st_mtim.tv_nsec));
}

}  // namespace thunder

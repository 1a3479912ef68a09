#include "loops/object_file.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "base/text.h"
#include "loops/callable.h"

namespace thunder::loops {
namespace {

constexpr uint64_t kPage = 4096;             // of x86-64
constexpr uint64_t kMaxBytes = 64 << 20;    // of a loaded object

constexpr uint64_t round_up(uint64_t bytes, uint64_t align) { return (bytes + align - 1) / align * align; }

// Memory that is written first, and then read or run.
class Mapping {
 public:
  explicit Mapping(uint64_t bytes) : bytes_(bytes) {
    void* made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made != MAP_FAILED) at_ = static_cast<std::byte*>(made);
  }
  ~Mapping() {
    if (at_) ::munmap(at_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  std::byte* at() const { return at_; }
  void release() { at_ = nullptr; }
  bool protect(uint64_t code_bytes) const {
    return ::mprotect(at_, code_bytes, PROT_READ | PROT_EXEC) == 0 &&
           (bytes_ == code_bytes || ::mprotect(at_ + code_bytes, bytes_ - code_bytes, PROT_READ) == 0);
  }

 private:
  std::byte* at_ = nullptr;
  uint64_t bytes_;
};

class ObjectFile {
 public:
  explicit ObjectFile(std::string_view bytes) : bytes_(bytes) {}

  KernelFn load(const char* name) {
    read_sections();
    read_symbols();
    const uint64_t code = assign_addresses(true, 0), data = assign_addresses(false, code);
    got_ = data;
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_RELA) find_got_entries(s);
    Mapping memory(round_up(std::max<uint64_t>(1, got_ + 8 * got_entries_.size()), kPage));
    require(memory.at() != nullptr, "there is no memory for it");
    base_ = memory.at();
    copy_sections();
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_RELA) relocate(s);
    const Elf64_Sym* found = nullptr;
    for (const Elf64_Sym& s : symbols_)
      if (s.st_shndx != SHN_UNDEF && name_of(s) == name) found = &s;
    require(found && is_code(found->st_shndx), "it has no function '", name, "'");
    const uint64_t at = address(*found);
    require(memory.protect(code), "its code may not be run here");
    memory.release();
    return reinterpret_cast<KernelFn>(at);
  }

 private:
  template <class T>
  T read(uint64_t at) const {
    T out;
    require(at <= bytes_.size() && sizeof out <= bytes_.size() - at, "it is cut short");
    std::memcpy(&out, bytes_.data() + at, sizeof out);
    return out;
  }
  template <class T>
  std::vector<T> read_table(uint64_t at, uint64_t bytes, uint64_t each) const {
    require(each == sizeof(T) && bytes % each == 0 && at <= bytes_.size() && bytes <= bytes_.size() - at,
            "one of its tables is cut short");
    std::vector<T> out(static_cast<size_t>(bytes / each));
    if (bytes) std::memcpy(out.data(), bytes_.data() + at, static_cast<size_t>(bytes));
    return out;
  }

  void read_sections() {
    const auto head = read<Elf64_Ehdr>(0);
    require(!std::memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_type == ET_REL,
            "it is no relocatable object");
    require(head.e_machine == EM_X86_64, "it is not for x86-64");
    sections_ = read_table<Elf64_Shdr>(head.e_shoff, uint64_t{head.e_shnum} * head.e_shentsize, head.e_shentsize);
    for (const Elf64_Shdr& s : sections_) {
      const bool inside = s.sh_offset <= bytes_.size() && s.sh_size <= bytes_.size() - s.sh_offset;
      require(inside || s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL, "a section is cut short");
      if (!is_loaded(s)) continue;
      require(!(s.sh_flags & SHF_WRITE), "it has data that is written");
      require(s.sh_size <= kMaxBytes && s.sh_addralign <= kPage && !(s.sh_addralign & (s.sh_addralign - 1)),
              "a section is too large");
    }
    places_.assign(sections_.size(), 0);
  }

  void read_symbols() {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_SYMTAB) continue;
      require(symbols_.empty() && s.sh_link < sections_.size(), "its symbols have no names");
      symbols_ = read_table<Elf64_Sym>(s.sh_offset, s.sh_size, s.sh_entsize);
      const Elf64_Shdr& names = sections_[s.sh_link];
      require(names.sh_type == SHT_STRTAB, "its symbols have no names");
      names_ = bytes_.substr(static_cast<size_t>(names.sh_offset), static_cast<size_t>(names.sh_size));
    }
  }

  static bool is_loaded(const Elf64_Shdr& s) {
    return s.sh_flags & SHF_ALLOC && (s.sh_type == SHT_PROGBITS || s.sh_type == SHT_NOBITS);
  }
  bool is_code(uint32_t section) const {
    return section < sections_.size() && is_loaded(sections_[section]) && sections_[section].sh_flags & SHF_EXECINSTR;
  }

  // Lays out the code sections, or the others, from an offset on; returns their end, rounded to a page.
  uint64_t assign_addresses(bool code, uint64_t from) {
    for (size_t i = 0; i < sections_.size(); i++) {
      const Elf64_Shdr& s = sections_[i];
      if (!is_loaded(s) || is_code(static_cast<uint32_t>(i)) != code) continue;
      places_[i] = round_up(from, std::max<uint64_t>(1, s.sh_addralign));
      from = places_[i] + s.sh_size;
      require(from <= kMaxBytes, "it is too large");
    }
    return round_up(from, kPage);
  }

  void copy_sections() const {
    for (size_t i = 0; i < sections_.size(); i++)
      if (const Elf64_Shdr& s = sections_[i]; is_loaded(s) && s.sh_type == SHT_PROGBITS && s.sh_size)
        std::memcpy(base_ + places_[i], bytes_.data() + s.sh_offset, static_cast<size_t>(s.sh_size));
  }

  std::string_view name_of(const Elf64_Sym& s) const {
    require(s.st_name < names_.size(), "a symbol has no name");
    const std::string_view from = names_.substr(s.st_name);
    return from.substr(0, from.find('\0'));
  }
  const Elf64_Sym& symbol(const Elf64_Rela& r) const {
    const uint64_t index = ELF64_R_SYM(r.r_info);
    require(index < symbols_.size(), "a relocation has no symbol");
    return symbols_[static_cast<size_t>(index)];
  }
  uint64_t address(const Elf64_Sym& s) const {
    if (s.st_shndx == SHN_UNDEF) {
      for (const Callable& c : callable_functions())
        if (name_of(s) == c.name) return reinterpret_cast<uint64_t>(c.address);
      fail(Code::invalid_argument, "it calls '", name_of(s).substr(0, 40), "', which code of ours does not");
    }
    require(s.st_shndx < sections_.size() && is_loaded(sections_[s.st_shndx]) &&
                s.st_value <= sections_[s.st_shndx].sh_size,
            "a symbol lies nowhere");
    return reinterpret_cast<uint64_t>(base_) + places_[s.st_shndx] + s.st_value;
  }

  // Relocations of sections that are not loaded are for debuggers.
  std::vector<Elf64_Rela> relocations(const Elf64_Shdr& s) const {
    require(s.sh_info < sections_.size(), "its relocations are of no section");
    return is_loaded(sections_[s.sh_info]) ? read_table<Elf64_Rela>(s.sh_offset, s.sh_size, s.sh_entsize)
                                           : std::vector<Elf64_Rela>();
  }

  void find_got_entries(const Elf64_Shdr& s) {
    for (const Elf64_Rela& r : relocations(s))
      if (const uint64_t type = ELF64_R_TYPE(r.r_info); type == R_X86_64_GOT64 || type == R_X86_64_GOTPCREL64) {
        symbol(r);  // which is one
        got_entries_.try_emplace(ELF64_R_SYM(r.r_info), 8 * got_entries_.size());
      }
  }

  void relocate(const Elf64_Shdr& section) const {
    const uint64_t got = reinterpret_cast<uint64_t>(base_) + got_;
    const Elf64_Shdr& in = sections_[section.sh_info];
    for (auto& [index, offset] : got_entries_) {
      const uint64_t to = address(symbols_[static_cast<size_t>(index)]);
      std::memcpy(base_ + got_ + offset, &to, sizeof to);
    }
    for (const Elf64_Rela& r : relocations(section)) {
      require(r.r_offset <= in.sh_size && 8 <= in.sh_size - r.r_offset, "a relocation lies outside");
      std::byte* const place = base_ + places_[section.sh_info] + r.r_offset;
      const uint64_t word = relocation_value(r, got, reinterpret_cast<uint64_t>(place));
      std::memcpy(place, &word, sizeof word);
    }
  }

  // In the words of the psABI: S + A, and so on. The emitter's code model is the large one, so all are 64 bits wide.
  uint64_t relocation_value(const Elf64_Rela& r, uint64_t got, uint64_t place) const {
    const auto addend = static_cast<uint64_t>(r.r_addend);
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_64: return address(symbol(r)) + addend;
      case R_X86_64_PC64: return address(symbol(r)) + addend - place;
      case R_X86_64_GOTOFF64: return address(symbol(r)) + addend - got;
      case R_X86_64_GOTPC64: return got + addend - place;
      case R_X86_64_GOT64: return got_entries_.at(ELF64_R_SYM(r.r_info)) + addend;
      case R_X86_64_GOTPCREL64: return got_entries_.at(ELF64_R_SYM(r.r_info)) + addend + got - place;
      default: fail(Code::invalid_argument, "it has a relocation of type ", uint64_t{ELF64_R_TYPE(r.r_info)});
    }
  }

  const std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<uint64_t> places_;  // by section that is loaded: from the base on
  std::vector<Elf64_Sym> symbols_;
  std::string_view names_;
  std::map<uint64_t, uint64_t> got_entries_;  // by symbol: where its address lies in the global offset table
  uint64_t got_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace

KernelFn load_object(std::string_view object, const char* name, std::string& error) {
#if defined(__x86_64__) && defined(__linux__)
  try {
    return ObjectFile(object).load(name);
  } catch (const Error& e) {
    if (e.code() == Code::out_of_memory) throw;
    error = e.message();
  }
#else
  static_cast<void>(object), static_cast<void>(name);
  error = "code is loaded without LLVM on x86-64 and Linux alone";
#endif
  return nullptr;
}

}  // namespace thunder::loops

#include "base/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "base/text.h"

namespace thunder {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    const int error = errno;
    if (number < 0)
      fail(error == ENOENT ? Code::not_found : Code::failed_precondition, "cannot open '", path,
           "': ", system_message(error));
  }
  ~Descriptor() { ::close(number); }
  Descriptor(const Descriptor&) = delete;
  const int number;
};

}  // namespace

std::span<std::byte> Mapping::mapped(size_t bytes, int descriptor, const std::string& what) {
  if (bytes == 0) return {};
  const int flags = MAP_PRIVATE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (at == MAP_FAILED)
    fail(errno == ENOMEM ? Code::out_of_memory : Code::failed_precondition, "cannot map ", what, ": ",
         system_message(errno));
  return {static_cast<std::byte*>(at), bytes};
}

Ref<Mapping> Mapping::map_file(const std::string& path) {
  const Descriptor file(path);
  struct stat facts {};
  if (::fstat(file.number, &facts) != 0)
    fail(Code::failed_precondition, "cannot read '", path, "': ", system_message(errno));
  if (!S_ISREG(facts.st_mode)) fail(Code::failed_precondition, "cannot read '", path, "': it is no regular file");
  return Ref<Mapping>::adopt(new Mapping(mapped(static_cast<size_t>(facts.st_size), file.number, cat("'", path, "'"))));
}

Ref<Mapping> Mapping::copy_of(std::span<const std::byte> bytes) {
  auto made = Ref<Mapping>::adopt(new Mapping(mapped(bytes.size(), -1, "memory")));
  std::copy(bytes.begin(), bytes.end(), made->bytes().begin());
  return made;
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace thunder

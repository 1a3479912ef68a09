#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "base/entropy.h"
#include "base/size_signal.h"
#include "base/text.h"

namespace thunder {
namespace {

// Linux moves at most about 2 GiB in one call.
constexpr size_t kChunk = size_t{1} << 30;

// The target of a link, so that writing replaces the target and keeps the link.
std::string resolve(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> target(::realpath(path.c_str(), nullptr), std::free);
  return target ? std::string(target.get()) : path;
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

constexpr std::string_view kTemporary = ".thunder-", kTemporaryEnd = ".tmp";

// A temporary file is locked by who writes it, for as long as that process lives. False: between its creation and the
// lock another process took it for abandoned and removed it. A file system without locks keeps what is abandoned.
bool lock_temporary(int file) {
  while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat facts {};
  return ::fstat(file, &facts) != 0 || facts.st_nlink > 0;
}

void remove_if_abandoned(int folder, const char* name) {
  const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  struct stat facts {};
  if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && ::flock(file, LOCK_EX | LOCK_NB) == 0)
    ::unlinkat(folder, name, 0);
  ::close(file);
}

// Removes temporary files of writers that were killed. A file that cannot be removed is no error of the save.
void remove_abandoned(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(kTemporary) && name.ends_with(kTemporaryEnd))
      remove_if_abandoned(::dirfd(folder.get()), entry->d_name);
  }
}

}  // namespace

std::string system_message(int error) {
  return std::generic_category().message(error);
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  require(path_.find('\0') == std::string::npos, "a file name must not contain a zero byte: '", path_.c_str(), "'");
  // O_NONBLOCK, since opening a pipe would wait for its writer.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int error = errno;
    fail(error == ENOENT ? Code::not_found : Code::failed_precondition, "cannot open '", path_,
         "': ", system_message(error));
  }
  struct stat facts {};
  const bool known = ::fstat(descriptor_, &facts) == 0;
  if (!known || !S_ISREG(facts.st_mode)) {
    ::close(descriptor_);
    fail(Code::failed_precondition, "cannot read '", path_, "': it is not a regular file");
  }
  size_ = static_cast<uint64_t>(facts.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(uint64_t offset, std::span<std::byte> to) const {
  if (offset > size_ || to.size() > size_ - offset)
    fail(Code::data_lost, "'", path_, "' is truncated: expected ", to.size(), " bytes at offset ", offset,
         ", but the file has ", size_);
  if (memory_) {
    std::copy_n(memory_ + offset, to.size(), to.data());
    return;
  }
  while (!to.empty()) {
    ssize_t got = ::pread(descriptor_, to.data(), std::min(to.size(), kChunk), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Code::data_lost, "cannot read '", path_, "': ", system_message(errno));
    if (got == 0)
      fail(Code::data_lost, "'", path_, "' was cut short while it was read: expected ", size_, " bytes, found ",
           offset);
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

std::string read_file(const std::string& path, uint64_t limit) {
  InputFile file(path);
  if (file.size() > limit)
    fail(Code::data_lost, "'", path, "' has ", file.size(), " bytes; at most ", limit, " are read");
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  require(!path_.empty() && path_.find('\0') == std::string::npos, "'", path_.c_str(), "' is not a file name");
  path_ = resolve(path_);
  folder_ = folder_of(path_);
  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode))
    fail(Code::failed_precondition, "cannot write '", path_, "': it is not a regular file");
  open_temporary(folder_);
  // If the old file's permissions cannot be copied, those of a new file stay.
  if (replaces) static_cast<void>(::fchmod(descriptor_, old.st_mode & 07777) == 0);
}

void OutputFile::open_temporary(const std::string& folder) {
  remove_abandoned(folder);
  // Not mkstemp, which ignores the umask and would make every file private.
  for (int attempt = 0; attempt < 100; attempt++) {
    temporary_ = cat(folder, "/", kTemporary, entropy(), kTemporaryEnd);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) give_up("create a temporary file", errno);
    if (descriptor_ >= 0 && lock_temporary(descriptor_)) return;
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  give_up("create a temporary file", EEXIST);
}

void OutputFile::give_up(std::string_view doing, int error) const {
  fail(error == ENOENT ? Code::not_found : Code::failed_precondition, "cannot write '", path_, "': failed to ", doing,
       " in '", folder_, "': ", system_message(error));
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  const NoSizeSignal quiet;
  while (!bytes.empty()) {
    ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunk));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) give_up("write", errno);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0) give_up("flush", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) give_up("rename", errno);
  ::close(descriptor_);
  descriptor_ = -1;
  // The bytes are in place; a folder that cannot be flushed only makes the new name less durable.
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  static_cast<void>(::fsync(folder) == 0);
  ::close(folder);
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace thunder

#include "base/blob_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <system_error>
#include <tuple>
#include <vector>

#include "base/digest.h"
#include "base/entropy.h"
#include "base/size_signal.h"
#include "base/text.h"

namespace thunder {
namespace {

constexpr std::string_view kSuffix = ".blob", kUnfinished = ".unfinished-";
constexpr time_t kAbandoned = 3600;  // seconds after which an unfinished file has no writer any more
constexpr uint64_t kShare = 16;      // of the limit: what is put between two looks at the folder

// The header of a file; the key and the blob follow.
struct Head {
  std::array<char, 8> magic = {'t', 'h', 'b', 'l', 'o', 'b', '1', '\n'};
  uint64_t key_bytes = 0, blob_bytes = 0;
  Digest digest_of_all = {};
};
static_assert(sizeof(Head) == 56);

Digest digest_of(const Head& head, std::string_view key, std::string_view blob) {
  return digest({{reinterpret_cast<const char*>(&head), offsetof(Head, digest_of_all)}, key, blob});
}

std::string name_of(std::string_view key) { return hex(digest({key})).append(kSuffix); }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

// Whether the file is owned by this process's effective user and writable by nobody else.
bool is_ours(int descriptor, struct stat& facts) {
  return ::fstat(descriptor, &facts) == 0 && facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int open_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat facts {};
  if (folder < 0 || is_ours(folder, facts)) return folder;
  ::close(folder);
  return -1;
}

void make_folder(const std::string& path) {
  for (size_t end = 0; end != path.npos;) {
    end = path.find('/', end + 1);
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
}

bool read_all(int file, std::span<char> to) {
  while (!to.empty()) {
    const ssize_t got = ::read(file, to.data(), to.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to = to.subspan(static_cast<size_t>(got));
  }
  return true;
}

bool write_all(int file, std::string_view bytes) {
  const NoSizeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

enum class Found { blob, other_key, damaged };

// Takes the blob out of a file's bytes.
Found extract_blob(std::string& bytes, std::string_view key) {
  Head head;
  if (bytes.size() < sizeof head) return Found::damaged;
  std::memcpy(&head, bytes.data(), sizeof head);
  const uint64_t rest = bytes.size() - sizeof head;
  if (head.magic != Head().magic || head.key_bytes > rest || head.blob_bytes != rest - head.key_bytes)
    return Found::damaged;
  const std::string_view stored_key(bytes.data() + sizeof head, head.key_bytes);
  const std::string_view blob(bytes.data() + sizeof head + head.key_bytes, head.blob_bytes);
  if (digest_of(head, stored_key, blob) != head.digest_of_all) return Found::damaged;
  if (stored_key != key) return Found::other_key;
  bytes.erase(0, sizeof head + head.key_bytes);
  return Found::blob;
}

// A file that has no name until it is complete. Not made durable: after a loss of power it may be cut short, which
// its digest tells.
bool write_file_at(int folder, const std::string& name, std::initializer_list<std::string_view> parts) {
  const std::string unfinished = cat(kUnfinished, entropy());
  Descriptor file(::openat(folder, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return false;
  const bool whole = std::all_of(parts.begin(), parts.end(), [&](auto part) { return write_all(file.number(), part); });
  if (whole && ::renameat(folder, unfinished.c_str(), folder, name.c_str()) == 0) return true;
  ::unlinkat(folder, unfinished.c_str(), 0);
  return false;
}

}  // namespace

std::string BlobStore::default_folder() {
  if (const char* told = ::secure_getenv("THUNDER_CACHE_DIR")) return std::string_view(told) == "off" ? "" : told;
  if (const char* caches = ::secure_getenv("XDG_CACHE_HOME"); caches && *caches == '/') return cat(caches, "/thunder");
  const char* home = ::secure_getenv("HOME");
  return home && *home ? cat(home, "/.cache/thunder") : "";
}

std::optional<std::string> BlobStore::get(std::string_view key) noexcept try {
  if (folder_.empty()) return std::nullopt;
  Descriptor folder(open_folder(folder_));
  if (!folder) return std::nullopt;
  const std::string name = name_of(key);
  // O_NONBLOCK, since opening a pipe of that name would block.
  Descriptor file(::openat(folder.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file || !is_ours(file.number(), facts) || !S_ISREG(facts.st_mode)) return std::nullopt;
  std::string bytes;
  const bool fits = static_cast<uint64_t>(facts.st_size) <= limit_;
  if (fits) bytes.resize(static_cast<size_t>(facts.st_size));
  const Found found = fits && read_all(file.number(), bytes) ? extract_blob(bytes, key) : Found::damaged;
  if (found == Found::damaged) ::unlinkat(folder.number(), name.c_str(), 0);
  if (found != Found::blob) return std::nullopt;
  // Updates the time of use. If it cannot be written, the only cost is that the file may be removed earlier.
  static_cast<void>(::futimens(file.number(), nullptr) == 0);
  return bytes;
} catch (...) {
  return std::nullopt;
}

bool BlobStore::put(std::string_view key, std::string_view blob) noexcept try {
  Head head;
  head.key_bytes = key.size();
  head.blob_bytes = blob.size();
  const uint64_t bytes = sizeof head + key.size() + blob.size();
  if (folder_.empty() || bytes > limit_ / kShare) return false;
  make_folder(folder_);
  Descriptor folder(open_folder(folder_));
  if (!folder) return false;
  head.digest_of_all = digest_of(head, key, blob);
  const std::string_view start(reinterpret_cast<const char*>(&head), sizeof head);
  if (!write_file_at(folder.number(), name_of(key), {start, key, blob})) return false;
  if (put_since_.fetch_add(bytes) + bytes > limit_ / kShare) make_room(folder.number());
  return true;
} catch (...) {
  return false;
}

std::string BlobStore::why_unusable() {
  const auto why = [] { return std::generic_category().message(errno); };
  make_folder(folder_);
  Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat facts {};
  if (!folder) return cat("it cannot be opened (", why(), ")");
  if (!is_ours(folder.number(), facts)) return "it is another user's, or others may write to it";
  const std::string name = cat(kUnfinished, "trouble");
  if (!write_file_at(folder.number(), name, {name})) return cat("no file can be written there (", why(), ")");
  ::unlinkat(folder.number(), name.c_str(), 0);
  return "";
}

void BlobStore::make_room(int folder) {
  put_since_ = 0;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (!listing && again >= 0) ::close(again);
  if (!listing) return;
  struct Entry {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  std::vector<Entry> blobs;
  uint64_t total = 0;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    struct stat facts {};
    if (!name.ends_with(kSuffix) && !name.starts_with(kUnfinished)) continue;
    if (::fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (name.ends_with(kSuffix)) {
      blobs.push_back({facts.st_mtim, static_cast<uint64_t>(facts.st_size), std::string(name)});
      total += blobs.back().bytes;
    } else if (facts.st_mtim.tv_sec + kAbandoned < ::time(nullptr)) {
      ::unlinkat(folder, entry->d_name, 0);
    }
  }
  std::sort(blobs.begin(), blobs.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec) < std::tie(b.used.tv_sec, b.used.tv_nsec);
  });
  // Leaves room for two shares: one may be used up before the next check, and one is for the blob that triggers it.
  for (const Entry& oldest : blobs) {
    if (total <= limit_ - 2 * (limit_ / kShare)) break;
    if (::unlinkat(folder, oldest.name.c_str(), 0) == 0) total -= oldest.bytes;
  }
}

}  // namespace thunder

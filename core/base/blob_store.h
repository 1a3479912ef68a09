// Blobs by key in a folder on disk, kept from one process to the next; what is loaded is trusted enough to be run.
//
// A blob is the one that was put under this very key, whole, or it is missed: each file holds its key and a digest of
// everything. Files that another user owns or could have written are ignored, and so is a folder of that kind. Nothing
// that goes wrong with the disk is an error; it is a miss. Any number of threads and processes may use one folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thunder {

class BlobStore {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{512} << 20;

  // A store without a folder keeps nothing. The folder is made, for the user alone, when something is put. Its blobs
  // take at most `limit` bytes; those used longest ago are removed first. Other files in it are left alone.
  explicit BlobStore(std::string folder, uint64_t limit = kDefaultLimit) : folder_(std::move(folder)), limit_(limit) {}

  // $THUNDER_CACHE_DIR, else $XDG_CACHE_HOME/thunder, else $HOME/.cache/thunder. None when THUNDER_CACHE_DIR is empty
  // or "off", when no home is known, and in a program that runs with another user's rights.
  static std::string default_folder();

  // Tries to write, and returns the reason why nothing can be kept; "" when it works.
  std::string why_unusable();

  std::optional<std::string> get(std::string_view key) noexcept;
  // Replaces what was there. One that takes more than a sixteenth of the limit is not kept. Whether it was kept; it may
  // be removed later.
  bool put(std::string_view key, std::string_view blob) noexcept;
  const std::string& folder() const { return folder_; }

 private:
  void make_room(int folder);

  const std::string folder_;
  const uint64_t limit_;
  // Bytes since the folder's size was last known; the first put finds it out.
  std::atomic<uint64_t> put_since_{UINT64_MAX / 2};
};

}  // namespace thunder

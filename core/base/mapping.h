// A file as memory: for models of gigabytes, whose weights are read where they lie.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/ref.h"

namespace thunder {

// Private: a write stays in this process. Whoever cuts the file short meanwhile kills this process at its next look, so
// this is for what users install, and nothing else maps files.
class Mapping : public Counted<Mapping> {
 public:
  // Throws not_found, or failed_precondition with the system's reason. Never blocks: a pipe is refused.
  static Ref<Mapping> map_file(const std::string& path);
  // A copy of these bytes in memory of its own.
  static Ref<Mapping> copy_of(std::span<const std::byte> bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}
  static std::span<std::byte> mapped(size_t bytes, int descriptor, const std::string& what);
  const std::span<std::byte> bytes_;
};

}  // namespace thunder

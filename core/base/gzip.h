// Reads what gzip wrote, a piece at a time, so that no more is unpacked than was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace thunder {

bool is_gzip(std::span<const std::byte> bytes);

// The format cannot pack tighter than this: what claims to unpack to more is damaged or hostile.
constexpr uint64_t kGzipMaxRatio = 1032;

class Gunzip {
 public:
  // `packed` is borrowed; `name` is how errors call it.
  Gunzip(std::string name, std::span<const std::byte> packed);
  ~Gunzip();

  // Fills `to`; throws data_lost when the data is damaged or ends before.
  void read(std::span<std::byte> to);
  // Throws data_lost unless all is read and its checksum holds.
  void finish();

 private:
  struct Stream;
  size_t unpack(std::span<std::byte> to);

  std::string name_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace thunder

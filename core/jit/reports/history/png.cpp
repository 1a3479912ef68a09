#include "jit/reports/history/png.h"

#include <zlib.h>

#include "base/status.h"

namespace thunder {
namespace {

std::string big_endian(uint32_t v) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(v >> shift & 0xff);
  return out;
}

std::string chunk(std::string_view kind, const std::string& content) {
  const std::string summed = std::string(kind) + content;
  const uLong sum = ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return big_endian(static_cast<uint32_t>(content.size())) + summed + big_endian(static_cast<uint32_t>(sum));
}

}  // namespace

std::string encode_png(uint32_t width, uint32_t height, std::span<const uint8_t> rgb) {
  std::string rows;
  const size_t row = static_cast<size_t>(width) * 3;
  for (size_t y = 0; y < height; y++) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(rgb.data()) + y * row, row);
  }
  uLongf size = ::compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  if (::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                 static_cast<uLong>(rows.size())) != Z_OK)
    fail(Code::out_of_memory, "out of memory: could not pack a picture");
  packed.resize(size);
  const std::string header = big_endian(width) + big_endian(height) + std::string("\x08\x02\0\0\0", 5);  // 8 bits, RGB
  return std::string("\x89PNG\r\n\x1a\n") + chunk("IHDR", header) + chunk("IDAT", packed) + chunk("IEND", "");
}

}  // namespace thunder

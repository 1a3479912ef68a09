// Writes pictures as PNG.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace thunder {

// Requires: rgb has three bytes for each pixel, row by row.
std::string encode_png(uint32_t width, uint32_t height, std::span<const uint8_t> rgb);

}  // namespace thunder

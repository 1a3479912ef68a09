#include "base/digest.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace thunder {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr std::array<uint64_t, 8> kStart = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                            0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                            0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// The order in which a round reads the words of the block.
constexpr uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

class Blake2b {
 public:
  Blake2b() { state_[0] ^= 0x01010000 ^ sizeof(Digest); }

  void add(std::string_view text) {
    while (!text.empty()) {
      // The last block is known only at the end, so a full one waits for more.
      if (filled_ == block_.size()) flush(false);
      const size_t taken = std::min(text.size(), block_.size() - filled_);
      std::memcpy(block_.data() + filled_, text.data(), taken);
      filled_ += taken;
      text.remove_prefix(taken);
    }
  }

  Digest finish() {
    std::fill(block_.begin() + static_cast<ptrdiff_t>(filled_), block_.end(), std::byte{0});
    flush(true);
    Digest result;
    std::memcpy(result.data(), state_.data(), sizeof result);
    return result;
  }

 private:
  void flush(bool last) {
    total_ += filled_;
    filled_ = 0;
    std::array<uint64_t, 16> m, v;
    std::memcpy(m.data(), block_.data(), sizeof m);
    std::copy(state_.begin(), state_.end(), v.begin());
    std::copy(kStart.begin(), kStart.end(), v.begin() + 8);
    v[12] ^= total_;
    if (last) v[14] = ~v[14];
    auto mix = [&](size_t a, size_t b, size_t c, size_t d, uint64_t x, uint64_t y) {
      v[a] += v[b] + x;
      v[d] = std::rotr(v[d] ^ v[a], 32);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 24);
      v[a] += v[b] + y;
      v[d] = std::rotr(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 63);
    };
    for (size_t round = 0; round < 12; round++) {
      const uint8_t* s = kOrder[round % 10];
      for (size_t i = 0; i < 4; i++) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
      for (size_t i = 0; i < 4; i++)
        mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (size_t i = 0; i < 8; i++) state_[i] ^= v[i] ^ v[i + 8];
  }

  std::array<uint64_t, 8> state_ = kStart;
  std::array<std::byte, 128> block_;
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

Digest digest(std::initializer_list<std::string_view> parts) {
  Blake2b hash;
  for (std::string_view part : parts) hash.add(part);
  return hash.finish();
}

std::string hex(const Digest& digest) {
  std::string text;
  for (std::byte b : digest)
    for (unsigned digit : {std::to_integer<unsigned>(b) >> 4, std::to_integer<unsigned>(b) & 15})
      text += "0123456789abcdef"[digit];
  return text;
}

}  // namespace thunder

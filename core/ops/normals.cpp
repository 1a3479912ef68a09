#include "ops/normals.h"

#include <algorithm>

#include "ops/widest.h"

namespace thunder {
namespace {

constexpr int64_t kBlocks = 64, kWords = 4 * kBlocks;

// float(normal32(bits)) of so many numbers, to the bit: the middle of all as vectors, then those in the tails, about
// one in seven, once more.
[[gnu::always_inline]] inline void normals(const uint32_t* bits, int64_t n, float* to) {
  double q[kWords], r[kWords];
  int32_t tails[kWords];
  for (int64_t i = 0; i < n; i++) q[i] = (static_cast<double>(bits[i]) + 0.5) * 0x1p-32 - 0.5;
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<float>(ppnd16::central(q[i]));
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    tails[count] = static_cast<int32_t>(i);
    count += std::fabs(q[i]) > ppnd16::kMiddleEnd;
  }
  for (int64_t k = 0; k < count; k++) {
    const double p = (static_cast<double>(bits[tails[k]]) + 0.5) * 0x1p-32;
    r[k] = -std::log(q[tails[k]] < 0 ? p : 1 - p);
  }
  for (int64_t k = 0; k < count; k++) r[k] = ppnd16::tail(std::sqrt(r[k]));
  for (int64_t k = 0; k < count; k++) to[tails[k]] = static_cast<float>(q[tails[k]] < 0 ? -r[k] : r[k]);
}

struct Fill {
  [[gnu::always_inline]] inline void operator()(const Philox& random, int64_t first, int64_t n, int64_t step,
                                                float* to) const {
    uint32_t words[kWords];
    float made[kWords];
    for (int64_t done = 0; done < n;) {
      const int64_t at = first + done, skipped = at % 4, length = std::min(n - done, kWords - skipped);
      random.blocks(static_cast<uint64_t>(at) / 4, (skipped + length + 3) / 4, words);
      normals(words + skipped, length, made);
      for (int64_t i = 0; i < length; i++) to[(done + i) * step] = made[i];
      done += length;
    }
  }
};

}  // namespace

void fill_normals(const Philox& random, int64_t first, int64_t n, int64_t step, float* to) {
  run_widest<Fill>(random, first, n, step, to);
}

}  // namespace thunder

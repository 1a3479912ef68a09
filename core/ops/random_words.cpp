#include "ops/random_words.h"

namespace thunder {
namespace {

[[gnu::always_inline]] inline void fill(const Philox& random, int64_t first, int64_t n, uint32_t* words) {
  random.blocks(static_cast<uint64_t>(first) / 4, n / 4, words);
  if (n % 4 == 0) return;
  const Philox::Block last = random.block(static_cast<uint64_t>(first + n) / 4);
  for (int64_t i = 0; i < n % 4; i++) words[n - n % 4 + i] = last[static_cast<size_t>(i)];
}

using Fill = void (*)(const Philox& random, int64_t first, int64_t n, uint32_t* words);
void fill_plain(const Philox& random, int64_t first, int64_t n, uint32_t* words) {
  fill(random, first, n, words);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void fill_avx2(const Philox& random, int64_t first, int64_t n, uint32_t* words) {
  fill(random, first, n, words);
}
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void fill_avx512(const Philox& random, int64_t first,
                                                                             int64_t n, uint32_t* words) {
  fill(random, first, n, words);
}
Fill widest() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return fill_avx512;
  return __builtin_cpu_supports("avx2") ? fill_avx2 : fill_plain;
}
#else
Fill widest() {
  return fill_plain;
}
#endif

}  // namespace

void fill_words(const Philox& random, int64_t first, int64_t n, uint32_t* words) {
  static const Fill wide = widest();
  wide(random, first, n, words);
}

}  // namespace thunder

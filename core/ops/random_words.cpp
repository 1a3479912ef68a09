#include "ops/random_words.h"

#include "ops/widest.h"

namespace thunder {
namespace {

struct FillWithWords {
  [[gnu::always_inline]] inline void operator()(const Philox& random, int64_t first, int64_t n, uint32_t* words) const {
    random.blocks(static_cast<uint64_t>(first) / 4, n / 4, words);
    if (n % 4 == 0) return;
    const Philox::Block last = random.block(static_cast<uint64_t>(first + n) / 4);
    for (int64_t i = 0; i < n % 4; i++) words[n - n % 4 + i] = last[static_cast<size_t>(i)];
  }
};

}  // namespace

void fill_words(const Philox& random, int64_t first, int64_t n, uint32_t* words) {
  run_widest<FillWithWords>(random, first, n, words);
}

}  // namespace thunder

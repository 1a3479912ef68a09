// Words of Philox many at a time, against one by one.
#include "ops/random_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace thunder {
namespace {

TEST(RandomWords, are_those_that_each_element_has) {
  Philox random{7, 3, 1};
  for (const int64_t first : {int64_t{0}, int64_t{4}, int64_t{1} << 34})
    for (const int64_t n : {0, 1, 3, 4, 5, 63, 256, 257}) {
      std::vector<uint32_t> words(static_cast<size_t>(n));
      fill_words(random, first, n, words.data());
      for (int64_t i = 0; i < n; i++) ASSERT_EQ(words[static_cast<size_t>(i)], random.bits32(first + i)) << first << " " << i << " of " << n;
    }
}

}  // namespace
}  // namespace thunder

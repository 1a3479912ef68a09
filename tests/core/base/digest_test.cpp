#include "base/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace thunder {
namespace {

// What Python's hashlib.blake2b(digest_size=32) gives.
TEST(Digest, is_blake2b) {
  EXPECT_EQ(hex(digest({""})), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(hex(digest({"abc"})), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(hex(digest({std::string(128, 'x')})), "164ffb7089bae6f5a62fb0795e751dc9e88eac92e1a5b2fafe93a25abf2d9c3b");
  EXPECT_EQ(hex(digest({std::string(1000, 'y')})), "31068c31698fb659449d56bfca789cfa63529ac640b514dee3bac0b8a3da9248");
}

TEST(Digest, is_of_the_parts_in_a_row) {
  const std::string text(300, 'z');
  for (size_t cut : {0u, 1u, 127u, 128u, 129u, 256u, 300u})
    EXPECT_EQ(digest({text.substr(0, cut), text.substr(cut)}), digest({text})) << cut;
}

TEST(Digest, depends_on_each_bit_and_the_length) {
  std::string text(200, '\0');
  std::set<Digest> seen{digest({text})};
  for (size_t bit = 0; bit < 8 * text.size(); bit++) {
    const char flip = static_cast<char>(1 << bit % 8);
    text[bit / 8] ^= flip;
    EXPECT_TRUE(seen.insert(digest({text})).second) << bit;
    text[bit / 8] ^= flip;
  }
  for (size_t length = 0; length < 200; length++) EXPECT_TRUE(seen.insert(digest({text.substr(0, length)})).second);
}

}  // namespace
}  // namespace thunder

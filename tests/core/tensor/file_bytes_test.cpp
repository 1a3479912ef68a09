#include "tensor/file_bytes.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

TEST(FileBytes, swap_each_item_in_place) {
  uint16_t words[] = {0x0102, 0x0304};
  swap_bytes(std::as_writable_bytes(std::span(words)), 2);
  EXPECT_EQ(words[0], 0x0201);
  EXPECT_EQ(words[1], 0x0403);
  swap_bytes(std::as_writable_bytes(std::span(words)), 1);
  EXPECT_EQ(words[0], 0x0201) << "single bytes have no order";
}

TEST(FileBytes, find_the_first_that_is_no_bool) {
  const std::byte bytes[] = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  EXPECT_EQ(find_bad_bool(bytes), 2u);
  EXPECT_EQ(find_bad_bool(std::span(bytes).first(2)), std::nullopt);
}

}  // namespace
}  // namespace thunder

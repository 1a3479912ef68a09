#include "device/zeros.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace thunder {
namespace {

constexpr size_t kBytes = size_t{8} << 20;

size_t resident_pages(const Storage& s) {
  std::vector<unsigned char> in(kBytes / static_cast<size_t>(::getpagesize()));
  EXPECT_EQ(::mincore(s.data(), kBytes, in.data()), 0);
  return static_cast<size_t>(std::count_if(in.begin(), in.end(), [](unsigned char page) { return page & 1; }));
}

TEST(Zeros, take_no_memory_before_they_are_written) {
  const Ref<Storage> s = zeros_on_demand(default_allocator(), kBytes);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->bytes(), kBytes);
  EXPECT_EQ(resident_pages(*s), 0u);
  s->data()[kBytes / 2] = std::byte{7};
  EXPECT_GT(resident_pages(*s), 0u);
  EXPECT_LE(resident_pages(*s), kBytes / 2 / static_cast<size_t>(::getpagesize()));
  EXPECT_EQ(std::count(s->data(), s->data() + kBytes, std::byte{0}), static_cast<std::ptrdiff_t>(kBytes) - 1);
}

TEST(Zeros, of_a_caller_who_gives_all_memory_are_not_taken_from_elsewhere) {
  Allocator callers = default_allocator();
  callers.ours = false;
  EXPECT_FALSE(zeros_on_demand(callers, kBytes));
}

}  // namespace
}  // namespace thunder

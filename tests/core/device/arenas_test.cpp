// Memory that programs share.
#include "device/arenas.h"

#include <gtest/gtest.h>

namespace thunder::test {
namespace {

TEST(ArenasOfPrograms, are_the_same_for_calls_one_after_the_other) {
  Arenas arenas(default_allocator());
  arenas.add(1000);
  arenas.add(4000);
  Ref<Storage> first = arenas.take(4000);
  std::byte* const at = first->data();
  arenas.give_back(std::move(first));
  EXPECT_EQ(arenas.take(1000)->data(), at);
}

TEST(ArenasOfPrograms, that_are_too_small_go_before_a_larger_one_is_made) {
  Arenas arenas(default_allocator());
  arenas.add(1000);
  arenas.add(4000);
  arenas.give_back(arenas.take(1000));
  arenas.give_back(arenas.take(4000));
  EXPECT_EQ(arenas.kept_bytes(), 4000u);
}

TEST(ArenasOfPrograms, are_apart_for_calls_at_the_same_time) {
  Arenas arenas(default_allocator());
  arenas.add(1000);
  const Ref<Storage> one = arenas.take(1000), other = arenas.take(1000);
  EXPECT_NE(one->data(), other->data());
}

TEST(ArenasOfPrograms, go_with_the_program_that_needs_so_much) {
  Arenas arenas(default_allocator());
  arenas.add(1000);
  arenas.add(4000);
  arenas.give_back(arenas.take(4000));
  arenas.remove(4000);
  EXPECT_EQ(arenas.kept_bytes(), 0u);
  Ref<Storage> late = arenas.take(4000);  // of a call that was still running
  arenas.give_back(std::move(late));
  EXPECT_EQ(arenas.kept_bytes(), 0u);
}

TEST(ArenasOfPrograms, go_when_they_are_trimmed) {
  Arenas arenas(default_allocator());
  arenas.add(1000);
  arenas.give_back(arenas.take(1000));
  arenas.trim();
  EXPECT_EQ(arenas.kept_bytes(), 0u);
}

}  // namespace
}  // namespace thunder::test

// What ranks of one machine tell each other in shared memory.
#include "scale/board.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace thunder::scale {
namespace {

TEST(Board, tells_what_each_rank_comes_to) {
  const auto first = Board::create(0, 2), second = Board::join(first->name(), 1, 2);
  EXPECT_EQ(second->reached(3, 0), 0u);
  EXPECT_EQ(first->reach(3, 77, "all_reduce(f32[2], sum)"), 1u);
  EXPECT_EQ(second->reached(3, 0), 1u);
  EXPECT_EQ(second->digest(3, 0, 1), 77u);
  EXPECT_EQ(second->text(3, 0, 1), "all_reduce(f32[2], sum)");
  EXPECT_EQ(first->reach(3, 78, std::string(5000, 'x')), 2u);
  EXPECT_EQ(second->text(3, 0, 1), "all_reduce(f32[2], sum)");  // while others may still read of it
  EXPECT_EQ(second->text(3, 0, 2), std::string(Board::kTextBytes - 1, 'x'));
  EXPECT_EQ(second->reached(2, 0), 0u);
}

TEST(Board, brings_notes_in_their_order_and_drops_what_nobody_fetches) {
  const auto first = Board::create(0, 3), second = Board::join(first->name(), 1, 3), third = Board::join(first->name(), 2, 3);
  EXPECT_EQ(second->receive(), std::nullopt);
  first->send(1, "one"), first->send(1, "two"), third->send(1, "three");
  EXPECT_EQ(second->receive(), "one");
  EXPECT_EQ(second->receive(), "two");
  EXPECT_EQ(second->receive(), "three");
  EXPECT_EQ(third->receive(), std::nullopt);
  for (int i = 0; i < 100; i++) first->send(1, std::to_string(i));
  EXPECT_EQ(second->receive(), "0");
  first->send(1, "again");
  std::string last;
  while (const auto note = second->receive()) last = *note;
  EXPECT_EQ(last, "again");
}

TEST(Board, knows_whose_process_has_ended) {
  const auto own = Board::create(0, 2);
  EXPECT_TRUE(own->lives(0));
  EXPECT_TRUE(own->lives(1));  // it may still come
  int to_child[2], to_parent[2];
  ASSERT_EQ(::pipe(to_child) | ::pipe(to_parent), 0);
  const pid_t child = ::fork();
  char byte = 0;
  if (child == 0) {
    const auto other = Board::join(own->name(), 1, 2);
    const bool good = ::write(to_parent[1], &byte, 1) == 1 && ::read(to_child[0], &byte, 1) == 1;
    ::_exit(good ? 0 : 1);
  }
  ASSERT_EQ(::read(to_parent[0], &byte, 1), 1);
  EXPECT_TRUE(own->lives(1));
  ASSERT_EQ(::write(to_child[1], &byte, 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(own->lives(1));
}

TEST(Board, cannot_be_joined_by_another_name) { EXPECT_THROW(Board::join("/thunder-no-such-board", 0, 1), Error); }

TEST(Board, leaves_no_name_behind) {
  std::string name;
  {
    const auto board = Board::create(0, 1);
    name = board->name();
    Board::join(name, 0, 1);
  }
  EXPECT_THROW(Board::join(name, 0, 1), Error);
}

}  // namespace
}  // namespace thunder::scale

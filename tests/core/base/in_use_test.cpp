#include "base/in_use.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/ref.h"

namespace thunder {
namespace {

struct Thing : Counted<Thing> {
  explicit Thing(int& gone) : gone(gone) {}
  void destroy() const {
    if (InUse::keep_alive_if_in_use(this)) return const_cast<Thing*>(this)->reset_count();
    gone++;
    delete this;
  }
  int& gone;
};

struct InUseTest : testing::Test {
  int gone = 0;
  const Thing* const thing = new Thing(gone);
  const void* objects[2] = {this, thing};
};

TEST_F(InUseTest, the_last_reference_is_left_to_who_uses_it) {
  {
    const InUse in_use(objects, 2);
    thing->release();
    EXPECT_EQ(gone, 0);
    ASSERT_EQ(in_use.kept_alive().size(), 1u);
    EXPECT_EQ(in_use.kept_alive()[0], thing);
    thing->retain(), thing->release();  // which is not the last one any more
    EXPECT_EQ(gone, 0);
  }
  thing->release();
  EXPECT_EQ(gone, 1);
}

TEST_F(InUseTest, what_nobody_releases_is_not_taken) {
  {
    const InUse in_use(objects, 2);
    thing->retain(), thing->release();
    EXPECT_TRUE(in_use.kept_alive().empty());
  }
  thing->release();
  EXPECT_EQ(gone, 1);
}

TEST_F(InUseTest, what_two_calls_use_goes_after_the_outer_one) {
  const void* inner_objects[] = {thing};
  {
    const InUse outer(objects, 2);
    {
      const InUse inner(inner_objects, 1);
      thing->release();
      EXPECT_EQ(inner.kept_alive().size(), 1u);
      EXPECT_TRUE(outer.kept_alive().empty());
    }
    thing->release();  // as the inner call does at its end
    EXPECT_EQ(gone, 0);
    EXPECT_EQ(outer.kept_alive().size(), 1u);
  }
  thing->release();
  EXPECT_EQ(gone, 1);
}

TEST_F(InUseTest, one_listed_twice_is_taken_once) {
  const void* twice[] = {thing, thing};
  {
    const InUse in_use(twice, 2);
    thing->release();
    EXPECT_EQ(in_use.kept_alive().size(), 1u);
  }
  thing->release();
  EXPECT_EQ(gone, 1);
}

TEST_F(InUseTest, other_threads_use_none_of_it) {
  const InUse in_use(objects, 2);
  std::thread([&] { thing->release(); }).join();
  EXPECT_EQ(gone, 1);
}

}  // namespace
}  // namespace thunder

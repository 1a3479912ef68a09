#include "base/status.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

void count(void* object) { ++*static_cast<int*>(object); }

TEST(Status, destroys_a_foreign_object_once) {
  int destroyed = 0;
  {
    auto status = make<Status>(Code::callback, "from Lua");
    status->set_foreign("lua", &destroyed, count);
    Ref<Status> second = status;
    EXPECT_EQ(status->foreign("lua"), &destroyed);
    EXPECT_EQ(status->foreign("python"), nullptr);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Status, destroys_a_foreign_object_that_is_replaced) {
  int first = 0, second = 0;
  {
    auto status = make<Status>(Code::callback, "");
    status->set_foreign("a", &first, count);
    status->set_foreign("b", &second, count);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 0);
    EXPECT_EQ(status->foreign("a"), nullptr);
  }
  EXPECT_EQ(second, 1);
}

TEST(Status, for_no_memory_outlives_every_release) {
  for (int i = 0; i < 5; i++) {
    Status* status = out_of_memory_status();
    EXPECT_EQ(status->code(), Code::out_of_memory);
    status->release();
  }
  EXPECT_EQ(out_of_memory_status()->message(), "out of memory");
}

TEST(Error, keeps_the_status_it_was_made_of) {
  auto status = make<Status>(Code::backend, "device lost");
  Error error(status);
  EXPECT_EQ(error.status(), status);
  EXPECT_STREQ(error.what(), "device lost");
  EXPECT_FALSE(status->unique());
}

struct Tracked : Counted<Tracked> {
  explicit Tracked(int* alive) : alive(alive) { ++*alive; }
  ~Tracked() { --*alive; }
  int* alive;
};

TEST(Ref, deletes_with_the_last_owner) {
  int alive = 0;
  auto a = make<Tracked>(&alive);
  Ref<Tracked> b = a, c(a.get());
  a = nullptr;
  b = std::move(c);
  EXPECT_EQ(alive, 1);
  Tracked* raw = b.detach();
  EXPECT_FALSE(b);
  EXPECT_TRUE(raw->unique());
  Ref<Tracked>::adopt(raw) = nullptr;
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace thunder

// Places, generations and references of handles.
// covers: core/base/handle_history.cpp
#include "base/handle_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "base/handle_history.h"
#include "base/ref.h"

namespace thunder {
namespace {

struct Object : Counted<Object> {};
constexpr uint8_t kKind = 5, kOther = 6;

uintptr_t handle_of(const Object& o, uint8_t kind = kKind) { return o.handle_word(const_cast<Object*>(&o), kind); }

TEST(HandleTable, finds_the_object_of_a_handle_of_its_kind_alone) {
  const auto o = make<Object>();
  const uintptr_t h = handle_of(*o);
  ASSERT_NE(HandleTable::find(h, kKind), nullptr);
  EXPECT_EQ(HandleTable::find(h, kKind)->object(), o.get());
  EXPECT_EQ(HandleTable::find(h, kOther), nullptr);
  EXPECT_EQ(HandleTable::kind_in(h), kKind);
  EXPECT_EQ(handle_of(*o), h) << "the same object has the same handle";
}

TEST(HandleTable, has_no_place_for_addresses_and_words_at_random) {
  const auto o = make<Object>();
  EXPECT_EQ(HandleTable::find(reinterpret_cast<uintptr_t>(o.get()), kKind), nullptr);
  EXPECT_EQ(HandleTable::kind_in(reinterpret_cast<uintptr_t>(o.get())), 0);
  uint64_t word = 1;
  for (int i = 0; i < 100000; i++) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    HandleTable::find((word & ~uintptr_t{0xff}) | HandleTable::tag_of(kKind), kKind);  // reads no memory but the table's
  }
}

TEST(HandleTable, forgets_a_handle_with_its_object) {
  auto o = make<Object>();
  const uintptr_t h = handle_of(*o);
  o = nullptr;
  EXPECT_EQ(HandleTable::find(h, kKind), nullptr);
  const auto next = make<Object>();
  EXPECT_NE(handle_of(*next), h);
  EXPECT_EQ(HandleTable::find(h, kKind), nullptr) << "though its place is taken again";
}

TEST(HandleTable, gives_new_handles_to_an_object_whose_handles_were_retired) {
  const auto o = make<Object>();
  const uintptr_t before = handle_of(*o);
  o->retire_handles();
  EXPECT_EQ(HandleTable::find(before, kKind), nullptr);
  const uintptr_t after = handle_of(*o);
  EXPECT_NE(after, before);
  EXPECT_EQ(HandleTable::find(after, kKind)->object(), o.get());
}

TEST(HandleTable, grows_past_its_first_block) {
  std::vector<Ref<Object>> objects;
  std::set<uintptr_t> handles;
  for (int i = 0; i < 40000; i++) {
    objects.push_back(make<Object>());
    handles.insert(handle_of(*objects.back()));
  }
  EXPECT_EQ(handles.size(), objects.size());
  for (const auto& o : objects) EXPECT_EQ(HandleTable::find(handle_of(*o), kKind)->object(), o.get());
}

TEST(HandleTable, gives_threads_places_of_their_own) {
  std::vector<std::thread> threads;
  const auto shared = make<Object>();
  for (int n = 0; n < 4; n++)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; i++) {
        const auto o = make<Object>();
        EXPECT_EQ(HandleTable::find(handle_of(*o), kKind)->object(), o.get());
        EXPECT_EQ(HandleTable::find(handle_of(*shared), kKind)->object(), shared.get());
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(HandleHistory, is_empty_unless_the_environment_asks_for_it) {
  const auto o = make<Object>();
  const uintptr_t h = handle_of(*o);
  EXPECT_FALSE(HandleHistory::is_kept());
  EXPECT_EQ(HandleHistory::text(HandleTable::place_in(h)), "");
}

}  // namespace
}  // namespace thunder

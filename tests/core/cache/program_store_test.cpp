// Programs that a function keeps: which store finds one, how long, and with which bound.
// covers: core/cache/entry.cpp
#include "cache/program_store.h"

#include "jit/compile/compile.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Programs : CompiledTest {
  const CompileSetup setup{context, make<CompileOptions>()};
  const Ref<Tensor> x = random({3}, 1);
  const Ref<Values> values = make<Values>();
  const Inputs in{values.get(), nullptr, 1};
  Programs() { values->push(x); }

  std::shared_ptr<Entry> program() {
    Lambda function([](Scope& s, const Values& given, Values& out) {
      out.push(Ref<Tensor>(op(s, "exp", {any(given[0].tensor.get())})));
    });
    InterruptCheck check(context->interrupts());
    std::shared_ptr<Entry> made = thunder::compile({setup, *values, check, recording_of(*context, function, *values)});
    made->key = Key(in);
    return made;
  }
};

TEST_F(Programs, are_found_by_the_store_that_has_them_alone) {
  ProgramStore one(nullptr), other(one.recent());
  const auto kept = program();
  one.insert_recent(in, kept);
  EXPECT_EQ(one.find_recent(in), kept);
  EXPECT_EQ(other.find_recent(in), nullptr);
  EXPECT_EQ(one.count_all(), 1u);
  EXPECT_EQ(other.count_all(), 0u);
}

TEST_F(Programs, of_stores_with_one_bound_make_way_for_one_another) {
  ProgramStore one(nullptr), other(one.recent());
  const auto kept = program();
  other.insert_recent(in, kept);
  for (size_t i = 0; i + 1 < RecentPrograms::kMost; i++) one.insert_recent(in, kept);
  EXPECT_EQ(other.find_recent(in), kept) << "which makes it the one used last";
  for (size_t i = 0; i < RecentPrograms::kMost; i++) one.insert_recent(in, kept);
  EXPECT_EQ(other.find_recent(in), nullptr);
}

TEST_F(Programs, are_gone_with_their_store) {
  ProgramStore one(nullptr);
  std::weak_ptr<const Entry> kept;
  {
    ProgramStore other(one.recent());
    const auto made = program();
    kept = made;
    other.insert_recent(in, made);
  }
  EXPECT_TRUE(kept.expired());
}

TEST_F(Programs, that_are_kept_for_good_are_counted_apart_from_recent_ones) {
  ProgramStore store(nullptr);
  store.insert_recent(in, program());
  EXPECT_EQ(store.find(in), nullptr);
  EXPECT_EQ(store.explain_miss(in, {}), "first call");
  auto owned = std::make_unique<Entry>(std::move(*program()));
  const Entry* const kept = store.insert(std::move(owned));
  EXPECT_EQ(store.find(in), kept);
  EXPECT_EQ(store.size(), 1u);
  EXPECT_EQ(store.count_all(), 2u);
}

TEST_F(Programs, of_segments_are_kept_as_long_as_they_are_asked_to) {
  ProgramStore store(nullptr);
  const auto fits = [&](const Entry& e) { return e.key.matches(in); };
  const auto made = program();
  bool kept = false;
  store.insert_segment({1, 7}, in, made, Keep::for_good);
  EXPECT_EQ(store.find_segment(1, in, fits, kept), made);
  EXPECT_TRUE(kept);
  store.insert_segment({2, 7}, in, made, Keep::recently);
  EXPECT_EQ(store.find_segment(2, in, fits, kept), made);
  EXPECT_FALSE(kept);
  store.insert_segment({3, 7}, in, made, Keep::for_one_call);
  EXPECT_EQ(store.find_segment(3, in, fits, kept), nullptr);
  EXPECT_EQ(store.count_segments(), 1u);
  EXPECT_EQ(store.count_segments_of_any_size({9, 7}), 1u);
}

}  // namespace
}  // namespace thunder::test

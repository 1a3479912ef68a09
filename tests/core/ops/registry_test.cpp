// Ops are added while others are looked up; they are found at once, once, and in order.
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/text.h"
#include "ir/prim.h"

namespace thunder {
namespace {

struct Named : OpDef {
  explicit Named(const std::string& name) : OpDef(cat(name, "(tensor x) -> tensor")) { prim = true; }
};

TEST(Registry, finds_what_other_threads_add) {
  Registry registry;
  const size_t before = registry.all().size();
  constexpr int kThreads = 4, kOps = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([&registry, t] {
      for (int i = 0; i < kOps; i++) {
        const std::string name = cat("t", t, ".op", i);
        const OpDef& added = registry.add(std::make_unique<Named>(name));
        EXPECT_EQ(registry.find(name), &added);
        EXPECT_NE(registry.find("add"), nullptr);
        EXPECT_EQ(registry.find(cat("t", t, ".op", i + 1)), nullptr);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(registry.all().size(), before + kThreads * kOps);
  EXPECT_THROW(registry.add(std::make_unique<Named>("t1.op7")), Error);
}

TEST(Registry, numbers_every_prim_of_its_own_and_nothing_else) {
  Registry registry;
  for (size_t i = 0; i < kPrims; i++) {
    const Prim prim = static_cast<Prim>(i);
    EXPECT_EQ(registry.get(prim).name(), name(prim));
    EXPECT_EQ(registry.get(prim).id, prim);
    EXPECT_EQ(find_prim(name(prim)), prim);
  }
  for (const OpDef* op : registry.all()) EXPECT_EQ(op->id != Prim::none, op->name().starts_with("prims.")) << op->name();
  for (const char* unknown : {"", "add", "prims.", "prims.zzz", "prims.adds"}) EXPECT_EQ(find_prim(unknown), Prim::none) << unknown;
  EXPECT_EQ(registry.add(std::make_unique<Named>("prims.mine")).id, Prim::none);
}

// Tables of some prims.
TEST(PrimTable, finds_the_rows_that_there_are) {
  struct Row {
    Prim prim;
    int value;
  };
  static constexpr Row kTwo[] = {{Prim::sum, 1}, {Prim::add, 2}};
  constexpr PrimTable table{kTwo};
  EXPECT_EQ(table.find(Prim::add)->value, 2);
  EXPECT_EQ(table.find(Prim::sum)->value, 1);
  EXPECT_EQ(table.find(Prim::mul), nullptr);
  EXPECT_EQ(table.find(Prim::none), nullptr);
}

}  // namespace
}  // namespace thunder

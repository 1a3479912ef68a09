// Ops are added while others are looked up; they are found at once, once, and in order.
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/text.h"

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

}  // namespace
}  // namespace thunder

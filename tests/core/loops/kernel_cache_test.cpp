// Each nest is compiled once: for a process, and for those after it.
#include "loops/kernel_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/text.h"
#include "support/failure.h"
#include "support/folder.h"

namespace thunder::loops {
namespace {

// Its code is a word; what it loads is a function that is told from others by that word alone.
struct Words : Emitter {
  std::atomic<int> compiled{0};
  std::string target_name = "here", error;
  bool loads = true;
  const char* target() const override { return target_name.c_str(); }
  Object compile(const CpuNest& nest, const char*) override {
    compiled++;
    return {error.empty() ? std::vector<char>{static_cast<char>(nest.exprs.size())} : std::vector<char>(), error};
  }
  std::string text(const CpuNest&, const char*, bool) override { return "a word"; }
  KernelFn load(const std::vector<char>& code, const char*, std::string& why) override {
    if (loads && code.size() == 1) return reinterpret_cast<KernelFn>(static_cast<uintptr_t>(code[0]));
    return why = "no word", nullptr;
  }
};
CpuNest nest(size_t exprs) {
  CpuNest n;
  n.extents = {100}, n.inner = 1, n.maps = {{1}};
  n.exprs.resize(exprs);
  return n;
}
KernelFn word(uintptr_t w) { return reinterpret_cast<KernelFn>(w); }

struct KernelCacheTest : testing::Test {
  Folder folder;
  Words emitter;
};

TEST_F(KernelCacheTest, compiles_each_kernel_once_in_a_process) {
  KernelCache cache(&emitter, "", "one");
  EXPECT_EQ(cache.get(nest(1)), word(1));
  EXPECT_EQ(cache.get(nest(1)), word(1));
  EXPECT_EQ(cache.get(nest(2)), word(2));
  EXPECT_EQ(emitter.compiled, 2);
}

TEST_F(KernelCacheTest, shares_compiled_kernels_between_processes) {
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  KernelCache next(&emitter, folder.path(), "one");
  EXPECT_EQ(next.get(nest(1)), word(1));
  EXPECT_EQ(emitter.compiled, 1);
  EXPECT_EQ(next.statistics().loaded, 1u);
  EXPECT_EQ(next.statistics().compiled, 0u);
}

TEST_F(KernelCacheTest, ignores_kernels_of_another_build_or_target) {
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  KernelCache(&emitter, folder.path(), "another").get(nest(1));
  emitter.target_name = "there";
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  EXPECT_EQ(emitter.compiled, 3);
}

TEST_F(KernelCacheTest, stores_nothing_without_a_folder) {
  KernelCache(&emitter, "", "one").get(nest(1));
  KernelCache(&emitter, "", "one").get(nest(1));
  EXPECT_EQ(emitter.compiled, 2);
}

TEST_F(KernelCacheTest, does_not_hold_objects_in_memory_that_are_on_disk) {
  for (const std::string& where : {folder.path(), std::string()}) {
    KernelCache cache(&emitter, where, "one");
    cache.get(nest(1));
    EXPECT_EQ(cache.held_bytes(), where.empty() ? 1u : 0u);
    using Objects = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(cache.objects(), (Objects{{print(nest(1)), "\x01"}}));
    EXPECT_EQ(cache.object(print(nest(2))), "");
    cache.add_object(print(nest(3)), "\x03", true);
    EXPECT_EQ(cache.objects().size(), 1u);  // nobody has asked for that kernel
  }
}

TEST_F(KernelCacheTest, reports_objects_that_were_removed_from_disk) {
  KernelCache cache(&emitter, folder.path(), "one");
  cache.get(nest(1));
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove(file);
  EXPECT_PRED2(contains, failure_of([&] { cache.objects(); }),
               cat("the machine code of a compiled kernel is in '", folder.path(), "' no more: it was removed"));
}

TEST_F(KernelCacheTest, recompiles_if_the_file_is_damaged) {
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  ASSERT_EQ(folder.count(), 1u);
  const std::string file = std::filesystem::directory_iterator(folder.path())->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  EXPECT_EQ(emitter.compiled, 2);
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  EXPECT_EQ(emitter.compiled, 2);
}

TEST_F(KernelCacheTest, recompiles_if_the_stored_object_does_not_load) {
  KernelCache(&emitter, folder.path(), "one").get(nest(1));
  emitter.loads = false;
  KernelCache next(&emitter, folder.path(), "one");
  EXPECT_EQ(failure_of([&] { next.get(nest(1)); }), "fusion: no word");
  EXPECT_EQ(emitter.compiled, 2);
}

TEST_F(KernelCacheTest, retries_after_a_failure) {
  KernelCache cache(&emitter, folder.path(), "one");
  emitter.error = "out of registers";
  EXPECT_PRED2(contains, failure_of([&] { cache.get(nest(1)); }), "fusion: out of registers\nin nest 0 outer");
  emitter.error = "";
  EXPECT_EQ(cache.get(nest(1)), word(1));
}

TEST_F(KernelCacheTest, compiles_once_for_many_threads) {
  KernelCache cache(&emitter, folder.path(), "one");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 16; t++)
    threads.emplace_back([&] {
      for (size_t k = 1; k <= 20; k++) wrong += cache.get(nest(k)) != word(k);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(emitter.compiled, 20);
}

}  // namespace
}  // namespace thunder::loops

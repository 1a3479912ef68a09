// thunder_context_memory_stats and its kin, on the CPU; tests/cuda has those of devices.
#include <gtest/gtest.h>
#include <thunder.h>

#include <string>
#include <vector>

namespace {

struct MemoryStats : testing::Test {
  void SetUp() override { ok(thunder_context_create(nullptr, &context)); }
  void TearDown() override { thunder_context_release(context); }
  void ok(thunder_status* status) {
    EXPECT_EQ(status, nullptr) << thunder_status_message(status);
    thunder_status_release(status);
  }
  thunder_memory_stats stats() {
    thunder_memory_stats s{};
    s.size = sizeof s;
    ok(thunder_context_memory_stats(context, THUNDER_CPU, &s));
    return s;
  }
  thunder_tensor* floats(int64_t count) {
    const std::vector<float> data(static_cast<size_t>(count));
    thunder_tensor* made = nullptr;
    ok(thunder_tensor_create(context, THUNDER_F32, 1, &count, THUNDER_CPU, data.data(), data.size() * 4, &made));
    return made;
  }
  thunder_context* context = nullptr;
};

TEST_F(MemoryStats, follow_tensors_and_keep_peaks_until_they_are_reset) {
  EXPECT_EQ(stats().allocated_bytes, 0u);
  thunder_tensor* const tensors[] = {floats(100000), floats(100000)};
  const thunder_memory_stats two = stats();
  EXPECT_GE(two.allocated_bytes, 800000u);
  EXPECT_EQ(two.max_allocated_bytes, two.allocated_bytes);
  EXPECT_EQ(two.misses, 2u);
  for (thunder_tensor* t : tensors) thunder_tensor_release(t);
  const thunder_memory_stats none = stats();
  EXPECT_EQ(none.allocated_bytes, 0u);
  EXPECT_EQ(none.reserved_bytes, two.allocated_bytes);
  EXPECT_EQ(none.max_allocated_bytes, two.allocated_bytes);
  ok(thunder_context_reset_peak_memory_stats(context, THUNDER_CPU));
  EXPECT_EQ(stats().max_allocated_bytes, 0u);
  thunder_tensor_release(floats(100000));
  EXPECT_EQ(stats().hits, 1u);
  EXPECT_EQ(stats().max_allocated_bytes, two.allocated_bytes / 2);
}

TEST_F(MemoryStats, of_a_cache_that_was_emptied_keep_nothing) {
  thunder_tensor_release(floats(100000));
  EXPECT_GT(stats().reserved_bytes, 0u);
  ok(thunder_context_empty_cache(context, THUNDER_CPU));
  EXPECT_EQ(stats().reserved_bytes, 0u);
  ok(thunder_context_synchronize(context, 0));
}

// A program that was built when the structure had fewer members.
TEST_F(MemoryStats, fill_no_more_than_the_caller_has_room_for) {
  thunder_tensor* const t = floats(100000);
  thunder_memory_stats s{};
  s.size = offsetof(thunder_memory_stats, max_allocated_bytes);
  s.max_allocated_bytes = 7;
  ok(thunder_context_memory_stats(context, THUNDER_CPU, &s));
  EXPECT_GE(s.allocated_bytes, 400000u);
  EXPECT_EQ(s.max_allocated_bytes, 7u);
  thunder_tensor_release(t);
}

TEST_F(MemoryStats, refuse_a_device_that_is_not_there_and_a_structure_without_its_size) {
  thunder_memory_stats s{};
  thunder_status* status = thunder_context_memory_stats(context, THUNDER_CPU, &s);
  ASSERT_NE(status, nullptr);
  EXPECT_NE(std::string(thunder_status_message(status)).find("size is 0"), std::string::npos) << thunder_status_message(status);
  thunder_status_release(status);
  for (const auto call : {thunder_context_synchronize, thunder_context_empty_cache, thunder_context_reset_peak_memory_stats}) {
    status = call(context, THUNDER_CUDA(63));
    EXPECT_NE(status, nullptr);
    thunder_status_release(status);
  }
}

}  // namespace

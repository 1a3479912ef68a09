// Chunks' sums are added in one order, whoever does the chunks.
#include "loops/cpu/partials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ops/kernels.h"

namespace thunder::loops {
namespace {

constexpr int64_t kSums = 5;

// Two arguments of sums behind one input. Chunks are done in ranges that end at these numbers, the last range first.
std::vector<float> sums_of(const PartialSums& partial, const std::vector<int64_t>& ends, DType out) {
  std::vector<std::byte> memory(partial.bytes());
  std::vector<float> found(2 * kSums, NAN);  // whatever memory held before
  const int64_t shape[] = {kSums}, strides[] = {1};
  std::vector<bf16> half(2 * kSums);
  Buffer outputs[2];
  for (size_t i = 0; i < 2; i++) {
    outputs[i].shape = shape, outputs[i].strides = strides, outputs[i].rank = 1, outputs[i].dtype = out;
    outputs[i].data = out == DType::f32 ? static_cast<void*>(found.data() + i * kSums) : half.data() + i * kSums;
  }
  Launch launch{};
  launch.n_inputs = 1, launch.outputs = outputs, launch.n_outputs = 2, launch.scratch = memory.data();
  PartialSums::Sums sums{&launch};
  for (size_t r = ends.size(); r-- > 0;) {
    const int64_t first = r ? ends[r - 1] : 0;
    for (int64_t c = first; c < ends[r]; c++) {
      void* arguments[3] = {};
      partial.zero_chunk(sums, c, arguments);
      for (int64_t i = 0; i < kSums; i++) {
        static_cast<float*>(arguments[1])[i] += 0.1f + static_cast<float>(c * c) / 3.0f + static_cast<float>(i);
        static_cast<float*>(arguments[2])[i] += 1.0f / static_cast<float>(1 + c + i);
      }
      partial.combine_finished(sums, first, c);
    }
  }
  partial.combine_all(sums);
  if (out != DType::f32) std::copy(half.begin(), half.end(), found.begin());
  return found;
}

PartialSums partial_sums(int64_t chunks) { return {{{1, kSums, DType::f32}, {2, kSums, DType::f32}}, chunks}; }

TEST(PartialSums, have_the_same_bits_however_chunks_are_divided) {
  for (const int64_t chunks : {1, 2, 3, 4, 5, 7, 8, 13, 31, 32}) {
    const PartialSums partial = partial_sums(chunks);
    ASSERT_EQ(partial.chunks(), chunks);
    std::vector<int64_t> each(static_cast<size_t>(chunks));
    std::iota(each.begin(), each.end(), 1);
    const std::vector<float> alone = sums_of(partial, {chunks}, DType::f32);
    double expected = 0;
    for (int64_t c = 0; c < chunks; c++) expected += 1.0 / static_cast<double>(1 + c);
    EXPECT_NEAR(alone[kSums], expected, 1e-5) << chunks;
    EXPECT_EQ(sums_of(partial, each, DType::f32), alone) << chunks;
    for (int64_t cut = 1; cut < chunks; cut++) EXPECT_EQ(sums_of(partial, {cut, chunks}, DType::f32), alone) << chunks << " " << cut;
  }
}

TEST(PartialSums, are_converted_to_the_dtype_of_the_output) {
  const PartialSums partial = partial_sums(4);
  const std::vector<float> found = sums_of(partial, {4}, DType::bf16), exact = sums_of(partial, {4}, DType::f32);
  for (size_t i = 0; i < found.size(); i++) EXPECT_EQ(found[i], static_cast<float>(bf16(exact[i]))) << i;
}

TEST(PartialSums, use_large_chunks_and_at_most_one_for_each_work_item) {
  const auto chunks = [](int64_t elements, int64_t items) { return choose_chunk_count({{1, 100, DType::f32}}, elements, items); };
  EXPECT_EQ(chunks(1000, 100), 4);
  EXPECT_EQ(chunks(64 * 100 * 10, 100), 10);
  EXPECT_EQ(chunks(int64_t{1} << 40, 100), kChunks);
  EXPECT_EQ(chunks(int64_t{1} << 40, 3), 3);
  EXPECT_EQ(choose_chunk_count({}, 1000, 100), 0);
  EXPECT_EQ(PartialSums({}, 0).bytes(), 0u);
}

}  // namespace
}  // namespace thunder::loops

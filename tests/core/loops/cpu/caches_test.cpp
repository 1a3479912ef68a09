// Values kept between passes (row_buffers of the emitter), non-temporal stores, software pipelining and prefetching.
#include "loops/cpu/caches.h"

#include <gtest/gtest.h>

#include "loops/kernels.h"
#include "core/loops/cpu/scheduled.h"
#include "support/machines.h"

namespace thunder::loops {
namespace {

Expr make(Fn fn, std::initializer_list<ExprId> in) {
  Expr e;
  e.fn = fn, e.dtype = DType::f32;
  for (ExprId id : in) e.in[e.count++] = id;
  return e;
}

// out = -in, rows of them a distance apart.
CpuNest negated(int64_t rows, int64_t columns, Map map) {
  CpuNest n;
  n.extents = {rows, columns};
  n.outer = 2;
  n.buffers = {DType::f32, DType::f32};
  n.maps = {std::move(map)};
  n.exprs = {make(Fn::load, {}), make(Fn::neg, {0})};
  n.stores = {{1, OutputKind::each, 1, 0}};
  schedule(n, 0, test::neoverse_n1());
  return n;
}

// out = -in, which lies the other way round.
CpuNest turned(int64_t rows, int64_t columns) {
  CpuNest n;
  n.extents = {rows, columns};
  n.outer = 2;
  n.buffers = {DType::f32, DType::f32};
  n.maps = {{1, rows}, {columns, 1}};
  n.exprs = {make(Fn::load, {}), make(Fn::neg, {0})};
  n.stores = {{1, OutputKind::each, 1, 1}};
  schedule(n, 0, test::neoverse_n1());
  EXPECT_TRUE(n.blocked);
  return n;
}

// out = exp(in) / sum(exp(in)) by rows.
CpuNest softmax(int64_t rows, int64_t columns, Map map) {
  CpuNest n;
  n.extents = {rows, columns};
  n.outer = 2;
  n.buffers = {DType::f32, DType::f32};
  n.maps = {std::move(map)};
  n.exprs = {make(Fn::load, {}), make(Fn::exp, {0}), make(Fn::sum, {1}), make(Fn::div, {1, 2})};
  n.stores = {{3, OutputKind::each, 1, 0}};
  schedule(n, axis_bit(1), test::neoverse_n1());
  return n;
}
CpuNest softmax(int64_t rows, int64_t columns) { return softmax(rows, columns, {columns, 1}); }

// As above, of one axis.
CpuNest softmax_of_one_row(int64_t columns) {
  CpuNest n = softmax(1, columns);
  n.extents = {columns};
  n.outer = 0;
  n.lane = 0;
  for (Map& m : n.maps) m = {1};
  return n;
}

TEST(KeepRows, keeps_expensive_values_used_in_several_passes) { EXPECT_EQ(softmax(40, 30).kept, (std::vector<ExprId>{1})); }

// 256 KiB of them.
TEST(KeepRows, keeps_no_row_larger_than_a_quarter_of_the_l2_cache) {
  EXPECT_EQ(softmax(4, 65536).kept, (std::vector<ExprId>{1}));
  EXPECT_TRUE(softmax(4, 65537).kept.empty());
}

// out = (exp(in) + tanh(in)) * sum(exp(in)) * sum(tanh(in)) by rows.
TEST(KeepRows, keeps_as_many_rows_as_fit_together) {
  const auto kept = [](int64_t columns) {
    CpuNest n;
    n.extents = {4, columns};
    n.outer = 2;
    n.buffers = {DType::f32, DType::f32};
    n.maps = {Map{columns, 1}};
    n.exprs = {make(Fn::load, {}), make(Fn::exp, {0}), make(Fn::tanh, {0}), make(Fn::sum, {1}), make(Fn::sum, {2}), make(Fn::add, {1, 2}),
               make(Fn::mul, {5, 3}), make(Fn::mul, {6, 4})};
    n.stores = {{7, OutputKind::each, 1, 0}};
    schedule(n, axis_bit(1), test::neoverse_n1());
    return n.kept;
  };
  EXPECT_EQ(kept(32768), (std::vector<ExprId>{1, 2}));
  EXPECT_EQ(kept(32769), (std::vector<ExprId>{1}));
}

TEST(NonTemporalStores, are_used_for_contiguous_outputs_of_half_the_last_level_cache) {
  const auto is_nontemporal = [](CpuNest n, size_t cache) {
    choose_nontemporal_stores(n, test::with_caches(0, 0, cache));
    return n.is_nontemporal(n.stores[0]);
  };
  const CpuNest dense = negated(40, 30, {30, 1}), apart = negated(40, 30, {60, 2});
  EXPECT_TRUE(is_nontemporal(dense, 2 * 40 * 30 * 4));
  EXPECT_FALSE(is_nontemporal(dense, 2 * 40 * 30 * 4 + 2));
  EXPECT_FALSE(is_nontemporal(dense, 0));
  EXPECT_FALSE(is_nontemporal(apart, 64));
}

// What a nest of one input and one output computes, whose output begins so many floats after a line.
std::vector<float> computed(const CpuNest& n, size_t elements, int64_t before) {
  constexpr int64_t kStrip = 64, kBlock = 32, kLine = 16;
  std::vector<float> in(elements + kLine), out(elements + 2 * kLine, 7);
  for (size_t i = 0; i < elements; i++) in[i + static_cast<size_t>(before)] = 0.001f * static_cast<float>(i % 977);
  auto parameters = loops::parameters(n);
  parameters.insert(parameters.end(), {kStrip, kBlock});
  const auto line = (kLine - static_cast<int64_t>(reinterpret_cast<uintptr_t>(out.data()) / sizeof(float) % kLine)) % kLine;
  void* buffers[] = {in.data() + before, out.data() + (line + before) % kLine};
  IndexError index_error;
  kernel(n)(buffers, parameters.data(), 0, work_items(n, kStrip, kBlock), &index_error);
  return std::vector<float>(static_cast<float*>(buffers[1]), static_cast<float*>(buffers[1]) + elements);
}
void expect_the_same_streamed(const CpuNest& n, size_t elements) {
  CpuNest streamed = n;
  choose_nontemporal_stores(streamed, test::with_caches(0, 0, 64));
  choose_prefetches(streamed, test::with_caches(0, 64, 64));
  ASSERT_TRUE(streamed.is_nontemporal(streamed.stores[0]));
  for (int64_t before = 0; before < 16; before++) EXPECT_EQ(computed(streamed, elements, before), computed(n, elements, before)) << before;
}

// Rows of 1021 floats begin anywhere in a line, as the first one does: what lies before the first whole line and behind the last is
// stored beside.
TEST(NonTemporalStores, do_not_change_results) {
  if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  expect_the_same_streamed(softmax(9, 1021), 9 * 1021);
  expect_the_same_streamed(negated(9, 1021, {1021, 1}), 9 * 1021);
}

// Vectors are taken by lines of the cache, but the order of a sum is that of the elements.
TEST(SumsOfUnalignedRows, have_one_order_at_any_alignment) {
  if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  for (const int64_t columns : {17, 63, 100, 1021}) {
    const CpuNest n = softmax(9, columns);
    const auto elements = static_cast<size_t>(9 * columns);
    const std::vector<float> first = computed(n, elements, 0);
    for (int64_t before = 1; before < 16; before++) EXPECT_EQ(computed(n, elements, before), first) << columns << " columns, " << before;
  }
}

TEST(NonTemporalStores, do_not_change_scans) {
  if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  for (const bool backwards : {false, true}) {
    CpuNest n;
    n.extents = {9, 1021};
    n.outer = 2;
    n.backwards = backwards;
    n.buffers = {DType::f32, DType::f32};
    n.maps = {{1021, 1}};
    n.exprs = {make(Fn::load, {}), make(Fn::exp, {0}), make(Fn::cumsum, {1})};
    n.exprs[2].axis = 1;
    n.stores = {{2, OutputKind::each, 1, 0}};
    schedule(n, axis_bit(1), test::neoverse_n1());
    expect_the_same_streamed(n, 9 * 1021);
  }
}

TEST(NonTemporalStores, do_not_change_transposed_copies) {
  if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  expect_the_same_streamed(turned(211, 173), 211 * 173);
}

// Rows that are summed by vectors along the columns: their lanes begin outside of the loops.
TEST(NonTemporalStores, do_not_change_nests_with_an_outer_lane_axis) {
  if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  const CpuNest n = softmax(1021, 30, {1, 1021});
  ASSERT_TRUE(n.lane_is_outer());
  expect_the_same_streamed(n, 1021 * 30);
}

TEST(SoftwarePipelining, applies_to_rows_of_several_passes) {
  const auto pipelined = [](CpuNest n, size_t first_level = 32 << 10, size_t last_level = 1 << 20) {
    choose_nontemporal_stores(n, test::with_caches(0, 0, last_level));
    choose_software_pipeline(n, test::with_caches(first_level, 0, last_level));
    return n.software_pipelined;
  };
  EXPECT_TRUE(pipelined(softmax(100, 64)));
  EXPECT_TRUE(pipelined(softmax(100, 100)));
  EXPECT_FALSE(pipelined(softmax(100, 4096))) << "more rows than the first level has room for";
  EXPECT_FALSE(pipelined(softmax(2048, 64))) << "what is streamed";
  EXPECT_FALSE(pipelined(negated(100, 64, {64, 1}))) << "one pass";
  EXPECT_FALSE(pipelined(softmax_of_one_row(64)));
}

// In flight of softmax are its input in the first pass, a row of powers in each, and the result.
TEST(SoftwarePipelining, counts_the_working_set_of_each_pass) {
  constexpr size_t kRow = 100 * 4;
  CpuNest n = softmax(50, 100);
  choose_software_pipeline(n, test::with_caches(4 * kRow - 1, 0, 0));
  EXPECT_FALSE(n.software_pipelined);
  choose_software_pipeline(n, test::with_caches(4 * kRow, 0, 0));
  EXPECT_TRUE(n.software_pipelined);
  n.kept.clear();  // the input in both passes, and the result
  choose_software_pipeline(n, test::with_caches(3 * kRow - 1, 0, 0));
  EXPECT_FALSE(n.software_pipelined);
  choose_software_pipeline(n, test::with_caches(3 * kRow, 0, 0));
  EXPECT_TRUE(n.software_pipelined);
}

TEST(SoftwarePipelining, skips_operands_larger_than_the_caches) {
  CpuNest n = softmax(100, 64);
  constexpr size_t kAll = 2 * 100 * 64 * 4;
  choose_software_pipeline(n, test::with_caches(32 << 10, 0, kAll - 1));
  EXPECT_FALSE(n.software_pipelined);
  choose_software_pipeline(n, test::with_caches(32 << 10, 0, kAll));
  EXPECT_TRUE(n.software_pipelined);
}

TEST(Prefetch, skips_software_pipelined_rows) {
  CpuNest n = softmax(4000, 300);
  n.kept.clear();
  choose_prefetches(n, test::with_caches(0, 4096, 0));
  EXPECT_FALSE(n.prefetches.empty());
  n.software_pipelined = true;
  choose_prefetches(n, test::with_caches(0, 4096, 0));
  EXPECT_TRUE(n.prefetches.empty());
}

TEST(Prefetch, fetches_the_next_row_of_nests_with_several_passes) {
  const auto ahead = [](CpuNest n, size_t cache) {
    choose_prefetches(n, test::with_caches(0, cache, 0));
    return n.prefetches;
  };
  constexpr int64_t kColumns = 70001;  // more than are kept
  constexpr size_t kRow = kColumns * 4;
  const auto found = ahead(softmax(4, kColumns), 2 * kRow);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].load, 0u);
  EXPECT_EQ(found[0].pass, 1u);
  EXPECT_TRUE(ahead(softmax(4, kColumns), 2 * kRow - 2).empty()) << "the next row would push this one out";
  EXPECT_TRUE(ahead(softmax(4, kColumns), 4 * kRow).empty()) << "all of it is in the cache as it is";
  EXPECT_TRUE(ahead(softmax(4000, 300), 4096).empty()) << "what is kept is not read again";
  EXPECT_TRUE(ahead(softmax_of_one_row(kColumns), 4096).empty()) << "there is one row";
  EXPECT_TRUE(ahead(negated(4000, 300, {300, 1}), 4096).empty()) << "nothing is read twice";
}

TEST(Prefetch, fetches_the_next_tile_with_non_temporal_stores) {
  CpuNest n = turned(4000, 300);
  choose_prefetches(n, test::with_caches(0, 4096, 0));
  EXPECT_TRUE(n.prefetches.empty()) << "nothing is streamed";
  choose_nontemporal_stores(n, test::with_caches(0, 0, 4096));
  choose_prefetches(n, test::with_caches(0, 4096, 0));
  ASSERT_EQ(n.prefetches.size(), 1u);
  EXPECT_EQ(n.prefetches[0].load, 0u);
}

TEST(Prefetch, fetches_the_next_row_of_column_sums_larger_than_the_caches) {
  CpuNest n;
  n.extents = {4000, 300};
  n.outer = 2;
  n.buffers = {DType::f32, DType::f32, DType::f32};
  n.maps = {{300, 1}, {0, 1}};
  n.exprs = {make(Fn::load, {}), make(Fn::load, {}), make(Fn::mul, {0, 1})};
  n.exprs[1].buffer = 1, n.exprs[1].map = 1;
  n.stores = {{2, OutputKind::column, 2, 1}};
  schedule(n, 0, test::neoverse_n1());
  for (const size_t cache : {0, 4000 * 300 * 4}) {
    choose_prefetches(n, test::with_caches(0, 64, cache));
    EXPECT_TRUE(n.prefetches.empty()) << cache;
  }
  choose_prefetches(n, test::with_caches(0, 64, 4000 * 300 * 4 - 4));
  ASSERT_EQ(n.prefetches.size(), 1u) << "of the row that is the same for all there is no next one";
  EXPECT_EQ(n.exprs[n.prefetches[0].load].buffer, 0u);
}

// Sums of columns of the products of what lies in rows of 300, two of them side by side.
CpuNest sums_of_parts() {
  CpuNest n;
  n.extents = {4000, 300};
  n.outer = 2;
  n.buffers = {DType::f32, DType::f32};
  n.maps = {{600, 1}, {0, 1}};
  n.exprs = {make(Fn::load, {}), make(Fn::load, {}), make(Fn::mul, {0, 1})};
  n.stores = {{2, OutputKind::column, 1, 1}};
  schedule(n, 0, test::neoverse_n1());
  return n;
}

TEST(SumsWholeRows, if_strips_would_read_the_same_elements) {
  CpuNest n = sums_of_parts();
  constexpr size_t kRow = 3 * 300 * 4;
  EXPECT_FALSE(sums_whole_rows(n, test::with_caches(0, 2 * kRow, 0))) << "both read the same place";
  n.exprs[1].offset = 150;
  EXPECT_TRUE(sums_whole_rows(n, test::with_caches(0, 2 * kRow, 0)));
  EXPECT_FALSE(sums_whole_rows(n, test::with_caches(0, 2 * kRow - 2, 0))) << "rows push sums out";
  EXPECT_FALSE(sums_whole_rows(n, test::with_caches(0, 0, 0)));
  n.exprs[1].offset = 300;
  EXPECT_FALSE(sums_whole_rows(n, test::with_caches(0, 2 * kRow, 0))) << "rows lie elsewhere";
  n.exprs[1].offset = 1;
  n.maps[n.exprs[0].map] = {0, 0};
  EXPECT_FALSE(sums_whole_rows(n, test::with_caches(0, 2 * kRow, 0))) << "all positions read the same two numbers";
}

// Halves of a row, the other way round beside the row itself: the row is fetched once. Of rows that lie elsewhere each is.
TEST(Prefetch, fetches_a_row_once_for_loads_of_several_intervals) {
  CpuNest n = sums_of_parts();
  const auto fetched = [&](int64_t offset) {
    n.exprs[1].offset = offset;
    choose_prefetches(n, test::with_caches(0, 64, 4096));
    return n.prefetches.size();
  };
  EXPECT_EQ(fetched(150), 1u);
  EXPECT_EQ(fetched(-150), 1u);
  EXPECT_EQ(fetched(300), 2u);
  choose_prefetches(n, test::with_caches(0, 64, 4000 * 300 * 4));
  EXPECT_FALSE(n.prefetches.empty());
  n.exprs[1].offset = 150;
  choose_prefetches(n, test::with_caches(0, 64, 4000 * 300 * 4));
  EXPECT_TRUE(n.prefetches.empty()) << "the cache holds what is read, which counts once";
}

// Sums of large values and of small ones: x - mean(x) needs little, exp(x - mean(x)) much.
TEST(Prefetch, is_placed_in_the_pass_with_the_most_work) {
  CpuNest n = softmax(4, 50257);
  n.exprs = {make(Fn::load, {}), make(Fn::sum, {0}), make(Fn::sub, {0, 1}), make(Fn::exp, {2}), make(Fn::sum, {3}), make(Fn::sub, {0, 4})};
  n.stores[0].value = 5;
  n.outer += n.inner, n.inner = 0;
  schedule(n, axis_bit(1), test::neoverse_n1());
  ASSERT_EQ(n.passes, 3u);
  choose_prefetches(n, test::with_caches(0, 50257 * 8, 0));
  ASSERT_EQ(n.prefetches.size(), 1u);
  EXPECT_EQ(n.prefetches[0].pass, 1u);
}

}  // namespace
}  // namespace thunder::loops

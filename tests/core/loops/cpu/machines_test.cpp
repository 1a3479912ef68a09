// Schedules for machines that are described, none of which is the one at hand.
// covers: core/loops/cpu/division.cpp
#include "core/executors/fusion/support.h"
#include "loops/cpu/division.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

struct Machines : FusedTest {
  // Of each kernel of a function.
  std::vector<CpuNest> scheduled(const Body& body, const Tensors& in, const Machine& machine) {
    return nests(traced(body, in), machine, "prefetch");
  }
  static size_t kept_bytes(const CpuNest& n) {
    size_t bytes = 0;
    for (ExprId id : n.kept) bytes += static_cast<size_t>(n.row_elements()) * size_of(n.exprs[id].dtype);
    return bytes;
  }
};

const auto softmax = [](Scope& s, In in) { return std::vector{call(s, "softmax", {arg(in[0]), arg(int64_t{1})})}; };
const auto transpose = [](Scope& s, In in) {
  return std::vector{call(s, "add", {arg(call(s, "transpose", {arg(in[0]), arg(int64_t{0}), arg(int64_t{1})})), arg(in[1])})};
};

// 40,000 floats take 156 KiB: a quarter of 1 MiB holds them, a quarter of 512 KiB does not.
TEST_F(Machines, keep_rows_in_a_quarter_of_their_l2_cache) {
  const Tensors x = {numbers({4, 40000})};
  EXPECT_EQ(scheduled(softmax, x, test::zen3()).at(0).kept.size(), 0u);
  for (const Machine& m : {test::sapphire_rapids(), test::neoverse_n1(), test::unknown_machine()}) {
    const auto nests = scheduled(softmax, x, m);
    EXPECT_EQ(nests.at(0).kept.size(), 1u) << m.processor;
    EXPECT_LE(kept_bytes(nests[0]), m.l2 ? m.l2 / 4 : 256 << 10) << m.processor;
  }
}

// Five rows of 2,000 floats are in flight: more than 32 KiB, less than 48.
TEST_F(Machines, software_pipeline_rows_that_fit_their_l1_cache) {
  const Tensors x = {numbers({64, 2000})};
  for (const Machine& m : test::described_machines()) {
    const CpuNest n = scheduled(softmax, x, m).at(0);
    EXPECT_EQ(n.software_pipelined, m.l1 > size_t{32} << 10) << m.processor;
  }
}

// 9 MiB are written: more than half of 16 MiB, less than half of 32.
TEST_F(Machines, store_outputs_larger_than_their_last_level_cache_non_temporally) {
  const Tensors x = {numbers({2304, 1024})};
  for (const Machine& m : test::described_machines())
    EXPECT_EQ(scheduled(softmax, x, m).at(0).any_nontemporal(), m.last_level == size_t{16} << 20) << m.processor;
}

// Rows of 512 floats are 2 KiB apart: half of 4 KiB, not of 16.
TEST_F(Machines, use_short_blocks_for_rows_with_conflict_misses) {
  const Tensors in = {numbers({512, 256}), numbers({256, 512})};
  for (const Machine& m : test::described_machines()) {
    const CpuNest n = scheduled(transpose, in, m).at(0);
    ASSERT_TRUE(n.blocked) << m.processor;
    EXPECT_EQ(divide_work(n, {}, m).block, m.conflict_stride == 4096 ? 16 : 128) << m.processor;
  }
}

// Schedules change the order of work and what caches hold, never what is computed: equal expressions, whichever machine it is for.
TEST_F(Machines, all_compute_the_same_results) {
  const auto norm = [](Scope& s, In t) {
    return with_gradients(s, call(s, "layer_norm", {arg(t[0]), arg(std::vector<int64_t>{768}), arg(t[1]), arg(t[2])}), t, 3);
  };
  const Tensors in = {numbers({256, 768}), numbers({768}), numbers({768}), numbers({256, 768})};
  const auto first = scheduled(norm, in, test::zen3());
  ASSERT_FALSE(first.empty());
  for (const Machine& m : test::described_machines()) {
    const auto nests = scheduled(norm, in, m);
    ASSERT_EQ(nests.size(), first.size()) << m.processor;
    for (size_t i = 0; i < nests.size(); i++) {
      EXPECT_EQ(nests[i].exprs.size(), first[i].exprs.size()) << m.processor;
      EXPECT_EQ(nests[i].stores.size(), first[i].stores.size()) << m.processor;
    }
  }
}

}  // namespace
}  // namespace thunder::fusion

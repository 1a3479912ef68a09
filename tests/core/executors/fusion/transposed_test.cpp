// Transposed operands, which are contiguous along another axis than the result. Also covers tiles of the emitter.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

struct Transposed : FusedTest {
  static Tensor* transposed(Scope& s, Tensor* x, int64_t a = 0, int64_t b = 1) { return call(s, "transpose", {arg(x), arg(a), arg(b)}); }
};

// Whole tiles, remainders along each axis, and less than a tile; more than a block and a strip; rows with conflict misses.
TEST_F(Transposed, operands_of_any_size_are_tiled) {
  for (int64_t m : {1, 3, 8, 16, 33, 100, 300})
    for (int64_t n : {1, 5, 16, 40, 64, 97, 512, 600}) {
      SCOPED_TRACE(std::to_string(m) + " " + std::to_string(n));
      const auto made = agree([](Scope& s, In t) { return std::vector{call(s, "add", {arg(t[0]), arg(transposed(s, t[1]))})}; },
                              {numbers({m, n}), numbers({n, m})}, 1, 0);
      EXPECT_EQ(made.kernels, 1u) << made.text;
    }
}

TEST_F(Transposed, operands_of_every_dtype_are_tiled) {
  for (DType d : {DType::f64, DType::bf16, DType::f16, DType::i64, DType::u64, DType::i32, DType::i16, DType::u8, DType::i8, DType::boolean})
    agree([](Scope& s, In t) { return std::vector{call(s, "maximum", {arg(t[0]), arg(transposed(s, t[1]))})}; },
          {numbers({50, 70}, d, 0, 2), numbers({70, 50}, d, 0, 2)}, 1, 0);
}

TEST_F(Transposed, inner_and_outer_dims_are_tiled) {
  for (int64_t other : {0, 1})
    agree([other](Scope& s, In t) { return std::vector{call(s, "exp", {arg(transposed(s, t[0], other, 2))})}; }, {numbers({20, 30, 40})}, 1);
}

TEST_F(Transposed, operands_mix_with_contiguous_and_broadcast_ones) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* sum = call(s, "add", {arg(transposed(s, t[0])), arg(call(s, "mul", {arg(transposed(s, t[1])), arg(t[2])}))});
    return std::vector{call(s, "sub", {arg(sum), arg(t[3])})};
  }, {numbers({70, 50}), numbers({70, 50}), numbers({50, 70}), numbers({70})}, 1);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

TEST_F(Transposed, operands_can_be_summed) {
  agree([](Scope& s, In t) {
    Tensor* y = call(s, "exp", {arg(call(s, "sub", {arg(t[0]), arg(transposed(s, t[1]))}))});
    return std::vector{y, call(s, "sum", {arg(y)})};
  }, {numbers({70, 50}), numbers({50, 70})}, 2, 1e-5);
  agree([](Scope& s, In t) {
    Tensor* y = call(s, "mul", {arg(t[0]), arg(transposed(s, t[1]))});
    return std::vector{y, call(s, "sum", {arg(y), arg(std::vector<int64_t>{0})}), call(s, "sum", {arg(y)})};
  }, {numbers({1030, 1024}), numbers({1024, 1030})}, 3, 1e-5);
}

// Alone, and beside one of which tiles are made.
TEST_F(Transposed, operands_that_are_gathered_are_no_tiles) {
  const auto selected = [](Scope& s, In t) { return call(s, "index_select", {arg(transposed(s, t[0], 1, 2)), arg(int64_t{0}), arg(t[1])}); };
  const Tensors given{numbers({3, 40, 50}), numbers({5}, DType::i64, 0, 2), numbers({5, 40, 50})};
  agree([&](Scope& s, In t) { return std::vector{selected(s, t)}; }, {given[0], given[1]}, 1, 0);
  agree([&](Scope& s, In t) { return std::vector{call(s, "add", {arg(selected(s, t)), arg(transposed(s, t[2], 1, 2))})}; }, given, 1, 0);
}

TEST_F(Transposed, copies_use_all_threads) {
  const auto made = agree([](Scope& s, In t) { return std::vector{call(s, "contiguous", {arg(transposed(s, t[0]))})}; }, {numbers({130, 70})}, 1, 0);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

}  // namespace
}  // namespace thunder::fusion

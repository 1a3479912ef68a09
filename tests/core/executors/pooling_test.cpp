// Pooling beside the reference: every kind of window and layout, for each set of instructions.
// covers: core/executors/cpu/pooling/pooling.cpp
#include "executors/cpu/executors.h"

#include <bit>
#include <limits>

#include "base/text.h"
#include "support/machines.h"
#include "support/on_instructions.h"

namespace thunder::test {
namespace {

struct Case {
  std::vector<int64_t> x, kernel, stride, padding, dilation;
  bool ceil_mode;
};
const Case kCases[] = {
    {{2, 3, 9, 80}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false},  {{1, 2, 7, 37}, {3, 2}, {2, 1}, {1, 0}, {1, 2}, false},
    {{2, 1, 12, 33}, {2, 4}, {1, 3}, {1, 2}, {2, 1}, true},  {{1, 1, 5, 5}, {5, 5}, {1, 1}, {2, 2}, {1, 1}, false},
    {{1, 3, 8, 130}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, false}, {{3, 40, 30, 32}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, true},
    {{1, 1, 3, 3}, {3, 3}, {7, 50}, {1, 1}, {1, 1}, true},   {{0, 2, 5, 5}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false},
    {{1, 2, 3, 40}, {2, 9}, {2, 2}, {0, 4}, {1, 3}, false},
};

enum class Pixels { numbers, few_numbers, infinities };

struct Pooling : OnInstructions<pooling_executor> {
  Ref<Tensor> pixels(const std::vector<int64_t>& shape, Pixels kind) {
    Ref<Tensor> x = random(shape, 1);
    auto* data = reinterpret_cast<float*>(x->data());
    constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
    for (int64_t i = 0; i < x->elements(); i++) {
      if (kind == Pixels::few_numbers) data[i] = std::array{1.0f, -1.0f, 0.0f, -0.0f, kNaN, -kNaN}[static_cast<size_t>(i * i % 23 % 6)];
      if (kind == Pixels::infinities && i % 41 / 4 != 5) data[i] = -kInfinity;
    }
    return x;
  }

  void expect_like_host(const Case& c, bool turned, Pixels kind) {
    const auto body = [&](bool places) -> Lambda::Body {
      return [&c, turned, places](Scope& s, const Values& in, Values& out) {
        const int64_t order[] = {0, 1, 3, 2};
        Tensor* x = in[0].tensor.get();
        if (turned) x = op(s, "prims.permute", {any(x), Any::dims(order)});
        const Any args[] = {any(x), Any::dims(c.kernel), Any::dims(c.stride), Any::dims(c.padding), Any::dims(c.dilation), Any::boolean(c.ceil_mode)};
        Tensor* pooled[2];
        s.invoke("max_pool2d_with_indices", args, nullptr, pooled, 2, "here:1");
        out.push(Ref<Tensor>(places ? op(s, "mul", {any(pooled[1]), Any::real(1)}) : pooled[0]));
      };
    };
    std::vector<int64_t> shape = c.x;
    if (turned) std::swap(shape[2], shape[3]);
    const auto x = pixels(shape, kind);
    for (bool places : {false, true}) {
      const std::string what = cat("case ", &c - kCases, turned ? ", turned" : "", ", pixels ", static_cast<int>(kind), places ? ", places" : "");
      const Floats expected = run(*compile(body(places), only("host").get()), {x.get()});
      auto compiled = compile(body(places), only("tested").get());
      const Floats got = run(*compiled, {x.get()});
      ASSERT_EQ(got.size(), expected.size()) << what << error;
      for (size_t i = 0; i < got.size(); i++) ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected[i])) << what << " at " << i;
      EXPECT_GT(lines_of(*compiled, "tested", "prims.max_pool2d"), 0) << what;
    }
  }
};

TEST_P(Pooling, matches_the_reference_executor) {
  for (const Case& c : kCases)
    for (bool turned : {false, true})
      for (Pixels kind : {Pixels::numbers, Pixels::few_numbers, Pixels::infinities}) expect_like_host(c, turned, kind);
}

INSTANTIATE_TEST_SUITE_P(Instructions, Pooling, every_set_of_instructions(), name_of_instructions);

// Without padding, with ceil_mode.
Lambda::Body max_pool2d(std::vector<int64_t> kernel, std::vector<int64_t> stride, std::vector<int64_t> dilation) {
  return [=](Scope& s, const Values& in, Values& out) {
    const int64_t padding[] = {0, 0};
    out.push(Ref<Tensor>(op(s, "max_pool2d", {any(in[0].tensor), Any::dims(kernel), Any::dims(stride), Any::dims(padding), Any::dims(dilation), Any::boolean(true)})));
  };
}

// A window that reaches beyond what 32 bits count is left to others, and so are other dtypes.
TEST_P(Pooling, declines_planes_of_too_many_pixels) {
  const auto x = tensor({1, 1, 2, 2}, {1, 2, 4, 3});
  auto wide = compile(max_pool2d({1, 2}, {1, int64_t{1} << 30}, {1, int64_t{1} << 29}), only("tested").get());
  EXPECT_EQ(run(*wide, {x.get()}), (Floats{1, 4})) << error;
  EXPECT_EQ(executor_of(*wide, "prims.max_pool2d"), "host");
  const auto whole = integers({1, 1, 2, 2}, {1, 2, 3, 4});
  auto of_integers = compile(max_pool2d({2, 2}, {2, 2}, {1, 1}), only("tested").get());
  run(*of_integers, {whole.get()});
  EXPECT_EQ(executor_of(*of_integers, "prims.max_pool2d"), "host") << error;
}

TEST(PoolingExecutor, is_built_in) {
  if (this_machine().instructions == Instructions::none) GTEST_SKIP() << "the processor has no AVX2";
  const std::vector<std::string> names = make<Context>(ContextHooks{})->executor_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "pooling"), names.end());
}

}  // namespace
}  // namespace thunder::test

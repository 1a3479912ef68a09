// Convolutions and their gradients beside the reference: every kind of window, layout and group, for each set of
// instructions. Covers convolution, window, planes, correlation, depthwise, winograd, winograd_weight_grad and their
// transforms, forward, input_grad and weight_grad.
// covers: capi/transforms.cpp core/executors/cpu/convolution/*.cpp
#include "executors/cpu/executors.h"

#include <cmath>
#include <list>

#include "base/text.h"
#include "support/machines.h"
#include "support/num_threads.h"
#include "support/on_instructions.h"
#include "support/products.h"

namespace thunder::test {
namespace {

// Sizes of the input and the weight, and the window's options.
struct Case {
  std::vector<int64_t> x, w, stride, padding, dilation;
  int64_t groups;
};
const Case kCases[] = {
    {{2, 3, 9, 8}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},        {{2, 4, 13, 11}, {6, 2, 3, 2}, {2, 3}, {1, 2}, {2, 1}, 2},
    {{1, 4, 20, 30}, {4, 1, 5, 5}, {1, 1}, {4, 4}, {1, 1}, 4},      {{2, 40, 6, 7}, {30, 40, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{1, 9, 5, 4}, {3, 9, 2, 2}, {3, 3}, {5, 6}, {3, 2}, 1},        {{1, 1, 70, 300}, {2, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{3, 2, 7, 7}, {130, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1},      {{1, 3, 4, 5}, {2, 3, 4, 5}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{2, 6, 10, 10}, {4, 3, 1, 3}, {3, 2}, {2, 0}, {1, 4}, 2},      {{1, 2, 3, 3}, {2, 2, 3, 3}, {4, 5}, {2, 2}, {1, 1}, 1},
    {{1, 2, 6, 9}, {2, 2, 1, 1}, {2, 3}, {0, 0}, {1, 1}, 1},        {{1, 1, 3, 90}, {1, 1, 2, 2}, {70, 70}, {0, 1}, {1, 1}, 1},
    {{0, 2, 5, 5}, {3, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},        {{3, 70, 16, 17}, {3, 70, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{4, 1, 900, 900}, {2, 1, 3, 3}, {90, 90}, {1, 1}, {1, 1}, 1},  // more images than are packed at a time
    // A channel a group: strides, dilations and paddings beyond the window, images smaller than a vector and larger.
    {{3, 5, 7, 7}, {5, 1, 5, 5}, {1, 1}, {2, 2}, {1, 1}, 5},        {{2, 7, 14, 15}, {7, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 7},
    {{1, 6, 33, 40}, {6, 1, 7, 7}, {1, 1}, {3, 3}, {1, 1}, 6},      {{2, 3, 11, 9}, {3, 1, 2, 3}, {3, 2}, {0, 4}, {1, 2}, 3},
    {{0, 3, 5, 5}, {3, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 3},        {{1, 2, 3, 3}, {2, 1, 2, 2}, {4, 5}, {2, 2}, {1, 1}, 2},
    // By tiles: odd and even sizes, each padding, groups, more channels than a block has, more images than are packed at a time.
    {{9, 16, 7, 7}, {17, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},     {{2, 32, 13, 30}, {40, 16, 3, 3}, {1, 1}, {0, 2}, {1, 1}, 2},
    {{5, 130, 9, 12}, {20, 130, 3, 3}, {1, 1}, {2, 0}, {1, 1}, 1},  {{3, 16, 270, 270}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
    // A last block of outputs that is narrower than half a vector: of four, and of one.
    {{2, 16, 12, 12}, {256, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},  {{2, 16, 9, 12}, {239, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
};

// The result (2), or the gradient of input 0 or 1; `turned`: of operands whose last two axes lie the other way.
Lambda::Body body_of(const Case& w, bool turned, size_t which) {
  return [&w, turned, which](Scope& s, const Values& in, Values& out) {
    const int64_t order[] = {0, 1, 3, 2};
    Tensor *x = in[0].tensor.get(), *weight = in[1].tensor.get();
    if (turned) x = op(s, "prims.permute", {any(x), Any::dims(order)}), weight = op(s, "prims.permute", {any(weight), Any::dims(order)});
    Tensor* y = op(s, "conv2d", {any(x), any(weight), Any(), Any::dims(w.stride), Any::dims(w.padding), Any::dims(w.dilation), Any::integer(w.groups)});
    if (which == 2) return out.push(Ref<Tensor>(y));
    Values wrt;
    wrt.push(in[which].tensor);
    out.push((*s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt))[0].tensor);
  };
}
constexpr const char* kOps[] = {"prims.conv2d_input_grad", "prims.conv2d_weight_grad", "prims.conv2d"};

struct Convolution : OnInstructions<convolution_executor> {
  void expect_like_host(const Case& w, bool turned, size_t which) {
    std::vector<int64_t> x = w.x, weight = w.w;
    if (turned) std::swap(x[2], x[3]), std::swap(weight[2], weight[3]);
    const auto a = random(x, 1), b = random(weight, 2);
    const std::string what = cat(kOps[which], " ", &w - kCases, turned ? ", turned" : "");
    const Floats expected = run(*compile(body_of(w, turned, which), only("host").get()), {a.get(), b.get()});
    auto compiled = compile(body_of(w, turned, which), only("tested").get());
    const Floats got = run(*compiled, {a.get(), b.get()});
    ASSERT_EQ(got.size(), expected.size()) << what << error;
    float greatest = 1;
    for (float v : expected) greatest = std::max(greatest, std::fabs(v));
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 2e-5 * greatest) << what << " at " << i;
    EXPECT_GT(lines_of(*compiled, "tested", kOps[which]), 0) << what;
  }
};

TEST_P(Convolution, matches_the_reference_executor) {
  for (const Case& w : kCases)
    for (bool turned : {false, true})
      for (size_t which : {0u, 1u, 2u})
        if (!turned || w.x[2] < 900) expect_like_host(w, turned, which);
}

// Whatever the threads take of the images, or of one.
TEST_P(Convolution, results_have_the_same_bits_for_any_number_of_threads) {
  for (const Case& w : {Case{{5, 24, 31, 29}, {40, 24, 3, 3}, {2, 1}, {1, 1}, {1, 1}, 1}, Case{{1, 16, 40, 9}, {17, 16, 5, 2}, {2, 3}, {2, 0}, {1, 1}, 1},
                        Case{{3, 32, 14, 14}, {20, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1}, Case{{1, 2, 40, 29}, {2, 1, 5, 5}, {2, 1}, {2, 2}, {1, 1}, 2},
                        Case{{1, 24, 1, 300}, {40, 24, 1, 3}, {1, 1}, {0, 1}, {1, 1}, 1}})
    for (size_t which : {0u, 1u, 2u}) {
      Floats found[3];
      for (int n : {1, 2, 3}) {
        const NumThreads threads(n);
        context = make<Context>(ContextHooks{});
        SetUp();
        found[n - 1] = run(*compile(body_of(w, false, which), only("tested").get()), {random(w.x, 1).get(), random(w.w, 2).get()});
      }
      ASSERT_FALSE(found[0].empty()) << error;
      EXPECT_EQ(found[0], found[1]) << kOps[which];
      EXPECT_EQ(found[0], found[2]) << kOps[which];
    }
}

// As in Conv1d: there are no bands of rows to divide.
TEST_P(Convolution, divides_outputs_of_an_image_of_one_row) {
  const Case w{{1, 24, 1, 300}, {40, 24, 1, 3}, {1, 1}, {0, 1}, {1, 1}, 1};
  const NumThreads threads(2);
  context = make<Context>(ContextHooks{});
  SetUp();
  size_t most = 0;
  context->use_threads({[](size_t parts, void (*part)(size_t, void*), void* arg, void* most) {
                          *static_cast<size_t*>(most) = std::max(*static_cast<size_t*>(most), parts);
                          while (parts-- > 0) part(parts, arg);
                        },
                        2, &most, nullptr});
  run(*compile(body_of(w, false, 2), only("tested").get()), {random(w.x, 1).get(), random(w.w, 2).get()});
  EXPECT_EQ(most, 2u);
}

// What a task copies, and what is packed at a time, follow the caches.
TEST_P(Convolution, results_have_the_same_bits_for_any_size_of_the_caches) {
  static std::list<Machine> machines;  // which live as long as their executors
  for (const Case& w : {Case{{9, 24, 31, 29}, {40, 24, 3, 3}, {2, 1}, {1, 1}, {1, 1}, 1}, Case{{9, 32, 14, 14}, {20, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
                        Case{{1, 2, 140, 129}, {2, 1, 5, 5}, {2, 1}, {2, 2}, {1, 1}, 2}})
    for (size_t which : {0u, 1u, 2u}) {
      std::vector<Floats> found;
      for (const Machine& caches : {zen3(), sapphire_rapids(), neoverse_n1(), unknown_machine(), with_caches(16 << 10, 32 << 10, 64 << 10)}) {
        Machine& machine = machines.emplace_back(limited_to(GetParam()));
        machine.l2 = caches.l2, machine.last_level = caches.last_level;
        ExecutorDesc d = *convolution_executor(machine);
        d.name = "tested";
        context = make<Context>(ContextHooks{});
        context->add_executor(make<Executor>(std::move(d)));
        found.push_back(run(*compile(body_of(w, false, which), only("tested").get()), {random(w.x, 1).get(), random(w.w, 2).get()}));
      }
      ASSERT_FALSE(found[0].empty()) << error;
      for (const Floats& other : found) EXPECT_EQ(other, found[0]) << kOps[which];
    }
}

INSTANTIATE_TEST_SUITE_P(Instructions, Convolution, every_set_of_instructions(), name_of_instructions);

// A padded image of more elements than 32 bits count is left to others.
TEST_P(Convolution, declines_images_of_too_many_elements) {
  const Case huge{{1, 1, 1, 1}, {1, 1, 2, 2}, {1, 1}, {40000, 40000}, {80000, 80000}, 1};
  const auto x = random(huge.x, 1), w = random(huge.w, 2);
  auto compiled = compile(body_of(huge, false, 2), only("tested").get());
  EXPECT_EQ(run(*compiled, {x.get(), w.get()}), Floats(1, 0.0f)) << error;
  EXPECT_STREQ(compiled->reports().traces().back().nodes[0]->executor, "host");
}

TEST(Panel, sums_rows_through_a_table_of_offsets) {
  for (Instructions i : {Instructions::neon, Instructions::avx2, Instructions::avx512}) {
    if (this_machine().instructions < i) continue;
    const ProductKernels& k = kernels_for(i)->products;
    const int64_t depth = 37;
    const std::vector<float> b = noise(1000, 1);
    std::vector<int32_t> offsets;
    for (int32_t l = 0; l < depth; l++) offsets.push_back(l * 401 % 900);
    for (int64_t rows = 1; rows <= k.panel_rows; rows++)
      for (bool add : {false, true}) {
        const std::vector<float> a = noise(rows * depth, 2), before = noise(rows * k.panel_columns, 3);
        std::vector<float> c = before;
        k.panel(rows, depth, a.data(), b.data(), offsets.data(), c.data(), add);
        for (int64_t r = 0; r < rows; r++)
          for (int64_t j = 0; j < k.panel_columns; j++) {
            double want = add ? before[static_cast<size_t>(r * k.panel_columns + j)] : 0;
            for (int64_t l = 0; l < depth; l++) want += static_cast<double>(a[static_cast<size_t>(l * rows + r)]) * b[static_cast<size_t>(offsets[static_cast<size_t>(l)] + j)];
            ASSERT_NEAR(c[static_cast<size_t>(r * k.panel_columns + j)], want, 1e-4) << rows << " rows at " << r << ", " << j;
          }
      }
  }
}

TEST(ConvolutionExecutor, is_built_in) {
  if (this_machine().instructions == Instructions::none) GTEST_SKIP() << "the processor has no AVX2";
  const std::vector<std::string> names = make<Context>(ContextHooks{})->executor_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "convolution"), names.end());
}

}  // namespace
}  // namespace thunder::test

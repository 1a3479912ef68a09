// Nodes of 16-bit reals by the kernels of f32, beside the reference: convolution, pooling, attention; and the
// conversions that do it.
// covers: core/executors/cpu/widened_kernel.cpp
#include "executors/cpu/widened_kernel.h"

#include <bit>
#include <cmath>

#include "executors/cpu/isa/kernels.h"
#include "ir/elements.h"
#include "support/functions.h"
#include "support/machines.h"

namespace thunder::test {
namespace {

using Shape = std::vector<int64_t>;

std::vector<const ProductKernels*> kernels_here() {
  std::vector<const ProductKernels*> out;
  const Instructions here = this_machine().instructions;
  for (Instructions i : {Instructions::neon, Instructions::avx2, Instructions::avx512})
    if (i == here || (i < here && i != Instructions::neon)) out.push_back(&kernels_for(i)->products);
  return out;
}

// Bits of a float from f16(v), where NaN is any NaN.
void expect_narrowed(float v, uint16_t got) {
  const uint16_t want = f16(v).bits;
  if (v != v) EXPECT_TRUE((got & 0x7fff) > 0x7c00) << std::hex << got;
  else EXPECT_EQ(got, want) << v;
}

TEST(Conversions, of_every_f16_match_the_reference) {
  std::vector<uint16_t> halves;
  for (uint32_t i = 0; i < 1 << 16; i++) halves.push_back(static_cast<uint16_t>(i));
  for (const ProductKernels* k : kernels_here()) {
    std::vector<float> wide(halves.size());
    k->widen_f16(halves.data(), static_cast<int64_t>(halves.size()), wide.data());
    for (size_t i = 0; i < halves.size(); i++) {
      const float want = std::bit_cast<f16>(halves[i]);
      if (want != want) ASSERT_TRUE(wide[i] != wide[i]) << i;
      else ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(want)) << i;
    }
    for (int32_t off : {-1, 0, 1, 0xfff, 0x1000, 0x1001}) {
      std::vector<float> near;
      for (float v : wide) near.push_back(std::bit_cast<float>(std::bit_cast<int32_t>(v) + off));
      std::vector<uint16_t> back(near.size());
      k->narrow_f16(near.data(), static_cast<int64_t>(near.size()), back.data());
      for (size_t i = 0; i < near.size(); i++) expect_narrowed(near[i], back[i]);
    }
  }
}

TEST(Conversions, write_only_the_given_range) {
  for (const ProductKernels* k : kernels_here())
    for (int64_t n = 0; n < 40; n++) {
      std::vector<uint16_t> halves(static_cast<size_t>(n), f16(1.5f).bits), back(static_cast<size_t>(n + 1), 7);
      std::vector<float> wide(static_cast<size_t>(n + 1), 7);
      k->widen_f16(halves.data(), n, wide.data());
      k->narrow_f16(wide.data(), n, back.data());
      EXPECT_EQ(wide.back(), 7);
      EXPECT_EQ(back.back(), 7);
      for (int64_t i = 0; i < n; i++) ASSERT_EQ(back[static_cast<size_t>(i)], halves[static_cast<size_t>(i)]) << n;
    }
}

Tensor* narrow(Scope& s, Tensor* x, const char* dtype) { return op(s, "to", {any(x), Any::string(dtype)}); }
Tensor* wide(Scope& s, Tensor* x) { return op(s, "to", {any(x), Any::string("float32")}); }
Tensor* turned(Scope& s, Tensor* x) {
  const int64_t order[] = {0, 1, 3, 2};
  return op(s, "prims.permute", {any(x), Any::dims(order)});
}

struct WidenedNodes : CompiledTest {
  void SetUp() override {
    if (kernels_here().empty()) GTEST_SKIP() << "no vectors here";
  }
  // As close as two roundings of a half are.
  void expect_like_host(const Lambda::Body& body, std::vector<Tensor*> in, const char* executor, const char* line, float least) {
    const Floats expected = run(*compile(body, only("host").get()), in);
    ASSERT_FALSE(expected.empty()) << error;
    auto compiled = compile(body, only(executor).get());
    const Floats got = run(*compiled, in);
    ASSERT_EQ(got.size(), expected.size()) << error;
    float most = 1;
    for (float v : expected) most = std::max(most, std::fabs(v));
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], least * most) << line << " at " << i;
    EXPECT_GT(lines_of(*compiled, executor, line), 0) << line;
  }
};
struct Half {
  const char* name;
  float step;
};
constexpr Half kHalves[] = {{"float16", 0x1p-10f}, {"bfloat16", 0x1p-7f}};

TEST_F(WidenedNodes, compute_convolutions_and_their_gradients) {
  const char* lines[] = {"prims.conv2d_input_grad", "prims.conv2d_weight_grad", "prims.conv2d"};
  for (const Half& half : kHalves)
    for (size_t which : {0u, 1u, 2u})
      for (bool other_way : {false, true}) {
        const auto body = [=](Scope& s, const Values& in, Values& out) {
          Tensor *x = narrow(s, in[0].tensor.get(), half.name), *w = narrow(s, in[1].tensor.get(), half.name);
          if (other_way) x = turned(s, x);
          Tensor* y = op(s, "conv2d", {any(x), any(w), Any(), Any::integer(1), Any::integer(1)});
          if (which == 2) return out.push(Ref<Tensor>(wide(s, y)));
          Values wrt;
          wrt.push(in[which].tensor);
          out.push((*s.grad(op(s, "sum", {any(wide(s, y))}), wrt))[0].tensor);
        };
        expect_like_host(body, {random({2, 20, 9, 11}, 1).get(), random({17, 20, 3, 3}, 2).get()}, "convolution", lines[which], half.step);
      }
}

TEST_F(WidenedNodes, compute_max_pooling_exactly) {
  for (const Half& half : kHalves)
    for (bool places : {false, true}) {
      const auto body = [=](Scope& s, const Values& in, Values& out) {
        const Any args[] = {any(turned(s, narrow(s, in[0].tensor.get(), half.name))), Any::integer(3), Any::integer(2), Any::integer(1)};
        Tensor* pooled[2];
        s.invoke("max_pool2d_with_indices", args, nullptr, pooled, 2, "here:1");
        out.push(Ref<Tensor>(wide(s, pooled[places])));
      };
      expect_like_host(body, {random({2, 3, 17, 19}, 1).get()}, "pooling", "prims.max_pool2d", 0);
    }
}

TEST_F(WidenedNodes, compute_attention_and_its_gradients) {
  for (const Half& half : kHalves)
    for (int64_t queries : {2, 40})
      for (bool gradient : {false, true}) {
        const auto body = [=](Scope& s, const Values& in, Values& out) {
          std::vector<Any> args;
          for (size_t i = 0; i < 3; i++) args.push_back(any(narrow(s, in[i].tensor.get(), half.name)));
          Tensor* y = wide(s, op(s, "scaled_dot_product_attention", args));
          if (!gradient) return out.push(Ref<Tensor>(y));
          Values wrt;
          wrt.push(in[1].tensor);
          out.push((*s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt))[0].tensor);
        };
        expect_like_host(body, {random({2, 3, queries, 16}, 1).get(), random({2, 3, 33, 16}, 2).get(), random({2, 3, 33, 16}, 3).get()}, "attention",
                         gradient ? "scaled_dot_product_attention_backward" : "scaled_dot_product_attention_forward", 4 * half.step);
      }
}

}  // namespace
}  // namespace thunder::test

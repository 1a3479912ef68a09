// Conversions between f16 and f32, by instructions and by operations on bits, against ir/elements.h.
// covers: core/loops/llvm/elementwise.cpp
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "core/loops/llvm/loops.h"
#include "ir/elements.h"
#include "loops/llvm/elementwise.h"

namespace thunder::codegen {
namespace {

// To memory and back: what a function's result is rounded to.
llvm::Value* by_bits(llvm::IRBuilder<>& b, llvm::Value* v) { return convert(b, v, DType::f32, DType::f16); }
llvm::Value* by_instructions(llvm::IRBuilder<>& b, llvm::Value* v) {
  b.GetInsertBlock()->getParent()->addFnAttr(kConvertsF16);
  return by_bits(b, v);
}

// Every number of f16, those next to the middles between them, and many others.
std::vector<float> floats() {
  std::vector<float> out;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    f16 half;
    half.bits = static_cast<uint16_t>(bits);
    const float x = half;
    const auto middle = std::bit_cast<float>(std::bit_cast<uint32_t>(x) + 0x1000);
    for (float v : {x, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 2 * middle)}) out.push_back(v);
  }
  std::mt19937 random(3);
  while (out.size() < (1u << 19)) out.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return out;
}

void expect_right(const Target& target, Emit emit, unsigned lanes) {
  const std::vector<float> in = floats();
  std::vector<float> out(in.size());
  CompiledLoop(target, emit, lanes)(in.data(), out.data(), static_cast<int64_t>(in.size()));
  for (size_t i = 0; i < in.size(); i++) {
    const float want = f16(in[i]);
    if (std::isnan(want)) ASSERT_TRUE(std::isnan(out[i])) << in[i];
    else ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(want)) << in[i];
  }
}

TEST(CodeFor16BitReals, rounds_as_the_reference_does) {
  for (unsigned lanes : {1u, 4u, 16u}) {
    expect_right(Target::host(), by_bits, lanes);
    if (Target::avx2().can_run()) expect_right(Target::avx2(), by_instructions, lanes);
  }
}

// The compiler's library, which has __truncsfhf2 and __extendhfsf2, need not be there.
TEST(CodeFor16BitReals, calls_no_function) {
  const std::string triple = Target::host().triple;
  if (!llvm::Triple(triple).isX86()) GTEST_SKIP() << "of x86";
  EXPECT_EQ(assembly({triple, "x86-64", ""}, by_bits, 4).find("call"), std::string::npos);
  EXPECT_NE(assembly({triple, "x86-64", ""}, by_instructions, 4).find("__truncsfhf2"), std::string::npos);
  const std::string text = assembly(Target::avx2(), by_instructions, 8);
  EXPECT_NE(text.find("vcvtps2ph"), std::string::npos) << text;
  EXPECT_EQ(text.find("call"), std::string::npos) << text;
}

}  // namespace
}  // namespace thunder::codegen

// Elementary functions of math_exp_tanh_erf, math_log and math_trig, through lanes, against the C library in double.
// covers: core/loops/llvm/math_*.cpp
#include "loops/llvm/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/loops/llvm/loops.h"

namespace thunder::codegen {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kChunk = 1 << 12;

struct Function {
  const char* name;
  Emit emit;
  double (*exact)(double);
  double limit;  // in units in the last place
};

const Function kFunctions[] = {
    {"exp", emit_exp, std::exp, 1.2},  {"log", emit_log, std::log, 1.5}, {"tanh", emit_tanh, std::tanh, 1.5},
    {"erf", emit_erf, std::erf, 1.2}, {"sin", emit_sin, std::sin, 2.0}, {"cos", emit_cos, std::cos, 2.0},
};

// How far `got` is from `exact`, in distances of the floats next to `exact`; infinity counts as 2^128.
double ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : kInf;
  auto finite = [](double x) { return std::copysign(std::min(std::fabs(x), 0x1p128), x); };
  const double error = std::fabs(finite(got) - finite(exact));
  // The float below a power of two is half as far away as the one above it; this takes the distance above.
  const uint64_t field = std::bit_cast<uint64_t>(finite(exact)) >> 52 & 0x7ff;
  const uint64_t exponent = std::clamp<uint64_t>(field, 1023 - 126, 1023 + 127);
  return error * std::bit_cast<double>((2 * 1023 + 23 - exponent) << 52);
}

struct Worst {
  double ulps = 0;
  float at = 0, got = 0;
};

void compare(const CompiledLoop& loop, const Function& f, std::span<const float> in, Worst& worst) {
  std::vector<float> out(kChunk);
  for (; !in.empty(); in = in.subspan(kChunk)) {
    loop(in.data(), out.data(), kChunk);
    for (size_t i = 0; i < kChunk; i++) {
      const double distance = ulps(out[i], f.exact(in[i]));
      if (distance > worst.ulps) worst = {distance, in[i], out[i]};
    }
  }
}

// Every bf16 value, random floats of every exponent and sign, and all floats around the places where something
// changes: whole chunks.
const std::vector<float>& samples() {
  static const std::vector<float> kSamples = [] {
    std::vector<float> x;
    for (uint32_t high = 0; high < 1u << 16; high++) x.push_back(std::bit_cast<float>(high << 16));
    auto random_bits = [random = std::mt19937(1)]() mutable { return static_cast<uint32_t>(random()); };
    for (uint32_t exponent = 0; exponent < 512; exponent++)
      for (int i = 0; i < 1000; i++) x.push_back(std::bit_cast<float>(exponent << 23 | random_bits() >> 9));
    // Most of what is interesting lies here.
    for (int i = 0; i < 400'000; i++) x.push_back(std::ldexp(static_cast<float>(random_bits()), -28) - 8);
    for (float center : {0x1p-149f, 0x1p-126f, 0.625f, 0.75f, 0.875f, 1.0f, 1.5f, 3.92f, 4.0f, 9.02f, 10.0f, 87.33f,
                         88.72284f, 89.0f, 103.972f, 104.0f, 0x1p17f, 0x1p24f, 0x1.fffffep127f})
      for (int i = -500; i <= 500; i++)
        for (float sign : {-1.0f, 1.0f})
          x.push_back(sign * std::bit_cast<float>(std::bit_cast<uint32_t>(center) + static_cast<uint32_t>(i)));
    for (int k = 1; k < 50'000; k++) x.push_back(static_cast<float>(k * 1.5707963267948966));
    x.resize((x.size() + kChunk - 1) / kChunk * kChunk, 0.5f);
    return x;
  }();
  return kSamples;
}

void expect_close(const Target& target, unsigned lanes) {
  for (const Function& f : kFunctions) {
    Worst worst;
    compare(CompiledLoop(target, f.emit, lanes), f, samples(), worst);
    EXPECT_LE(worst.ulps, f.limit) << f.name << "(" << worst.at << ") gives " << worst.got << ", " << lanes << " lanes";
  }
}

TEST(Math, is_close_on_this_cpu) { expect_close(Target::host(), 16); }

TEST(Math, is_close_with_avx2) {
  if (!Target::avx2().can_run()) GTEST_SKIP() << "no AVX2";
  expect_close(Target::avx2(), 8);
}

// Of numbers between -1 and 1, whose lowest and highest are among them, and NaN.
TEST(Math, is_close_for_arguments_known_to_be_small) {
  std::vector<float> in;
  for (float x : samples())
    if (!(std::fabs(x) > 1)) in.push_back(x);
  in.resize((in.size() + kChunk - 1) / kChunk * kChunk, 0.5f);
  const Function functions[] = {{"sin", emit_sin_of_one, std::sin, 1.5}, {"cos", emit_cos_of_one, std::cos, 1.5}};
  for (const Target& target : {Target::host(), Target::avx2()}) {
    if (!target.can_run()) continue;
    for (const Function& f : functions) {
      Worst worst;
      compare(CompiledLoop(target, f.emit, 8), f, in, worst);
      EXPECT_LE(worst.ulps, f.limit) << f.name << "(" << worst.at << ") gives " << worst.got;
    }
  }
  CompiledLoop sin(Target::host(), emit_sin_of_one, 4);
  const float zeros[] = {0.0f, -0.0f, 1e-45f, -1e-45f};
  float out[4];
  sin(zeros, out, 4);
  for (int i = 0; i < 4; i++) EXPECT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(zeros[i])) << zeros[i];
}

// With denormal results, and 0 from both sides; a NaN of any payload stays one.
TEST(Math, is_close_for_exponents_known_to_be_negative) {
  std::vector<float> in = {std::bit_cast<float>(0x7fffffffu), std::bit_cast<float>(0xffc00ff8u), -kInf, 0.0f, -0.0f};
  for (float x : samples())
    if (!(x > 0)) in.push_back(x);
  for (float x = -110; x < -80; x += 0.003f) in.push_back(x);
  in.resize((in.size() + kChunk - 1) / kChunk * kChunk, -0.5f);
  for (const Target& target : {Target::host(), Target::avx2()}) {
    if (!target.can_run()) continue;
    Worst worst;
    compare(CompiledLoop(target, emit_exp_of_negative, 8), kFunctions[0], in, worst);
    compare(CompiledLoop(target, emit_exp_of_negative, 16), kFunctions[0], in, worst);
    EXPECT_LE(worst.ulps, kFunctions[0].limit) << "exp(" << worst.at << ") gives " << worst.got;
  }
}

// The nearest that a float comes to a multiple of pi / 2, and other hard cases of large arguments.
TEST(Math, reduces_the_largest_arguments) {
  const float hard[] = {16367173.0f * 0x1p72f, 0x1.fffffep127f, 0x1.47d0fep34f, 0x1.f9d4p101f, 1e30f, 0x1p17f, 1e22f};
  std::vector<float> in(kChunk, 1.0f);
  std::copy(std::begin(hard), std::end(hard), in.begin());
  for (const Function& f : {kFunctions[4], kFunctions[5]}) {
    Worst worst;
    compare(CompiledLoop(Target::host(), f.emit, 16), f, in, worst);
    EXPECT_LE(worst.ulps, f.limit) << f.name << "(" << worst.at << ") gives " << worst.got;
  }
}

struct Case {
  const char* name;
  float in, out;
};

TEST(Math, has_the_right_special_values) {
  const Case cases[] = {
      {"exp", -kInf, 0},   {"exp", kInf, kInf},       {"exp", -0.0f, 1},        {"exp", -1e30f, 0},
      {"exp", 1e30f, kInf}, {"log", 0.0f, -kInf},      {"log", -0.0f, -kInf},    {"log", kInf, kInf},
      {"log", -kInf, kNan}, {"log", -1.0f, kNan},      {"log", -1e-40f, kNan},   {"log", 1.0f, 0},
      {"tanh", -0.0f, -0.0f}, {"tanh", kInf, 1},       {"tanh", -kInf, -1},      {"tanh", 1e-45f, 1e-45f},
      {"erf", -0.0f, -0.0f}, {"erf", kInf, 1},         {"erf", -kInf, -1},       {"erf", -1e-45f, -1e-45f},
      {"sin", -0.0f, -0.0f}, {"sin", 0.0f, 0.0f},      {"sin", kInf, kNan},      {"sin", -kInf, kNan},
      {"sin", -1e-45f, -1e-45f}, {"cos", -0.0f, 1},    {"cos", kInf, kNan},      {"cos", 1e-45f, 1}};
  for (const Target& target : {Target::host(), Target::avx2()}) {
    if (!target.can_run()) continue;
    for (const Function& f : kFunctions) {
      CompiledLoop loop(target, f.emit, 16);
      std::vector<Case> wanted{{f.name, kNan, kNan}, {f.name, -kNan, kNan}};
      for (const Case& c : cases)
        if (std::string_view(c.name) == f.name) wanted.push_back(c);
      std::vector<float> in(16, 0.5f), out(16);
      for (size_t i = 0; i < wanted.size(); i++) in[i] = wanted[i].in;
      loop(in.data(), out.data(), 16);
      for (size_t i = 0; i < wanted.size(); i++) {
        const bool same = std::isnan(wanted[i].out)
                              ? std::isnan(out[i])
                              : std::bit_cast<uint32_t>(wanted[i].out) == std::bit_cast<uint32_t>(out[i]);
        EXPECT_TRUE(same) << f.name << "(" << in[i] << ") gives " << out[i] << ", " << target.cpu;
      }
      EXPECT_LE(ulps(out[15], f.exact(0.5)), f.limit) << "its neighbours disturb a lane of " << f.name;
    }
  }
}

TEST(Math, supports_any_number_of_lanes) {
  for (unsigned lanes : {1u, 3u, 4u, 5u, 8u, 24u, 32u, 64u})
    for (const Function& f : kFunctions) {
      CompiledLoop loop(Target::host(), f.emit, lanes);
      std::vector<float> in(lanes), out(lanes);
      for (unsigned i = 0; i < lanes; i++) in[i] = std::ldexp(0.7f, static_cast<int>(i % 64) - 32);
      loop(in.data(), out.data(), lanes);
      for (unsigned i = 0; i < lanes; i++)
        EXPECT_LE(ulps(out[i], f.exact(in[i])), f.limit) << f.name << "(" << in[i] << "), " << lanes << " lanes";
    }
}

// Neither the C library nor one lane at a time.
TEST(Math, calls_nothing) {
  for (const Target& target : {Target::host(), Target::avx2(), Target::neon()})
    for (const Function& f : kFunctions) {
      const std::string text = assembly(target, f.emit, target.cpu == "generic" ? 4 : 16);
      EXPECT_EQ(text.find("\tcall"), text.npos) << f.name << " on " << target.cpu;
      EXPECT_EQ(text.find("\tbl\t"), text.npos) << f.name << " on " << target.cpu;
    }
}

llvm::Value* amid_a_block(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* twice = b.CreateFAdd(x, x);
  b.SetInsertPoint(llvm::cast<llvm::Instruction>(twice));
  llvm::Value* y = emit_sin(b, x);
  b.SetInsertPoint(llvm::cast<llvm::Instruction>(twice)->getParent());
  return b.CreateFSub(twice, y);
}

TEST(Math, can_be_emitted_in_the_middle_of_a_block) {
  CompiledLoop loop(Target::host(), amid_a_block, 4);
  const float in[] = {0.5f, 1e30f, -2.0f, 0.0f};
  float out[4];
  loop(in, out, 4);
  for (int i = 0; i < 4; i++) EXPECT_LE(ulps(out[i], 2.0 * in[i] - std::sin(double{in[i]})), 2) << in[i];
}

llvm::Value* fast_exp(llvm::IRBuilder<>& b, llvm::Value* x) {
  b.setFastMathFlags(llvm::FastMathFlags::getFast());
  llvm::Value* y = emit_exp(b, x);
  EXPECT_TRUE(b.getFastMathFlags().isFast());
  return y;
}

TEST(Math, keeps_its_roundings_under_fast_math) {
  if (!Target::avx2().can_run()) GTEST_SKIP() << "no AVX2";
  Worst worst;
  compare(CompiledLoop(Target::avx2(), fast_exp, 8), kFunctions[0], samples(), worst);
  EXPECT_LE(worst.ulps, kFunctions[0].limit) << worst.at;
}

double nanoseconds(const CompiledLoop& loop) {
  std::vector<float> in(kChunk), out(kChunk);
  for (size_t i = 0; i < kChunk; i++) in[i] = 0.01f + static_cast<float>(i) * 0.002f;
  double best = kInf;
  for (int round = 0; round < 50; round++) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; i++) loop(in.data(), out.data(), kChunk);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / (100 * kChunk));
  }
  return best;
}

Worst worst_of_every_float(const CompiledLoop& loop, const Function& f) {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Worst> worst(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; t++)
    threads.emplace_back([&, t] {
      std::vector<float> in(kChunk);
      for (uint64_t from = t * kChunk; from < kAll; from += count * kChunk) {
        for (size_t i = 0; i < kChunk; i++) in[i] = std::bit_cast<float>(static_cast<uint32_t>(from + i));
        compare(loop, f, in, worst[t]);
      }
    });
  for (auto& thread : threads) thread.join();
  return *std::max_element(worst.begin(), worst.end(), [](auto& a, auto& b) { return a.ulps < b.ulps; });
}

// Minutes: THUNDER_EVERY_FLOAT="host exp, avx2 log" or "all". Also prints the time an element.
TEST(Math, is_close_for_every_float) {
  const char* told = std::getenv("THUNDER_EVERY_FLOAT");
  if (!told) GTEST_SKIP() << "takes minutes; set THUNDER_EVERY_FLOAT";
  for (const bool host : {true, false})
    for (const Function& f : kFunctions) {
      const Target target = host ? Target::host() : Target::avx2();
      const std::string label = std::string(host ? "host " : "avx2 ") + f.name;
      if (std::string_view(told) != "all" && std::string_view(told).find(label) == std::string_view::npos) continue;
      if (!target.can_run()) continue;
      CompiledLoop loop(target, f.emit, host ? 16 : 8);
      const double time = nanoseconds(loop);
      const Worst worst = worst_of_every_float(loop, f);
      EXPECT_LE(worst.ulps, f.limit) << label;
      std::printf("%-10s %.3f ulp at %a, %.3f ns\n", label.c_str(), worst.ulps, worst.at, time);
      std::fflush(stdout);
    }
}

}  // namespace
}  // namespace thunder::codegen

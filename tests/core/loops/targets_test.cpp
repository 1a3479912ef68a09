// Kernels for AArch64: emitted for whatever the emitter makes, and run where an emulator is installed. Also covers the target of
// the emitter.
#include <fstream>

#include "core/executors/fusion/support.h"
#include "loops/cpu/caches.h"
#include "support/failure.h"
#include "support/folder.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

struct OtherTargets : LinesTest {
  void SetUp() override {
    if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  }
};

TEST_F(OtherTargets, unknown_triples_are_reported) {
  EXPECT_PRED2(contains, compile_for({"no-such-machine", "", ""}, CpuNest()).error, "\"no-such-machine\"");
}

TEST_F(OtherTargets, store_large_results_non_temporally) {
  CpuNest large = nest({prim("prims.neg", {input({1 << 20})})});
  choose_nontemporal_stores(large, test::with_caches(0, 0, 1 << 20));
  EXPECT_PRED2(contains, print(large), "nontemporal b1");
  expect_emitted_elsewhere(large);
}

struct RowsOfOtherTargets : OtherTargets, testing::WithParamInterface<int64_t> {};

TEST_P(RowsOfOtherTargets, software_pipeline_rows) {
  Var power = prim("prims.exp", {input({100, GetParam()})});
  Var sums = prim("prims.reshape", {prim("prims.sum", {power, Shape{1}}), Shape{100, 1}});
  CpuNest rows = nest({prim("prims.div", {power, prim("prims.expand", {sums, Shape{100, GetParam()}})})});
  choose_software_pipeline(rows, test::with_caches(32 << 10, 0, 1 << 20));
  EXPECT_PRED2(contains, print(rows), "pipelined");
  expect_emitted_elsewhere(rows);
}
INSTANTIATE_TEST_SUITE_P(Columns, RowsOfOtherTargets, testing::Values(7, 50, 64));

struct FunctionsOfOtherTargets : OtherTargets, testing::WithParamInterface<std::tuple<PrimRow, DType>> {};

// Those of f32 on vectors, without the C library.
TEST_P(FunctionsOfOtherTargets, emit_every_function) {
  const auto [row, d] = GetParam();
  const auto made = function_of(row, d);
  if (!made) return;
  const CpuNest n = nest({*made, prim("prims.convert", {*made, d == DType::f32 ? DType::i32 : DType::f32})});
  expect_emitted_elsewhere(n);
  if (d == DType::f64 || row.fn == Fn::fmod || row.fn == Fn::pow) return;
  EXPECT_EQ(Elf(compile_for(kAArch64, n).code).undefined, std::set<std::string>());
}
INSTANTIATE_TEST_SUITE_P(All, FunctionsOfOtherTargets, every_function_and_dtype(), name_of_function_and_dtype);

// The same nest here and on an emulated AArch64, on the same bytes.
struct Emulated : FusedTest {
  static constexpr int64_t kStrip = 64, kBlock = 32;
  Folder folder;

  static bool succeeds(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
  void SetUp() override {
    FusedTest::SetUp();
    if (!succeeds("qemu-aarch64 -version") || !succeeds("aarch64-linux-gnu-gcc --version")) GTEST_SKIP() << "no emulator: tools/setup aarch64";
  }

  // As long as the nest's maps reach. Integers are small indices, reals lie in (0, 2).
  std::vector<std::vector<char>> buffers(const CpuNest& nest) {
    std::vector<int64_t> elements(nest.buffers.size(), 1);
    const auto reach = [&](uint32_t buffer, uint32_t map, int64_t offset) {
      for (uint32_t a = 0; a < nest.axes(); a++) offset += (nest.extents[a] - 1) * nest.maps[map][a];
      elements[buffer] = std::max(elements[buffer], offset + 1);
    };
    for (const Expr& e : nest.exprs)
      if (e.fn == Fn::load) reach(e.buffer, e.map, e.offset);
    for (const Output& s : nest.stores) reach(s.buffer, s.map, 0);
    std::vector<std::vector<char>> made;
    for (size_t i = 0; i < elements.size(); i++) {
      const auto t = numbers({elements[i]}, nest.buffers[i], 0, 2);
      const auto* bytes = reinterpret_cast<const char*>(t->data());
      made.emplace_back(bytes, bytes + static_cast<size_t>(elements[i]) * size_of(nest.buffers[i]));
    }
    return made;
  }
  static std::vector<int64_t> arguments(const CpuNest& nest) {
    std::vector<int64_t> out = parameters(nest);
    out.insert(out.end(), {kStrip, kBlock});
    return out;
  }
  static void run_here(const CpuNest& nest, std::vector<std::vector<char>>& data) {
    std::vector<void*> places;
    for (auto& d : data) places.push_back(d.data());
    IndexError index_error;
    kernel(nest)(places.data(), arguments(nest).data(), 0, work_items(nest, kStrip, kBlock), &index_error);
    EXPECT_EQ(index_error.expr, -1);
  }
  void run_there(const CpuNest& nest, std::vector<std::vector<char>>& data) {
    const Object object = compile_for(kAArch64, nest);
    std::ofstream(folder / "kernel.o").write(object.code.data(), static_cast<std::streamsize>(object.code.size()));
    const std::string program = folder / "run", file = folder / "data";
    ASSERT_TRUE(succeeds("aarch64-linux-gnu-gcc -static -o " + program + " support/run_kernel.c " + (folder / "kernel.o") + " -lm"));
    std::vector<int64_t> words = {static_cast<int64_t>(data.size()), 0, work_items(nest, kStrip, kBlock)};
    const auto given = arguments(nest);
    words[1] = static_cast<int64_t>(given.size());
    words.insert(words.end(), given.begin(), given.end());
    for (auto& d : data) words.push_back(static_cast<int64_t>(d.size()));
    std::ofstream out(file);
    out.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof words[0]));
    for (auto& d : data) out.write(d.data(), static_cast<std::streamsize>(d.size()));
    out.close();
    ASSERT_TRUE(succeeds("qemu-aarch64 " + program + " " + file)) << print(nest);
    std::ifstream in(file);
    in.seekg(static_cast<std::streamoff>(words.size() * sizeof words[0]));
    for (auto& d : data) in.read(d.data(), static_cast<std::streamsize>(d.size()));
  }
  std::vector<double> read(DType dtype, const std::vector<char>& bytes) {
    auto t = numbers({static_cast<int64_t>(bytes.size() / size_of(dtype))}, dtype);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(t->data()));
    return values(*t);
  }

  void runs(const Body& body, const Tensors& in, double tolerance = 4e-6) {
    for (const CpuNest& nest : nests_of(body, in)) {
      auto here = buffers(nest), there = here;
      run_here(nest, here);
      run_there(nest, there);
      for (size_t i = 0; i < here.size(); i++) {
        const auto expected = read(nest.buffers[i], here[i]), got = read(nest.buffers[i], there[i]);
        for (size_t k = 0; k < got.size(); k++) ASSERT_NEAR(got[k], expected[k], tolerance * (1 + std::fabs(expected[k]))) << print(nest) << "buffer " << i << " at " << k;
      }
    }
  }
};

TEST_F(Emulated, functions_match_the_reference) {
  for (auto [dtype, tolerance] : {std::pair(DType::f32, 4e-6), std::pair(DType::bf16, 0.02), std::pair(DType::f16, 0.002), std::pair(DType::f64, 1e-12)})
    runs([](Scope& s, In t) {
      std::vector<Tensor*> out;
      for (const char* op : {"exp", "log", "tanh", "erf", "sin", "cos", "sqrt", "floor"}) out.push_back(call(s, op, {arg(t[0])}));
      out.push_back(call(s, "where", {arg(call(s, "lt", {arg(t[0]), arg(t[1])})), arg(call(s, "pow", {arg(t[0]), arg(t[1])})), arg(t[1])}));
      return out;
    }, {numbers({1003}, dtype), numbers({1003}, dtype)}, tolerance);
}

TEST_F(Emulated, reductions_match_the_reference) {
  for (int64_t n : {5, 16, 67})
    runs([](Scope& s, In t) {
      Tensor *y = call(s, "softmax", {arg(t[0]), arg(int64_t{1})}), *z = call(s, "mul", {arg(y), arg(t[1])});
      return std::vector{y, call(s, "sum", {arg(z), arg(std::vector<int64_t>{0})}), call(s, "sum", {arg(z)}), call(s, "amax", {arg(z), arg(std::vector<int64_t>{0})})};
    }, {numbers({40, n}), numbers({40, n})}, 2e-5);
}

TEST_F(Emulated, scans_and_argmax_match_the_reference) {
  for (int64_t dim : {0, 1})
    for (DType d : {DType::f32, DType::bf16, DType::f16, DType::i64})
      runs([dim](Scope& s, In t) {
        Tensor* y = call(s, "maximum", {arg(t[0]), arg(t[1])});
        return std::vector{call(s, "cumsum", {arg(y), arg(dim)}), call(s, "argmax", {arg(y), arg(dim)})};
      }, {numbers({21, 37}, d, 0, 2), numbers({21, 37}, d, 0, 2)}, is_half(d) ? 0.02 : 1e-5);
}

TEST_F(Emulated, transposes_gathers_and_random_draws_match_the_reference) {
  for (DType d : {DType::f32, DType::u8, DType::i8, DType::f16, DType::f64})
    runs([](Scope& s, In t) {
      Tensor* turned = call(s, "transpose", {arg(t[0]), arg(int64_t{0}), arg(int64_t{1})});
      return std::vector{call(s, "maximum", {arg(turned), arg(t[1])}), call(s, "index_select", {arg(call(s, "neg", {arg(t[1])})), arg(int64_t{0}), arg(t[2])})};
    }, {numbers({70, 50}, d, 0, 2), numbers({50, 70}, d, 0, 2), numbers({9}, DType::i64, 0, 2)}, 0);
  runs([](Scope& s, In t) { return std::vector{call(s, "dropout", {arg(call(s, "neg", {arg(t[0])})), arg(0.3)})}; }, {numbers({1003})}, 0);
}

}  // namespace
}  // namespace thunder::fusion

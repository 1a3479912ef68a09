// Nests as CUDA C++: what the text says, and that NVRTC compiles it where it is installed (THUNDER_NVRTC names its library). Also covers
// arithmetic, expressions and writer.
// covers: core/loops/cuda/arithmetic.cpp core/loops/cuda/expressions.cpp
#include "loops/cuda/source.h"

#include "core/executors/fusion/support.h"
#include "loops/order.h"
#include "support/nvrtc.h"

namespace thunder::fusion {
namespace {

struct CudaSourceTest : LinesTest {
  void SetUp() override {
    if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;  // without an emitter nothing is claimed
  }
  // Without the part that every kernel shares.
  std::string kernel(std::initializer_list<Var> outputs) {
    const CudaSource made = cuda_source(nest(outputs), {}, "kernel");
    EXPECT_EQ(made.error, "");
    return made.text.substr(made.text.find("extern \"C\""));
  }
};

TEST_F(CudaSourceTest, assigns_one_element_to_each_thread) {
  Var x = input({6, 5}), y = input({6, 5});
  EXPECT_EQ(kernel({prim("prims.tanh", {prim("prims.mul", {x, y})})}),
            R"(extern "C" __global__ void kernel(const Buffers b, const Parameters p, const Numbers n, DeviceAssertion* assertion, char* scratch) {
  for (place at = blockIdx.x * (place)blockDim.x + threadIdx.x; at < (place)1 * (place)p.at[0]; at += (place)gridDim.x * blockDim.x) {
    place rest0 = at;
    const place i0 = rest0;
    const float e0 = ((const float*)b.at[0])[0 + i0];
    const float e1 = ((const float*)b.at[1])[0 + i0];
    const float e2 = e0 * e1;
    const float e3 = tanhf(e2);
    ((float*)b.at[2])[0 + i0] = e3;
  }
}
)");
}

TEST_F(CudaSourceTest, assigns_one_row_to_each_block) {
  Var x = input({6, 50});
  Var top = prim("prims.expand", {prim("prims.reshape", {prim("prims.amax", {x, Shape{1}}), Shape{6, 1}}), Shape{6, 50}});
  const std::string text = kernel({prim("prims.sub", {x, top})});
  EXPECT_NE(text.find("for (place work = blockIdx.x;"), std::string::npos) << text;
  EXPECT_NE(text.find("of_block<float>("), std::string::npos) << text;
  EXPECT_LT(text.find("of_block<float>("), text.find("b.at[1]")) << text;
}

// The other lies outside of its memory.
TEST_F(CudaSourceTest, computes_only_the_selected_operand) {
  Var joined = maker.call("prims.cat", {ValueList{prim("prims.neg", {input({6, 5})}).id, input({6, 2}).id}, 1});
  const std::string text = kernel({prim("prims.exp", {joined})});
  const size_t first = text.find("if (i1 < (place)p.at["), second = text.find("else {");
  EXPECT_LT(first, text.find("b.at[0]")) << text;
  EXPECT_LT(text.find("b.at[0]"), second) << text;
  EXPECT_LT(second, text.find("b.at[1]")) << text;
}

TEST_F(CudaSourceTest, rounds_no_operand_of_sixteen_bits_again) {
  Var x = input({6, 5}, DType::bf16), y = input({6, 5}, DType::bf16);
  const std::string text = kernel({prim("prims.mul", {prim("prims.clone", {x}), prim("prims.maximum", {prim("prims.neg", {y}), x})})});
  const size_t first = text.find("round_bf16");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("round_bf16", first + 1), std::string::npos) << text;
}

// What lies together is read and written in 16 bytes.
TEST_F(CudaSourceTest, vectorizes_adjacent_elements) {
  Var x = input({2, 8}, DType::bf16), y = prim("prims.expand", {input({8}, DType::bf16), Shape{2, 8}});
  Nest both = nest({prim("prims.mul", {x, y})});
  const std::string text = cuda_source(both, cuda_schedule(both, {}), "kernel").text;
  const size_t loop = text.find("at < ((place)1 * (place)p.at[0]) / 8;"), load = text.find("load_pack<unsigned short, 8>((const unsigned short*)b.at[1] + (0 + i0), aligned);");
  const size_t each = text.find("for (int v = 0; v < 8; v++) {"), store = text.find("store_pack<unsigned short, 8>((unsigned short*)b.at[2] + (0 + i0), out0, aligned);");
  EXPECT_TRUE(loop < load && load < each && each < store && store != std::string::npos) << text.substr(text.find("extern \"C\""));
}

// Rows of nine elements begin anywhere.
TEST_F(CudaSourceTest, does_not_vectorize_rows_that_are_no_whole_packs) {
  Var x = prim("prims.slice", {prim("prims.neg", {input({4, 9})}), Shape{0, 0}, Shape{4, 8}, Shape{1, 1}});
  Nest rows = nest({prim("prims.exp", {x})});
  EXPECT_EQ(cuda_source(rows, cuda_schedule(rows, {}), "kernel").text.find("load_pack<float, 4>((const float*)b.at[0]"), std::string::npos);
}

// What each part of a row comes to, and then the parts in their order.
TEST_F(CudaSourceTest, splits_the_reduction_of_few_rows) {
  Nest whole = nest({prim("prims.exp", {prim("prims.amax", {prim("prims.neg", {input({40, 30})}), Shape{0, 1}})})});
  ASSERT_TRUE(can_split_rows(whole));
  CudaSchedule schedule;
  schedule.parts = 2;
  const CudaSource made = cuda_source(whole, schedule, "kernel");
  ASSERT_EQ(made.error, "");
  const size_t first = made.text.find("void kernel("), second = made.text.find("void kernel_finish(");
  ASSERT_NE(second, std::string::npos);
  const size_t written = made.text.find("((float*)(scratch"), read = made.text.find("((float*)(scratch", second), power = made.text.find("expf(");
  EXPECT_TRUE(first < written && written < second && second < read && read < power) << made.text.substr(first);
}

// Each block finds the nest that it works on; what is the same for all elements is read before the loop.
TEST_F(CudaSourceTest, joins_nests_that_differ_in_sizes_and_addresses) {
  Nest one = nest({prim("prims.mul", {prim("prims.tanh", {input({6, 5})}), input({6, 5})})});
  for (Expr& e : one.exprs)
    if (e.fn == Fn::load && e.buffer == 1) e.map = static_cast<uint32_t>(one.maps.size());  // a broadcast number
  one.maps.push_back(Map(one.axes(), 0));
  count_passes(one);
  ASSERT_TRUE(loops::can_be_joined(one));
  const JoinedLayout l = joined_layout(one, {});
  EXPECT_EQ(l.addresses, 3u);
  EXPECT_LE(l.bytes, kMostParameterBytes);
  CudaSchedule schedule;
  schedule.joined = l.nests;
  const std::string text = cuda_source(one, schedule, "kernel").text;
  const size_t begin = text.find("void kernel(const JoinedNests nests) {"), own = text.find("b.at[1] = nests.at[own][1];");
  const size_t scalar = text.find("const float e2 = ((const float*)b.at[1])[0];"), loop = text.find("((place)blockIdx.x - first) * (place)blockDim.x");
  EXPECT_TRUE(begin < own && own < scalar && scalar < loop && loop != std::string::npos) << text.substr(text.find("struct JoinedNests"));
}

TEST_F(CudaSourceTest, joins_no_nests_that_reduce) {
  EXPECT_FALSE(loops::can_be_joined(nest({prim("prims.exp", {prim("prims.amax", {prim("prims.neg", {input({40, 30})}), Shape{0, 1}})})})));
}

// What two passes read is loaded once: into registers, or into shared memory by the first pass.
TEST_F(CudaSourceTest, keeps_rows_between_passes) {
  Var x = input({600, 4096}), mean = prim("prims.reshape", {prim("prims.sum", {x, Shape{1}}), Shape{600, 1}});
  Nest rows = nest({prim("prims.sub", {x, prim("prims.expand", {mean, Shape{600, 4096}})})});
  const CudaSchedule schedule = cuda_schedule(rows, {});
  EXPECT_EQ(schedule.keep, CudaSchedule::Keep::registers);
  EXPECT_EQ(schedule.trips, 4u);
  const std::string text = cuda_source(rows, schedule, "kernel").text;
  EXPECT_NE(text.find("pack0[trip] = load_pack<float, 4>("), std::string::npos) << text;
  EXPECT_EQ(text.find("load_pack<float, 4>(("), text.rfind("load_pack<float, 4>((")) << text;
}

TEST_F(CudaSourceTest, keeps_long_rows_in_shared_memory) {
  Var x = input({600, 20000}), mean = prim("prims.reshape", {prim("prims.sum", {x, Shape{1}}), Shape{600, 1}});
  Nest rows = nest({prim("prims.sub", {x, prim("prims.expand", {mean, Shape{600, 20000}})})});
  const CudaSchedule schedule = cuda_schedule(rows, {});
  EXPECT_EQ(schedule.keep, CudaSchedule::Keep::shared);
  EXPECT_EQ(shared_bytes(rows, schedule), 80000u);
  const std::string text = cuda_source(rows, schedule, "kernel").text;
  const size_t load = text.find("load_pack<float, 4>(("), keep = text.find("kept0[at] = pack0;"), read = text.find("= kept0[at];");
  EXPECT_TRUE(load < keep && keep < read && read != std::string::npos) << text;
  EXPECT_EQ(load, text.rfind("load_pack<float, 4>(("));
}

TEST_F(CudaSourceTest, reads_rows_again_that_are_too_long_to_keep) {
  Var x = input({600, 60000}), mean = prim("prims.reshape", {prim("prims.sum", {x, Shape{1}}), Shape{600, 1}});
  Nest rows = nest({prim("prims.sub", {x, prim("prims.expand", {mean, Shape{600, 60000}})})});
  EXPECT_EQ(cuda_schedule(rows, {}).keep, CudaSchedule::Keep::nothing);
}

TEST_F(CudaSourceTest, rejects_column_sums) {
  Var x = prim("prims.exp", {input({40, 30})});
  EXPECT_NE(cuda_source(nest({prim("prims.amax", {x, Shape{1}}), prim("prims.sum", {x, Shape{0}})}), {}, "kernel").error, "");
}

TEST_F(CudaSourceTest, rejects_scans) {
  EXPECT_NE(cuda_source(nest({prim("prims.exp", {prim("prims.cumsum", {input({40, 30}), 1, false})})}), {}, "kernel").error, "");
}

struct CudaCompiles : CudaSourceTest {
  void SetUp() override {
    CudaSourceTest::SetUp();
    if (!test::nvrtc()) GTEST_SKIP() << "NVRTC is not installed: tools/setup-nvrtc";
  }
  void compiles(std::initializer_list<Var> outputs) {
    const CudaSource made = cuda_source(nest(outputs), {}, "kernel");
    ASSERT_EQ(made.error, "");
    EXPECT_EQ(test::refused_by_nvrtc(made.text), "");
  }
  Var spread(Var rows) { return prim("prims.expand", {prim("prims.reshape", {rows, Shape{64, 1}}), Shape{64, 100}}); }
};

TEST_F(CudaCompiles, reductions_and_their_readers) {
  for (DType d : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    Var x = input({64, 100}, d), e = prim("prims.exp", {prim("prims.sub", {x, spread(prim("prims.amax", {x, Shape{1}}))})});
    compiles({prim("prims.div", {e, spread(prim("prims.sum", {e, Shape{1}}))})});
  }
}

// Between every two dtypes, with arithmetic on both sides.
TEST_F(CudaCompiles, conversions) {
  for (const DTypeInfo& from : all_dtypes())
    for (const DTypeInfo& to : all_dtypes()) {
      Var x = input({64}, from.dtype), y = prim("prims.convert", {prim("prims.maximum", {x, x}), to.dtype});
      SCOPED_TRACE(cat(from.name, " to ", to.name));
      compiles({prim("prims.add", {y, prim("prims.mul", {y, y})})});
    }
}

TEST_F(CudaCompiles, gathers_iotas_and_selects) {
  Var x = input({64, 100}), classes = input({64, 1}, DType::i64), total = spread(prim("prims.sum", {prim("prims.exp", {x}), Shape{1}}));
  compiles({prim("prims.gather", {prim("prims.sub", {x, prim("prims.log", {total})}), int64_t{1}, classes})});
  Var i = prim("prims.iota", {Shape{64}, DType::i64, Device::cpu}), few = prim("prims.lt", {i, input({64}, DType::i64)});
  compiles({prim("prims.where", {few, input({64}), prim("prims.convert", {i, DType::f32})})});
}

TEST_F(CudaCompiles, argmax) {
  for (DType d : {DType::f32, DType::bf16, DType::f16, DType::i64, DType::u64, DType::i8, DType::u16, DType::boolean}) {
    Var y = prim("prims.maximum", {input({64, 100}, d), input({64, 100}, d)}), at = prim("prims.argmax", {y, 1});
    compiles({prim("prims.add", {at, at}), prim("prims.gather", {y, 1, prim("prims.reshape", {at, Shape{64, 1}})})});
  }
}

TEST_F(CudaCompiles, concatenations) {
  for (DType d : {DType::f32, DType::bf16, DType::f16, DType::i64, DType::i8, DType::u32}) {
    Var x = prim("prims.neg", {input({64, 100}, d)}), y = input({64, 100}, d), parts[] = {x, y, y};
    Var joined = maker.call("prims.cat", {ValueList{parts[0].id, parts[1].id, parts[2].id}, 1});
    compiles({prim("prims.add", {joined, joined}), x});
  }
}

TEST_F(CudaCompiles, slices_and_pads) {
  for (DType d : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i64, DType::i16}) {
    Var x = prim("prims.neg", {input({64, 100}, d)}), part = prim("prims.abs", {prim("prims.slice", {x, Shape{0, 3}, Shape{64, 50}, Shape{1, 1}})});
    Var joined = maker.call("prims.cat", {ValueList{part.id, input({64, 7}, d).id, x.id}, 1});
    compiles({prim("prims.pad", {joined, Shape{1, 0}, Shape{2, 3}, 1.5}), x, part});
  }
}

TEST_F(CudaCompiles, views_as_maps) {
  compiles({prim("prims.add", {prim("prims.permute", {prim("prims.neg", {input({7, 9})}), Shape{1, 0}}), input({9, 7})})});
}

TEST_F(CudaCompiles, rows_that_are_kept) {
  for (DType d : {DType::f32, DType::bf16, DType::f64})
    for (int64_t columns : {1024, 4096, 12000}) {
      Var x = input({64, columns}, d), mean = prim("prims.reshape", {prim("prims.sum", {x, Shape{1}}), Shape{64, 1}});
      Nest rows = nest({prim("prims.sub", {x, prim("prims.expand", {mean, Shape{64, columns}})})});
      EXPECT_EQ(test::refused_by_nvrtc(cuda_source(rows, cuda_schedule(rows, {}), "kernel").text), "");
    }
}

TEST_F(CudaCompiles, joined_nests) {
  for (DType d : {DType::f32, DType::bf16, DType::f64, DType::i64}) {
    Nest one = nest({prim("prims.add", {prim("prims.mul", {input({64, 100}, d), input({64, 100}, d)}), input({64, 100}, d)})});
    CudaSchedule schedule = cuda_schedule(one, {});
    schedule.joined = joined_layout(one, {}).nests;
    EXPECT_EQ(test::refused_by_nvrtc(cuda_source(one, schedule, "kernel").text), "");
  }
}

// Every function in every element type that it takes.
struct CudaFunctions : CudaCompiles, testing::WithParamInterface<std::tuple<PrimRow, DType>> {};

TEST_P(CudaFunctions, compile) {
  const auto [row, d] = GetParam();
  if (const auto made = function_of(row, d)) compiles({*made, prim("prims.convert", {*made, d == DType::f32 ? DType::f64 : DType::f32})});
}
INSTANTIATE_TEST_SUITE_P(All, CudaFunctions, every_function_and_dtype(), name_of_function_and_dtype);

}  // namespace
}  // namespace thunder::fusion

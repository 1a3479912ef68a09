// The module's emitter: a nest in, a function that computes it out; nothing else of the library is there.
// covers: core/loops/llvm/lane_loops.cpp core/loops/llvm/nest_code.cpp core/loops/llvm/transposed_tiles.cpp
#include "loops/emitter.h"

#include <gtest/gtest.h>

#include <vector>

extern "C" thunder::loops::Emitter* thunder_make_emitter(uint32_t version, const thunder::loops::TargetOptions* target);

namespace thunder::loops {
namespace {

// out[i] = in[i] + in[i], along one axis.
CpuNest doubling(int64_t n) {
  CpuNest nest;
  nest.extents = {n};
  nest.inner = 1;
  nest.split = true;
  nest.buffers = {DType::f32, DType::f32};
  nest.maps = {{1}};
  Expr load;
  load.dtype = DType::f32;
  load.axes = axis_bit(0);
  Expr add = load;
  add.fn = Fn::add, add.count = 2;
  nest.exprs = {load, add};
  nest.stores = {{1, OutputKind::each, 1, 0}};
  return nest;
}

struct EmitterTest : testing::Test {
  Emitter* emitter = thunder_make_emitter(kEmitterVersion, nullptr);
};

TEST_F(EmitterTest, rejects_another_version_of_the_interface) { EXPECT_EQ(thunder_make_emitter(kEmitterVersion + 1, nullptr), nullptr); }

TEST_F(EmitterTest, names_its_target_and_version) {
  ASSERT_NE(emitter, nullptr);
  EXPECT_NE(std::string(emitter->target()).find("llvm 19"), std::string::npos);
}

TEST_F(EmitterTest, compiles_whole_vectors_and_the_remainder) {
  ASSERT_NE(emitter, nullptr);
  for (int64_t n : {1, 16, 17, 64, 100, 1000}) {
    const Object object = emitter->compile(doubling(n), "twice");
    ASSERT_EQ(object.error, "");
    std::string error;
    KernelFn fn = emitter->load(object.code, "twice", error);
    ASSERT_NE(fn, nullptr) << error;
    std::vector<float> in(static_cast<size_t>(n)), out(in.size() + 1, -1);
    for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>(i);
    void* buffers[] = {in.data(), out.data()};
    const int64_t parameters[] = {n, 64};  // the extent, and the length of a strip
    IndexError index_error;
    fn(buffers, parameters, 0, (n + 63) / 64, &index_error);
    for (size_t i = 0; i < in.size(); i++) ASSERT_EQ(out[i], 2 * in[i]) << n;
    EXPECT_EQ(out.back(), -1) << "wrote over the end";
  }
}

// Lines that begin inside of one, whole lines, and the memory of the input itself.
TEST_F(EmitterTest, stores_non_temporally_at_any_alignment) {
  ASSERT_NE(emitter, nullptr);
  constexpr int64_t kCount = 1000;
  CpuNest nest = doubling(kCount);
  nest.nontemporal = {true};
  const Object object = emitter->compile(nest, "twice");
  ASSERT_EQ(object.error, "");
  std::string error;
  KernelFn fn = emitter->load(object.code, "twice", error);
  ASSERT_NE(fn, nullptr) << error;
  const int64_t parameters[] = {kCount, 4096};
  IndexError index_error;
  for (size_t shift : {0, 1, 16, 31}) {
    alignas(64) static float in[kCount + 64], out[kCount + 64];
    std::fill(std::begin(out), std::end(out), -1.0f);
    for (int64_t i = 0; i < kCount; i++) in[i] = static_cast<float>(i);
    void* apart[] = {in, out + shift};
    fn(apart, parameters, 0, 1, &index_error);
    for (int64_t i = 0; i < kCount; i++) ASSERT_EQ(out[static_cast<size_t>(i) + shift], 2 * in[i]) << shift;
    EXPECT_EQ(out[kCount + shift], -1) << "wrote over the end";
    void* same[] = {in, in};
    fn(same, parameters, 0, 1, &index_error);
    for (int64_t i = 0; i < kCount; i++) ASSERT_EQ(in[i], 2 * static_cast<float>(i));
  }
}

TEST_F(EmitterTest, says_why_code_cannot_be_loaded) {
  ASSERT_NE(emitter, nullptr);
  std::string error;
  EXPECT_EQ(emitter->load({'n', 'o'}, "twice", error), nullptr);
  EXPECT_NE(error, "");
}

}  // namespace
}  // namespace thunder::loops

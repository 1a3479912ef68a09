// Tensors on a device: their way there and back, views, and the memory pool.
// covers: core/device/cuda/device.cpp
#include "capi/context.h"
#include "cuda/cuda.h"
#include "device/cuda/device.h"

namespace thunder::test {
namespace {

struct CudaTensors : CudaTest {
  nvidia::CudaDevice& device() { return static_cast<nvidia::CudaDevice&>(context->devices().accelerator(kGpu)); }
};

TEST_F(CudaTensors, come_back_as_they_went) {
  const Ref<Tensor> x = random({5, 7}, 1);
  const Ref<Tensor> there = on_gpu(x);
  EXPECT_EQ(there->type().device, kGpu);
  EXPECT_EQ(data(*there), CompiledTest::data(*x));
}

TEST_F(CudaTensors, without_elements_need_no_memory) {
  const Ref<Tensor> there = on_gpu(random({0, 7}, 1));
  EXPECT_EQ(data(*there), Floats());
}

TEST_F(CudaTensors, strided_ones_are_packed_on_their_way) {
  const Ref<Tensor> x = random({6, 4}, 2);
  TensorType turned = x->type();
  turned.shape = {4, 6};
  const Ref<Tensor> view = Tensor::view(x->storage(), turned, Sizes{1, 4}, 0);
  const Ref<Tensor> there = on_gpu(x);
  turned.device = kGpu;
  const Ref<Tensor> view_there = Tensor::view(there->storage(), turned, Sizes{1, 4}, 0);
  EXPECT_EQ(data(*view_there), CompiledTest::data(*dense_copy(default_allocator(), *view)));
  EXPECT_EQ(data(*on_gpu(view)), data(*view_there));
  EXPECT_EQ(data(*dense_copy(default_allocator(), *view_there)), data(*view_there));
}

// Through tiles: whole ones and parts, of one matrix and of several, in which rows lie apart, and of elements of each size.
TEST_F(CudaTensors, are_transposed_whatever_their_sizes) {
  for (const DType dtype : {DType::i8, DType::bf16, DType::f32, DType::i64})
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{3, 70, 130}, {1, 64, 64}, {2, 9, 200}, {5, 8, 8}, {2, 65, 63}}) {
      const auto f = compile([dtype](Scope& s, const Values& in, Values& out) {
        const std::vector<int64_t> turned = {0, 2, 1};
        Tensor* x = op(s, "to", {any(op(s, "mul", {any(in[0].tensor), Any::real(100)})), as(dtype)});
        out.push(Ref<Tensor>(op(s, "prims.permute", {any(x), Any::dims(turned)})));
      });
      const Ref<Tensor> x = random(shape, 1), gx = on_gpu(x);
      const Ref<Tensor> here = result(*f, {x.get()}), there = result(*f, {gx.get()});
      ASSERT_TRUE(here && there) << error;
      EXPECT_EQ(battery::numbers_of(*there), battery::numbers_of(*here)) << name(dtype) << " " << shape[0] << "x" << shape[1] << "x" << shape[2];
    }
}

TEST_F(CudaTensors, writes_through_a_strided_view_change_what_it_shows) {
  const Ref<Tensor> x = on_gpu(tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  TensorType column = x->type();
  column.shape = {2};
  copy_elements(*tensor({2}, {10, 20}), *Tensor::view(x->storage(), column, Sizes{3}, 4));
  EXPECT_EQ(data(*x), (Floats{1, 10, 3, 4, 20, 6}));
}

TEST_F(CudaTensors, outlive_their_context) {
  const Ref<Tensor> x = on_gpu(tensor({3}, {1, 2, 3}));
  context = nullptr;
  EXPECT_EQ(data(*x), (Floats{1, 2, 3}));
}

TEST_F(CudaTensors, memory_that_was_given_back_is_used_again) {
  on_gpu(random({1000}, 1));
  const uint64_t misses = device().memory().misses;
  for (int i = 0; i < 10; i++) on_gpu(random({1000}, 1));
  EXPECT_EQ(device().memory().misses, misses);
  EXPECT_EQ(device().memory().used, 0u);
}

TEST_F(CudaTensors, of_many_bytes_leave_little_of_their_block_unused) {
  for (const int64_t elements : {int64_t{1} << 18, (int64_t{1} << 18) + 1, int64_t{1000003}, (int64_t{5} << 20) + 77}) {
    const size_t before = device().memory().used;
    const Ref<Tensor> kept = on_gpu(random({elements}, 1));
    const size_t used = device().memory().used - before, bytes = static_cast<size_t>(elements) * 4;
    EXPECT_GE(used, bytes);
    EXPECT_LE(used, bytes + bytes / 64 + 4096) << elements;
  }
}

// As arenas of training are.
TEST_F(CudaTensors, of_gigabytes_leave_still_less_unused) {
  const size_t before = device().memory().used, bytes = (size_t{1} << 30) + (size_t{3} << 20) + 1;
  const Ref<Storage> kept = Storage::allocate(device().allocator(), bytes);
  const size_t used = device().memory().used - before;
  EXPECT_GE(used, bytes);
  EXPECT_LE(used, bytes + bytes / 512);
}

TEST_F(CudaTensors, peaks_of_memory_begin_again_and_what_is_kept_goes_back) {
  Ref<Tensor> kept = on_gpu(random({1000}, 1));
  { on_gpu(random({100000}, 1)); }
  const MemoryStatistics before = device().memory();
  EXPECT_GE(before.most_used, before.used + 400000);
  device().reset_peak_memory();
  EXPECT_EQ(device().memory().most_used, before.used);
  EXPECT_EQ(device().trim_memory(), nullptr);
  const MemoryStatistics after = device().memory();
  EXPECT_EQ(after.used, before.used);
  EXPECT_EQ(after.kept, 0u);
  EXPECT_EQ(data(*kept).size(), 1000u);
}

TEST_F(CudaTensors, are_on_a_device_that_says_what_it_is_like) {
  const Ref<Tensor> kept = on_gpu(random({1 << 20}, 1));
  thunder_device_info info{};
  info.size = sizeof info;
  ASSERT_EQ(thunder_context_device_info(capi::handle(context.get()), THUNDER_CUDA(0), &info), nullptr);
  EXPECT_EQ(device().properties().name, info.name);
  EXPECT_EQ(info.total_bytes, device().properties().bytes);
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.free_bytes, 0u);
  EXPECT_LT(info.free_bytes, info.total_bytes);
  info.size = offsetof(thunder_device_info, total_bytes), info.total_bytes = 7;
  ASSERT_EQ(thunder_context_device_info(capi::handle(context.get()), THUNDER_CUDA(0), &info), nullptr);
  EXPECT_EQ(info.total_bytes, 7u) << "a structure of an older header is filled as far as it goes";
  const Ref<Status> refused = Ref<Status>::adopt(capi::core(thunder_context_device_info(capi::handle(context.get()), THUNDER_CPU, &info)));
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message().find("machine"), std::string::npos) << refused->message();
}

TEST_F(CudaTensors, of_a_device_that_is_not_there_say_what_is) {
  try {
    context->devices().accelerator(thunder::cuda(97));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::unimplemented);
    EXPECT_NE(e.message().find("cuda:97"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace thunder::test

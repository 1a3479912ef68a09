// Host memory on its way to a device (staging), and batches that are there before they are asked for.
// covers: core/device/cuda/staging.cpp
#include "cuda/cuda.h"
#include "tensor/batches.h"

namespace thunder::test {
namespace {

struct CudaTransfers : CudaTest {
  // Elements that differ everywhere.
  Ref<Tensor> counted(int64_t elements) {
    TensorType type;
    type.dtype = DType::i64, type.shape = {elements};
    Ref<Tensor> t = Tensor::empty(context->allocator(), type);
    for (int64_t i = 0; i < elements; i++) reinterpret_cast<int64_t*>(t->data())[i] = i * 7 + 1;
    return t;
  }
  static std::vector<int64_t> integers_of(const Tensor& t) {
    const Ref<Tensor> here = host(t);
    const auto* at = reinterpret_cast<const int64_t*>(here->data());
    return {at, at + here->elements()};
  }
};

// The blocks that memory goes through are used again while the device may still read them.
TEST_F(CudaTransfers, of_any_size_bring_what_was_there_when_they_were_asked_for) {
  for (const int64_t elements : {int64_t{0}, int64_t{1}, int64_t{8191}, int64_t{8192}, int64_t{524288}, int64_t{524289}, int64_t{2000003}}) {
    SCOPED_TRACE(elements);
    const Ref<Tensor> t = counted(elements);
    const std::vector<int64_t> expected = integers_of(*t);
    const Ref<Tensor> there = on_gpu(t);
    std::fill_n(t->data(), t->bytes(), std::byte{0x55});
    EXPECT_EQ(integers_of(*there), expected);
  }
}

TEST_F(CudaTransfers, one_behind_the_other_do_not_mix) {
  std::vector<Ref<Tensor>> there;
  for (int i = 0; i < 5; i++) {
    const Ref<Tensor> t = counted(700000);
    reinterpret_cast<int64_t*>(t->data())[0] = -i;
    there.push_back(on_gpu(t));
  }
  std::vector<int64_t> expected = integers_of(*counted(700000));
  for (int i = 0; i < 5; i++) {
    expected[0] = -i;
    EXPECT_EQ(integers_of(*there[static_cast<size_t>(i)]), expected);
  }
}

TEST_F(CudaTransfers, of_batches_give_the_batches_of_the_host) {
  const std::vector<Ref<Tensor>> sources = {random({23, 3}, 1), random({23}, 2)};
  for (const bool drop_last : {false, true}) {
    const BatchOptions options{.size = 4, .shuffle = true, .drop_last = drop_last, .seed = 9};
    Batches here(sources, options), there(sources, options);
    there.send_to(context->devices(), kGpu);
    for (int call = 0; call < 16; call++) {
      const auto a = here.next(context->allocator()), b = there.next(context->allocator());
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); i++) {
        EXPECT_EQ(b[i]->type().device, kGpu);
        EXPECT_EQ(data(*b[i]), CompiledTest::data(*a[i]));
      }
      EXPECT_EQ(here.epoch(), there.epoch());
    }
  }
}

// A batch that was made ahead was not given yet.
TEST_F(CudaTransfers, of_batches_go_on_from_a_state) {
  const std::vector<Ref<Tensor>> sources = {random({23, 3}, 1)};
  const BatchOptions options{.size = 4, .shuffle = true, .seed = 3};
  Batches batches(sources, options);
  batches.send_to(context->devices(), kGpu);
  batches.next(context->allocator());
  const Ref<Tensor> state = batches.state(context->allocator());
  const Floats expected = data(*batches.next(context->allocator())[0]);
  batches.next(context->allocator());
  batches.set_state(*state);
  EXPECT_EQ(data(*batches.next(context->allocator())[0]), expected);
  batches.set_state(*state);
  batches.send_to(context->devices(), Device::cpu);
  EXPECT_EQ(CompiledTest::data(*batches.next(context->allocator())[0]), expected);
}

}  // namespace
}  // namespace thunder::test

// What tests of programs on the first CUDA device share.
#pragma once

#include "battery/battery.h"
#include "support/functions.h"
#include "tensor/transfer.h"

namespace thunder::test {

inline const Device kGpu = thunder::cuda(0);

inline Any as(DType dtype) {
  Any a;
  return a.kind = ArgKind::dtype, a.dtype = dtype, a;
}

struct CudaTest : CompiledTest {
  Ref<Tensor> on_gpu(const Ref<Tensor>& t) { return moved(t, context->devices(), kGpu); }
  static Floats data(const Tensor& t) { return CompiledTest::data(*host(t)); }
  static Ref<Tensor> host(const Tensor& t) { return on_host(Ref<Tensor>(const_cast<Tensor*>(&t)), default_allocator()); }
  Floats run(Compiled& f, std::vector<Tensor*> in) {
    const Ref<Tensor> out = result(f, std::move(in));
    if (!out) return {};
    EXPECT_EQ(out->type().device, kGpu);
    return data(*out);
  }
};

}  // namespace thunder::test

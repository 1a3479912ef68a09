// What tests of programs on the first CUDA device share.
#pragma once

#include "battery/battery.h"
#include "support/functions.h"
#include "tensor/transfer.h"

namespace thunder::test {

inline const Device kGpu = thunder::cuda(0);

struct CudaTest : CompiledTest {
  Ref<Tensor> on_gpu(const Ref<Tensor>& t) { return moved(t, context->devices(), kGpu); }
  static Floats data(const Tensor& t) { return CompiledTest::data(*host(t)); }
  static Ref<Tensor> host(const Tensor& t) { return on_host(Ref<Tensor>(const_cast<Tensor*>(&t)), default_allocator()); }
  Floats run(Compiled& f, std::vector<Tensor*> in) {
    Tensor* out = nullptr;
    if (Status* failed = f.call_tensors(in.data(), in.size(), &out, 1)) {
      error = failed->message();
      failed->release();
      return {};
    }
    const Ref<Tensor> result = Ref<Tensor>::adopt(out);
    EXPECT_EQ(result->type().device, kGpu);
    return data(*result);
  }
};

}  // namespace thunder::test

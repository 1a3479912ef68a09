// thunder_context_*_cache_artifacts: compiled kernels for other processes.
#include "jit/programs/cache_artifacts.h"

#include <algorithm>
#include <cstring>

#include "capi/context.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

void fill(thunder_cache_info* filled, const ArtifactCounts& counts) {
  if (!filled) return;
  const thunder_cache_info ours{filled->size, counts.cpu_kernels, counts.cuda_kernels, counts.product_choices};
  std::memcpy(filled, &ours, std::min(filled->size, sizeof ours));
}

void check_size(const thunder_cache_info* filled) {
  check(!filled || filled->size >= sizeof filled->size, "the size of the structure is not set");
}

}  // namespace

extern "C" {

thunder_status* thunder_context_save_cache_artifacts(thunder_context* context, thunder_tensor** out,
                                                     thunder_cache_info* filled) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out"), check_size(filled);
    ArtifactCounts counts;
    const std::string text = save_cache_artifacts(core(context)->machine(), counts);
    TensorType type;
    type.dtype = DType::u8;
    type.shape = {static_cast<int64_t>(text.size())};
    Ref<Tensor> made = Tensor::empty(core(context)->allocator(), type);
    std::memcpy(made->data(), text.data(), text.size());
    fill(filled, counts);
    *out = given(std::move(made));
  }));
}

thunder_status* thunder_context_load_cache_artifacts(thunder_context* context, const void* data, size_t bytes,
                                                     thunder_cache_info* filled) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(data, "data"), check_size(filled);
    fill(filled, load_cache_artifacts(core(context)->machine(), {static_cast<const char*>(data), bytes}));
  }));
}

}  // extern "C"

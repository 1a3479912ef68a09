// thunder_context_set_*: the threads and the memory that a context may use.
#include "capi/context.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

thunder_status* thunder_context_set_num_threads(thunder_context* context, size_t threads) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    core(context)->use_threads(threads);
  }));
}

thunder_status* thunder_context_set_thread_pool(thunder_context* context, const thunder_thread_pool* pool) noexcept {
  return given(guarded(__func__, [&] {
    const thunder_thread_pool copy = copy_descriptor(pool);
    UserGuard guard(copy.destroy, copy.user);
    need(context, "context");
    if (!pool) return core(context)->use_threads(0);
    check(copy.run != nullptr, "the pool has no run");
    check(copy.threads > 0, "the pool has no threads");
    core(context)->use_threads({copy.run, copy.threads, copy.user, copy.destroy});
    guard.dismiss();
  }));
}

thunder_status* thunder_context_set_memory_cache(thunder_context* context, size_t bytes) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    BlockCache* cache = core(context)->block_cache();
    check(cache != nullptr, "the context's memory comes from the host's hooks, which keep what they like");
    cache->set_limit(bytes);
  }));
}

}  // extern "C"

#include "loops/kernel_cache.h"

#include "base/nesting.h"
#include "base/text.h"

namespace thunder::loops {

// Code generators recurse, and callers' threads may have small stacks, so code is generated on a thread of its own.
constexpr size_t kStack = 1 << 20;

KernelCache::KernelCache(Emitter& emitter, std::string folder, std::string_view identity)
    : emitter_(emitter), store_(std::move(folder)),
      prefix_(cat("kernel ", kEmitterVersion, "\n", identity, "\n", emitter.target(), "\n")) {}

KernelFn KernelCache::get(const CpuNest& nest) {
  const std::string text = print(nest);
  Slot* slot;
  {
    std::lock_guard lock(mutex_);
    auto& made = by_text_[text];
    if (!made) made = std::make_unique<Slot>();
    slot = made.get();
  }
  std::lock_guard lock(slot->mutex);
  if (!slot->code) with_stack(kStack, [&] { slot->code = find_or_compile(nest, text); });
  return slot->code;
}

KernelFn KernelCache::find_or_compile(const CpuNest& nest, const std::string& text) {
  const std::string key = prefix_ + text;
  std::string error;
  if (const auto blob = store_.get(key))
    if (KernelFn fn = emitter_.load({blob->begin(), blob->end()}, "kernel", error)) return loaded_++, fn;
  const Object object = emitter_.compile(nest, "kernel");
  require(object.error.empty(), "fusion: ", object.error, "\nin ", text);
  KernelFn fn = emitter_.load(object.code, "kernel", error);
  require(fn != nullptr, "fusion: ", error);
  compiled_++;
  store_.put(key, {object.code.data(), object.code.size()});
  return fn;
}

}  // namespace thunder::loops

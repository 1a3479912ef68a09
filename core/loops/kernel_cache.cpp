#include "loops/kernel_cache.h"

#include <algorithm>

#include "base/nesting.h"
#include "base/text.h"
#include "loops/kernel_name.h"
#include "loops/object_file.h"
#include "loops/perf_map.h"

namespace thunder::loops {

// Code is generated on a thread of its own, since LLVM recurses deeply and callers' threads may have small stacks.
constexpr size_t kStack = 1 << 20;
constexpr const char* kName = "kernel";  // of the function in each object

KernelCache::KernelCache(Emitter* emitter, std::string folder, std::string_view identity)
    : emitter_(emitter), store_(emitter ? std::move(folder) : ""),
      prefix_(emitter ? cat("kernel ", kEmitterVersion, "\n", identity, "\n", emitter->target(), "\n") : "") {}

KernelCache::Slot& KernelCache::find_or_add_slot(const std::string& text) {
  std::lock_guard lock(mutex_);
  auto& made = by_text_[text];
  if (!made) made = std::make_unique<Slot>();
  return *made;
}

KernelFn KernelCache::get(const CpuNest& nest) {
  const std::string text = print(nest);
  Slot& found = find_or_add_slot(text);
  std::lock_guard lock(found.mutex);
  if (!found.code) with_stack(kStack, [&] { find_or_compile(nest, text, found); });
  return found.code;
}

// Loaded by this library's loader, which validates its input: LLVM's trusts it. Code that cannot be loaded is compiled.
bool KernelCache::load_given(Slot& slot, std::string& error) {
  if (slot.object.empty()) return error = "none was given", false;
  slot.code = load_object(slot.object, kName, error);
  if (!slot.code || slot.on_disk) slot.object.clear();
  given_ += slot.code != nullptr;
  return slot.code != nullptr;
}

void KernelCache::find_or_compile(const CpuNest& nest, const std::string& text, Slot& slot) {
  std::string error;
  if (load_given(slot, error)) return;
  require(emitter_ != nullptr, "fusion: nothing here compiles kernels, and of those that were compiled elsewhere ",
          error, "\nfor ", text);
  const std::string key = prefix_ + text;
  if (auto blob = store_.get(key))
    if (KernelFn fn = emitter_->load({blob->begin(), blob->end()}, kName, error)) {
      slot.code = fn;
      record_code(reinterpret_cast<const void*>(fn), function_bytes(*blob, kName), kernel_name(nest));
      loaded_++;
      return;
    }
  const Object object = emitter_->compile(nest, kName);
  require(object.error.empty(), "fusion: ", object.error, "\nin ", text);
  std::string code(object.code.begin(), object.code.end());
  KernelFn fn = emitter_->load(object.code, kName, error);
  require(fn != nullptr, "fusion: ", error);
  record_code(reinterpret_cast<const void*>(fn), function_bytes(code, kName), kernel_name(nest));
  if (!store_.put(key, code)) slot.object = std::move(code);
  slot.code = fn;
  compiled_++;
}

std::string KernelCache::object(const std::string& text) {
  const Slot* found = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto at = by_text_.find(text);
    if (at == by_text_.end()) return "";
    found = at->second.get();
  }
  std::lock_guard lock(found->mutex);
  if (!found->code || !found->object.empty()) return found->code ? found->object : "";
  std::optional<std::string> blob = store_.get(prefix_ + text);
  if (!blob)
    fail(Code::not_found, "the machine code of a compiled kernel is in '", store_.folder(),
         "' no more: it was removed, or evicted to make space for others; call the function again in a new process");
  return std::move(*blob);
}

size_t KernelCache::held_bytes() const {
  std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (auto& [text, slot] : by_text_) {
    std::lock_guard one(slot->mutex);
    sum += slot->object.size();
  }
  return sum;
}

std::vector<std::pair<std::string, std::string>> KernelCache::objects() {
  std::vector<std::pair<std::string, std::string>> out;
  {
    std::lock_guard lock(mutex_);
    for (auto& [text, slot] : by_text_) out.emplace_back(text, "");
  }
  for (auto& [text, code] : out) code = object(text);
  std::erase_if(out, [](auto& o) { return o.second.empty(); });
  std::sort(out.begin(), out.end());
  return out;
}

void KernelCache::add_object(const std::string& text, std::string object, bool keep) {
  const bool on_disk = keep && emitter_ && store_.put(prefix_ + text, object);
  Slot& to = find_or_add_slot(text);
  std::lock_guard lock(to.mutex);
  if (to.code) return;
  to.on_disk = on_disk;
  to.object = std::move(object);
  has_given_ = true;
}

}  // namespace thunder::loops

// thunder_context_*: creation with the host's hooks, and the random state.
#include "capi/context.h"

#include <atomic>

#include "capi/callback.h"
#include "jit/eager/programs.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

static_assert(static_cast<int32_t>(kCancelled) == THUNDER_CANCELLED);

// The caller's hooks, counted: the context and every block of memory use them, and `destroy` waits for the last.
struct Hooks {
  thunder_hooks hooks{};
  std::atomic<size_t> uses{1};

  void release_user() {
    if (uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (hooks.destroy) hooks.destroy(hooks.user);
    delete this;
  }
  static void* allocate(size_t bytes, size_t align, void* user) {
    auto* self = static_cast<Hooks*>(user);
    void* memory = self->hooks.allocate(bytes, align, self->hooks.user);
    if (memory) self->uses.fetch_add(1, std::memory_order_relaxed);
    return memory;
  }
  static void deallocate(void* memory, size_t bytes, size_t align, void* user) {
    auto* self = static_cast<Hooks*>(user);
    self->hooks.deallocate(memory, bytes, align, self->hooks.user);
    self->release_user();
  }
  static void log(int32_t level, const char* component, const char* text, size_t bytes, void* user) {
    auto* self = static_cast<Hooks*>(user);
    self->hooks.log(level, component, text, bytes, self->hooks.user);
  }
  static Status* check_interrupts(void* user) {
    auto* self = static_cast<Hooks*>(user);
    Status* answer = nullptr;
    Status* failed = guarded("check_interrupts", [&] {
      answer = call_with_status("check_interrupts", [self] {
                 return self->hooks.check_interrupts(self->hooks.user);
               }).detach();
    });
    return failed ? failed : answer;
  }
  static void destroy(void* user) { static_cast<Hooks*>(user)->release_user(); }
};

Ref<Context> create_context(const thunder_hooks& given) {
  UserGuard guard(given.destroy, given.user);
  check(!given.allocate == !given.deallocate, "hooks have one of allocate and deallocate; both or neither are needed");
  auto* hooks = new Hooks{given};
  guard.dismiss();
  ContextHooks ours;
  if (given.allocate) ours.allocator = {Hooks::allocate, Hooks::deallocate, hooks};
  if (given.log) ours.log = Hooks::log;
  if (given.check_interrupts) ours.check_interrupts = Hooks::check_interrupts;
  ours.user = hooks;
  ours.destroy = Hooks::destroy;
  try {
    auto context = make<Context>(ours);
    use_eager_programs(*context);
    return context;
  } catch (...) {
    hooks->release_user();
    throw;
  }
}

}  // namespace

namespace thunder::capi {

Device device_of(Context& context, thunder_device device) {
  const Device given = device ? static_cast<Device>(device) : Device::cpu;
  if (std::string why = context.devices().absence(given); !why.empty())
    throw Refusal{Code::unimplemented, std::move(why)};
  return given;
}

}  // namespace thunder::capi

extern "C" {

thunder_status* thunder_context_create(const thunder_hooks* hooks, thunder_context** out) noexcept {
  return given(guarded(__func__, [&] {
    make_lasting_failures();
    auto context = create_context(copy_descriptor(hooks));
    need(out, "out");
    *out = given(std::move(context));
  }));
}

thunder_context* thunder_context_retain(thunder_context* context) noexcept {
  return retained(context);
}
void thunder_context_release(thunder_context* context) noexcept {
  released(context);
}

void thunder_context_interrupt(thunder_context* context) noexcept {
  if (auto* const object = core(context)) object->interrupts().request();
}

thunder_tensor* thunder_context_random(thunder_context* context) noexcept {
  Context* const object = core(context);
  return handle(object ? object->random().get() : lasting_failure(Lasting::no_context));
}

thunder_status* thunder_context_set_stance(thunder_context* context, const char* stance) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(stance, "stance");
    core(context)->set_stance(stance);
  }));
}

thunder_status* thunder_context_set_default_executors(thunder_context* context, const char* names) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    core(context)->set_default_executors(split_list(names ? names : ""));
  }));
}

const char* thunder_context_stance(const thunder_context* context) noexcept {
  const auto* const object = core(context);
  return object ? object->stance_name().data() : "";
}

}  // extern "C"

// thunder_status_* and the version.
#include "capi/boundary.h"
#include "capi/handle.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

uint32_t thunder_version(void) noexcept {
  return THUNDER_VERSION_NUMBER;
}

thunder_code thunder_status_code(const thunder_status* status) noexcept {
  const auto* const object = core(status);
  if (!status) return THUNDER_OK;
  return object ? static_cast<thunder_code>(object->code()) : THUNDER_INVALID_ARGUMENT;
}

const char* thunder_status_message(const thunder_status* status) noexcept {
  const auto* const object = core(status);
  if (!status) return "";
  return object ? object->message().c_str() : "the status was released before, or is the handle of something else";
}

thunder_status* thunder_status_create(thunder_code code, const char* text, size_t bytes) noexcept {
  Status* made = value_or<Status*>(nullptr, [&] {
    return make<Status>(static_cast<Code>(code), text ? std::string(text, bytes) : std::string()).detach();
  });
  return given(made ? made : out_of_memory_status());
}

void thunder_status_set_foreign(thunder_status* status, const char* tag, void* object,
                                void (*destroy)(void*)) noexcept {
  // No object can be attached to the out-of-memory status, which is shared, nor to a null status.
  UserGuard guard(destroy, object);
  const Ref<Status> shared = Ref<Status>::adopt(out_of_memory_status());
  Status* const target = core(status);
  if (!target || !tag || target == shared.get()) return;
  value_or(0, [&] {
    target->set_foreign(tag, object, destroy);
    guard.dismiss();
    return 0;
  });
}

void* thunder_status_foreign(const thunder_status* status, const char* tag) noexcept {
  const Status* const s = core(status);
  return s && tag ? s->foreign(tag) : nullptr;
}

thunder_status* thunder_status_retain(thunder_status* status) noexcept {
  if (const Status* const s = core(status)) s->retain();
  return status;
}

void thunder_status_release(thunder_status* status) noexcept {
  Ref<Status>::adopt(core(status));
}

thunder_status* thunder_handle_status(void) noexcept {
  return given(take_misuse());
}

}  // extern "C"

// thunder_status_* and the version.
#include "capi/boundary.h"
#include "capi/handle.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

uint32_t thunder_version(void) noexcept { return THUNDER_VERSION_NUMBER; }

thunder_code thunder_status_code(const thunder_status* status) noexcept {
  return status ? static_cast<thunder_code>(core(status)->code()) : THUNDER_OK;
}

const char* thunder_status_message(const thunder_status* status) noexcept {
  return status ? core(status)->message().c_str() : "";
}

thunder_status* thunder_status_create(thunder_code code, const char* text, size_t bytes) noexcept {
  Status* made = value_or<Status*>(nullptr, [&] {
    return make<Status>(static_cast<Code>(code), text ? std::string(text, bytes) : std::string()).detach();
  });
  return handle(made ? made : out_of_memory_status());
}

void thunder_status_set_foreign(thunder_status* status, const char* tag, void* object,
                                void (*destroy)(void*)) noexcept {
  // No object can be attached to the out-of-memory status, which is shared, nor to a null status.
  UserGuard guard(destroy, object);
  const Ref<Status> shared = Ref<Status>::adopt(out_of_memory_status());
  if (!status || !tag || core(status) == shared.get()) return;
  value_or(0, [&] {
    core(status)->set_foreign(tag, object, destroy);
    guard.dismiss();
    return 0;
  });
}

void* thunder_status_foreign(const thunder_status* status, const char* tag) noexcept {
  return status && tag ? core(status)->foreign(tag) : nullptr;
}

thunder_status* thunder_status_retain(thunder_status* status) noexcept { return retained(status); }
void thunder_status_release(thunder_status* status) noexcept { released(status); }

}  // extern "C"

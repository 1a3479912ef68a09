// Handles that are misused: what they are, and the first one that a function without a status met on a thread.
#include "capi/handle.h"

#include "base/handle_history.h"
#include "capi/boundary.h"

namespace thunder::capi {
namespace {

constexpr std::string_view kWords[] = {"no handle",
#define THUNDER_WORDS(name, words) words,
                                       THUNDER_HANDLE_KINDS(THUNDER_WORDS)
#undef THUNDER_WORDS
};

std::string_view words_of(HandleKind kind) {
  return kWords[static_cast<size_t>(kind)];
}

struct Misuse {
  const void* handle = nullptr;  // null: none
  HandleKind wanted = HandleKind::none;
};
constinit thread_local Misuse first_misuse;

}  // namespace

std::string describe_misused(std::string_view name, const void* handle, HandleKind wanted) {
  const auto bits = reinterpret_cast<uintptr_t>(handle);
  const HandleKind kind = kind_of_handle(handle);
  if (kind == HandleKind::none)
    return cat(name, " is an address that is no handle of this library, where ", words_of(wanted), " is needed");
  const bool lives = find_place(handle, kind) != nullptr;
  const std::string history = HandleHistory::text(HandleTable::place_in(bits));
  const std::string_view with = history.empty() ? "" : ": ";
  if (kind != wanted)
    return cat(name, " is ", words_of(kind), lives ? "" : " that was released", ", where ", words_of(wanted),
               " is needed", with, history);
  if (lives)
    return cat(name, " is ", words_of(kind), " that was released more often than it was given out or retained", with,
               history);
  return cat(name, " is ", words_of(kind), " that was released, or whose scope was reset or released", with, history);
}

void* note_misused(const void* handle, HandleKind wanted) noexcept {
  if (handle && !first_misuse.handle) first_misuse = {handle, wanted};
  return nullptr;
}

Status* take_misuse() noexcept {
  const Misuse noted = std::exchange(first_misuse, {});
  if (!noted.handle) return nullptr;
  return guarded("thunder_handle_status", [&] {
    throw Refusal{Code::invalid_argument, describe_misused("an earlier argument", noted.handle, noted.wanted)};
  });
}

thunder_tensor* out_of_memory_tensor() noexcept {
  // Has its handle since make_lasting_failures().
  return handle(lasting_failure(Lasting::no_memory));
}

Status* core(thunder_status* status) noexcept {
  auto* const object = reinterpret_cast<Status*>(status);
  if (!status) return nullptr;
  if (HandleTable::kind_in(reinterpret_cast<uintptr_t>(status)) || object->released())
    return static_cast<Status*>(note_misused(status, HandleKind::status));
  return object;
}

const Status* core(const thunder_status* status) noexcept {
  return core(const_cast<thunder_status*>(status));
}

}  // namespace thunder::capi

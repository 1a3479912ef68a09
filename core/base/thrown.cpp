#include "base/thrown.h"

#include <new>

#include "base/text.h"

namespace thunder {
namespace {

// The message is `who`, `said` and the text of a std::exception, or `who` and `nothing` for any other exception.
Status* status_of_current(Code code, std::string_view who, std::string_view said, std::string_view nothing) noexcept {
  try {
    try {
      throw;
    } catch (const Error& e) {
      return Ref<Status>(e.status()).detach();
    } catch (const std::bad_alloc&) {
      return out_of_memory_status();
    } catch (const std::exception& e) {
      return make<Status>(code, cat(who, said, e.what())).detach();
    } catch (...) {
      return make<Status>(code, cat(who, nothing)).detach();
    }
  } catch (...) {
    return out_of_memory_status();
  }
}

}  // namespace

Status* status_of_thrown(std::string_view who) noexcept {
  return status_of_current(Code::callback, who, " threw an exception: ", " threw something that is no std::exception");
}

Status* status_of_internal() noexcept {
  return status_of_current(Code::internal, "internal error, please report it: ", "", "an unknown exception");
}

}  // namespace thunder

#include "base/thrown.h"

#include <new>

#include "base/text.h"

namespace thunder {

Status* status_of_thrown(std::string_view who) noexcept {
  try {
    try {
      throw;
    } catch (const Error& e) {
      return Ref<Status>(e.status()).detach();
    } catch (const std::bad_alloc&) {
      return out_of_memory_status();
    } catch (const std::exception& e) {
      return make<Status>(Code::callback, cat(who, " threw an exception: ", e.what())).detach();
    } catch (...) {
      return make<Status>(Code::callback, cat(who, " threw something that is no std::exception")).detach();
    }
  } catch (...) {
    return out_of_memory_status();
  }
}

Status* status_of_internal() noexcept {
  constexpr std::string_view kReport = "internal error, please report it: ";
  try {
    try {
      throw;
    } catch (const Error& e) {
      return Ref<Status>(e.status()).detach();
    } catch (const std::bad_alloc&) {
      return out_of_memory_status();
    } catch (const std::exception& e) {
      return make<Status>(Code::internal, cat(kReport, e.what())).detach();
    } catch (...) {
      return make<Status>(Code::internal, cat(kReport, "an unknown exception")).detach();
    }
  } catch (...) {
    return out_of_memory_status();
  }
}

}  // namespace thunder

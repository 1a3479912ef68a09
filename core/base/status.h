// Outcomes: Status is the owned object that crosses the C boundary; Error is what core throws while compiling.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "base/ref.h"

namespace thunder {

// Values are those of thunder.h (absl's numbering below 1000, ours above).
enum class Code : int32_t {
  ok = 0,
  invalid_argument = 3,
  not_found = 5,
  out_of_memory = 8,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  data_lost = 15,
  declined = 1000,
  proxy_has_no_data = 1001,
  expired = 1002,
  callback = 1003,
  backend = 1004,
};

// What an op says of its arguments: with others it may succeed.
constexpr bool is_callers_mistake(Code code) { return code == Code::invalid_argument || code == Code::out_of_range; }

class Status : public Counted<Status> {
 public:
  Status(Code code, std::string message);
  ~Status();
  void destroy() const;

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // A binding's own exception object, carried through and handed back. Requires: set before it is shared.
  void set_foreign(std::string tag, void* object, void (*destroy)(void*));
  void* foreign(std::string_view tag) const { return tag == tag_ ? object_ : nullptr; }
  bool has_foreign() const { return object_ != nullptr; }
  // The message already names the calling functions: callers in between prepend nothing.
  void set_names_callers() { placed_ = true; }
  bool names_callers() const { return placed_; }
  // Whether its last reference was released: where the history of handles is kept, an empty one is there for a while.
  bool released() const { return released_; }

 private:
  Code code_;
  std::string message_;
  std::string tag_;
  bool placed_ = false, released_ = false;
  void* object_ = nullptr;
  void (*destroy_)(void*) = nullptr;
};

// Always there, never freed by a release: what is returned when not even a status can be allocated.
Status* out_of_memory_status() noexcept;

// Thrown while tracing and compiling, turned into a Status at the boundary. The run path does not throw.
class Error : public std::exception {
 public:
  Error(Code code, std::string message);
  explicit Error(Ref<Status> status) : status_(std::move(status)) {}

  Code code() const { return status_->code(); }
  const std::string& message() const { return status_->message(); }
  const Ref<Status>& status() const { return status_; }
  const char* what() const noexcept override { return status_->message().c_str(); }

 private:
  Ref<Status> status_;
};

}  // namespace thunder

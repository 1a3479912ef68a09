// Leaves as callers give them: checked before what they point to is followed.
#pragma once

#include <span>
#include <vector>

#include "capi/boundary.h"
#include "capi/handle.h"
#include "device/devices.h"
#include "tracer/scope.h"

namespace thunder::capi {

// Refuses arguments of `what` that point to nothing, and kinds that do not exist. Nothing else may look at them before.
// `where`: the caller's line, or null.
void check_args(std::string_view what, Devices* devices, std::span<const Any> args, const char* where = nullptr);

// The kind THUNDER_UINT, which leaves no longer have behind the C API.
constexpr auto kUnsigned = static_cast<ArgKind>(THUNDER_UINT);

// Leaves of `what` with our tensors in place of handles, not checked in any other way. Refuses handles that are
// misused.
class CoreLeaves {
 public:
  CoreLeaves(std::string_view what, const thunder_any* given, size_t n);
  CoreLeaves(const CoreLeaves&) = delete;
  std::span<const Any> span() const { return {leaves_.data(), leaves_.size()}; }
  const Any& operator[](size_t i) const { return leaves_[i]; }

 protected:
  SmallVector<Any, 8> leaves_;

 private:
  void convert_list(std::string_view name, Any& list);

  std::vector<std::unique_ptr<Tensor*[]>> lists_;
};

// Arguments of `what` with what the core does not know besides: an unsigned integer is an integer, or a tensor of the
// scope's that holds it. Refuses one beyond i64 where the op computes with other integers, among which it would wrap.
class CoreArgs : public CoreLeaves {
 public:
  CoreArgs(std::string_view what, Scope& scope, const thunder_any* args, size_t n);
};
// The same for one leaf.
Any replace_unsigned(Scope& scope, const Any& leaf);

// "a list of floats", for messages.
std::string_view kind_name(ArgKind kind);
// The error in a leaf: an unknown kind, or a null pointer. Null: there is none, and the leaf may be read.
const char* find_fault(const Any& leaf);

}  // namespace thunder::capi

// The handle of options: names and values that nobody has judged yet, and the first mistake.
#pragma once

#include "capi/context.h"
#include "jit/call.h"

namespace thunder::capi {

class OptionsHandle : public Counted<OptionsHandle> {
 public:
  CompileOptions options;
  const Ref<Status>& status() const { return status_; }
  void fail(Ref<Status> why) {
    if (!status_) status_ = std::move(why);
  }

 private:
  Ref<Status> status_;
};
THUNDER_COUNTED_HANDLE(options, OptionsHandle)
THUNDER_COUNTED_HANDLE(executor, Executor)
THUNDER_COUNTED_HANDLE(pass, CustomPass)

// The options as the library uses them; null if there are none. Throws the first error that setting them recorded.
const CompileOptions* usable_options(const thunder_options* options);

}  // namespace thunder::capi

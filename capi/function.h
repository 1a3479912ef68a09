// The handle of a function: compiling it needs the context that it was made in.
#pragma once

#include "capi/context.h"
#include "tracer/function.h"

namespace thunder::capi {

struct FunctionHandle : Counted<FunctionHandle> {
  FunctionHandle(Ref<Context> c, Ref<Function> f) : context(std::move(c)), function(std::move(f)) {}
  Ref<Context> context;
  Ref<Function> function;
};
THUNDER_COUNTED_HANDLE(function, FunctionHandle)

// A function made of the caller's callback; destroys `user` with it, and also when this throws.
Ref<Function> callback_function(const char* name, thunder_fn callback, void* user, void (*destroy)(void*));

}  // namespace thunder::capi

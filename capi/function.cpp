// thunder_function_*: callbacks as functions that can be traced, run and differentiated.
#include "capi/function.h"

#include "capi/callback.h"
#include "capi/lent.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

class CallbackFunction : public Function {
 public:
  CallbackFunction(const char* name, thunder_fn callback) : Function(name), callback_(callback) {}
  ~CallbackFunction() override {
    if (destroy_) destroy_(user_);
  }
  void take(void* user, void (*destroy)(void*)) { user_ = user, destroy_ = destroy; }

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    const auto own = make<Values>(in);  // what the caller gave is his, whatever the callback does with this
    const Lent lent_in(*own), lent_out(out);
    const Live lent_scope(scope);
    if (auto failed = called(name(), [&] { return callback_(handle(&scope), handle(own.get()), handle(&out), user_); }))
      return failed;
    return own->status();  // a leaf that was read as what it is not
  }

 private:
  thunder_fn callback_;
  void* user_ = nullptr;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace

namespace thunder::capi {

Ref<Function> callback_function(const char* name, thunder_fn callback, void* user, void (*destroy)(void*)) {
  UserGuard guard(destroy, user);
  need(reinterpret_cast<const void*>(callback), "callback");
  auto* made = new CallbackFunction(name ? name : "function", callback);
  made->take(user, destroy);
  guard.dismiss();
  return Ref<Function>::adopt(made);
}

}  // namespace thunder::capi

extern "C" {

thunder_status* thunder_function_create(thunder_context* context, const char* name, thunder_fn callback, void* user,
                                        void (*destroy)(void*), thunder_function** out) noexcept {
  return handle(guarded(__func__, [&] {
    auto function = callback_function(name, callback, user, destroy);
    need(context, "context"), need(out, "out");
    *out = given(make<FunctionHandle>(Ref<Context>(core(context)), std::move(function)));
  }));
}

thunder_function* thunder_function_retain(thunder_function* function) noexcept { return retained(function); }
void thunder_function_release(thunder_function* function) noexcept { released(function); }

thunder_values* thunder_function_apply(thunder_scope* scope, thunder_function* function,
                                       const thunder_values* in) noexcept {
  return handle(values_in(core(scope), __func__, [&] {
    need(function, "function");
    const Ref<FunctionHandle> called(core(function));
    const auto held = kept(usable(core(in), "in"));
    return apply(*core(scope), *called->function, *core(in));
  }));
}

thunder_status* thunder_function_value_and_grad(thunder_function* function, const char* wrt_paths,
                                                const thunder_values* captured, thunder_function** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(function, "function"), need(out, "out");
    const FunctionHandle& f = *core(function);
    Ref<Values> kept;
    if (captured) kept = make<Values>(usable(core(captured), "captured"));
    auto made = value_and_grad(f.function, wrt_paths ? wrt_paths : "", std::move(kept));
    *out = given(make<FunctionHandle>(f.context, std::move(made)));
  }));
}

}  // extern "C"

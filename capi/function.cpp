// thunder_function_*: callbacks as functions that can be traced, run and differentiated.
#include "capi/function.h"

#include "capi/callback.h"
#include "capi/lent.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// A guarded fact that a caller's callback checks.
class HostFact : public Fact {
 public:
  HostFact(thunder_fact fact, void* user, void (*destroy)(void*)) : fact_(fact), user_(user), destroy_(destroy) {}
  ~HostFact() override {
    if (destroy_) destroy_(user_);
  }
  HostFact(const HostFact&) = delete;
  bool holds() const override { return !fact_(user_); }
  std::string describe() const override {
    const char* why = fact_(user_);
    return why ? why : "something that the function reads changed";
  }

 private:
  thunder_fact fact_;
  void* user_;
  void (*destroy_)(void*);
};

// What was traced before the host's variables changed is no longer valid.
class Untouched : public Fact {
 public:
  Untouched(std::shared_ptr<const std::atomic<uint64_t>> touches, std::string name)
      : touches_(std::move(touches)), seen_(touches_->load(std::memory_order_acquire)), name_(std::move(name)) {}
  bool holds() const override { return touches_->load(std::memory_order_acquire) == seen_; }
  std::string describe() const override {
    return cat(name_, " was touched: what it reads beside its arguments changed");
  }

 private:
  std::shared_ptr<const std::atomic<uint64_t>> touches_;
  uint64_t seen_;
  std::string name_;
};

class CallbackFunction : public Function {
 public:
  CallbackFunction(const char* name, thunder_fn callback) : Function(name), callback_(callback) {}
  ~CallbackFunction() override {
    if (destroy_) destroy_(user_);
  }
  void set_user(void* user, void (*destroy)(void*)) { user_ = user, destroy_ = destroy; }
  // From now on the function's programs have guards for the host's variables. Must be called before the function is.
  void enable_touch() { touches_ = std::make_shared<std::atomic<uint64_t>>(0); }
  void touch() {
    check(touches_ != nullptr, "function '", name(), "' is part of a module: replace its forward");
    touches_->fetch_add(1, std::memory_order_acq_rel);
  }
  void depends_on(Scope& scope, std::unique_ptr<Fact> fact) {
    check(touches_ != nullptr, "function '", name(), "' is part of a module: give the function that is compiled");
    if (scope.tracing()) facts_++, scope.guard(touches_, std::move(fact));
  }

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    if (!touches_ || !scope.tracing()) return run(scope, in, out);
    scope.guard(touches_, nullptr);  // what changes from here on is seen at the next call
    auto untouched = std::make_unique<Untouched>(touches_, name());
    const uint64_t before = facts_;
    const Ref<Status> failed = run(scope, in, out);
    if (facts_ == before) scope.guard(touches_, std::move(untouched));
    return failed;
  }

 private:
  Ref<Status> run(Scope& scope, const Values& in, Values& out) {
    const auto own = make<Values>(in);  // what the caller gave is his, whatever the callback does with this
    const LentValues lent_in(*own), lent_out(out);
    const Live lent_scope(scope);
    if (auto failed =
            call_with_status(name(), [&] { return callback_(handle(&scope), handle(own.get()), handle(&out), user_); }))
      return failed;
    return own->status();  // a leaf that was read as what it is not
  }

  std::shared_ptr<std::atomic<uint64_t>> touches_;  // null: nobody can touch it
  std::atomic<uint64_t> facts_{0};                  // that its programs were guarded by
  thunder_fn callback_;
  void* user_ = nullptr;
  void (*destroy_)(void*) = nullptr;
};

CallbackFunction& require_touchable(thunder_function* function) {
  auto* made = dynamic_cast<CallbackFunction*>(core(function)->function.get());
  check(made != nullptr, "function '", core(function)->function->name(),
        "' was not made by thunder_function_create(): touch the one that it was made of");
  return *made;
}

}  // namespace

namespace thunder::capi {

Ref<Function> callback_function(const char* name, thunder_fn callback, void* user, void (*destroy)(void*)) {
  UserGuard guard(destroy, user);
  need(reinterpret_cast<const void*>(callback), "callback");
  auto* made = new CallbackFunction(name ? name : "function", callback);
  made->set_user(user, destroy);
  guard.dismiss();
  return Ref<Function>::adopt(made);
}

}  // namespace thunder::capi

extern "C" {

thunder_status* thunder_function_create(thunder_context* context, const char* name, thunder_fn callback, void* user,
                                        void (*destroy)(void*), thunder_function** out) noexcept {
  return given(guarded(__func__, [&] {
    auto function = callback_function(name, callback, user, destroy);
    need(context, "context"), need(out, "out");
    static_cast<CallbackFunction&>(*function).enable_touch();
    *out = given(make<FunctionHandle>(Ref<Context>(core(context)), std::move(function)));
  }));
}

thunder_function* thunder_function_retain(thunder_function* function) noexcept {
  return retained(function);
}
void thunder_function_release(thunder_function* function) noexcept {
  released(function);
}

thunder_status* thunder_function_touch(thunder_function* function) noexcept {
  return given(guarded(__func__, [&] {
    need(function, "function");
    require_touchable(function).touch();
  }));
}

void thunder_scope_guard(thunder_scope* scope, thunder_function* function, thunder_fact fact, void* user,
                         void (*destroy)(void*)) noexcept {
  UserGuard given(destroy, user);
  value_in(core(scope), __func__, 0, [&] {
    need(function, "function"), need(reinterpret_cast<const void*>(fact), "fact");
    auto made = std::make_unique<HostFact>(fact, user, destroy);
    given.dismiss();
    require_touchable(function).depends_on(*core(scope), std::move(made));
    return 0;
  });
}

int32_t thunder_scope_sharp_edge(thunder_scope* scope, const char* text, const char* where) noexcept {
  return value_in(core(scope), __func__, 0, [&]() -> int32_t {
    Scope& s = *core(scope);
    if (!s.wants_edges()) return 0;
    if (text) s.add_edge({text, where ? where : ""});
    return 1;
  });
}

thunder_values* thunder_function_apply(thunder_scope* scope, thunder_function* function,
                                       const thunder_values* in) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(function, "function");
    const Ref<FunctionHandle> called(core(function));
    const auto held = hold_values(require_usable(in, "in"));
    return apply(*core(scope), *called->function, *core(in));
  }));
}

thunder_status* thunder_function_value_and_grad(thunder_function* function, const char* wrt_paths,
                                                const thunder_values* captured, thunder_function** out) noexcept {
  return given(guarded(__func__, [&] {
    need(function, "function"), need(out, "out");
    const FunctionHandle& f = *core(function);
    Ref<Values> kept;
    if (captured) kept = make<Values>(require_usable(captured, "captured"));
    auto made = value_and_grad(f.function, wrt_paths ? wrt_paths : "", std::move(kept));
    *out = given(make<FunctionHandle>(f.context, std::move(made)));
  }));
}

}  // extern "C"

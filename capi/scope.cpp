// thunder_scope_*: eager scopes, and what every scope offers beyond its ops.
#include <typeinfo>

#include "capi/context.h"
#include "capi/leaf.h"
#include "tracer/eager.h"
#include "tracer/stand_ins.h"
#include "tracer/tracing.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// A scope of the caller's. It keeps its context, which must outlive the tensors that the scope still owns.
struct OwnedScope final : EagerScope {
  OwnedScope(Ref<Context> context, bool taped)
      : EagerScope(context->scope_environment(), taped), context(std::move(context)), live(*this) {}
  Ref<Context> context;
  Live live;
};

// Whether thunder_scope_create() made it. Nothing derives from an OwnedScope, so that this is asked without a search.
bool is_owned(const Scope& scope) {
  return typeid(scope) == typeid(OwnedScope);
}

OwnedScope* find_owned_scope(thunder_scope* given) {
  Scope* const scope = core(given);
  return scope && is_owned(*scope) ? static_cast<OwnedScope*>(scope) : nullptr;
}

// For each of these concrete tensors whether the loss depends on it, as far as the scope recorded.
std::vector<bool> reached(Scope& scope, Tensor* loss, std::span<Tensor* const> tensors) {
  if (auto* eager = dynamic_cast<EagerScope*>(&scope)) return eager->reached(loss, tensors);
  if (auto* tracing = dynamic_cast<TracingScope*>(&scope)) return tracing->reached(loss, tensors);
  return std::vector<bool>(tensors.size());
}

}  // namespace

namespace thunder::capi {

void free_scope(Scope* scope) noexcept {
  auto* mine = static_cast<OwnedScope*>(scope);
  const Ref<Context> context = mine->context;
  delete mine;
}

}  // namespace thunder::capi

extern "C" {

thunder_status* thunder_scope_create(thunder_context* context, uint32_t flags, thunder_scope** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    check((flags & ~uint32_t{THUNDER_SCOPE_TAPED}) == 0, "unknown flags ", flags);
    auto made = std::make_unique<OwnedScope>(Ref<Context>(core(context)), flags & THUNDER_SCOPE_TAPED);
    *out = handle_or_throw(static_cast<const Scope*>(made.get()));
    made.release();  // the caller's
  }));
}

void thunder_scope_reset(thunder_scope* given) noexcept {
  Scope* const scope = core(given);
  if (!is_ours(scope)) return;
  const bool mine = is_owned(*scope);
  if (mine && scope->uses == 0) return scope->reset();
  value_in(scope, __func__, 0, [&]() -> int {
    if (mine) throw Refusal{Code::failed_precondition, "a callback cannot reset the scope in which it is called"};
    throw Refusal{Code::failed_precondition, "a traced function cannot reset the scope it is given"};
  });
}

void thunder_scope_release(thunder_scope* scope) noexcept {
  OwnedScope* mine = scope ? find_owned_scope(scope) : nullptr;
  if (!mine) return;
  if (mine->uses == 0) return free_scope(mine);
  mine->released = true;  // by a callback: the call that runs it is still at work here
}

thunder_context* thunder_scope_context(thunder_scope* scope) noexcept {
  const Scope* const s = core(scope);
  return s ? handle(static_cast<Context*>(s->environment().context)) : nullptr;
}

int32_t thunder_scope_is_tracing(thunder_scope* scope) noexcept {
  const Scope* const s = core(scope);
  return s && s->tracing();
}

thunder_status* thunder_scope_status(thunder_scope* scope) noexcept {
  return given(guarded(__func__, [&] {
    const Scope* const s = core(scope);
    if (!is_ours(s)) throw Error(failed_tensor_in(scope)->failure());
    if (s->status()) throw Error(s->status());
  }));
}

void thunder_scope_fail(thunder_scope* scope, thunder_status* stolen) noexcept {
  auto status = Ref<Status>::adopt(core(stolen));
  if (!status) return;  // NULL; or a mistake, which is noted
  value_in(core(scope), __func__, 0, [&] {
    check(status->code() != Code::ok, "the status that it was given says OK, which is no failure");
    core(scope)->fail(std::move(status));
    return 0;
  });
}

void thunder_scope_set_autocast(thunder_scope* scope, thunder_dtype dtype) noexcept {
  value_in(core(scope), __func__, 0, [&] {
    const auto to = static_cast<DType>(dtype);
    check(to == DType::none || to == DType::bf16 || to == DType::f16,
          "autocast computes in bf16 or f16; 0 ends it; the dtype is ", known(to) ? name(to) : "unknown");
    core(scope)->autocast = to;
    return 0;
  });
}

thunder_dtype thunder_scope_autocast(thunder_scope* scope) noexcept {
  const Scope* const s = core(scope);
  return s ? static_cast<thunder_dtype>(s->autocast) : 0;
}

thunder_tensor* thunder_scope_number(thunder_scope* scope, const thunder_any* number) noexcept {
  return handle(make_tensor_in(scope, __func__, [&] {
    need(number, "number");
    const CoreLeaves given("number", number, 1);
    const Any leaf = replace_unsigned(*core(scope), given[0]);
    return leaf.kind == ArgKind::value ? leaf.t : core(scope)->number(leaf);
  }));
}

thunder_values* thunder_scope_list(thunder_scope* scope, thunder_tensor* const* tensors, size_t count) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    if (count) need(tensors, "tensors");
    std::vector<Tensor*> all;
    for (size_t i = 0; i < count; i++) {
      need_if_given(tensors[i], "a tensor of the list");
      all.push_back(core(tensors[i]));
    }
    return core(scope)->list(all);
  }));
}

void thunder_scope_stand_in(thunder_scope* scope, const thunder_tensor* tensor,
                            thunder_tensor* other_or_null) noexcept {
  value_in(core(scope), __func__, 0, [&] {
    need(tensor, "tensor");
    check(core(scope)->tracing(), "the scope records nothing to be compiled: set the module's tensor in its place");
    need_if_given(other_or_null, "other");
    check(core(tensor)->concrete(), "only a tensor with data has another one in its place");
    set_stand_in(*core(tensor), core(other_or_null));
    return 0;
  });
}

thunder_values* thunder_scope_reached(thunder_scope* scope, thunder_tensor* loss,
                                      const thunder_values* tensors) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(loss, "loss");
    const Values& asked = require_usable(tensors, "tensors");
    std::vector<Tensor*> all;
    for (size_t i = 0; i < asked.size(); i++) {
      check(asked[i].tensor != nullptr, "a leaf of tensors is no tensor");
      all.push_back(asked[i].tensor.get());
    }
    auto out = make<Values>();
    for (bool one : reached(*core(scope), core(loss), all)) out->push(Any::boolean(one));
    return core(scope)->own(std::move(out));
  }));
}

thunder_values* thunder_scope_grad(thunder_scope* scope, thunder_tensor* loss, thunder_values* wrt) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(loss, "loss"), need(wrt, "wrt");
    const auto held = hold_values(*core(wrt));
    if (core(wrt)->status()) throw Error(core(wrt)->status());
    return core(scope)->grad(core(loss), *core(wrt));
  }));
}

}  // extern "C"

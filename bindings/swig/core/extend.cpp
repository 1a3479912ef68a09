// Ops and passes of a language's own.
#include "action.h"
#include "call.h"
#include "callbacks.h"

namespace thunder_swig {

namespace {

// Dropped with the op, which is with the context.
struct OwnOp {
  long long decompose, vjp;
};

thunder_status* decompose(thunder_scope* scope, const thunder_values* in, thunder_values* out, void* user) {
  return run_callback(static_cast<OwnOp*>(user)->decompose, scope, in, out, Results::one);
}

thunder_status* vjp(thunder_scope* scope, const thunder_values* in, thunder_values* out, void* user) {
  return run_callback(static_cast<OwnOp*>(user)->vjp, scope, in, out, Results::each);
}

void destroy(void* user) {
  const auto* const op = static_cast<OwnOp*>(user);
  ticket_destroy(ticket_create(op->decompose));
  if (op->vjp) ticket_destroy(ticket_create(op->vjp));
  delete op;
}

}  // namespace

bool Call::add_op(const char* schema, const char* doc, long long decompose_ticket, long long vjp_ticket) {
  return perform([&] {
    thunder_op_desc desc{};
    desc.size = sizeof desc;
    desc.schema = schema, desc.doc = doc;
    desc.user = new OwnOp{decompose_ticket, vjp_ticket};
    desc.decompose = decompose, desc.vjp = vjp_ticket ? vjp : nullptr;
    desc.destroy = destroy;
    check(thunder_context_add_op(context(), &desc));
    return Items{};
  });
}

// The rules may come one by one or as a list.
bool Call::add_pass(const char* name, const char* before, const char* after) {
  return perform([&] {
    std::vector<const char*> rules;
    for (const Item& item : items_)
      if (item.kind == ITEM_TEXT) rules.push_back(item.text.c_str());
    thunder_pass_desc desc{};
    desc.size = sizeof desc;
    desc.name = name;
    desc.before = before && *before ? before : nullptr, desc.after = after && *after ? after : nullptr;
    desc.rules = rules.data(), desc.n_rules = rules.size();
    thunder_pass* made = nullptr;
    check(thunder_pass_create(context(), &desc, &made));
    thunder_status* const failed = thunder_context_add_pass(context(), made);
    thunder_pass_release(made);
    check(failed);
    return Items{};
  });
}

}  // namespace thunder_swig

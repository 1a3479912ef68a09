// thunder_context_add_op and thunder_types_*: ops of the caller's as the registry has them.
#include "capi/op.h"

#include "base/nesting.h"
#include "capi/callback.h"
#include "capi/lent.h"
#include "capi/tensor.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {
namespace {

constexpr size_t kMostTypes = std::tuple_size_v<decltype(Types::at)>;

// Parts of letters, digits and '_', joined by dots; not a form that means something else.
void check_name(std::string_view name) {
  bool fresh = true, good = !name.empty() && !name.ends_with('_') && !name.starts_with("prims.");
  for (char c : name) {
    const bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    good = good && (letter || c == '_' || (digit && !fresh) || (c == '.' && !fresh));
    fresh = c == '.';
  }
  check(good && !fresh, "'", name,
        "' is no name for an op: letters, digits, '_' and dots between them; 'prims.' in front and '_' at the end are "
        "taken");
}

[[noreturn]] void fail_callback(const Ref<Status>& failed, std::string_view op, std::string_view what) {
  if (failed->has_foreign() || failed->names_callers() || failed->code() == Code::out_of_memory) throw Error(failed);
  throw Error(failed->code(), cat(op, ": its ", what, ": ", failed->message()));
}

}  // namespace

CustomOp::CustomOp(const thunder_op_desc& d, Context& context)
    : OpDef(std::string_view(d.schema)), desc_(d), context_(context) {
  const std::string_view op = name();
  check_name(op);
  check(d.doc && *d.doc, "op '", op, "' has no doc");
  check(d.meta || d.decompose, "op '", op, "' has neither meta nor decompose: one of them says what its results are");
  const bool few = !schema.variadic() && schema.results.size() <= kMostTypes;
  check(d.decompose || few, "op '", op, "' gives a list or more than ", kMostTypes,
        " results; those need a decomposition");
  constexpr uint32_t flags =
      THUNDER_OP_INPLACE | THUNDER_OP_ELEMENTWISE | THUNDER_OP_EFFECTS | THUNDER_OP_NOT_DIFFERENTIABLE;
  check((d.flags & ~flags) == 0, "op '", op, "' has unknown flags ", d.flags & ~flags);
  const bool writes =
      !schema.params.empty() && schema.params[0].kind == ParamKind::tensor && schema.results.size() == 1;
  check(!(d.flags & THUNDER_OP_INPLACE) || writes, "op '", op,
        "' has an in-place form, so its first argument and its one result must be tensors");
  const bool stops = d.flags & THUNDER_OP_NOT_DIFFERENTIABLE;
  check(!stops || !d.vjp, "op '", op, "' has a vjp, and is declared not differentiable");
  doc = d.doc;
  prim = !d.decompose;
  pure = !(d.flags & THUNDER_OP_EFFECTS);
  tags = kChecksData | kOwnRules;  // its kernel may refuse the data
  if (d.flags & THUNDER_OP_INPLACE) tags |= kInplace;
  if (d.flags & THUNDER_OP_ELEMENTWISE) tags |= kElementwise;
  if (d.decompose)
    decompose = run_decomposition;
  else
    meta = run_meta;
  reference = run_kernel;
  if (d.vjp)
    vjp = run_vjp;
  else if (stops)
    nondiff = "it was declared not differentiable";
  else if (!d.decompose)
    vjp = refuse_gradient;
  desc_.schema = schema.text.c_str(), desc_.doc = doc.c_str();
}

CustomOp::~CustomOp() {
  if (desc_.destroy) desc_.destroy(desc_.user);
}

void CustomOp::ask_meta(const Call& call, Types& types) const {
  const Nesting inside(name());
  const NodeHandle node(call);
  TypesHandle out(types);
  auto failed = call_with_status("the meta", [&] { return desc_.meta(handle(&node), handle(&out), desc_.user); });
  if (!failed) failed = out.status();
  if (failed) fail_callback(failed, name(), "meta");
  if (types.count != schema.results.size())
    fail(Code::invalid_argument, name(), ": its meta gives ", types.count, " results, its schema ",
         schema.results.size(), "; ", schema.text);
}

void CustomOp::run_meta(const Call& call, Types& types) {
  for (size_t i = 0; i < call.args.size(); i++) {
    const bool number = call.args[i].present() && call.args[i].kind != ArgKind::value;
    call.require(call.op.schema.params[i].kind != ParamKind::tensor || !number, "argument '",
                 call.op.schema.params[i].name, "' must be a tensor, got a plain number");
  }
  of(call.op).ask_meta(call, types);
}

void CustomOp::call(thunder_fn callback, BuilderScope& scope, Values& in, Values& out, std::string_view what) const {
  const LentValues lent_in(in), lent_out(out);
  const Live lent_scope(scope);
  thunder_scope* lent = handle(static_cast<Scope*>(&scope));
  auto failed = call_with_status(cat("the ", what),
                                 [&] { return callback(lent, handle(&std::as_const(in)), handle(&out), desc_.user); });
  for (auto& more : {scope.status(), in.status(), out.status()})
    if (!failed) failed = more;
  if (failed) fail_callback(failed, name(), what);
}

Results CustomOp::run_decomposition(Call& call) {
  const CustomOp& self = of(call.op);
  BuilderScope scope(self.context_.scope_environment(), call.builder, cat("the decomposition of ", self.name()));
  const auto given = make<Values>(), made = make<Values>();
  Values &in = *given, &out = *made;
  for (size_t i = 0; i < call.args.size(); i++) push_argument(scope, in, self.schema.params[i], call.args[i]);
  self.call(self.desc_.decompose, scope, in, out, "decomposition");
  Results results = scope.results(out);
  const size_t wanted = self.schema.results.size();
  const bool counted = results.size() <= wanted && results.size() + self.schema.optional_results >= wanted;
  if (!self.schema.lists() && !counted)
    fail(Code::invalid_argument, self.name(), ": its decomposition gives ", results.size(), " results, its schema ",
         wanted, "; ", self.schema.text);
  if (self.desc_.meta) self.check_against_meta(call, results);
  return results;
}

void CustomOp::check_against_meta(const Call& call, const Results& results) const {
  Types types;
  ask_meta(call, types);
  for (size_t i = 0; i < results.size(); i++) {
    const TensorType& made = call.builder.type(results[i]);
    if (!(made == types.at[i]))
      fail(Code::invalid_argument, thunder::name(types.at[i]), " is what the meta of ", name(), " says of result ",
           i + 1, ", its decomposition gives ", thunder::name(made));
  }
}

void CustomOp::refuse_gradient(Grad& g) {
  fail(Code::unimplemented, g.op.name(),
       ": a gradient passes through this op, which has no vjp: give it one, or say that it is not differentiable, so "
       "that nothing passes");
}

// Adds the gradients returned by the callback, one for each argument.
void CustomOp::run_vjp(Grad& g) {
  const CustomOp& self = of(g.op);
  const auto& params = self.schema.params;
  BuilderScope scope(self.context_.scope_environment(), g.builder, cat("the vjp of ", self.name()));
  const auto given = make<Values>(), taken = make<Values>();
  Values &in = *given, &out = *taken;
  in.open(false, "");
  for (size_t i = 0; i < g.args.size(); i++) push_argument(scope, in, params[i], g.args[i]);
  in.close(), in.open(false, "");
  for (size_t i = 0; i < g.count(); i++) in.push(Ref<Tensor>(scope.wrap(g.result(i).id)));
  in.close(), in.open(false, "");
  for (size_t i = 0; i < g.count(); i++) in.push(Ref<Tensor>(scope.wrap(g.cotangent(i).id)));
  in.close(), in.open(false, "");
  for (size_t i = 0; i < g.args.size(); i++) in.push(Any::boolean(g.wants(i)));
  in.close();
  self.call(self.desc_.vjp, scope, in, out, "vjp");
  size_t leaf = 0;
  auto next = [&](ValueId argument, const Param& p) -> Var {
    if (leaf >= out.size()) return {};
    const Leaf& l = out[leaf++];
    if (l.kind == ArgKind::none) return {};
    if (!l.tensor)
      fail(Code::invalid_argument, self.name(), ": its vjp gives no tensor as the gradient of '", p.name, "'");
    const Var made = g.builder.var(scope.enter(l.tensor.get()));
    const TensorType& type = g.builder.type(argument);
    if (made.shape() != type.shape || (is_real(type.dtype) && !is_real(made.dtype())))
      fail(Code::invalid_argument, self.name(), ": its vjp gives a gradient of ", thunder::name(made.type()), " for '",
           p.name, "', which is ", thunder::name(type));
    return made;
  };
  for (size_t i = 0; i < g.args.size(); i++) {
    const Arg& a = g.args[i];
    if (a.kind == ArgKind::value)
      g.add(i, next(a.v, params[i]));
    else if (a.kind != ArgKind::values)
      leaf++;
    else
      for (size_t k = 0; k < a.count; k++) g.add(i, k, next(a.value_list()[k], params[i]));
  }
  if (leaf < out.size())
    fail(Code::invalid_argument, self.name(), ": its vjp gives ", out.size(),
         " gradients, more than it has arguments; ", self.schema.text);
}

}  // namespace thunder::capi

extern "C" {

void thunder_types_push(thunder_types* types, thunder_dtype dtype, thunder_device device, size_t rank,
                        const int64_t* shape) noexcept {
  run_unless_failed(core(types), __func__, [&] {
    check(core(types)->types.count < kMostTypes, "an op with a meta function has at most ", kMostTypes, " results");
    core(types)->types.push(type_of(dtype, rank, shape, device ? static_cast<Device>(device) : Device::cpu));
  });
}

void thunder_types_push_like(thunder_types* types, const thunder_tensor* tensor) noexcept {
  run_unless_failed(core(types), __func__, [&] {
    need(tensor, "tensor");
    check(core(types)->types.count < kMostTypes, "an op with a meta function has at most ", kMostTypes, " results");
    if (core(tensor)->kind() == Tensor::Kind::failed) throw Error(core(tensor)->failure());
    TensorType type = core(tensor)->type();
    type.weak = false;
    core(types)->types.push(type);
  });
}

thunder_status* thunder_context_add_op(thunder_context* context, const thunder_op_desc* desc) noexcept {
  return given(guarded(__func__, [&] {
    need(desc, "desc");
    const thunder_op_desc copy = copy_descriptor(desc);
    UserGuard guard(copy.destroy, copy.user);
    need(context, "context"), need(copy.schema, "desc->schema");
    thunder_op_desc unowned = copy;
    unowned.destroy = nullptr;  // until it is registered the guard has it
    auto op = std::make_unique<CustomOp>(unowned, *core(context));
    CustomOp& made = *op;
    core(context)->registry().add(std::move(op));
    made.own(copy.destroy);
    guard.dismiss();
  }));
}

}  // extern "C"

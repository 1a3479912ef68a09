#include "modules/kind.h"

#include "base/text.h"
#include "ir/prim.h"
#include "modules/access.h"
#include "modules/inputs.h"
#include "ops/builder.h"
#include "tracer/eager.h"

namespace thunder {

#define THUNDER_MODULES_FILE(stem) extern const ModuleRows stem##_kinds;
#include "modules/kinds.inc"
#undef THUNDER_MODULES_FILE

ModuleKinds::ModuleKinds() {
#define THUNDER_MODULES_FILE(stem) for (auto& row : stem##_kinds) add(row);
#include "modules/kinds.inc"
#undef THUNDER_MODULES_FILE
  register_lazy_kinds(*this);
}

const ModuleKind& ModuleKinds::add(const ModuleRow& row) {
  return add(std::make_unique<ModuleKind>(row));
}
const ModuleKind& ModuleKinds::add(std::unique_ptr<ModuleKind> kind) {
  require(!find(kind->name()), "module kind '", kind->name(), "' is already registered");
  kinds_.push_back(std::move(kind));
  return *kinds_.back();
}

const ModuleKind* ModuleKinds::find(std::string_view name) const {
  for (auto& kind : kinds_)
    if (kind->name() == name) return kind.get();
  return nullptr;
}

const ModuleKind& ModuleKinds::get(std::string_view name) const {
  if (const ModuleKind* kind = find(name)) return *kind;
  std::vector<std::string_view> names;
  for (auto& kind : kinds_) names.push_back(kind->name());
  fail(Code::not_found, "unknown module kind '", name.substr(0, 80), "'", suggest(name, names));
}

namespace {

// A leaf as an argument that a schema judges; a tensor is its position. `dims` keeps what the argument points to.
Arg any_to_arg(const Any& a, size_t position, std::vector<Dim>& dims) {
  switch (a.kind) {
    case ArgKind::string:
      return Arg::string({a.s, a.count});
    case ArgKind::reals:
      return Arg::reals({a.fs, a.count});
    case ArgKind::dims: {
      const size_t first = dims.size();
      dims.insert(dims.end(), a.d, a.d + a.count);
      return Arg::dims({dims.data() + first, a.count});
    }
    case ArgKind::value:
      return Arg::value(static_cast<ValueId>(position));
    case ArgKind::values: return Arg::values({});  // no option is a list of tensors: the schema says so
    default: return Arg::of(a.kind, a.i);
  }
}

Leaf arg_to_leaf(const Arg& a) {
  Leaf out;
  out.kind = a.kind;
  switch (a.kind) {
    case ArgKind::string:
      out.text = a.text();
      break;
    case ArgKind::real:
      out.f = a.f;
      break;
    case ArgKind::reals:
      out.reals.assign(a.fs, a.fs + a.count);
      break;
    case ArgKind::dims:
      for (Dim d : a.dim_list()) out.ints.push_back(d.value());
      break;
    default:
      out.i = a.i;
      break;
  }
  return out;
}

}  // namespace

Ref<Module> make_module(const ModuleEnvironment& environment, std::string_view name, std::span<const Any> args,
                        const char* const* names) {
  const ModuleKind& kind = environment.kinds->get(name);
  size_t n_dims = 0;
  for (const Any& a : args) n_dims += a.kind == ArgKind::dims ? a.count : 0;
  std::vector<Dim> dims;
  std::vector<double> singles;
  dims.reserve(n_dims), singles.reserve(args.size());  // pointers into them must stay
  std::vector<Arg> given;
  for (const Any& a : args) {
    const size_t i = given.size();
    const int at = names && names[i] ? kind.schema().find(names[i]) : static_cast<int>(i);
    const bool list = at >= 0 && static_cast<size_t>(at) < kind.schema().params.size() &&
                      kind.schema().params[static_cast<size_t>(at)].kind == ParamKind::reals;
    if (list && (a.kind == ArgKind::integer || a.kind == ArgKind::real)) {  // one number is a list of it
      singles.push_back(a.kind == ArgKind::real ? a.f : static_cast<double>(a.i));
      given.push_back(Arg::reals({&singles.back(), 1}));
    } else {
      given.push_back(any_to_arg(a, i, dims));
    }
  }
  CompleteArgs complete(kind.schema(), given, names);
  std::vector<Leaf> options;
  for (const Arg& a : complete.span()) options.push_back(a.kind == ArgKind::value ? Leaf() : arg_to_leaf(a));
  auto module = make<Module>(kind, std::move(options));
  for (size_t i = 0; i < complete.span().size(); i++) {
    const Param& p = kind.schema().params[i];
    const Arg& a = complete.span()[i];
    if (p.kind != ParamKind::tensor || !a.present()) continue;
    module->set_tensor(p.name, Ref<Tensor>(args[a.v].t), Role::buffer);
  }
  if (kind.init) {
    ModuleInit init(*module, environment);
    kind.init(init);
  }
  return module;
}

OpArg::OpArg(const Leaf& leaf) {
  switch (leaf.kind) {
    case ArgKind::dims:
      static_cast<Any&>(*this) = Any::dims(leaf.ints);
      break;
    case ArgKind::string:
      static_cast<Any&>(*this) = Any::string(leaf.text);
      break;
    case ArgKind::real:
      static_cast<Any&>(*this) = Any::real(leaf.f);
      break;
    case ArgKind::reals:
      kind = leaf.kind, fs = leaf.reals.data(), count = static_cast<uint32_t>(leaf.reals.size());
      break;
    default:
      kind = leaf.kind, i = leaf.i;
      break;
  }
}

// Makes a tensor without values in an environment that wants none. False: it wants values.
bool ModuleInit::leave_blank(std::string_view name, const std::vector<int64_t>& shape, Role role, DType dtype) {
  if (!environment_.blank) return false;
  TensorType type;
  type.dtype = dtype;
  for (int64_t size : shape) type.shape.push_back(Dim(size));
  module.set_tensor(name, environment_.scope.empty(type), role);
  return true;
}

void ModuleInit::draw(std::string_view name, std::string_view op, const std::vector<int64_t>& shape, double scale,
                      double shift) {
  if (leave_blank(name, shape, Role::parameter, DType::f32)) return;
  EagerScope scope(environment_.scope, false);
  const Any size[] = {Any::dims(shape)};
  Tensor* t = scope.invoke(op, size, nullptr, nullptr, 0, nullptr);
  if (scale != 1 || shift != 0) {
    const Any scaled[] = {Any::tensor(t), Any::real(scale)};
    const Any shifted[] = {Any::tensor(scope.invoke("mul", scaled, nullptr, nullptr, 0, nullptr)), Any::real(shift)};
    t = scope.invoke("add", shifted, nullptr, nullptr, 0, nullptr);
  }
  if (scope.status()) throw Error(scope.status());
  module.set_tensor(name, Ref<Tensor>(t), Role::parameter);
}

void ModuleInit::uniform(std::string_view name, const std::vector<int64_t>& shape, double bound) {
  draw(name, "rand", shape, 2 * bound, -bound);
}
void ModuleInit::normal(std::string_view name, const std::vector<int64_t>& shape, double deviation) {
  draw(name, "randn", shape, deviation, 0);
}

void ModuleInit::child(std::string_view name, std::string_view kind, std::initializer_list<Any> args) {
  module.add(name, make_module(environment_, kind, {args.begin(), args.size()}));
}

void ModuleInit::fill(std::string_view name, const std::vector<int64_t>& shape, double value, Role role, DType dtype) {
  if (leave_blank(name, shape, role, dtype)) return;
  EagerScope scope(environment_.scope, false);
  Any kind;
  kind.kind = ArgKind::dtype;
  kind.dtype = dtype;
  Any cpu;
  cpu.kind = ArgKind::device;
  cpu.device = Device::cpu;
  const Any args[] = {Any::dims(shape), Any::real(value), kind, cpu};
  Tensor* t = scope.invoke(thunder::name(Prim::full), args, nullptr, nullptr, 0, nullptr);
  if (scope.status()) throw Error(scope.status());
  module.set_tensor(name, Ref<Tensor>(t), role);
}

Tensor* ModuleCall::input() const {
  if (in.size() != 1 || !in[0].tensor)
    fail(Code::invalid_argument, module.kind().name(), ": takes one tensor, got ",
         in.size() == 0   ? "nothing"
         : in.size() == 1 ? "what is no tensor"
                          : cat(in.size(), " values: ", in.structure()));
  return in[0].tensor.get();
}

Tensor* ModuleCall::tensor(std::string_view name) const {
  Tensor* found = optional_module_tensor(scope, module, name);
  stop_at_error();
  return found;
}
bool ModuleCall::training() const {
  return module_training(scope, module);
}

const Values& ModuleCall::call(Module& child, const Values& given) const {
  const Values* made = module_call(scope, child, given);
  stop_at_error();
  return *made;
}

Tensor* ModuleCall::op(std::string_view name, std::initializer_list<OpArg> args, Tensor** results,
                       size_t n_results) const {
  SmallVector<Any, 8> given;
  for (const OpArg& a : args) given.push_back(a);
  return op(name, {given.data(), given.size()}, nullptr, results, n_results);
}

Tensor* ModuleCall::op(std::string_view name, std::span<const Any> args, const char* const* names, Tensor** results,
                       size_t n_results) const {
  Tensor* made = scope.invoke(name, args, names, results, n_results, nullptr);
  stop_at_error();
  return made;
}

// ---- the forward that is an op ----

namespace {

// The module's value for a parameter of the op; false: it has none, and the op's default applies.
bool find_op_argument(const ModuleCall& c, const ModuleInputs& in, const Param& p, Any& out) {
  const ModuleKind& kind = c.module.kind();
  if (const int at = kind.inputs().find(p.name); at >= 0) {
    out = in.any(p.name);
  } else if (p.name == "training") {
    out = Any::boolean(c.training());
  } else if (p.kind == ParamKind::tensor) {
    Tensor* t = c.tensor(p.name);
    if (!t) return false;
    out = Any::tensor(t);
  } else if (kind.schema().find(p.name) >= 0) {
    out = OpArg(c.module.option(p.name));
  } else {
    return false;
  }
  return true;
}

}  // namespace

void ModuleKind::call_op(ModuleCall& c) {
  const ModuleKind& kind = c.module.kind();
  const Registry& registry = *c.scope.environment().registry;
  const OpDef* op = &registry.get(kind.op_);
  const std::string_view flag = op->variant.flag;
  const bool asks = !flag.empty() && kind.schema_.find(flag) >= 0 && c.module.flag(flag);
  if (asks) op = &registry.get(op->variant.op);
  if (kind.inputs_.params.size() == 1) c.input();  // says what else was given
  const ModuleInputs in(c);
  SmallVector<Any, 8> args;
  SmallVector<const char*, 8> names;
  for (const Param& p : op->schema.params) {
    Any value;
    if (!find_op_argument(c, in, p, value)) continue;
    args.push_back(value);
    names.push_back(p.name.c_str());
  }
  const bool in_place = kind.schema_.find("inplace") >= 0 && c.module.flag("inplace");
  std::vector<Tensor*> results(op->schema.variadic() ? 1 : op->schema.results.size());
  c.op(in_place ? cat(kind.op_, "_") : op->name(), {args.data(), args.size()}, names.data(), results.data(),
       results.size());
  for (Tensor* t : results) c.give(t);
}

}  // namespace thunder

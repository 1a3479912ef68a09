#include "tracer/builder_scope.h"

#include "base/text.h"
#include "tracer/eager.h"

namespace thunder {

BuilderScope::BuilderScope(ScopeEnvironment environment, Builder& builder, std::string what)
    : Scope(std::move(environment)), what_(std::move(what)), builder_(builder) {}

Tensor* BuilderScope::parameter(Tensor*, std::string_view path) {
  thunder::fail(Code::invalid_argument, what_, " reads the parameter '", path, "' of a module; give it as an argument");
}

ValueId BuilderScope::enter(Tensor* t) {
  switch (t->kind()) {
    case Tensor::Kind::failed: throw Error(t->failure());
    case Tensor::Kind::concrete:
      if (const auto it = read_.find(t); it != read_.end()) return it->second;
      thunder::fail(Code::invalid_argument, what_, " uses a tensor that it was not given; make it an argument");
    case Tensor::Kind::number: thunder::fail(Code::invalid_argument, "a plain number where a tensor is needed");
    case Tensor::Kind::proxy: break;
  }
  if (!t->owner()) thunder::fail(Code::expired, "a proxy was used after what it belongs to had ended");
  require(t->owner() == this, what_, " uses a proxy of another function; give it as an argument");
  check_readable(t->value());
  return t->value();
}

bool BuilderScope::give_data(Tensor& proxy, const char*) {
  const auto* eager = dynamic_cast<EagerBuilder*>(&builder_);
  if (!eager) return false;
  const ValueId value = proxy.value();
  check_readable(value);
  proxy.become(*eager->tensor(value));
  read_.emplace(&proxy, value);
  return true;
}

Tensor* BuilderScope::wrap(ValueId v) { return own(Tensor::proxy(builder_.type(v), this, v)); }

void BuilderScope::write(Tensor*, ValueId) {
  thunder::fail(Code::invalid_argument, what_, " writes a tensor in place; use the result of the op without '_'");
}

std::vector<ValueId> BuilderScope::gradient(ValueId, std::span<Tensor* const>) {
  thunder::fail(Code::unimplemented, what_, " asks for a gradient; write it as ops");
}

Results BuilderScope::results(const Values& out) {
  if (status()) throw Error(status());
  if (out.status()) throw Error(out.status());
  Results made;
  for (size_t i = 0; i < out.size(); i++) {
    const Tensor* t = out[i].tensor.get();
    if (t && t->kind() == Tensor::Kind::failed) throw Error(t->failure());
    require(t && (t->kind() == Tensor::Kind::proxy || read_.contains(t)), what_, ": result ", i + 1,
            " is no tensor that it computed");
    made.push_back(enter(out[i].tensor.get()));
  }
  return made;
}

void push_argument(BuilderScope& scope, Values& in, const Param& param, const Arg& arg) {
  if (param.kind == ParamKind::tensor && is_number(arg)) return in.push(Tensor::number(arg.plain()));
  switch (arg.kind) {
    case ArgKind::value: return in.push(Ref<Tensor>(scope.wrap(arg.v)));
    case ArgKind::values:
      in.open(false, "");
      for (ValueId v : arg.value_list()) in.push(Ref<Tensor>(scope.wrap(v)));
      return in.close();
    case ArgKind::dims: {
      Sizes sizes;
      for (Dim d : arg.dim_list()) sizes.push_back(hint(d));
      return in.push(Any::dims(sizes));
    }
    default: {
      const Arg plain = arg.plain();
      Any any;
      any.kind = plain.kind, any.count = plain.count, any.i = plain.i;
      return in.push(any);
    }
  }
}

}  // namespace thunder

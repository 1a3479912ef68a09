// Programs printed, run in a scope, and given inputs.
#include "battery/program.h"

#include <cmath>
#include <random>

#include "base/text.h"
#include "tracer/segments.h"

namespace thunder::battery {

std::string Program::text() const {
  std::string out;
  size_t v = 0;
  for (const TensorSpec& s : specs) {
    out += cat("v", v++, " = ", name(s.dtype), " [");
    for (int64_t d : s.shape) out += cat(d, " ");
    out += "]\n";
  }
  for (const Step& s : steps) {
    out += cat("v", v++, " = ", s.op, "(");
    for (const Operand& o : s.operands) {
      switch (o.kind) {
        case Operand::Kind::none: out += "none"; break;
        case Operand::Kind::value: out += cat("v", o.i); break;
        case Operand::Kind::integer: out += cat(o.i); break;
        case Operand::Kind::flag: out += o.i ? "true" : "false"; break;
        case Operand::Kind::real: out += cat(o.f); break;
        case Operand::Kind::list:
        case Operand::Kind::dims:
          out += o.kind == Operand::Kind::list ? "values{" : "{";
          for (int64_t i : o.ints) out += cat(i, " ");
          out += "}";
      }
      out += " ";
    }
    out += ")\n";
  }
  return out;
}

namespace {

// Where reads are, a function breaks; elsewhere nothing happens.
Tensor* read(Scope& scope, Tensor* t) {
  if (!dynamic_cast<SegmentScope*>(&scope) || scope.status()) return t;
  if (t->concrete()) SegmentScope::before_access(*t, false);
  else if (t->kind() == Tensor::Kind::proxy) t->owner()->give_data(*t, nullptr);
  return t;
}

Tensor* gradient(Scope& scope, Tensor* loss, Tensor* by) {
  Values wrt;
  wrt.push(Ref<Tensor>(by));
  Values* gradients = scope.grad(loss, wrt);
  return scope.status() ? scope.failed_tensor() : (*gradients)[0].tensor.get();
}

}  // namespace

std::vector<Tensor*> run_program(const Program& p, Scope& scope, std::span<Tensor* const> inputs) {
  std::vector<Tensor*> values(inputs.begin(), inputs.end());
  const auto at = [&](const Operand& o) { return values[static_cast<size_t>(o.i)]; };
  for (const Step& step : p.steps) {
    if (step.op == kRead || step.op == kGradient) {
      const auto& of = step.operands;
      values.push_back(step.op == kRead ? read(scope, at(of[0])) : gradient(scope, at(of[0]), at(of[1])));
      continue;
    }
    std::vector<Any> args;
    std::vector<Tensor*> list;
    for (const Operand& o : step.operands) {
      Any a;
      switch (o.kind) {
        case Operand::Kind::none: break;
        case Operand::Kind::value: a = Any::tensor(values[static_cast<size_t>(o.i)]); break;
        case Operand::Kind::integer: a = Any::integer(o.i); break;
        case Operand::Kind::flag: a = Any::boolean(o.i != 0); break;
        case Operand::Kind::real: a = Any::real(o.f); break;
        case Operand::Kind::dims: a = Any::dims(o.ints); break;
        case Operand::Kind::list:
          for (int64_t i : o.ints) list.push_back(values[static_cast<size_t>(i)]);
          a.kind = ArgKind::values, a.count = static_cast<uint32_t>(list.size()), a.ts = list.data();
      }
      args.push_back(a);
    }
    values.push_back(scope.invoke(step.op, args, nullptr, nullptr, 0, nullptr));
  }
  Values wrt;
  for (Tensor* t : inputs.first(inputs.size() - 1))
    if (is_real(t->type().dtype)) wrt.push(Ref<Tensor>(t));
  std::vector<Tensor*> out = {values.back()};
  Values* gradients = scope.grad(values.back(), wrt);
  for (size_t i = 0; gradients && i < gradients->size(); i++) out.push_back((*gradients)[i].tensor.get());
  for (size_t v : p.watched) out.push_back(values[v]);
  return out;
}

Tensors program_inputs(const Program& p, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensors out;
  for (const TensorSpec& s : p.specs) {
    std::vector<double> data(static_cast<size_t>(count(s.shape)));
    for (double& v : data) {
      v = std::uniform_real_distribution(s.low, s.high)(random);
      if (!is_real(s.dtype)) v = std::round(v);
    }
    out.push_back(tensor_of(s.shape, s.dtype, data));
  }
  if (seed % 2) out.back() = laid_out(*out.back(), Layout::transposed);
  return out;
}

}  // namespace thunder::battery

#include "modules/optimizer.h"

#include <unordered_map>

#include "base/text.h"
#include "modules/access.h"

namespace thunder {
namespace {

const OptimizerRow& find_row(std::string_view kind) {
  std::vector<std::string_view> names;
  for (auto& row : optimizer_rows()) {
    if (row.name == kind) return row;
    names.push_back(row.name);
  }
  fail(Code::not_found, "unknown optimizer '", kind.substr(0, 80), "'", suggest(kind, names));
}

Ref<Tensor> zeros(const Allocator& allocator, TensorType type) {
  auto t = Tensor::empty(allocator, type);
  std::fill_n(t->data(), t->bytes(), std::byte{0});
  return t;
}

Ref<Tensor> scalar_tensor(const Allocator& allocator, double value) {
  TensorType type;
  type.dtype = DType::f64;
  auto t = Tensor::empty(allocator, type);
  *reinterpret_cast<double*>(t->data()) = value;
  return t;
}

// Sets `path` below `root`, with plain modules on the way.
void set_path(const ModuleEnvironment& environment, Module& root, std::string_view path, Ref<Tensor> tensor) {
  Module* at = &root;
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const std::string_view name = path.substr(0, dot);
    Module* next = at->find(name);
    if (!next) {
      Ref<Module> made = make_module(environment, "Module", {});
      next = made.get();
      at->add(name, std::move(made));
    }
    at = next;
    path.remove_prefix(dot + 1);
  }
  at->set_tensor(path, std::move(tensor), Role::buffer);
}

}  // namespace

std::vector<std::string> leaf_names(const Values& values) {
  auto names = values.paths();
  // Of one map or list, what its leaves are called in it.
  const std::string& s = values.structure();
  const bool grouped = s.size() > 1 && s.back() != '*' &&
                       std::all_of(names.begin(), names.end(), [](auto& n) { return n.starts_with("0."); });
  if (grouped)
    for (auto& name : names) name.erase(0, 2);
  return names;
}

Optimizer::Optimizer(const ModuleEnvironment& environment, std::string_view kind, const Values& params,
                     const Options* options)
    : row_(find_row(kind)), settings_(row_.options, options, row_.name), names_(leaf_names(params)) {
  if (params.status()) throw Error(params.status());
  require(settings_.real("lr") >= 0, row_.name, ": lr must not be negative, got ", settings_.real("lr"));
  row_.check(row_.name, settings_);
  std::unordered_map<const Tensor*, size_t> seen;
  for (size_t i = 0; i < params.size(); i++) {
    const Ref<Tensor>& t = params[i].tensor;
    require(t && t->concrete() && is_real(t->type().dtype), row_.name, ": parameter '", names_[i],
            "' must be a real tensor with data", t && t->concrete() ? cat(", got ", name(t->type())) : "");
    auto [it, fresh] = seen.emplace(t.get(), i);
    require(fresh, row_.name, ": parameters '", names_[it->second], "' and '", names_[i],
            "' are one tensor; give it once");
    params_.push_back(t);
  }
  moments_ = row_.moments(settings_);
  state_ = make_module(environment, "Module", {});
  state_->set_tensor("lr", scalar_tensor(environment.scope.allocator, settings_.real("lr")), Role::buffer);
  state_->set_tensor("step", scalar_tensor(environment.scope.allocator, 0), Role::buffer);
  add_moments(environment);
}

void Optimizer::add_moments(const ModuleEnvironment& environment) {
  for (std::string_view moment : moments_)
    for (size_t i = 0; i < params_.size(); i++) {
      TensorType type = params_[i]->type();
      type.dtype = compute_dtype(type.dtype);
      set_path(environment, *state_, join_path(moment, names_[i]), zeros(environment.scope.allocator, type));
    }
}

Tensor& Optimizer::scalar(std::string_view name) const {
  std::vector<std::string_view> known;
  for (auto& t : state_->tensors()) {
    if (t.name == name && t.tensor->type().rank() == 0 && t.tensor->type().dtype == DType::f64) return *t.tensor;
    known.push_back(t.name);
  }
  require(!settings_.has(name), row_.name, ": '", name, "' is fixed when the optimizer is made; what can change is ",
          join(known, ", ", [](auto n) { return n; }));
  fail(Code::not_found, row_.name, ": unknown value '", name, "'", suggest(name, known));
}

void Optimizer::set_f64(std::string_view name, double value) {
  Tensor& t = scalar(name);
  *reinterpret_cast<double*>(t.data()) = value;
  t.bump();
}

double Optimizer::get_f64(std::string_view name) const {
  return *reinterpret_cast<const double*>(scalar(name).data());
}

void Optimizer::check_gradients(const Values& grads) const {
  if (grads.status()) throw Error(grads.status());
  if (leaf_names(grads) != names_)
    fail(Code::invalid_argument, row_.name, ": gradients are ", grads.structure().substr(0, 400),
         ", parameters have the names ",
         join(std::span(names_).first(std::min<size_t>(names_.size(), 8)), ", ", [](auto& n) { return n; }),
         names_.size() > 8 ? " ..." : "");
  for (size_t i = 0; i < params_.size(); i++) {
    const Tensor* g = grads[i].tensor.get();
    if (!g) continue;
    if (g->kind() == Tensor::Kind::failed) throw Error(g->failure());
    require(g->kind() != Tensor::Kind::number && g->type().shape == params_[i]->type().shape, row_.name,
            ": the gradient of '", names_[i], "' is ", name(g->type()), ", the parameter ", name(params_[i]->type()));
  }
}

void Optimizer::step(Scope& scope, const Values& grads) {
  scope.formulas([&] { check_gradients(grads); });
  Tensor* lr = module_tensor(scope, *state_, "lr");
  Tensor* count = module_tensor(scope, *state_, "step");
  std::vector<Tensor*> shared;
  scope.formulas([&] {
    Builder& b = scope.builder();
    Var next = b.var(scope.enter(count)) + 1.0;
    OptimizerStep step(settings_, b.var(scope.enter(lr)), next);
    for (Var v : row_.prepare(step)) shared.push_back(scope.wrap(v.id));
    scope.write(count, next.id);
  });
  std::vector<Tensor*> moments(moments_.size());
  for (size_t i = 0; i < params_.size() && !scope.status(); i++) {
    if (!grads[i].tensor) continue;
    Tensor* parameter = scope.parameter(params_[i].get(), names_[i]);
    for (size_t k = 0; k < moments.size(); k++)
      moments[k] = module_tensor(scope, *state_, join_path(moments_[k], names_[i]));
    scope.formulas([&] {
      Builder& b = scope.builder();
      auto value = [&](Tensor* t) { return b.var(scope.enter(t)); };
      const DType dtype = params_[i]->type().dtype;
      OptimizerStep step(settings_, value(lr), value(count));
      for (Tensor* t : shared) step.shared.push_back(value(t));
      for (Tensor* t : moments) step.moments.push_back(value(t));
      step.parameter = convert(value(parameter), compute_dtype(dtype));
      step.gradient = convert(value(grads[i].tensor.get()), compute_dtype(dtype));
      row_.update(step);
      for (size_t k = 0; k < moments.size(); k++) scope.write(moments[k], step.moments[k].id);
      scope.write(parameter, convert(step.parameter, dtype).id);
    });
  }
}

}  // namespace thunder

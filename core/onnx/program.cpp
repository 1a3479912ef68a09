#include "onnx/program.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "onnx/importer.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

// Reals are what may be trained. Other tensors are constants where they are small: they are sizes, axes and places.
bool belongs_in_module(const TensorType& type) {
  return is_real(type.dtype) || elements(type.shape).value() > kMostHostElements;
}

// A node that calls one of two would be of either.
void require_distinct(const std::vector<FunctionProto>& functions) {
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
  for (const FunctionProto& f : functions)
    if (!seen.emplace(f.domain, f.name, f.overload).second)
      fail(Code::data_lost, "two functions are called '", f.name.substr(0, 200), "' of domain '",
           f.domain.substr(0, 200), "'");
}

}  // namespace

Program::Program(std::string name, Model model, TensorReader reader, const ModuleEnvironment& environment,
                 std::vector<std::string> outputs)
    : Function(std::move(name)),
      model_(std::move(model)),
      reader_(std::move(reader)),
      module_(make_module(environment, "Module", {})),
      outputs_(std::move(outputs)) {
  require_distinct(model_.functions);
  add_initializers(environment);
  for (const ValueInfo& in : model_.graph.inputs)
    if (!weights_.contains(in.name)) inputs_.push_back(in);
  required_ = inputs_.size();
  // Older files list all weights as inputs, which no call gives.
  for (const ValueInfo& in : model_.graph.inputs)
    if (model_.ir_version >= 4 && weights_.contains(in.name)) inputs_.push_back(in);
  if (!outputs_.empty()) return;
  for (const ValueInfo& out : model_.graph.outputs) outputs_.emplace_back(out.name);
}

void Program::add_initializers(const ModuleEnvironment& environment) {
  for (const TensorProto& t : model_.graph.initializers) {
    require(!t.name.empty(), "an initializer has no name");
    add_weight(t.name, reader_.tensor(t, belongs_in_module(TensorReader::type_of(t))), environment);
  }
  for (const SparseProto& s : model_.graph.sparse) add_weight(s.values.name, reader_.dense(s), environment);
}

const Ref<Module>& Program::module() {
  std::call_once(read_, [&] { reader_.copy_deferred(); });
  return module_;
}

void Program::add_weight(std::string_view name, Ref<Tensor> t, const ModuleEnvironment& environment) {
  Weight w;
  if (belongs_in_module(t->type())) {
    w.path = path_for(name);
    const Role role = is_real(t->type().dtype) ? Role::parameter : Role::buffer;
    set_module_tensor(w.path, std::move(t), role, environment);
  } else {
    if (t->type().dtype != DType::u64) w.host = host_of(*t);
    w.constant = std::move(t);
  }
  const bool fresh = weights_.emplace(name, std::move(w)).second;
  if (!fresh) fail(Code::data_lost, "two initializers are called '", name.substr(0, 200), "'");
}

// Creates the modules along the path.
void Program::set_module_tensor(std::string_view path, Ref<Tensor> t, Role role, const ModuleEnvironment& environment) {
  Module* at = module_.get();
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const std::string_view name = path.substr(0, dot);
    if (!at->find(name)) at->add(name, make_module(environment, "Module", {}));
    at = at->find(name);
    path.remove_prefix(dot + 1);
  }
  at->set_tensor(path, std::move(t), role);
}

// The path of a weight: its name if that can be a path of a module, else with '_' for the dots.
std::string Program::path_for(std::string_view name) {
  const auto free = [&](std::string_view path) {
    size_t parts = 1;
    for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1), parts++)
      if (module_->find_tensor(path.substr(0, dot))) return false;
    return parts < Module::kMaxDepth / 2 && !module_->find_tensor(path) && !module_->find(path);
  };
  const bool plain =
      !name.starts_with('.') && !name.ends_with('.') && name.find("..") == name.npos && name.find('\0') == name.npos;
  if (plain && free(name)) return std::string(name);
  std::string flat(name);
  std::replace_if(
      flat.begin(), flat.end(), [](char c) { return c == '.' || c == '\0'; }, '_');
  std::string path = flat;
  for (int n = 2; !free(path); n++) path = cat(flat, "#", n);
  return path;
}

const Program::Weight* Program::weight(std::string_view name) const {
  const auto it = weights_.find(name);
  return it == weights_.end() ? nullptr : &it->second;
}

const Program::Weight& Program::constant(const TensorProto& t) {
  const std::lock_guard lock(mutex_);
  auto [it, fresh] = constants_.try_emplace(&t);
  if (fresh) {
    try {
      it->second.constant = reader_.tensor(t);
    } catch (...) {
      constants_.erase(it);
      throw;
    }
    const Tensor& made = *it->second.constant;
    if (made.elements() <= kMostHostElements && made.type().dtype != DType::u64) it->second.host = host_of(made);
  }
  return it->second;
}

const Program::Weight& Program::constant(const SparseProto& s) {
  const std::lock_guard lock(mutex_);
  auto [it, fresh] = constants_.try_emplace(&s);
  if (fresh) it->second.constant = reader_.dense(s);
  return it->second;
}

const FunctionProto* Program::find_function(std::string_view domain, std::string_view name,
                                            std::string_view overload) const {
  for (const FunctionProto& f : model_.functions)
    if (f.name == name && f.domain == domain && f.overload == overload) return &f;
  return nullptr;
}

}  // namespace thunder::onnx

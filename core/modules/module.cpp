#include "modules/module.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "modules/kind.h"
#include "tensor/transfer.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

// Paths grow with the ways that lead to shared modules, which may be very many more than the modules.
constexpr size_t kMaxPaths = size_t{1} << 20;

std::vector<ModuleAt> walk(Module& root, bool every_path) {
  std::vector<ModuleAt> found, pending{{"", &root}};
  std::unordered_set<const Module*> seen;
  while (!pending.empty()) {
    ModuleAt at = std::move(pending.back());
    pending.pop_back();
    if (!every_path && !seen.insert(at.module).second) continue;
    auto& children = at.module->children();
    for (size_t i = children.size(); i-- > 0;)
      pending.push_back({join_path(at.path, children[i].name), children[i].module.get()});
    found.push_back(std::move(at));
    require(found.size() + pending.size() <= kMaxPaths, "more than ", kMaxPaths,
            " paths lead to the modules below this one");
  }
  return found;
}

// The longest way down, in steps. Throws when `never` is `m` or below it.
size_t count_levels_below(const Module& m, const Module* never, std::string_view name) {
  std::vector<const Module*> level{&m};
  size_t levels = 0;
  while (true) {
    std::vector<const Module*> next;
    for (const Module* one : level) {
      require(one != never, "add: module '", name, "' holds the module that it is added to; modules form no cycles");
      for (auto& child : one->children()) next.push_back(child.module.get());
    }
    if (next.empty()) return levels;
    levels++;
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    level = std::move(next);
  }
}

template <class List>
auto find_name(List& list, std::string_view name) {
  return std::find_if(list.begin(), list.end(), [&](auto& item) { return item.name == name; });
}

}  // namespace

std::string join_path(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : cat(path, ".", name);
}

std::vector<ModuleAt> modules_of(Module& root) {
  return walk(root, false);
}
std::vector<ModuleAt> module_paths_of(Module& root) {
  return walk(root, true);
}

Module::Module(const ModuleKind& kind, std::vector<Leaf> options) : kind_(&kind), options_(std::move(options)) {}

Module::~Module() {
  for (auto& child : children_) child.module->generation_->detach(generation_, child.name);
}

const Leaf& Module::option(std::string_view name) const {
  const int at = kind_->schema().find(name);
  ensure(at >= 0, kind_->name(), " has no option '", name, "'");
  return options_[static_cast<size_t>(at)];
}

std::vector<Generation::Pointer> Module::collect_generations() const {
  return Generation::collect_with_ancestors({&generation_, 1});
}

std::string Module::place() const { return generation_->path(); }

std::shared_ptr<const std::atomic<uint64_t>> Module::generation() const {
  return {generation_, &generation_->counter()};
}

void Module::check_name(std::string_view name) const {
  require(!name.empty() && name.find('.') == name.npos && name.find('\0') == name.npos,
          "a name in a module must not be empty nor hold a dot, got '", name, "'");
}

void Module::add(std::string_view name, Ref<Module> child) {
  require(static_cast<bool>(child), "add: child '", name, "' is NULL");
  check_name(name);
  require(find_name(tensors_, name) == tensors_.end(), "add: this module has a tensor '", name, "'");
  const size_t depth = generation_->levels_above() + 1 + count_levels_below(*child, this, name);
  require(depth < kMaxDepth, "add: with '", name, "' modules would be nested ", depth + 1, " deep, at most ", kMaxDepth,
          " are allowed");
  const auto counted = collect_generations();
  Child fresh{std::string(name), std::move(child)};
  children_.reserve(children_.size() + 1);
  fresh.module->generation_->attach(generation_, name);  // the last that may fail
  auto it = find_name(children_, name);
  if (it == children_.end()) {
    children_.push_back(std::move(fresh));
  } else {
    it->module->generation_->detach(generation_, name);
    std::swap(it->module, fresh.module);
  }
  Generation::bump(counted);
}

void Module::remove(std::string_view name) {
  const auto it = find_name(children_, name);
  require(it != children_.end(), "remove: this module has no child '", name, "'");
  const auto counted = collect_generations();
  const Ref<Module> released = std::move(it->module);
  released->generation_->detach(generation_, name);
  children_.erase(it);
  Generation::bump(counted);
}

void Module::set_tensor(std::string_view name, Ref<Tensor> tensor, Role role) {
  check_name(name);
  require(tensor && tensor->concrete(), "set_tensor: '", name, "' must be a tensor with data");
  require(role == Role::parameter || role == Role::buffer || role == Role::transient, "set_tensor: '", name,
          "': role must be parameter (1), buffer (2) or a buffer that is not saved (3), got ",
          static_cast<int32_t>(role));
  require(role != Role::parameter || is_real(tensor->type().dtype), "set_tensor: parameter '", name,
          "' must be real, got ", thunder::name(tensor->type()), "; make it a buffer");
  require(find_name(children_, name) == children_.end(), "set_tensor: this module has a child '", name, "'");
  const auto counted = collect_generations();
  auto it = find_name(tensors_, name);
  if (it == tensors_.end()) {
    tensors_.push_back({std::string(name), std::move(tensor), role});
  } else {
    std::swap(it->tensor, tensor);
    it->role = role;
  }
  Generation::bump(counted);
}

void Module::remove_tensor(std::string_view name) {
  const auto it = find_name(tensors_, name);
  if (it == tensors_.end()) return;
  const auto counted = collect_generations();
  const Ref<Tensor> released = std::move(it->tensor);
  tensors_.erase(it);
  const int at = kind_->schema().find(name);  // a layer that was made with a bias has none
  if (at >= 0 && options_[static_cast<size_t>(at)].kind == ArgKind::boolean) options_[static_cast<size_t>(at)].i = 0;
  Generation::bump(counted);
}

void Module::set_options(std::vector<Leaf> options) {
  const auto counted = collect_generations();
  options_.swap(options);
  Generation::bump(counted);
}

void Module::become(Module& made) {
  const auto counted = collect_generations();
  kind_ = made.kind_;
  options_.swap(made.options_), tensors_.swap(made.tensors_);
  Generation::bump(counted);
}

void Module::take_back(std::string_view name) noexcept {
  if (auto child = find_name(children_, name); child != children_.end()) {
    child->module->generation_->detach(generation_, name);
    children_.erase(child);
  }
  if (auto tensor = find_name(tensors_, name); tensor != tensors_.end()) tensors_.erase(tensor);
}

void Module::set_forward(Ref<Function> forward) {
  const auto counted = collect_generations();
  std::swap(forward_, forward);
  Generation::bump(counted);
}

void Module::set_training(bool training) {
  std::vector<Generation::Pointer> changed;
  const std::vector<ModuleAt> all = modules_of(*this);
  for (auto& at : all)
    if (at.module->training_ != training) changed.push_back(at.module->generation_);
  const auto counted = Generation::collect_with_ancestors(changed);
  for (auto& at : all) at.module->training_ = training;
  Generation::bump(counted);
}

template <class Wants, class Convert>
void Module::replace(const Wants& wants, const Convert& convert) {
  std::unordered_map<const Tensor*, Ref<Tensor>> converted;
  std::vector<NamedSlot*> slots;
  std::vector<Generation::Pointer> changed;
  for (auto& at : modules_of(*this)) {
    for (NamedSlot& slot : at.module->tensors_) {
      if (!wants(slot)) continue;
      slots.push_back(&slot);
      changed.push_back(at.module->generation_);
      if (!converted.contains(slot.tensor.get())) converted.emplace(slot.tensor.get(), convert(slot.tensor));
    }
  }
  const auto counted = Generation::collect_with_ancestors(changed);
  for (NamedSlot* slot : slots) slot->tensor = converted.at(slot->tensor.get());
  Generation::bump(counted);
}

void Module::to(Devices& devices, Device device) {
  if (device != Device::cpu) devices.accelerator(device);  // a module without tensors too
  replace([&](const NamedSlot& s) { return s.tensor->type().device != device; },
          [&](const Ref<Tensor>& t) { return moved(t, devices, device); });
}

void Module::to(const ScopeEnvironment& environment, DType dtype) {
  require(known(dtype) && is_real(dtype), "to: a module's dtype must be float16, bfloat16, float32 or float64, got ",
          known(dtype) ? std::string(name(dtype)) : cat("the unknown ", static_cast<int32_t>(dtype)));
  EagerScope scope(environment, false);
  Any wanted;
  wanted.kind = ArgKind::dtype, wanted.dtype = dtype;
  replace([&](const NamedSlot& s) { return is_real(s.tensor->type().dtype) && s.tensor->type().dtype != dtype; },
          [&](const Ref<Tensor>& t) {
            const Any args[] = {Any::tensor(t.get()), wanted};
            Tensor* made = scope.invoke("to", args, nullptr, nullptr, 0, nullptr);
            if (scope.status()) throw Error(scope.status());
            made->set_sharding(t->sharding());
            return Ref<Tensor>(made);
          });
}

void Module::replace_parameters(const std::function<Ref<Tensor>(const Ref<Tensor>&)>& f) {
  replace([](const NamedSlot& s) { return s.role == Role::parameter; }, f);
}

Ref<Module> Module::copy(const Allocator& allocator) {
  std::unordered_map<const Module*, Ref<Module>> modules;
  std::unordered_map<const Tensor*, Ref<Tensor>> tensors;
  const std::vector<ModuleAt> all = modules_of(*this);
  for (auto& at : all) {
    auto made = make<Module>(*at.module->kind_, at.module->options_);
    for (const NamedSlot& slot : at.module->tensors_) {
      Ref<Tensor>& tensor = tensors[slot.tensor.get()];
      if (!tensor) {
        tensor = dense_copy(allocator, *slot.tensor);
        tensor->set_sharding(slot.tensor->sharding());
      }
      made->tensors_.push_back({slot.name, tensor, slot.role});
    }
    made->forward_ = at.module->forward_;
    made->training_ = at.module->training_;
    made->optional_numbers_ = at.module->optional_numbers_;
    modules.emplace(at.module, std::move(made));
  }
  for (auto& at : all)
    for (const Child& child : at.module->children_)
      modules.at(at.module)->add(child.name, modules.at(child.module.get()));
  return modules.at(this);
}

Module* Module::find(std::string_view path) {
  Module* at = this;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    auto it = find_name(at->children_, path.substr(0, end));
    if (it == at->children_.end()) return nullptr;
    at = it->module.get();
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

const Module::NamedSlot* Module::find_tensor(std::string_view path) {
  const size_t dot = path.rfind('.');
  Module* at = dot == path.npos ? this : find(path.substr(0, dot));
  if (!at) return nullptr;
  auto it = find_name(at->tensors_, dot == path.npos ? path : path.substr(dot + 1));
  return it == at->tensors_.end() ? nullptr : &*it;
}

}  // namespace thunder

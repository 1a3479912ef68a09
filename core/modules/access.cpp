#include "modules/access.h"

#include <algorithm>
#include <optional>

#include "base/nesting.h"
#include "base/text.h"
#include "modules/fully_shard.h"
#include "modules/kind.h"
#include "modules/set_option.h"
#include "modules/text.h"

namespace thunder {
namespace {

// A module and its path below the module whose generation is checked. The empty path is that module itself.
struct Place {
  Ref<Module> root;
  std::string path;

  Module* find() const { return root->find(path); }
  std::string text() const { return path.empty() ? cat("module ", root->kind().name()) : cat("module '", path, "'"); }
};

Place find_place(const Scope& scope, Module& module) {
  for (const ModuleAccess* a = scope.access; a; a = a->outer)
    if (auto it = a->paths.find(&module); it != a->paths.end()) return {a->root, it->second};
  return {Ref<Module>(&module), ""};
}

class SameTensor : public Fact {
 public:
  SameTensor(Ref<Module> root, std::string path, Ref<Tensor> tensor)
      : root_(std::move(root)),
        path_(std::move(path)),
        tensor_(std::move(tensor)),
        type_(tensor_ ? tensor_->type() : TensorType()),
        strides_(tensor_ ? tensor_->strides() : Sizes()) {}

  bool holds() const override {
    return current_tensor() == tensor_.get() &&
           (!tensor_ || (tensor_->type() == type_ && tensor_->strides() == strides_));
  }
  std::string describe() const override {
    Tensor* t = current_tensor();
    if (!t) return cat("tensor '", path_, "' of a module is no longer there");
    if (!tensor_) return cat("tensor '", path_, "' of a module was absent, is ", name(t->type()));
    if (!(t->type() == type_))
      return cat("tensor '", path_, "' of a module is ", name(t->type()), ", was ", name(type_));
    return cat("tensor '", path_, "' of a module was replaced");
  }

 private:
  Tensor* current_tensor() const {
    const Module::NamedSlot* slot = root_->find_tensor(path_);
    return slot ? slot->tensor.get() : nullptr;
  }
  Ref<Module> root_;
  std::string path_;
  Ref<Tensor> tensor_;  // null: there was none
  TensorType type_;
  Sizes strides_;
};

class SameMode : public Fact {
 public:
  SameMode(Place place, bool training) : place_(std::move(place)), training_(training) {}
  bool holds() const override {
    Module* m = place_.find();
    return m && m->training() == training_;
  }
  std::string describe() const override {
    return cat(place_.text(), ": training is ", !training_, ", was ", training_);
  }

 private:
  Place place_;
  bool training_;
};

// A module that was called has the forward and the options that it had. A lazy one is about to become another kind,
// with that one's options.
class SameCall : public Fact {
 public:
  SameCall(Place place, const Module& m)
      : place_(std::move(place)),
        forward_(m.forward()),
        options_(m.kind().becoming().to ? std::nullopt : std::optional(m.options())) {}
  bool holds() const override {
    Module* m = place_.find();
    return m && m->forward() == forward_ && (!options_ || first_changed(*m) == options_->size());
  }
  std::string describe() const override {
    Module* m = place_.find();
    const size_t at = m && options_ ? first_changed(*m) : SIZE_MAX;
    if (at >= (options_ ? options_->size() : 0)) return cat(place_.text(), ": its forward was replaced");
    return cat(place_.text(), ": ", m->kind().schema().params[at].name, " is ", leaf_text(m->options()[at]), ", was ",
               leaf_text((*options_)[at]));
  }

 private:
  // The index of the first option that differs; the number of options if none does.
  size_t first_changed(const Module& m) const {
    const auto &was = *options_, &now = m.options();
    return static_cast<size_t>(std::mismatch(was.begin(), was.end(), now.begin(), now.end(), same_option).first -
                               was.begin());
  }

  Place place_;
  Ref<Function> forward_;
  std::optional<std::vector<Leaf>> options_;
};

// Guards that the modules below a called module are unchanged. Forwards may reach them by pointers of their own, so
// this does not wait for a read.
class SameTree : public Fact {
 public:
  explicit SameTree(Ref<Module> root) : root_(std::move(root)) {
    for (auto& at : modules_of(*root_)) modules_.push_back({at.path, Ref<Module>(at.module), at.module->children()});
  }
  bool holds() const override { return !first_changed(); }
  std::string describe() const override {
    const Known* where = first_changed();
    return cat(where && !where->path.empty() ? cat("module '", where->path, "'") : cat("module ", root_->kind().name()),
               ": a child was added or replaced");
  }

 private:
  struct Known {
    std::string path;
    Ref<Module> module;
    std::vector<Module::Child> children;
  };
  // Compares from the root down: a module is unchanged only if all modules before it are.
  const Known* first_changed() const {
    for (const Known& was : modules_) {
      auto same = [](auto& a, auto& b) { return a.name == b.name && a.module == b.module; };
      const auto& now = was.module->children();
      if (!std::equal(now.begin(), now.end(), was.children.begin(), was.children.end(), same)) return &was;
    }
    return nullptr;
  }
  Ref<Module> root_;
  std::vector<Known> modules_;
};

void guard(Scope& scope, const Place& place, std::unique_ptr<Fact> fact) {
  if (!place.root->made_in_trace()) scope.guard(place.root->generation(), std::move(fact));
}

Tensor* read(Scope& scope, Module& module, std::string_view path, const Module::NamedSlot* slot) {
  const bool shard = slot && slot->role == Role::parameter && slot->tensor->sharding();
  if (!scope.tracing()) {
    if (!shard) return slot ? slot->tensor.get() : nullptr;
    scope.fail(Code::failed_precondition,
               cat("parameter '", path, "' of a module is a shard, ", name(slot->tensor->type()),
                   slot->tensor->sharding()->gathered
                       ? ", since fully_shard: compiled functions gather it"
                       : ", since parallelize_module: compiled functions compute with it",
                   "; parameters() gives the shard"));
    return scope.failed_tensor();
  }
  Place place = find_place(scope, module);
  const std::string full = join_path(place.path, path);
  guard(scope, place, std::make_unique<SameTensor>(place.root, full, slot ? slot->tensor : nullptr));
  if (shard) return value_of_shard(scope, slot->tensor.get(), full);
  return slot ? scope.parameter(slot->tensor.get(), full) : nullptr;
}

// Notes the module whose forward runs, and where reads are guarded meanwhile, unless an outer call has.
class Entered final : public LayerCall {
 public:
  Entered(Scope& scope, Module& module, const char* where)
      : LayerCall(scope.layer, where), scope_(scope), module_(module), outer_(scope.access) {
    if (scope.tracing() && !known(module)) {
      access_.root = Ref<Module>(&module);
      access_.outer = outer_;
      for (auto& at : modules_of(module)) access_.paths.emplace(at.module, std::move(at.path));
      guard(scope, {access_.root, ""}, std::make_unique<SameTree>(access_.root));
      scope.access = &access_;
    }
    scope.layer = this;  // nothing fails from here on
  }
  ~Entered() { scope_.access = outer_, scope_.layer = outer; }
  Entered(const Entered&) = delete;

  std::string path() const override { return module_.place(); }
  bool is_of(const Module& module) const { return &module_ == &module; }

 private:
  bool known(const Module& module) const {
    for (const ModuleAccess* a = outer_; a; a = a->outer)
      if (a->paths.contains(&module)) return true;
    return false;
  }

  Scope& scope_;
  const Module& module_;
  const ModuleAccess* outer_;
  ModuleAccess access_;
};

// The kind's own forward.
Values* kind_forward(Scope& scope, Module& module, const Values& in) {
  auto out = make<Values>();
  if (!scope.status()) {
    try {
      const Nesting inside(module.kind().name());
      require(module.kind().forward != nullptr, module.kind().name(), ": this module has no forward; set one");
      ModuleCall call(scope, module, in, *out);
      module.kind().forward(call);
    } catch (const Error& e) {
      scope.fail_at(e, "", nullptr);
    }
  }
  return scope.own(std::move(out));
}

class ModuleFunction : public Function {
 public:
  explicit ModuleFunction(Ref<Module> module)
      : Function(std::string(module->kind().name())), module_(std::move(module)) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    out.assign(*module_call(scope, *module_, in));
    return {};
  }

 private:
  Ref<Module> module_;
};

}  // namespace

Tensor* optional_module_tensor(Scope& scope, Module& module, std::string_view path) {
  if (scope.status()) return scope.failed_tensor();
  return read(scope, module, path, module.find_tensor(path));
}

Tensor* module_tensor(Scope& scope, Module& module, std::string_view path) {
  if (scope.status()) return scope.failed_tensor();
  const Module::NamedSlot* slot = module.find_tensor(path);
  if (slot) return read(scope, module, path, slot);
  std::vector<std::string> names;
  for (auto& at : modules_of(module))
    for (auto& t : at.module->tensors()) names.push_back(join_path(at.path, t.name));
  std::vector<std::string_view> known(names.begin(), names.end());
  scope.fail(Code::not_found,
             cat(module.kind().name(), ": no tensor '", path.substr(0, 200), "' in this module", suggest(path, known)));
  return scope.failed_tensor();
}

bool module_training(Scope& scope, Module& module) {
  if (!scope.tracing()) return module.training();
  Place place = find_place(scope, module);
  guard(scope, place, std::make_unique<SameMode>(place, module.training()));
  return module.training();
}

Values* module_call(Scope& scope, Module& module, const Values& in, const char* where) {
  Ref<Module> keep(&module);  // a forward may replace it where it is kept
  // A forward of the user's own that calls the module it belongs to means the one that it replaced.
  const auto* inside = dynamic_cast<const Entered*>(scope.layer);
  const bool replaced = module.forward() && !(inside && inside->is_of(module) && module.kind().forward);
  const Entered entered(scope, module, where);
  if (scope.tracing()) {
    Place place = find_place(scope, module);
    guard(scope, place, std::make_unique<SameCall>(place, module));
  }
  return replaced ? apply(scope, *Ref<Function>(module.forward()), in) : kind_forward(scope, module, in);
}

Ref<Function> module_function(Ref<Module> module) {
  return Ref<Function>::adopt(new ModuleFunction(std::move(module)));
}

}  // namespace thunder

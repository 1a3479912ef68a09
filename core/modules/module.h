// A tree of modules with tensors by name, whatever their kind.
#pragma once

#include <functional>

#include "modules/generation.h"
#include "tracer/current_trace.h"
#include "tracer/function.h"

namespace thunder {

class ModuleKind;

// The values are those of thunder.h. A transient tensor is a buffer that is no part of the state: it is not saved.
enum class Role : int32_t { parameter = 1, buffer = 2, transient = 3 };

// Any thread may hold and read one; one thread while it changes. Every change of what a program may depend on counts
// in the generation; a write of data is no such change.
class Module : public Counted<Module> {
 public:
  struct Child {
    std::string name;
    Ref<Module> module;
  };
  struct NamedSlot {
    std::string name;
    Ref<Tensor> tensor;
    Role role;
  };
  // Trees are at most this deep, so that walking one by recursion is safe: calls and destructors do.
  static constexpr size_t kMaxDepth = 200;

  // `options` in the order of the kind's schema.
  Module(const ModuleKind& kind, std::vector<Leaf> options);
  ~Module();

  const ModuleKind& kind() const { return *kind_; }
  // In the order of the kind's schema.
  const std::vector<Leaf>& options() const { return options_; }
  // The option of this name. Requires: the kind's schema has it.
  const Leaf& option(std::string_view name) const;
  int64_t integer(std::string_view name) const { return option(name).i; }
  bool flag(std::string_view name) const { return option(name).i != 0; }
  double real(std::string_view name) const { return option(name).f; }

  // A setter that throws changes nothing.

  // Adds, or replaces the child of that name. Throws for a cycle, a name with a dot, or one that a tensor has.
  void add(std::string_view name, Ref<Module> child);
  void remove(std::string_view name);  // the child of that name
  // Adds, or replaces the tensor of that name. Parameters are real.
  void set_tensor(std::string_view name, Ref<Tensor> tensor, Role role);
  // Takes the tensor of that name away, if there is one: a forward for which it is optional goes on without it.
  void remove_tensor(std::string_view name);
  // Replaces the options that it was made with. Requires: they are of its kind, and give the tensors that it has.
  void set_options(std::vector<Leaf> options);
  // Replaces the forward of the kind.
  void set_forward(Ref<Function> forward);
  // Paths of 0-d f64 buffers that are 0 where they are absent, here and in a file: an optimizer's counts of the steps
  // that left a parameter alone.
  void set_optional_numbers(std::vector<std::string> paths) { optional_numbers_ = std::move(paths); }
  // Sets it for this module and all below it.
  void set_training(bool training);
  // Tensors of this module and all below it as new ones on a device. Throws for a device that is not there.
  void to(Devices& devices, Device device);
  // Converts real tensors of this module and all below it to a real dtype; a shared tensor stays shared.
  void to(const ScopeEnvironment& environment, DType dtype);
  // Replaces each parameter of this module and all below it by what `f` makes of it; a shared one stays shared.
  void replace_parameters(const std::function<Ref<Tensor>(const Ref<Tensor>&)>& f);
  // A copy of this module and all below it: tensors are copied, forwards shared. Shared modules and tensors stay
  // shared.
  Ref<Module> copy(const Allocator& allocator);
  // Takes the kind, options and tensors of `made`, a module without other owners.
  void become(Module& made);
  // Removes the child or the tensor that was added under this name, if nothing depends on it yet.
  void take_back(std::string_view name) noexcept;

  const std::vector<Child>& children() const { return children_; }
  const std::vector<NamedSlot>& tensors() const { return tensors_; }
  const Ref<Function>& forward() const { return forward_; }
  bool training() const { return training_; }
  const std::vector<std::string>& optional_numbers() const { return optional_numbers_; }
  // The module at a path, "blocks.0.fc1"; the empty path is this module. Null: there is none.
  Module* find(std::string_view path);
  const NamedSlot* find_tensor(std::string_view path);
  // The path from the topmost module that this one is in, "blocks.0.fc1"; "" for that one. For messages.
  std::string place() const;
  std::shared_ptr<const std::atomic<uint64_t>> generation() const;
  // Whether it was made by the function that this thread traces: no call finds another one there.
  bool made_in_trace() const { return trace_ && trace_ == current_trace(); }

 private:
  void check_name(std::string_view name) const;
  // Tensors of this module and all below it, those that `wants` says, by what `convert` makes of each: all of
  // them or, when this throws, none. What is one tensor stays one.
  template <class Wants, class Convert>
  void replace(const Wants& wants, const Convert& convert);
  // The generations that count a change of this module.
  std::vector<Generation::Pointer> collect_generations() const;

  const ModuleKind* kind_;
  std::vector<Leaf> options_;
  std::vector<Child> children_;
  std::vector<NamedSlot> tensors_;
  std::vector<std::string> optional_numbers_;
  Ref<Function> forward_;
  bool training_ = true;
  const uint64_t trace_ = current_trace();
  Generation::Pointer generation_ = std::make_shared<Generation>();
};

// "path.name", without the dot where there is no path.
std::string join_path(std::string_view path, std::string_view name);

struct ModuleAt {
  std::string path;
  Module* module;
};
// The module itself and all below it, parents first, children in order of addition; each once, under its first path.
std::vector<ModuleAt> modules_of(Module& root);
// The same, listed under every path that leads to it.
std::vector<ModuleAt> module_paths_of(Module& root);

}  // namespace thunder

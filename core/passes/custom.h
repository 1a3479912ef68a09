// A pass of the caller's: rules, a function over an editor, or both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/editor.h"
#include "passes/pattern.h"

namespace thunder {

struct CustomPassDesc {
  std::string name;
  std::string before, after;  // the pass beside which it stands; at most one is not empty
  std::vector<std::string> rules;
  // Owned status, or null. Null function: rules alone.
  Status* (*run)(Editor&, void* user) = nullptr;
  void* user = nullptr;
  std::shared_ptr<const void> owner;  // of what `user` points to; may be null
};

class CustomPass : public Counted<CustomPass> {
 public:
  // Throws when it is incomplete, or at a rule that cannot be read, naming it.
  CustomPass(CustomPassDesc desc, const Registry& registry);

  const std::string& name() const { return desc_.name; }
  const std::string& before() const { return desc_.before; }
  const std::string& after() const { return desc_.after; }
  // Empty: nothing changed. Lines that are then unused are gone. Throws what the function returns.
  std::optional<Trace> run(const Trace& trace, PassContext& context, const ScopeEnvironment& environment) const;

 private:
  friend class Counted<CustomPass>;
  ~CustomPass() = default;
  void read(const Registry& registry);
  [[noreturn]] void fail_pass(const Ref<Status>& why) const;

  CustomPassDesc desc_;
  std::vector<Rule> rules_;
};
using CustomPasses = std::vector<Ref<CustomPass>>;

}  // namespace thunder

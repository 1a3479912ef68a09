// A pass that the caller defines by rewrite rules, by a function over an editor, or by both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/editor.h"
#include "passes/pattern.h"

namespace thunder {

struct CustomPassDesc {
  std::string name;
  std::string before, after;  // the name of the pass before or after which it runs; at most one is not empty
  std::vector<std::string> rules;
  // Owned status, or null. Null function: rules alone.
  Status* (*run)(Editor&, void* user) = nullptr;
  void* user = nullptr;
  std::shared_ptr<const void> owner;  // of what `user` points to; may be null
};

class CustomPass : public Counted<CustomPass> {
 public:
  // Throws if the description is incomplete, or, with its text, if a rule cannot be parsed.
  CustomPass(CustomPassDesc desc, const Registry& registry);

  const std::string& name() const { return desc_.name; }
  const std::string& before() const { return desc_.before; }
  const std::string& after() const { return desc_.after; }
  // Empty: nothing changed. Nodes that are then unused are removed. Throws the error that the function returns.
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

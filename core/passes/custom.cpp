#include "passes/custom.h"

#include "base/text.h"
#include "passes/dce.h"

namespace thunder {

CustomPass::CustomPass(CustomPassDesc desc, const Registry& registry) : desc_(std::move(desc)) {
  read(registry);
}

void CustomPass::read(const Registry& registry) {
  require(!desc_.name.empty(), "a pass needs a name");
  require(desc_.run || !desc_.rules.empty(), "pass '", desc_.name, "' has neither rules nor a function");
  require(desc_.before.empty() || desc_.after.empty(), "pass '", desc_.name, "' stands before '", desc_.before,
          "' and after '", desc_.after, "'; one of them says where");
  for (auto& rule : desc_.rules) {
    try {
      rules_.emplace_back(rule, registry);
    } catch (const Error& e) {
      fail(e.code(), "pass '", desc_.name, "', rule \"", rule, "\": ", e.message());
    }
  }
}

void CustomPass::fail_pass(const Ref<Status>& why) const {
  const std::string who = cat("pass '", desc_.name, "'");
  if (why->has_foreign() || why->message().starts_with(who)) throw Error(why);
  fail(why->code(), who, ": ", why->message());
}

std::optional<Trace> CustomPass::run(const Trace& trace, PassContext& context,
                                     const ScopeEnvironment& environment) const {
  std::optional<Trace> made = rules_.empty() ? std::nullopt : apply_rules(trace, context.registry, rules_);
  if (desc_.run) {
    const Trace& before = made ? *made : trace;
    Editor editor(before, environment, desc_.name);
    auto failed = Ref<Status>::adopt(desc_.run(editor, desc_.user));
    if (!failed) failed = editor.scope().status();
    if (failed) fail_pass(failed);
    if (auto edited = editor.finish()) made = std::move(edited);
  }
  if (!made) return made;
  auto used = dce(*made, context);
  return used ? used : made;
}

}  // namespace thunder

// thunder_pass_* and thunder_editor_*: passes of callers, and the editor by which they change traces.
#include "base/nesting.h"
#include "capi/callback.h"
#include "capi/node.h"
#include "capi/options.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

// An editor while a pass's function has it, and the first mistake that was made with it.
struct EditorHandle : Handled {
  explicit EditorHandle(Editor& e) : editor(e), nodes(e.lines()) {}
  Editor& editor;
  Live live{editor.scope()};
  std::vector<std::unique_ptr<NodeHandle>> nodes;  // by line, made when they are asked for

  const Ref<Status>& status() const { return editor.scope().status(); }
  void fail(Ref<Status> why) { editor.scope().fail(std::move(why)); }
};
THUNDER_HANDLE(editor, EditorHandle)

}  // namespace thunder::capi

namespace {

struct CPass {
  thunder_pass_desc desc{};

  ~CPass() {
    if (desc.destroy) desc.destroy(desc.user);
  }
  static Status* run(Editor& editor, void* user) {
    const thunder_pass_desc& desc = static_cast<CPass*>(user)->desc;
    const Nesting inside("a pass");
    EditorHandle lent(editor);
    return call_with_status("it", [&] { return desc.run(handle(&lent), desc.user); }).detach();
  }
};

CustomPassDesc make_pass_desc(const std::shared_ptr<CPass>& made) {
  const thunder_pass_desc& d = made->desc;
  check(d.name && *d.name, "the descriptor has no name");
  CustomPassDesc desc;
  desc.name = d.name;
  desc.before = d.before ? d.before : "";
  desc.after = d.after ? d.after : "";
  desc.rules = texts_of(d.rules, d.n_rules, "rule", cat("pass '", d.name, "'"));
  if (d.run) desc.run = CPass::run;
  desc.user = made.get();
  desc.owner = made;
  return desc;
}

}  // namespace

extern "C" {

thunder_status* thunder_pass_create(thunder_context* context, const thunder_pass_desc* desc,
                                    thunder_pass** out) noexcept {
  return given(guarded(__func__, [&] {
    const auto made = keep_descriptor<CPass>(desc);
    need(context, "context"), need(out, "out");
    *out = given(make<CustomPass>(make_pass_desc(made), core(context)->registry()));
  }));
}

thunder_status* thunder_context_add_pass(thunder_context* context, thunder_pass* pass) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(pass, "pass");
    core(context)->add_pass(Ref<CustomPass>(core(pass)));
  }));
}

void thunder_pass_release(thunder_pass* pass) noexcept {
  released(pass);
}

size_t thunder_editor_line_count(const thunder_editor* editor) noexcept {
  const auto* const object = core(editor);
  return object ? object->editor.lines() : 0;
}

const thunder_node* thunder_editor_line(thunder_editor* editor, size_t line) noexcept {
  const NodeHandle* found = nullptr;
  run_unless_failed(core(editor), __func__, [&] {
    EditorHandle& e = *core(editor);
    const Node& node = e.editor.line(line);
    if (!e.nodes[line]) e.nodes[line] = std::make_unique<NodeHandle>(node, *e.editor.trace().store);
    found = e.nodes[line].get();
  });
  return handle(found);
}

thunder_scope* thunder_editor_before(thunder_editor* editor, size_t line) noexcept {
  EditorHandle* const e = core(editor);
  if (!e) return nullptr;
  run_unless_failed(e, __func__, [&] { e->editor.before(line); });
  return handle(static_cast<Scope*>(&e->editor.scope()));
}

thunder_tensor* thunder_editor_value(thunder_editor* editor, uint32_t value) noexcept {
  EditorHandle* const e = core(editor);
  if (!e) return handle(lasting_failure(Lasting::no_scope));
  BuilderScope& scope = e->editor.scope();
  return handle(make_tensor_in(handle(static_cast<Scope*>(&scope)), __func__, [&] {
    check(value < e->editor.trace().store->size(), "there is no value ", value);
    return scope.wrap(value);
  }));
}

thunder_values* thunder_editor_arguments(thunder_editor* editor, size_t line) noexcept {
  EditorHandle* const e = core(editor);
  if (!e) return nullptr;
  BuilderScope& scope = e->editor.scope();
  return handle(make_values_in(&scope, __func__, [&] {
    const Node& node = e->editor.line(line);
    auto in = make<Values>();
    for (size_t i = 0; i < node.args.size(); i++) push_argument(scope, *in, node.op->schema.params[i], node.args[i]);
    return scope.own(std::move(in));
  }));
}

void thunder_editor_replace(thunder_editor* editor, size_t line, const thunder_values* results) noexcept {
  run_unless_failed(core(editor), __func__, [&] {
    Editor& e = core(editor)->editor;
    e.replace(line, e.read(require_usable(results, "results")));
  });
}

void thunder_editor_delete(thunder_editor* editor, size_t line) noexcept {
  run_unless_failed(core(editor), __func__, [&] { core(editor)->editor.remove(line); });
}

}  // extern "C"

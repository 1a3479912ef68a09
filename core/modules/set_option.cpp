#include "modules/set_option.h"

#include <algorithm>

#include "base/text.h"
#include "modules/text.h"

namespace thunder {
namespace {

// Making a layer of these options, for its tensors alone.
Ref<Module> make_blank_module(const ModuleEnvironment& environment, const Module& like, std::span<const Any> options) {
  ModuleEnvironment blank = environment;
  blank.blank = true;
  return make_module(blank, like.kind().name(), options);
}

// Whether both have equal tensors (types and roles) and layers below, which have options of their own.
bool have_same_parts(Module& a, Module& b) {
  const auto x = modules_of(a), y = modules_of(b);
  const auto same_tensor = [](const Module::NamedSlot& p, const Module::NamedSlot& q) {
    return p.name == q.name && p.role == q.role && p.tensor->type() == q.tensor->type();
  };
  const auto same_module = [&](const ModuleAt& p, const ModuleAt& q) {
    const auto &s = p.module->tensors(), &t = q.module->tensors();
    const auto &o = p.module->options(), &r = q.module->options();
    return p.path == q.path && std::equal(s.begin(), s.end(), t.begin(), t.end(), same_tensor) &&
           (p.path.empty() || std::equal(o.begin(), o.end(), r.begin(), r.end(), same_option));
  };
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_module);
}

}  // namespace

bool same_option(const Leaf& a, const Leaf& b) {
  return a.kind == b.kind && a.i == b.i && a.f == b.f && a.text == b.text && a.ints == b.ints && a.reals == b.reals;
}

void set_option(const ModuleEnvironment& environment, Module& module, std::string_view name, const Any& value) {
  const ModuleKind& kind = module.kind();
  const auto& params = kind.schema().params;
  const int at = kind.schema().find(name);
  if (at < 0) {
    std::vector<std::string_view> known;
    for (const Param& p : params) known.push_back(p.name);
    fail(Code::not_found, kind.name(), " has no option '", name, "'", suggest(name, known));
  }
  require(params[static_cast<size_t>(at)].kind != ParamKind::tensor, kind.name(), ": '", name,
          "' is a tensor: set it as one");
  std::vector<Any> options;
  for (size_t i = 0; i < params.size(); i++) {
    const Module::NamedSlot* slot =
        params[i].kind == ParamKind::tensor ? module.find_tensor(params[i].name) : nullptr;
    options.push_back(slot ? Any::tensor(slot->tensor.get()) : OpArg(module.options()[i]));
  }
  const Ref<Module> was = kind.init ? make_blank_module(environment, module, options) : Ref<Module>();
  options[static_cast<size_t>(at)] = value;
  const Ref<Module> made = make_blank_module(environment, module, options);
  const Leaf &now = module.option(name), &wanted = made->option(name);
  if (same_option(now, wanted)) return;
  require(!was || have_same_parts(*was, *made), kind.name(), ": ", name, " is ", leaf_text(now),
          " and decides what the layer is made of: make another one, ", kind.name(), "(", name, "=", leaf_text(wanted),
          ", ...), or set the option of a layer inside of it");
  module.set_options(made->options());
}

}  // namespace thunder

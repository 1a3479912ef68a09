#include "modules/inputs.h"

#include "base/text.h"
#include "ops/builder.h"

namespace thunder {
namespace {

// The name by which a leaf was given: "3.attn_mask" is in a map at the end. Empty: by its position, be it in a list of
// its own, as an LSTM's (h, c) are.
std::string name_in(const std::string& path) {
  const size_t dot = path.find('.');
  const std::string name = dot == path.npos ? "" : path.substr(dot + 1);
  return name.find_first_not_of("0123456789") == name.npos ? "" : name;
}

Arg argument(const Values& in, size_t leaf) {
  const Leaf& given = in[leaf];
  switch (given.kind) {
    case ArgKind::value:
      return Arg::value(static_cast<ValueId>(leaf));
    case ArgKind::string:
      return Arg::string(given.text);
    case ArgKind::real:
      return Arg::real(given.f);
    default: {
      Arg out;
      out.kind = given.kind;
      out.i = given.i;
      return out;
    }
  }
}

}  // namespace

ModuleInputs::ModuleInputs(const ModuleCall& call) : call_(call), schema_(call.module.kind().inputs()) {
  std::vector<Arg> given;
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  for (const std::string& path : call.in.paths()) names.push_back(name_in(path));
  for (size_t i = 0; i < call.in.size(); i++) {
    given.push_back(argument(call.in, i));
    pointers.push_back(names[i].empty() ? nullptr : names[i].c_str());
    if (given.back().kind != ArgKind::value) call.in.note_read(i);
  }
  CompleteArgs complete(schema_, given, pointers.data());
  args_.assign(complete.span().begin(), complete.span().end());
}

const Arg& ModuleInputs::arg(std::string_view name) const {
  return args_[static_cast<size_t>(schema_.find(name))];
}

Tensor* ModuleInputs::tensor(std::string_view name) const {
  const Arg& a = arg(name);
  return a.present() ? call_.in[a.v].tensor.get() : nullptr;
}

Any ModuleInputs::any(std::string_view name) const {
  const Arg& a = arg(name);
  if (a.kind == ArgKind::value) return Any::tensor(call_.in[a.v].tensor.get());
  Any out;
  out.kind = a.kind;
  out.i = a.i;
  return out;
}

bool ModuleInputs::flag(std::string_view name) const {
  return arg(name).i != 0;
}

}  // namespace thunder

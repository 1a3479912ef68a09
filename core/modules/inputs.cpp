#include "modules/inputs.h"

#include <unordered_map>

#include "base/text.h"
#include "ops/builder.h"

namespace thunder {
namespace {

// The name by which a leaf was given: "3.attn_mask" is in a map at the end, and "2.output_size.1" in a list there.
// Empty: by its position, be it in a list of its own, as an LSTM's (h, c) are.
std::string argument_name(const std::string& path) {
  const size_t dot = path.find('.');
  const std::string name = dot == path.npos ? "" : path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
  return name.find_first_not_of("0123456789") == name.npos ? "" : name;
}

// The list that a leaf is in: its path up to the last dot; empty if it is in none.
std::string list_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  const bool in_list = dot != path.npos && path.find_first_not_of("0123456789", dot + 1) == path.npos;
  return in_list ? path.substr(0, dot) : "";
}

Arg leaf_to_arg(const Values& in, size_t leaf) {
  const Leaf& given = in[leaf];
  switch (given.kind) {
    case ArgKind::value:
      return Arg::value(static_cast<ValueId>(leaf));
    case ArgKind::string:
      return Arg::string(given.text);
    case ArgKind::real:
      return Arg::real(given.f);
    default: return Arg::of(given.kind, given.i);
  }
}

}  // namespace

bool ModuleInputs::begins_list(size_t i, const std::string& name, size_t position) const {
  const int at = name.empty() ? static_cast<int>(position) : schema_.find(name);
  const bool takes =
      at >= 0 && static_cast<size_t>(at) < schema_.params.size() && schema_.params[at].kind == ParamKind::dims;
  return takes && call_.in[i].kind == ArgKind::integer;
}

ModuleInputs::ModuleInputs(const ModuleCall& call) : call_(call), schema_(call.module.kind().inputs()) {
  std::vector<Arg> given;
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  const std::vector<std::string> paths = call.in.paths();
  std::unordered_map<int64_t, std::vector<int64_t>>
      lists;  // by their first leaf, which stands for them while arguments are placed
  for (const std::string& path : paths) names.push_back(argument_name(path));
  for (size_t i = 0; i < call.in.size(); i++) {
    const size_t first = i;
    const std::string list = list_of(paths[i]);
    if (begins_list(i, names[i], given.size())) {
      given.push_back(Arg::integer(static_cast<int64_t>(first)));
      std::vector<int64_t>& sizes = lists[given.back().i];
      do {
        sizes.push_back(call.in[i].i), call.in.note_read(i);
      } while (++i < call.in.size() && !list.empty() && list_of(paths[i]) == list &&
               call.in[i].kind == ArgKind::integer);
      i--;
    } else {
      given.push_back(leaf_to_arg(call.in, i));
      if (given.back().kind != ArgKind::value) call.in.note_read(i);
    }
    pointers.push_back(names[first].empty() ? nullptr : names[first].c_str());
  }
  CompleteArgs complete(schema_, given, pointers.data());
  args_.assign(complete.span().begin(), complete.span().end());
  lists_.resize(args_.size());
  for (size_t i = 0; i < args_.size(); i++) {
    if (args_[i].kind != ArgKind::dims) continue;
    const Arg& otherwise = schema_.params[i].fallback;
    if (otherwise.kind != ArgKind::dims || args_[i].d != otherwise.d) lists_[i] = lists.at(args_[i].d[0].value());
    else for (Dim d : otherwise.dim_list()) lists_[i].push_back(d.value());
  }
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
  if (a.kind == ArgKind::dims) return Any::dims(lists_[static_cast<size_t>(schema_.find(name))]);
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

#include "jit/compile/callers_hooks.h"

#include <algorithm>

#include "base/text.h"
#include "jit/context/context.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

std::vector<Leaf> call_hook(Context& context, Function& f, const Values& in) {
  EagerScope scope(context.scope_environment(), false);
  const Values* out = apply(scope, f, in);
  if (scope.status()) throw Error(scope.status());
  std::vector<Leaf> results;
  for (size_t i = 0; i < out->size(); i++) results.push_back((*out)[i]);
  return results;
}

}  // namespace

CompileProgress::CompileProgress(Context& context, const CompileOptions& options, InterruptCheck& check)
    : context_(context), function_(options.settings().progress.get()), check_(check) {
  if (function_) before_ = check_.set_progress(this);
}

CompileProgress::~CompileProgress() {
  if (function_) check_.set_progress(before_);
}

void CompileProgress::at(std::string_view stage, size_t done, size_t total) {
  Values in;
  in.push(Any::string(stage)), in.push(Any::integer(static_cast<int64_t>(done)));
  in.push(Any::integer(static_cast<int64_t>(total)));
  call_hook(context_, *function_, in);
}

void drop_guards(Context& context, Function& filter, const Inputs& in, Entry& entry, std::vector<uint32_t>& any) {
  if (!in.values) return;  // tensors have no such guards
  const std::vector<std::string> paths = in.values->paths();
  Values guards;
  std::vector<uint32_t> leaves;
  const auto add = [&](uint32_t leaf, std::string_view type, const Any& value) {
    guards.open(true, "");
    guards.key("name"), guards.push(Any::string(paths[leaf]));
    guards.key("guard_type"), guards.push(Any::string(type));
    guards.key("value"), guards.push(value);
    guards.close();
    leaves.push_back(leaf);
  };
  guards.open(false, "");
  for (uint32_t leaf = 0; leaf < in.count; leaf++)
    if (entry.inputs.leaves[leaf].kind == ArgKind::integer && std::find(any.begin(), any.end(), leaf) == any.end())
      add(leaf, "CONSTANT_MATCH", Any::integer(entry.inputs.leaves[leaf].i));
  const size_t integers = leaves.size();
  for (const auto& [leaf, value] : entry.float_guards)
    add(static_cast<uint32_t>(leaf), "FLOAT_MATCH", Any::real(value));
  guards.close();
  if (leaves.empty()) return;
  const std::vector<Leaf> keep = call_hook(context, filter, guards);
  const bool fits = std::all_of(keep.begin(), keep.end(), [](const Leaf& l) { return l.kind == ArgKind::boolean; });
  require(fits && keep.size() == leaves.size(), "compile: guard_filter_fn must give a boolean for each of ",
          leaves.size(), " guards, got ", keep.size(), fits ? " of them" : " values, not all of them booleans");
  for (size_t i = 0; i < integers; i++)
    if (!keep[i].i) any.push_back(leaves[i]);
  std::sort(any.begin(), any.end());
  std::vector<std::pair<size_t, double>> kept;
  for (size_t i = integers; i < leaves.size(); i++)
    if (keep[i].i) kept.push_back(entry.float_guards[i - integers]);
  entry.float_guards = std::move(kept);
}

}  // namespace thunder

#include "transforms/inner.h"

#include <algorithm>

#include "base/text.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/grad.h"
#include "tracer/replay.h"
#include "tracer/tracing.h"

namespace thunder {

Inner trace_inside(Scope& scope, Function& f, const Values& in, std::span<const InnerArgument> arguments) {
  Inner inner;
  inner.arguments = arguments.size();
  TracingScope traced(scope.environment(), f.name(), &scope);
  Values proxies(in);
  for (const InnerArgument& a : arguments)
    proxies.set_tensor(a.leaf, Ref<Tensor>(traced.argument_proxy(a.type, in.path(a.leaf), nullptr)));
  Values* results = apply(traced, f, proxies);
  if (traced.status()) throw Error(traced.status());
  traced.take_results(*results);
  inner.results = make<Values>(*results);
  std::vector<Tensor*> outputs;
  for (size_t i = 0; i < inner.results->size(); i++) {
    Tensor* t = (*inner.results)[i].tensor.get();
    if (!t || t->kind() == Tensor::Kind::number) continue;
    if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
    inner.outputs.push_back(i);
    outputs.push_back(t);
  }
  inner.trace = traced.finish(outputs);
  inner.draws = traced.draws();
  inner.captured = traced.captured();
  if (auto expanded = expand_gradients(inner.trace, *scope.environment().registry)) inner.trace = std::move(*expanded);
  return inner;
}

std::vector<Tensor*> inputs_inside(Scope& scope, const Inner& inner, const Trace& trace,
                                   std::span<Tensor* const> arguments) {
  const std::optional<size_t> random = random_input(trace);
  std::vector<Tensor*> inputs(arguments.begin(), arguments.end());
  for (size_t i = inputs.size(); i < trace.inputs.size(); i++) {
    Tensor* t = inner.captured[i].get();
    const bool parameter = t && t->concrete() && trace.inputs[i].source == Source::parameter;
    inputs.push_back(random == i ? nullptr : parameter ? scope.parameter(t, trace.inputs[i].name) : t);
  }
  return inputs;
}

void note_symbols(std::span<const Node* const> lines) {
  for (const Node* n : lines) {
    for (const Arg& a : n->args) {
      if (a.kind == ArgKind::symbolic) hint(a.dim());
      for (Dim d : a.kind == ArgKind::dims ? a.dim_list() : std::span<const Dim>()) hint(d);
    }
    note_symbols(n->body);
  }
}

std::vector<Tensor*> replay_inside(Scope& scope, const Inner& inner, Trace trace, std::span<Tensor* const> arguments) {
  PassContext context{*scope.environment().registry};
  if (!knows_symbols(scope, trace)) note_symbols(trace.nodes);
  if (auto merged = cse(trace, context)) trace = std::move(*merged);
  if (auto alive = dce(trace, context)) trace = std::move(*alive);
  ReplayCall call;
  call.draws = inner.draws;
  return replay(scope, trace, inputs_inside(scope, inner, trace, arguments), &call);
}

std::vector<size_t> real_leaves(const std::string& who, const Values& in, const std::string& paths) {
  const auto is_real_tensor = [&](size_t i) { return in[i].tensor && is_real(in[i].tensor->type().dtype); };
  std::vector<size_t> out;
  if (paths.empty()) {
    for (size_t i = 0; i < in.size(); i++)
      if (is_real_tensor(i)) out.push_back(i);
    return out;
  }
  const std::vector<std::string> all = in.paths();
  for (size_t from = 0; from <= paths.size();) {
    const size_t to = std::min(paths.find(',', from), paths.size());
    const std::string path = paths.substr(from, to - from);
    const size_t before = out.size();
    for (size_t i = 0; i < all.size(); i++)
      if (is_real_tensor(i) && (all[i] == path || all[i].rfind(path + '.', 0) == 0)) out.push_back(i);
    require(out.size() > before, who, ": no tensor of reals among the inputs has the path '", path, "'; there are ",
            join(all, ", ", [](auto& p) { return p; }));
    from = to + 1;
  }
  return out;
}

std::vector<Tensor*> take_last_list(const std::string& who, std::string_view what, const Values& in, Values& rest) {
  const std::string& text = in.structure();
  const size_t open = text.rfind('['), before = open == text.npos ? text.npos : text.rfind(',', open);
  const bool list =
      open != text.npos && text.back() == ']' && text.find_first_of("{}[]\"", open + 1) == text.size() - 1;
  const bool top = list && std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(open), '[') ==
                               std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(open), ']');
  require(top, who, ": the last argument must be the list of ", what);
  const auto count = static_cast<size_t>(std::count(text.begin() + static_cast<ptrdiff_t>(open), text.end(), '*'));
  std::vector<Leaf> leaves;
  std::vector<Tensor*> last;
  for (size_t i = 0; i < in.size(); i++) {
    if (i < in.size() - count) {
      leaves.push_back(in[i]);
      continue;
    }
    require(in[i].tensor != nullptr, who, ": ", what, " must be tensors, the one at place ", i - (in.size() - count),
            " is none");
    last.push_back(in[i].tensor.get());
  }
  rest.reads = in.reads;  // its leaves have the places that they had
  rest.assign(std::move(leaves), before == text.npos ? std::string_view() : std::string_view(text).substr(0, before));
  return last;
}

}  // namespace thunder

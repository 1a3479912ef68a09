#include "jit/reports/examine.h"

#include <algorithm>
#include <unordered_map>

#include "base/interrupts.h"
#include "base/text.h"
#include "executors/fusion/explain.h"
#include "jit/logs/perf_hints.h"
#include "jit/watches/reference_watch.h"
#include "ops/registry.h"
#include "passes/inside.h"
#include "program/cost.h"

namespace thunder {
namespace {

constexpr size_t kMostOfAKind = 50;

// ---- what it is made of ----

void add_ops(const Entry& entry, Examination& out) {
  std::unordered_map<ValueId, size_t> op_of;  // the row of the op as written that has made it
  std::vector<std::vector<std::string_view>> executors;
  for (const Node* n : entry.traces.front().nodes) {
    auto row = std::find_if(out.ops.begin(), out.ops.end(), [&](auto& o) { return o.op == n->op->name(); });
    if (row == out.ops.end())
      row = out.ops.insert(row, ExaminedOp{std::string(n->op->name()), 0, "", n->where ? n->where : ""}),
      executors.emplace_back();
    row->times++;
    for_each_inside(*n, [&](const Node& inner) {
      for (ValueId r : inner.results) op_of[r] = static_cast<size_t>(row - out.ops.begin());
    });
  }
  for (const Node* n : entry.traces.back().nodes)
    for_each_inside(*n, [&](const Node& inner) {
      for (ValueId r : inner.results) {
        const auto of = op_of.find(r);
        if (of == op_of.end() || !n->executor || def(inner).view) continue;
        auto& all = executors[of->second];
        if (std::find(all.begin(), all.end(), n->executor) == all.end()) all.push_back(n->executor);
      }
    });
  for (size_t i = 0; i < out.ops.size(); i++)
    out.ops[i].executors = join(executors[i], ", ", [](std::string_view e) { return e; });
}

// ---- what stands in its way ----

void add_remark_lines(const std::string& text, std::string kind, Examination& out) {
  size_t count = 0;
  for (size_t at = 0; at < text.size() && count < kMostOfAKind; count++) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out.remarks.push_back({kind, "", "", text.substr(at, end - at)});
    at = end + 1;
  }
}

// Lines of real numbers through which no gradient flows, with the reasons of their rows.
void add_gradient_stops(const Node& n, const Node& written, const Store& store, Examination& out) {
  const OpDef& op = def(n);
  if (op.vjp || written.op->name() == "grad") return;  // a step of training has its gradients
  if (op.nondiff.empty()) {
    for (const Node* inner : n.body) add_gradient_stops(*inner, written, store, out);
    return;
  }
  bool real = std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return is_real(store.type(r).dtype); });
  bool reads_real = false;
  for_each_value(n.args, [&](ValueId v) { reads_real = reads_real || is_real(store.type(v).dtype); });
  if (!real || !reads_real) return;
  const Remark found{"gradient", std::string(written.op->name()), written.where ? written.where : "",
                      cat("no gradient flows through it: ", op.nondiff)};
  const bool known = std::any_of(out.remarks.begin(), out.remarks.end(), [&](auto& f) {
    return f.kind == found.kind && f.op == found.op && f.where == found.where;
  });
  if (!known) out.remarks.push_back(found);
}

// ---- whether its values are right ----

void add_differences(const std::vector<Difference>& all, std::string_view kind, bool of_gradients, Examination& out) {
  for (const Difference& d : all)
    out.remarks.push_back({std::string(kind), d.op, d.where,
                            cat(d.executor.empty() ? "" : cat("run by executor '", d.executor, "': "), d.what,
                                of_gradients ? ", in the program of values and gradients" : "")});
}

// Throws if the call was interrupted.
void add_failure(std::string_view kind, Ref<Status> why, Examination& out) {
  if (why->code() == kCancelled) throw Error(why);
  out.remarks.push_back({std::string(kind), "", "", why->message()});
}

// Calls it under the eyes of the reference.
void check_values(Compiled& f, const Values& in, bool of_gradients, Examination& out) {
  ReferenceWatch watch(*f.context(), {}, tolerance_of(f.options().settings()));
  const Ref<Values> results = make<Values>();
  if (Status* failed = f.call_watched(in, *results, watch))
    add_failure(of_gradients ? "gradient" : "unsupported", Ref<Status>::adopt(failed), out);
  add_differences(watch.wrong, "wrong", of_gradients, out);
  add_differences(watch.nans, "nan", of_gradients, out);
  out.checked += watch.checked, out.unchecked += watch.unchecked;
}

bool is_loss(const Entry& entry) {
  const Trace& t = entry.traces.front();
  if (t.outputs.empty() || !is_real(t.type(t.outputs[0]).dtype) || t.type(t.outputs[0]).rank() != 0) return false;
  const auto is_gradient = [](const Node* n) { return n->op->name() == "grad"; };
  return t.writes.empty() && std::none_of(t.nodes.begin(), t.nodes.end(), is_gradient);
}

// Examines the function's gradients: by captured tensors, or else by its arguments.
void check_gradients(Compiled& f, const Entry& entry, const Values& in, Examination& out) {
  Ref<Values> captured = make<Values>();
  for (const Binding& b : entry.bindings)
    if (b.captured && is_real(b.captured->type().dtype)) captured->push(b.captured);
  const Trace& t = entry.traces.front();
  const bool reads_real = std::any_of(t.inputs.begin(), t.inputs.end(), [&](const Input& i) {
    return i.source == Source::argument && is_real(t.type(i.value).dtype);
  });
  if (captured->size() == 0 && !reads_real) return;
  const Ref<Function> both = value_and_grad(f.shared_function(), "", captured->size() ? captured : Ref<Values>());
  const Ref<Compiled> compiled = make<Compiled>(f.context(), both, &f.options());
  if (Status* failed = compiled->prepare(in))
    return add_failure("gradient", Ref<Status>::adopt(failed), out);
  out.gradients = true;
  check_values(*compiled, in, true, out);
}

constexpr std::string_view kOrder[] = {"unsupported", "wrong", "nan", "gradient", "slow", "fusion"};
size_t severity_rank(const Remark& f) {
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), f.kind) - std::begin(kOrder));
}

}  // namespace

Examination examine(Compiled& f, const Values& in) {
  Examination out;
  out.function = f.function().name();
  if (Status* failed = f.prepare(in)) {
    add_failure("unsupported", Ref<Status>::adopt(failed), out);
    return out;
  }
  const auto entry = f.reports().latest();
  if (!entry) {
    check_values(f, in, false, out);
    return out;
  }
  const Trace& written = entry->traces.front();
  add_ops(*entry, out);
  out.cost = cost_of(*entry->program);
  for (const Node* n : written.nodes) add_gradient_stops(*n, *n, *written.store, out);
  add_remark_lines(perf_hints(*entry->program), "slow", out);
  add_remark_lines(fusion::explain(entry->traces.back(), f.context()->targets()), "fusion", out);
  check_values(f, in, false, out);
  if (is_loss(*entry)) check_gradients(f, *entry, in, out);
  std::stable_sort(out.remarks.begin(), out.remarks.end(),
                   [](auto& a, auto& b) { return severity_rank(a) < severity_rank(b); });
  return out;
}

}  // namespace thunder

#include "jit/watches/reference_watch.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/op.h"
#include "program/origins.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

constexpr size_t kMostFindings = 20;  // of a kind: the first ones tell

double tolerance_of(DType dtype, double of_f32) {
  switch (dtype) {
    case DType::f64: return std::min(of_f32, 1e-9);
    case DType::f16: return std::max(of_f32, 4e-3);
    case DType::bf16: return std::max(of_f32, 3e-2);
    default: return is_real(dtype) ? of_f32 : 0;
  }
}

double largest_of(const Tensor& t) {
  double largest = 0;
  for (double v : as_doubles(t))
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

// How large the numbers were that a step rounded: its lines' results, and what was summed, which may cancel out.
double scale_of(const std::vector<Reference::Line>& lines, const Reference::Known& known) {
  double scale = 0;
  const auto add = [&](const Tensor& t) {
    if (is_real(t.type().dtype)) scale = std::max(scale, largest_of(t));
  };
  for (const Reference::Line& line : lines) {
    for (const Ref<Tensor>& t : line.results) add(*t);
    if (def(*line.node).has(kReduction) || def(*line.node).has(kMatmul))
      for_each_value(line.node->args, [&](ValueId v) { add(*known.at(v)); });
  }
  return scale;
}

// The first element at which the two differ by more than the tolerance; "": none.
std::string difference(const Tensor& made, const Tensor& wanted, double allowed) {
  const std::vector<double> a = as_doubles(made), b = as_doubles(wanted);
  size_t worst = a.size(), many = 0;
  double most = 0;
  for (size_t i = 0; i < a.size(); i++) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double off = std::abs(a[i] - b[i]);
    if (off <= allowed) continue;
    many++;
    if (worst == a.size() || !(off <= most)) worst = i, most = off;
  }
  if (worst == a.size()) return "";
  return cat("element ", worst, " of ", a.size(), " is ", a[worst], ", and by the reference ", b[worst],
             many > 1 ? cat("; ", many, " elements differ") : "");
}

bool all_on_cpu(const Buffer* buffers, size_t count) {
  return std::all_of(buffers, buffers + count, [](const Buffer& b) { return !b.present() || b.device == Device::cpu; });
}

// Dense copies of a node's operands, as a launch has them.
void copy_operands(Context& context, const Node& n, const Launch& launch, Reference::Known& known) {
  size_t next = 0;
  const auto add = [&](ValueId v) {
    const Buffer& b = launch.inputs[next++];
    if (!known.count(v)) known[v] = dense_copy(context.allocator(), *tensor_over(b, context.devices()));
  };
  for (size_t i = 0; i < n.args.size(); i++) {
    const Arg& a = n.args[i];
    if (a.kind == ArgKind::value) add(a.v);
    if (a.kind == ArgKind::values)
      for (ValueId v : a.value_list()) add(v);
    next += a.kind == ArgKind::none && n.op->schema.params[i].kind == ParamKind::tensor;
  }
}

const Step* epilogue_of(const Plan& plan, const Step& step) {
  return step.epilogue >= 0 ? &plan.epilogues[static_cast<size_t>(step.epilogue)] : nullptr;
}

bool can_check(const Plan& plan, size_t at, const Launch& launch) {
  const Step& step = plan.steps[at];
  return step.node && !step.joined && !step.follows && all_on_cpu(launch.inputs, launch.n_inputs) &&
         all_on_cpu(launch.outputs, launch.n_outputs);
}

}  // namespace

Difference difference_at(const Program& program, const Node& line, const char* executor, std::string what) {
  const Node* written = origin_of(program.written_trace(), line, "").written;
  const char* const where = line.where ? line.where : written ? written->where : nullptr;
  return {std::string(written ? written->op->name() : line.op->name()), executor ? executor : "", where ? where : "",
          std::move(what)};
}

void ReferenceWatch::before(const Program& program, size_t at, const Launch& launch) {
  known_.clear();
  const Plan& plan = program.plan();
  if (!can_check(plan, at, launch)) return;
  const Step& step = plan.steps[at];
  copy_operands(context_, *step.node, launch, known_);
  if (const Step* epilogue = epilogue_of(plan, step)) {
    // The preceding step's result is not computed yet: the reference computes it, too.
    copy_operands(context_, *epilogue->node, *launch.epilogue->launch, known_);
    for (ValueId r : step.node->results) known_.erase(r);
  }
}

void ReferenceWatch::after(const Program& program, size_t at, const Launch& launch) {
  const Plan& plan = program.plan();
  const Step& step = plan.steps[at];
  if (!can_check(plan, at, launch)) return void(unchecked += step.node != nullptr);
  checked++;
  const Launch& last = step.epilogue < 0 ? launch : *launch.epilogue->launch;
  if (!checks_.values && !has_suspicious(last.outputs, last.n_outputs)) return;
  Reference reference(context_, *program.trace().store);
  Reference::Known known = known_;
  std::vector<Reference::Line> lines = reference.run(*step.node, known);
  const Step* epilogue = epilogue_of(plan, step);
  if (epilogue)
    for (Reference::Line& line : reference.run(*epilogue->node, known)) lines.push_back(std::move(line));
  if (checks_.values) compare(program, epilogue ? *epilogue->node : *step.node, last.outputs, lines, known);
  find_nans(program, lines, known);
}

std::string_view ReferenceWatch::find_suspicious(const Tensor& t) const {
  if (!is_real(t.type().dtype)) return "";
  for (double v : as_doubles(t)) {
    if (checks_.nan && std::isnan(v)) return "NaN";
    if (checks_.inf && std::isinf(v)) return "infinity";
  }
  return "";
}

bool ReferenceWatch::has_suspicious(const Buffer* made, size_t count) const {
  return std::any_of(made, made + count, [&](const Buffer& b) {
    return !find_suspicious(*tensor_over(b, context_.devices())).empty();
  });
}

// The line that made the first result that differs is to blame, of a kernel of several lines at least the nearest.
void ReferenceWatch::compare(const Program& program, const Node& node, const Buffer* outputs,
                             const std::vector<Reference::Line>& lines, const Reference::Known& known) {
  const double scale = scale_of(lines, known);
  for (size_t i = 0; i < node.results.size() && wrong.size() < kMostFindings; i++) {
    for (const Reference::Line& line : lines) {
      const auto& made = line.node->results;
      const auto result = std::find(made.begin(), made.end(), node.results[i]);
      if (result == made.end()) continue;
      const Ref<Tensor> ours = tensor_over(outputs[i], context_.devices());
      const Tensor& wanted = *line.results[static_cast<size_t>(result - made.begin())];
      const double allowed = tolerance_of(wanted.type().dtype, tolerance_) * scale;
      const std::string what = difference(*ours, wanted, allowed);
      if (what.empty()) break;
      const bool whole = node.op->name() != "region";
      return wrong.push_back(difference_at(program, whole ? node : *line.node, node.executor, what));
    }
  }
}

void ReferenceWatch::find_nans(const Program& program, const std::vector<Reference::Line>& lines,
                               Reference::Known& known) {
  for (const Reference::Line& line : lines) {
    std::string_view made;
    for (const Ref<Tensor>& t : line.results)
      if (made.empty()) made = find_suspicious(*t);
    if (made.empty() || nans.size() >= kMostFindings) continue;
    bool reads = false, had = false;
    for_each_value(line.node->args,
                   [&](ValueId v) { reads = true, had = had || !find_suspicious(*known.at(v)).empty(); });
    if (had || !reads) continue;  // without operands: a constant that was written
    nans.push_back(difference_at(program, *line.node, nullptr, cat("makes ", made, " of operands that have none")));
  }
}

}  // namespace thunder

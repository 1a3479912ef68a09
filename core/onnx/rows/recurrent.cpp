// RNN, GRU and LSTM: by our ops where they mean the same, else step by step.
#include <algorithm>

#include "base/text.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

struct Layer {
  Tensor *x, *w, *r, *b = nullptr, *lengths = nullptr, *h, *c = nullptr, *p = nullptr;  // x: [length, batch, inputs]
  int64_t hidden = 0, directions = 1, gates = 1;
  bool reverse = false, batch_first = false;
};

Tensor* slice_gate(Node& n, Tensor* t, int64_t axis, int64_t at, int64_t size) {
  return n.op("slice", {t, axis, at * size, (at + 1) * size});
}

Layer layer_of(Node& n, int64_t gates) {
  Layer l;
  l.gates = gates, l.hidden = n.count_or("hidden_size", 0, 0);
  if (l.hidden == 0) l.hidden = hint(n.dim(2, 2));
  const std::string_view way = n.text("direction", "forward");
  n.require(way == "forward" || way == "reverse" || way == "bidirectional", "its attribute 'direction' is '",
            way.substr(0, 40), "'");
  l.reverse = way == "reverse", l.directions = way == "bidirectional" ? 2 : 1;
  l.batch_first = n.flag("layout");
  l.x = n[0], l.w = n[1], l.r = n[2], l.b = n.tensor_or_null(3);
  const auto time_first = [&](Tensor* t) { return l.batch_first ? n.op("transpose", {t, 0, 1}) : t; };
  l.x = time_first(l.x);
  n.require(l.x->type().rank() == 3 && hint(dim_of(l.w, 0)) == l.directions, "its input is ", name(l.x->type()),
            ", its weights are ", name(l.w->type()));
  const Dim batch = dim_of(l.x, 1);
  const auto state = [&](size_t i) {
    if (n.has(i)) return time_first(n[i]);
    return n.op("full", {Shape{l.directions, batch, l.hidden}, 0.0, l.x->type().dtype, l.x->type().device});
  };
  l.h = state(5);
  if (gates == 4) l.c = state(6), l.p = n.tensor_or_null(7);
  if (n.has(4)) {
    // Lengths that are known to be the whole length are ignored.
    const Host* h = n.known(4);
    const bool whole = h && std::all_of(h->ints.begin(), h->ints.end(), [&](Dim d) { return d == dim_of(l.x, 0); });
    if (!whole) l.lengths = n.cast(n[4], DType::i64);
  }
  return l;
}

// Whether the activations are those of the library's op.
bool has_default_activations(Node& n, const Layer& l, std::initializer_list<std::string_view> names) {
  const Attribute* a = n.attribute("activations");
  if (!a) return true;
  if (a->strings.size() != names.size() * static_cast<size_t>(l.directions)) return false;
  for (size_t i = 0; i < a->strings.size(); i++)
    if (a->strings[i] != names.begin()[i % names.size()]) return false;
  return true;
}

std::string_view activation_of(Node& n, size_t i, std::string_view otherwise) {
  const Attribute* a = n.attribute("activations");
  return a && i < a->strings.size() ? a->strings[i] : otherwise;
}

Tensor* apply_activation(Node& n, std::string_view name, Tensor* x, size_t i) {
  const auto number = [&](const char* attribute, double otherwise) {
    const std::vector<double> list = n.reals(attribute);
    return i < list.size() ? list[i] : otherwise;
  };
  if (name == "Sigmoid") return n.op("sigmoid", {x});
  if (name == "Tanh") return n.op("tanh", {x});
  if (name == "Relu") return n.op("relu", {x});
  if (name == "Softsign") return n.op("softsign", {x});
  if (name == "Softplus") return n.op("softplus", {x});
  if (name == "LeakyRelu") return n.op("leaky_relu", {x, number("activation_alpha", 0.01)});
  if (name == "Elu") return n.op("elu", {x, number("activation_alpha", 1)});
  if (name == "ThresholdedRelu") return n.op("threshold", {x, number("activation_alpha", 1), 0.0});
  if (name == "Affine")
    return n.op("add", {n.op("mul", {x, number("activation_alpha", 1)}), number("activation_beta", 0)});
  if (name == "HardSigmoid") {
    Tensor* line = n.op("add", {n.op("mul", {x, number("activation_alpha", 0.2)}), number("activation_beta", 0.5)});
    return n.op("clamp", {line, 0.0, 1.0});
  }
  n.refuse("its activation '", name.substr(0, 40), "' is not imported");
}

// Clips the input of an activation.
Tensor* clipped(Node& n, Tensor* x) {
  const double clip = n.real("clip", 0);
  return clip > 0 ? n.op("clamp", {x, -clip, clip}) : x;
}

// The gates in the order of our ops, `order[k]` being the place of gate k in ONNX's.
std::vector<Tensor*> parameters(Node& n, const Layer& l, std::span<const int64_t> order) {
  const auto reordered = [&](Tensor* t, int64_t first) {  // of one direction
    std::vector<Tensor*> gates;
    for (int64_t g : order) gates.push_back(slice_gate(n, t, 0, first + g, l.hidden));
    return gates.size() == 1 ? gates[0] : n.op("cat", {gates, 0});
  };
  std::vector<Tensor*> all;
  for (int64_t d = 0; d < l.directions; d++) {
    const auto of = [&](Tensor* t) { return n.op("select", {t, 0, d}); };
    all.push_back(reordered(of(l.w), 0));
    all.push_back(reordered(of(l.r), 0));
    if (!l.b) continue;
    all.push_back(reordered(of(l.b), 0));
    all.push_back(reordered(of(l.b), l.gates));
  }
  return all;
}

// [length, batch, directions * hidden] as Y, and the last states.
void give_results(Node& n, const Layer& l, Tensor* y, std::initializer_list<Tensor*> states) {
  const Shape s = y->type().shape;
  y = n.op("reshape", {y, Shape{s[0], s[1], l.directions, l.hidden}});
  n.give(n.op("permute", {y, l.batch_first ? std::vector<int64_t>{1, 0, 2, 3} : std::vector<int64_t>{0, 2, 1, 3}}));
  for (Tensor* t : states) n.give(l.batch_first ? n.op("transpose", {t, 0, 1}) : t);
}

void run_as_library_op(Node& n, Layer& l, std::string_view op, std::span<const int64_t> order) {
  const std::vector<int64_t> time = {0};
  if (l.reverse) l.x = n.op("flip", {l.x, time});
  const std::vector<Tensor*> weights = parameters(n, l, order);
  std::vector<Tensor*> out;
  if (l.c) {
    const std::vector<Tensor*> states = {l.h, l.c};
    out = n.ops(op, {l.x, states, weights, l.b != nullptr, 1, 0.0, false, l.directions == 2, false});
  } else {
    out = n.ops(op, {l.x, l.h, weights, l.b != nullptr, 1, 0.0, false, l.directions == 2, false});
  }
  if (l.reverse) out[0] = n.op("flip", {out[0], time});
  if (l.c)
    give_results(n, l, out[0], {out[1], out[2]});
  else
    give_results(n, l, out[0], {out[1]});
}

// One step of one direction: x W, with its bias, and the states of before.
struct Step {
  Tensor *x, *h, *c;
};
struct Direction {
  Tensor *r, *rb, *p;  // of the recurrence; null: none
  size_t number;
};

Tensor* recurrent_product(Node& n, const Direction& d, Tensor* h, int64_t gate, int64_t hidden) {
  Tensor* y = n.op("matmul", {h, n.op("transpose", {slice_gate(n, d.r, 0, gate, hidden), 0, 1})});
  return d.rb ? n.op("add", {y, slice_gate(n, d.rb, 0, gate, hidden)}) : y;
}
Tensor* compute_gate(Node& n, const Direction& d, const Step& s, int64_t g, int64_t hidden) {
  return n.op("add", {slice_gate(n, s.x, -1, g, hidden), recurrent_product(n, d, s.h, g, hidden)});
}

Step rnn_step(Node& n, const Layer& l, const Direction& d, const Step& s) {
  const std::string_view f = activation_of(n, d.number, "Tanh");
  return {nullptr, apply_activation(n, f, clipped(n, compute_gate(n, d, s, 0, l.hidden)), d.number), nullptr};
}

Step gru_step(Node& n, const Layer& l, const Direction& d, const Step& s) {
  const size_t first = 2 * d.number;
  const std::string_view f = activation_of(n, first, "Sigmoid"), g = activation_of(n, first + 1, "Tanh");
  Tensor* z = apply_activation(n, f, clipped(n, compute_gate(n, d, s, 0, l.hidden)), first);
  Tensor* r = apply_activation(n, f, clipped(n, compute_gate(n, d, s, 1, l.hidden)), first);
  Tensor* own = slice_gate(n, s.x, -1, 2, l.hidden);
  Tensor* recall = n.flag("linear_before_reset") ? n.op("mul", {r, recurrent_product(n, d, s.h, 2, l.hidden)})
                                                 : recurrent_product(n, d, n.op("mul", {r, s.h}), 2, l.hidden);
  Tensor* fresh = apply_activation(n, g, clipped(n, n.op("add", {own, recall})), first + 1);
  Tensor* h = n.op("add", {n.op("mul", {n.op("rsub", {z, 1.0}), fresh}), n.op("mul", {z, s.h})});
  return {nullptr, h, nullptr};
}

Step lstm_step(Node& n, const Layer& l, const Direction& d, const Step& s) {
  const size_t first = 3 * d.number;
  const std::string_view f = activation_of(n, first, "Sigmoid"), g = activation_of(n, first + 1, "Tanh"),
                         out = activation_of(n, first + 2, "Tanh");
  const auto seen = [&](Tensor* x, int64_t peephole, Tensor* c) {
    return d.p ? n.op("add", {x, n.op("mul", {slice_gate(n, d.p, 0, peephole, l.hidden), c})}) : x;
  };
  Tensor* in = apply_activation(n, f, clipped(n, seen(compute_gate(n, d, s, 0, l.hidden), 0, s.c)), first);
  Tensor* keep = n.flag("input_forget")
                     ? n.op("rsub", {in, 1.0})
                     : apply_activation(n, f, clipped(n, seen(compute_gate(n, d, s, 2, l.hidden), 2, s.c)), first);
  Tensor* fresh = apply_activation(n, g, clipped(n, compute_gate(n, d, s, 3, l.hidden)), first + 1);
  Tensor* c = n.op("add", {n.op("mul", {keep, s.c}), n.op("mul", {in, fresh})});
  Tensor* o = apply_activation(n, f, clipped(n, seen(compute_gate(n, d, s, 1, l.hidden), 1, c)), first);
  return {nullptr, n.op("mul", {o, apply_activation(n, out, c, first + 2)}), c};
}

constexpr int64_t kMostSteps = 1024;

// The outputs of one direction by time, and its last state.
using StepOf = Step (*)(Node&, const Layer&, const Direction&, const Step&);
Step run_direction(Node& n, const Layer& l, int64_t d, bool back, StepOf step, std::vector<Tensor*>& outputs) {
  const auto of = [&](Tensor* t) { return t ? n.op("select", {t, 0, d}) : nullptr; };
  const int64_t steps = hint(dim_of(l.x, 0)), all = l.gates * l.hidden;
  if (steps > kMostSteps)
    n.refuse("it has ", steps, " steps of a form that is unrolled, which at most ", kMostSteps, " are");
  Tensor *bias = of(l.b), *xs = n.op("matmul", {l.x, n.op("transpose", {of(l.w), 0, 1})});
  if (bias) xs = n.op("add", {xs, n.op("slice", {bias, 0, 0, all})});
  const Direction way{of(l.r), bias ? n.op("slice", {bias, 0, all, 2 * all}) : nullptr, of(l.p),
                      static_cast<size_t>(d)};
  Step s{nullptr, of(l.h), of(l.c)};
  outputs.assign(static_cast<size_t>(steps), nullptr);
  for (int64_t i = 0; i < steps; i++) {
    const int64_t at = back ? steps - 1 - i : i;
    Step next = step(n, l, way, {n.op("select", {xs, 0, at}), s.h, s.c});
    Tensor* y = next.h;
    if (l.lengths) {
      // Past the end of an example the state does not change, and the output is zero.
      Tensor* there = n.op("unsqueeze", {n.op("gt", {l.lengths, at}), 1});
      y = n.op("where", {there, next.h, n.constant(0, next.h->type().dtype)});
      next.h = n.op("where", {there, next.h, s.h});
      if (s.c) next.c = n.op("where", {there, next.c, s.c});
    }
    s.h = next.h, s.c = next.c;
    outputs[static_cast<size_t>(at)] = y;
  }
  return s;
}

void run_in_steps(Node& n, const Layer& l, StepOf step) {
  std::vector<Tensor*> ys, hs, cs;
  for (int64_t d = 0; d < l.directions; d++) {
    std::vector<Tensor*> outputs;
    const Step end = run_direction(n, l, d, l.reverse || d == 1, step, outputs);
    ys.push_back(n.op("stack", {outputs, 0}));
    hs.push_back(end.h), cs.push_back(end.c);
  }
  Tensor* y = n.op("cat", {ys, -1});
  Tensor* h = n.op("stack", {hs, 0});
  if (l.c)
    give_results(n, l, y, {h, n.op("stack", {cs, 0})});
  else
    give_results(n, l, y, {h});
}

bool fits_library_op(Node& n, const Layer& l) {
  return !l.lengths && !l.p && n.real("clip", 0) <= 0;
}

void rnn(Node& n) {
  Layer l = layer_of(n, 1);
  static constexpr int64_t kOrder[] = {0};
  if (fits_library_op(n, l) && has_default_activations(n, l, {"Tanh"}))
    return run_as_library_op(n, l, "rnn_tanh", kOrder);
  if (fits_library_op(n, l) && has_default_activations(n, l, {"Relu"}))
    return run_as_library_op(n, l, "rnn_relu", kOrder);
  run_in_steps(n, l, rnn_step);
}

void gru(Node& n) {
  Layer l = layer_of(n, 3);
  static constexpr int64_t kOrder[] = {1, 0, 2};  // ONNX has the update gate first
  if (fits_library_op(n, l) && n.flag("linear_before_reset") && has_default_activations(n, l, {"Sigmoid", "Tanh"}))
    return run_as_library_op(n, l, "gru", kOrder);
  run_in_steps(n, l, gru_step);
}

void lstm(Node& n) {
  Layer l = layer_of(n, 4);
  static constexpr int64_t kOrder[] = {0, 2, 3, 1};  // input, output, forget, cell in ONNX
  const bool same =
      fits_library_op(n, l) && !n.flag("input_forget") && has_default_activations(n, l, {"Sigmoid", "Tanh", "Tanh"});
  if (same) return run_as_library_op(n, l, "lstm", kOrder);
  run_in_steps(n, l, lstm_step);
}

constexpr ImportRow kRows[] = {
    {"RNN", 7, kLatestOpset, rnn},
    {"GRU", 7, kLatestOpset, gru},
    {"LSTM", 7, kLatestOpset, lstm},
};

}  // namespace

constinit const ImportTable recurrent_rows = {"", kRows};

}  // namespace thunder::onnx

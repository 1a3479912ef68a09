// Recurrent networks: the cells, and rnn, lstm and gru over sequences, unrolled. Arguments are torch's.
#include "ops/tables.h"

namespace thunder {
namespace {

struct State {
  Var h, c;  // c: lstm alone
};
// The parameters of one direction of one layer; absent ones are empty.
struct Weights {
  Var w_ih, w_hh, b_ih, b_hh, w_hr;
};

Var call_linear(Var x, Var weight, Var bias) { return x.builder->call("linear", {x, weight, bias}); }
// The gates, side by side in the last dim; their gradient is concatenated once.
std::vector<Var> split_gates(Var gates, int64_t count) {
  std::vector<Var> out;
  for (ValueId v : gates.builder->results("chunk", {gates, count, -1})) out.push_back(gates.builder->var(v));
  return out;
}

// ---- one step: `gates` is what the input gives ----

template <Var (*activation)(Var)>
State rnn_step(Var gates, const State& s, const Weights& w) {
  return {activation(gates + call_linear(s.h, w.w_hh, w.b_hh)), {}};
}
State lstm_step(Var gates, const State& s, const Weights& w) {
  const std::vector<Var> all = split_gates(gates + call_linear(s.h, w.w_hh, w.b_hh), 4);
  Var c = logistic(all[1]) * s.c + logistic(all[0]) * tanh(all[2]);
  Var h = logistic(all[3]) * tanh(c);
  return {w.w_hr ? call_linear(h, w.w_hr, {}) : h, c};
}
State gru_step(Var gates, const State& s, const Weights& w) {
  const std::vector<Var> given = split_gates(gates, 3), own = split_gates(call_linear(s.h, w.w_hh, w.b_hh), 3);
  Var reset = logistic(given[0] + own[0]), update = logistic(given[1] + own[1]);
  Var fresh = tanh(given[2] + reset * own[2]);
  return {(1.0 - update) * fresh + update * s.h, {}};
}

struct Kind {
  State (*step)(Var, const State&, const Weights&);
  int64_t gates;
  bool has_cell;
};
constexpr Kind kTanh{rnn_step<tanh>, 1, false}, kRelu{rnn_step<relu>, 1, false}, kLstm{lstm_step, 4, true},
    kGru{gru_step, 3, false};

Var checked_real_input(const Call& c) {
  c.require(is_real(c.type(0).dtype), "input must be real, got ", name(c.type(0)));
  return computed(c.var(0));
}
void check_weights(const Call& c, const Kind& kind, const Weights& w, Dim inputs, const State& s) {
  const Dim hidden = kind.has_cell ? s.c.size(-1) : s.h.size(-1), rows = hidden * kind.gates;
  const auto need = [&](Var v, const Shape& shape, std::string_view what) {
    if (v) c.require(v.shape() == shape, what, " must have shape ", name(shape), ", got ", name(v.shape()));
  };
  need(w.w_ih, Shape{rows, inputs}, "the input's weight");
  need(w.w_hh, Shape{rows, s.h.size(-1)}, "the hidden state's weight");
  need(w.b_ih, Shape{rows}, "the input's bias");
  need(w.b_hh, Shape{rows}, "the hidden state's bias");
  need(w.w_hr, Shape{s.h.size(-1), hidden}, "the projection's weight");
  c.require(w.w_hr || hint(s.h.size(-1)) == hint(hidden), "the hidden state has ", name(s.h.size(-1)),
            " values, the cell ", name(hidden));
}

// ---- cells: input, hx, w_ih, w_hh, b_ih, b_hh ----

template <const Kind& kind>
Results cell(Call& c) {
  Var x = checked_real_input(c);
  const DType dtype = x.dtype(), given = c.type(0).dtype;
  State s;
  if constexpr (kind.has_cell) {
    const auto states = c.vars(1);
    c.require(states.size() == 2, "hx must be two tensors, h and c, got ", states.size());
    s = {convert(states[0], dtype), convert(states[1], dtype)};
    c.require(s.c.rank() >= 1, "c must have dims, got ", name(s.c.type()));
  } else {
    s.h = convert(c.var(1), dtype);
  }
  c.require(x.rank() >= 1 && x.rank() <= 2 && s.h.rank() == x.rank(),
            "input and hidden state must both have 1 or 2 dims, got ", name(x.type()), " and ", name(s.h.type()));
  const auto weight = [&](size_t i) { return c.has(i) ? convert(c.var(i), dtype) : Var(); };
  const Weights w{weight(2), weight(3), weight(4), weight(5), {}};
  check_weights(c, kind, w, x.size(-1), s);
  const State made = kind.step(call_linear(x, w.w_ih, w.b_ih), s, w);
  Results out{convert(made.h, given).id};
  if (kind.has_cell) out.push_back(convert(made.c, given).id);
  return out;
}

// ---- sequences: input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first ----

class Network {
 public:
  Network(Call& c, const Kind& kind) : c_(c), kind_(kind) {
    x_ = checked_real_input(c);
    dtype_ = x_.dtype();
    c.require(x_.rank() == 3, "input must have 3 dims, got ", name(c.type(0)));
    if (c.flag(8)) x_ = transpose_first_two(x_);
    c.require(x_.size(0).constant() && x_.size(0).value() > 0,
              "the length must be known while tracing and positive, got ", name(c.type(0)));
    layers_ = c.integer(4), directions_ = c.flag(7) ? 2 : 1;
    c.require(layers_ >= 1 && layers_ <= 1000, "num_layers must lie in [1, 1000], got ", layers_);
    for (Var v : c.vars(2)) params_.push_back(convert(v, dtype_));
    const size_t blocks = static_cast<size_t>(layers_ * directions_), usual = c.flag(3) ? 4 : 2;
    projected_ = kind.has_cell && params_.size() == blocks * (usual + 1);
    each_ = usual + (projected_ ? 1 : 0);
    c.require(params_.size() == blocks * each_, "params must be ", usual, " tensors for each direction of each layer, ",
              blocks * usual, ", got ", params_.size());
    read_states();
  }

  Results run() {
    for (int64_t layer = 0; layer < layers_; layer++) {
      if (layer > 0 && c_.flag(6) && c_.real(5) > 0) x_ = c_.builder.call("dropout", {x_, c_.real(5), true});
      ValueList sides;
      for (int64_t d = 0; d < directions_; d++) sides.push_back(run_direction(layer, d).id);
      x_ = sides.size() == 1 ? c_.builder.var(sides[0]) : c_.builder.call("cat", {sides, -1});
    }
    const DType given = c_.type(0).dtype;
    Results out{convert(c_.flag(8) ? transpose_first_two(x_) : x_, given).id, convert(stack_list(last_h_), given).id};
    if (kind_.has_cell) out.push_back(convert(stack_list(last_c_), given).id);
    return out;
  }

 private:
  Var transpose_first_two(Var x) const { return c_.builder.call("transpose", {x, 0, 1}); }
  Var stack_list(const ValueList& list) const { return c_.builder.call("stack", {list, 0}); }
  Var select_step(Var x, int64_t i) const { return c_.builder.call("select", {x, 0, i}); }

  void read_states() {
    const auto states = kind_.has_cell ? c_.vars(1) : std::vector<Var>{c_.var(1)};
    c_.require(states.size() == (kind_.has_cell ? 2u : 1u), "hx must be two tensors, h and c, got ", states.size());
    for (Var v : states)
      c_.require(v.rank() == 3 && hint(v.size(0)) == layers_ * directions_ && v.size(1) == x_.size(1),
                 "a hidden state must be [", layers_ * directions_, ", ", name(x_.size(1)), ", hidden], got ",
                 name(v.type()));
    first_.h = convert(states[0], dtype_);
    if (kind_.has_cell) first_.c = convert(states[1], dtype_);
  }

  // The outputs of one direction of a layer, one for each time step.
  Var run_direction(int64_t layer, int64_t d) {
    const int64_t block = layer * directions_ + d, steps = x_.size(0).value();
    const auto param = [&](size_t i) { return params_[static_cast<size_t>(block) * each_ + i]; };
    const bool biases = c_.flag(3);
    const Weights w{param(0), param(1), biases ? param(2) : Var(), biases ? param(3) : Var(),
                    projected_ ? param(each_ - 1) : Var()};
    State s{select_step(first_.h, block), kind_.has_cell ? select_step(first_.c, block) : Var()};
    check_weights(c_, kind_, w, x_.size(-1), s);
    Var gates = call_linear(x_, w.w_ih, w.b_ih);
    // Time steps are the results of one op, so that their gradients are concatenated instead of summed.
    const Results times = c_.builder.results("split", {gates, Shape{1}, 0});
    ValueList made(static_cast<size_t>(steps), kNoValue);
    for (int64_t i = 0; i < steps; i++) {
      const int64_t t = d == 0 ? i : steps - 1 - i;
      s = kind_.step(reshape_to(c_.builder.var(times[static_cast<size_t>(t)]), Shape{gates.size(1), gates.size(2)}), s,
                     w);
      made[static_cast<size_t>(t)] = s.h.id;
    }
    last_h_.push_back(s.h.id);
    if (kind_.has_cell) last_c_.push_back(s.c.id);
    return stack_list(made);
  }

  Call& c_;
  const Kind& kind_;
  Var x_;
  DType dtype_ = DType::none;
  int64_t layers_ = 1, directions_ = 1;
  size_t each_ = 0;
  bool projected_ = false;
  std::vector<Var> params_;
  State first_;
  ValueList last_h_, last_c_;
};

template <const Kind& kind>
Results network(Call& c) {
  return Network(c, kind).run();
}

// ---- samples ----

using Specs = std::vector<TensorSpec>;

template <int64_t gates>
void cell_samples(Samples& s) {
  const int64_t rows = gates * 2;
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 2}}, TensorSpec{{rows, 4}}, TensorSpec{{rows, 2}}, TensorSpec{{rows}},
         TensorSpec{{rows}}});
  s.add({TensorSpec{{4}}, TensorSpec{{2}}, TensorSpec{{rows, 4}}, TensorSpec{{rows, 2}}});
  s.refuse({TensorSpec{{3, 4}}, TensorSpec{{3, 2}}, TensorSpec{{rows, 5}}, TensorSpec{{rows, 2}}},
           "the input's weight");
}
void lstm_cell_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}}, Specs{{{3, 2}}, {{3, 2}}}, TensorSpec{{8, 4}}, TensorSpec{{8, 2}}, TensorSpec{{8}},
         TensorSpec{{8}}});
  s.refuse({TensorSpec{{3, 4}}, Specs{{{3, 2}}}, TensorSpec{{8, 4}}, TensorSpec{{8, 2}}}, "two tensors");
}
// The parameters of one layer, or of two layers in both directions.
Specs param_specs(int64_t gates, bool biases, bool deep) {
  Specs out;
  const int64_t rows = gates * 2;
  for (int64_t block = 0; block < (deep ? 4 : 1); block++) {
    out.push_back({{rows, block < 2 ? 3 : 4}, DType::f32, -1, 1}), out.push_back({{rows, 2}, DType::f32, -1, 1});
    if (biases) out.push_back({{rows}}), out.push_back({{rows}});
  }
  return out;
}
template <int64_t gates>
void samples(Samples& s) {
  s.add({TensorSpec{{4, 2, 3}}, TensorSpec{{1, 2, 2}}, param_specs(gates, true, false), true, 1, 0.0, false, false,
         false});
  s.add({TensorSpec{{2, 3, 3}}, TensorSpec{{4, 2, 2}}, param_specs(gates, false, true), false, 2, 0.0, false, true,
         true});
  s.refuse({TensorSpec{{4, 2, 3}}, TensorSpec{{1, 2, 2}}, param_specs(gates, true, false), false, 1, 0.0, false, false,
            false},
           "params must be 2");
}
void lstm_samples(Samples& s) {
  s.add({TensorSpec{{4, 2, 3}}, Specs{{{1, 2, 2}}, {{1, 2, 2}}}, param_specs(4, true, false), true, 1, 0.0, false,
         false, false});
  s.add({TensorSpec{{2, 3, 3}}, Specs{{{4, 2, 2}}, {{4, 2, 2}}}, param_specs(4, false, true), false, 2, 0.0, false,
         true, true});
  const TensorSpec w_ih{{8, 3}}, w_hh{{8, 1}}, w_hr{{1, 2}};
  s.add({TensorSpec{{3, 2, 3}}, Specs{{{1, 2, 1}}, {{1, 2, 2}}}, Specs{w_ih, w_hh, w_hr}, false, 1, 0.0, false, false,
         false});
  s.refuse({TensorSpec{{4, 2, 3}}, Specs{{{1, 2, 2}}}, param_specs(4, true, false), true, 1, 0.0, false, false, false},
           "two tensors");
}

#define CELL "tensor w_ih, tensor w_hh, tensor? b_ih=None, tensor? b_hh=None) -> "
#define NETWORK                                                                                            \
  "tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool " \
  "batch_first) -> "

constexpr OpRow kRows[] = {
    composite("rnn_tanh_cell(tensor input, tensor hx, " CELL "tensor", CastPolicy::lower_precision_fp,
              "tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).", cell<kTanh>, cell_samples<1>),
    composite("rnn_relu_cell(tensor input, tensor hx, " CELL "tensor", CastPolicy::lower_precision_fp,
              "relu(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).", cell<kRelu>, cell_samples<1>),
    composite("lstm_cell(tensor input, tensor[] hx, " CELL "(tensor, tensor)", CastPolicy::lower_precision_fp,
              "One step of a long short-term memory: the next h and c of those in hx.", cell<kLstm>, lstm_cell_samples),
    composite("gru_cell(tensor input, tensor hx, " CELL "tensor", CastPolicy::lower_precision_fp,
              "One step of a gated recurrent unit.", cell<kGru>, cell_samples<3>),
    composite("rnn_tanh(tensor input, tensor hx, " NETWORK "(tensor, tensor)", CastPolicy::lower_precision_fp,
              "Layers of rnn_tanh_cell over a sequence: the last layer's results, and the last states of all.",
              network<kTanh>, samples<1>),
    composite("rnn_relu(tensor input, tensor hx, " NETWORK "(tensor, tensor)", CastPolicy::lower_precision_fp,
              "Layers of rnn_relu_cell over a sequence: the last layer's results, and the last states of all.",
              network<kRelu>, samples<1>),
    composite("lstm(tensor input, tensor[] hx, " NETWORK "(tensor, tensor, tensor)", CastPolicy::lower_precision_fp,
              "Layers of lstm_cell over a sequence: the last layer's results, and the last h and c of all.",
              network<kLstm>, lstm_samples),
    composite("gru(tensor input, tensor hx, " NETWORK "(tensor, tensor)", CastPolicy::lower_precision_fp,
              "Layers of gru_cell over a sequence: the last layer's results, and the last states of all.",
              network<kGru>, samples<3>),
};

}  // namespace

extern const OpRows recurrent_ops = kRows;

}  // namespace thunder

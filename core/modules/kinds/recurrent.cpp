// RNN, LSTM, GRU and their cells: the ops of these names, with weights called as PyTorch has them.
#include <cmath>

#include "base/text.h"
#include "modules/inputs.h"

namespace thunder {
namespace {

enum class Unit { rnn, lstm, gru };

constexpr int64_t gate_count(Unit unit) {
  return unit == Unit::lstm ? 4 : unit == Unit::gru ? 3 : 1;
}
// The op of a module's unit, without what follows: rnn_tanh, lstm, gru.
std::string_view op_name(const Module& m, Unit unit) {
  if (unit == Unit::rnn) return m.option("nonlinearity").text == "relu" ? "rnn_relu" : "rnn_tanh";
  return unit == Unit::lstm ? "lstm" : "gru";
}
void check_nonlinearity(const ModuleInit& m) {
  const std::string& is = m.module.option("nonlinearity").text;
  m.require(is == "tanh" || is == "relu", "nonlinearity must be 'tanh' or 'relu', got '", is, "'");
}

Any tensors(const std::vector<Tensor*>& list) {
  Any out;
  out.kind = ArgKind::values, out.count = static_cast<uint32_t>(list.size()), out.ts = list.data();
  return out;
}
size_t rank(const Tensor* t) {
  return t->type().rank();
}

// ---- cells ----

template <Unit unit>
void cell_init(ModuleInit& m) {
  const int64_t in = m.module.integer("input_size"), hidden = m.module.integer("hidden_size");
  m.require(in > 0 && hidden > 0, "input_size and hidden_size must be positive, got ", in, " and ", hidden);
  if (unit == Unit::rnn) check_nonlinearity(m);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  m.uniform("weight_ih", {gate_count(unit) * hidden, in}, bound);
  m.uniform("weight_hh", {gate_count(unit) * hidden, hidden}, bound);
  if (!m.module.flag("bias")) return;
  m.uniform("bias_ih", {gate_count(unit) * hidden}, bound);
  m.uniform("bias_hh", {gate_count(unit) * hidden}, bound);
}

// Zeros of a shape, of x's dtype and device.
Tensor* zeros(const ModuleCall& c, Tensor* x, const std::vector<int64_t>& shape) {
  return c.op("new_zeros", {x, shape});
}

template <Unit unit>
void cell(ModuleCall& c) {
  const ModuleInputs in(c);
  Tensor *x = in.tensor("input"), *h = in.tensor(unit == Unit::lstm ? "h_0" : "hx");
  Tensor* memory = unit == Unit::lstm ? in.tensor("c_0") : nullptr;
  const std::string_view kind = c.module.kind().name();
  require(rank(x) == 1 || rank(x) == 2, kind, ": the input must have 1 or 2 dims, got ", name(x->type()));
  require(unit != Unit::lstm || !h == !memory, kind, ": h and c are given both or not at all");
  std::vector<int64_t> shape{c.module.integer("hidden_size")};
  if (rank(x) == 2) shape.insert(shape.begin(), x->type().shape[0].value());
  if (!h) h = zeros(c, x, shape);
  if (unit == Unit::lstm && !memory) memory = zeros(c, x, shape);
  const std::vector<Tensor*> states{h, memory};
  const Any args[] = {Any::tensor(x), unit == Unit::lstm ? tensors(states) : Any::tensor(h),
                      Any::tensor(c.tensor("weight_ih")), Any::tensor(c.tensor("weight_hh")),
                      Any::tensor(c.tensor("bias_ih")), Any::tensor(c.tensor("bias_hh"))};
  Tensor* made[2];
  c.op(cat(op_name(c.module, unit), "_cell"), args, nullptr, made, unit == Unit::lstm ? 2 : 1);
  c.give(made[0]);
  if (unit == Unit::lstm) c.give(made[1]);
}

// ---- sequences ----

int64_t projection_size(const Module& m, Unit unit) {
  return unit == Unit::lstm ? m.integer("proj_size") : 0;
}
std::string param_suffix(int64_t layer, int64_t direction) {
  return cat("_l", layer, direction ? "_reverse" : "");
}

template <Unit unit>
void init(ModuleInit& m) {
  const int64_t in = m.module.integer("input_size"), hidden = m.module.integer("hidden_size"),
                layers = m.module.integer("num_layers"), proj = projection_size(m.module, unit);
  m.require(in > 0 && hidden > 0 && layers > 0 && layers <= 1000,
            "input_size, hidden_size and num_layers must be positive, got ", in, ", ", hidden, " and ", layers);
  m.require(proj >= 0 && proj < hidden, "proj_size must lie in [0, hidden_size), got ", proj);
  const double p = m.module.real("dropout");
  m.require(p >= 0 && p <= 1, "dropout must lie in [0, 1], got ", p);
  if (unit == Unit::rnn) check_nonlinearity(m);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const int64_t directions = m.module.flag("bidirectional") ? 2 : 1, rows = gate_count(unit) * hidden,
                out = proj ? proj : hidden;
  for (int64_t layer = 0; layer < layers; layer++)
    for (int64_t d = 0; d < directions; d++) {
      const std::string end = param_suffix(layer, d);
      m.uniform("weight_ih" + end, {rows, layer ? out * directions : in}, bound);
      m.uniform("weight_hh" + end, {rows, out}, bound);
      if (m.module.flag("bias")) {
        m.uniform("bias_ih" + end, {rows}, bound);
        m.uniform("bias_hh" + end, {rows}, bound);
      }
      if (proj) m.uniform("weight_hr" + end, {proj, hidden}, bound);
    }
}

std::vector<Tensor*> collect_weights(const ModuleCall& c, Unit unit) {
  std::vector<Tensor*> out;
  const Module& m = c.module;
  for (int64_t layer = 0; layer < m.integer("num_layers"); layer++)
    for (int64_t d = 0; d < (m.flag("bidirectional") ? 2 : 1); d++) {
      std::vector<std::string> names = {"weight_ih", "weight_hh"};
      if (m.flag("bias")) names.insert(names.end(), {"bias_ih", "bias_hh"});
      if (projection_size(m, unit)) names.push_back("weight_hr");
      for (auto& name : names) out.push_back(c.tensor(name + param_suffix(layer, d)));
    }
  return out;
}

// The first states, [layers * directions, batch, width]; zeros where none are given, a batch of one where there is
// none.
Tensor* initial_state(const ModuleCall& c, Tensor* given, Tensor* x, int64_t width, bool batched) {
  const Module& m = c.module;
  if (given) return batched ? given : c.op("unsqueeze", {given, 1});
  const size_t batch = m.flag("batch_first") ? 0 : 1;
  return zeros(c, x,
               {m.integer("num_layers") * (m.flag("bidirectional") ? 2 : 1), x->type().shape[batch].value(), width});
}

template <Unit unit>
void network(ModuleCall& c) {
  const ModuleInputs in(c);
  const Module& m = c.module;
  Tensor *x = in.tensor("input"), *h = in.tensor(unit == Unit::lstm ? "h_0" : "hx");
  Tensor* memory = unit == Unit::lstm ? in.tensor("c_0") : nullptr;
  const std::string_view kind = m.kind().name();
  require(rank(x) == 2 || rank(x) == 3, kind, ": the input must have 2 or 3 dims, got ", name(x->type()));
  require(unit != Unit::lstm || !h == !memory, kind, ": h_0 and c_0 are given both or not at all");
  const bool batched = rank(x) == 3;
  require(!h || rank(h) == rank(x), kind, ": the first state must have ", rank(x), " dims as the input has, got ",
          name((h ? h : x)->type()));
  if (!batched) x = c.op("unsqueeze", {x, m.flag("batch_first") ? 0 : 1});
  const int64_t hidden = m.integer("hidden_size"), proj = projection_size(m, unit);
  const std::vector<Tensor*> params = collect_weights(c, unit);
  std::vector<Tensor*> states{initial_state(c, h, x, proj ? proj : hidden, batched)};
  if (unit == Unit::lstm) states.push_back(initial_state(c, memory, x, hidden, batched));
  const Any args[] = {Any::tensor(x),
                      unit == Unit::lstm ? tensors(states) : Any::tensor(states[0]),
                      tensors(params),
                      Any::boolean(m.flag("bias")),
                      Any::integer(m.integer("num_layers")),
                      Any::real(m.real("dropout")),
                      Any::boolean(c.training()),
                      Any::boolean(m.flag("bidirectional")),
                      Any::boolean(m.flag("batch_first"))};
  Tensor* made[3];
  const size_t results = unit == Unit::lstm ? 3 : 2;
  c.op(op_name(m, unit), args, nullptr, made, results);
  const std::vector<int64_t> batch{m.flag("batch_first") ? 0 : 1}, of_states{1};
  if (!batched)
    for (size_t i = 0; i < results; i++) made[i] = c.op("squeeze", {made[i], i ? of_states : batch});
  c.give(made[0]);
  if (unit == Unit::lstm) c.out.open(false, {});  // (h, c), as PyTorch has it
  for (size_t i = 1; i < results; i++) c.give(made[i]);
  if (unit == Unit::lstm) c.out.close();
}

constexpr std::string_view kHx = "forward(tensor input, tensor? hx=None) -> tensor";
constexpr std::string_view kHxBoth = "forward(tensor input, tensor? hx=None) -> (tensor, tensor)";

constexpr ModuleRow kRows[] = {
    layer("RNNCell(int input_size, int hidden_size, bool bias=True, str nonlinearity='tanh') -> tensor",
          "One step of a recurrent network: tanh (or relu) of products of the input and of hx. Without hx: of zeros.",
          cell<Unit::rnn>, cell_init<Unit::rnn>, kHx),
    layer("LSTMCell(int input_size, int hidden_size, bool bias=True) -> (tensor, tensor)",
          "One step of a long short-term memory: the next h and c. Without h_0 and c_0: of zeros.", cell<Unit::lstm>,
          cell_init<Unit::lstm>, "forward(tensor input, tensor? h_0=None, tensor? c_0=None) -> (tensor, tensor)"),
    layer("GRUCell(int input_size, int hidden_size, bool bias=True) -> tensor",
          "One step of a gated recurrent unit. Without hx: of zeros.", cell<Unit::gru>, cell_init<Unit::gru>, kHx),
    layer("RNN(int input_size, int hidden_size, int num_layers=1, str nonlinearity='tanh', bool bias=True, bool "
          "batch_first=False, float dropout=0.0, bool bidirectional=False) -> (tensor, tensor)",
          "Layers of RNNCells over a sequence, [length, batch, input_size]: what the last layer gives, and the last "
          "states. A new length is another program.",
          network<Unit::rnn>, init<Unit::rnn>, kHxBoth),
    layer("LSTM(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool batch_first=False, float "
          "dropout=0.0, bool bidirectional=False, int proj_size=0) -> (tensor, tensor, tensor)",
          "Layers of LSTMCells over a sequence, [length, batch, input_size]: what the last layer gives, and the last "
          "h and c. A new length is another program.",
          network<Unit::lstm>, init<Unit::lstm>,
          "forward(tensor input, tensor? h_0=None, tensor? c_0=None) -> (tensor, tensor, tensor)"),
    layer("GRU(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool batch_first=False, float "
          "dropout=0.0, bool bidirectional=False) -> (tensor, tensor)",
          "Layers of GRUCells over a sequence, [length, batch, input_size]: what the last layer gives, and the last "
          "states. A new length is another program.",
          network<Unit::gru>, init<Unit::gru>, kHxBoth),
};

}  // namespace

extern const ModuleRows recurrent_kinds = kRows;

}  // namespace thunder

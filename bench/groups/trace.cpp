// What a miss costs: tracing and all passes of a GPT's forward and backward, by depth. The model is narrow, so that
// running it once takes no time; the number of lines does not depend on the width.
#include "support.h"

using namespace bench;

namespace {

constexpr int64_t kWidth = 32, kHeads = 4, kTokens = 8, kVocabulary = 64;

struct Gpt {
  int layers;
  std::vector<thunder_tensor*> parameters;
  size_t next = 0;
  thunder_context* context;

  // Made on the first trace, used in the same order by the later ones.
  thunder_tensor* parameter(std::vector<int64_t> shape) {
    if (next == parameters.size()) parameters.push_back(floats(context, shape, 0.01f));
    return parameters[next++];
  }
};

thunder_tensor* linear(thunder_scope* s, Gpt& g, thunder_tensor* x, int64_t in, int64_t out) {
  thunder_tensor* weight = g.parameter({out, in});
  return op(s, "linear", {any(x), any(weight), any(g.parameter({out}))});
}

thunder_tensor* layer_norm(thunder_scope* s, Gpt& g, thunder_tensor* x) {
  const std::vector<int64_t> shape = {kWidth};
  thunder_tensor* weight = g.parameter({kWidth});
  return op(s, "layer_norm", {any(x), dims(shape), any(weight), any(g.parameter({kWidth}))});
}

thunder_tensor* attention(thunder_scope* s, Gpt& g, thunder_tensor* x) {
  const std::vector<int64_t> split = {1, kTokens, kHeads, kWidth / kHeads}, joined = {1, kTokens, kWidth};
  thunder_tensor* qkv = linear(s, g, x, kWidth, 3 * kWidth);
  thunder_tensor* parts[3];
  const thunder_any args[] = {any(qkv), any(kWidth), any(int64_t{2})};
  thunder_op_invoke(s, "split", args, 3, nullptr, parts, 3, nullptr);
  for (thunder_tensor*& p : parts) p = op(s, "transpose", {any(op(s, "reshape", {any(p), dims(split)})), any(int64_t{1}), any(int64_t{2})});
  thunder_any dropout{};
  dropout.kind = THUNDER_FLOAT;
  thunder_tensor* y = op(s, "scaled_dot_product_attention", {any(parts[0]), any(parts[1]), any(parts[2]), none(), dropout, flag(true)});
  y = op(s, "reshape", {any(op(s, "transpose", {any(y), any(int64_t{1}), any(int64_t{2})})), dims(joined)});
  return linear(s, g, y, kWidth, kWidth);
}

thunder_status* step(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  auto& g = *static_cast<Gpt*>(user);
  g.next = 0;
  thunder_tensor* tokens = thunder_values_tensor(in, 0);
  thunder_tensor* x = op(s, "embedding", {any(tokens), any(g.parameter({kVocabulary, kWidth}))});
  x = op(s, "add", {any(x), any(g.parameter({kTokens, kWidth}))});
  for (int i = 0; i < g.layers; i++) {
    x = op(s, "add", {any(x), any(attention(s, g, layer_norm(s, g, x)))});
    thunder_tensor* h = op(s, "gelu", {any(linear(s, g, layer_norm(s, g, x), kWidth, 4 * kWidth))});
    x = op(s, "add", {any(x), any(linear(s, g, h, 4 * kWidth, kWidth))});
  }
  const std::vector<int64_t> flat = {kTokens, kVocabulary}, targets = {kTokens};
  x = op(s, "reshape", {any(linear(s, g, layer_norm(s, g, x), kWidth, kVocabulary)), dims(flat)});
  thunder_tensor* loss = op(s, "cross_entropy", {any(x), any(op(s, "reshape", {any(tokens), dims(targets)}))});
  thunder_values* grads = thunder_scope_grad(s, loss, thunder_scope_list(s, g.parameters.data(), g.parameters.size()));
  thunder_values_push_tensor(out, loss);
  for (size_t i = 0; i < thunder_values_count(grads); i++) thunder_values_push_tensor(out, thunder_values_tensor(grads, i));
  return nullptr;
}

// Milliseconds of tracing and passes, the median of a few fresh compiles.
double compile_ms(thunder_context* c, int layers, bool print) {
  Gpt g{layers, {}, 0, c};
  const int64_t shape[] = {1, kTokens}, ids[kTokens] = {1, 2, 3, 4, 5, 6, 7, 8};
  thunder_tensor* tokens = nullptr;
  check(thunder_tensor_create(c, THUNDER_I64, 2, shape, THUNDER_CPU, ids, sizeof ids, &tokens));
  thunder_function* f = nullptr;
  check(thunder_function_create(c, "gpt", step, &g, nullptr, &f));
  std::vector<double> samples;
  for (int i = 0; i < 5; i++) {
    thunder_compiled* compiled = nullptr;
    check(thunder_compile(f, nullptr, &compiled));
    thunder_tensor* loss = nullptr;
    check(thunder_compiled_call_tensors(compiled, &tokens, 1, &loss, 1));
    thunder_statistics stats{};
    stats.size = sizeof stats;
    check(thunder_compiled_statistics(compiled, &stats));
    samples.push_back(static_cast<double>(stats.trace_ns + stats.transform_ns) / 1e6);
    for (size_t k = 0; print && i == 4 && k < thunder_compiled_trace_count(compiled); k++) {
      thunder_trace* t = nullptr;
      check(thunder_compiled_trace(compiled, k, &t));
      std::fprintf(stderr, "%-10s %8.3f ms\n", thunder_trace_name(t), thunder_trace_milliseconds(t));
      thunder_trace_release(t);
    }
    thunder_tensor_release(loss);
    thunder_compiled_release(compiled);
  }
  for (thunder_tensor* p : g.parameters) thunder_tensor_release(p);
  thunder_tensor_release(tokens);
  thunder_function_release(f);
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

int main(int argc, char**) {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  row("trace: GPT 48 layers, forward and backward", "ms", compile_ms(c, 48, argc > 1));
  row("trace: GPT 96 layers, forward and backward", "ms", compile_ms(c, 96, argc > 1));
  thunder_context_release(c);
}

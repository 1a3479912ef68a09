// What a miss costs: tracing and all passes of a GPT's forward and backward, by depth. The model is narrow, so that
// running it once takes no time; the number of lines does not depend on the width.
#include "gpt.h"

using namespace bench;

namespace {

// Milliseconds of tracing and passes, the median of a few fresh compiles.
double compile_ms(thunder_context* c, int layers, bool print) {
  Gpt g{layers, {}, 0, c};
  thunder_tensor* tokens = gpt_tokens(c);
  thunder_function* f = nullptr;
  check(thunder_function_create(c, "gpt", gpt_step, &g, nullptr, &f));
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

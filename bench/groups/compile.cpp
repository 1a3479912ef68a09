// What the first call of a function costs before it runs, forward and backward: tracing, passes and kernels; in a process that
// finds no kernels on disk, and in the next one.
#include "gpt.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

using namespace bench;

namespace {

constexpr int kPairs = 30;

// kPairs times linear and relu, its sum and the gradients.
thunder_status* mlp_step(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  auto& g = *static_cast<Gpt*>(user);
  g.next = 0;
  thunder_tensor* x = thunder_values_tensor(in, 0);
  for (int i = 0; i < kPairs; i++) x = op(s, "relu", {any(linear(s, g, x, kWidth, kWidth))});
  thunder_tensor* loss = op(s, "sum", {any(x)});
  push_with_gradients(s, g, loss, out);
  return nullptr;
}

// Prints the milliseconds of a first call's preparation.
int prepare_once(int layers) {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  Gpt g{layers, {}, 0, c};
  thunder_tensor *in = layers ? gpt_tokens(c) : floats(c, {kTokens, kWidth}, 0.01f), *loss = nullptr;
  thunder_function* f = nullptr;
  check(thunder_function_create(c, "step", layers ? gpt_step : mlp_step, &g, nullptr, &f));
  thunder_compiled* compiled = nullptr;
  check(thunder_compile(f, nullptr, &compiled));
  check(thunder_compiled_call_tensors(compiled, &in, 1, &loss, 1));
  thunder_statistics stats{};
  stats.size = sizeof stats;
  check(thunder_compiled_statistics(compiled, &stats));
  std::printf("%.6g\n", static_cast<double>(stats.trace_ns + stats.transform_ns + stats.compile_ns) / 1e6);
  return 0;  // the process ends here, and with it all that was made
}

double prepare_in_a_process(const std::string& folder, int layers) {
  setenv("THUNDER_CACHE_DIR", folder.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  FILE* child = popen(("'" + self + "' once " + std::to_string(layers)).c_str(), "r");
  double ms = -1;
  if (!child || std::fscanf(child, "%lf", &ms) != 1) std::exit(1);
  pclose(child);
  return ms;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && !std::strcmp(argv[1], "once")) return prepare_once(std::atoi(argv[2]));
  for (int layers : {12, 48, 96, 0}) {
    std::string folder = (std::filesystem::temp_directory_path() / "thunder-bench-XXXXXX").string();
    if (!mkdtemp(folder.data())) return 1;
    const double cold = prepare_in_a_process(folder, layers), warm = prepare_in_a_process(folder, layers);
    const auto kernels = std::distance(std::filesystem::directory_iterator(folder), {});
    std::filesystem::remove_all(folder);
    const std::string name = "compile: " + (layers ? "GPT " + std::to_string(layers) + " layers" : std::to_string(kPairs) + " x (linear, relu)");
    row((name + ", cold").c_str(), "ms", cold);
    row((name + ", warm").c_str(), "ms", warm);
    row((name + ", kernels").c_str(), "kernels", static_cast<double>(kernels));
  }
}

// What compiling the kernels of a GPT costs, its forward and backward: in a process that finds none of them on disk, and
// in the next one.
#include "gpt.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

using namespace bench;

namespace {

constexpr int kLayers = 12;

// Prints the milliseconds of compiling what the passes made.
int compile_once() {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  Gpt g{kLayers, {}, 0, c};
  thunder_tensor *tokens = gpt_tokens(c), *loss = nullptr;
  thunder_function* f = nullptr;
  check(thunder_function_create(c, "gpt", gpt_step, &g, nullptr, &f));
  thunder_compiled* compiled = nullptr;
  check(thunder_compile(f, nullptr, &compiled));
  check(thunder_compiled_call_tensors(compiled, &tokens, 1, &loss, 1));
  thunder_statistics stats{};
  stats.size = sizeof stats;
  check(thunder_compiled_statistics(compiled, &stats));
  std::printf("%.6g\n", static_cast<double>(stats.compile_ns) / 1e6);
  return 0;  // the process ends here, and with it all that was made
}

double compile_in_a_process(const std::string& folder) {
  setenv("THUNDER_CACHE_DIR", folder.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  FILE* child = popen(("'" + self + "' once").c_str(), "r");
  double ms = -1;
  if (!child || std::fscanf(child, "%lf", &ms) != 1) std::exit(1);
  pclose(child);
  return ms;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "once")) return compile_once();
  std::string folder = (std::filesystem::temp_directory_path() / "thunder-bench-XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  const double cold = compile_in_a_process(folder), warm = compile_in_a_process(folder);
  const auto kernels = std::distance(std::filesystem::directory_iterator(folder), {});
  std::filesystem::remove_all(folder);
  row("compile: GPT 12 layers, forward and backward, cold", "ms", cold);
  row("compile: GPT 12 layers, forward and backward, warm", "ms", warm);
  row("compile: GPT 12 layers, forward and backward, kernels", "kernels", static_cast<double>(kernels));
}

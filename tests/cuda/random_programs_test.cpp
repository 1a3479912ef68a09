// Random programs, forward and backward, compiled for a device, against a tape on the CPU; and the same bits when they run again.
#include <atomic>
#include <thread>

#include "base/cpu_count.h"
#include "battery/program_outcomes.h"
#include "cuda/cuda.h"
#include "support/context.h"

namespace thunder::battery {
namespace {

// THUNDER_PROGRAMS says another number: tests/cuda/run has 3,000 on a GPU.
constexpr uint64_t kPrograms = 12;

// On the device, where it lies as it does here: reshape shares memory or copies by that.
Ref<Tensor> moved_as_it_lies(const Ref<Tensor>& t, Devices& devices) {
  TensorType line = t->type(), there = t->type();
  line.shape = {static_cast<int64_t>(t->storage()->bytes() / size_of(line.dtype))};
  const Ref<Tensor> memory = moved(Tensor::view(t->storage(), line, Sizes{1}, 0), devices, test::kGpu);
  there.device = test::kGpu;
  return Tensor::view(memory->storage(), there, t->strides(), t->offset());
}

struct CudaRandomPrograms : Battery {
  static Outcome on_device(Context& context, const Program& p, uint64_t seed, size_t results) {
    Tensors inputs;
    for (const Ref<Tensor>& t : program_inputs(p, seed)) inputs.push_back(moved_as_it_lies(t, context.devices()));
    const auto body = [&](Scope& s, std::span<Tensor* const> in) { return run_program(p, s, in); };
    Outcome out = with_state(call_compiled(context, body, inputs, results, CompileOptions()), inputs);
    for (TensorType& t : out.types) t.device = Device::cpu;
    return out;
  }
  static bool agrees(Context& context, uint64_t seed) {
    const Program p = random_program(seed);
    const Outcome expected = taped(context, p, program_inputs(p, seed));
    const Outcome first = on_device(context, p, seed, expected.types.size() - 1);
    const Outcome again = on_device(context, p, seed, expected.types.size() - 1);
    const std::string apart = difference(first, expected, 1000, kLeast), changed = difference(again, first, 0, 0);
    EXPECT_EQ(changed, "") << "when it runs again; THUNDER_PROGRAM_SEED=" << seed << "\n" << p.text();
    if (!changed.empty() || apart.empty()) return changed.empty();
    if (first.error.empty() && amplifies(context, seed, p, expected)) return true;
    EXPECT_EQ(apart, "") << "THUNDER_PROGRAM_SEED=" << seed << "\n" << p.text();
    return false;
  }
};

// THUNDER_PROGRAM_SEED=N runs that program alone.
TEST_F(CudaRandomPrograms, mean_on_the_device_what_they_mean_on_the_cpu) {
  const char* const alone = std::getenv("THUNDER_PROGRAM_SEED");
  const uint64_t first = alone ? std::strtoull(alone, nullptr, 10) : 1;
  const uint64_t end = alone ? first + 1 : 1 + number_from("THUNDER_PROGRAMS", kPrograms);
  std::atomic<uint64_t> next{first};
  std::atomic<int> failures{0};
  // Compiling kernels takes most of the time. Each thread has a context of its own.
  const auto work = [&] {
    const auto own = test::seeded_context();
    for (uint64_t seed; failures < 3 && (seed = next++) < end;) failures += !agrees(*own, seed);
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < thread_count(); t++) threads.emplace_back(work);
  work();
  for (auto& t : threads) t.join();
  tally()["random programs on the device"] += end - first;
}

}  // namespace
}  // namespace thunder::battery

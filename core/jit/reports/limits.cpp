#include "jit/reports/limits.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "jit/call.h"

namespace thunder {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSeconds = 0.15;      // for each
constexpr size_t kMostBytes = 256 << 20;  // of a tensor that is to lie beyond the caches
constexpr int64_t kSide = 1024;        // of the matrices

struct OneOp : Function {
  OneOp(std::string name, size_t operands) : Function(name), name_(std::move(name)), operands_(operands) {}
  Ref<Status> call(Scope& s, const Values& in, Values& out) override {
    const Any args[] = {Any::tensor(in[0].tensor.get()),
                        operands_ > 1 ? Any::tensor(in[1].tensor.get()) : Any::real(0.5)};
    out.push(Ref<Tensor>(s.invoke(name_, args, nullptr, nullptr, 0, nullptr)));
    return {};
  }

 private:
  const std::string name_;
  const size_t operands_;
};

Ref<Tensor> make_ones(Context& context, std::initializer_list<int64_t> sizes) {
  TensorType type;
  type.dtype = DType::f32;
  for (int64_t n : sizes) type.shape.push_back(n);
  Ref<Tensor> made = Tensor::empty(context.allocator(), type);
  std::fill_n(reinterpret_cast<float*>(made->data()), made->elements(), 1.0f);
  return made;
}

// The seconds of the fastest of several calls; the first one, which compiles, is not among them.
double measure_fastest_call(Context& context, std::string_view op, std::initializer_list<Tensor*> in,
                            std::string& trouble) {
  const Ref<Compiled> f = make<Compiled>(Ref<Context>(&context),
                                         Ref<Function>::adopt(new OneOp(std::string(op), in.size())), nullptr);
  double best = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < kSeconds; i++) {
    Tensor* out = nullptr;
    const auto start = Clock::now();
    if (Status* failed = f->call_tensors(in.begin(), in.size(), &out, 1)) {
      trouble = Ref<Status>::adopt(failed)->message();
      return 0;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    out->release();
    if (i > 0 && (best == 0 || seconds < best)) best = seconds;
  }
  return best;
}

}  // namespace

MachineLimits measure_limits(Context& context) {
  MachineLimits limits;
  const size_t cache = std::max<size_t>(context.machine().last_level, 8 << 20);
  const auto count = static_cast<int64_t>(std::min(4 * cache, kMostBytes) / sizeof(float));
  {
    const Ref<Tensor> x = make_ones(context, {count});
    const double seconds = measure_fastest_call(context, "mul", {x.get()}, limits.trouble);
    if (seconds > 0) limits.gbytes = 2.0 * double(count) * sizeof(float) / seconds * 1e-9;
  }
  const Ref<Tensor> a = make_ones(context, {kSide, kSide}), b = make_ones(context, {kSide, kSide});
  const double seconds = measure_fastest_call(context, "matmul", {a.get(), b.get()}, limits.trouble);
  if (seconds > 0) limits.gflops = 2.0 * double(kSide * kSide) * double(kSide) / seconds * 1e-9;
  return limits;
}

}  // namespace thunder

#include "jit/eager/prims/runner.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/text.h"
#include "executors/collectives.h"
#include "jit/eager/prims/key.h"
#include "ops/widened.h"
#include "program/program.h"
#include "tensor/transfer.h"
#include "tracer/compile_settings.h"

namespace thunder {
namespace {

constexpr size_t kMaxCalls = 512;  // entries of the cache, which is then cleared

// A node and its kernel, used by all eager calls of the same op, types and arguments.
class EagerCall : public Counted<EagerCall> {
 public:
  EagerCall(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out,
            const Executors& executors)
      : key(op, args, in, out) {
    const CompileSettings& settings = default_settings();
    const NodeView view{key.node(), key.store(), settings};
    for (auto& e : executors) {
      if (!e->claims(view)) continue;
      try {
        kernel_ = e->prepare(view);
        if (key.on_device())
          kernel_->adapt_to_layouts({key.node(), key.store(), settings, in, out}), kernel_->finish_compiling();
        return;
      } catch (const Error& failed) {
        if (failed.code() != Code::declined) throw;
      }
    }
    fail(Code::unimplemented, op.name(), ": every executor declined to prepare it");
  }
  const EagerKey key;

  Status* run(std::span<const Buffer> in, std::span<const Buffer> out, Devices& devices, ThreadPool& threads) const {
    Launch launch = launch_on(in, out, &threads);
    Ref<Storage> scratch;
    const Device device = out.empty() ? Device::cpu : out[0].device;
    if (const size_t bytes = kernel_->scratch())
      scratch = Storage::allocate(devices.allocator(device), bytes), launch.scratch = scratch->data();
    if (device != Device::cpu) launch.native_stream = devices.accelerator(device).native_stream();
    const auto run_whole = [&] {
      Status* const failed = kernel_->call()(&launch);
      return failed ? failed : end_started(*kernel_, &launch, false);
    };
    if (!key.on_device() || kernel_->has(kStrided)) return run_whole();
    std::vector<Buffer> dense(in.begin(), in.end());
    std::vector<Ref<Tensor>> copies;
    for (Buffer& b : dense) {
      const auto rank = static_cast<size_t>(b.rank);
      if (!b.present() || b.device == Device::cpu || is_dense({b.shape, rank}, {b.strides, rank})) continue;
      b = copies.emplace_back(dense_copy(devices.allocator(b.device), *tensor_over(b, devices)))->buffer();
    }
    launch.inputs = dense.data();
    return run_whole();
  }

 private:
  friend class Counted<EagerCall>;
  ~EagerCall() = default;

  KernelPtr kernel_;
};

class EagerRunner : public OpRunner {
 public:
  EagerRunner(Executors executors, Devices& devices, ThreadPool& threads)
      : executors_(std::move(executors)), devices_(devices), threads_(threads) {
    for (size_t i = 0; i + 1 < executors_.size(); i++) {
      const ExecutorDesc& d = executors_[i]->desc();
      const bool compiles_kernels = d.claim_region && !(d.flags & kMayFail);  // ours, which takes long for one op
      if (d.flags & kStrided && !compiles_kernels) named_.insert(named_.end(), d.ops.begin(), d.ops.end());
    }
  }

  Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
              std::span<const Buffer> out) override {
    bool named = is_named_by_executor(op);
    for (const Arg& a : args) named = named && a.kind != ArgKind::values;
    for (const Buffer& b : in) named = named || b.device != Device::cpu;
    for (const Buffer& b : out) named = named || b.device != Device::cpu;
    if (!named) return run_reference(op, {in, out, args, &op, &threads_});
    return find(op, args, in, out)->run(in, out, devices_, threads_);
  }

 private:
  // Whether an executor names the op. Asked at each call, so answers are cached: the op's address, plus 1 if one does.
  bool is_named_by_executor(const OpDef& op) {
    const auto asked = reinterpret_cast<uintptr_t>(&op);
    std::atomic<uintptr_t>& kept = answers_[asked / alignof(std::max_align_t) % kAnswers];
    const uintptr_t known = kept.load(std::memory_order_relaxed);
    if ((known & ~uintptr_t{1}) == asked) return known & 1;
    const bool found = std::find(named_.begin(), named_.end(), op.name()) != named_.end();
    kept.store(asked | found, std::memory_order_relaxed);
    return found;
  }

  Ref<EagerCall> find(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
                      std::span<const Buffer> out) {
    const uint64_t key = EagerKey::hash(op, args, in);
    {
      std::shared_lock lock(mutex_);
      auto [it, end] = calls_.equal_range(key);
      for (; it != end; ++it)
        if (it->second->key.matches(op, args, in)) return it->second;
    }
    auto made = make<EagerCall>(op, args, in, out, executors_);
    std::unique_lock lock(mutex_);
    if (calls_.size() >= kMaxCalls) calls_.clear();
    calls_.emplace(key, made);
    return made;
  }

  const Executors executors_;
  Devices& devices_;
  ThreadPool& threads_;
  std::vector<std::string_view> named_;
  static constexpr size_t kAnswers = 256;
  std::array<std::atomic<uintptr_t>, kAnswers> answers_{};
  std::shared_mutex mutex_;
  std::unordered_multimap<uint64_t, Ref<EagerCall>> calls_;
};

}  // namespace

std::unique_ptr<OpRunner> eager_runner(Executors executors, Devices& devices, ThreadPool& threads) {
  return std::make_unique<EagerRunner>(std::move(executors), devices, threads);
}

}  // namespace thunder

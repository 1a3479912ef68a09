#include "ops/world_collectives.h"

#include <cstring>

#include "base/text.h"
#include "base/thrown.h"
#include "ir/prim.h"
#include "ops/kernels.h"

namespace thunder {
namespace {

// Where nothing was set: the process is the whole world.
class OneRank : public RankAxes {
 public:
  int64_t size(std::string_view axis) override { return check(axis), 1; }
  int64_t index(std::string_view axis) override { return check(axis), 0; }
  Device device() const override { return Device::cpu; }
  Status* start(const CollectiveCall& call) override {
    if (call.what == Collective::ppermute && passing_of(call, 0).from < 0) {
      std::memset(call.out.data, 0, static_cast<size_t>(call.out.elements()) * size_of(call.out.dtype));
      return nullptr;
    }
    copy_strided(call.in, call.out);
    return nullptr;
  }
  Status* wait(const void* /*out*/, bool /*done*/) override { return nullptr; }

 private:
  static void check(std::string_view axis) {
    if (axis != kWorldAxis)
      fail(Code::not_found, "there is no axis '", axis, "': a mesh names axes, and this context has none yet");
  }
};

std::shared_ptr<RankAxes> axes_of(const RankAxesSlot& slot) {
  static const auto one = std::make_shared<OneRank>();
  if (auto set = slot.get()) return set;
  return one;
}

const CollectiveOp& collective(const OpDef& op) {
  return static_cast<const CollectiveOp&>(op);
}

// The ranks take dense buffers: what is strided is copied.
struct Dense {
  explicit Dense(const Buffer& b) : buffer(b), strides(dense_strides({b.shape, static_cast<size_t>(b.rank)})) {
    const auto rank = static_cast<size_t>(b.rank);
    if (is_dense({b.shape, rank}, {b.strides, rank})) return;
    memory = std::make_shared_for_overwrite<std::byte[]>(static_cast<size_t>(b.elements()) * size_of(b.dtype));
    buffer.data = memory.get(), buffer.strides = strides.data();
  }
  Dense(const Dense&) = delete;
  Buffer buffer;
  Sizes strides;
  std::shared_ptr<std::byte[]> memory;  // of the copy; null: there is none
};

constexpr std::string_view kReductionNames[] = {"sum", "max", "min"};

template <class T, size_t n>
T find_name(const std::string_view (&names)[n], std::string_view name) {
  return static_cast<T>(std::find(names, names + n, name) - names);
}

CollectiveCall call_of(const KernelArgs& k) {
  const RankRule& rule = *k.op->ranks;
  CollectiveCall call{rule.what, k.args[rule.axis].text(), k.args[rule.axis + 1u].i};
  if (rule.more) call.more = k.args[rule.more].i != 0;
  if (rule.root) call.root = k.args[rule.root].i;
  if (rule.reduction) call.reduction = find_name<RankReduction>(kReductionNames, k.args[rule.reduction].text());
  if (rule.sources) call.sources = k.args[rule.sources].dim_list(), call.targets = k.args[rule.targets].dim_list();
  return call;
}

// Hands a call on dense buffers to `to`, a member of RankAxes.
Status* on_dense(const KernelArgs& k, const CollectiveCall& call, Status* (RankAxes::*to)(const CollectiveCall&)) {
  const auto axes = axes_of(*collective(*k.op).slot);
  const int64_t ranks = axes->size(call.axis);
  if (ranks != call.ranks)
    return refuse(cat(k.op->name(), ": axis '", call.axis, "' had ", call.ranks,
                      " ranks when this was recorded, and has ", ranks, " here: record it again"));
  return ((*axes).*to)(call);
}

}  // namespace

Passing passing_of(const CollectiveCall& call, int64_t index) {
  Passing found;
  for (size_t i = 0; i < call.sources.size(); i++) {
    const int64_t source = hint(call.sources[i]), target = hint(call.targets[i]);
    if (source == index) found.to = target;
    if (target == index) found.from = source;
  }
  return found;
}

Status* run_collective(const KernelArgs& k) {
  return catch_as_status([&]() -> Status* {
    CollectiveCall call = call_of(k);
    Dense in(k.in[0]), out(k.out[0]);
    if (in.memory) copy_strided(k.in[0], in.buffer);
    call.in = in.buffer, call.out = out.buffer;
    if (Status* failed = on_dense(k, call, &RankAxes::run)) return failed;
    if (out.memory) copy_strided(out.buffer, k.out[0]);
    return nullptr;
  });
}

Status* start_collective(const KernelArgs& k, Accelerator* device, const char* where) {
  return catch_as_status([&] {
    CollectiveCall call = call_of(k);
    call.where = where, call.in = k.in[0], call.out = k.out[0], call.device = device;
    if (device) return on_dense(k, call, &RankAxes::start);
    Dense in(k.in[0]);
    if (in.memory) copy_strided(k.in[0], in.buffer);
    call.in = in.buffer, call.keeps = in.memory;
    return on_dense(k, call, &RankAxes::start);
  });
}

Status* run_wait(const KernelArgs& k) {
  return catch_as_status([&]() -> Status* {
    if (Status* failed = axes_of(*collective(*k.op).slot)->wait(k.in[0].data, k.args[2].i != 0)) return failed;
    if (k.in[0].data != k.out[0].data) copy_strided(k.in[0], k.out[0]);
    return nullptr;
  });
}

Status* run_axis_index(const KernelArgs& k) {
  return catch_as_status([&]() -> Status* {
    *k.out[0].as<int64_t>() = axes_of(*collective(*k.op).slot)->index(k.args[0].text());
    return nullptr;
  });
}

void RankAxesSlot::add_engine(std::string name, std::shared_ptr<scale::Engine> engine) {
  const std::lock_guard lock(mutex_);
  require(!engines_.count(name), "engine '", name, "' is already registered");
  engines_.emplace(std::move(name), std::move(engine));
}

std::shared_ptr<scale::Engine> RankAxesSlot::find_engine(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto it = engines_.find(name);
  return it == engines_.end() ? nullptr : it->second;
}

Device device_of_ranks(const OpDef& op) {
  return axes_of(*collective(op).slot)->device();
}

RankAxesSlot& rank_axes(const Registry& registry) {
  return *collective(registry.get(Prim::all_reduce)).slot;
}

int64_t ranks_along(const Registry& registry, std::string_view axis) {
  return axes_of(rank_axes(registry))->size(axis);
}

}  // namespace thunder

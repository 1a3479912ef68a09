// Axes whose other ranks bring what this one does, for tests of what is made of collectives. They count the calls.
#pragma once

#include <vector>

#include "base/text.h"
#include "ops/world_collectives.h"
#include "ops/kernels.h"

namespace thunder::test {

class EchoRanks : public RankAxes {
 public:
  EchoRanks(std::string axis, int64_t ranks) : axis_(std::move(axis)), ranks_(ranks) {}
  int64_t size(std::string_view axis) override {
    if (axis != axis_) fail(Code::not_found, "there is no axis '", axis, "'");
    return ranks_;
  }
  int64_t index(std::string_view axis) override { return size(axis) - 1; }
  Device device() const override { return Device::cpu; }
  Status* start(const CollectiveCall& call) override {
    calls.push_back(call);
    if (call.in.dtype != DType::f32 || call.what == Collective::all_gather || call.what == Collective::broadcast)
      return refuse("the echo adds up f32 alone");
    const bool sum = call.reduction == RankReduction::sum;
    for (int64_t i = 0; i < call.out.elements(); i++)
      call.out.as<float>()[i] = call.in.as<float>()[i] * (sum ? static_cast<float>(ranks_) : 1);
    return nullptr;
  }
  Status* wait(const void* /*out*/, bool /*done*/) override { return nullptr; }
  std::vector<CollectiveCall> calls;  // their buffers are gone
  void set_ranks(int64_t ranks) { ranks_ = ranks; }

 private:
  const std::string axis_;
  int64_t ranks_;
};

// Sets them as those of a registry.
inline std::shared_ptr<EchoRanks> set_echo_ranks(const Registry& registry, const std::string& axis, int64_t ranks) {
  const auto made = std::make_shared<EchoRanks>(axis, ranks);
  rank_axes(registry).set(made);
  return made;
}

}  // namespace thunder::test

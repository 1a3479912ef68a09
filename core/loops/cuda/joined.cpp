#include "loops/cuda/joined.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "loops/cuda/writer.h"

namespace thunder::loops {
namespace {

constexpr uint32_t kMostJoined = 64;  // the kernel finds its nest in six steps
constexpr size_t kNumberWords = 2;    // of a number that is passed by value

size_t count_true(const std::vector<bool>& of) { return static_cast<size_t>(std::count(of.begin(), of.end(), true)); }

class JoinedLauncher : public Kernel {
 public:
  explicit JoinedLauncher(const JoinedNests& nests)
      : Kernel(this), device_(nests.device), on_host_(nests.schedule.on_host), name_(nests.name),
        arguments_(nests.nest.buffers.size()), count_(nests.each.size()),
        layout_(joined_layout(nests.nest, on_host_)) {
    CudaSchedule schedule = nests.schedule;
    schedule.joined = layout_.nests;
    const CudaSource source = cuda_source(nests.nest, schedule, name_);
    if (!source.error.empty()) fail(Code::internal, "a kernel of joined nests is not written: ", source.error);
    text_ = source.text;
    device_->begin_compiling(text_);
    fill_table(nests.each);
  }

  void finish_compiling() override {
    function_ = device_->function(text_, name_.c_str());
    text_.clear(), text_.shrink_to_fit();
  }
  std::string explain() const override {
    return cat("in one launch with the ", count_ - 1, " kernels that follow\n");
  }

  Status* run(const Launch* first) const {
    Table table = table_;
    for (size_t k = 0; k < count_; k++) {
      const Launch& launch = first[k];
      std::byte* address = table.data() + k * layout_.addresses * sizeof(void*);
      std::byte* number = table.data() + layout_.numbers_at + k * layout_.numbers * sizeof(int64_t);
      for (size_t i = 0; i < arguments_; i++) {
        const Buffer& b = i < launch.n_inputs ? launch.inputs[i] : launch.outputs[i - launch.n_inputs];
        if (i < on_host_.size() && on_host_[i]) {
          std::memcpy(number, b.data, static_cast<size_t>(b.elements()) * size_of(b.dtype));
          number += kNumberWords * sizeof(int64_t);
        } else {
          std::memcpy(address, &b.data, sizeof b.data);
          address += sizeof b.data;
        }
      }
    }
    void* parameters[] = {table.data()};
    return device_->launch(function_, geometry_, parameters, "a fused kernel");
  }

 private:
  using Table = std::array<std::byte, kMostParameterBytes>;

  // Everything but addresses and numbers. Each nest gets its share of the blocks that the device runs at a time.
  void fill_table(const std::vector<JoinedNests::Each>& each) {
    int64_t wanted = 0, blocks = 0;
    for (const auto& one : each) wanted += blocks_of(one.threads);
    const int64_t most = max_blocks(*device_);
    for (size_t k = 0; k <= layout_.nests; k++) {
      const auto first = static_cast<int32_t>(blocks);
      std::memcpy(table_.data() + layout_.blocks_at + k * sizeof first, &first, sizeof first);
      if (k >= each.size()) continue;
      std::memcpy(table_.data() + layout_.sizes_at + k * layout_.sizes * sizeof(int64_t), each[k].parameters.data(),
                  layout_.sizes * sizeof(int64_t));
      const int64_t own = blocks_of(each[k].threads);
      blocks += std::max<int64_t>(1, wanted > most ? own * most / wanted : own);
    }
    geometry_ = {static_cast<unsigned>(blocks), kCudaThreads};
  }

  const Ref<nvidia::CudaDevice> device_;
  const std::vector<bool> on_host_;
  const std::string name_;
  const size_t arguments_, count_;
  const JoinedLayout layout_;
  std::string text_;  // until it is compiled
  Table table_{};
  nvidia::Function function_ = nullptr;
  nvidia::Geometry geometry_;
};

}  // namespace

int64_t max_blocks(const nvidia::CudaDevice& device) {
  constexpr int64_t kBlocksOfMultiprocessor = 16;
  return kBlocksOfMultiprocessor * std::max(1, device.properties().multiprocessors);
}

KernelPtr joined_launcher(const JoinedNests& nests) { return std::make_unique<JoinedLauncher>(nests); }

bool can_be_joined(const Nest& nest) {
  return !has_reductions(nest) && std::none_of(nest.exprs.begin(), nest.exprs.end(), may_fail<int64_t>);
}

JoinedLayout joined_layout(const Nest& nest, const std::vector<bool>& on_host) {
  JoinedLayout l;
  const size_t numbers = count_true(on_host);
  l.addresses = nest.buffers.size() - numbers, l.sizes = parameters(nest).size(), l.numbers = kNumberWords * numbers;
  const size_t each = (l.addresses + l.sizes + l.numbers) * sizeof(int64_t) + sizeof(int32_t);
  l.nests = std::min(kMostJoined, static_cast<uint32_t>((kMostParameterBytes - sizeof(int64_t)) / each));
  l.sizes_at = l.nests * l.addresses * sizeof(int64_t);
  l.numbers_at = l.sizes_at + l.nests * l.sizes * sizeof(int64_t);
  l.blocks_at = l.numbers_at + l.nests * l.numbers * sizeof(int64_t);
  l.bytes = l.blocks_at + (l.nests + 1) * sizeof(int32_t);
  return l;
}

// The blocks of each nest are consecutive. The names b, p and n in the body refer to the block's own nest.
void Writer::begin_joined_kernel(const std::string& name) {
  const JoinedLayout l = joined_layout(nest_, schedule_.on_host);
  out_ += cat("struct JoinedNests {\n  void* at[", l.nests, "][", l.addresses, "];\n  i64 sizes[", l.nests, "][",
              l.sizes, "];\n", l.numbers ? cat("  i64 numbers[", l.nests, "][", l.numbers, "];\n") : "",
              "  int first_block[", l.nests + 1, "];\n};\n\nextern \"C\" __global__ void ", name,
              "(const JoinedNests nests) {\n");
  line("int own = 0;");
  line("for (int step = ", kMostJoined / 2, "; step > 0; step /= 2)");
  line("  if (own + step < ", l.nests, " && (int)blockIdx.x >= nests.first_block[own + step]) own += step;");
  line("const place first = nests.first_block[own], blocks = nests.first_block[own + 1] - first;");
  line("Buffers b;");
  line("Parameters p;");
  line("Numbers n;");
  for (size_t i = 0, at = 0; i < nest_.buffers.size(); i++)
    if (!is_host_scalar(i)) line("b.at[", i, "] = nests.at[own][", at++, "];");
  for (size_t i = 0; i < l.sizes; i++) line("p.at[", i, "] = nests.sizes[own][", i, "];");
  for (size_t i = 0; i < l.numbers; i++) line("n.at[", i, "] = nests.numbers[own][", i, "];");
}

}  // namespace thunder::loops

#include "executors/cuda/kernels/cuda_kernel.h"

#include <array>

#include "base/text.h"
#include "device/cuda/device.h"
#include "executors/cuda/kernels/cuda_text.h"
#include "executors/cuda/kernels/parameters.h"

namespace thunder::kernels {
namespace {

class CudaKernel;

class CudaNodeKernel : public Kernel {
 public:
  CudaNodeKernel(const CudaKernel& kernel, const NodeView& view, Devices& devices);
  void adapt_to_layouts(const NodeView& view) override { evaluate_launch(view); }
  void finish_compiling() override;
  Status* run(const Launch* launch) const;

 private:
  void evaluate_launch(const NodeView& view);
  unsigned evaluate_positive(const Formula& formula, const NodeView& view, uint64_t most) const;

  const CudaKernel& kernel_;
  const Ref<nvidia::CudaDevice> device_;
  const std::string_view op_;
  nvidia::KernelSource source_;
  nvidia::Function function_ = nullptr;
  nvidia::Geometry geometry_;
  bool empty_ = false;            // there is no block to launch
  std::vector<Word> words_;       // by parameter
  std::vector<int64_t> tensors_;  // by parameter: which of inputs and then outputs; -1: none
};

class CudaKernel : public DeviceKernel {
 public:
  CudaKernel(CudaKernelDesc desc, const Schema& schema) : desc_(std::move(desc)), schema_(schema) {
    require(!desc_.function.empty(), "a kernel for CUDA devices has a name (symbol): that of its function");
    require(desc_.source.empty() != desc_.image.empty(), "kernel '", desc_.function,
            "' has a source or an image, one of them");
    require(desc_.options.empty() || desc_.image.empty(), "kernel '", desc_.function,
            "' is an image: options are for a source");
    parameters = parse_parameters(desc_.parameters, schema_, describe_part("parameters"));
    parse_up_to_three(desc_.grid, "grid", grid), parse_up_to_three(desc_.block, "block", block);
    if (!desc_.shared_bytes.empty()) shared_bytes.emplace(desc_.shared_bytes, schema_, describe_part("shared_bytes"));
  }

  int32_t device_kind() const override { return kCudaKind; }
  KernelPtr prepare(const NodeView& view, Devices& devices) const override {
    return std::make_unique<CudaNodeKernel>(*this, view, devices);
  }

  const CudaKernelDesc& desc() const { return desc_; }
  std::string describe_part(std::string_view part) const { return cat("kernel '", desc_.function, "', ", part); }

  std::vector<Parameter> parameters;
  std::vector<Formula> grid, block;
  std::optional<Formula> shared_bytes;

 private:
  void parse_up_to_three(const std::string& text, const char* name, std::vector<Formula>& out) const {
    const auto parts = split_at_commas(text);
    require(parts.size() <= 3 && !parts[0].empty(), describe_part(name), " \"", text,
            "\": one to three formulas are expected, such as \"ceildiv(x.numel, 256)\"");
    for (std::string_view part : parts) out.emplace_back(part, schema_, describe_part(name));
  }

  const CudaKernelDesc desc_;
  const Schema& schema_;
};

CudaNodeKernel::CudaNodeKernel(const CudaKernel& kernel, const NodeView& view, Devices& devices)
    : Kernel(this),
      kernel_(kernel),
      device_(Ref<nvidia::CudaDevice>(
          &static_cast<nvidia::CudaDevice&>(devices.accelerator(view.store.type(view.node.results[0]).device)))),
      op_(view.node.op->name()),
      source_(
          kernel.desc().image.empty() ? cuda_text(kernel.desc().source, kernel.desc().function, view) : std::string(),
          kernel.desc().options) {
  if (kernel.desc().strided) add_flags(kStrided);
  for (const Parameter& p : kernel.parameters) {
    if (p.kind != Parameter::Kind::tensor)
      tensors_.push_back(-1);
    else if (p.operand.kind == Operand::Kind::result)
      tensors_.push_back(-2 - static_cast<int64_t>(p.operand.index));
    else
      tensors_.push_back(static_cast<int64_t>(input_index_of(view.node, p.operand.index)));
  }
  evaluate_launch(view);
  if (!source_.text.empty()) device_->begin_compiling(source_);
}

// The value of a formula for blocks, threads or bytes, checked to be positive and at most `most`.
unsigned CudaNodeKernel::evaluate_positive(const Formula& formula, const NodeView& view, uint64_t most) const {
  const int64_t n = formula.evaluate(view);
  if (n < 0 || static_cast<uint64_t>(n) > most)
    fail(Code::invalid_argument, kernel_.describe_part("its launch"), ": \"", formula.text(), "\" is ", n,
         ", which is not from 0 to ", most);
  return static_cast<unsigned>(n);
}

void CudaNodeKernel::evaluate_launch(const NodeView& view) {
  constexpr std::array<uint64_t, 3> kMaxBlocks = {(uint64_t{1} << 31) - 1, 65535, 65535},
                                    kMaxThreads = {1024, 1024, 64};
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  for (size_t i = 0; i < kernel_.grid.size(); i++) grid[i] = evaluate_positive(kernel_.grid[i], view, kMaxBlocks[i]);
  for (size_t i = 0; i < kernel_.block.size(); i++)
    block[i] = evaluate_positive(kernel_.block[i], view, kMaxThreads[i]);
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  if (threads == 0 || threads > 1024)
    fail(Code::invalid_argument, kernel_.describe_part("block"), ": a block of ", block[0], " x ", block[1], " x ",
         block[2], " threads has ", threads, "; 1 to 1024 are possible");
  const unsigned bytes =
      kernel_.shared_bytes ? evaluate_positive(*kernel_.shared_bytes, view, device_->properties().shared_bytes_of_block)
                           : 0;
  geometry_ = {grid[0], block[0], bytes, grid[1], grid[2], block[1], block[2]};
  empty_ = grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
  words_.clear();
  for (const Parameter& p : kernel_.parameters) words_.push_back(evaluate_parameter(p, view));
}

void CudaNodeKernel::finish_compiling() {
  const CudaKernelDesc& d = kernel_.desc();
  try {
    function_ = d.image.empty() ? device_->function(source_, d.function.c_str())
                                : device_->function_of_image(d.image, d.function.c_str());
    device_->allow_shared_memory(function_, geometry_.shared_bytes);
  } catch (const Error& e) {
    if (e.status()->code() == Code::out_of_memory) throw;
    throw Error(e.status()->code(), cat(op_, ": kernel '", d.function, "': ", e.status()->message()));
  }
}

Status* CudaNodeKernel::run(const Launch* launch) const {
  if (empty_) return nullptr;
  std::array<void*, kMaxParameters> addresses, parameters;
  for (size_t i = 0; i < words_.size(); i++) {
    const int64_t at = tensors_[i];
    if (at == -1) {
      parameters[i] = const_cast<std::byte*>(words_[i].bytes.data());
      continue;
    }
    const Buffer& b = at >= 0 ? launch->inputs[at] : launch->outputs[-2 - at];
    addresses[i] = b.present() ? b.data : nullptr;
    parameters[i] = &addresses[i];
  }
  return device_->launch(function_, geometry_, parameters.data(), op_.data());
}

}  // namespace

std::unique_ptr<DeviceKernel> cuda_kernel(CudaKernelDesc desc, const Schema& schema) {
  return std::make_unique<CudaKernel>(std::move(desc), schema);
}

}  // namespace thunder::kernels

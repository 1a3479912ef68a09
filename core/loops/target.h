// The interface of a target, which runs loop nests on one kind of device. docs/fusion.md says what an implementation
// must guarantee.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/symbolic/formulas.h"
#include "loops/region.h"
#include "program/kernel.h"

namespace thunder::loops {

// The size from which on a sum over rows is accumulated in row order, with an accumulator in memory for each column,
// instead of a few columns at a time. Code that depends on such sums reads the rows again. By default never.
struct RowOrderSums {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  int64_t rows = kNever;  // the least number of rows
  int64_t elements = kNever;  // the least number of elements, if each row begins at a cache line
  int64_t unaligned = kNever;  // the same, if rows do not
  int64_t line = 16;  // elements of a cache line
};

// The size limit of a tensor on the CPU that a kernel on another device gets by value: a number, or the random state.
constexpr size_t kHostScalarBytes = 16;

// The limits of one kernel on a device.
struct Capabilities {
  size_t max_nodes = 96;  // a kernel is compiled as a whole
  size_t max_arguments = 384;  // tensors that a kernel reads and writes
  size_t max_concatenated = 8;  // operands of one concatenation: each has code of its own
  size_t max_slices = 16;  // of a kernel's axes: each interval has code of its own
  bool column_sums = true;  // sums over the outer axes beside values of each row (OutputKind::column)
  bool scans = true;  // Fn::cumsum
  bool integer_divisions = false;  // Fn::div and Fn::fmod of integers, whose divisors of zero it reports
  bool any_extrema = false;  // amax and amin of any dtype, rather than of reals and i64
  size_t recomputed_instructions = 4;  // of an element, that take less time than to store it and to read it again
  bool host_scalars = false;  // it can read small tensors on the CPU (LoweredRegion::on_host)
  RowOrderSums row_order_sums = {};
};

// Makes launchers of one piece of code for the sizes for which scheduling decides alike. One thread at a time.
class LauncherOfClass {
 public:
  virtual ~LauncherOfClass() = default;
  // `values`: of the formulas that Target::of_class() added.
  virtual KernelPtr launcher_for(std::shared_ptr<const std::vector<int64_t>> values) const = 0;
};

// There is one target for each kind of device. Any thread may call any of its functions, several at a time.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;      // "cpu"
  virtual int32_t device_kind() const = 0;        // thunder::kind of the devices that it runs on
  virtual const Capabilities& capabilities() const = 0;
  // Whether kernels can be compiled here; the first call may look for a compiler. If not, `why` says why.
  virtual bool available(std::string* why = nullptr) const = 0;
  // A region ready to run, compiled for the layouts that it was given, or being compiled by another thread until it is
  // finished; kernels of several programs may be this one. Throws Error if that fails. If region.tiles is set, it runs
  // tiles if the target can do that with this region, otherwise the whole region. Requires: available(); the region
  // keeps to the capabilities.
  virtual KernelPtr launcher(LoweredRegion region) const = 0;
  // Launchers of the code of `first` for a class of sizes. `region`: that of `first`, with formulas that have the sizes
  // of `first` as their values at hand; what is asked of them is noted (DimReads). Null: each is made anew.
  virtual std::unique_ptr<const LauncherOfClass> of_class(const LoweredRegionOf<Size>& /*region*/,
                                                          const Kernel& /*first*/, Formulas& /*formulas*/) const {
    return nullptr;
  }
  // The region after each stage of its lowering, as text.
  virtual std::string explain(const LoweredRegion&) const { return ""; }
};

class Targets {
 public:
  // Adds a target: at most one for each kind of device.
  void add(std::unique_ptr<const Target> target) { all_.push_back(std::move(target)); }
  // Null: no target runs on such a device.
  const Target* find(Device device) const {
    for (auto& t : all_)
      if (t->device_kind() == kind(device)) return t.get();
    return nullptr;
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<std::unique_ptr<const Target>> all_;
};

}  // namespace thunder::loops

// What runs loop nests on one kind of device: the interface that a target implements, and all that fusion asks of it.
// docs/fusion.md says what an implementation has to keep to.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loops/region.h"
#include "program/launch.h"

namespace thunder::loops {

// From where on a sum over rows goes over them as they lie in memory, with an accumulator in memory for each column,
// instead of down a few columns at a time: then what needs the sums goes over the rows once more. By default never.
struct RowOrderSums {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  int64_t rows = kNever;            // at least so many
  int64_t elements = kNever;        // at least so many, where each row begins with a line of the cache
  int64_t unaligned = kNever;       // and where it does not
  int64_t line = 16;                // elements of a line

  bool better(int64_t n_rows, int64_t row_elements, int64_t all) const {
    return n_rows >= rows && all >= (row_elements % line ? unaligned : elements);
  }
};

// The most that a tensor on the CPU takes which a kernel elsewhere is given by value: a number, or the random state.
constexpr size_t kHostScalarBytes = 16;

// What may become one kernel on a device.
struct Capabilities {
  size_t max_lines = 96;       // a kernel is compiled as a whole
  size_t max_arguments = 384;  // tensors that a kernel reads and writes
  size_t max_joined = 8;       // operands that one concatenation has: each has code of its own
  size_t max_cuts = 16;        // parts that the axes of a kernel are cut into: code is made for each
  bool column_sums = true;     // sums over the outer axes beside what is computed for each row (OutputKind::column)
  bool scans = true;           // sums that run along an axis (Fn::cumsum)
  bool host_scalars = false;   // it reads small tensors that lie on the CPU (LoweredRegion::on_host)
  RowOrderSums row_order_sums = {};
};

// A region ready to run, with the layouts that it was made for. Any thread, several at a time.
class Launcher {
 public:
  virtual ~Launcher() = default;
  // Of Launch::scratch, which each run has for itself.
  virtual size_t scratch_bytes() const { return 0; }
  // Null, or an owned status. Neither throws nor allocates.
  virtual Status* run(const Launch& launch) const = 0;
  // Whether it runs part by part (run_tile), behind the step that makes LoweredRegion::tiles.
  virtual bool runs_tiles() const { return false; }
  // The same as run for a part of the region. Requires: runs_tiles().
  virtual void run_tile(const Launch&, const Tile&) const {}
};

// One for each kind of device. Any thread may call any of its functions, several at a time.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;      // "cpu"
  virtual int32_t device_kind() const = 0;        // thunder::kind of the devices that it runs on
  virtual const Capabilities& capabilities() const = 0;
  // Whether it can make launchers here; may look for its compiler at the first call. If not, `why` says what was tried.
  virtual bool available(std::string* why = nullptr) const = 0;
  // Compiles. Throws Error where that fails. Where region.tiles is set the launcher runs part by part if the target can do that with
  // this region, else as a whole. Requires: available(); the region keeps to the capabilities.
  virtual std::unique_ptr<Launcher> launcher(LoweredRegion region) const = 0;
  // The stages of the region's lowering, as text to read.
  virtual std::string explain(const LoweredRegion&) const { return ""; }
};

class Targets {
 public:
  // At most one for each kind of device.
  void add(std::unique_ptr<const Target> target) { all_.push_back(std::move(target)); }
  // Null: none runs on such a device.
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

// A CUDA device: its context, the one stream on which the library's work runs, its memory and its kernels.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "device/exchange.h"
#include "device/cuda/cubins.h"
#include "device/cuda/loans.h"
#include "device/cuda/memory.h"
#include "device/cuda/staging.h"

namespace thunder::nvidia {

using Properties = DeviceFacts;

// Blocks of a launch, threads of a block, bytes of shared memory beside those that the kernel declares. Along x, but
// for the last members.
struct Geometry {
  unsigned blocks = 1, threads = 1, shared_bytes = 0;
  unsigned blocks_y = 1, blocks_z = 1, threads_y = 1, threads_z = 1;
};

// An index out of range. A kernel writes the first one that it meets to host memory, and goes on with element 0.
struct DeviceAssertion {
  int64_t expr = -1;  // of whatever the kernel checks, by its own numbers; -1: none
  int64_t index = 0;
};
using Explain = std::function<Ref<Status>(const DeviceAssertion&)>;

class CudaDevice final : public Accelerator, public Exchange {
 public:
  // `threads`: as many compile kernels at a time. Throws unimplemented when there is no driver or no such device,
  // naming what was tried; backend when it cannot be used.
  static Ref<CudaDevice> open(int32_t index, size_t threads);
  ~CudaDevice() override;

  std::string describe() const override;
  DeviceFacts facts() const override { return properties_; }
  Status* free_memory(size_t& free, size_t& total) const override;
  Status* failure() const override;
  Status* copy_in(void* to, const void* from, size_t bytes) override;
  Status* copy_out(void* to, const void* from, size_t bytes) override;
  Status* copy(const StridedBytes& from, const StridedBytes& to, size_t item) override;
  Status* fill_with_zeros(void* to, size_t bytes) override;
  void* native_stream() const override { return stream(); }
  void borrow_from(const std::optional<BlockLender>& lender) override;
  Status* wait_for(void* stream) override;
  Status* make_stream_wait(void* stream) override;
  Status* synchronize_stream(void* stream) override;
  Status* query(void* stream, bool& done) override;
  std::unique_ptr<DeviceEvent> event(bool timed) override;
  void expect_stall(bool expected) override { stalls_ += expected ? 1 : -1; }
  void fail_next_wait(Ref<Status> why) override;
  void give_back(const Storage* of, void (*end)(void*), void* user) override;
  void note_lender_stream(const Storage* what, void* stream) override {
    loans_.follow(what, static_cast<Stream>(stream));
  }
  void take_back(void* stream) override;
  Status* wait() override;
  std::unique_ptr<Recording> recording() override;
  MemoryStatistics memory() const override { return pool_.statistics(); }
  void reset_peak_memory() override { pool_.reset_peaks(); }
  Status* trim_memory() override;

  const Driver& driver() const { return driver_; }
  const Properties& properties() const { return properties_; }
  // Makes the device's context the calling thread's. Null, or why the device has failed.
  Status* enter() const;

  // Begins to compile this CUDA C++ text in another thread: function() will be asked for it. Any thread.
  void begin_compiling(const KernelSource& source);
  // The function of that name in this CUDA C++ text: compiled once for the device, and kept on disk. Throws with the
  // compiler's log. Any thread.
  Function function(const KernelSource& source, const char* name);
  // The function of that name in a PTX text or in machine code (a cubin or fatbin). Throws where the driver refuses it.
  Function function_of_image(const std::string& image, const char* name);
  // Lets the function be launched with so many bytes of dynamic shared memory. Throws where it cannot have them.
  void allow_shared_memory(Function function, unsigned bytes);
  // `what` names the kernel in errors.
  Status* launch(Function function, const Geometry& geometry, void** parameters, const char* what);

  // Host memory for the reports of a kernel, which gets its address as a parameter. If the next wait or copy_out finds
  // a report there, it returns the status that `explain` makes of it. Throws out_of_memory.
  DeviceAssertion* watch(Explain explain);
  void unwatch(DeviceAssertion* place);

  Status* fill_with_ones(float* to, size_t elements);

  // The driver's result as a status, null for success; a result that loses the context makes every later use of the
  // device fail.
  Status* status(int result, const char* what) const;

 private:
  CudaDevice(int32_t index, const Driver& driver, int device, Properties properties, Context context, size_t threads);
  void* allocate(size_t bytes) override;
  void deallocate(void* block, size_t bytes) override;
  Status* look_until_idle();
  Status* take_failed_assertion();
  // The stream of this thread's recording, if there is one; otherwise the device's. Not for launches of kernels.
  Stream stream() const;
  struct Kernel {
    std::mutex mutex;
    std::atomic<Module> module = nullptr;
    std::map<std::string, Function, std::less<>> functions;
  };
  Kernel& kernel(const std::string& key);
  // The function of that name in the module, which `image` gives when it is first needed.
  template <class F>
  Function find_or_load_function(Kernel& kernel, const char* name, F&& image);
  void* borrow(const BlockLender& lender, size_t bytes);
  bool give_back_block(const void* block);
  Status* order(Stream first, Stream then);
  bool is_captured(Stream stream) const;
  enum class CopyKernel : uint8_t { short_index, long_index, transpose };
  Function copy_kernel(size_t kind, CopyKernel how);

  const Driver& driver_;
  const int device_;
  const Context context_;
  Properties properties_;
  Stream stream_ = nullptr;
  std::mutex event_mutex_;
  Event event_ = nullptr;
  MemoryPool pool_;
  struct Lent {
    BlockLender from;
    void* block;
    Stream stream;
  };
  std::mutex lent_mutex_;
  std::optional<BlockLender> lender_;
  std::unordered_map<const void*, Lent> lent_;  // blocks of lenders that are in use
  Staging staging_;
  Loans loans_;

  std::atomic<int> stalls_{0};  // that are expected
  mutable std::mutex failed_mutex_;
  mutable Ref<Status> failed_;  // once the context is lost
  mutable std::atomic<bool> has_failed_{false};

  Cubins cubins_;
  std::mutex kernels_mutex_;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels_;  // by what they are made of
  std::atomic<Function> copies_[6][3] = {};  // by the kind of elements, and CopyKernel

  std::mutex watched_mutex_;
  struct Watched {
    DeviceAssertion* place;
    Explain explain;  // empty: nobody's
    bool ended = false;  // nobody's once the device is idle: a kernel that still runs may report to it
  };
  std::vector<Watched> watched_;
  std::vector<DeviceAssertion*> pages_;  // of host memory that the device writes
};

}  // namespace thunder::nvidia

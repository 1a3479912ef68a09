#include "device/cuda/device.h"

#include <array>
#include <atomic>
#include <bit>

#include "base/text.h"
#include "device/cuda/recording.h"

namespace thunder::nvidia {
namespace {

Pointer pointer(const void* p) { return reinterpret_cast<Pointer>(p); }

void must(const Driver& driver, int result, int32_t index, const char* what) {
  if (result) fail(Code::backend, "cuda:", index, ": ", what, ": ", text_of(driver, result));
}

Properties read_properties(const Driver& driver, int device, int32_t index) {
  Properties p;
  char name[256] = "";
  must(driver, driver.device_name(name, sizeof name, device), index, "cuDeviceGetName");
  p.name = name;
  const auto attribute = [&](Attribute which) {
    int value = 0;
    must(driver, driver.device_attribute(&value, which, device), index, "cuDeviceGetAttribute");
    return value;
  };
  p.major = attribute(kMajor), p.minor = attribute(kMinor), p.multiprocessors = attribute(kMultiprocessors);
  p.l2_bytes = static_cast<size_t>(attribute(kL2Bytes)),
  p.shared_bytes_of_block = static_cast<size_t>(attribute(kSharedBytesOfBlock));
  must(driver, driver.device_bytes(&p.bytes, device), index, "cuDeviceTotalMem");
  return p;
}

}  // namespace

Ref<CudaDevice> CudaDevice::open(int32_t index, size_t threads) {
  std::string why;
  const Driver* driver = Driver::open(why);
  if (!driver) fail(Code::unimplemented, "there is no device cuda:", index, " here: ", why);
  int count = 0, device = 0;
  if (const int failed = driver->device_count(&count))
    fail(Code::unimplemented, "there is no device cuda:", index, " here: ", text_of(*driver, failed));
  if (index >= count)
    fail(Code::unimplemented, "there is no device cuda:", index, " here; the driver knows of ", count);
  must(*driver, driver->device_get(&device, index), index, "cuDeviceGet");
  Properties properties = read_properties(*driver, device, index);
  Context context = nullptr;
  must(*driver, driver->primary_retain(&context, device), index, "cuDevicePrimaryCtxRetain");
  return Ref<CudaDevice>::adopt(new CudaDevice(index, *driver, device, std::move(properties), context, threads));
}

CudaDevice::CudaDevice(int32_t index, const Driver& driver, int device, Properties properties, Context context,
                       size_t threads)
    : Accelerator(cuda(index)),
      driver_(driver),
      device_(device),
      context_(context),
      properties_(std::move(properties)),
      pool_(driver),
      staging_(driver),
      loans_(driver),
      cubins_(properties_.major, properties_.minor, threads) {
  try {
    must(driver, driver.set_current(context), index, "cuCtxSetCurrent");
    must(driver, driver.stream_create(&stream_, kBlockingStream), index, "cuStreamCreate");
    must(driver, driver.event_create(&event_, kEventWithoutTime), index, "cuEventCreate");
  } catch (...) {
    if (stream_) driver.stream_destroy(stream_);
    driver.primary_release(device);
    throw;
  }
}

// If the context is lost, everything here fails except the release of the context.
CudaDevice::~CudaDevice() {
  driver_.set_current(context_);
  driver_.stream_wait(stream_);
  loans_.settle_all();
  staging_.close();
  for (auto& [text, kernel] : kernels_)
    if (kernel->module) driver_.module_unload(kernel->module);
  for (DeviceAssertion* page : pages_) driver_.deallocate_host(page);
  pool_.trim();
  driver_.event_destroy(event_);
  driver_.stream_destroy(stream_);
  driver_.primary_release(device_);
}

std::string CudaDevice::describe() const {
  return cat(properties_.name, ", ", properties_.bytes >> 20, " MiB, compute capability ", properties_.major, ".",
             properties_.minor, ", ", properties_.multiprocessors, " multiprocessors");
}

Status* CudaDevice::status(int result, const char* what) const {
  if (result == kSuccess) return nullptr;
  if (result == kOutOfMemory)
    return make<Status>(Code::out_of_memory, cat(name(id()), ": ", what, ": out of memory")).detach();
  Ref<Status> failed = make<Status>(Code::backend, cat(name(id()), ": ", what, ": ", text_of(driver_, result)));
  if (is_sticky(result)) {
    std::lock_guard lock(failed_mutex_);
    if (!failed_)
      failed_ = make<Status>(Code::backend, failed->message() + "; the device cannot be used any more by this process");
    has_failed_ = true;
  }
  return failed.detach();
}

Status* CudaDevice::failure() const {
  if (!has_failed_.load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard lock(failed_mutex_);
  return Ref<Status>(failed_).detach();
}

Status* CudaDevice::enter() const {
  if (Status* failed = failure()) return failed;
  return status(driver_.set_current(context_), "cuCtxSetCurrent");
}

Stream CudaDevice::stream() const {
  CudaRecording* const recording = CudaRecording::active(*this);
  return recording ? recording->stream() : stream_;
}

std::unique_ptr<Recording> CudaDevice::recording() { return std::make_unique<CudaRecording>(*this); }

// Memory that is allocated while work is recorded could belong to another tensor when that work is launched.
void* CudaDevice::allocate(size_t bytes) {
  if (CudaRecording::active(*this)) return nullptr;
  if (Status* failed = enter()) return failed->release(), nullptr;
  std::optional<BlockLender> lender;
  {
    std::lock_guard lock(lent_mutex_);
    lender = lender_;
  }
  if (lender) return borrow(*lender, bytes);
  int result = 0;
  const Pointer block = pool_.allocate(bytes, result);
  if (Status* failed = result == kOutOfMemory ? nullptr : status(result, "cuMemAlloc")) failed->release();
  return reinterpret_cast<void*>(block);
}

Status* CudaDevice::trim_memory() {
  if (Status* failed = enter()) return failed;
  loans_.settle();
  pool_.trim();
  return nullptr;
}

void CudaDevice::deallocate(void* block, size_t bytes) {
  if (Status* failed = enter()) failed->release();
  if (!give_back_block(block)) pool_.deallocate(pointer(block), bytes);
}

Status* CudaDevice::copy_in(void* to, const void* from, size_t bytes) {
  if (!bytes) return nullptr;
  if (CudaRecording* r = CudaRecording::active(*this)) return r->refuse("a copy from host memory");
  if (Status* failed = enter()) return failed;
  // Pageable memory is unknown to the driver, which has read it before it returns; pinned memory is read later.
  unsigned type = 0;
  int attribute = kMemoryType;
  void* out[] = {&type};
  const bool pageable = driver_.pointer_attributes(1, &attribute, out, pointer(from)) || type == 0;
  if (pageable && bytes >= Staging::kLeast)
    return status(staging_.copy_in(pointer(to), from, bytes, stream_), "copying to the device");
  if (Status* failed = status(driver_.copy_in(pointer(to), from, bytes, stream_), "cuMemcpyHtoDAsync")) return failed;
  return pageable ? nullptr : status(driver_.stream_wait(stream_), "copying to the device");
}

Status* CudaDevice::copy_out(void* to, const void* from, size_t bytes) {
  if (CudaRecording* r = CudaRecording::active(*this)) return r->refuse("a copy to host memory");
  if (Status* failed = enter()) return failed;
  if (Status* failed = look_until_idle()) return failed;
  if (bytes)
    if (Status* failed = status(driver_.copy_out(to, pointer(from), bytes, stream_), "cuMemcpyDtoHAsync"))
      return failed;
  return wait();
}

Status* CudaDevice::fill_with_zeros(void* to, size_t bytes) {
  if (!bytes) return nullptr;
  if (Status* failed = enter()) return failed;
  return status(driver_.set_bytes(pointer(to), 0, bytes, stream()), "cuMemsetD8Async");
}

Status* CudaDevice::fill_with_ones(float* to, size_t elements) {
  if (!elements) return nullptr;
  if (Status* failed = enter()) return failed;
  return status(driver_.set_words(pointer(to), std::bit_cast<unsigned>(1.0F), elements, stream()), "cuMemsetD32Async");
}

Status* CudaDevice::wait() {
  if (CudaRecording* r = CudaRecording::active(*this)) return r->refuse("waiting for the device");
  if (Status* failed = enter()) return failed;
  if (Status* failed = look_until_idle()) return failed;
  if (Status* failed = status(driver_.stream_wait(stream_), "work on the device")) return failed;
  loans_.settle();
  return take_failed_assertion();
}

Status* CudaDevice::launch(Function function, const Geometry& g, void** parameters, const char* what) {
  if (Status* failed = enter()) return failed;
  if (CudaRecording* r = CudaRecording::active(*this)) [[unlikely]]
    return r->kernel(function, g, parameters, what);
  return status(driver_.launch(function, g.blocks, g.blocks_y, g.blocks_z, g.threads, g.threads_y, g.threads_z,
                               g.shared_bytes, stream_, parameters, nullptr),
                what);
}

CudaDevice::Kernel& CudaDevice::kernel(const std::string& key) {
  std::lock_guard lock(kernels_mutex_);
  auto& slot = kernels_[key];
  if (!slot) slot = std::make_unique<Kernel>();
  return *slot;
}

void CudaDevice::begin_compiling(const KernelSource& source) {
  if (!kernel(source.key()).module.load(std::memory_order_relaxed)) cubins_.begin(source);
}

template <class F>
Function CudaDevice::find_or_load_function(Kernel& kernel, const char* name, F&& image) {
  std::lock_guard lock(kernel.mutex);  // one lock a kernel, so that different texts compile in parallel
  if (const auto found = kernel.functions.find(name); found != kernel.functions.end()) return found->second;
  const auto need = [&](int result, const char* what) {
    if (Status* failed = status(result, what)) throw Error(Ref<Status>::adopt(failed));
  };
  if (Status* failed = enter()) throw Error(Ref<Status>::adopt(failed));
  if (!kernel.module) {
    Module module = nullptr;
    need(driver_.module_load(&module, image().c_str()), "cuModuleLoadData");
    kernel.module = module;
  }
  Function function = nullptr;
  need(driver_.module_function(&function, kernel.module, name), "cuModuleGetFunction");
  kernel.functions.emplace(name, function);
  return function;
}

Function CudaDevice::function(const KernelSource& source, const char* name) {
  return find_or_load_function(kernel(source.key()), name, [&] { return cubins_.get(source); });
}

Function CudaDevice::function_of_image(const std::string& image, const char* name) {
  return find_or_load_function(kernel(image), name, [&]() -> const std::string& { return image; });
}

void CudaDevice::allow_shared_memory(Function function, unsigned bytes) {
  constexpr unsigned kAlways = 48 << 10;  // available to every kernel without asking
  if (bytes <= kAlways) return;
  Status* failed = enter();
  if (!failed)
    failed = status(driver_.function_set(function, kMaxDynamicSharedBytes, static_cast<int>(bytes)),
                    "cuFuncSetAttribute");
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

}  // namespace thunder::nvidia

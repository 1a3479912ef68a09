// Sessions of NVIDIA's libraries, one for each device of a context, and executors whose kernels they make.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/text.h"
#include "device/cuda/device.h"
#include "device/devices.h"
#include "executors/executor.h"

namespace thunder::nvidia {

// Owns a library's handle.
template <class Handle>
class OwnedHandle {
 public:
  OwnedHandle() = default;
  ~OwnedHandle() {
    if (handle_) destroy_(handle_);
  }
  OwnedHandle(const OwnedHandle&) = delete;

  // For the library to fill in.
  Handle* out_pointer(int (*destroy)(Handle)) {
    destroy_ = destroy;
    return &handle_;
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  int (*destroy_)(Handle) = nullptr;
};

// The base of all sessions. Sessions enters the device while it makes and while it destroys one.
template <class L>
class LibrarySession {
 public:
  using Library = L;
  LibrarySession(const Library& library, CudaDevice& device) : library_(library), device_(device) {
    if (Status* failed = device.enter()) throw Error(Ref<Status>::adopt(failed));
  }
  LibrarySession(const LibrarySession&) = delete;

  const Library& library() const { return library_; }
  CudaDevice& device() const { return device_; }
  // Null for success.
  Status* status(int result, const char* what) const {
    if (!result) return nullptr;
    Code code = Code::backend;
    std::string how = cat(" failed with status ", result);
    if constexpr (requires { library_.error_text(result); }) {
      code = Library::code_of(result);
      how = cat(" failed: ", library_.error_text(result));
    }
    return make<Status>(code, cat(name(device_.id()), ": ", what, how)).detach();
  }
  void require(int result, const char* what) const {
    if (Status* failed = status(result, what)) throw Error(Ref<Status>::adopt(failed));
  }

 private:
  const Library& library_;
  CudaDevice& device_;
};

// Sessions of a library with the devices of a context: Session(const Session::Library&, CudaDevice&).
template <class Session>
class Sessions {
 public:
  // The devices must live as long. `name`: of the library, in errors.
  Sessions(Devices& devices, const char* name) : devices_(devices), name_(name) {}
  ~Sessions() {
    for (auto& [id, entry] : opened_) {
      if (!entry.session) continue;
      // Handles are destroyed in the device's context; those of a lost device cannot be destroyed.
      if (Status* failed = entry.session->device().enter()) failed->release();
      entry.session.reset();
    }
  }
  Sessions(const Sessions&) = delete;

  // Throws where the device or the library is missing. Lives as long as this. Any thread.
  Session& session_of(Device device) {
    std::lock_guard lock(mutex_);
    Entry& entry = opened_[device];
    if (entry.session) return *entry.session;
    std::string why;
    const auto* library = Session::Library::open(why);
    if (!library) fail(Code::unimplemented, name_, ": ", why);
    entry.device = Ref<Accelerator>(&devices_.accelerator(device));
    entry.session = std::make_unique<Session>(*library, static_cast<CudaDevice&>(*entry.device));
    return *entry.session;
  }

  // That of a node's device, in an executor's `prepare`.
  static Session& session_of(const NodeView& view, void* user) {
    return static_cast<Sessions*>(user)->session_of(view.store.type(view.node.results[0]).device);
  }

  // The descriptor of an executor whose user data are sessions of its own.
  static ExecutorDesc executor(Devices& devices, const char* name, ExecutorDesc described) {
    const auto sessions = std::make_shared<Sessions>(devices, name);
    described.any_device = true;
    described.user = sessions.get();
    described.owner = sessions;
    return described;
  }

 private:
  struct Entry {
    Ref<Accelerator> device;
    std::unique_ptr<Session> session;
  };
  Devices& devices_;
  const char* const name_;
  std::mutex mutex_;
  std::map<Device, Entry> opened_;
};

}  // namespace thunder::nvidia

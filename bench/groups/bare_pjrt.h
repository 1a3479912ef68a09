// XLA driven bare: a PJRT plugin through its own interface, on memory that does not move.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "executors/openxla/abi.h"

namespace bench::pjrt {

using namespace thunder::openxla;

inline const PjrtApi* api = nullptr;
inline PjrtClient* client = nullptr;
inline PjrtDevice* device = nullptr;

template <class A>
void call(Place place, A& args) {
  PjrtError* const failed = reinterpret_cast<PjrtError* (*)(A*)>(const_cast<void*>(api->functions[place]))(&args);
  if (!failed) return;
  MessageArgs message;
  message.error = failed;
  reinterpret_cast<void (*)(MessageArgs*)>(const_cast<void*>(api->functions[kErrorMessage]))(&message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.message_size), message.message);
  std::exit(1);
}

// A module whose result lies in the memory of its last argument. What stays is made once: buffers over the inputs.
class Bare {
 public:
  explicit Bare(const std::string& module) {
    constexpr char kOnePartition[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};
    ProgramArgs program;
    program.code = module.data(), program.code_size = module.size(), program.format = "mlir", program.format_size = 4;
    CompileArgs args;
    args.client = client, args.program = &program, args.options = kOnePartition, args.options_size = sizeof kOnePartition;
    call(kCompile, args);
    executable_ = args.executable;
  }
  void bind(float* data, const std::vector<int64_t>& shape) { arguments_.push_back(over(data, shape, Semantics::immutable_zero_copy)); }
  void result(float* data, const std::vector<int64_t>& shape) { data_ = data, shape_ = shape, arguments_.push_back(nullptr); }
  void run() {
    arguments_.back() = over(data_, shape_, Semantics::mutable_zero_copy);
    ExecuteOptions options;
    PjrtBuffer *made = nullptr, **const results = &made, *const* const arguments = arguments_.data();
    EventArgs complete;
    ExecuteArgs args;
    args.executable = executable_, args.options = &options, args.arguments = &arguments;
    args.argument_count = arguments_.size(), args.results = &results, args.complete = &complete.event;
    call(kExecute, args);
    call(kEventAwait, complete);
    call(kEventDestroy, complete);
    for (PjrtBuffer* const b : {made, arguments_.back()}) {
      BufferArgs buffer;
      buffer.buffer = b;
      call(kBufferDestroy, buffer);
    }
  }

 private:
  static PjrtBuffer* over(float* data, const std::vector<int64_t>& shape, Semantics semantics) {
    constexpr int kF32 = 11;
    FromHostArgs args;
    args.client = client, args.device = device, args.data = data, args.type = kF32, args.dims = shape.data(), args.rank = shape.size();
    args.semantics = semantics;
    call(kBufferFromHost, args);
    EventArgs done;
    done.event = args.done;
    call(kEventDestroy, done);
    return args.buffer;
  }

  PjrtExecutable* executable_ = nullptr;
  std::vector<PjrtBuffer*> arguments_;
  float* data_ = nullptr;
  std::vector<int64_t> shape_;
};

inline bool opens() {
  const char* file = std::getenv("THUNDER_PJRT_PLUGIN");
  void* library = dlopen(file ? file : "xla_cpu_pjrt.so", RTLD_LAZY | RTLD_LOCAL);
  auto get = library ? reinterpret_cast<const PjrtApi* (*)()>(dlsym(library, "GetPjrtApi")) : nullptr;
  if (!get) {
    std::fprintf(stderr, "engines: no PJRT plugin: bench/setup-peers openxla installs it, or THUNDER_PJRT_PLUGIN names its file\n");
    return false;
  }
  api = get();
  InitializeArgs initialize;
  call(kPluginInitialize, initialize);
  ClientCreateArgs create;
  call(kClientCreate, create);
  client = create.client;
  AddressableDevicesArgs devices;
  devices.client = client;
  call(kAddressableDevices, devices);
  device = devices.devices[0];
  return true;
}

}  // namespace bench::pjrt

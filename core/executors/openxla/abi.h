// The little of the PJRT C API (version 0) that is used, declared by hand: pjrt_c_api.h is a table of functions and
// structs of arguments that only grow at their ends while its major version stays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thunder::openxla {

struct PjrtError;
struct PjrtEvent;
struct PjrtClient;
struct PjrtDevice;
struct PjrtMemory;
struct PjrtBuffer;
struct PjrtExecutable;

constexpr int kMajorVersion = 0;
// The first minor version whose structs have the sizes of those below; a plugin refuses shorter ones than its own.
constexpr int kMinorVersion = 70;

struct PjrtApi {
  size_t size;
  void* extensions;
  struct {
    size_t size;
    void* extensions;
    int major, minor;
  } version;
  const void* functions[1];  // as many as `size` says
};

// Places in the table.
enum Place : size_t {
  kErrorDestroy = 0,
  kErrorMessage = 1,
  kPluginInitialize = 3,
  kPluginAttributes = 4,
  kEventDestroy = 5,
  kEventAwait = 8,
  kClientCreate = 10,
  kPlatformName = 12,
  kAddressableDevices = 16,
  kCompile = 20,
  kBufferFromHost = 22,
  kExecutableDestroy = 50,
  kExecute = 55,
  kBufferDestroy = 58,
  kBufferToHost = 70,
  kBufferAddress = 73,
};

// Each structure begins with its own size, from which a plugin knows how many of its members exist.
template <class Self>
struct Args {
  size_t size = sizeof(Self);
  void* extensions = nullptr;
};

struct ErrorArgs : Args<ErrorArgs> {
  PjrtError* error = nullptr;
};
struct MessageArgs : Args<MessageArgs> {
  const PjrtError* error = nullptr;
  const char* message = nullptr;  // out
  size_t message_size = 0;
};
struct InitializeArgs : Args<InitializeArgs> {};
struct NamedValue : Args<NamedValue> {
  const char* name;
  size_t name_size;
  int type;
  union {
    const char* text;
    int64_t integer;
    const int64_t* integers;
  };
  size_t value_size;
};
constexpr int kTextValue = 0, kIntegerListValue = 2;
struct AttributesArgs : Args<AttributesArgs> {
  const NamedValue* attributes = nullptr;  // out
  size_t count = 0;
};
struct EventArgs : Args<EventArgs> {
  PjrtEvent* event = nullptr;
};
struct ClientCreateArgs : Args<ClientCreateArgs> {
  const void* options = nullptr;
  size_t option_count = 0;
  void *get = nullptr, *get_user = nullptr, *put = nullptr, *put_user = nullptr;
  PjrtClient* client = nullptr;  // out
  void *try_get = nullptr, *try_get_user = nullptr;
};
struct PlatformNameArgs : Args<PlatformNameArgs> {
  PjrtClient* client = nullptr;
  const char* name = nullptr;  // out
  size_t name_size = 0;
};
struct AddressableDevicesArgs : Args<AddressableDevicesArgs> {
  PjrtClient* client = nullptr;
  PjrtDevice* const* devices = nullptr;  // out
  size_t count = 0;
};
struct ProgramArgs : Args<ProgramArgs> {
  const char* code = nullptr;
  size_t code_size = 0;
  const char* format = nullptr;
  size_t format_size = 0;
};
struct CompileArgs : Args<CompileArgs> {
  PjrtClient* client = nullptr;
  const ProgramArgs* program = nullptr;
  const char* options = nullptr;
  size_t options_size = 0;
  PjrtExecutable* executable = nullptr;  // out
};
struct ExecutableArgs : Args<ExecutableArgs> {
  PjrtExecutable* executable = nullptr;
};

enum class Semantics : int {
  immutable_only_during_call,
  immutable_until_transferred,
  immutable_zero_copy,
  mutable_zero_copy
};
struct FromHostArgs : Args<FromHostArgs> {
  PjrtClient* client = nullptr;
  const void* data = nullptr;
  int type = 0;
  const int64_t* dims = nullptr;
  size_t rank = 0;
  const int64_t* byte_strides = nullptr;
  size_t stride_count = 0;
  Semantics semantics = Semantics::immutable_only_during_call;
  PjrtDevice* device = nullptr;
  PjrtMemory* memory = nullptr;
  void* layout = nullptr;
  PjrtEvent* done = nullptr;     // out
  PjrtBuffer* buffer = nullptr;  // out
};
struct BufferArgs : Args<BufferArgs> {
  PjrtBuffer* buffer = nullptr;
};
struct AddressArgs : Args<AddressArgs> {
  PjrtBuffer* buffer = nullptr;
  uintptr_t address = 0;  // out
};
struct ToHostArgs : Args<ToHostArgs> {
  PjrtBuffer* buffer = nullptr;
  void* layout = nullptr;
  void* data = nullptr;
  size_t bytes = 0;
  PjrtEvent* event = nullptr;  // out
};
struct ExecuteOptions : Args<ExecuteOptions> {
  void *send = nullptr, *receive = nullptr;
  size_t send_count = 0, receive_count = 0;
  int launch = 0;
  const int64_t* not_donated = nullptr;
  size_t not_donated_count = 0;
  void* context = nullptr;
  const char* call_location = nullptr;
  size_t task_count = 0;
  int* tasks = nullptr;
  int64_t* incarnations = nullptr;
};
struct ExecuteArgs : Args<ExecuteArgs> {
  PjrtExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  PjrtBuffer* const* const* arguments = nullptr;  // by device
  size_t device_count = 1;
  size_t argument_count = 0;
  PjrtBuffer** const* results = nullptr;  // by device
  PjrtEvent** complete = nullptr;         // by device
  PjrtDevice* device = nullptr;
};

}  // namespace thunder::openxla

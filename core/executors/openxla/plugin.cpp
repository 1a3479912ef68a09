#include "executors/openxla/plugin.h"

#include <array>
#include <string_view>

#include "base/text.h"

namespace thunder::openxla {
namespace {

constexpr std::array kNames = {"xla_cpu_pjrt.so", "libpjrt_c_api_cpu_plugin.so", "pjrt_c_api_cpu_plugin.so"};
constexpr LibrarySearch kSearch{.variable = "THUNDER_PJRT_PLUGIN", .names = kNames};

}  // namespace

std::string Plugin::message_of(PjrtError* failed) const {
  MessageArgs message;
  message.error = failed;
  call(kErrorMessage, message);
  std::string text(message.message, message.message_size);
  ErrorArgs args;
  args.error = failed;
  call(kErrorDestroy, args);
  return text;
}

void Plugin::check(PjrtError* failed) const {
  if (failed) fail(Code::declined, "OpenXLA: ", message_of(failed));
}

PjrtError* Plugin::wait(PjrtEvent* event) const {
  EventArgs args;
  args.event = event;
  PjrtError* const failed = call(kEventAwait, args);
  release(event);
  return failed;
}
void Plugin::release(PjrtEvent* event) const {
  EventArgs args;
  args.event = event;
  call(kEventDestroy, args);
}
void Plugin::release(PjrtBuffer* buffer) const {
  BufferArgs args;
  args.buffer = buffer;
  call(kBufferDestroy, args);
}
void Plugin::release(PjrtExecutable* executable) const {
  ExecutableArgs args;
  args.executable = executable;
  call(kExecutableDestroy, args);
}

std::string Plugin::stablehlo_version() const {
  AttributesArgs args;
  if (PjrtError* failed = call(kPluginAttributes, args)) return cat("unknown: ", message_of(failed));
  for (size_t i = 0; i < args.count; i++) {
    const NamedValue& value = args.attributes[i];
    if (std::string_view(value.name, value.name_size) == "stablehlo_current_version" && value.type == kIntegerListValue)
      return join(std::span(value.integers, value.value_size), ".", [](int64_t n) { return cat(n); });
  }
  return "unknown";
}

std::string Plugin::start(const SharedLibrary& library) {
  const PjrtApi* (*get)() = nullptr;
  if (!library.find("GetPjrtApi", get)) fail(Code::declined, "it is no PJRT plugin: it exports no GetPjrtApi");
  api_ = get();
  const int major = api_->version.major, minor = api_->version.minor;
  if (major != kMajorVersion || minor < kMinorVersion)
    fail(Code::declined, "it has PJRT ", major, ".", minor, "; ", kMajorVersion, ".", kMinorVersion,
         " or newer is needed");
  InitializeArgs initialize;
  check(call(kPluginInitialize, initialize));
  ClientCreateArgs create;
  check(call(kClientCreate, create));
  client_ = create.client;
  PlatformNameArgs platform;
  platform.client = client_;
  check(call(kPlatformName, platform));
  const std::string_view name(platform.name, platform.name_size);
  on_host_ = name == "cpu";
  AddressableDevicesArgs devices;
  devices.client = client_;
  check(call(kAddressableDevices, devices));
  if (!devices.count) fail(Code::declined, "OpenXLA: the plugin has no device");
  device_ = devices.devices[0];
  return cat("PJRT ", major, ".", minor, ", StableHLO ", stablehlo_version(), ", platform ", name);
}

const Plugin* Plugin::open(std::string& found, std::string_view file) {
  static OneEngine<Plugin> engine;
  return engine.open([](std::string_view of) { return find_library(kSearch, of); }, file, found);
}

}  // namespace thunder::openxla

// A PJRT plugin, opened when it is first asked for, for the rest of the process: a compiler of XLA and one device.
#pragma once

#include <string>

#include "executors/one_engine.h"
#include "executors/openxla/abi.h"

namespace thunder::openxla {

class Plugin {
 public:
  // See OneEngine.
  static const Plugin* open(std::string& found, std::string_view file = {});

  // Throws Code::declined with the plugin's message if it reports an error, and releases the report.
  void check(PjrtError* failed) const;
  std::string message_of(PjrtError* failed) const;  // releases it

  PjrtClient* client() const { return client_; }
  PjrtDevice* device() const { return device_; }
  // Whether its device's memory is the host's, so that nothing is copied.
  bool is_on_host() const { return on_host_; }

  template <class A>
  PjrtError* call(Place place, A& args) const {
    return reinterpret_cast<PjrtError* (*)(A*)>(const_cast<void*>(api_->functions[place]))(&args);
  }
  // Waits for the event and releases it. Null, or an owned error.
  PjrtError* wait(PjrtEvent* event) const;
  void release(PjrtEvent* event) const;
  void release(PjrtBuffer* buffer) const;
  void release(PjrtExecutable* executable) const;

 private:
  friend class OneEngine<Plugin>;
  std::string start(const SharedLibrary& library);
  std::string stablehlo_version() const;

  const PjrtApi* api_ = nullptr;
  PjrtClient* client_ = nullptr;
  PjrtDevice* device_ = nullptr;
  bool on_host_ = false;
};

}  // namespace thunder::openxla

// NVIDIA's libraries as tables of functions, each opened once in a process, and sessions of them, one for each device.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/shared_library.h"
#include "base/text.h"
#include "device/cuda/device.h"
#include "device/devices.h"

namespace thunder::nvidia {

// Of NVIDIA's libraries, whose versions are numbers like 130002: "13.0.2".
inline std::string version_text(size_t version) {
  return cat(version / 10000, ".", version % 10000 / 100, ".", version % 100);
}

// A library that is one. `Table`: its functions.
template <class Table>
class OpenedTable {
 public:
  // `resolve`: fills the table, and returns the name of a function that the library lacks, or null. `version`: as text.
  OpenedTable(const LibrarySearch& search, const char* (*resolve)(const SharedLibrary&, Table&),
              std::string (*version)(const Table&)) {
    const SharedLibrary file(search);
    why_ = file.report();
    if (!file.opened()) return;
    if (const char* missing = resolve(file, table_)) {
      why_ = cat(file.path(), " has no ", missing);
      return;
    }
    report_ = cat(file.path(), ", ", version(table_));
  }

  // Null: `why` says what was tried.
  const Table* open(std::string& why) const {
    why = why_;
    return report_.empty() ? nullptr : &table_;
  }
  // The file and its version; empty where it could not be opened.
  const std::string& report() const { return report_; }

 private:
  Table table_;
  std::string report_, why_;
};

// Sessions of a library with the devices of a context: Session(const Session::Library&, CudaDevice&).
template <class Session>
class Sessions {
 public:
  // The devices must live as long. `name`: of the library, in errors.
  Sessions(Devices& devices, const char* name) : devices_(devices), name_(name) {}
  ~Sessions() {
    for (auto& [device, entry] : opened_) entry.session.reset();
  }
  Sessions(const Sessions&) = delete;

  // Throws where the device or the library is missing. Lives as long as this. Any thread.
  Session& of(Device device) {
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

#include "scale/nccl/rendezvous.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "scale/mpi/mpi.h"

namespace thunder::scale::nccl {
namespace {

class Alone : public Rendezvous {
 public:
  explicit Alone(const Library& library) : library_(library) {}
  bool step(UniqueId& id) override { return library_.check(library_.unique_id(&id), "ncclGetUniqueId", nullptr), true; }

 private:
  const Library& library_;
};

// NCCL meets at an address by itself where this variable names it, while the id is made and the first rank begins to
// open its communicator: the host's other libraries must not find it afterwards.
class ByAddress : public Rendezvous {
 public:
  ByAddress(const Library& library, std::string address) : library_(library), address_(std::move(address)) {}
  ~ByAddress() override { begun(); }
  bool step(UniqueId& id) override {
    set_ = !std::getenv(kVariable);
    if (set_) ::setenv(kVariable, address_.c_str(), 0);
    library_.check(library_.unique_id(&id), "ncclGetUniqueId", nullptr);
    return true;
  }
  void begun() override {
    if (std::exchange(set_, false)) ::unsetenv(kVariable);
  }

  static constexpr const char* kVariable = "NCCL_COMM_ID";

 private:
  const Library& library_;
  const std::string address_;
  bool set_ = false;
};

// Rank 0 writes the id to a file of the folder, and removes it when all ranks have joined.
class ByFolder : public Rendezvous {
 public:
  ByFolder(const Library& library, const std::string& folder, bool writes)
      : library_(library), file_(std::filesystem::path(folder) / "nccl-id"), writes_(writes) {
    if (!std::filesystem::is_directory(folder))
      fail(Code::not_found, "nccl: the folder '", folder, "', by which ranks find each other, is not there");
    if (writes_ && std::filesystem::exists(file_))
      fail(Code::failed_precondition, "nccl: ", file_.string(), " is there already, left by processes that did not ",
           "join: remove it, or name a folder that this start has for itself");
  }
  ~ByFolder() override { end(); }

  bool step(UniqueId& id) override {
    if (!writes_) return read(id);
    library_.check(library_.unique_id(&id), "ncclGetUniqueId", nullptr);
    const std::filesystem::path whole = file_.string() + ".part";
    std::ofstream(whole, std::ios::binary).write(id.bytes, sizeof id.bytes);
    std::error_code failed;
    std::filesystem::rename(whole, file_, failed);
    if (failed) fail(Code::backend, "nccl: ", file_.string(), " could not be written: ", failed.message());
    return written_ = true;
  }
  void end() override {
    std::error_code ignored;
    if (std::exchange(written_, false)) std::filesystem::remove(file_, ignored);
  }

 private:
  bool read(UniqueId& id) const {
    std::ifstream in(file_, std::ios::binary);
    return in.read(id.bytes, sizeof id.bytes).good();
  }

  const Library& library_;
  const std::filesystem::path file_;
  const bool writes_;
  bool written_ = false;
};

class ByMpi : public Rendezvous {
 public:
  ByMpi(const Library& library, const ProcessPlace& place) : library_(library), group_(open(place)) {}
  Group* beside() override { return group_.get(); }
  bool step(UniqueId& id) override {
    if (!begun_) {
      if (group_->rank() == 0) library_.check(library_.unique_id(&id_), "ncclGetUniqueId", nullptr);
      request_ = group_->begin({.what = Collective::broadcast, .out = &id_, .count = sizeof id_});
      begun_ = true;
    }
    if (!group_->test(request_)) return false;
    return id = id_, true;
  }

 private:
  static std::unique_ptr<Group> open(const ProcessPlace& place) {
    try {
      return mpi_engine()->open(place, {});
    } catch (const Error& e) {
      fail(e.code(), "nccl: processes find each other by MPI, by torchrun's MASTER_ADDR and MASTER_PORT, by ",
           "NCCL_COMM_ID (host:port) or by the option folder (one that all hosts share): ", e.message());
    }
  }

  const Library& library_;
  const std::unique_ptr<Group> group_;
  UniqueId id_{};
  uint64_t request_ = 0;
  bool begun_ = false;
};

// torchrun's own store is at MASTER_PORT; the port behind it is ours. "": no launcher says an address.
std::string address_of_launcher() {
  if (const char* set = std::getenv(ByAddress::kVariable)) return set;
  const char *host = std::getenv("MASTER_ADDR"), *port = std::getenv("MASTER_PORT");
  if (!host || !port) return "";
  int number = 0;
  const char* end = port + std::strlen(port);
  const auto [stop, error] = std::from_chars(port, end, number);
  require(error == std::errc() && stop == end && number > 0 && number < 65535, "the variable MASTER_PORT is '", port,
          "', which is no port with another one behind it");
  return cat(host, ":", number + 1);
}

}  // namespace

std::unique_ptr<Rendezvous> make_rendezvous(const Library& library, const ProcessPlace& place, const JoinOptions& how) {
  if (!how.folder.empty()) return std::make_unique<ByFolder>(library, how.folder, place.rank == 0);
  if (place.ranks == 1) return std::make_unique<Alone>(library);
  if (const std::string address = address_of_launcher(); !address.empty())
    return std::make_unique<ByAddress>(library, address);
  return std::make_unique<ByMpi>(library, place);
}

}  // namespace thunder::scale::nccl

#include "scale/nccl/nccl.h"

#include <cstdlib>

#include "base/text.h"
#include "scale/mpi/mpi.h"
#include "scale/nccl/group.h"

namespace thunder::scale {
namespace {

using nccl::Comm;
using nccl::Library;

class NcclEngine : public Engine {
 public:
  explicit NcclEngine(Devices& devices) : devices_(devices) {}
  std::string name() const override { return "nccl"; }
  std::string description() const override { return Library::report(); }
  void give_up() override { mpi_engine()->give_up(); }

  std::unique_ptr<Group> open(const ProcessPlace& place, const JoinOptions& how) override {
    // Collectives by NVLink's multicast are not supported yet; the program's own word is kept.
    ::setenv("NCCL_NVLS_ENABLE", "0", 0);
    const Library& library = Library::open();
    if (how.communicator) return join(library, reinterpret_cast<Comm>(how.communicator));
    return std::make_unique<nccl::NcclGroup>(library, open_device(own_device(place)), place.rank, place.ranks,
                                             make_rendezvous(library, place, how));
  }

 private:
  // A launcher may show a process its own device alone, which is then the first.
  Device own_device(const ProcessPlace& place) {
    const Device own = cuda(static_cast<int32_t>(place.local_rank));
    return devices_.absence(own).empty() ? own : cuda(0);
  }
  Ref<nvidia::CudaDevice> open_device(Device device) {
    return Ref<nvidia::CudaDevice>(static_cast<nvidia::CudaDevice*>(&devices_.accelerator(device)));
  }

  // The ranks of the host's communicator, by one of our own: it can be given up, and the host's stays whole.
  std::unique_ptr<Group> join(const Library& library, Comm host) {
    int rank = 0, ranks = 0, device = 0;
    library.check(library.rank(host, &rank), "ncclCommUserRank", host);
    library.check(library.count(host, &ranks), "ncclCommCount", host);
    library.check(library.device(host, &device), "ncclCommCuDevice", host);
    return std::make_unique<nccl::NcclGroup>(library, open_device(cuda(device)), rank, ranks, host, 0, true);
  }

  Devices& devices_;
};

}  // namespace

std::shared_ptr<Engine> nccl_engine(Devices& devices) {
  return std::make_shared<NcclEngine>(devices);
}

}  // namespace thunder::scale

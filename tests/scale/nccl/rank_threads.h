// What tests of the engine of GPUs share: worlds whose ranks are threads of this process, and the stand-in for NCCL.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "scale/nccl/nccl.h"
#include "scale/world.h"
#include "support/fake_cuda/control.h"
#include "support/functions.h"
#include "support/thread_engine.h"
#include "tensor/transfer.h"

namespace thunder::test {

// The stand-in, if it is what this process uses.
struct FakeNccl {
  decltype(&fake_nccl_late) late = nullptr;
  decltype(&fake_nccl_never) never = nullptr;
  decltype(&fake_nccl_complaints) complaints = nullptr;
  decltype(&fake_nccl_communicators) communicators = nullptr;
  decltype(&fake_nccl_launches) launches = nullptr;
  decltype(&fake_cuda_fail_at) fail_at = nullptr;
  decltype(&fake_cuda_counts) counts = nullptr;
  decltype(&fake_cuda_lazy) lazy = nullptr;
  void* library = nullptr;

  FakeNccl() {
    const char *nccl = ::getenv("THUNDER_NCCL"), *driver = ::getenv("THUNDER_CUDA_DRIVER");
    if (!nccl || !driver) return;
    library = ::dlopen(nccl, RTLD_NOW);
    void* const cuda = ::dlopen(driver, RTLD_NOW);
    const auto find = [](void* in, const char* name, auto& f) { f = reinterpret_cast<std::decay_t<decltype(f)>>(::dlsym(in, name)); };
    find(library, "fake_nccl_late", late), find(library, "fake_nccl_never", never);
    find(library, "fake_nccl_complaints", complaints), find(library, "fake_nccl_communicators", communicators);
    find(library, "fake_nccl_launches", launches);
    find(cuda, "fake_cuda_fail_at", fail_at), find(cuda, "fake_cuda_counts", counts), find(cuda, "fake_cuda_lazy", lazy);
  }
  bool is_there() const { return late && fail_at; }
};

// A folder by which the ranks of one world find each other.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "thunder-ranks-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A rank in a thread: a context of its own, and its world.
struct Rank {
  Ref<Context> context = seeded_context();
  std::shared_ptr<scale::World> world;

  Rank(const std::string& folder, int64_t rank, int64_t ranks, double timeout = 20) {
    scale::WorldOptions options;
    options.timeout = timeout, options.join.folder = folder;
    world = std::make_shared<scale::World>(scale::nccl_engine(context->devices()),
                                           scale::ProcessPlace{"a test", rank, ranks, rank}, options);
  }
  Ref<Tensor> floats(const Floats& data, Device device = cuda(0)) const {
    TensorType type;
    type.dtype = DType::f32, type.shape = {static_cast<int64_t>(data.size())};
    const Ref<Tensor> t = Tensor::empty(default_allocator(), type);
    std::copy(data.begin(), data.end(), reinterpret_cast<float*>(t->data()));
    return moved(t, context->devices(), device);
  }
  static Floats data(const Ref<Tensor>& t) { return CompiledTest::data(*on_host(t, default_allocator())); }
  // The result, of so many elements, of a collective.
  Floats run(Collective what, std::string_view axis, const Ref<Tensor>& in, size_t elements, int64_t root = 0,
             RankReduction reduction = RankReduction::sum) const {
    const Ref<Tensor> out = floats(Floats(elements), in->type().device);
    scale::World& w = *world;
    CollectiveCall call{what, axis, w.size(axis), reduction, root, in->buffer(), out->buffer()};
    if (in->type().device != Device::cpu) call.device = &context->devices().accelerator(in->type().device);
    if (Status* failed = w.run(call)) throw Error(Ref<Status>::adopt(failed));
    return data(out);
  }
  // By a ppermute of the world.
  Floats pass(const Ref<Tensor>& in, const std::vector<Dim>& sources, const std::vector<Dim>& targets) const {
    const Ref<Tensor> out = floats(Floats(static_cast<size_t>(in->buffer().elements()), -1), in->type().device);
    CollectiveCall call{Collective::ppermute, "world", world->size("world"), RankReduction::sum, 0, in->buffer(), out->buffer()};
    call.sources = sources, call.targets = targets;
    if (in->type().device != Device::cpu) call.device = &context->devices().accelerator(in->type().device);
    if (Status* failed = world->run(call)) throw Error(Ref<Status>::adopt(failed));
    return data(out);
  }
  Floats all_reduce(const Floats& x, std::string_view axis = "world", Device device = cuda(0)) const {
    return run(Collective::all_reduce, axis, floats(x, device), x.size());
  }
};

}  // namespace thunder::test

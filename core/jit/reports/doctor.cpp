#include "jit/reports/doctor.h"

#include <algorithm>
#include <cmath>

#include "base/blob_store.h"
#include "base/text.h"
#include "device/cuda/compiler.h"
#include "executors/cuda/cublaslt/library.h"
#include "executors/cuda/cudnn/library.h"
#include "executors/cuda/cusolver/library.h"
#include "executors/cpu/products/onednn.h"
#include "jit/call.h"
#include "jit/reports/limits.h"
#include "loops/cuda/target.h"
#include "loops/kernels.h"
#include "scale/mpi/abi.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

using State = Finding::State;
State works_if(bool is) { return is ? State::works : State::missing; }

Finding check_instructions(const Machine& m) {
  std::string text = name(m.instructions);
  if (m.bf16_dot_products) text += ", dot products of bf16";
  if (m.tile_registers) text += ", tiles of bf16 (AMX)";
  const bool holds = m.instructions != Instructions::none;
  return {"instructions", holds ? text : "none that kernels are written for (AVX2, AVX-512, NEON)", works_if(holds)};
}

Finding check_threads(const Machine& m) { return {"threads", cat(m.threads)}; }

Finding check_caches(const Machine& m) {
  const auto kib = [](size_t bytes) { return bytes ? cat(bytes >> 10, " KiB") : std::string("not known"); };
  return {"caches", cat("L1 ", kib(m.l1), ", L2 ", kib(m.l2), ", last level ", kib(m.last_level), ", lines of ", m.line,
                        " bytes, pages of ", m.page)};
}

Finding measure_speed(Context& context) {
  const MachineLimits limits = measure_limits(context);
  const auto rounded = [](double v) { return std::round(v * 10) / 10; };
  if (!limits.trouble.empty()) return {"speed", cat("not measured: ", limits.trouble), State::fails};
  return {"speed", cat(rounded(limits.gflops), " GFLOP/s in a product of float32 matrices, ", rounded(limits.gbytes),
                       " GB/s of memory, measured now")};
}

Finding check_llvm() {
  std::string why;
  const bool holds = loops::can_compile(&why);
  return {"LLVM", holds ? loops::compiler() : cat("missing, so nothing is fused or compiled to machine code: ", why),
          works_if(holds)};
}

Finding check_onednn(const Machine& m) {
  std::string found;
  const bool holds = Library::open(Library::names(), m, found) != nullptr;
  return {"oneDNN", holds ? found : cat("missing, so large products of float32 run in kernels of our own: ", found),
          works_if(holds)};
}

Finding check_mpi() {
  try {
    const scale::mpi::Library library = scale::mpi::open_library("");
    return {"MPI", cat(library.version, ", ", library.file)};
  } catch (const Error& e) {
    return {"MPI", cat("missing, so a mesh has one rank: ", e.message()), State::missing};
  }
}

// NVIDIA's libraries, each with its file and version or every name that was tried, and the devices that the driver
// knows of.
void add_cuda(Context& context, std::vector<Finding>& all) {
  std::string why;
  const nvidia::Driver* driver = nvidia::Driver::open(why);
  all.push_back({"CUDA driver", driver ? nvidia::Driver::report() : why, works_if(driver)});
  const nvidia::Compiler* compiler = nvidia::Compiler::open(why);
  all.push_back({"NVRTC", compiler ? compiler->report() : why, works_if(compiler)});
  const bool products = cublaslt::Library::open(why);
  all.push_back({"cuBLASLt", products ? cublaslt::Library::report() : why, works_if(products)});
  const bool convolutions = cudnn::Library::open(why);
  all.push_back({"cuDNN", convolutions ? cudnn::Library::report() : why, works_if(convolutions)});
  const bool solves = cusolver::Library::open(why);
  all.push_back({"cuSOLVER", solves ? cusolver::Library::report() : why, works_if(solves)});
  int count = 0;
  if (driver && driver->device_count(&count)) count = 0;
  for (int i = 0; i < count; i++) {
    const std::string absence = context.devices().absence(cuda(i));
    all.push_back({name(cuda(i)), absence.empty() ? context.devices().accelerator(cuda(i)).describe() : absence,
                   works_if(absence.empty())});
  }
}

Finding check_cache_folder() {
  const std::string folder = BlobStore::default_folder();
  if (folder.empty())
    return {"cache", "none: THUNDER_CACHE_DIR says so, or no home is known; each process compiles anew",
            State::missing};
  const std::string trouble = BlobStore(folder).why_unusable();
  return {"cache",
          trouble.empty() ? cat(folder, ", writable by this user alone")
                          : cat(folder, ": ", trouble, "; each process compiles anew"),
          works_if(trouble.empty())};
}

void add_executors(Context& context, std::vector<Finding>& all) {
  std::string names, why;
  const bool fuses = loops::can_compile(&why) ||
                     (loops::cuda_target(context.devices())->available() && context.devices().absence(cuda(0)).empty());
  for (const std::string& name : context.executor_names())
    if (name != "fusion" || fuses) names += cat(names.empty() ? "" : ", ", name);
  all.push_back({"executors", names});
  for (const auto& [name, missing] : context.missing_executors()) all.push_back({name, missing, State::missing});
  if (!why.empty()) all.push_back({fuses ? "fusion on cpu" : "fusion", why, State::missing});
}

// exp(a b) + a, which is one kernel where lines are fused.
struct Formula : Function {
  Formula() : Function("exp(a * b) + a") {}
  Ref<Status> call(Scope& s, const Values& in, Values& out) override {
    const auto op = [&s](std::string_view name, std::vector<Any> args) {
      return s.invoke(name, args, nullptr, nullptr, 0, nullptr);
    };
    const Any a = Any::tensor(in[0].tensor.get()), b = Any::tensor(in[1].tensor.get());
    out.push(Ref<Tensor>(op("add", {Any::tensor(op("exp", {Any::tensor(op("mul", {a, b}))})), a})));
    return {};
  }
};

Ref<Tensor> make_ramp(Context& context, int64_t count, float step) {
  TensorType type;
  type.dtype = DType::f32;
  type.shape = {count};
  Ref<Tensor> made = Tensor::empty(context.allocator(), type);
  for (int64_t i = 0; i < count; i++) reinterpret_cast<float*>(made->data())[i] = step * static_cast<float>(i);
  return made;
}

// Runs a formula, and returns what is wrong with its values; "": nothing.
std::string run_formula(Context& context, Device device, std::string& executor) {
  constexpr int64_t kCount = 1000;
  const Ref<Compiled> f = make<Compiled>(Ref<Context>(&context), Ref<Function>::adopt(new Formula), nullptr);
  const Ref<Tensor> a = make_ramp(context, kCount, 1e-3f), b = make_ramp(context, kCount, 2e-3f);
  const Ref<Tensor> there[] = {moved(a, context.devices(), device), moved(b, context.devices(), device)};
  Tensor* in[] = {there[0].get(), there[1].get()};
  Tensor* out = nullptr;
  if (Status* failed = f->call_tensors(in, 2, &out, 1)) return Ref<Status>::adopt(failed)->message();
  const Ref<Tensor> result = on_host(Ref<Tensor>::adopt(out), context.allocator());
  executor = f->reports().traces().back().nodes.back()->executor;
  const auto at = [](const Ref<Tensor>& t, int64_t i) { return double{reinterpret_cast<const float*>(t->data())[i]}; };
  for (int64_t i = 0; i < kCount; i++) {
    const double wanted = std::exp(at(a, i) * at(b, i)) + at(a, i);
    if (!(std::abs(at(result, i) - wanted) <= 1e-5 * wanted))
      return cat("element ", i, " is ", at(result, i), ", not ", wanted);
  }
  return "";
}

Finding check_kernel(Context& context, Device device) {
  std::string executor, wrong;
  try {
    wrong = run_formula(context, device, executor);
  } catch (const Error& e) {
    wrong = e.message();
  }
  const std::string title = device == Device::cpu ? "kernel" : cat("kernel on ", name(device));
  if (!wrong.empty()) return {title, cat("exp(a * b) + a fails: ", wrong), State::fails};
  const bool fused = executor == "fusion";
  return {title,
          cat("exp(a * b) + a gives the right values, ",
              fused ? "as one fused kernel" : cat("line by line, by ", executor)),
          works_if(fused)};
}

}  // namespace

std::vector<Finding> examine(Context& context) {
  const Machine& m = context.machine();
  std::vector<Finding> all = {{"processor", m.processor}, check_instructions(m), check_caches(m),
                              check_threads(m),           check_llvm(),          check_onednn(m),
                              check_cache_folder()};
  all.push_back(check_mpi());
  add_cuda(context, all);
  add_executors(context, all);
  all.push_back(check_kernel(context, Device::cpu));
  if (context.devices().absence(cuda(0)).empty()) all.push_back(check_kernel(context, cuda(0)));
  all.push_back(measure_speed(context));
  return all;
}

}  // namespace thunder

#include "executors/tvm/library.h"

#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/status.h"
#include "base/temporary_folder.h"
#include "tensor/dlpack.h"

namespace thunder::tvm {
namespace {

size_t bytes_of(const Buffer& b) {
  return static_cast<size_t>(b.elements()) * size_of(b.dtype);
}

struct FreeAligned {
  void operator()(void* memory) const { std::free(memory); }
};
using Aligned = std::unique_ptr<void, FreeAligned>;

// Releases a value of TVM when it is destroyed.
class Owned {
 public:
  Owned(const Runtime& tvm, const Value& value) : tvm_(tvm), value_(value) {}
  ~Owned() {
    if (value_.type >= kFirstObject) tvm_.release(value_.object);
  }
  Owned(const Owned&) = delete;
  const Value& value() const { return value_; }

 private:
  const Runtime& tvm_;
  const Value value_;
};

}  // namespace

class Library::Machine {
 public:
  Machine(const Runtime& tvm, Object* library) : tvm_(tvm) {
    const Owned load(tvm, {kFunction, 0, {.object = tvm.function_of(library, "vm_load_executable")}});
    module_ = tvm.call(load.value().object, {}).object;
    const Owned begin(tvm, {kFunction, 0, {.object = tvm.function_of(module_, "vm_initialization")}});
    const Value device[] = {{kInteger, 0, {.integer = kCpu}}, {kInteger, 0, {}}, {kInteger, 0, {kPooledMemory}}};
    tvm.call(begin.value().object, device);
    main_ = tvm.function_of(module_, "main");
  }
  ~Machine() {
    for (const Value& v : arguments_) tvm_.release(v.object);
    tvm_.release(main_), tvm_.release(module_);
  }
  Machine(const Machine&) = delete;

  Value call(std::span<const Buffer> in) {
    if (arguments_.empty()) arguments_.resize(in.size()), addresses_.resize(in.size()), copies_.resize(in.size());
    for (size_t i = 0; i < in.size(); i++) set_argument(i, in[i]);
    return tvm_.call(main_, arguments_);
  }

 private:
  // Tensors that are less aligned than the compiled code expects are copied.
  void set_argument(size_t i, const Buffer& b) {
    void* data = b.data;
    if (reinterpret_cast<uintptr_t>(data) % kAlignment != 0) {
      if (!copies_[i]) {
        const size_t whole = (bytes_of(b) + kAlignment - 1) / kAlignment * kAlignment;
        copies_[i].reset(std::aligned_alloc(kAlignment, whole));
        if (!copies_[i]) fail(Code::out_of_memory, "TVM: no memory for a copy of ", whole, " bytes");
      }
      data = copies_[i].get();
      std::memcpy(data, b.data, bytes_of(b));
    }
    if (arguments_[i].object && addresses_[i] == data) return;
    auto kept = std::make_unique<Kept>();
    kept->shape.assign(b.shape, b.shape + b.rank);
    kept->managed = {{data, {kDLPackCpu, 0}, b.rank, dlpack_type(b.dtype), kept->shape.data(), nullptr, 0},
                     kept.get(),
                     [](DLManagedTensor* self) { delete static_cast<Kept*>(self->manager_ctx); }};
    Object* made = nullptr;
    if (tvm_.functions().tensor_over(&kept->managed, 0, 1, &made) != 0)
      fail(Code::backend, "TVM: ", tvm_.take_error_message());
    (void)kept.release();
    tvm_.release(arguments_[i].object);
    arguments_[i] = {kTensor, 0, {.object = made}}, addresses_[i] = data;
  }
  struct Kept {
    DLManagedTensor managed;
    std::vector<int64_t> shape;
  };

  const Runtime& tvm_;
  Object *module_ = nullptr, *main_ = nullptr;
  std::vector<Value> arguments_;
  std::vector<void*> addresses_;
  std::vector<Aligned> copies_;
};

Library::Library(const Runtime& tvm, const std::string& bytes) : tvm_(tvm) {
  // The loaded code stays mapped after the file is removed.
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/region.so";
  write_file(file, bytes);
  Value argument;
  argument.type = kText, argument.text = file.c_str();
  module_ = tvm.call("ffi.ModuleLoadFromFile", {&argument, 1}).object;
  idle_.give_back(make_machine());  // a library that is none fails here
}

Library::~Library() {
  idle_.clear();
  tvm_.release(module_);
}

std::unique_ptr<Library::Machine> Library::make_machine() const { return std::make_unique<Machine>(tvm_, module_); }

void Library::copy_results(const Value& result, std::span<const Buffer> out) const {
  const bool several = result.type == kArray;
  const auto* array = static_cast<const ArrayObject*>(result.object);
  if (several ? array->size != static_cast<int64_t>(out.size()) : out.size() != 1)
    fail(Code::backend, "TVM: it gave another number of results than ", out.size());
  for (size_t i = 0; i < out.size(); i++) {
    const Value& value = several ? array->values[i] : result;
    if (value.type != kTensor) fail(Code::backend, "TVM: result ", i, " is no tensor");
    const DLTensor& from = static_cast<const TensorObject*>(value.object)->tensor;
    const Buffer& to = out[i];
    const DLDataType want = dlpack_type(to.dtype);
    const bool same = from.dtype.code == want.code && from.dtype.bits == want.bits && from.ndim == to.rank &&
                      std::equal(to.shape, to.shape + to.rank, from.shape);
    if (!same) fail(Code::backend, "TVM: result ", i, " has another dtype or other dims than its model says");
    std::memcpy(to.data, static_cast<const char*>(from.data) + from.byte_offset, bytes_of(to));
  }
}

Status* Library::run(std::span<const Buffer> in, std::span<const Buffer> out) const {
  try {
    std::unique_ptr<Machine> machine = idle_.take([&] { return make_machine(); });
    const Owned result(tvm_, machine->call(in));
    copy_results(result.value(), out);
    idle_.give_back(std::move(machine));
    return nullptr;
  } catch (const Error& e) {
    return make<Status>(e.code(), e.message()).detach();
  }
}

}  // namespace thunder::tvm

// cuDNN 9's graph interface, opened at run time and declared by hand after cudnn_graph.h of 9.19: tensors and operations, and the plan
// that runs them.
#pragma once

#include <array>
#include <cstring>

#include "driver.h"

namespace cudnn {

enum Descriptor { kPointwise = 0, kEngine = 2, kEngineConfig = 3, kHeuristics = 4, kPlan = 5, kDoPointwise = 13, kGraph = 15, kVariantPack = 16, kTensor = 17,
                  kMatmul = 18, kDoMatmul = 19, kReduction = 21, kDoReduction = 22, kDoReshape = 31, kKernelCache = 34 };
enum Type { kHandleType = 0, kDataType = 1, kBoolean = 2, kInt64 = 3, kVoidPointer = 6, kHeuristicsMode = 8, kPointwiseMode = 14,
            kDescriptor = 15, kReductionOperator = 18 };
enum Data { f32 = 0, i32 = 4, bf16 = 9, boolean = 11 };
enum Mode { kAdd = 0, kMul = 1, kDiv = 6, kSub = 9, kExp = 13, kLog = 15, kIdentity = 21, kGreaterEqual = 303, kIndex = 501, kSelect = 601 };
enum Operator { kSum = 0, kMax = 3 };

using Handle = void*;
using Desc = void*;

inline void* library() {
  static void* handle = driver::open({std::getenv("THUNDER_CUDNN"), "libcudnn.so.9"});
  return handle;
}
template <class... A>
int status(const char* name, A... args) {
  return driver::symbol<int (*)(A...)>(library(), name)(args...);
}
template <class... A>
void call(const char* name, A... args) {
  if (const int failed = status(name, args...)) {
    static auto text = driver::symbol<const char* (*)(int)>(library(), "cudnnGetErrorString");
    char last[2000] = "";
    driver::symbol<void (*)(char*, size_t)>(library(), "cudnnGetLastErrorString")(last, sizeof last);
    std::fprintf(stderr, "%s\n", last);
    driver::die(name, text(failed));
  }
}

inline Desc make(Descriptor kind) {
  Desc d = nullptr;
  call("cudnnBackendCreateDescriptor", int{kind}, &d);
  return d;
}
inline void set(Desc d, int attribute, Type type, int64_t count, const void* values) {
  call("cudnnBackendSetAttribute", d, attribute, int{type}, count, values);
}
inline void set_enum(Desc d, int attribute, Type type, int value) { set(d, attribute, type, 1, &value); }
inline void set_desc(Desc d, int attribute, Desc value) { set(d, attribute, kDescriptor, 1, &value); }

using Sizes = std::array<int64_t, 4>;

class Graph {
 public:
  explicit Graph(Handle handle) : handle_(handle) {}
  // Kernels of plans that differ in sizes alone, from cuDNN 9.5 on. A null descriptor is made by the first graph that is given it.
  Graph(Handle handle, Desc* kernels) : handle_(handle), kernels_(kernels) {}

  struct Tensor {
    Desc desc = nullptr;
    int64_t id = 0;
    Sizes sizes{}, strides{};
  };
  // What the caller gives memory for, or, `scalar`, a float on the host.
  Tensor tensor(const Sizes& sizes, const Sizes& strides, Data type) { return add(sizes, strides, type, false, false); }
  Tensor scalar() { return add({1, 1, 1, 1}, {1, 1, 1, 1}, f32, false, true); }
  Tensor between(const Sizes& sizes, const Sizes& strides, Data type = f32) { return add(sizes, strides, type, true, false); }
  Tensor between(const Sizes& s, Data type = f32) { return between(s, {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1}, type); }

  void pointwise(Mode mode, const Tensor& x, const Tensor* b, const Tensor* t, const Tensor& y, Data precision = f32, int64_t axis = -1) {
    const Desc how = make(kPointwise), op = make(kDoPointwise);
    set_enum(how, 0, kPointwiseMode, mode);
    set_enum(how, 1, kDataType, precision);
    if (axis >= 0) set(how, 9, kInt64, 1, &axis);
    finish(how);
    set_desc(op, 750, how), set_desc(op, 751, x.desc), set_desc(op, 753, y.desc);
    if (b) set_desc(op, 752, b->desc);
    if (t) set_desc(op, 758, t->desc);
    push(op);
  }
  void reduce(Operator kind, const Tensor& x, const Tensor& y) {
    const Desc how = make(kReduction), op = make(kDoReduction);
    set_enum(how, 1600, kReductionOperator, kind);
    set_enum(how, 1601, kDataType, f32);
    finish(how);
    set_desc(op, 1610, x.desc), set_desc(op, 1611, y.desc), set_desc(op, 1612, how);
    push(op);
  }
  void matmul(const Tensor& a, const Tensor& b, const Tensor& c) {
    const Desc how = make(kMatmul), op = make(kDoMatmul);
    set_enum(how, 1500, kDataType, f32);
    finish(how);
    set_desc(op, 1520, a.desc), set_desc(op, 1521, b.desc), set_desc(op, 1522, c.desc), set_desc(op, 1523, how);
    push(op);
  }
  void reshape(const Tensor& x, const Tensor& y) {
    const Desc op = make(kDoReshape);
    set_desc(op, 2200, x.desc), set_desc(op, 2201, y.desc);
    push(op);
  }

  // The first plan that heuristics propose and that is supported; false: there is none.
  bool plan() {
    const Desc graph = make(kGraph);
    set(graph, 800, kHandleType, 1, &handle_);
    set(graph, 801, kDescriptor, static_cast<int64_t>(ops_.size()), ops_.data());
    const bool dynamic = kernels_;
    if (dynamic) set(graph, 803, kBoolean, 1, &dynamic);
    if (status("cudnnBackendFinalize", graph)) return false;
    if (dynamic && !*kernels_) {
      *kernels_ = make(kKernelCache);
      set_desc(*kernels_, 2400, graph);
      finish(*kernels_);
    }
    for (const int mode : {3, 2}) {  // A, fallback
      const Desc heuristics = make(kHeuristics);
      set_desc(heuristics, 201, graph);
      set_enum(heuristics, 200, kHeuristicsMode, mode);
      if (status("cudnnBackendFinalize", heuristics)) continue;
      std::array<Desc, 8> configs{};
      for (Desc& c : configs) c = make(kEngineConfig);
      int64_t found = 0;
      call("cudnnBackendGetAttribute", heuristics, 202, int{kDescriptor}, int64_t{8}, &found, configs.data());
      for (int64_t i = 0; i < found; i++) {
        plan_ = make(kPlan);
        set(plan_, 400, kHandleType, 1, &handle_);
        set_desc(plan_, 401, configs[static_cast<size_t>(i)]);
        if (dynamic) set_desc(plan_, 406, *kernels_);
        if (status("cudnnBackendFinalize", plan_)) continue;
        int64_t count = 0;
        call("cudnnBackendGetAttribute", plan_, 402, int{kInt64}, int64_t{1}, &count, &workspace_bytes);
        engine = engine_of(configs[static_cast<size_t>(i)]);
        return true;
      }
    }
    return false;
  }
  int64_t workspace_bytes = 0;
  int64_t engine = -1;  // the library's number of the engine that runs it

  struct Binding {
    const Tensor& tensor;
    void* data;  // device memory, or of a scalar the host's
  };
  void bind(std::initializer_list<Binding> bindings) {
    std::vector<int64_t> ids;
    std::vector<void*> data;
    for (const Binding& b : bindings) ids.push_back(b.tensor.id), data.push_back(b.data);
    void* workspace = reinterpret_cast<void*>(driver::allocate(static_cast<size_t>(workspace_bytes) + 256));
    pack_ = make(kVariantPack);
    set(pack_, 1000, kInt64, static_cast<int64_t>(ids.size()), ids.data());
    set(pack_, 1001, kVoidPointer, static_cast<int64_t>(data.size()), data.data());
    set(pack_, 1003, kVoidPointer, 1, &workspace);
    finish(pack_);
  }
  void run() const { call("cudnnBackendExecute", handle_, plan_, pack_); }

 private:
  static int64_t engine_of(Desc config) {
    Desc found = make(kEngine);
    int64_t count = 0, number = -1;
    call("cudnnBackendGetAttribute", config, 300, int{kDescriptor}, int64_t{1}, &count, &found);
    call("cudnnBackendGetAttribute", found, 1301, int{kInt64}, int64_t{1}, &count, &number);
    return number;
  }
  static void finish(Desc d) { call("cudnnBackendFinalize", d); }
  void push(Desc op) {
    finish(op);
    ops_.push_back(op);
  }
  Tensor add(const Sizes& sizes, const Sizes& strides, Data type, bool is_virtual, bool by_value) {
    Tensor t{make(kTensor), next_++, sizes, strides};
    const int64_t alignment = by_value ? 4 : 16;
    set_enum(t.desc, 901, kDataType, type);
    set(t.desc, 902, kInt64, 4, sizes.data());
    set(t.desc, 903, kInt64, 4, strides.data());
    set(t.desc, 906, kInt64, 1, &t.id);
    set(t.desc, 900, kInt64, 1, &alignment);
    set(t.desc, 907, kBoolean, 1, &is_virtual);
    set(t.desc, 908, kBoolean, 1, &by_value);
    finish(t.desc);
    return t;
  }

  Handle handle_;
  std::vector<Desc> ops_;
  Desc *kernels_ = nullptr;
  Desc plan_ = nullptr, pack_ = nullptr;
  int64_t next_ = 1;
};

}  // namespace cudnn

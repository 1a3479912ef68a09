// A stand-in for cuDNN's graph interface: descriptors as tables of attributes, and plain loops over each operation of a graph.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "control.h"
#include "elements.h"

namespace {

// Of cudnnStatus_t and the enumerations of cudnn_graph.h.
constexpr int kBadParameter = 2000, kNotSupported = 3000, kAllocationFailed = 4007, kExecutionFailed = 5000;
constexpr int kOutOfMemory = 2;  // of the driver
constexpr Codes kCodes{.f64 = 1, .bf16 = 9, .f16 = 2};
constexpr int kConvolution = 1, kHeuristics = 4, kPlan = 5, kForward = 10, kBackwardData = 12, kDoPointwise = 13, kGraph = 15, kPack = 16, kTensor = 17,
              kDoMatmul = 19, kDoReduction = 22, kDoReshape = 31;
constexpr int kTensorCore = 0;  // of cudnnBackendNumericalNote_t

size_t bytes_of_type(int type) { return type == 1 || type == 7 || type == 8 || type == 4 || type == 14 || type == 18 ? 4 : type == 2 ? 1 : 8; }

struct Desc {
  int kind = 0;
  bool finalized = false;
  struct Values {
    int type = 0;
    int64_t count = 0;
    std::vector<std::byte> bytes;
  };
  std::map<int, Values> attributes;

  template <class T>
  std::vector<T> list(int name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> out(found->second.bytes.size() / sizeof(T));
    return std::memcpy(out.data(), found->second.bytes.data(), out.size() * sizeof(T)), out;
  }
  bool has(int name) const { return attributes.count(name) != 0; }
  template <class T>
  T one(int name) const {
    return list<T>(name).at(0);
  }
};

using Index = std::array<int64_t, 4>;

// What a descriptor refers to is copied when it is finalized: callers may drop theirs then.
struct Operand {
  int type = 0;
  int64_t id = 0;
  std::vector<int64_t> sizes, strides;
  std::byte* data = nullptr;  // what the run is given
  bool rounds = false, by_value = false;

  explicit Operand(const Desc& d) : type(d.one<int>(901)), id(d.one<int64_t>(906)), sizes(d.list<int64_t>(902)), strides(d.list<int64_t>(903)), by_value(d.has(908) && d.one<unsigned char>(908) != 0) {}

  // A dim of fewer elements than another operand's stands for several of its: one for all, or a key head for a group.
  int64_t offset(const Index& i, const Index& of) const {
    int64_t at = 0;
    for (size_t d = 0; d < 4; d++) at += i[d] * sizes[d] / of[d] * strides[d];
    return at;
  }
  std::byte* at(const Index& i, const Index& of) const { return data + offset(i, of) * static_cast<int64_t>(kCodes.bytes(type)); }
  double load(const Index& i, const Index& of) const {
    const double value = kCodes.load(at(i, of), type);
    return rounds ? to_tf32(value) : value;
  }
  void store(const Index& i, double value) const { kCodes.store(at(i, shape()), value, type); }
  Index shape() const { return {sizes[0], sizes[1], sizes[2], sizes[3]}; }

  template <class F>
  void each(const F& visit) const {
    Index i{};
    for (i[0] = 0; i[0] < sizes[0]; i[0]++)
      for (i[1] = 0; i[1] < sizes[1]; i[1]++)
        for (i[2] = 0; i[2] < sizes[2]; i[2]++)
          for (i[3] = 0; i[3] < sizes[3]; i[3]++) visit(i);
  }
};

struct Operation {
  int kind;
  std::vector<std::shared_ptr<Operand>> operands;  // the result is the last
  std::vector<int64_t> stride, padding, dilation;  // of a convolution
  int mode = 0;                                    // of a pointwise operation or a reduction
  int64_t axis = 0;

  const Operand& in(size_t i) const { return *operands[i]; }
  const Operand& out() const { return *operands.back(); }

  double pointwise(const Index& i) const {
    const Index of = out().shape();
    const double x = in(0).load(i, of), b = operands.size() > 2 ? in(1).load(i, of) : 0;
    switch (mode) {
      case 0: return x + b;
      case 1: return x * b;
      case 6: return x / b;
      case 9: return x - b;
      case 13: return std::exp(x);
      case 15: return std::log(x);
      case 21: return x;
      case 303: return x >= b;
      case 501: return static_cast<double>(i[static_cast<size_t>(axis)]);
      case 601: return in(2).load(i, of) != 0 ? x : b;
    }
    return NAN;
  }

  void reduce() const {
    out().each([&](const Index& i) { out().store(i, mode == 3 ? -INFINITY : 0); });
    const Index of = in(0).shape();
    in(0).each([&](const Index& i) {
      std::byte* const at = out().at(i, of);
      const double x = in(0).load(i, of), so_far = kCodes.load(at, out().type);
      kCodes.store(at, mode == 3 ? std::max(x, so_far) : x + so_far, out().type);
    });
  }

  void matmul() const {
    const int64_t depth = in(0).sizes[3];
    out().each([&](const Index& i) {
      Index a = i, b = i, of_a = out().shape(), of_b = of_a;
      of_a[3] = of_b[2] = depth;
      double sum = 0;
      for (a[3] = b[2] = 0; a[3] < depth; a[3]++, b[2]++) sum += in(0).load(a, of_a) * in(1).load(b, of_b);
      out().store(i, sum);
    });
  }

  // Elements keep their places in memory.
  void reshape() const {
    std::map<int64_t, double> places;
    const Index of = in(0).shape();
    in(0).each([&](const Index& i) { places[in(0).offset(i, of)] = in(0).load(i, of); });
    out().each([&](const Index& i) { out().store(i, places.at(out().offset(i, out().shape()))); });
  }

  // For each product of the forward convolution: operands are the filter, the image and the forward's result.
  void convolve() const {
    const Operand &filter = in(0), &image = in(1), &result = in(2), &to = kind == kForward ? result : kind == kBackwardData ? image : filter;
    const int64_t channels = filter.sizes[1], groups = image.sizes[1] / channels, outputs = filter.sizes[0] / groups;
    std::map<std::byte*, double> sums;
    to.each([&](const Index& i) { sums[to.at(i, to.shape())] = 0; });
    result.each([&](const Index& r) {
      filter.each([&](const Index& k) {
        const Index from = {r[0], r[1] / outputs * channels + k[1], r[2] * stride[0] - padding[0] + k[2] * dilation[0],
                            r[3] * stride[1] - padding[1] + k[3] * dilation[1]};
        if (k[0] != r[1] || from[2] < 0 || from[3] < 0 || from[2] >= image.sizes[2] || from[3] >= image.sizes[3]) return;
        const auto value = [](const Operand& o, const Index& i) { return o.load(i, o.shape()); };
        if (kind == kForward) sums[to.at(r, to.shape())] += value(image, from) * value(filter, k);
        else if (kind == kBackwardData) sums[to.at(from, to.shape())] += value(result, r) * value(filter, k);
        else sums[to.at(k, to.shape())] += value(result, r) * value(image, from);
      });
    });
    for (const auto& [at, sum] : sums) kCodes.store(at, sum, to.type);
  }

  void run() const {
    if (kind == kDoPointwise) out().each([&](const Index& i) { out().store(i, pointwise(i)); });
    else if (kind == kDoReduction) reduce();
    else if (kind == kDoMatmul) matmul();
    else if (kind == kDoReshape) reshape();
    else convolve();
  }
};

struct Graph {
  std::vector<Operation> operations;
  bool on_tensor_cores = false;

  // What is not given memory lies between operations, in f32 or what it is rounded to.
  void run(const std::map<int64_t, std::byte*>& memory) {
    std::map<int64_t, std::vector<std::byte>> between;
    for (Operation& op : operations)
      for (auto& o : op.operands) {
        const auto given = memory.find(o->id);
        auto& own = between[o->id];
        if (given == memory.end() && own.empty()) {
          int64_t elements = 1;
          for (size_t d = 0; d < 4; d++) elements += (o->sizes[d] - 1) * o->strides[d];
          own.resize(static_cast<size_t>(elements) * 8);
        }
        o->data = given == memory.end() ? own.data() : given->second;
        o->rounds = on_tensor_cores && o->type == 0 && op.kind != kDoPointwise && op.kind != kDoReduction && op.kind != kDoMatmul && op.kind != kDoReshape;
      }
    for (const Operation& op : operations) op.run();
  }
};

struct Handle {
  void* stream = nullptr;
};

// Numbers on the host are read when it is asked for.
struct Execution {
  Graph graph;
  std::map<int64_t, std::byte*> memory;
  std::map<int64_t, float> scalars;

  void keep_scalars() {
    for (const Operation& op : graph.operations)
      for (auto& o : op.operands)
        if (o->by_value) std::memcpy(&scalars[o->id], memory.at(o->id), sizeof(float));
    for (auto& [id, value] : scalars) memory[id] = reinterpret_cast<std::byte*>(&value);
  }
  void run() { graph.run(memory); }
};

// Threads may work on descriptors of their own at the same time.
std::mutex& mutex() {
  static auto* one = new std::mutex;
  return *one;
}
// What an entry point returns that is told to fail.
int told() {
  const int failed = fake_cuda_called();
  return !failed ? 0 : failed == kOutOfMemory ? kAllocationFailed : kExecutionFailed;
}
#define CALL()                                  \
  if (const int failed = told()) return failed; \
  const std::lock_guard lock(mutex())

// By the descriptor of a graph, its heuristics, configurations, engines and plans; operations by theirs.
std::map<const Desc*, Graph> graphs;
std::map<const Desc*, Operation> operations;

int hand_on(const Desc* from, const Desc* to) {
  const auto found = graphs.find(from);
  if (found == graphs.end()) return kNotSupported;
  return graphs.insert_or_assign(to, found->second), 0;
}

Operation operation(const Desc& d) {
  Operation op{d.kind, {}, {}, {}, {}};
  const auto add = [&](std::initializer_list<int> names) {
    for (const int name : names)
      if (d.has(name)) op.operands.push_back(std::make_shared<Operand>(*d.one<Desc*>(name)));
  };
  if (d.kind == kDoPointwise) {
    const Desc& how = *d.one<Desc*>(750);
    op.mode = how.one<int>(0), op.axis = how.has(9) ? how.one<int64_t>(9) : 0;
    add({751, 752, 758, 753});
  } else if (d.kind == kDoReduction) {
    op.mode = d.one<Desc*>(1612)->one<int>(1600);
    add({1610, 1611});
  } else if (d.kind == kDoMatmul) {
    add({1520, 1521, 1522});
  } else if (d.kind == kDoReshape) {
    add({2200, 2201});
  } else {
    const int first = d.kind == kForward ? 700 : d.kind == kBackwardData ? 706 : 712;
    const Desc& window = *d.one<Desc*>(first + 2);
    op.stride = window.list<int64_t>(103), op.padding = window.list<int64_t>(105), op.dilation = window.list<int64_t>(102);
    add({first + 3, first + 4, first + 5});
  }
  return op;
}

// What tests say of plans.
std::atomic<int64_t> most_elements{0}, runs{0}, plans{0};

bool too_large(const Graph& g) {
  for (const Operation& op : g.operations) {
    const Index of = op.out().shape();
    if (op.kind == kDoMatmul && most_elements && of[0] * of[1] * of[2] * of[3] > most_elements) return true;
  }
  return false;
}

// There is no engine for one query a head.
bool supported(const Graph& g) {
  for (const Operation& op : g.operations)
    if (op.kind == kDoMatmul && op.in(0).sizes[2] == 1) return false;
  return true;
}

}  // namespace

extern "C" {

void fake_cudnn_most_elements(int64_t elements) { most_elements = elements; }
int64_t fake_cudnn_runs() { return runs; }
int64_t fake_cudnn_plans() { return plans; }

size_t cudnnGetVersion() { return 90000; }
int cudnnCreate(Handle** out) {
  CALL();
  return *out = new Handle, 0;
}
int cudnnDestroy(Handle* handle) { return delete handle, 0; }
int cudnnSetStream(Handle* handle, void* stream) {
  CALL();
  return handle->stream = stream, 0;
}
const char* cudnnGetErrorString(int) { return "CUDNN_STATUS_OF_THE_STAND_IN"; }

int cudnnBackendCreateDescriptor(int kind, Desc** out) {
  CALL();
  return *out = new Desc{kind, false, {}}, 0;
}
int cudnnBackendDestroyDescriptor(Desc* d) {
  const std::lock_guard lock(mutex());
  return graphs.erase(d), operations.erase(d), delete d, 0;
}
int cudnnBackendSetAttribute(Desc* d, int name, int type, int64_t count, const void* values) {
  CALL();
  if (d->finalized || !values || count < 1) return kBadParameter;
  const auto* bytes = static_cast<const std::byte*>(values);
  d->attributes[name] = {type, count, {bytes, bytes + static_cast<size_t>(count) * bytes_of_type(type)}};
  return 0;
}

// Heuristics propose an engine whose note says that it runs on tensor cores, and one without notes; both need some workspace.
int cudnnBackendGetAttribute(Desc* d, int name, int, int64_t wanted, int64_t* count, void* values) {
  CALL();
  if (name == 202 && wanted > 1) {
    const auto found = graphs.find(d);
    if (found == graphs.end()) return kBadParameter;
    auto** configs = static_cast<Desc**>(values);
    Graph fast = found->second;
    fast.on_tensor_cores = true;
    graphs.insert_or_assign(configs[0], fast);
    return *count = 2, hand_on(d, configs[1]);
  }
  if (name == 300) return *count = 1, hand_on(d, *static_cast<Desc**>(values));
  if (name == 1303) {
    const auto found = graphs.find(d);
    if (found == graphs.end()) return kBadParameter;
    return *count = found->second.on_tensor_cores, *static_cast<int*>(values) = kTensorCore, 0;
  }
  if (name == 402) return *count = 1, *static_cast<int64_t*>(values) = 1000, 0;
  return kBadParameter;
}

int cudnnBackendFinalize(Desc* d) {
  CALL();
  d->finalized = true;
  if (d->kind == kTensor && (d->list<int64_t>(902).size() != 4 || d->list<int64_t>(903).size() != 4)) return kBadParameter;
  if (d->kind == kConvolution && d->list<int64_t>(104) != d->list<int64_t>(105)) return kNotSupported;
  const bool convolution = d->kind >= kForward && d->kind <= kBackwardData;
  if (convolution || d->kind == kDoPointwise || d->kind == kDoReduction || d->kind == kDoMatmul || d->kind == kDoReshape)
    operations.insert_or_assign(d, operation(*d));
  if (d->kind == kGraph) {
    Graph g;
    for (const Desc* op : d->list<Desc*>(801)) {
      const auto found = operations.find(op);
      if (found == operations.end()) return kBadParameter;
      g.operations.push_back(found->second);
    }
    if (!supported(g)) return kNotSupported;
    graphs.insert_or_assign(d, g);
    return 0;
  }
  if (d->kind == kHeuristics) return hand_on(d->one<Desc*>(201), d);
  if (d->kind == kPlan && too_large(graphs.at(d->one<Desc*>(401)))) return kNotSupported;
  if (d->kind == kPlan) return plans++, hand_on(d->one<Desc*>(401), d);
  return 0;
}

int cudnnBackendExecute(Handle* handle, Desc* plan, Desc* pack) {
  CALL();
  const auto found = graphs.find(plan);
  if (found == graphs.end() || pack->kind != kPack || !pack->finalized) return kBadParameter;
  const auto ids = pack->list<int64_t>(1000);
  const auto pointers = pack->list<std::byte*>(1001);
  runs++;
  auto* execution = new Execution{found->second, {}, {}};
  for (size_t i = 0; i < ids.size(); i++) execution->memory[ids[i]] = pointers[i];
  execution->keep_scalars();
  fake_cuda_enqueue(
      handle->stream, [](void* p) { static_cast<Execution*>(p)->run(); }, [](void* p) { delete static_cast<Execution*>(p); }, execution);
  return 0;
}
}

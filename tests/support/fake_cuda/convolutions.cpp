// A stand-in for cuDNN's graph interface: descriptors as tables of attributes, and plain loops over one convolution.
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "control.h"
#include "elements.h"

namespace {

// Of cudnnStatus_t and the enumerations of cudnn_graph.h.
constexpr int kBadParameter = 2000, kNotSupported = 3000;
constexpr Codes kCodes{.f64 = 1, .bf16 = 9};
constexpr int kConvolution = 1, kHeuristics = 4, kPlan = 5, kForward = 10, kBackwardData = 12, kGraph = 15, kPack = 16, kTensor = 17;

size_t bytes_of_type(int type) { return type == 1 || type == 7 || type == 8 || type == 4 ? 4 : type == 2 ? 1 : 8; }

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
  template <class T>
  T one(int name) const {
    return list<T>(name).at(0);
  }
};

// What a descriptor refers to is copied when it is finalized: callers may drop theirs then.
struct Operand {
  int type = 0;
  int64_t id = 0;
  std::vector<int64_t> sizes, strides;
  std::byte* data = nullptr;

  explicit Operand(const Desc& d) : type(d.one<int>(901)), id(d.one<int64_t>(906)), sizes(d.list<int64_t>(902)), strides(d.list<int64_t>(903)) {}
  std::byte* at(int64_t a, int64_t b, int64_t c, int64_t e) const {
    return data + (a * strides[0] + b * strides[1] + c * strides[2] + e * strides[3]) * static_cast<int64_t>(kCodes.bytes(type));
  }
  double load(const std::byte* p) const { return kCodes.load(p, type); }
  void store(std::byte* p, double value) const { kCodes.store(p, value, type); }
};

struct Convolution {
  int kind;
  Operand filter, image, result;
  std::vector<int64_t> stride, padding, dilation;

  Convolution(int k, const Desc& op, int first)
      : kind(k), filter(*op.one<Desc*>(first + 3)), image(*op.one<Desc*>(first + 4)), result(*op.one<Desc*>(first + 5)) {
    const Desc& window = *op.one<Desc*>(first + 2);
    stride = window.list<int64_t>(103), padding = window.list<int64_t>(105), dilation = window.list<int64_t>(102);
  }

  // Calls visit(image element, filter element, result element) for each product of the forward convolution.
  template <class F>
  void each(const F& visit) const {
    const int64_t channels = filter.sizes[1], outputs = filter.sizes[0], groups = image.sizes[1] / channels;
    for (int64_t n = 0; n < result.sizes[0]; n++)
      for (int64_t k = 0; k < outputs; k++)
        for (int64_t y = 0; y < result.sizes[2]; y++)
          for (int64_t x = 0; x < result.sizes[3]; x++)
            for (int64_t c = 0; c < channels; c++)
              for (int64_t r = 0; r < filter.sizes[2]; r++)
                for (int64_t s = 0; s < filter.sizes[3]; s++) {
                  const int64_t from_y = y * stride[0] - padding[0] + r * dilation[0], from_x = x * stride[1] - padding[1] + s * dilation[1];
                  if (from_y < 0 || from_x < 0 || from_y >= image.sizes[2] || from_x >= image.sizes[3]) continue;
                  visit(image.at(n, k / (outputs / groups) * channels + c, from_y, from_x), filter.at(k, c, r, s), result.at(n, k, y, x));
                }
  }

  void run() const {
    const Operand& out = kind == kForward ? result : kind == kBackwardData ? image : filter;
    std::map<std::byte*, double> sums;
    for (int64_t a = 0; a < out.sizes[0]; a++)
      for (int64_t b = 0; b < out.sizes[1]; b++)
        for (int64_t c = 0; c < out.sizes[2]; c++)
          for (int64_t d = 0; d < out.sizes[3]; d++) sums[out.at(a, b, c, d)] = 0;
    each([&](std::byte* i, std::byte* f, std::byte* r) {
      if (kind == kForward) sums[r] += image.load(i) * filter.load(f);
      else if (kind == kBackwardData) sums[i] += result.load(r) * filter.load(f);
      else sums[f] += result.load(r) * image.load(i);
    });
    for (const auto& [at, sum] : sums) out.store(at, sum);
  }
};

// By the descriptor of the operation, its graph, its heuristics, configurations and plans.
std::map<const Desc*, Convolution> convolutions;

int hand_on(const Desc* from, const Desc* to) {
  const auto found = convolutions.find(from);
  if (found == convolutions.end()) return kNotSupported;
  return convolutions.insert_or_assign(to, found->second), 0;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return 90000; }
int cudnnCreate(void** out) { return *out = new char, 0; }
int cudnnDestroy(void* handle) { return delete static_cast<char*>(handle), 0; }
int cudnnSetStream(void*, void*) { return 0; }
const char* cudnnGetErrorString(int) { return "CUDNN_STATUS_OF_THE_STAND_IN"; }

int cudnnBackendCreateDescriptor(int kind, Desc** out) { return *out = new Desc{kind, false, {}}, 0; }
int cudnnBackendDestroyDescriptor(Desc* d) { return convolutions.erase(d), delete d, 0; }
int cudnnBackendSetAttribute(Desc* d, int name, int type, int64_t count, const void* values) {
  if (d->finalized || !values || count < 1) return kBadParameter;
  const auto* bytes = static_cast<const std::byte*>(values);
  d->attributes[name] = {type, count, {bytes, bytes + static_cast<size_t>(count) * bytes_of_type(type)}};
  return 0;
}

// Heuristics propose one engine; it makes no promise that a note takes back, and needs some workspace.
int cudnnBackendGetAttribute(Desc* d, int name, int, int64_t wanted, int64_t* count, void* values) {
  if (name == 202 && wanted > 0) return *count = 1, hand_on(d, *static_cast<Desc**>(values));
  if (name == 300) return *count = 1, 0;
  if (name == 1303) return *count = 0, 0;
  if (name == 402) return *count = 1, *static_cast<int64_t*>(values) = 1000, 0;
  return kBadParameter;
}

int cudnnBackendFinalize(Desc* d) {
  d->finalized = true;
  if (d->kind == kTensor && (d->list<int64_t>(902).size() != 4 || d->list<int64_t>(903).size() != 4)) return kBadParameter;
  if (d->kind == kConvolution && d->list<int64_t>(104) != d->list<int64_t>(105)) return kNotSupported;
  if (d->kind >= kForward && d->kind <= kBackwardData) {
    const int first = d->kind == kForward ? 700 : d->kind == kBackwardData ? 706 : 712;
    convolutions.insert_or_assign(d, Convolution(d->kind, *d, first));
  }
  if (d->kind == kGraph) return hand_on(d->one<Desc*>(801), d);
  if (d->kind == kHeuristics) return hand_on(d->one<Desc*>(201), d);
  if (d->kind == kPlan) return hand_on(d->one<Desc*>(401), d);
  return 0;
}

int cudnnBackendExecute(void*, Desc* plan, Desc* pack) {
  const auto found = convolutions.find(plan);
  if (found == convolutions.end() || pack->kind != kPack || !pack->finalized) return kBadParameter;
  Convolution c = found->second;
  const auto ids = pack->list<int64_t>(1000);
  const auto pointers = pack->list<std::byte*>(1001);
  for (size_t i = 0; i < ids.size(); i++)
    for (Operand* o : {&c.filter, &c.image, &c.result})
      if (o->id == ids[i]) o->data = pointers[i];
  fake_cuda_reach(1);
  c.run();
  fake_cuda_reach(0);
  return 0;
}
}

// Convolutions as products: a tile of the output at a time, the pixels under each tap are gathered into a matrix.
#include "base/cpu_count.h"
#include "executors/cpu/slots.h"
#include "executors/onednn/columns.h"
#include "executors/onednn/gemm.h"
#include "executors/onednn/site.h"

namespace thunder {
namespace {

constexpr int64_t kColumns = 1 << 18;  // elements of a gathered tile: it stays in the second-level cache
constexpr int64_t kTilePixels = 128;   // of a tile, where the image has as many: fewer make poor products
// The channels of a weight's gradient are cut into so many parts, or fewer of at least so many columns.
constexpr int64_t kWeightParts = 8, kPartColumns = 128;

// Axes [first, first + count) as one: the distance of its elements; -1 if they do not lie like one.
int64_t joined(const Buffer& b, int first, int count) {
  int64_t step = -1, expected = -1;
  for (int i = first + count; i-- > first;) {
    if (b.shape[i] == 1) continue;
    if (step < 0) step = b.strides[i];
    else if (b.strides[i] != expected) return -1;
    expected = b.strides[i] * b.shape[i];
  }
  return step < 0 ? 1 : step;
}

// Cut into tasks that depend on the shapes alone.
class Convolution : public Site {
 public:
  Convolution(const Library& library, const NodeView& view, const Window& window, int64_t rows)
      : w(window), tile(tile_for(window, rows)), library_(library), node_(view.node), rows_(rows) {}

  Status* run(const Launch* launch) const final {
    if (!fits(launch)) return def(node_).reference({{launch->inputs, launch->n_inputs}, {launch->outputs, launch->n_outputs}, node_.args});
    return slots_.run(launch, [&](int64_t index, float* columns) {
      const Library::OneThread one(library_);
      return task(launch, index, columns) ? nullptr : out_of_memory_status();
    });
  }

  void plan(size_t* scratch) {
    slots_ = Slots(tasks(), static_cast<int64_t>(thread_count()), tile * rows_);
    *scratch = slots_.bytes();
  }

 protected:
  virtual int64_t tasks() const = 0;
  // Whether products can be made of operands that lie like this; the reference kernel takes any.
  virtual bool fits(const Launch* launch) const = 0;
  // False: out of memory.
  virtual bool task(const Launch* launch, int64_t index, float* columns) const = 0;

  int64_t tiles() const { return (w.pixels() + tile - 1) / tile; }
  int64_t width(int64_t first) const { return std::min(tile, w.pixels() - first); }
  bool product(const Product& p) const { return multiply(library_, p); }

  const Window w;
  const int64_t tile;  // pixels

 private:
  static int64_t tile_for(const Window& w, int64_t rows) {
    return std::clamp<int64_t>(std::max(kColumns / std::max<int64_t>(1, rows), kTilePixels), 1, std::max<int64_t>(1, w.pixels()));
  }

  const Library& library_;
  const Node& node_;
  const int64_t rows_;  // of the gathered matrix
  Slots slots_;
};

// y[o, pixel] = weight[o, depth] columns[depth, pixel]. A task is a tile of one image and group.
struct Forward : Convolution {
  using Convolution::Convolution;
  int64_t tasks() const override { return w.batch * w.groups * tiles(); }
  bool fits(const Launch* l) const override { return joined(l->inputs[1], 1, 3) > 0; }

  bool task(const Launch* l, int64_t index, float* columns) const override {
    const Buffer &x = l->inputs[0], &weight = l->inputs[1];
    const int64_t first = index % tiles() * tile, g = index / tiles() % w.groups, n = index / tiles() / w.groups;
    const int64_t count = width(first);
    gather(w, x.as<float>() + n * x.strides[0] + g * w.channels * x.strides[1], x.strides, w.channels, first, count, columns);
    Product p;
    p.m = w.outputs, p.n = count, p.k = w.depth();
    p.a = {weight.as<float>() + g * w.outputs * weight.strides[0], weight.strides[0], joined(weight, 1, 3)};
    p.b = {columns, count, 1};
    p.c = l->outputs[0].as<float>() + ((n * w.groups + g) * w.outputs) * w.pixels() + first;
    p.c_row = w.pixels();
    return product(p);
  }
};

// columns[depth, pixel] = weight[o, depth]' dy[o, pixel], added up where they came from. A task is an image's group.
struct InputGrad : Convolution {
  using Convolution::Convolution;
  int64_t tasks() const override { return w.batch * w.groups; }
  bool fits(const Launch* l) const override { return joined(l->inputs[1], 1, 3) > 0 && joined(l->inputs[0], 2, 2) > 0; }

  bool task(const Launch* l, int64_t index, float* columns) const override {
    const Buffer &dy = l->inputs[0], &weight = l->inputs[1];
    const int64_t g = index % w.groups, n = index / w.groups, size = w.channels * w.height * w.width;
    float* dx = l->outputs[0].as<float>() + index * size;
    std::fill_n(dx, size, 0.0f);
    const int64_t pixel = joined(dy, 2, 2);
    const float* from = dy.as<float>() + n * dy.strides[0] + g * w.outputs * dy.strides[1];
    bool done = true;
    for (int64_t first = 0; first < w.pixels(); first += tile) {
      Product p;
      p.m = w.depth(), p.n = width(first), p.k = w.outputs;
      p.a = {weight.as<float>() + g * w.outputs * weight.strides[0], joined(weight, 1, 3), weight.strides[0]};
      p.b = {from + first * pixel, dy.strides[1], pixel};
      p.c = columns, p.c_row = p.n;
      done = product(p) && done;
      scatter(w, columns, first, p.n, dx);
    }
    return done;
  }
};

// dw[o, depth] = the sum over images of dy[o, pixel] columns[depth, pixel]'. A task is some channels of a group.
struct WeightGrad : Convolution {
  WeightGrad(const Library& library, const NodeView& view, const Window& window)
      : Convolution(library, view, window, part(window) * window.taps()) {}
  static int64_t part(const Window& w) {
    const int64_t even = (w.channels + kWeightParts - 1) / kWeightParts;
    return std::min(w.channels, std::max(even, kPartColumns / std::max<int64_t>(1, w.taps())));
  }
  int64_t parts() const { return w.channels ? (w.channels + part(w) - 1) / part(w) : 0; }
  int64_t tasks() const override { return w.groups * parts(); }
  bool fits(const Launch* l) const override { return joined(l->inputs[0], 2, 2) > 0; }

  bool task(const Launch* l, int64_t index, float* columns) const override {
    const Buffer &dy = l->inputs[0], &x = l->inputs[1];
    const int64_t g = index / parts(), c = index % parts() * part(w), channels = std::min(part(w), w.channels - c);
    const int64_t pixel = joined(dy, 2, 2);
    Product p;
    p.m = w.outputs, p.n = channels * w.taps();
    p.c = l->outputs[0].as<float>() + g * w.outputs * w.depth() + c * w.taps();
    p.c_row = w.depth();
    for (int64_t i = 0; i < p.m; i++) std::fill_n(p.c + i * p.c_row, p.n, 0.0f);
    p.add = true;
    bool done = true;
    for (int64_t n = 0; n < w.batch; n++)
      for (int64_t first = 0; first < w.pixels(); first += tile) {
        p.k = width(first);
        gather(w, x.as<float>() + n * x.strides[0] + (g * w.channels + c) * x.strides[1], x.strides, channels, first, p.k, columns);
        p.a = {dy.as<float>() + n * dy.strides[0] + g * w.outputs * dy.strides[1] + first * pixel, dy.strides[1], pixel};
        p.b = {columns, 1, p.k};
        done = product(p) && done;
      }
    return done;
  }
};

const Shape& input(const NodeView& v, size_t i) { return v.store.type(v.node.args[i].v).shape; }
const Shape& result(const NodeView& v) { return v.store.type(v.node.results[0]).shape; }

template <class S>
std::unique_ptr<Site> planned(std::unique_ptr<S> site, size_t* scratch) {
  site->plan(scratch);
  return site;
}

}  // namespace

std::unique_ptr<Site> conv2d_site(const Library& library, const NodeView& v, size_t* scratch) {
  const Window w(input(v, 0), input(v, 1), result(v), v.node, 2);
  return planned(std::make_unique<Forward>(library, v, w, w.depth()), scratch);
}

std::unique_ptr<Site> conv2d_input_grad_site(const Library& library, const NodeView& v, size_t* scratch) {
  const Window w(result(v), input(v, 1), input(v, 0), v.node, 3);
  return planned(std::make_unique<InputGrad>(library, v, w, w.depth()), scratch);
}

std::unique_ptr<Site> conv2d_weight_grad_site(const Library& library, const NodeView& v, size_t* scratch) {
  const Window w(input(v, 1), result(v), input(v, 0), v.node, 3);
  return planned(std::make_unique<WeightGrad>(library, v, w), scratch);
}

}  // namespace thunder

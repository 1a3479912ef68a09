#include "executors/cuda/cudnn/graph.h"

namespace thunder::cudnn {

Layout dense(const Sizes4& s) { return {s, {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1}}; }

Layout transposed(const Layout& l) {
  return {{l.sizes[0], l.sizes[1], l.sizes[3], l.sizes[2]}, {l.strides[0], l.strides[1], l.strides[3], l.strides[2]}};
}

void Graph::add_operation(Descriptor& operation) {
  operation.finalize();
  operations_.push_back(operation.get());
}

Graph::Tensor Graph::add_tensor(const Layout& layout, DataType type, int64_t alignment, bool is_virtual,
                                bool by_value) {
  Descriptor& d = make_descriptor(kTensor);
  const int64_t id = next_id_++;
  d.set(kTensorDataType, kTypeDataType, type);
  d.set(kTensorSizes, kTypeInt64, 4, layout.sizes.data());
  d.set(kTensorStrides, kTypeInt64, 4, layout.strides.data());
  d.set(kTensorId, id);
  d.set(kTensorAlignment, alignment);
  if (is_virtual) d.set(kTensorVirtual, kTypeBoolean, 1, &is_virtual);
  if (by_value) d.set(kTensorByValue, kTypeBoolean, 1, &by_value);
  d.finalize();
  return {d.get(), id, layout};
}

Graph::Tensor Graph::scalar(float value) {
  const Tensor out = add_tensor(dense({1, 1, 1, 1}), kF32, sizeof(float), false, true);
  scalars_.emplace_back(out.id, value);
  return out;
}

void Graph::add_pointwise(Mode mode, DataType computed, int64_t axis, const Tensor& x, const Tensor* b,
                          const Tensor* chosen, const Tensor& to) {
  Descriptor& how = make_descriptor(kPointwise);
  how.set(kPointwiseMode, kTypePointwiseMode, mode);
  how.set(kPointwiseCompute, kTypeDataType, computed);
  if (axis >= 0) how.set(kPointwiseAxis, axis);
  how.finalize();
  Descriptor& op = make_descriptor(kDoPointwise);
  op.set(kDoPointwiseHow, how);
  op.set(kDoPointwiseX, kTypeDescriptor, 1, &x.desc);
  if (b) op.set(kDoPointwiseB, kTypeDescriptor, 1, &b->desc);
  if (chosen) op.set(kDoPointwiseT, kTypeDescriptor, 1, &chosen->desc);
  op.set(kDoPointwiseY, kTypeDescriptor, 1, &to.desc);
  add_operation(op);
}

Graph::Tensor Graph::pointwise(Mode mode, const Tensor& x, const Tensor* b, DataType type) {
  const Tensor out = intermediate(dense(x.layout.sizes), type);
  add_pointwise(mode, type == kBool ? kBool : kF32, -1, x, b, nullptr, out);
  return out;
}

void Graph::pointwise(Mode mode, const Tensor& x, const Tensor* b, const Tensor& to) {
  add_pointwise(mode, kF32, -1, x, b, nullptr, to);
}

Graph::Tensor Graph::select(const Tensor& x, const Tensor& y, const Tensor& chosen) {
  const Tensor out = intermediate(dense(x.layout.sizes));
  add_pointwise(kSelect, kF32, -1, x, &y, &chosen, out);
  return out;
}

Graph::Tensor Graph::dim_index(const Tensor& like, int64_t axis) {
  const Tensor out = intermediate(dense(like.layout.sizes), kI32);
  add_pointwise(kIndex, kI32, axis, like, nullptr, nullptr, out);
  return out;
}

void Graph::reduce(Reduction how, const Tensor& x, const Tensor& to) {
  Descriptor& d = make_descriptor(kReduction);
  d.set(kReductionOperator, kTypeReductionOperator, how);
  d.set(kReductionCompute, kTypeDataType, kF32);
  d.finalize();
  Descriptor& op = make_descriptor(kDoReduction);
  op.set(kDoReductionX, kTypeDescriptor, 1, &x.desc);
  op.set(kDoReductionY, kTypeDescriptor, 1, &to.desc);
  op.set(kDoReductionHow, d);
  add_operation(op);
}

void Graph::matmul(const Tensor& a, const Tensor& b, const Tensor& to) {
  Descriptor& d = make_descriptor(kMatmul);
  d.set(kMatmulCompute, kTypeDataType, kF32);
  d.finalize();
  Descriptor& op = make_descriptor(kDoMatmul);
  op.set(kDoMatmulA, kTypeDescriptor, 1, &a.desc);
  op.set(kDoMatmulB, kTypeDescriptor, 1, &b.desc);
  op.set(kDoMatmulC, kTypeDescriptor, 1, &to.desc);
  op.set(kDoMatmulHow, d);
  add_operation(op);
}

Graph::Tensor Graph::reshape(const Tensor& x, const Layout& layout, DataType type) {
  const Tensor out = intermediate(layout, type);
  Descriptor& op = make_descriptor(kDoReshape);
  op.set(kDoReshapeX, kTypeDescriptor, 1, &x.desc);
  op.set(kDoReshapeY, kTypeDescriptor, 1, &out.desc);
  add_operation(op);
  return out;
}

void Graph::convolution(Kind operation, const Window& w, const Tensor& filter, const Tensor& image,
                        const Tensor& result, DataType computed) {
  Descriptor& d = make_descriptor(kConvolution);
  d.set(kConvolutionCompute, kTypeDataType, computed);
  d.set(kConvolutionMode, kTypeConvolutionMode, kCrossCorrelation);
  d.set(kConvolutionDims, int64_t{2});
  d.set(kConvolutionDilations, kTypeInt64, 2, w.dilation.data());
  d.set(kConvolutionStrides, kTypeInt64, 2, w.stride.data());
  d.set(kConvolutionPaddingBefore, kTypeInt64, 2, w.padding.data());
  d.set(kConvolutionPaddingAfter, kTypeInt64, 2, w.padding.data());
  d.finalize();
  const int first = operation == kForward        ? kForwardAlpha
                    : operation == kBackwardData ? kBackwardDataAlpha
                                                 : kBackwardFilterAlpha;
  Descriptor& op = make_descriptor(operation);
  const double f64[] = {1, 0};  // alpha, beta
  const float f32[] = {1, 0};
  for (int i = 0; i < 2; i++) {
    if (computed == kF64) op.set(first + i, kTypeDouble, 1, &f64[i]);
    else op.set(first + i, kTypeFloat, 1, &f32[i]);
  }
  op.set(first + 2, d);
  op.set(first + 3, kTypeDescriptor, 1, &filter.desc);
  op.set(first + 4, kTypeDescriptor, 1, &image.desc);
  op.set(first + 5, kTypeDescriptor, 1, &result.desc);
  add_operation(op);
}

const Descriptor& Graph::finalize() {
  const Handle handle = session_.handle();
  Descriptor& d = make_descriptor(kGraph);
  d.set(kGraphHandle, kTypeHandle, 1, &handle);
  d.set(kGraphOperations, kTypeDescriptor, static_cast<int64_t>(operations_.size()), operations_.data());
  d.finalize();
  return d;
}

bool Graph::is_supported() {
  try {
    return !find_engine_configs(session_, finalize(), kModeA).empty();
  } catch (const Error&) {
    return false;
  }
}

std::vector<Descriptor> find_engine_configs(const Session& session, const Descriptor& graph, int mode) {
  Descriptor heuristics(session, kHeuristics);
  heuristics.set(kHeuristicsGraph, graph);
  heuristics.set(kHeuristicsModeOf, kTypeHeuristicsMode, mode);
  std::vector<Descriptor> out;
  if (!heuristics.try_finalize()) return out;
  constexpr int64_t kMost = 64;
  std::vector<Desc> found;
  for (int64_t i = 0; i < kMost; i++) found.push_back(out.emplace_back(session, kEngineConfig).get());
  const int64_t count = heuristics.get(kHeuristicsResults, kTypeDescriptor, kMost, found.data());
  while (static_cast<int64_t>(out.size()) > count) out.pop_back();
  return out;
}

}  // namespace thunder::cudnn

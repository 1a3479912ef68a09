// Streams, events and graphs of the stand-in for libcuda.
#include <cstring>

#include "driver_state.h"

namespace fake_driver {

void keep_arguments(Node& node, void** parameters) {
  node.arguments.clear();
  for (size_t i = 0; node.function->sizes[i]; i++) {
    const auto* from = static_cast<const std::byte*>(parameters[i]);
    node.arguments.emplace_back(from, from + node.function->sizes[i]);
  }
}

int run_node(Node& node) {
  do_late();
  if (!node.function) return node.work();
  std::vector<void*> parameters;
  for (auto& a : node.arguments) parameters.push_back(a.data());
  const Reach reach;
  return run_grid(*node.function, node.blocks, node.threads, parameters.data()), 0;
}

}  // namespace fake_driver

using namespace fake_driver;

namespace {

struct KernelNode {
  Function* function;
  unsigned blocks[3], threads[3], shared;
  void** parameters;
};

}  // namespace

extern "C" {

int cuStreamBeginCapture_v2(void* stream, int) {
  ENTRY();
  if (!state().streams.count(stream) || state().capturing.count(stream)) return kInvalidValue;
  state().capturing[stream] = std::make_unique<Graph>();
  return 0;
}
int cuStreamGetCaptureInfo_v2(void* stream, int* capturing, unsigned long long*, void**, Node* const** dependencies, size_t* count) {
  ENTRY();
  *capturing = static_cast<int>(state().capturing.count(stream));
  if (!*capturing) return 0;
  return *dependencies = &state().last, *count = 1, 0;
}
int cuStreamEndCapture(void* stream, Graph** out) {
  ENTRY();
  auto found = state().capturing.find(stream);
  if (found == state().capturing.end()) return kInvalidValue;
  *out = found->second.release();
  return state().capturing.erase(found), state().graphs++, 0;
}
int cuGraphInstantiateWithFlags(Graph** out, Graph* graph, unsigned long long) {
  ENTRY();
  return *out = new Graph(*graph), state().graphs++, 0;
}
int cuGraphExecKernelNodeSetParams_v2(Graph*, Node* node, const KernelNode* with) {
  ENTRY();
  if (node->function != with->function) return kInvalidValue;
  node->blocks = {with->blocks[0], with->blocks[1], with->blocks[2]};
  node->threads = {with->threads[0], with->threads[1], with->threads[2]};
  return keep_arguments(*node, with->parameters), 0;
}
int cuGraphLaunch(Graph* graph, void* stream) {
  ENTRY();
  for (auto& node : graph->nodes) {
    if (node->function) state().counts.launches++;
    // A launch has the arguments of its time.
    if (const int failed = enqueue(stream, [copy = std::make_shared<Node>(*node)] { return run_node(*copy); }, node->ready)) return failed;
  }
  return 0;
}
int cuGraphExecDestroy(Graph* graph) {
  const Entry entry;
  return delete graph, state().graphs--, 0;
}
int cuGraphDestroy(Graph* graph) {
  const Entry entry;
  return delete graph, state().graphs--, 0;
}

int cuStreamCreate(void** out, unsigned flags) {
  ENTRY();
  constexpr unsigned kNonBlocking = 1;
  *out = new char;
  return state().streams[*out].blocking = !(flags & kNonBlocking), 0;
}
int cuStreamDestroy_v2(void* stream) {
  const Entry entry;
  if (!stream || !state().streams.count(stream)) return kInvalidValue;
  reach_all();
  state().streams.erase(stream);
  state().capturing.erase(stream);
  return delete static_cast<char*>(stream), 0;
}
int cuStreamSynchronize(void* stream) {
  ENTRY();
  if (!state().streams.count(known(stream))) return kInvalidValue;
  return force(point_in(stream)), do_late(), 0;
}
int cuStreamQuery(void* stream) {
  ENTRY();
  const auto found = state().streams.find(known(stream));
  if (found == state().streams.end()) return kInvalidValue;
  return look_for({known(stream), found->second.asked, {}}) ? 0 : kNotReady;
}
int cuStreamIsCapturing(void* stream, int* out) {
  ENTRY();
  return *out = static_cast<int>(state().capturing.count(stream)), 0;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  ENTRY();
  const auto found = state().events.find(event);
  if (found == state().events.end() || !state().streams.count(known(stream))) return kInvalidValue;
  if (!state().lazy && reach(found->second)) return 0;
  return enqueue(stream, [] { return 0; }, [point = found->second] { return reach(point); });
}
int cuEventCreate(void** out, unsigned) {
  ENTRY();
  *out = new char;
  return state().events[*out] = {}, 0;
}
int cuEventDestroy_v2(void* event) {
  const Entry entry;
  if (!state().events.erase(event)) return kInvalidValue;
  return delete static_cast<char*>(event), 0;
}
int cuEventSynchronize(void* event) {
  ENTRY();
  if (!state().events.count(event)) return kInvalidValue;
  return force(state().events[event]), do_late(), 0;
}
int cuEventRecord(void* event, void* stream) {
  ENTRY();
  if (!state().events.count(event) || !state().streams.count(known(stream))) return kInvalidValue;
  return state().events[event] = point_in(stream), 0;
}
int cuEventQuery(void* event) {
  ENTRY();
  const auto found = state().events.find(event);
  if (found == state().events.end()) return kInvalidValue;
  return look_for(found->second) ? 0 : kNotReady;
}
int cuEventElapsedTime(float* ms, void* first, void* last) {
  ENTRY();
  if (!state().events.count(first) || !state().events.count(last)) return kInvalidValue;
  return *ms = std::chrono::duration<float, std::milli>(state().events[last].time - state().events[first].time).count(), 0;
}
}

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

}  // namespace fake_driver

using namespace fake_driver;

namespace {

struct KernelNode {
  Function* function;
  unsigned blocks[3], threads[3], shared;
  void** parameters;
};

int run_node(Node& node) {
  do_late();
  if (!node.function) return node.work();
  std::vector<void*> parameters;
  for (auto& a : node.arguments) parameters.push_back(a.data());
  state().counts.launches++;
  const Reach reach;
  return run_grid(*node.function, node.blocks, node.threads, parameters.data()), 0;
}

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
int cuGraphLaunch(Graph* graph, void*) {
  ENTRY();
  for (auto& node : graph->nodes)
    if (const int failed = run_node(*node)) return failed;
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

int cuStreamCreate(void** out, unsigned) {
  ENTRY();
  *out = new char;
  return state().streams.insert(*out), 0;
}
int cuStreamDestroy_v2(void* stream) {
  const Entry entry;
  if (!state().streams.erase(stream)) return kInvalidValue;
  state().capturing.erase(stream);
  return delete static_cast<char*>(stream), 0;
}
int cuStreamSynchronize(void*) {
  ENTRY();
  return do_late(), 0;
}
int cuStreamWaitEvent(void*, void* event, unsigned) {
  ENTRY();
  return state().events.count(event) ? 0 : kInvalidValue;
}
int cuEventCreate(void** out, unsigned) {
  ENTRY();
  *out = new char;
  return state().events.insert(*out), 0;
}
int cuEventDestroy_v2(void* event) {
  const Entry entry;
  if (!state().events.erase(event)) return kInvalidValue;
  return delete static_cast<char*>(event), 0;
}
int cuEventSynchronize(void* event) {
  ENTRY();
  if (!state().events.count(event)) return kInvalidValue;
  return do_late(), 0;
}
int cuEventRecord(void* event, void*) {
  ENTRY();
  return state().events.count(event) ? 0 : kInvalidValue;
}
}

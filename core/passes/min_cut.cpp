#include "passes/min_cut.h"

#include <algorithm>

namespace thunder {
namespace {

constexpr size_t kFar = SIZE_MAX;

}  // namespace

void MinCut::edge(size_t from, size_t to, int64_t capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

// Whether the sink can still be reached.
bool MinCut::measure(size_t source, size_t sink) {
  distance_.assign(edges_of_.size(), kFar);
  distance_[source] = 0;
  std::vector<size_t> queue{source};
  for (size_t at = 0; at < queue.size(); at++)
    for (size_t e : edges_of_[queue[at]])
      if (edges_[e].left > 0 && distance_[edges_[e].to] == kFar) {
        distance_[edges_[e].to] = distance_[queue[at]] + 1;
        queue.push_back(edges_[e].to);
      }
  return distance_[sink] != kFar;
}

// Augments the flow along a shortest path; false if none is left. Vertices without a way on are skipped.
bool MinCut::augment(size_t source, size_t sink) {
  std::vector<size_t> path;
  for (size_t at = source; at != sink;) {
    size_t& next = next_[at];
    const auto& edges = edges_of_[at];
    while (next < edges.size() &&
           (edges_[edges[next]].left <= 0 || distance_[edges_[edges[next]].to] != distance_[at] + 1))
      next++;
    if (next < edges.size()) {
      path.push_back(edges[next]);
      at = edges_[edges[next]].to;
      continue;
    }
    if (path.empty()) return false;
    at = edges_[path.back() ^ 1].to;
    path.pop_back();
    next_[at]++;
  }
  int64_t flow = kUncut;
  for (size_t e : path) flow = std::min(flow, edges_[e].left);
  for (size_t e : path) edges_[e].left -= flow, edges_[e ^ 1].left += flow;
  return true;
}

std::vector<bool> MinCut::sink_side(size_t source, size_t sink) {
  while (measure(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    while (augment(source, sink)) {}
  }
  std::vector<bool> reaches(edges_of_.size(), false);
  reaches[sink] = true;
  std::vector<size_t> queue{sink};
  for (size_t at = 0; at < queue.size(); at++)
    for (size_t e : edges_of_[queue[at]])
      if (const size_t from = edges_[e].to; edges_[e ^ 1].left > 0 && !reaches[from]) {
        reaches[from] = true;
        queue.push_back(from);
      }
  return reaches;
}

}  // namespace thunder

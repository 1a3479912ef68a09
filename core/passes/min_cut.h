// The smallest cut between two vertices of a directed graph, by Dinic's algorithm (E. A. Dinic, 1970).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thunder {

class MinCut {
 public:
  static constexpr int64_t kUncut = int64_t{1} << 60;  // the capacity of an edge that no cut may take

  explicit MinCut(size_t vertices) : edges_of_(vertices) {}
  void edge(size_t from, size_t to, int64_t capacity);
  // By vertex, whether it lies on the sink's side of the cut; of several smallest cuts the one closest to the sink.
  std::vector<bool> sink_side(size_t source, size_t sink);

 private:
  struct Edge {
    size_t to;
    int64_t left;  // of its capacity
  };
  bool measure(size_t source, size_t sink);
  bool augment(size_t source, size_t sink);

  std::vector<Edge> edges_;  // an even one, and after it the one back
  std::vector<std::vector<size_t>> edges_of_;
  std::vector<size_t> distance_;  // from the source, along edges of which something is left
  std::vector<size_t> next_;      // by vertex, the edge to be tried next
};

}  // namespace thunder

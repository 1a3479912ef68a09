// Traces as the stages that form regions take and give them.
#pragma once

#include "compile/claim.h"
#include "regions/regions.h"
#include "regions/rematerialize.h"
#include "regions/siblings.h"

namespace thunder::test {

// The lines that this executor claims, claimed by it; others stay as they are.
inline Trace claimed_by(const Executor& executor, Trace trace) {
  for (const Node*& n : trace.nodes)
    if (executor.claims({*n, *trace.store, default_settings()})) n = trace.store->claimed(n, trace.store->text(executor.name()));
  return trace;
}

// Down to what executors take, claimed, in regions.
inline Trace in_regions(const Trace& trace, const Executors& executors, const Op& region, RegionStates& states) {
  Trace out = claim(descend(trace, executors, default_settings()), executors, default_settings());
  form_regions(out, executors, region, states);
  rematerialize(out, executors, region, states);
  merge_siblings(out, executors, region, states);
  return out;
}

}  // namespace thunder::test

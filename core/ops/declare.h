// How a file of ops writes their rows.
#pragma once

#include "ops/op.h"

namespace thunder {

using OpRows = std::span<const OpRow>;  // of a file

// Fields that few rows have, by name: {.nondiff = "the result is boolean"}.
struct RowExtras {
  VjpFn vjp = nullptr;
  std::string_view nondiff = {};
  BatchFn batch = nullptr;
  ViewRule view = {};
  WriteThroughFn write_through = nullptr;
  SamplesFn samples = nullptr;
  std::string_view alias_of = {};
  Variant variant = {};
  const RankRule* ranks = nullptr;
  MultiplyAddsFn multiply_adds = nullptr;
};
consteval OpRow composite(SchemaText schema, CastPolicy autocast, std::string_view doc, DecomposeFn decompose,
                          SamplesFn samples, uint32_t tags = 0, const RowExtras& x = {}) {
  return checked({schema, autocast, doc, nullptr, nullptr, decompose, x.vjp, x.nondiff, x.batch, x.view,
                  x.write_through, samples, tags, x.alias_of, x.variant});
}
consteval OpRow primitive(SchemaText schema, std::string_view doc, MetaFn meta, KernelFn reference, VjpFn vjp,
                          uint32_t tags = 0, const RowExtras& x = {}) {
  return checked({schema, CastPolicy::unsaid, doc, meta, reference, nullptr, vjp, x.nondiff, x.batch, x.view,
                  x.write_through, x.samples, tags, x.alias_of, x.variant, x.ranks, x.multiply_adds});
}

}  // namespace thunder

#include "executors/onednn/onednn.h"

#include "executors/onednn/autotune.h"
#include "executors/onednn/site.h"

namespace thunder {
namespace {

ProductSite* site(const NodeView& view, const Library& library) { return new ProductSite(library, row_of(kProductRows<float>, view).products); }

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  *state = static_cast<Site*>(site(view, *static_cast<const Library*>(user)));
  return nullptr;
}

Status* pack(const Launch* launch, void* state, size_t* kept_bytes) {
  try {
    *kept_bytes = static_cast<ProductSite*>(static_cast<Site*>(state))->pack(launch);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void*) {
  *scratch = static_cast<ProductSite*>(static_cast<Site*>(state))->scratch_for(view.inputs, view.outputs);
  return nullptr;
}

ExecutorDesc products_executor(const char* name, decltype(ExecutorDesc::prepare) prepare, const void* user) {
  ExecutorDesc d = site_executor(name, kProductRows<float>, all_tensors_are<DType::f32>, prepare, user);
  d.flags |= kLeads;
  d.lay_out = lay_out;
  d.settle = pack;
  return d;
}

// Of the executor that times products.
struct Tuned {
  const Library& library;
  Autotuner tuner;
};

Status* prepare_tuned(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  *state = static_cast<Site*>(site(view, static_cast<const Tuned*>(user)->library));
  return nullptr;
}

Status* choose_way(const NodeView& view, void* state, size_t* scratch, void* user) {
  auto& site = *static_cast<ProductSite*>(static_cast<Site*>(state));
  try {
    site.way = static_cast<Tuned*>(user)->tuner.way(site.products, view.inputs, view.outputs);
  } catch (const std::bad_alloc&) {  // no memory to try them: the cost model's way
  }
  return lay_out(view, state, scratch, user);
}

}  // namespace

std::optional<ExecutorDesc> onednn_executor(const Machine& machine, std::string& report) { return onednn_executor(Library::names(), machine, report); }

std::optional<ExecutorDesc> onednn_executor(std::span<const char* const> library_names, const Machine& machine, std::string& report) {
  const Library* library = Library::open(library_names, machine, report);
  if (!library) return std::nullopt;
  return products_executor("onednn", prepare, library);
}

std::optional<ExecutorDesc> onednn_autotuned_executor(const Machine& machine, ThreadPool& threads, std::string folder) {
  std::string found;
  const Library* library = Library::open(Library::names(), machine, found);
  if (!library) return std::nullopt;
  const std::shared_ptr<Tuned> tuned(new Tuned{*library, {*library, found, machine, threads, std::move(folder)}});
  ExecutorDesc d = products_executor("onednn_max_autotune", prepare_tuned, tuned.get());
  d.lay_out = choose_way;
  d.owner = tuned;
  return d;
}

}  // namespace thunder

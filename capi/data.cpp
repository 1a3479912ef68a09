// thunder_read_*, thunder_write_*, thunder_batches_*: files and batches.
#include "capi/context.h"
#include "tensor/batches.h"
#include "tensor/csv.h"
#include "tensor/idx.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

// The position of a pass, which is also the position of the batches whose last pass it is.
struct Position {
  std::unique_ptr<Batches> batches;
  bool taken = false;  // a pass reads them
};

struct BatchesHandle : Counted<BatchesHandle> {
  BatchesHandle(Ref<Context> context, std::shared_ptr<Position> at) : context(std::move(context)), at(std::move(at)) {}
  const Ref<Context> context;
  std::shared_ptr<Position> at;

  Batches& batches() const { return *at->batches; }
};
THUNDER_COUNTED_HANDLE(batches, BatchesHandle)

}  // namespace thunder::capi

namespace {

// Loads a file that holds one tensor.
template <class F>
thunder_status* read_tensor_file(const char* function, thunder_context* context, const char* path, thunder_tensor** out,
                                 F&& read) {
  return given(guarded(function, [&] {
    need(context, "context"), need(path, "path"), need(out, "out");
    *out = given(read(core(context)->allocator()));
  }));
}

}  // namespace

thunder_status* thunder_read_csv(thunder_context* context, const char* path, thunder_dtype dtype,
                                 thunder_tensor** out) noexcept {
  return read_tensor_file(__func__, context, path, out, [&](const Allocator& allocator) {
    check(dtype == 0 || dtype == THUNDER_F32 || dtype == THUNDER_F64, "dtype must be THUNDER_F32 or THUNDER_F64, got ",
          dtype);
    CsvOptions options;
    options.dtype = dtype == THUNDER_F64 ? DType::f64 : DType::f32;
    return load_csv(path, options, allocator).values;
  });
}

thunder_status* thunder_read_npy(thunder_context* context, const char* path, thunder_tensor** out) noexcept {
  return read_tensor_file(__func__, context, path, out,
                          [&](const Allocator& allocator) { return load_npy(path, allocator); });
}

thunder_status* thunder_write_npy(thunder_tensor* tensor, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(path, "path");
    check(core(tensor)->concrete(), "tensor has no data");
    save_npy(path, *core(tensor));
  }));
}

thunder_status* thunder_read_idx(thunder_context* context, const char* path, thunder_tensor** out) noexcept {
  return read_tensor_file(__func__, context, path, out,
                          [&](const Allocator& allocator) { return load_idx(path, allocator); });
}

thunder_status* thunder_read_safetensors(thunder_context* context, const char* path, thunder_values* out_map) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(path, "path"), need(out_map, "out_map");
    SafeTensors file = load_safetensors(path, core(context)->allocator());
    Values& out = *core(out_map);
    out.reset();
    out.open(true, {});
    for (NamedTensor& t : file.tensors) {
      out.key(t.name);
      out.push(std::move(t.tensor));
    }
    out.close();
    if (out.status()) throw Error(out.status());
  }));
}

thunder_status* thunder_write_safetensors(const thunder_values* map, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(path, "path");
    const Values& values = require_usable(map, "map");
    const auto paths = values.paths();
    std::vector<NamedTensor> tensors;
    for (size_t i = 0; i < values.size(); i++) {
      // The map itself is leaf 0 of the values: names are what follows.
      const size_t dot = paths[i].find('.');
      check(dot != paths[i].npos, "tensors are written by name, in a map; leaf ", i, " has none");
      const std::string name = paths[i].substr(dot + 1);
      check(values[i].tensor && values[i].tensor->concrete(), "'", name, "' is no tensor with data");
      tensors.push_back({name, values[i].tensor});
    }
    save_safetensors(path, tensors, {});
  }));
}

thunder_status* thunder_batches_create(thunder_context* context, thunder_tensor* const* tensors, size_t count,
                                       int64_t size, int32_t shuffle, int32_t drop_last, uint64_t seed,
                                       thunder_batches** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(tensors, "tensors"), need(out, "out");
    std::vector<Ref<Tensor>> sources;
    for (size_t i = 0; i < count; i++) {
      need(tensors[i], cat("tensors[", i, "]").c_str());
      check(core(tensors[i])->concrete(), "tensors[", i, "] is no tensor with data");
      sources.emplace_back(core(tensors[i]));
    }
    const BatchOptions options{size, shuffle != 0, drop_last != 0, seed};
    auto made = std::make_unique<Batches>(std::move(sources), options);
    *out = given(make<BatchesHandle>(Ref<Context>(core(context)), std::make_shared<Position>(std::move(made))));
  }));
}

void thunder_batches_release(thunder_batches* batches) noexcept {
  released(batches);
}

thunder_status* thunder_batches_next(thunder_batches* batches, thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(batches, "batches"), need(out, "out");
    BatchesHandle& b = *core(batches);
    auto made = b.batches().next(b.context->allocator());
    if (made.empty()) b.at->taken = false;  // they stand at the next epoch
    core(out)->reset();
    for (Ref<Tensor>& t : made) core(out)->push(std::move(t));
  }));
}

thunder_status* thunder_batches_pass(thunder_batches* batches, thunder_batches** out) noexcept {
  return given(guarded(__func__, [&] {
    need(batches, "batches"), need(out, "out");
    BatchesHandle& b = *core(batches);
    if (b.at->taken) {
      const Batches& before = b.batches();
      b.at = std::make_shared<Position>(before.at_epoch(before.epoch() + 1));
    }
    *out = given(make<BatchesHandle>(b.context, b.at));
    b.at->taken = true;
  }));
}

thunder_status* thunder_batches_set_device(thunder_batches* batches, thunder_device device) noexcept {
  return given(guarded(__func__, [&] {
    need(batches, "batches");
    BatchesHandle& b = *core(batches);
    b.batches().send_to(b.context->devices(), device_of(*b.context, device));
  }));
}

int64_t thunder_batches_count(const thunder_batches* batches) noexcept {
  const BatchesHandle* const b = core(batches);
  return value_or<int64_t>(0, [&] { return b ? b->batches().batches() : 0; });
}

thunder_status* thunder_batches_state(const thunder_batches* batches, thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(batches, "batches"), need(out, "out");
    const BatchesHandle& b = *core(batches);
    *out = given(b.batches().state(b.context->allocator()));
  }));
}

thunder_status* thunder_batches_set_state(thunder_batches* batches, thunder_tensor* state) noexcept {
  return given(guarded(__func__, [&] {
    need(batches, "batches"), need(state, "state");
    BatchesHandle& b = *core(batches);
    check(core(state)->concrete(), "state has no data");
    // A pass over the data that has already begun is not affected.
    auto made = std::make_shared<Position>(b.batches().at_epoch(0));
    made->batches->set_state(*core(state));
    b.at = std::move(made);
  }));
}

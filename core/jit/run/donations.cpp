#include "jit/run/donations.h"

#include <algorithm>

#include "base/text.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// The leaves of argument `number`: "0" itself, or "0.weight" in it.
std::vector<uint32_t> leaves_of(std::span<const std::string> paths, const std::string& number) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < paths.size(); i++)
    if (paths[i] == number || paths[i].rfind(number + '.', 0) == 0) out.push_back(i);
  return out;
}

struct Bytes {
  const std::byte *begin, *end;
  bool donated;
  uint32_t input;
};

Bytes bytes_of(const Tensor& t, bool donated, uint32_t input) {
  const Extent e = extent({t.sizes(), t.type().rank()}, t.strides(), size_of(t.type().dtype));
  return {t.data() + e.begin, t.data() + e.end, donated, input};
}

// A copy in new memory with the same strides.
Ref<Tensor> copy_of(const Tensor& t, Devices& devices) {
  const Extent e = extent({t.sizes(), t.type().rank()}, t.strides(), size_of(t.type().dtype));
  const auto bytes = static_cast<size_t>(e.end - e.begin), start = static_cast<size_t>(-e.begin);
  auto out = Tensor::view(Storage::allocate(devices.allocator(t.type().device), bytes), t.type(), t.strides(), start);
  copy_elements(t, *out);
  return out;
}

// The caller's values are the library's own objects, which no caller made const.
Values& as_mutable(const Values& values) { return const_cast<Values&>(values); }

}  // namespace

void note_donations(const CompileOptions& options, const Values& in, Entry& entry) {
  const NameList& numbers = options.settings().donate_argnums;
  if (numbers.empty()) return;
  const std::vector<std::string> paths = in.paths();
  const std::string& function = entry.traces.made().front().function;
  for (const std::string& number : numbers) {
    const std::vector<uint32_t> leaves = leaves_of(paths, number);
    require(!leaves.empty(), function, ": donate_argnums names the argument '", number, "', and there are ",
            join(paths, ", ", [](auto& p) { return p; }));
    for (const uint32_t leaf : leaves)
      if (in[leaf].kind == ArgKind::value && in[leaf].tensor->concrete()) entry.donated.push_back(leaf);
  }
  std::sort(entry.donated.begin(), entry.donated.end());
  for (const Write& w : entry.traces.made().front().writes) {
    const Binding& b = entry.bindings[w.input];
    require(b.captured || !std::binary_search(entry.donated.begin(), entry.donated.end(), b.leaf), function,
            ": argument '", b.captured ? "" : paths[b.leaf], "' is written in place, and cannot be donated");
  }
  entry.gone = Tensor::failed(make<Status>(
      Code::failed_precondition,
      cat(function, ": this argument was donated to an earlier call (option donate_argnums), which used its memory")));
}

std::vector<bool> donated_inputs(const Entry& entry) {
  std::vector<bool> out(entry.bindings.size());
  for (size_t i = 0; i < entry.leaves; i++)
    out[i] = std::binary_search(entry.donated.begin(), entry.donated.end(), entry.bindings[i].leaf);
  return out;
}

Donations::Donations(const Entry& entry, const Inputs& in, Devices& devices)
    : entry_(entry), in_(in), copies_(entry.bindings.size()) {
  std::vector<Bytes> all;
  std::vector<bool> shared(entry.bindings.size());
  const std::vector<bool> donated = donated_inputs(entry);
  for (uint32_t i = 0; i < entry.bindings.size(); i++) {
    const Binding& b = entry.bindings[i];
    const Tensor* t = b.captured ? b.captured.get() : in.tensor(b.leaf);
    if (!t || !t->concrete()) continue;
    shared[i] = !in.values || !t->unique() || !t->storage()->unique() || t->read_only() ||
                reinterpret_cast<uintptr_t>(t->data()) % kAlign != 0;
    all.push_back(bytes_of(*t, donated[i], i));
  }
  // Memory that two libraries' tensors show is shared, too.
  std::sort(all.begin(), all.end(), [](const Bytes& a, const Bytes& b) { return a.begin < b.begin; });
  const Bytes* reaches = nullptr;  // of those before, the one that ends last
  for (const Bytes& b : all) {
    if (reaches && b.begin < reaches->end) shared[b.input] = shared[reaches->input] = true;
    if (!reaches || b.end > reaches->end) reaches = &b;
  }
  for (uint32_t i = 0; i < entry.bindings.size(); i++)
    if (donated[i] && shared[i]) {
      const Tensor& t = *in.tensor(entry.bindings[i].leaf);
      copies_[i] = copy_of(t, devices);
    }
}

Donations::~Donations() {
  for (uint32_t i = 0; i < entry_.leaves; i++) {
    const uint32_t leaf = entry_.bindings[i].leaf;
    if (in_.values && !copies_[i] && std::binary_search(entry_.donated.begin(), entry_.donated.end(), leaf))
      as_mutable(*in_.values).set_tensor(leaf, entry_.gone);
  }
}

void Donations::move_donated(const Entry& entry, const Values& from, Values& to) {
  for (const uint32_t leaf : entry.donated) {
    to.set_tensor(leaf, {});
    Ref<Tensor> tensor = from[leaf].tensor;
    as_mutable(from).set_tensor(leaf, {});
    const bool alone = tensor && tensor->unique();
    as_mutable(from).set_tensor(leaf, alone ? entry.gone : tensor);
    to.set_tensor(leaf, std::move(tensor));
  }
}

}  // namespace thunder

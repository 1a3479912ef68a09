#include "tensor/batches.h"

#include <numeric>
#include <utility>

#include "base/text.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// PCG-XSH-RR: 64 bits of state, 32 of output.
class Pcg {
 public:
  Pcg(uint64_t state, uint64_t stream) : increment_(stream << 1 | 1) {
    state_ = state + increment_;
    draw();
  }
  uint32_t draw() {
    const uint64_t old = std::exchange(state_, state_ * 6364136223846793005ull + increment_);
    const auto folded = static_cast<uint32_t>((old >> 18 ^ old) >> 27);
    const auto turn = static_cast<uint32_t>(old >> 59);
    return folded >> turn | folded << (-turn & 31);
  }
  // Uniform in [0, bound): draws that would favour small numbers are thrown away.
  uint64_t draw_below(uint64_t bound) {
    const uint64_t unfair = -bound % bound;
    while (true) {
      const uint64_t high = draw(), bits = high << 32 | draw();
      if (bits >= unfair) return bits % bound;
    }
  }

 private:
  uint64_t state_ = 0, increment_;
};

// Neighbouring seeds and epochs must not give related streams.
uint64_t scramble(uint64_t v) {
  v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
  v = (v ^ v >> 27) * 0x94d049bb133111ebull;
  return v ^ v >> 31;
}

TensorType batch_type(const Tensor& source, int64_t rows) {
  TensorType type = source.type();
  type.shape[0] = rows;
  return type;
}

}  // namespace

std::vector<int64_t> shuffled(int64_t rows, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  Pcg random(scramble(seed), scramble(static_cast<uint64_t>(epoch) + 0x9e3779b97f4a7c15ull));
  for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random.draw_below(i)]);
  return order;
}

Batches::Batches(std::vector<Ref<Tensor>> tensors, const BatchOptions& options)
    : tensors_(std::move(tensors)), options_(options) {
  require(!tensors_.empty(), "batches: no tensors were given");
  require(options.size >= 1, "batches: the size must be at least 1, got ", options.size);
  for (size_t i = 0; i < tensors_.size(); i++) {
    const Tensor& t = *tensors_[i];
    if (!t.concrete()) fail(Code::proxy_has_no_data, "batches: tensor ", i + 1, " has no data");
    require(t.type().device == Device::cpu, "batches: tensor ", i + 1, " is on ", name(t.type().device),
            "; batches are made on the CPU");
    require(t.type().rank() >= 1, "batches: tensor ", i + 1, " has no rows: its type is ", name(t.type()));
    require(t.sizes()[0] == tensors_[0]->sizes()[0], "batches: the tensors differ in rows: tensor 1 is ",
            name(tensors_[0]->type()), ", tensor ", i + 1, " is ", name(t.type()));
  }
  rows_ = tensors_[0]->sizes()[0];
}

std::unique_ptr<Batches> Batches::at_epoch(int64_t epoch) const {
  auto made = std::make_unique<Batches>(tensors_, options_);
  made->devices_ = devices_, made->device_ = device_, made->epoch_ = epoch;
  return made;
}

int64_t Batches::batches() const {
  return rows_ / options_.size + (!options_.drop_last && rows_ % options_.size != 0);
}

// Positions are set more often than rows are read from them.
void Batches::shuffle_order_once() {
  if (!options_.shuffle || ordered_) return;
  order_ = shuffled(rows_, options_.seed, epoch_);
  ordered_ = true;
}

void Batches::end_epoch() {
  epoch_++;
  taken_ = 0;
  ordered_ = false;
}

int64_t Batches::next_size() const {
  const int64_t left = rows_ - taken_;
  if (left >= options_.size) return options_.size;
  return options_.drop_last ? 0 : left;
}

void Batches::gather(std::span<const Ref<Tensor>> targets, int64_t count) const {
  for (size_t i = 0; i < tensors_.size(); i++) {
    // Copies one row of each, without its first dimension; only the address changes from row to row.
    Buffer from = tensors_[i]->buffer(), to = targets[i]->buffer();
    const auto item = static_cast<int64_t>(size_of(from.dtype));
    const int64_t from_step = from.strides[0] * item, to_step = to.strides[0] * item;
    from.shape++, from.strides++, from.rank--;
    to.shape++, to.strides++, to.rank--;
    if (from.elements() == 0) continue;
    auto* source = from.as<std::byte>();
    auto* target = to.as<std::byte>();
    for (int64_t k = 0; k < count; k++) {
      const int64_t at = taken_ + k;
      from.data = source + (order_.empty() ? at : order_[static_cast<size_t>(at)]) * from_step;
      to.data = target + k * to_step;
      copy_strided(from, to);
    }
  }
}

std::vector<Ref<Tensor>> Batches::gathered(const Allocator& allocator, int64_t count) const {
  std::vector<Ref<Tensor>> out;
  for (auto& t : tensors_) out.push_back(Tensor::empty(allocator, batch_type(*t, count)));
  gather(out, count);
  return out;
}

std::vector<Ref<Tensor>> Batches::on_device(const Allocator& allocator, int64_t count) const {
  std::vector<Ref<Tensor>> out = gathered(allocator, count);
  for (Ref<Tensor>& t : out) t = moved(t, *devices_, device_);
  return out;
}

void Batches::send_to(Devices& devices, Device device) {
  drop_ahead();
  devices.allocator(device);  // throws where there is none
  devices_ = &devices, device_ = device;
}

// While the batch is being made, the tensors that it reads must not change.
void Batches::prefetch_next(const Allocator& allocator) {
  const int64_t count = next_size();
  if (count == 0) return;
  shuffle_order_once();
  ahead_ = std::make_shared<Ahead>();
  ahead_->work = threads_.begin([this, allocator, count, to = std::weak_ptr<Ahead>(ahead_)] {
    if (const std::shared_ptr<Ahead> wanted = to.lock()) wanted->tensors = on_device(allocator, count);
  });
}

void Batches::drop_ahead() {
  if (!ahead_) return;
  try {
    threads_.wait(ahead_->work);
  } catch (...) {  // whoever wants that batch makes it again
  }
  ahead_ = nullptr;
}

std::vector<Ref<Tensor>> Batches::next(const Allocator& allocator) {
  const int64_t count = next_size();
  if (count == 0) {
    end_epoch();
    if (device_ != Device::cpu) prefetch_next(allocator);
    return {};
  }
  if (device_ == Device::cpu) {
    shuffle_order_once();
    std::vector<Ref<Tensor>> out = gathered(allocator, count);
    taken_ += count;
    return out;
  }
  if (!ahead_) prefetch_next(allocator);
  const std::shared_ptr<Ahead> made = std::exchange(ahead_, nullptr);
  threads_.wait(made->work);
  taken_ += count;
  try {
    prefetch_next(allocator);
  } catch (const std::bad_alloc&) {  // then the next call makes it
    ahead_ = nullptr;
  }
  return std::move(made->tensors);
}

int64_t Batches::next_into(std::span<const Ref<Tensor>> targets) {
  require(targets.size() == tensors_.size(), "batches: ", targets.size(), " tensors to fill from ", tensors_.size());
  const int64_t count = next_size();
  if (count == 0) {
    drop_ahead();
    end_epoch();
    return 0;
  }
  for (size_t i = 0; i < targets.size(); i++) {
    const TensorType needed = batch_type(*tensors_[i], count);
    require(targets[i]->concrete() && targets[i]->type() == needed, "batches: tensor ", i + 1, " to fill is ",
            name(targets[i]->type()), ", but the batch is ", name(needed));
    require(!targets[i]->read_only(), "batches: tensor ", i + 1, " to fill is read-only");
    require(!repeats_elements(*targets[i]), "batches: tensor ", i + 1, " to fill has elements that share memory");
  }
  drop_ahead();
  shuffle_order_once();
  gather(targets, count);
  for (auto& t : targets) t->bump();
  taken_ += count;
  return count;
}

Ref<Tensor> Batches::state(const Allocator& allocator) const {
  TensorType type;
  type.dtype = DType::i64;
  type.shape = {4};
  auto t = Tensor::empty(allocator, type);
  auto* out = t->buffer().as<int64_t>();
  out[0] = static_cast<int64_t>(options_.seed), out[1] = epoch_, out[2] = taken_, out[3] = rows_;
  return t;
}

void Batches::set_state(const Tensor& state) {
  const TensorType& type = state.type();
  require(state.concrete() && type.device == Device::cpu && type.dtype == DType::i64 && type.shape == Shape{4},
          "batches: a state is i64[4] on the CPU, got ", name(type));
  const Buffer b = state.buffer();
  auto at = [&](int64_t i) { return b.as<int64_t>()[i * b.strides[0]]; };
  require(at(3) == rows_, "batches: the state is of ", at(3), " rows, but there are ", rows_);
  constexpr int64_t kLastEpoch = int64_t{1} << 62;  // so that counting on cannot overflow
  require(at(1) >= 0 && at(1) < kLastEpoch && at(2) >= 0 && at(2) <= rows_, "batches: the state is damaged: epoch ",
          at(1), ", ", at(2), " of ", rows_, " rows taken");
  drop_ahead();
  options_.seed = static_cast<uint64_t>(at(0));
  epoch_ = at(1);
  taken_ = at(2);
  ordered_ = false;
}

}  // namespace thunder

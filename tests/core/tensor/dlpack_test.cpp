#include "tensor/dlpack.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

// A producer: f32[2, 3] of 0 to 5 that counts how often it was let go.
struct Producer {
  float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int deleted = 0;
  DLManagedTensorVersioned managed{};

  Producer() {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) { static_cast<Producer*>(self->manager_ctx)->deleted++; };
    managed.dl_tensor = {data, {kDLPackCpu, 0}, 2, {2, 32, 1}, shape, strides, 0};
  }
  DLTensor& tensor() { return managed.dl_tensor; }
  std::string refusal() {
    auto text = failure_of([&] { from_dlpack(&managed); });
    EXPECT_EQ(deleted, 0) << "what is refused stays the caller's";
    return text;
  }
};

TEST(FromDlpack, shares_the_memory_and_lets_go_once) {
  Producer producer;
  auto t = from_dlpack(&producer.managed);
  EXPECT_EQ(name(t->type()), "f32[2, 3]");
  EXPECT_EQ(static_cast<void*>(t->data()), producer.data);
  EXPECT_FALSE(t->read_only());
  auto view = Tensor::view(t->storage(), type_of(DType::f32, {1}), Sizes{1}, 4);
  t = nullptr;
  EXPECT_EQ(producer.deleted, 0) << "a view still uses it";
  EXPECT_EQ(values_of<float>(*view), std::vector<float>{1});
  view = nullptr;
  EXPECT_EQ(producer.deleted, 1);
}

TEST(FromDlpack, reads_null_strides_as_rows) {
  Producer producer;
  producer.tensor().strides = nullptr;
  EXPECT_TRUE(from_dlpack(&producer.managed)->contiguous());
}

TEST(FromDlpack, honours_offset_and_strides_of_any_sign) {
  Producer producer;
  producer.tensor().byte_offset = 4;
  EXPECT_EQ(values_of<float>(*from_dlpack(&producer.managed)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  producer.tensor().byte_offset = 16;
  producer.strides[0] = -3, producer.strides[1] = 1;
  auto t = from_dlpack(&producer.managed);
  EXPECT_EQ(values_of<float>(*t), (std::vector<float>{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(static_cast<void*>(t->storage()->data()), producer.data + 1) << "the storage begins at the lowest address";
  EXPECT_EQ(t->storage()->bytes(), 24u);
}

TEST(FromDlpack, keeps_read_only) {
  Producer producer;
  producer.managed.flags = kDLPackReadOnly;
  EXPECT_TRUE(from_dlpack(&producer.managed)->read_only());
}

TEST(FromDlpack, needs_no_deleter) {
  Producer producer;
  producer.managed.deleter = nullptr;
  EXPECT_EQ(values_of<float>(*from_dlpack(&producer.managed)), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(producer.deleted, 0);
}

TEST(FromDlpack, takes_scalars_empty_tensors_and_pinned_memory) {
  Producer producer;
  producer.tensor().ndim = 0;
  producer.tensor().shape = producer.tensor().strides = nullptr;
  EXPECT_EQ(name(from_dlpack(&producer.managed)->type()), "f32[]");
  Producer empty;
  empty.shape[0] = 0;
  empty.tensor().data = nullptr;
  EXPECT_EQ(from_dlpack(&empty.managed)->elements(), 0);
  EXPECT_EQ(empty.deleted, 1);
  Producer pinned;
  pinned.tensor().device = {kDLPackCudaHost, 0};
  EXPECT_EQ(from_dlpack(&pinned.managed)->type().device, Device::cpu);
}

TEST(FromDlpack, takes_the_unversioned_structure) {
  Producer producer;
  DLManagedTensor old{producer.tensor(), &producer, [](DLManagedTensor* self) {
                        static_cast<Producer*>(self->manager_ctx)->deleted++;
                      }};
  EXPECT_EQ(values_of<float>(*from_dlpack(&old)).size(), 6u);
  EXPECT_EQ(producer.deleted, 1);
}

TEST(FromDlpack, refuses_what_it_cannot_hold) {
  auto refusal = [](auto&& change) {
    Producer producer;
    change(producer);
    return producer.refusal();
  };
  EXPECT_PRED2(contains, refusal([](auto& p) { p.managed.version.major = 2; }), "version 2.0 is not supported");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().dtype.lanes = 4; }), "4 lanes");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().dtype.bits = 8; }), "no dtype has code 2 and 8 bits");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().device.device_type = 10; }), "device type 10");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().device = {2, -1}; }), "has the index -1");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().ndim = -1; }), "rank -1");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().ndim = 33; }), "rank 33");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().shape = nullptr; }), "the shape is null");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().data = nullptr; }), "the data is null");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.tensor().byte_offset = 2; }), "not a multiple of 4");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.shape[0] = -1; }), "must not be negative");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.shape[0] = INT64_MAX; }), "would not fit in memory");
  EXPECT_PRED2(contains, refusal([](auto& p) { p.strides[0] = INT64_MAX; }), "63 bits");
}

TEST(ToDlpack, passes_on_what_the_tensor_shows) {
  auto base = tensor_of<float>(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto column = Tensor::view(base->storage(), type_of(DType::f32, {2}), Sizes{3}, 8);
  column->set_read_only();
  DLManagedTensorVersioned* out = to_dlpack_versioned(column);
  EXPECT_EQ(out->version.major, 1u);
  EXPECT_EQ(out->flags, kDLPackReadOnly);
  const DLTensor& t = out->dl_tensor;
  EXPECT_EQ(t.device.device_type, kDLPackCpu);
  EXPECT_EQ(t.dtype.code, 2);
  EXPECT_EQ(t.dtype.bits, 32);
  EXPECT_EQ(t.dtype.lanes, 1);
  EXPECT_EQ(t.ndim, 1);
  EXPECT_EQ(t.shape[0], 2);
  EXPECT_EQ(t.strides[0], 3);
  EXPECT_EQ(t.byte_offset, 0u);
  EXPECT_EQ(static_cast<float*>(t.data)[3], 6);
  out->deleter(out);
  EXPECT_EQ(code_of([&] { to_dlpack(column); }), Code::failed_precondition);
}

TEST(ToDlpack, keeps_the_memory_until_the_consumer_lets_go) {
  auto t = tensor_of<float>(DType::f32, {2}, {1, 2});
  auto storage = t->storage();
  DLManagedTensor* out = to_dlpack(t);
  t = nullptr;
  EXPECT_FALSE(storage->unique());
  EXPECT_EQ(static_cast<float*>(out->dl_tensor.data)[1], 2);
  std::thread([&] { out->deleter(out); }).join();
  EXPECT_TRUE(storage->unique());
}

TEST(ToDlpack, comes_back_as_it_went) {
  for (auto& row : all_dtypes()) {
    auto t = Tensor::empty(default_allocator(), type_of(row.dtype, {2, 0}));
    EXPECT_EQ(from_dlpack(to_dlpack_versioned(t))->type(), t->type());
    t = Tensor::empty(default_allocator(), type_of(row.dtype, {3, 2}));
    auto back = from_dlpack(to_dlpack(t));
    EXPECT_EQ(back->type(), t->type());
    EXPECT_EQ(back->data(), t->data());
  }
}

TEST(ToDlpack, refuses_tensors_without_data) {
  EXPECT_EQ(code_of([] { to_dlpack(Tensor::proxy(type_of(DType::f32, {1}), nullptr, 0)); }), Code::proxy_has_no_data);
}

}  // namespace
}  // namespace thunder

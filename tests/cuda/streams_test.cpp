// Memory that goes back and forth between our stream and those of another library (loans, event), both of which have much to do. The stand-in for the driver
// does work as late as it may, so that what is ordered too little is wrong at each run.
// covers: core/device/cuda/event.cpp core/device/cuda/loans.cpp core/device/cuda/streams.cpp
#include <dlfcn.h>

#include <bit>

#include "capi/context.h"
#include "cuda/cuda.h"
#include "device/cuda/device.h"
#include "device/exchange.h"
#include "support/fake_cuda/control.h"
#include "tensor/dlpack.h"

namespace thunder::test {
namespace {

using nvidia::Pointer;
using nvidia::Stream;

constexpr int64_t kElements = 4096;
constexpr size_t kBytes = kElements * sizeof(float);

// Lazy while it lives, where the driver is the stand-in.
struct Lazy {
  Lazy() { set(1); }
  ~Lazy() { set(0); }
  static bool is_fake() { return ::getenv("THUNDER_CUDA_DRIVER") != nullptr; }
  static void set(int32_t on) {
    const char* const path = ::getenv("THUNDER_CUDA_DRIVER");
    void* const library = path ? ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    if (library) reinterpret_cast<decltype(&fake_cuda_lazy)>(::dlsym(library, "fake_cuda_lazy"))(on);
  }
};

struct CudaStreams : CudaTest {
  CudaStreams() {
    must(driver.stream_create(&theirs, nvidia::kNonBlockingStream));
    for (Pointer* block : {&memory, &other}) must(driver.allocate(block, kBytes));
    for (Pointer& block : much) must(driver.allocate(&block, many()));
    twice_ = compile([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor), any(in[0].tensor)})));
    });
    data(*twice(on_gpu(tensor({kElements}, Floats(kElements, 1)))));  // compiled
  }
  ~CudaStreams() override {
    driver.stream_wait(theirs);
    Lazy::set(0);
    driver.stream_destroy(theirs);
    for (const Pointer block : {memory, other, much[0], much[1]}) driver.deallocate(block);
  }

  nvidia::CudaDevice& device = static_cast<nvidia::CudaDevice&>(context->devices().accelerator(kGpu));
  const nvidia::Driver& driver = device.driver();
  Stream theirs = nullptr;
  Pointer memory = 0, other = 0, much[2] = {};
  Lazy lazy;

  static void must(int result) { ASSERT_EQ(result, 0); }
  static size_t many() { return Lazy::is_fake() ? size_t{1} << 12 : size_t{1} << 28; }
  Stream ours() { return static_cast<Stream>(device.native_stream()); }
  // Milliseconds of work.
  void keep_busy(Stream stream) {
    for (int i = 0; i < 20; i++) must(driver.copy(much[1], much[0], many(), stream));
  }
  void fill(Pointer at, float value, Stream stream) { must(driver.set_words(at, std::bit_cast<unsigned>(value), kElements, stream)); }

  Ref<Tensor> twice(const Ref<Tensor>& x) { return result(*twice_, {x.get()}); }
  // Their memory as a tensor, whose end is written to `ended`: what they then do with the memory follows at once, on their stream.
  struct Lent {
    DLManagedTensor managed{};
    int64_t shape = kElements;
    std::function<void()> end;
  };
  Ref<Tensor> borrowed(const std::function<void()>& end = nullptr) {
    auto* const lent = new Lent;
    lent->managed.dl_tensor = {reinterpret_cast<void*>(memory), {kDLPackCuda, 0}, 1, {2, 32, 1}, &lent->shape, nullptr, 0};
    lent->managed.manager_ctx = lent, lent->end = end;
    lent->managed.deleter = [](DLManagedTensor* self) {
      auto* const of = static_cast<Lent*>(self->manager_ctx);
      if (of->end) of->end();
      delete of;
    };
    thunder_tensor* out = nullptr;
    EXPECT_EQ(thunder_tensor_from_dlpack_legacy(capi::handle(context.get()), &lent->managed, &out), nullptr);
    return Ref<Tensor>::adopt(capi::core(out));
  }
  struct StreamHandle {
    thunder_stream* stream = nullptr;
    ~StreamHandle() { thunder_stream_release(stream); }
  };
  void name_stream(StreamHandle& out, Stream native) {
    ASSERT_EQ(thunder_stream_create(capi::handle(context.get()), THUNDER_CUDA(0), native, &out.stream), nullptr);
  }
  DLManagedTensor* lent(const Ref<Tensor>& t, Stream native) {
    StreamHandle handle;
    name_stream(handle, native);
    DLManagedTensor* out = nullptr;
    EXPECT_EQ(thunder_tensor_to_dlpack_legacy(capi::handle(t.get()), handle.stream, &out), nullptr);
    return out;
  }
  static Pointer at(const DLManagedTensor& t) { return reinterpret_cast<Pointer>(t.dl_tensor.data); }
  Floats read(Pointer from, Stream stream) {
    Floats out(kElements);
    must(driver.copy_out(out.data(), from, kBytes, stream));
    must(driver.stream_wait(stream));
    return out;
  }
  static Floats all(float value) { return Floats(kElements, value); }

 private:
  Ref<Compiled> twice_;
};

TEST_F(CudaStreams, memory_of_others_is_theirs_again_when_our_work_is_done) {
  fill(memory, 3, theirs);
  must(driver.stream_wait(theirs));
  bool ended = false;
  keep_busy(ours());
  Ref<Tensor> y;
  {
    const Ref<Tensor> x = borrowed([&] {
      ended = true;
      fill(memory, -1, theirs);  // whoever has it next
      must(driver.stream_wait(theirs));
    });
    y = twice(x);
  }
  if (Lazy::is_fake()) EXPECT_FALSE(ended);
  EXPECT_EQ(data(*y), all(6));
  EXPECT_TRUE(ended);
}

TEST_F(CudaStreams, what_others_do_on_the_legacy_stream_comes_before_and_behind_ours_in_turn) {
  keep_busy(nullptr);
  fill(memory, 3, nullptr);
  const Ref<Tensor> x = borrowed();
  keep_busy(ours());
  const Ref<Tensor> y = twice(x);
  fill(memory, -1, nullptr);
  must(driver.stream_wait(nullptr));
  EXPECT_EQ(data(*y), all(6));
  EXPECT_EQ(data(*twice(x)), all(-2));
}

TEST_F(CudaStreams, what_others_do_on_a_stream_that_they_name_comes_before_and_behind_ours_in_turn) {
  StreamHandle handle;
  name_stream(handle, theirs);
  keep_busy(theirs);
  fill(memory, 3, theirs);
  Ref<Tensor> y;
  {
    const Ref<Tensor> x = borrowed();
    ASSERT_EQ(thunder_tensor_lent_on(capi::handle(x.get()), handle.stream), nullptr);
    keep_busy(ours());
    y = twice(x);
  }
  fill(memory, -1, theirs);
  must(driver.stream_wait(theirs));
  EXPECT_EQ(data(*y), all(6));
}

TEST_F(CudaStreams, of_a_consumer_wait_for_our_work) {
  const Ref<Tensor> x = on_gpu(tensor({kElements}, Floats(kElements, 5)));
  keep_busy(ours());
  const Ref<Tensor> y = twice(x);
  DLManagedTensor* const given = lent(y, theirs);
  must(driver.copy(other, at(*given), kBytes, theirs));
  EXPECT_EQ(read(other, theirs), all(10));
  given->deleter(given);
}

TEST_F(CudaStreams, memory_that_a_consumer_gave_back_is_written_when_its_work_is_done) {
  Ref<Tensor> y = twice(on_gpu(tensor({kElements}, Floats(kElements, 5))));
  DLManagedTensor* const given = lent(y, theirs);
  const Pointer block = at(*given);
  const DenseType type(y->type());
  keep_busy(theirs);
  must(driver.copy(other, block, kBytes, theirs));
  y = nullptr;
  given->deleter(given);
  const Ref<Tensor> zeros = Tensor::empty(device.allocator(), type);
  EXPECT_EQ(reinterpret_cast<Pointer>(zeros->data()), block) << "blocks are used again";
  fill_with_zeros(*zeros);
  EXPECT_EQ(data(*zeros), all(0));
  EXPECT_EQ(read(other, theirs), all(10));
}

TEST_F(CudaStreams, are_not_asked_for_anything_by_a_consumer_who_orders_by_itself) {
  const Ref<Tensor> y = on_gpu(tensor({kElements}, Floats(kElements, 5)));
  DLManagedTensor* const given = lent(y, nullptr);  // our own
  must(driver.stream_wait(ours()));
  EXPECT_EQ(driver.stream_query(theirs), 0);
  given->deleter(given);
}

TEST_F(CudaStreams, know_of_lent_memory_alone) {
  StreamHandle handle;
  name_stream(handle, theirs);
  const Ref<Tensor> x = on_gpu(tensor({2}, {1, 2}));
  const Ref<Status> failed = Ref<Status>::adopt(capi::core(thunder_tensor_lent_on(capi::handle(x.get()), handle.stream)));
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message().find("was not lent"), std::string::npos) << failed->message();
}

// An allocator of another library's, whose blocks are in the order of a stream of its.
struct Lender {
  const nvidia::Driver& driver;
  Stream stream;
  size_t lent = 0, back = 0;
  static void* lend(size_t bytes, void** stream, void** block, void* user) {
    auto& self = *static_cast<Lender*>(user);
    Pointer at = 0;
    if (self.driver.allocate(&at, bytes)) return nullptr;
    *stream = self.stream;
    self.lent++;
    return *block = reinterpret_cast<void*>(at);
  }
  static void give_back(void* block, void* user) {
    auto& self = *static_cast<Lender*>(user);
    self.back++;
    // Whoever has it next.
    EXPECT_EQ(self.driver.set_words(reinterpret_cast<Pointer>(block), 0, kElements, self.stream), 0);
    EXPECT_EQ(self.driver.stream_wait(self.stream), 0);
    self.driver.deallocate(reinterpret_cast<Pointer>(block));
  }
};

TEST_F(CudaStreams, of_a_lender_of_memory_are_waited_for_and_wait) {
  thunder_context* const handle = capi::handle(context.get());
  Lender lender{driver, theirs};
  const thunder_device_allocator allocator{sizeof allocator, Lender::lend, Lender::give_back, &lender};
  const Ref<Tensor> before = on_gpu(tensor({kElements}, Floats(kElements, 5)));
  const size_t used = device.memory().used;
  ASSERT_EQ(thunder_context_set_device_allocator(handle, THUNDER_CUDA(0), &allocator), nullptr);
  {
    keep_busy(theirs);  // with what had the block before
    Ref<Tensor> y = twice(before);
    EXPECT_EQ(lender.lent, 1U);
    EXPECT_EQ(device.memory().used, used) << "the lender counts its blocks";
    keep_busy(ours());
    Ref<Tensor> z = twice(y);
    y = nullptr;
    EXPECT_EQ(lender.back, 1U);
    EXPECT_EQ(data(*z), all(20));
    ASSERT_EQ(thunder_context_set_device_allocator(handle, THUNDER_CUDA(0), nullptr), nullptr);
    const size_t lent = lender.lent;
    EXPECT_EQ(data(*twice(z)), all(40));
    EXPECT_EQ(lender.lent, lent) << "blocks are the library's own again";
  }
  EXPECT_EQ(lender.back, lender.lent) << "each block goes back to whoever lent it";
}

TEST_F(CudaStreams, of_a_lender_whose_memory_is_full_get_an_error) {
  thunder_context* const handle = capi::handle(context.get());
  const thunder_device_allocator full{sizeof full, [](size_t, void**, void**, void*) -> void* { return nullptr; },
                                      [](void*, void*) {}, nullptr};
  ASSERT_EQ(thunder_context_set_device_allocator(handle, THUNDER_CUDA(0), &full), nullptr);
  EXPECT_FALSE(twice(borrowed()));
  ASSERT_EQ(thunder_context_set_device_allocator(handle, THUNDER_CUDA(0), nullptr), nullptr);
  EXPECT_NE(error.find("out of memory"), std::string::npos) << error;
}

TEST_F(CudaStreams, need_both_functions_of_a_lender) {
  const thunder_device_allocator none{sizeof none, nullptr, nullptr, nullptr};
  thunder_status* const refused = thunder_context_set_device_allocator(capi::handle(context.get()), THUNDER_CUDA(0), &none);
  ASSERT_NE(refused, nullptr);
  thunder_status_release(refused);
}

TEST_F(CudaStreams, have_events_that_order_them_and_tell_the_time) {
  thunder_event *first = nullptr, *last = nullptr;
  for (thunder_event** e : {&first, &last}) ASSERT_EQ(thunder_event_create(capi::handle(context.get()), THUNDER_CUDA(0), 1, e), nullptr);
  StreamHandle a, b;
  name_stream(a, theirs), name_stream(b, nullptr);
  fill(memory, 3, theirs);
  int32_t reached = 0;
  ASSERT_EQ(thunder_event_record(first, a.stream), nullptr);
  keep_busy(theirs);
  fill(memory, 4, theirs);
  ASSERT_EQ(thunder_event_record(last, a.stream), nullptr);
  ASSERT_EQ(thunder_event_query(last, &reached), nullptr);
  if (Lazy::is_fake()) EXPECT_FALSE(reached);
  ASSERT_EQ(thunder_stream_wait_event(b.stream, last), nullptr);
  EXPECT_EQ(data(*twice(borrowed())), all(8));
  ASSERT_EQ(thunder_event_wait(last), nullptr);
  ASSERT_EQ(thunder_event_query(last, &reached), nullptr);
  EXPECT_TRUE(reached);
  double ms = -1;
  ASSERT_EQ(thunder_event_elapsed(first, last, &ms), nullptr);
  EXPECT_GE(ms, 0);
  thunder_event_release(first), thunder_event_release(last);
  keep_busy(theirs);
  ASSERT_EQ(thunder_stream_query(a.stream, &reached), nullptr);
  if (Lazy::is_fake()) EXPECT_FALSE(reached);
  ASSERT_EQ(thunder_stream_wait(a.stream), nullptr);
  ASSERT_EQ(thunder_stream_query(a.stream, &reached), nullptr);
  EXPECT_TRUE(reached);
  EXPECT_EQ(thunder_stream_native(a.stream), theirs);
  EXPECT_EQ(thunder_stream_native(b.stream), device.native_stream());
  EXPECT_EQ(thunder_stream_native(nullptr), nullptr);
}

}  // namespace
}  // namespace thunder::test

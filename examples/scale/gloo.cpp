// An engine that moves bytes between ranks by Gloo (Debian: libgloo-dev), as a plugin:
//
//     c++ -std=c++17 -shared -fPIC -Iinclude examples/scale/gloo.cpp -lgloo -pthread -o build/gloo.so
//
// th.load_plugin("build/gloo.so"), then th.mesh(data=-1, engine="gloo"). Ranks find each other in the folder
// GLOO_FOLDER, which all hosts share and this start has for itself, over the network interface GLOO_SOCKET_IFNAME;
// without it they are on one machine.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <thunder/plugin.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace {

using Bytes = std::vector<char>;
using Context = std::shared_ptr<gloo::rendezvous::Context>;

// Ranks that communicate. Gloo's calls wait for other ranks, and the library's thread may not: a thread of the group
// makes them, one after the other. It has the operands as copies, since it may still wait when ranks were given up and
// what they had is gone.
class Group {
 public:
  Group(std::string name, int rank, int ranks) : name_(std::move(name)), rank_(rank), ranks_(ranks) {}
  const std::string& name() const { return name_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int count_split() { return ++splits_; }

  // The request of a call, which `work` makes.
  uint64_t begin(std::function<void(const Context&)> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    more_.notify_one();
    return ++begun_;
  }
  // Throws what a call threw.
  bool is_done(uint64_t request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failed_) std::rethrow_exception(failed_);
    return done_ >= request;
  }
  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    more_.notify_one();
  }
  // Of the thread.
  void run() {
    Context context;
    for (std::unique_lock<std::mutex> lock(mutex_);;) {
      more_.wait(lock, [this] { return stopping_ || !work_.empty(); });
      if (stopping_) return;
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      std::exception_ptr failed;
      try {
        if (!context) context = connected();
        work(context);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      failed_ = failed_ ? failed_ : failed;
      done_++;
    }
  }

 private:
  Context connected() const {
    const char* const folder = std::getenv("GLOO_FOLDER");
    if (!folder) throw std::runtime_error("GLOO_FOLDER does not say in which folder the ranks find each other");
    gloo::transport::tcp::attr where;
    if (const char* const interface = std::getenv("GLOO_SOCKET_IFNAME"))
      where.iface = interface;
    else
      where.hostname = "127.0.0.1";
    gloo::rendezvous::FileStore files(folder);
    gloo::rendezvous::PrefixStore own(name_, files);
    auto device = gloo::transport::tcp::CreateDevice(where);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank_, ranks_);
    context->connectFullMesh(own, device);
    return context;
  }

  const std::string name_;
  const int rank_, ranks_;
  int splits_ = 0;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void(const Context&)>> work_;
  uint64_t begun_ = 0, done_ = 0;
  std::exception_ptr failed_;
  bool stopping_ = false;
};

// The thread keeps the group, too: where it waits for a rank that does not come, nobody waits for it.
using Shared = std::shared_ptr<Group>;
Group& group_of(void* group) {
  return **static_cast<Shared*>(group);
}
void* started(std::string name, int64_t rank, int64_t ranks) {
  auto made = std::make_shared<Group>(std::move(name), static_cast<int>(rank), static_cast<int>(ranks));
  std::thread([made] { made->run(); }).detach();
  return new Shared(std::move(made));
}

template <class F>
thunder_status* reported(F&& f) {
  try {
    f();
    return nullptr;
  } catch (const std::exception& e) {
    return thunder_status_create(THUNDER_UNAVAILABLE, e.what(), std::strlen(e.what()));
  }
}

// Calls `f` with a number of the C++ type.
template <class F>
void with_type(thunder_dtype dtype, F&& f) {
  switch (dtype) {
    case THUNDER_I8:
      return f(int8_t{});
    case THUNDER_U8:
      return f(uint8_t{});
    case THUNDER_I16:
      return f(int16_t{});
    case THUNDER_U16:
      return f(uint16_t{});
    case THUNDER_I32:
      return f(int32_t{});
    case THUNDER_U32:
      return f(uint32_t{});
    case THUNDER_I64:
      return f(int64_t{});
    case THUNDER_U64:
      return f(uint64_t{});
    case THUNDER_F32:
      return f(float{});
    case THUNDER_F64:
      return f(double{});
    default:
      throw std::invalid_argument("gloo: it reduces no such dtype");
  }
}
size_t bytes_of(thunder_dtype dtype, int64_t count) {
  return static_cast<size_t>(count) * (dtype & 0xff) / 8;
}
Bytes copied(const void* data, size_t bytes) {
  const auto* const from = static_cast<const char*>(data);
  return Bytes(from, from + bytes);
}

template <class T>
void reduce(const Context& context, Bytes& data, int32_t reduction) {
  gloo::AllreduceOptions options(context);
  options.setOutput(reinterpret_cast<T*>(data.data()), data.size() / sizeof(T));
  using Reduce = void (*)(void*, const void*, const void*, size_t);
  options.setReduceFunction(reduction == THUNDER_SUM   ? static_cast<Reduce>(&gloo::sum<T>)
                            : reduction == THUNDER_MAX ? static_cast<Reduce>(&gloo::max<T>)
                                                       : static_cast<Reduce>(&gloo::min<T>));
  gloo::allreduce(options);
}

// Reduces `all` elements of each rank, of which those from `first` on are the result.
thunder_status* begin_reduce(Group& group, const void* in, void* out, int64_t all, int64_t first, int64_t count,
                             thunder_dtype dtype, int32_t reduction, uint64_t* request) {
  return reported([&] {
    with_type(dtype, [](auto) {});
    *request = group.begin([=, data = copied(in, bytes_of(dtype, all))](const Context& context) mutable {
      with_type(dtype, [&](auto number) { reduce<decltype(number)>(context, data, reduction); });
      std::memcpy(out, data.data() + bytes_of(dtype, first), bytes_of(dtype, count));
    });
  });
}

thunder_status* open(const thunder_engine_place* place, void** out, int64_t*, int64_t*, void*) {
  return reported([&] { *out = started("world", place->rank, place->ranks); });
}
// All ranks split in one order.
thunder_status* split(void* of, int64_t line, int64_t index, int64_t ranks, void** out, void*) {
  return reported([&] {
    Group& parent = group_of(of);
    *out =
        started(parent.name() + "." + std::to_string(parent.count_split()) + "." + std::to_string(line), index, ranks);
  });
}
void close(void* group, void*) {
  group_of(group).stop();
  delete static_cast<Shared*>(group);
}

thunder_status* all_reduce(void* group, const void* in, void* out, int64_t count, thunder_dtype dtype,
                           int32_t reduction, uint64_t* request, void*) {
  return begin_reduce(group_of(group), in, out, count, 0, count, dtype, reduction, request);
}
// Gloo's own is of one buffer in place, and of other parts where ranks are no power of two.
thunder_status* reduce_scatter(void* group, const void* in, void* out, int64_t count, thunder_dtype dtype,
                               int32_t reduction, uint64_t* request, void*) {
  Group& g = group_of(group);
  return begin_reduce(g, in, out, count * g.ranks(), count * g.rank(), count, dtype, reduction, request);
}

thunder_status* all_gather(void* group, const void* in, void* out, int64_t count, thunder_dtype dtype,
                           uint64_t* request, void*) {
  Group& g = group_of(group);
  const size_t bytes = bytes_of(dtype, count), all = bytes * static_cast<size_t>(g.ranks());
  return reported([&] {
    *request = g.begin([=, data = copied(in, bytes)](const Context& context) mutable {
      gloo::AllgatherOptions options(context);
      options.setInput(data.data(), bytes);
      options.setOutput(static_cast<char*>(out), all);
      gloo::allgather(options);
    });
  });
}

thunder_status* broadcast(void* group, void* data, int64_t count, thunder_dtype dtype, int64_t root, uint64_t* request,
                          void*) {
  return reported([&] {
    *request = group_of(group).begin([=, given = copied(data, bytes_of(dtype, count))](const Context& context) mutable {
      gloo::BroadcastOptions options(context);
      options.setOutput(given.data(), given.size());
      options.setRoot(static_cast<int>(root));
      gloo::broadcast(options);
      std::memcpy(data, given.data(), given.size());
    });
  });
}

thunder_status* all_to_all(void* group, const void* in, void* out, int64_t count, thunder_dtype dtype,
                           uint64_t* request, void*) {
  Group& g = group_of(group);
  const size_t all = bytes_of(dtype, count) * static_cast<size_t>(g.ranks());
  return reported([&] {
    *request = g.begin([=, data = copied(in, all)](const Context& context) mutable {
      gloo::AlltoallOptions options(context);
      options.setInput(data.data(), all);
      options.setOutput(static_cast<char*>(out), all);
      gloo::alltoall(options);
    });
  });
}

thunder_status* send_receive(void* group, const void* in, int64_t to, void* out, int64_t from, int64_t count,
                             thunder_dtype dtype, uint64_t* request, void*) {
  Group& g = group_of(group);
  const size_t bytes = bytes_of(dtype, count);
  return reported([&] {
    *request = g.begin([=, &g, data = copied(in, to < 0 ? 0 : bytes)](const Context& context) mutable {
      constexpr uint64_t kSlot = uint64_t{0xff} << 56;  // of none of Gloo's collectives
      if (to == g.rank()) return static_cast<void>(std::memcpy(out, data.data(), bytes));
      auto sent = context->createUnboundBuffer(data.data(), data.size());
      auto received = context->createUnboundBuffer(out, bytes);
      if (from >= 0) received->recv(static_cast<int>(from), kSlot);
      if (to >= 0) sent->send(static_cast<int>(to), kSlot);
      if (from >= 0) received->waitRecv(context->getTimeout());
      if (to >= 0) sent->waitSend(context->getTimeout());
    });
  });
}

thunder_status* test(void* group, uint64_t* request, int32_t* done, void*) {
  return reported([&] { *done = group_of(group).is_done(*request); });
}

thunder_status* start(thunder_context* context, const thunder_host_api*) {
  thunder_engine_desc desc{};
  desc.size = sizeof desc, desc.name = "gloo";
  desc.open = open, desc.split = split, desc.close = close, desc.test = test;
  desc.all_reduce = all_reduce, desc.all_gather = all_gather, desc.reduce_scatter = reduce_scatter;
  desc.broadcast = broadcast, desc.all_to_all = all_to_all, desc.send_receive = send_receive;
  return thunder_context_add_engine(context, &desc);
}

constexpr thunder_plugin_desc kPlugin = {sizeof kPlugin, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "gloo", "1.0", start};

}  // namespace

THUNDER_PLUGIN_MAIN(&kPlugin)

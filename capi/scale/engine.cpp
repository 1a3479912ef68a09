// thunder_context_add_engine: engines of the caller's that move bytes between ranks.
#include "scale/engine.h"

#include "base/text.h"
#include "capi/callback.h"
#include "capi/context.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

static_assert(same(THUNDER_SUM, RankReduction::sum) && same(THUNDER_MAX, RankReduction::max) &&
              same(THUNDER_MIN, RankReduction::min));

struct CEngine {
  thunder_engine_desc desc{};
  std::string name;
  ~CEngine() {
    if (desc.destroy) desc.destroy(desc.user);
  }
  // Runs a function of the descriptor; what it returns is thrown, with the engine's name in front.
  template <class F>
  void call(const char* function, F&& f) const {
    if (const Ref<Status> failed = call_with_status(cat("its ", function), f))
      throw Error(failed->code(), cat("engine ", name, ": ", function, ": ", failed->message()));
  }
};

class CGroup : public scale::Group {
 public:
  CGroup(std::shared_ptr<CEngine> engine, void* group, int64_t rank, int64_t ranks)
      : engine_(std::move(engine)), desc_(engine_->desc), group_(group), rank_(rank), ranks_(ranks) {}
  ~CGroup() override { desc_.close(group_, desc_.user); }
  int64_t rank() const override { return rank_; }
  int64_t ranks() const override { return ranks_; }

  std::unique_ptr<scale::Group> split(int64_t line, int64_t index, int64_t ranks) override {
    void* part = nullptr;
    engine_->call("split", [&] { return desc_.split(group_, line, index, ranks, &part, desc_.user); });
    return std::make_unique<CGroup>(engine_, part, index, ranks);
  }

  uint64_t begin(const scale::GroupCall& c) override {
    const bool reduces = c.what == Collective::all_reduce || c.what == Collective::reduce_scatter;
    const auto dtype = static_cast<thunder_dtype>(reduces ? summed(c.dtype) : scale::type_of_bytes(size_of(c.dtype)));
    const auto reduction = static_cast<int32_t>(c.reduction);
    uint64_t request = 0;
    switch (c.what) {
      case Collective::all_reduce:
        engine_->call("all_reduce", [&] {
          return desc_.all_reduce(group_, c.in, c.out, c.count, dtype, reduction, &request, desc_.user);
        });
        break;
      case Collective::all_gather:
        engine_->call("all_gather",
                      [&] { return desc_.all_gather(group_, c.in, c.out, c.count, dtype, &request, desc_.user); });
        break;
      case Collective::reduce_scatter:
        engine_->call("reduce_scatter", [&] {
          return desc_.reduce_scatter(group_, c.in, c.out, c.count, dtype, reduction, &request, desc_.user);
        });
        break;
      case Collective::broadcast:
        engine_->call("broadcast",
                      [&] { return desc_.broadcast(group_, c.out, c.count, dtype, c.root, &request, desc_.user); });
        break;
      case Collective::all_to_all:
        require_function("all_to_all", desc_.all_to_all);
        engine_->call("all_to_all",
                      [&] { return desc_.all_to_all(group_, c.in, c.out, c.count, dtype, &request, desc_.user); });
        break;
      case Collective::ppermute:
        require_function("send_receive", desc_.send_receive);
        engine_->call("send_receive", [&] {
          return desc_.send_receive(group_, c.in, c.passing.to, c.out, c.passing.from, c.count, dtype, &request,
                                    desc_.user);
        });
        break;
      case Collective::barrier:
        break;  // the ranks have met
    }
    return request;
  }

  bool test(uint64_t& request) override {
    int32_t done = 0;
    engine_->call("test", [&] { return desc_.test(group_, &request, &done, desc_.user); });
    return done != 0;
  }

  bool carries_notes() const override { return desc_.send != nullptr; }
  void send(int64_t rank, std::string_view note) override {
    const std::string text(note.substr(0, kNoteBytes - 1));
    engine_->call("send", [&] { return desc_.send(group_, rank, text.c_str(), text.size() + 1, desc_.user); });
  }

  std::optional<std::string> receive() override {
    char note[kNoteBytes] = "";
    size_t bytes = 0;
    engine_->call("receive", [&] { return desc_.receive(group_, note, &bytes, desc_.user); });
    if (bytes == 0) return std::nullopt;
    note[kNoteBytes - 1] = 0;
    return std::string(note);
  }

 private:
  // All ranks have the same engine, and go on.
  void require_function(const char* name, bool there) const {
    require(there, "engine ", engine_->name, " has no ", name, ", which this collective is made of");
  }
  static DType summed(DType d) { return d == DType::boolean ? DType::u8 : d; }

  const std::shared_ptr<CEngine> engine_;
  const thunder_engine_desc& desc_;
  void* const group_;
  const int64_t rank_, ranks_;
};

class EngineOfCaller : public scale::Engine {
 public:
  explicit EngineOfCaller(std::shared_ptr<CEngine> engine) : engine_(std::move(engine)) {}
  std::string name() const override { return engine_->name; }
  std::string description() const override { return "of the program's own"; }
  void give_up() override {
    if (engine_->desc.give_up) engine_->desc.give_up(engine_->desc.user);
  }
  std::unique_ptr<scale::Group> open(const scale::ProcessPlace& place, const scale::JoinOptions& how) override {
    const thunder_engine_place given{sizeof given, place.rank, place.ranks, place.local_rank, how.communicator};
    void* group = nullptr;
    int64_t rank = place.rank, ranks = place.ranks;
    engine_->call("open", [&] { return engine_->desc.open(&given, &group, &rank, &ranks, engine_->desc.user); });
    auto opened = std::make_unique<CGroup>(engine_, group, rank, ranks);
    require(rank >= 0 && rank < ranks, "engine ", engine_->name, ": open gave rank ", rank, " of ", ranks);
    return opened;
  }

 private:
  const std::shared_ptr<CEngine> engine_;
};

void check_complete(const thunder_engine_desc& d, const std::string& name) {
  const std::pair<const char*, bool> functions[] = {{"open", d.open},
                                                    {"split", d.split},
                                                    {"close", d.close},
                                                    {"all_reduce", d.all_reduce},
                                                    {"all_gather", d.all_gather},
                                                    {"reduce_scatter", d.reduce_scatter},
                                                    {"broadcast", d.broadcast},
                                                    {"test", d.test}};
  for (auto& [function, there] : functions) check(there, "engine '", name, "' has no ", function);
  check(!d.send == !d.receive, "engine '", name, "' has one of send and receive; both or neither are needed");
}

}  // namespace

extern "C" thunder_status* thunder_context_add_engine(thunder_context* context,
                                                      const thunder_engine_desc* desc) noexcept {
  return given(guarded(__func__, [&] {
    auto kept = keep_descriptor<CEngine>(desc);
    need(context, "context"), need(kept->desc.name, "the name of the engine");
    kept->name = kept->desc.name;
    check(!kept->name.empty() && kept->name != "mpi" && kept->name != "nccl", "'", kept->name,
          "' is no name for an engine: ", kept->name.empty() ? "it is empty" : "it is built in");
    check_complete(kept->desc, kept->name);
    rank_axes(core(context)->registry()).add_engine(kept->name, std::make_shared<EngineOfCaller>(kept));
  }));
}

// thunder_mesh_*, thunder_scope_grad_over_ranks: programs on several processes.
#include <cstdlib>

#include "capi/module.h"
#include "capi/options.h"
#include "modules/fully_shard.h"
#include "modules/tensor_parallel.h"
#include "modules/world_grads.h"
#include "scale/mpi/mpi.h"
#include "scale/nccl/nccl.h"
#include "scale/world.h"

using namespace thunder;
using namespace thunder::capi;
using scale::World;

namespace {

constexpr OptionRow kOptions[] = {
    {"engine", ArgKind::string, "mpi", "what moves bytes between ranks"},
    {"folder", ArgKind::string, "", "by which ranks find each other, for engines that need it"},
    {"timeout", ArgKind::real, "120.0", "seconds that the ranks of a collective wait for one another"},
    {"communicator", ArgKind::integer, "0", "the host's own, as an integer"},
    {"rank", ArgKind::integer, "0", "which process this is, where no launcher says it"},
    {"ranks", ArgKind::integer, "1", "of how many"},
};

}  // namespace

namespace thunder::capi {

class MeshHandle : public Counted<MeshHandle> {
 public:
  MeshHandle(Ref<Context> context, std::shared_ptr<World> world)
      : context(std::move(context)), world(std::move(world)), text(this->world->description()) {}
  const Ref<Context> context;
  const std::shared_ptr<World> world;
  const std::string text;
};
THUNDER_COUNTED_HANDLE(mesh, MeshHandle)

}  // namespace thunder::capi

namespace {

std::string_view axis_name(const char* axis) {
  return axis ? axis : kWorldAxis;
}

const char* variable(const char* name) {
  return std::getenv(name);
}

scale::ProcessPlace place_of(const Options& options) {
  if (!options.find("rank") && !options.find("ranks")) return scale::read_launcher(variable);
  require(options.find("rank") && options.find("ranks"), "mesh: of the options rank and ranks one alone was given");
  const int64_t rank = options.integer("rank", 0), ranks = options.integer("ranks", 1);
  require(rank >= 0 && rank < ranks, "mesh: rank ", rank, " of ", ranks, " is none: ranks count from 0");
  return {"", rank, ranks, rank};
}

std::shared_ptr<scale::Engine> engine_of(Context& context, const std::string& name) {
  if (auto engine = rank_axes(context.registry()).find_engine(name)) return engine;
  if (name == "nccl") return scale::nccl_engine(context.devices());
  require(name == "mpi", "mesh: there is no engine '", name,
          "'; 'mpi' and 'nccl' are built in, thunder_context_add_engine adds others");
  return scale::mpi_engine();
}

std::shared_ptr<World> open_world(Context& context, const Options& options) {
  const scale::ProcessPlace place = place_of(options);
  const scale::WorldOptions how{options.real("timeout", 120),
                                {options.integer("communicator", 0), options.text("folder", "")},
                                &context.interrupts()};
  auto engine = engine_of(context, options.text("engine", "mpi"));
  if (place.ranks == 1 && !how.join.communicator && !options.find("engine")) engine = nullptr;
  return std::make_shared<World>(std::move(engine), place, how);
}

// The one of the context; a new one where it is broken.
std::shared_ptr<World> world_of(Context& context, const Options& options) {
  RankAxesSlot& slot = rank_axes(context.registry());
  auto axes = slot.get();
  if (!axes || axes->broken()) axes = slot.set(open_world(context, options));
  auto world = std::dynamic_pointer_cast<World>(axes);
  if (options.find("timeout")) world->set_timeout(options.real("timeout", 120));
  return world;
}

// The parameters of a module, in place.
void start_as_rank_0(World& world, std::string_view axis, Module& module) {
  module.replace_parameters([&](const Ref<Tensor>& t) {
    check(!t->read_only(), "a parameter of the module cannot be written");
    if (!t->sharding()) world.broadcast(axis, *t, 0);
    return t;
  });
}

}  // namespace

extern "C" {

thunder_status* thunder_mesh_create(thunder_context* context, const char* axes, const thunder_options* options_or_null,
                                    thunder_mesh** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    const Options none, *named = usable_options(options_or_null), &options = named ? *named : none;
    options.check(kOptions, "mesh");
    Ref<Context> owner(core(context));
    auto world = world_of(*owner, options);
    if (axes && *axes) world->add_axes(axes);
    world->broadcast(kWorldAxis, *owner->random(), 0);
    *out = given(make<MeshHandle>(std::move(owner), std::move(world)));
  }));
}

thunder_mesh* thunder_mesh_retain(thunder_mesh* mesh) noexcept {
  return retained(mesh);
}
void thunder_mesh_release(thunder_mesh* mesh) noexcept {
  released(mesh);
}

int64_t thunder_mesh_size(const thunder_mesh* mesh, const char* axis) noexcept {
  const MeshHandle* const m = core(mesh);
  return value_or<int64_t>(-1, [&] { return m ? m->world->size(axis_name(axis)) : -1; });
}
int64_t thunder_mesh_index(const thunder_mesh* mesh, const char* axis) noexcept {
  const MeshHandle* const m = core(mesh);
  return value_or<int64_t>(-1, [&] { return m ? m->world->index(axis_name(axis)) : -1; });
}
int64_t thunder_mesh_local_rank(const thunder_mesh* mesh) noexcept {
  const auto* const object = core(mesh);
  return object ? object->world->place().local_rank : -1;
}
thunder_device thunder_mesh_device(const thunder_mesh* mesh) noexcept {
  return mesh ? static_cast<thunder_device>(core(mesh)->world->device()) : THUNDER_CPU;
}
const char* thunder_mesh_text(const thunder_mesh* mesh) noexcept {
  const auto* const object = core(mesh);
  return object ? object->text.c_str() : "";
}

thunder_status* thunder_mesh_barrier(thunder_mesh* mesh, const char* axis) noexcept {
  return given(guarded(__func__, [&] {
    need(mesh, "mesh");
    core(mesh)->world->barrier(axis_name(axis));
  }));
}

thunder_status* thunder_mesh_broadcast(thunder_mesh* mesh, const char* axis, const thunder_values* tensors,
                                       int64_t root) noexcept {
  return given(guarded(__func__, [&] {
    need(mesh, "mesh");
    const Values& values = require_usable(tensors, "tensors");
    for (size_t i = 0; i < values.size(); i++) {
      const Ref<Tensor>& t = values[i].tensor;
      if (!t) continue;
      check(t->concrete() && !t->read_only(), "'", values.path(i), "' is no tensor that can be written");
      if (t->sharding() && (axis_name(axis) == kWorldAxis || t->sharding()->axis == axis_name(axis))) continue;
      core(mesh)->world->broadcast(axis_name(axis), *t, root);
    }
  }));
}

thunder_status* thunder_mesh_fully_shard(thunder_mesh* mesh, const char* axis, thunder_module* module,
                                         int32_t reshard_after_forward) noexcept {
  return given(guarded(__func__, [&] {
    need(mesh, "mesh"), need(module, "module");
    start_as_rank_0(*core(mesh)->world, axis_name(axis), *core(module)->module);
    fully_shard(core(module)->context->scope_environment(), *core(module)->module, axis_name(axis),
                reshard_after_forward != 0);
  }));
}

thunder_status* thunder_mesh_parallelize_module(thunder_mesh* mesh, const char* axis, thunder_module* module,
                                                const char* plan) noexcept {
  return given(guarded(__func__, [&] {
    need(mesh, "mesh"), need(module, "module"), need(plan, "plan");
    start_as_rank_0(*core(mesh)->world, axis_name(axis), *core(module)->module);
    parallelize_module(core(module)->context->scope_environment(), *core(module)->module, axis_name(axis), plan);
  }));
}

thunder_values* thunder_scope_grad_over_ranks(thunder_scope* scope, thunder_tensor* loss, thunder_values* wrt,
                                              const char* axis, const char* reduction) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(loss, "loss"), need(axis, "axis");
    const Values& of = require_usable(wrt, "wrt");
    const auto held = hold_values(of);
    return grad_over_ranks(*core(scope), core(loss), of, axis, reduction ? reduction : "mean");
  }));
}

thunder_values* thunder_scope_reduce_gradients(thunder_scope* scope, thunder_values* grads, thunder_values* wrt,
                                               const char* axis, const char* reduction,
                                               thunder_dtype reduce_dtype) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(axis, "axis");
    const Values &given = require_usable(grads, "grads"), &of = require_usable(wrt, "wrt");
    const auto held = hold_values(of), held_grads = hold_values(given);
    const auto dtype = static_cast<DType>(reduce_dtype);
    check(reduce_dtype == 0 || known(dtype), "unknown dtype ", reduce_dtype);
    return reduce_gradients(*core(scope), given, of, {axis, reduction ? reduction : "mean", dtype});
  }));
}

}  // extern "C"

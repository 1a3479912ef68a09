#include "jit/compiled_state.h"

#include "jit/asked_function.h"

namespace thunder {

CompiledState::CompiledState(CompileSetup with, Ref<Function> f)
    : setup(std::move(with)),
      context(*setup.context),
      settings(setup.options->settings()),
      function(wrap_with_settings(std::move(f), setup.context, settings)),
      sizes(dynamic_sizes(settings)),
      caches(settings.cache != CacheMode::no_caching),
      looks_up(caches && !settings.disable),
      programs(setup.recent),
      runner(context, *function),
      limits(context, *function, settings),
      dynamic(sizes != DynamicSizes::no && looks_up ? std::make_unique<Dynamic>() : nullptr),
      segments(settings.fullgraph ? nullptr : std::make_unique<Segments>()) {
  if (auto* saved = dynamic ? dynamic_cast<const SavedFunction*>(function.get()) : nullptr)
    for (const SavedProgram& p : saved->programs()) dynamic->add(saved->name(), p);
}

}  // namespace thunder

// Lazy kinds: layers that read one of their sizes off the first input, and are plain ones from then on.
#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

size_t last_dim(size_t rank) {
  return rank - 1;
}
size_t second_dim(size_t) {
  return 1;
}
// The channels of [N, C, ...], or of [C, ...] with so many dims behind.
template <size_t dims>
size_t channel_dim(size_t rank) {
  return rank == dims + 1 ? 0 : 1;
}

struct LazyRow {
  std::string_view to, size;
  size_t (*axis)(size_t rank);
};
constexpr LazyRow kRows[] = {
    {"Linear", "in_features", last_dim},
    {"Conv1d", "in_channels", channel_dim<1>},
    {"Conv2d", "in_channels", channel_dim<2>},
    {"Conv3d", "in_channels", channel_dim<3>},
    {"ConvTranspose1d", "in_channels", channel_dim<1>},
    {"ConvTranspose2d", "in_channels", channel_dim<2>},
    {"ConvTranspose3d", "in_channels", channel_dim<3>},
    {"BatchNorm1d", "num_features", second_dim},
    {"BatchNorm2d", "num_features", second_dim},
    {"BatchNorm3d", "num_features", second_dim},
    {"InstanceNorm1d", "num_features", channel_dim<1>},
    {"InstanceNorm2d", "num_features", channel_dim<2>},
    {"InstanceNorm3d", "num_features", channel_dim<3>},
};

// The other kind's, without the size, which is its first parameter.
std::string lazy_schema(const Schema& of, std::string_view size) {
  const std::string first = cat("(int ", size);
  std::string text = of.text;
  const size_t at = text.find(first);
  ensure(at == of.name.size(), of.name, " does not begin with '", size, "'");
  const bool last = text[at + first.size()] == ')';
  text.erase(at + 1, first.size() - 1 + (last ? 0 : 2));
  return "Lazy" + text;
}

int64_t size_of_input(const ModuleCall& c, const Becoming& becoming) {
  const TensorType& type = c.input()->type();
  const std::string_view kind = c.module.kind().name();
  const size_t axis = type.rank() ? becoming.axis(type.rank()) : 0;
  require(axis < type.rank(), kind, ": the input must have at least ", type.rank() ? 2 : 1, " dims, got ", name(type));
  const Dim size = type.shape[axis];
  require(size.constant(), kind, ": the size of dim ", axis, " must be known at the first call, which reads ",
          becoming.size, " off it, got ", name(type), "; call the module once before it is compiled with `dynamic`");
  return size.value();
}

// Turns the module into the other kind, on the device of its input, and calls it.
void materialize_and_call(ModuleCall& c) {
  const ModuleKind& lazy = c.module.kind();
  const Becoming& becoming = lazy.becoming();
  const int64_t size = size_of_input(c, becoming);
  std::vector<Leaf> options;
  for (const Param& p : becoming.to->schema().params) {
    Leaf option;
    if (p.name == becoming.size)
      option.kind = ArgKind::integer, option.i = size;
    else
      option = c.module.option(p.name);
    options.push_back(std::move(option));
  }
  const Device device = c.input()->type().device;
  const ModuleEnvironment environment{c.scope.environment(), nullptr};
  auto made = make<Module>(*becoming.to, std::move(options));
  ModuleInit init(*made, environment);
  becoming.to->init(init);
  if (device != Device::cpu && environment.scope.devices) made->to(*environment.scope.devices, device);
  c.module.become(*made);
  becoming.to->forward(c);
}

}  // namespace

ModuleKind::ModuleKind(std::string_view schema, std::string_view doc, const Becoming& becoming)
    : schema_(parse_schema(schema)),
      doc_(doc),
      inputs_(parse_schema(kOneTensor)),
      becoming_(becoming),
      init(nullptr),
      forward(materialize_and_call) {}

void register_lazy_kinds(ModuleKinds& kinds) {
  for (const LazyRow& row : kRows) {
    const ModuleKind& to = kinds.get(row.to);
    const std::string doc =
        cat(row.to, " whose ", row.size,
            " is that of the first input: until then it has no tensors, and from then on it is a ", row.to, ".");
    kinds.add(std::make_unique<ModuleKind>(lazy_schema(to.schema(), row.size), doc, Becoming{&to, row.size, row.axis}));
  }
}

}  // namespace thunder

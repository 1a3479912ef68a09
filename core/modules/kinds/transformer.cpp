// Transformer, its encoder and decoder, and their layers.
#include <cmath>

#include "base/text.h"
#include "modules/inputs.h"

namespace thunder {
namespace {

// ---- first values ----

void layer_init(ModuleInit& m, bool decoder) {
  const int64_t width = m.module.integer("d_model"), inner = m.module.integer("dim_feedforward");
  m.require(width > 0 && inner > 0, "d_model and dim_feedforward must be positive, got ", width, " and ", inner);
  const std::string& activation = m.module.option("activation").text;
  m.require(activation == "relu" || activation == "gelu", "activation must be 'relu' or 'gelu', got '", activation,
            "'");
  const Any wide = Any::integer(width), dropout = Any::real(m.module.real("dropout")),
            bias = Any::boolean(m.module.flag("bias"));
  const auto attention = [&](std::string_view name) {
    m.child(name, "MultiheadAttention",
            {wide, Any::integer(m.module.integer("nhead")), dropout, bias, Any::boolean(false), Any::boolean(false),
             Any(), Any(), Any::boolean(m.module.flag("batch_first"))});
  };
  attention("self_attn");
  if (decoder) attention("multihead_attn");
  m.child("linear1", "Linear", {wide, Any::integer(inner), bias});
  m.child("dropout", "Dropout", {dropout});
  m.child("linear2", "Linear", {Any::integer(inner), wide, bias});
  const int parts = decoder ? 3 : 2;
  for (int i = 1; i <= parts; i++)
    m.child(cat("norm", i), "LayerNorm",
            {wide, Any::real(m.module.real("layer_norm_eps")), Any::boolean(true), bias});
  for (int i = 1; i <= parts; i++) m.child(cat("dropout", i), "Dropout", {dropout});
}

// The encoder or decoder of a whole Transformer: layers of its options and a norm behind them.
void stack_init(ModuleInit& m, std::string_view name, std::string_view kind, std::string_view layers) {
  const Module& o = m.module;
  m.child(name, kind, {});
  ModuleInit stack = m.below(name);
  stack.child("layers", "ModuleList", {});
  ModuleInit list = stack.below("layers");
  const Any bias = Any::boolean(o.flag("bias")), eps = Any::real(o.real("layer_norm_eps"));
  for (int64_t i = 0; i < o.integer(layers); i++)
    list.child(cat(i), cat(kind, "Layer"),
               {Any::integer(o.integer("d_model")), Any::integer(o.integer("nhead")),
                Any::integer(o.integer("dim_feedforward")), Any::real(o.real("dropout")),
                Any::string(o.option("activation").text), eps, Any::boolean(o.flag("batch_first")),
                Any::boolean(o.flag("norm_first")), bias});
  stack.child("norm", "LayerNorm", {Any::integer(o.integer("d_model")), eps, Any::boolean(true), bias});
}

void transformer_init(ModuleInit& m) {
  for (std::string_view layers : {"num_encoder_layers", "num_decoder_layers"})
    m.require(m.module.integer(layers) >= 0, layers, " must not be negative, got ", m.module.integer(layers));
  stack_init(m, "encoder", "TransformerEncoder", "num_encoder_layers");
  stack_init(m, "decoder", "TransformerDecoder", "num_decoder_layers");
  // Every matrix is drawn anew, from Glorot and Bengio's uniform distribution.
  for (auto& at : modules_of(m.module)) {
    ModuleInit part = m.below(at.path);
    const std::vector<Module::NamedSlot> tensors = at.module->tensors();
    for (auto& slot : tensors) {
      const Shape& shape = slot.tensor->type().shape;
      if (shape.size() != 2) continue;
      const std::vector<int64_t> sizes{shape[0].value(), shape[1].value()};
      part.uniform(slot.name, sizes, std::sqrt(6 / static_cast<double>(sizes[0] + sizes[1])));
    }
  }
}

// ---- forwards ----

// An attention mask given as an input of this name.
struct Mask {
  Tensor *attention, *padding;
  bool causal;
};

class Layer {
 public:
  Layer(ModuleCall& c) : c_(c) {}

  // x + dropout(part(x)), with the norm in front of the part or behind the sum.
  template <class Part>
  Tensor* residual(Tensor* x, int i, const Part& part) const {
    const bool first = c_.module.flag("norm_first");
    const std::string norm = cat("norm", i);
    Tensor* y = part(first ? call_child(norm, x) : x);
    y = c_.op("add", {x, call_child(cat("dropout", i), y)});
    return first ? y : call_child(norm, y);
  }
  Tensor* attend(std::string_view name, Tensor* query, Tensor* of, const Mask& mask) const {
    Values in;
    for (Tensor* t : {query, of, of}) in.push(Any::tensor(t));
    in.open(true, {});
    in.key("key_padding_mask"), in.push(Any::tensor(mask.padding));
    in.key("need_weights"), in.push(Any::boolean(false));
    in.key("attn_mask"), in.push(Any::tensor(mask.attention));
    in.key("is_causal"), in.push(Any::boolean(mask.causal));
    in.close();
    return c_.call(child(name), in)[0].tensor.get();
  }
  Tensor* feed_forward(Tensor* x) const {
    Tensor* y = c_.op(c_.module.option("activation").text, {call_child("linear1", x)});
    return call_child("linear2", call_child("dropout", y));
  }
  Tensor* call_child(std::string_view name, Tensor* x) const {
    Values in;
    in.push(Any::tensor(x));
    return c_.call(child(name), in)[0].tensor.get();
  }

 private:
  Module& child(std::string_view name) const {
    Module* found = c_.module.find(name);
    require(found, c_.module.kind().name(), ": the child '", name, "' is missing");
    return *found;
  }
  ModuleCall& c_;
};

Mask read_mask(const ModuleInputs& in, std::string_view attention, std::string_view padding, std::string_view causal) {
  return {in.tensor(attention), in.tensor(padding), in.flag(causal)};
}

void encoder_layer(ModuleCall& c) {
  const ModuleInputs in(c);
  const Layer layer(c);
  const Mask mask = read_mask(in, "src_mask", "src_key_padding_mask", "is_causal");
  Tensor* x = layer.residual(in.tensor("src"), 1, [&](Tensor* t) { return layer.attend("self_attn", t, t, mask); });
  c.give(layer.residual(x, 2, [&](Tensor* t) { return layer.feed_forward(t); }));
}

void decoder_layer(ModuleCall& c) {
  const ModuleInputs in(c);
  const Layer layer(c);
  const Mask own = read_mask(in, "tgt_mask", "tgt_key_padding_mask", "tgt_is_causal"),
             other = read_mask(in, "memory_mask", "memory_key_padding_mask", "memory_is_causal");
  Tensor* memory = in.tensor("memory");
  Tensor* x = layer.residual(in.tensor("tgt"), 1, [&](Tensor* t) { return layer.attend("self_attn", t, t, own); });
  x = layer.residual(x, 2, [&](Tensor* t) { return layer.attend("multihead_attn", t, memory, other); });
  c.give(layer.residual(x, 3, [&](Tensor* t) { return layer.feed_forward(t); }));
}

// Calls each of the layers with x, with what comes behind it and with these by name, then the norm.
void run_layers(ModuleCall& c, Tensor* x, std::span<const Any> behind,
                std::initializer_list<std::pair<std::string_view, Any>> named) {
  Module* layers = c.module.find("layers");
  require(layers, c.module.kind().name(), ": the child 'layers' is missing: a ModuleList of layers");
  const std::vector<Module::Child> all = layers->children();
  for (auto& layer : all) {
    Values in;
    in.push(Any::tensor(x));
    for (const Any& a : behind) in.push(a);
    in.open(true, {});
    for (auto& [name, value] : named) in.key(name), in.push(value);
    in.close();
    x = c.call(*layer.module, in)[0].tensor.get();
  }
  c.give(c.module.find("norm") ? Layer(c).call_child("norm", x) : x);
}

void encoder(ModuleCall& c) {
  const ModuleInputs in(c);
  run_layers(c, in.tensor("src"), {},
             {{"src_mask", in.any("mask")},
              {"src_key_padding_mask", in.any("src_key_padding_mask")},
              {"is_causal", in.any("is_causal")}});
}

void decoder(ModuleCall& c) {
  const ModuleInputs in(c);
  const Any memory = in.any("memory");
  run_layers(c, in.tensor("tgt"), {&memory, 1},
             {{"tgt_mask", in.any("tgt_mask")},
              {"memory_mask", in.any("memory_mask")},
              {"tgt_key_padding_mask", in.any("tgt_key_padding_mask")},
              {"memory_key_padding_mask", in.any("memory_key_padding_mask")},
              {"tgt_is_causal", in.any("tgt_is_causal")},
              {"memory_is_causal", in.any("memory_is_causal")}});
}

void transformer(ModuleCall& c) {
  const ModuleInputs in(c);
  const auto call = [&](std::string_view child, std::initializer_list<Any> first,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> named) {
    Values given;
    for (const Any& a : first) given.push(a);
    given.open(true, {});
    for (auto& [name, ours] : named) given.key(name), given.push(in.any(ours));
    given.close();
    return c.call(*c.module.find(child), given)[0].tensor.get();
  };
  Tensor* memory =
      call("encoder", {in.any("src")},
           {{"mask", "src_mask"}, {"src_key_padding_mask", "src_key_padding_mask"}, {"is_causal", "src_is_causal"}});
  c.give(call("decoder", {in.any("tgt"), Any::tensor(memory)},
              {{"tgt_mask", "tgt_mask"},
               {"memory_mask", "memory_mask"},
               {"tgt_key_padding_mask", "tgt_key_padding_mask"},
               {"memory_key_padding_mask", "memory_key_padding_mask"},
               {"tgt_is_causal", "tgt_is_causal"},
               {"memory_is_causal", "memory_is_causal"}}));
}

constexpr std::string_view kOfDecoder =
    "forward(tensor tgt, tensor memory, tensor? tgt_mask=None, tensor? memory_mask=None, tensor? "
    "tgt_key_padding_mask=None, tensor? memory_key_padding_mask=None, bool tgt_is_causal=False, bool "
    "memory_is_causal=False) -> tensor";

constexpr ModuleRow kRows[] = {
    layer(
        "TransformerEncoderLayer(int d_model, int nhead, int dim_feedforward=2048, float dropout=0.1, str "
        "activation='relu', float layer_norm_eps=1e-05, bool batch_first=False, bool norm_first=False, bool "
        "bias=True) -> tensor",
        "Attention of a sequence to itself and two linear layers, each added to its input and standardised.",
        encoder_layer, [](ModuleInit& m) { layer_init(m, false); },
        "forward(tensor src, tensor? src_mask=None, tensor? src_key_padding_mask=None, bool is_causal=False) -> "
        "tensor"),
    layer(
        "TransformerDecoderLayer(int d_model, int nhead, int dim_feedforward=2048, float dropout=0.1, str "
        "activation='relu', float layer_norm_eps=1e-05, bool batch_first=False, bool norm_first=False, bool "
        "bias=True) -> tensor",
        "TransformerEncoderLayer with attention to an encoder's results, memory, between.", decoder_layer,
        [](ModuleInit& m) { layer_init(m, true); }, kOfDecoder),
    layer("TransformerEncoder() -> tensor",
          "Its child layers, a ModuleList, one after the other, and its child norm, if there is one, behind them.",
          encoder, nullptr,
          "forward(tensor src, tensor? mask=None, tensor? src_key_padding_mask=None, bool is_causal=False) -> "
          "tensor"),
    layer("TransformerDecoder() -> tensor",
          "Its child layers, a ModuleList, one after the other, and its child norm, if there is one, behind them.",
          decoder, nullptr, kOfDecoder),
    layer("Transformer(int d_model=512, int nhead=8, int num_encoder_layers=6, int num_decoder_layers=6, int "
          "dim_feedforward=2048, float dropout=0.1, str activation='relu', float layer_norm_eps=1e-05, bool "
          "batch_first=False, bool norm_first=False, bool bias=True) -> tensor",
          "A TransformerEncoder of src, and a TransformerDecoder of tgt and what it gives.", transformer,
          transformer_init,
          "forward(tensor src, tensor tgt, tensor? src_mask=None, tensor? tgt_mask=None, tensor? memory_mask=None, "
          "tensor? src_key_padding_mask=None, tensor? tgt_key_padding_mask=None, tensor? memory_key_padding_mask=None, "
          "bool src_is_causal=False, bool tgt_is_causal=False, bool memory_is_causal=False) -> tensor"),
};

}  // namespace

extern const ModuleRows transformer_kinds = kRows;

}  // namespace thunder

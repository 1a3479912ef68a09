#include "tracer/autocast.h"

#include <algorithm>
#include <array>

#include "tracer/scope.h"

namespace thunder {
namespace {

constexpr std::array kRows = {
    CastRow{"acos", CastPolicy::single},
    CastRow{"addbmm", CastPolicy::lower},
    CastRow{"addcdiv", CastPolicy::widest},
    CastRow{"addcmul", CastPolicy::widest},
    CastRow{"addmm", CastPolicy::lower},
    CastRow{"addmv", CastPolicy::lower},
    CastRow{"addr", CastPolicy::lower},
    CastRow{"asin", CastPolicy::single},
    CastRow{"atan2", CastPolicy::widest},
    CastRow{"baddbmm", CastPolicy::lower},
    CastRow{"bilinear", CastPolicy::widest},
    CastRow{"binary_cross_entropy", CastPolicy::single},
    CastRow{"binary_cross_entropy_with_logits", CastPolicy::single},
    CastRow{"bmm", CastPolicy::lower},
    CastRow{"cdist", CastPolicy::single},
    CastRow{"chain_matmul", CastPolicy::lower},
    CastRow{"conv1d", CastPolicy::lower},
    CastRow{"conv2d", CastPolicy::lower},
    CastRow{"conv3d", CastPolicy::lower},
    CastRow{"conv_transpose1d", CastPolicy::lower},
    CastRow{"conv_transpose2d", CastPolicy::lower},
    CastRow{"conv_transpose3d", CastPolicy::lower},
    CastRow{"cosh", CastPolicy::single},
    CastRow{"cosine_embedding_loss", CastPolicy::single},
    CastRow{"cosine_similarity", CastPolicy::single},
    CastRow{"cross", CastPolicy::widest},
    CastRow{"cross_entropy", CastPolicy::single},
    CastRow{"ctc_loss", CastPolicy::single},
    CastRow{"cumprod", CastPolicy::single},
    CastRow{"cumsum", CastPolicy::single},
    CastRow{"dist", CastPolicy::single},
    CastRow{"dot", CastPolicy::widest},
    CastRow{"einsum", CastPolicy::lower},
    CastRow{"erfinv", CastPolicy::single},
    CastRow{"exp", CastPolicy::single},
    CastRow{"expm1", CastPolicy::single},
    CastRow{"gaussian_nll_loss", CastPolicy::single},
    CastRow{"grid_sample", CastPolicy::widest},
    CastRow{"group_norm", CastPolicy::single},
    CastRow{"gru", CastPolicy::lower},
    CastRow{"gru_cell", CastPolicy::lower},
    CastRow{"hinge_embedding_loss", CastPolicy::single},
    CastRow{"huber_loss", CastPolicy::single},
    CastRow{"index_put", CastPolicy::widest},
    CastRow{"inner", CastPolicy::lower},
    CastRow{"instance_norm", CastPolicy::single},
    CastRow{"kl_div", CastPolicy::single},
    CastRow{"l1_loss", CastPolicy::single},
    CastRow{"layer_norm", CastPolicy::single},
    CastRow{"linear", CastPolicy::lower},
    CastRow{"log", CastPolicy::single},
    CastRow{"log10", CastPolicy::single},
    CastRow{"log1p", CastPolicy::single},
    CastRow{"log2", CastPolicy::single},
    CastRow{"log_softmax", CastPolicy::single},
    CastRow{"logsumexp", CastPolicy::single},
    CastRow{"lstm", CastPolicy::lower},
    CastRow{"lstm_cell", CastPolicy::lower},
    CastRow{"margin_ranking_loss", CastPolicy::single},
    CastRow{"matmul", CastPolicy::lower},
    CastRow{"mm", CastPolicy::lower},
    CastRow{"mse_loss", CastPolicy::single},
    CastRow{"multi_dot", CastPolicy::lower},
    CastRow{"multi_margin_loss", CastPolicy::single},
    CastRow{"multilabel_soft_margin_loss", CastPolicy::single},
    CastRow{"mv", CastPolicy::lower},
    CastRow{"nll_loss", CastPolicy::single},
    CastRow{"norm", CastPolicy::single},
    CastRow{"normalize", CastPolicy::single},
    CastRow{"poisson_nll_loss", CastPolicy::single},
    CastRow{"pow", CastPolicy::single},
    CastRow{"prelu", CastPolicy::lower},
    CastRow{"prod", CastPolicy::single},
    CastRow{"reciprocal", CastPolicy::single},
    CastRow{"renorm", CastPolicy::single},
    CastRow{"rms_norm", CastPolicy::single},
    CastRow{"rnn_relu", CastPolicy::lower},
    CastRow{"rnn_relu_cell", CastPolicy::lower},
    CastRow{"rnn_tanh", CastPolicy::lower},
    CastRow{"rnn_tanh_cell", CastPolicy::lower},
    CastRow{"rsqrt", CastPolicy::single},
    CastRow{"scaled_dot_product_attention", CastPolicy::lower},
    CastRow{"scatter_add", CastPolicy::widest},
    CastRow{"sinh", CastPolicy::single},
    CastRow{"smooth_l1_loss", CastPolicy::single},
    CastRow{"soft_margin_loss", CastPolicy::single},
    CastRow{"softmax", CastPolicy::single},
    CastRow{"softmin", CastPolicy::single},
    CastRow{"softplus", CastPolicy::single},
    CastRow{"sum", CastPolicy::single},
    CastRow{"tan", CastPolicy::single},
    CastRow{"tensordot", CastPolicy::widest},
    CastRow{"triplet_margin_loss", CastPolicy::single},
    CastRow{"vdot", CastPolicy::widest},
};

constexpr bool before(const CastRow& a, const CastRow& b) { return a.op < b.op; }
static_assert(std::is_sorted(kRows.begin(), kRows.end(), before));

}  // namespace

std::span<const CastRow> cast_rows() { return kRows; }

CastPolicy cast_policy(std::string_view op) {
  const auto found = std::lower_bound(kRows.begin(), kRows.end(), CastRow{op, CastPolicy::none}, before);
  return found != kRows.end() && found->op == op ? found->policy : CastPolicy::none;
}

// Of reals narrower than f64, as the op's row in the table of autocast says.
void Scope::cast_arguments(const OpDef& op) {
  const CastPolicy policy = cast_policy(op.name());
  if (policy == CastPolicy::none) return;
  const auto castable = [&](ValueId v) {
    const DType d = builder().type(v).dtype;
    return is_real(d) && d != DType::f64;
  };
  const auto each = [&](auto&& visit) {
    for (Arg& a : args_)
      if (a.kind == ArgKind::value && castable(a.v)) visit(a.v);
    for (ValueId& v : ids_)
      if (castable(v)) visit(v);
  };
  DType to = policy == CastPolicy::lower ? autocast : DType::f32;
  if (policy == CastPolicy::widest) {
    to = autocast;
    each([&](ValueId v) { to = builder().type(v).dtype == DType::f32 ? DType::f32 : to; });
  }
  each([&](ValueId& v) {
    if (builder().type(v).dtype != to) v = convert(builder().var(v), to).id;
  });
}

}  // namespace thunder

#include "tracer/autocast.h"

#include <algorithm>
#include <array>

#include "tracer/scope.h"

namespace thunder {
namespace {

constexpr std::array kRows = {
    CastRow{"acos", CastPolicy::fp32},
    CastRow{"addbmm", CastPolicy::lower_precision_fp},
    CastRow{"addcdiv", CastPolicy::promote},
    CastRow{"addcmul", CastPolicy::promote},
    CastRow{"addmm", CastPolicy::lower_precision_fp},
    CastRow{"addmv", CastPolicy::lower_precision_fp},
    CastRow{"addr", CastPolicy::lower_precision_fp},
    CastRow{"asin", CastPolicy::fp32},
    CastRow{"atan2", CastPolicy::promote},
    CastRow{"baddbmm", CastPolicy::lower_precision_fp},
    CastRow{"bilinear", CastPolicy::promote},
    CastRow{"binary_cross_entropy", CastPolicy::fp32},
    CastRow{"binary_cross_entropy_with_logits", CastPolicy::fp32},
    CastRow{"bmm", CastPolicy::lower_precision_fp},
    CastRow{"cdist", CastPolicy::fp32},
    CastRow{"chain_matmul", CastPolicy::lower_precision_fp},
    CastRow{"conv1d", CastPolicy::lower_precision_fp},
    CastRow{"conv2d", CastPolicy::lower_precision_fp},
    CastRow{"conv3d", CastPolicy::lower_precision_fp},
    CastRow{"conv_transpose1d", CastPolicy::lower_precision_fp},
    CastRow{"conv_transpose2d", CastPolicy::lower_precision_fp},
    CastRow{"conv_transpose3d", CastPolicy::lower_precision_fp},
    CastRow{"cosh", CastPolicy::fp32},
    CastRow{"cosine_embedding_loss", CastPolicy::fp32},
    CastRow{"cosine_similarity", CastPolicy::fp32},
    CastRow{"cross", CastPolicy::promote},
    CastRow{"cross_entropy", CastPolicy::fp32},
    CastRow{"ctc_loss", CastPolicy::fp32},
    CastRow{"cumprod", CastPolicy::fp32},
    CastRow{"cumsum", CastPolicy::fp32},
    CastRow{"dist", CastPolicy::fp32},
    CastRow{"dot", CastPolicy::promote},
    CastRow{"einsum", CastPolicy::lower_precision_fp},
    CastRow{"erfinv", CastPolicy::fp32},
    CastRow{"exp", CastPolicy::fp32},
    CastRow{"expm1", CastPolicy::fp32},
    CastRow{"gaussian_nll_loss", CastPolicy::fp32},
    CastRow{"grid_sample", CastPolicy::promote},
    CastRow{"group_norm", CastPolicy::fp32},
    CastRow{"gru", CastPolicy::lower_precision_fp},
    CastRow{"gru_cell", CastPolicy::lower_precision_fp},
    CastRow{"hinge_embedding_loss", CastPolicy::fp32},
    CastRow{"huber_loss", CastPolicy::fp32},
    CastRow{"index_put", CastPolicy::promote},
    CastRow{"inner", CastPolicy::lower_precision_fp},
    CastRow{"instance_norm", CastPolicy::fp32},
    CastRow{"kl_div", CastPolicy::fp32},
    CastRow{"l1_loss", CastPolicy::fp32},
    CastRow{"layer_norm", CastPolicy::fp32},
    CastRow{"linear", CastPolicy::lower_precision_fp},
    CastRow{"log", CastPolicy::fp32},
    CastRow{"log10", CastPolicy::fp32},
    CastRow{"log1p", CastPolicy::fp32},
    CastRow{"log2", CastPolicy::fp32},
    CastRow{"log_softmax", CastPolicy::fp32},
    CastRow{"logsumexp", CastPolicy::fp32},
    CastRow{"lstm", CastPolicy::lower_precision_fp},
    CastRow{"lstm_cell", CastPolicy::lower_precision_fp},
    CastRow{"margin_ranking_loss", CastPolicy::fp32},
    CastRow{"matmul", CastPolicy::lower_precision_fp},
    CastRow{"mm", CastPolicy::lower_precision_fp},
    CastRow{"mse_loss", CastPolicy::fp32},
    CastRow{"multi_dot", CastPolicy::lower_precision_fp},
    CastRow{"multi_margin_loss", CastPolicy::fp32},
    CastRow{"multilabel_soft_margin_loss", CastPolicy::fp32},
    CastRow{"mv", CastPolicy::lower_precision_fp},
    CastRow{"nll_loss", CastPolicy::fp32},
    CastRow{"norm", CastPolicy::fp32},
    CastRow{"normalize", CastPolicy::fp32},
    CastRow{"poisson_nll_loss", CastPolicy::fp32},
    CastRow{"pow", CastPolicy::fp32},
    CastRow{"prelu", CastPolicy::lower_precision_fp},
    CastRow{"prod", CastPolicy::fp32},
    CastRow{"reciprocal", CastPolicy::fp32},
    CastRow{"renorm", CastPolicy::fp32},
    CastRow{"rms_norm", CastPolicy::fp32},
    CastRow{"rnn_relu", CastPolicy::lower_precision_fp},
    CastRow{"rnn_relu_cell", CastPolicy::lower_precision_fp},
    CastRow{"rnn_tanh", CastPolicy::lower_precision_fp},
    CastRow{"rnn_tanh_cell", CastPolicy::lower_precision_fp},
    CastRow{"rsqrt", CastPolicy::fp32},
    CastRow{"scaled_dot_product_attention", CastPolicy::lower_precision_fp},
    CastRow{"scatter_add", CastPolicy::promote},
    CastRow{"sinh", CastPolicy::fp32},
    CastRow{"smooth_l1_loss", CastPolicy::fp32},
    CastRow{"soft_margin_loss", CastPolicy::fp32},
    CastRow{"softmax", CastPolicy::fp32},
    CastRow{"softmin", CastPolicy::fp32},
    CastRow{"softplus", CastPolicy::fp32},
    CastRow{"sum", CastPolicy::fp32},
    CastRow{"tan", CastPolicy::fp32},
    CastRow{"tensordot", CastPolicy::promote},
    CastRow{"triplet_margin_loss", CastPolicy::fp32},
    CastRow{"vdot", CastPolicy::promote},
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
  DType to = policy == CastPolicy::lower_precision_fp ? autocast : DType::f32;
  if (policy == CastPolicy::promote) {
    to = autocast;
    each([&](ValueId v) { to = builder().type(v).dtype == DType::f32 ? DType::f32 : to; });
  }
  each([&](ValueId& v) {
    if (builder().type(v).dtype != to) v = convert(builder().var(v), to).id;
  });
}

}  // namespace thunder

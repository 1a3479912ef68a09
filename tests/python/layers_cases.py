"""What layers_record.py runs with PyTorch and layers_test.py with thunder: layers, optimisers and schedules as expressions over
`nn` and `optim`, and inputs as formulas."""
import math

import numpy as np


def wave(shape, phase=0.0):
    """A fixed, irregular sequence."""
    count = math.prod(shape)
    return np.array([math.sin(1.7 * i + phase) + 0.1 * (i % 5) for i in range(count)], np.float32).reshape(shape)


def made(kind, shape, phase):
    if kind == "x":
        return wave(shape, phase)
    if kind == "probability":
        return (0.5 + 0.45 * np.sin(wave(shape, phase))).astype(np.float32)
    if kind == "positive":
        return (1.2 + np.sin(wave(shape, phase))).astype(np.float32)
    if kind == "log":
        x = wave(shape, phase).astype(np.float64)
        return (x - np.log(np.exp(x).sum(-1, keepdims=True))).astype(np.float32)
    if kind == "sign":
        return np.where(wave(shape, phase) > 0, 1, -1).astype(np.float32)
    return ((7 * np.arange(math.prod(shape)) + 3) % int(kind)).reshape(shape)  # a number: integers below it


def inputs(specs, tensor, phase=0.0):
    """Arrays of (kind, shape), lists of them as lists, made tensors."""
    out = []
    for spec in specs:
        phase += 0.7
        out.append(tuple(inputs(spec, tensor, phase)) if isinstance(spec, list) else None if spec is None else tensor(made(*spec, phase)))
    return out


def fill(state, tensor):
    """Each real tensor of a state as a wave of its own, by name; variances are positive."""
    return {name: tensor(made("positive" if name.endswith("var") else "x", tuple(shape), 0.3 * i) * np.float32(0.5))
            for i, (name, shape) in enumerate(state)}


def leaves(result):
    """The tensors of nested results, in order."""
    if result is None:
        return []
    return [leaf for one in result for leaf in leaves(one)] if isinstance(result, (tuple, list)) else [result]


X = "x"
IMAGE, SIGNAL, VOLUME = (X, (2, 4, 4, 5)), (X, (2, 4, 7)), (X, (1, 2, 3, 4, 3))
ACTIVATIONS = """ReLU() ReLU6() LeakyReLU() LeakyReLU(0.2) PReLU() PReLU(4) RReLU() ELU() ELU(0.5) CELU() CELU(2.0) SELU() GELU() GELU('tanh')
    SiLU() Mish() Sigmoid() Tanh() Softplus() Softplus(2.0,1.0) Softsign() Softshrink() Softshrink(0.2) Hardshrink() Hardshrink(0.2)
    Tanhshrink() Hardtanh() Hardtanh(-0.3,0.4) Hardsigmoid() Hardswish() LogSigmoid() Threshold(0.1,-2.0) GLU(1) Softmax(1)
    Softmax2d() Softmin(1) LogSoftmax(1) Dropout() Dropout2d() AlphaDropout() FeatureAlphaDropout() Identity() Flatten() Flatten(0,1)
    ReLU(inplace=True) ELU(inplace=True) Hardtanh(inplace=True)""".split()

# (layer, inputs, flags): "train" calls twice in training mode, else once in evaluation.
LAYERS = [(text, [(X, (2, 4, 2, 3))]) for text in ACTIVATIONS] + [
    ("Dropout1d()", [SIGNAL]), ("Dropout3d()", [VOLUME]), ("Linear(5, 3)", [(X, (2, 5))]), ("Linear(5, 3, bias=False)", [(X, (2, 4, 5))]),
    ("Bilinear(3, 4, 2)", [(X, (5, 3)), (X, (5, 4))]), ("Bilinear(3, 4, 2, bias=False)", [(X, (5, 3)), (X, (5, 4))]),
    ("Embedding(9, 3)", [("9", (2, 4))]), ("EmbeddingBag(9, 3)", [("9", (2, 4))]), ("EmbeddingBag(9, 3, mode='sum')", [("9", (3, 2))]),
    ("EmbeddingBag(9, 3, mode='max')", [("9", (3, 2))]),
    ("Embedding(9, 3, max_norm=0.4)", [("9", (2, 4))]), ("Embedding(9, 3, padding_idx=2, max_norm=0.4, norm_type=1.0)", [("9", (2, 4))]),
    ("EmbeddingBag(9, 3, max_norm=0.4, mode='sum')", [("9", (3, 2))]), ("EmbeddingBag(9, 3, padding_idx=3)", [("9", (3, 2))]),
    ("AdaptiveLogSoftmaxWithLoss(6, 10, [3, 6])", [(X, (5, 6)), ("10", (5,))]),
    ("AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5, 9], div_value=2.0, head_bias=True)", [(X, (5, 8)), ("10", (5,))]),
    ("AdaptiveLogSoftmaxWithLoss(6, 10, [7])", [(X, (6,)), ("10", ())]),
    # convolutions
    ("Conv1d(4, 6, 3)", [SIGNAL]), ("Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2)", [SIGNAL]),
    ("Conv1d(4, 2, 3, padding=2, padding_mode='reflect')", [SIGNAL]), ("Conv1d(4, 2, 3, padding=2, padding_mode='replicate')", [SIGNAL]),
    ("Conv2d(4, 6, 3)", [IMAGE]), ("Conv2d(4, 6, (3, 2), stride=2, padding=(1, 0), bias=False)", [IMAGE]),
    ("Conv2d(4, 2, 3, padding=(2, 1), padding_mode='circular')", [IMAGE]), ("Conv3d(2, 3, 2, padding=1)", [VOLUME]),
    ("ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1)", [SIGNAL]),
    ("ConvTranspose2d(4, 6, 3, stride=2, groups=2)", [IMAGE]), ("ConvTranspose2d(4, 2, (2, 3), dilation=2, bias=False)", [IMAGE]),
    ("ConvTranspose3d(2, 3, 2, stride=2)", [VOLUME]),
    ("GLU()", [(X, (2, 6))]),
    # pools
    ("MaxPool1d(2)", [SIGNAL]), ("MaxPool1d(3, 2, 1, ceil_mode=True)", [SIGNAL]), ("MaxPool2d((3, 2), stride=2, padding=1)", [IMAGE]),
    ("MaxPool3d(2)", [VOLUME]), ("AvgPool1d(3, 2, 1)", [SIGNAL]), ("AvgPool2d(3, 2, 1, count_include_pad=False)", [IMAGE]),
    ("AvgPool2d(2, divisor_override=3)", [IMAGE]), ("AvgPool3d(2)", [VOLUME]), ("LPPool1d(2, 3, stride=2)", [("positive", (2, 4, 7))]),
    ("LPPool2d(3, 2)", [("positive", (2, 4, 4, 5))]), ("AdaptiveAvgPool1d(3)", [SIGNAL]), ("AdaptiveAvgPool2d((3, 2))", [IMAGE]),
    ("AdaptiveAvgPool3d(2)", [VOLUME]), ("AdaptiveMaxPool1d(3)", [SIGNAL]), ("AdaptiveMaxPool2d((4, 3))", [IMAGE]),
    ("AdaptiveMaxPool3d(2)", [VOLUME]),
    # norms
    ("BatchNorm1d(4)", [(X, (5, 4))]), ("BatchNorm1d(4)", [SIGNAL], "train"), ("BatchNorm1d(4, momentum=None)", [(X, (5, 4))], "train"),
    ("BatchNorm2d(4)", [IMAGE]), ("BatchNorm2d(4, momentum=0.3, affine=False)", [IMAGE], "train"),
    ("BatchNorm2d(4, track_running_stats=False)", [IMAGE]), ("BatchNorm3d(2)", [VOLUME], "train"),
    ("InstanceNorm1d(4)", [SIGNAL]), ("InstanceNorm2d(4, affine=True)", [IMAGE]), ("InstanceNorm3d(2)", [VOLUME]),
    ("InstanceNorm2d(4, affine=True, track_running_stats=True)", [IMAGE], "train"),
    ("InstanceNorm1d(4, track_running_stats=True)", [SIGNAL]), ("GroupNorm(2, 4)", [IMAGE]), ("GroupNorm(4, 4, affine=False)", [SIGNAL]),
    ("LayerNorm((4, 5))", [IMAGE]), ("LayerNorm(5, elementwise_affine=False)", [IMAGE]), ("LocalResponseNorm(3)", [IMAGE]),
    ("CrossMapLRN2d(5)", [(X, (2, 3, 4, 5))]), ("CrossMapLRN2d(4, alpha=0.5, beta=0.5, k=2.0)", [(X, (2, 2, 4, 5))]),
    ("SyncBatchNorm(4)", [IMAGE], "train"), ("SyncBatchNorm(4, momentum=None)", [(X, (5, 4))], "train"), ("SyncBatchNorm(4)", [SIGNAL]),
    ("LocalResponseNorm(2, alpha=0.5, beta=0.5, k=2.0)", [SIGNAL]),
    # shapes
    ("Unflatten(1, (2, 2))", [SIGNAL]), ("PixelShuffle(2)", [IMAGE]), ("PixelUnshuffle(2)", [(X, (2, 3, 6, 4))]),
    ("ChannelShuffle(2)", [IMAGE]), ("Fold((4, 5), 2)", [(X, (1, 8, 12))]), ("Unfold((2, 3), padding=1, stride=2)", [IMAGE]),
    ("Upsample(scale_factor=1.3, mode='bilinear', recompute_scale_factor=True)", [IMAGE]),
    ("Upsample(scale_factor=2)", [IMAGE]), ("Upsample(size=(6, 7), mode='bilinear')", [IMAGE]),
    ("Upsample(scale_factor=2, mode='bicubic', align_corners=True)", [IMAGE]), ("Upsample(size=5, mode='linear')", [SIGNAL]),
    ("UpsamplingNearest2d(scale_factor=2)", [IMAGE]), ("UpsamplingBilinear2d(size=(5, 7))", [IMAGE]),
    ("ConstantPad1d(2, 1.5)", [SIGNAL]), ("ConstantPad2d((1, 0, 2, 1), -1.0)", [IMAGE]), ("ConstantPad3d(1, 2.0)", [VOLUME]),
    ("ZeroPad2d((1, -1, 2, 0))", [IMAGE]), ("ReflectionPad1d((3, 1))", [SIGNAL]), ("ReflectionPad2d(2)", [IMAGE]),
    ("ReflectionPad3d(1)", [VOLUME]), ("ReplicationPad1d(3)", [SIGNAL]), ("ReplicationPad2d((3, 0, 1, 2))", [IMAGE]),
    ("ReplicationPad3d(1)", [VOLUME]),
    # distances and losses
    ("CosineSimilarity()", [(X, (3, 4)), (X, (3, 4))]), ("CosineSimilarity(0)", [(X, (3, 4)), (X, (3, 4))]),
    ("PairwiseDistance()", [(X, (3, 4)), (X, (3, 4))]), ("PairwiseDistance(1.0, keepdim=True)", [(X, (3, 4)), (X, (3, 4))]),
    *[(f"{kind}({reduction})", [(X, (3, 4)), (X, (3, 4))]) for kind in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")
      for reduction in ("", "reduction='sum'", "reduction='none'")],
    ("SmoothL1Loss(beta=0.3)", [(X, (3, 4)), (X, (3, 4))]), ("HuberLoss(delta=0.3)", [(X, (3, 4)), (X, (3, 4))]),
    ("CrossEntropyLoss()", [(X, (6, 5)), ("5", (6,))]), ("CrossEntropyLoss(label_smoothing=0.1)", [(X, (2, 5, 3)), ("5", (2, 3))]),
    ("NLLLoss()", [("log", (6, 5)), ("5", (6,))]), ("PoissonNLLLoss()", [(X, (3, 4)), ("positive", (3, 4))]),
    ("PoissonNLLLoss(log_input=False, full=True)", [("positive", (3, 4)), ("positive", (3, 4))]),
    ("GaussianNLLLoss()", [(X, (3, 4)), (X, (3, 4)), ("positive", (3, 4))]),
    ("GaussianNLLLoss(full=True, reduction='sum')", [(X, (3, 4)), (X, (3, 4)), ("positive", (3, 4))]),
    ("KLDivLoss(reduction='batchmean')", [("log", (3, 4)), ("probability", (3, 4))]),
    ("KLDivLoss(reduction='sum', log_target=True)", [("log", (3, 4)), ("log", (3, 4))]),
    ("BCELoss()", [("probability", (3, 4)), ("probability", (3, 4))]), ("BCEWithLogitsLoss()", [(X, (3, 4)), ("probability", (3, 4))]),
    ("HingeEmbeddingLoss()", [(X, (3, 4)), ("sign", (3, 4))]), ("SoftMarginLoss()", [(X, (3, 4)), ("sign", (3, 4))]),
    ("MultiLabelSoftMarginLoss()", [(X, (3, 4)), ("probability", (3, 4))]), ("MultiMarginLoss()", [(X, (3, 4)), ("4", (3,))]),
    ("MultiLabelMarginLoss()", [(X, (3, 4)), ("4", (3, 4))]), ("MultiLabelMarginLoss(reduction='none')", [(X, (4,)), ("4", (4,))]),
    ("TripletMarginWithDistanceLoss()", [(X, (3, 4))] * 3),
    ("TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), margin=0.5, swap=True, reduction='sum')",
     [(X, (3, 4))] * 3),
    ("MultiMarginLoss(p=2, margin=0.5)", [(X, (3, 4)), ("4", (3,))]),
    ("MarginRankingLoss(margin=0.2)", [(X, (5,)), (X, (5,)), ("sign", (5,))]),
    ("CosineEmbeddingLoss(margin=0.2)", [(X, (3, 4)), (X, (3, 4)), ("sign", (3,))]),
    ("TripletMarginLoss()", [(X, (3, 4))] * 3), ("TripletMarginLoss(margin=0.5, p=1.0, swap=True)", [(X, (3, 4))] * 3),
    # recurrent
    ("RNNCell(3, 4)", [(X, (2, 3))]), ("RNNCell(3, 4, nonlinearity='relu')", [(X, (2, 3)), (X, (2, 4))]),
    ("LSTMCell(3, 4)", [(X, (2, 3)), [(X, (2, 4)), (X, (2, 4))]]), ("LSTMCell(3, 4, bias=False)", [(X, (2, 3))]),
    ("GRUCell(3, 4)", [(X, (2, 3)), (X, (2, 4))]), ("RNN(3, 4)", [(X, (5, 2, 3))]),
    ("RNN(3, 4, 2, nonlinearity='relu', batch_first=True)", [(X, (2, 5, 3)), (X, (2, 2, 4))]),
    ("LSTM(3, 4)", [(X, (5, 2, 3))]), ("LSTM(3, 4, num_layers=2, bidirectional=True)", [(X, (5, 2, 3)), [(X, (4, 2, 4)), (X, (4, 2, 4))]]),
    ("LSTM(3, 4, bias=False, batch_first=True)", [(X, (2, 5, 3))]), ("LSTM(3, 4, proj_size=2, num_layers=2)", [(X, (5, 2, 3))]),
    ("LSTM(3, 4)", [(X, (5, 3)), [(X, (1, 4)), (X, (1, 4))]]), ("GRU(3, 4, dropout=0.5)", [(X, (5, 2, 3))]),
    ("GRU(3, 4, num_layers=2, bidirectional=True, batch_first=True)", [(X, (2, 5, 3)), (X, (4, 2, 4))]), ("GRU(3, 4)", [(X, (5, 3))]),
    # attention
    ("MultiheadAttention(8, 2)", [(X, (5, 2, 8))] * 3), ("MultiheadAttention(8, 2, kdim=4, vdim=6, batch_first=True)",
                                                         [(X, (2, 5, 8)), (X, (2, 3, 4)), (X, (2, 3, 6))]),
    ("TransformerEncoderLayer(8, 2, 16)", [(X, (5, 2, 8))]),
    ("TransformerEncoderLayer(8, 2, 16, activation='gelu', batch_first=True, norm_first=True)", [(X, (2, 5, 8)), (X, (5, 5))]),
    ("TransformerDecoderLayer(8, 2, 16)", [(X, (5, 2, 8)), (X, (3, 2, 8))]),
    ("TransformerDecoderLayer(8, 2, 16, batch_first=True, norm_first=True)", [(X, (2, 5, 8)), (X, (2, 3, 8)), (X, (5, 5)), (X, (5, 3))]),
    ("TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)", [(X, (5, 2, 8))]),
    ("TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2, norm=nn.LayerNorm(8))", [(X, (5, 2, 8)), (X, (3, 2, 8))]),
    ("Transformer(8, 2, 2, 1, 16)", [(X, (5, 2, 8)), (X, (4, 2, 8))]),
]
LAYERS = [(*case, "")[:3] for case in LAYERS]

STEPS = 10
PARAMETERS = [("a", (2, 3)), ("b", (3,))]
OPTIMIZERS = [
    "SGD(p, lr=0.1)", "SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True)", "SGD(p, lr=0.1, momentum=0.9, dampening=0.3)",
    "Adam(p, lr=0.05)", "Adam(p, lr=0.05, weight_decay=0.1, amsgrad=True)", "AdamW(p, lr=0.05)", "Adamax(p)", "Adamax(p, lr=0.05, weight_decay=0.1)",
    "RAdam(p)", "RAdam(p, lr=0.05, betas=(0.8, 0.9), weight_decay=0.1)",
    "Adagrad(p)", "Adagrad(p, lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5)", "Adadelta(p)",
    "Adadelta(p, lr=0.5, rho=0.8, weight_decay=0.1)", "RMSprop(p)", "RMSprop(p, lr=0.05, momentum=0.9, centered=True, weight_decay=0.1)",
    "ASGD(p)", "ASGD(p, lr=0.1, lambd=0.1, t0=3.0, weight_decay=0.1)", "Rprop(p)", "Rprop(p, lr=0.1, etas=(0.4, 1.5), step_sizes=(0.02, 0.3))",
    "Adafactor(p)", "Adafactor(p, lr=0.1, beta2_decay=-0.5, eps=(1e-4, 0.05), d=1.5, weight_decay=0.1)", "NAdam(p, lr=0.05, weight_decay=0.1)",
    "NAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)", "Adafactor(p, lr=0.05, maximize=True)",
    "SGD(p, lr=0.1, momentum=0.9, maximize=True, foreach=False)", "AdamW(p, lr=0.05, amsgrad=True, foreach=True)",
    "Adam(p, lr=0.05, maximize=True)", "RMSprop(p, maximize=True)",
]
# Each with how many calls of step(closure): the loss is valley().
CLOSURES = [
    ("LBFGS(p)", 3), ("LBFGS(p, lr=0.1, max_iter=7, history_size=3)", 4), ("LBFGS(p, line_search_fn='strong_wolfe')", 2),
    ("LBFGS(p, lr=0.5, max_iter=5, max_eval=9, history_size=4, line_search_fn='strong_wolfe')", 4),
    ("LBFGS(p, max_iter=30, tolerance_grad=1e-3, tolerance_change=1e-5, line_search_fn='strong_wolfe')", 2), ("SGD(p, lr=0.02)", 3),
    ("Adam(p, lr=0.05)", 3),
]


def valley(p):
    """A loss of the two parameters: a smooth bowl that is bent and stretched."""
    a, b = p
    return ((a * a - 1.5) ** 2).sum() * 0.25 + (a[0] * b).sum() * 0.5 + ((b - a[1]) ** 2).sum() * 2.0


SCHEDULE_STEPS = 24
SCHEDULES = [
    "StepLR(o, 5)", "MultiStepLR(o, [3, 8, 8, 15], gamma=0.5)", "ConstantLR(o)", "ConstantLR(o, factor=0.5, total_iters=4)", "LinearLR(o)",
    "LinearLR(o, 0.1, 0.9, 8)", "ExponentialLR(o, 0.9)", "PolynomialLR(o, 10)", "PolynomialLR(o, total_iters=8, power=2.0)",
    "CosineAnnealingLR(o, 24, eta_min=0.05)", "CosineAnnealingWarmRestarts(o, 5)", "CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01)",
    "CyclicLR(o, 0.1, 0.9, step_size_up=4, cycle_momentum=False)",
    "CyclicLR(o, 0.1, 0.9, step_size_up=3, step_size_down=5, mode='triangular2', cycle_momentum=False)",
    "CyclicLR(o, 0.1, 0.9, step_size_up=4, mode='exp_range', gamma=0.9, cycle_momentum=False)",
    "OneCycleLR(o, 1.0, total_steps=30, cycle_momentum=False)",
    "OneCycleLR(o, 1.0, epochs=5, steps_per_epoch=6, pct_start=0.4, anneal_strategy='linear', three_phase=True, div_factor=10.0, "
    "final_div_factor=100.0, cycle_momentum=False)",
    "LambdaLR(o, lambda step: 0.95 ** step)", "MultiplicativeLR(o, lambda step: 0.95 if step % 3 else 1.1)",
    "SequentialLR(o, [s.ConstantLR(o, factor=0.1, total_iters=3), s.ExponentialLR(o, 0.9)], milestones=[3])",
    "SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 4), s.StepLR(o, 3), s.CosineAnnealingLR(o, 6)], milestones=[4, 12])",
    "ChainedScheduler([s.ConstantLR(o, factor=0.1, total_iters=3), s.ExponentialLR(o, 0.9)])",
    "ChainedScheduler([s.CosineAnnealingLR(o, 4), s.ExponentialLR(o, 0.9)])", "ChainedScheduler([s.LinearLR(o, 0.1, total_iters=3), s.StepLR(o, 2, 0.5), s.PolynomialLR(o, 9)])",
    "SequentialLR(o, [s.ChainedScheduler([s.ConstantLR(o, 0.5, 3), s.ExponentialLR(o, 0.9)]), s.StepLR(o, 2)], milestones=[4])",
    "SequentialLR(o, [s.SequentialLR(o, [s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.9)], [3]), s.StepLR(o, 2)], milestones=[6])",
    "SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], milestones=[0])", "SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.CosineAnnealingLR(o, 5)], milestones=[1])",
    "SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=3), s.CosineAnnealingWarmRestarts(o, 3)], milestones=[3])",
    "CyclicLR(o, 0.1, 0.9, 3, 2, scale_fn=lambda x: 0.5 ** x, scale_mode='iterations', cycle_momentum=False)",
    "CyclicLR(o, 0.1, 0.9, 3, scale_fn=lambda x: 1 / x, cycle_momentum=False)",
]
# Several schedules of one optimiser, stepped one after the other, and {step: a rate that is set by hand before it}.
COURSES = [
    ("[s.StepLR(o, 2, 0.5), s.ExponentialLR(o, 0.9)]", {}), ("[s.ConstantLR(o, 0.5, 3), s.CosineAnnealingLR(o, 6), s.PolynomialLR(o, 20)]", {}),
    ("[s.LinearLR(o, 0.25, 0.9, 5), s.MultiStepLR(o, [3, 9], 0.5)]", {}), ("[s.ExponentialLR(o, 0.9), s.MultiplicativeLR(o, lambda step: 0.95)]", {}),
    *((f"[s.{made}]", {4: 1.5, 9: 0.3}) for made in (
        "StepLR(o, 3)", "MultiStepLR(o, [3, 8, 8, 15], gamma=0.5)", "ConstantLR(o, 0.5, 6)", "LinearLR(o, 0.25, 0.9, 8)", "ExponentialLR(o, 0.9)", "PolynomialLR(o, 12, 2.0)",
        "CosineAnnealingLR(o, 5, 0.01)", "CosineAnnealingWarmRestarts(o, 5)", "CyclicLR(o, 0.1, 0.9, 4, cycle_momentum=False)", "LambdaLR(o, lambda step: 1 / (1 + step))",
        "MultiplicativeLR(o, lambda step: 0.95)", "OneCycleLR(o, 1.0, total_steps=30, cycle_momentum=False)",
        "ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)])", "SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=6), s.CosineAnnealingLR(o, 6)], [6])")),
]
METRICS = [1.0, 0.9, 0.95, 0.9, 0.92, 0.91, 0.5, 0.6, 0.6, 0.6, 0.6, 0.49999, 0.7, 0.8, 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.1, 0.2, 0.2]
PLATEAUS = ["ReduceLROnPlateau(o, patience=2)", "ReduceLROnPlateau(o, mode='max', factor=0.5, patience=1, threshold=0.1, threshold_mode='abs', "
            "cooldown=2, min_lr=0.1)", "ReduceLROnPlateau(o, factor=0.5, patience=0, threshold=0.3)"]

"""Activations and their gradients."""
from .._rows import op, row, same, vjp

same("relu silu mish hardswish hardsigmoid leaky_relu softplus threshold hardtanh relu6")


@row("gelu")
def gelu(self, approximate="none"):
    return op["gelu"](self, approximate)


@row("elu")
def elu(self, alpha=1, scale=1, input_scale=1):
    negative = op["expm1"](self * input_scale) * alpha
    made = op["elu"](self, alpha) if input_scale == 1 else op["where"](self > 0, self, negative)
    return made if scale == 1 else made * scale


@row("_prelu_kernel")
def prelu_kernel(self, weight):
    return op["where"](self > 0, self, self * weight)


# ---- gradients ----

@row("gelu_backward")
def gelu_backward(grad_output, self, approximate="none"):
    return vjp(lambda x: op["gelu"](x, approximate), (self,), grad_output)[0]


@row("silu_backward")
def silu_backward(grad_output, self):
    return vjp(op["silu"], (self,), grad_output)[0]


@row("mish_backward")
def mish_backward(grad_output, self):
    return vjp(op["mish"], (self,), grad_output)[0]


@row("hardswish_backward")
def hardswish_backward(grad_output, self):
    return vjp(op["hardswish"], (self,), grad_output)[0]


@row("hardsigmoid_backward")
def hardsigmoid_backward(grad_output, self):
    return vjp(op["hardsigmoid"], (self,), grad_output)[0]


@row("softplus_backward")
def softplus_backward(grad_output, self, beta, threshold):
    return vjp(lambda x: op["softplus"](x, beta, threshold), (self,), grad_output)[0]


@row("leaky_relu_backward")
def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    return op["where"](self > 0, grad_output, grad_output * negative_slope)


@row("threshold_backward")
def threshold_backward(grad_output, self, threshold):
    return op["where"](self <= threshold, 0, grad_output)


@row("softshrink_backward", "hardshrink_backward")
def shrink_backward(grad_output, self, lambd):
    return op["where"](op["le"](op["abs"](self), lambd), 0, grad_output)


@row("hardtanh_backward")
def hardtanh_backward(grad_output, self, min_val, max_val):
    outside = op["logical_or"](self <= min_val, self >= max_val)
    return op["where"](outside, 0, grad_output)


@row("sigmoid_backward")
def sigmoid_backward(grad_output, output):
    return grad_output * ((1 - output) * output)


@row("tanh_backward")
def tanh_backward(grad_output, output):
    return grad_output * (1 - output * output)


@row("elu_backward")
def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    x = self_or_result
    negative = (x + alpha * scale) if is_result else op["exp"](x * input_scale) * (alpha * scale)
    return op["where"](x <= 0, grad_output * (negative * input_scale), grad_output * scale)

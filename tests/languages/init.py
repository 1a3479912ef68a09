"""Every function of nn.init with one seed, all elements in full: what init.lua prints."""
import thunder as th

CALLS = (("uniform_", -2.0, 3.0), ("normal_", 1.0, 0.5), ("trunc_normal_",), ("trunc_normal_", 0.0, 1.0, 4.0, 5.0), ("eye_",),
         ("orthogonal_", 2.0), ("xavier_uniform_",), ("xavier_normal_",), ("kaiming_uniform_", 0.5),
         ("kaiming_normal_", 0.0, "fan_out", "relu"), ("constant_", 2.5), ("ones_",), ("zeros_",))
th.seed(7)
for name, *arguments in CALLS:
    values = getattr(th.nn.init, name)(th.zeros(3, 4), *arguments).tolist()
    print(name, *(f"{value:.17g}" for row in values for value in row))

% An update rule and its state: opt.step(gradients), in the structure of the parameters; opt.lr(), opt.set_lr(x), which compiles nothing
% anew; opt.get("step"), opt.set("weight_decay", x).
classdef ThunderOptimizer < handle
  properties
    core
  end
  methods
    function self = ThunderOptimizer(kind, parameters, options)
      self.core = Thunder.perform("make_optimizer", {kind}, {parameters}, options);
    end

    function step(self, gradients), Thunder.perform("step", {self.core}, {gradients}); end
    % A step that evaluates the loss: f(...) gives it with the gradients, of "LBFGS" several times. Gives the first loss.
    function loss = step_closure(self, f, varargin), loss = Thunder.perform("step_closure", {self.core, f.core}, varargin); end
    function value = get(self, name), value = Thunder.perform("get_number", {self.core, name}, {}); end
    function set(self, name, value), Thunder.perform("set_number", {self.core, name, value}, {}); end
    function value = lr(self), value = self.get("lr"); end
    function set_lr(self, value), self.set("lr", value); end

    % Moments, step and learning rate, in a safetensors file.
    function save(self, path), Thunder.save(Thunder.perform("optimizer_state", {self.core}, {}), path); end
    function load(self, path), Thunder.load(Thunder.perform("optimizer_state", {self.core}, {}), path); end
  end
end

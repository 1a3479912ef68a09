% Rows of tensors with equal first sizes, each epoch in an order of its own: batches.next_batch() is a cell of tensors, which is empty at
% the end of an epoch. batches.set_state(state) resumes where batches.state() was.
classdef ThunderBatches < handle
  properties
    core
  end
  methods
    function self = ThunderBatches(tensors, options)
      given = struct("size", 1, "shuffle", false, "drop_last", false, "seed", 0, "device", "cpu");
      for [value, name] = options
        if ! isfield(given, name), error("thunder:code3", "batches: there is no option %s; there are size, shuffle, drop_last, seed, device", name); end
        given.(name) = value;
      end
      self.core = Thunder.perform("make_batches", {given.size, given.shuffle, given.drop_last, given.seed, given.device}, tensors);
    end

    % How many there are in an epoch.
    function count = count(self), count = double(self.core.count()); end

    function batch = next_batch(self), batch = Thunder.perform("next_batch", {self.core}, {}); end
    function made = state(self), made = Thunder.perform("batches_state", {self.core}, {}); end
    function set_state(self, made), Thunder.perform("set_batches_state", {self.core, made.core}, {}); end
  end
end

% A schedule of an optimiser's learning rate: schedule.step() writes the next one.
classdef ThunderSchedule < handle
  properties
    core
  end
  methods
    function self = ThunderSchedule(kind, opt, options)
      self.core = Thunder.perform("make_schedule", {kind, opt.core}, {}, options);
    end

    function step(self), Thunder.perform("schedule_step", {self.core}, {}); end

    % The learning rate of each group that the last step wrote.
    function rates = get_last_lr(self), rates = cell2mat(Thunder.perform("last_lr", {self.core}, {})); end

    function save(self, path), Thunder.save(Thunder.perform("schedule_state", {self.core}, {}), path); end
    function load(self, path), Thunder.load(Thunder.perform("schedule_state", {self.core}, {}), path); end
  end
end

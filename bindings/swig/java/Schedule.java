package thunder;

import java.util.List;

/** Writes the learning rate of an optimiser at each step: "CosineAnnealingLR", "StepLR" ... */
public final class Schedule extends State {
    private final thunder.core.Schedule core;

    public Schedule(String kind, Optimizer optimizer, Object... options) {
        core = (thunder.core.Schedule) Exchange.perform(Exchange.NOTHING, options, call -> call.make_schedule(kind, optimizer.core));
    }

    public void step() {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.schedule_step(core));
    }

    /** Of "ReduceLROnPlateau", which decides by the metric. */
    public void step(double metric) {
        Exchange.perform(new Object[] {metric}, Exchange.NOTHING, call -> call.schedule_step(core));
    }

    /** The learning rate of each group that the last step wrote. */
    @SuppressWarnings("unchecked")
    public List<Double> getLastLr() {
        return (List<Double>) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.last_lr(core));
    }

    @Override thunder.core.Module stateModule() {
        return (thunder.core.Module) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.schedule_state(core));
    }
}

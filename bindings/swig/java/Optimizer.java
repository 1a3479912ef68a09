package thunder;

import java.lang.ref.Reference;
import java.util.Map;

/** An update rule and its state, of the kinds that the library has. Options are a name and a value in turn. */
public final class Optimizer extends State {
    final thunder.core.Optimizer core;

    public Optimizer(String kind, Map<String, Object> parameters, Object... options) {
        core = (thunder.core.Optimizer) Exchange.perform(new Object[] {parameters}, options, call -> call.make_optimizer(kind));
    }

    public void step(Object gradients) {
        Exchange.perform(new Object[] {gradients}, Exchange.NOTHING, call -> call.step(core));
    }

    /** A step that evaluates the loss: compiled.apply(...) gives it with the gradients, of "LBFGS" several times. Gives the first loss. */
    public Tensor stepClosure(Compiled compiled, Object... arguments) {
        try {
            return (Tensor) Exchange.perform(arguments, Exchange.NOTHING, call -> call.step_closure(core, compiled.core));
        } finally {
            Reference.reachabilityFence(compiled); // a trace needs the closure until the end
        }
    }

    /** A number of its state or options: "lr", "step", "weight_decay". */
    public double get(String name) {
        return ((Number) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.get_number(core, name))).doubleValue();
    }

    /** Writing "lr" compiles nothing anew. */
    public void set(String name, double value) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.set_number(core, name, value));
    }

    @Override thunder.core.Module stateModule() {
        return (thunder.core.Module) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.optimizer_state(core));
    }
}

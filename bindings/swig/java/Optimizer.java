package thunder;

import java.util.Map;

/** An update rule and its state, of the kinds that the library has. Options are a name and a value in turn. */
public final class Optimizer {
    private final thunder.core.Optimizer core;

    public Optimizer(String kind, Map<String, Object> parameters, Object... options) {
        core = (thunder.core.Optimizer) Exchange.perform(new Object[] {parameters}, options, call -> call.make_optimizer(kind));
    }

    public void step(Object gradients) {
        Exchange.perform(new Object[] {gradients}, Exchange.NOTHING, call -> call.step(core));
    }
}

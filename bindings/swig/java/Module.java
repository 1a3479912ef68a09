package thunder;

import java.util.HashMap;
import java.util.Map;

/** A layer or a tree of layers, of the kinds that the library has. */
public final class Module {
    final thunder.core.Module core;
    private final Map<String, Module> children = new HashMap<>();

    public Module(String kind, Object... arguments) {
        core = (thunder.core.Module) Exchange.perform(arguments, Exchange.NOTHING, call -> call.make_module(kind));
    }

    public Module add(String name, Module child) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.add_child(core, name, child.core));
        children.put(name, child);
        return this;
    }

    public Tensor call(Object... arguments) {
        return (Tensor) Exchange.perform(arguments, Exchange.NOTHING, call -> call.forward(core));
    }

    @SuppressWarnings("unchecked")
    public Map<String, Object> parameters() {
        return (Map<String, Object>) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.parameters(core));
    }

    public Module train(boolean on) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.train(core, on));
        return this;
    }

    public Module eval() {
        return train(false);
    }

    public Module save(String path) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.save(core, path));
        return this;
    }

    public Module load(String path) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.load(core, path));
        return this;
    }
}

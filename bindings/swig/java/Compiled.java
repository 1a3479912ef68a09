package thunder;

import java.lang.ref.Reference;
import java.util.List;
import java.util.Map;
import thunder.core.Function;

/** A function of tensors, compiled. Calls may come from any thread. */
public final class Compiled implements AutoCloseable {
    private final Thunder.Body closure; // null: of the library
    private final Compiled base;
    private final Owner owner = new Owner();
    final thunder.core.Compiled core;

    Compiled(Thunder.Body closure, Compiled base, Function given, Object... options) {
        this.closure = closure;
        this.base = base;
        Function function = given != null ? given : (Function) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING,
            call -> call.make_function("", Exchange.ticketOf(owner)));
        core = (thunder.core.Compiled) Exchange.perform(Exchange.NOTHING, options, call -> call.compile(function));
        function.delete();
    }

    /** Of a file. */
    Compiled(thunder.core.Compiled made) {
        closure = null;
        base = null;
        core = made;
    }

    /** The library finds the closure through this, which the compiled function holds and nobody else. */
    private final class Owner implements Exchange.Closure {
        @Override public Thunder.Body body() {
            return closure;
        }
    }

    /** What the function returns: a tensor, or a list or map of them. */
    public Object apply(Object... arguments) {
        try {
            return Exchange.perform(arguments, Exchange.NOTHING, call -> call.call(core));
        } finally {
            Reference.reachabilityFence(this); // a trace needs the closure until the end
            Reference.reachabilityFence(base);
        }
    }

    /** Of a function that returns one tensor. */
    public Tensor call(Object... arguments) {
        return (Tensor) apply(arguments);
    }

    /** The same function, returning its results and the gradients of the first; paths such as "0,1.w", or "". */
    public Compiled valueAndGrad(String wrt) {
        Function made = (Function) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.value_and_grad(core, wrt));
        return new Compiled(null, this, made);
    }

    // @members Compiled@

    /** Gives the compiled programs up now. */
    @Override public void close() {
        core.delete();
    }
}

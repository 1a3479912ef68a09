package thunder;

import java.util.List;
import java.util.Map;
import thunder.core.ThunderCore;

/**
 * Thunder for Java: tensors from arrays, ops as methods, lambdas compiled.
 *
 * <pre>
 * Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
 * Compiled f = Thunder.compile(a -> a.matmul(a).add(1).relu().sum());
 * System.out.println(f.call(x).item());
 * </pre>
 */
public final class Thunder {
    private Thunder() {}

    /** A function of anything that a tree of arguments may hold. */
    public interface Body {
        Object apply(Object[] arguments) throws Exception;
    }

    public interface Body1 {
        Object apply(Tensor a) throws Exception;
    }

    public interface Body2 {
        Object apply(Tensor a, Tensor b) throws Exception;
    }

    public interface Body3 {
        Object apply(Tensor a, Tensor b, Tensor c) throws Exception;
    }

    public static Compiled compile(Body1 body, Object... options) {
        return compileAll(in -> body.apply((Tensor) in[0]), options);
    }

    public static Compiled compile(Body2 body, Object... options) {
        return compileAll(in -> body.apply((Tensor) in[0], (Tensor) in[1]), options);
    }

    public static Compiled compile(Body3 body, Object... options) {
        return compileAll(in -> body.apply((Tensor) in[0], (Tensor) in[1], (Tensor) in[2]), options);
    }

    /** Options are a name and a value in turn. */
    public static Compiled compileAll(Body body, Object... options) {
        return new Compiled(body, null, null, options);
    }

    // @functions@

    /** An op by name: one of your own. */
    public static Tensor op(String name, Object... arguments) {
        return (Tensor) Exchange.op(name, arguments);
    }

    /**
     * An op of your own, for ever: the body computes it from its arguments by other ops. `vjp` gets lists of the arguments, the
     * results, their cotangents and which gradients are wanted, and returns a gradient for each argument; null: the body's.
     */
    public static void addOp(String schema, String doc, Body body, Body vjp) {
        long made = Exchange.keep(body);
        long gradient = vjp == null ? 0 : Exchange.keep(vjp);
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.add_op(schema, doc, made, gradient));
    }

    /** Rules such as "div(a, sqrt(b)) -> mul(a, rsqrt(b))", as a pass of every compile from now on, before one or after "grad". */
    public static void addPass(String name, String before, String... rules) {
        Exchange.perform(rules, Exchange.NOTHING, call -> call.add_pass(name, before, ""));
    }

    public static String version() {
        return ThunderCore.version();
    }
}

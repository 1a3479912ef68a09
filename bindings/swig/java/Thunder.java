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

    /** In a compiled function: the gradients of a loss, in the structure of `wrt`. */
    public static Object gradOf(Tensor loss, Object wrt) {
        return Exchange.perform(new Object[] {loss, wrt}, Exchange.NOTHING, call -> call.grad_of());
    }

    /** Gradients scaled so that their norm together is at most maxNorm, and the norm before. */
    public static final class Clipped {
        public final Object gradients;
        public final Tensor norm;

        Clipped(List<?> results) {
            gradients = results.get(0);
            norm = (Tensor) results.get(1);
        }
    }

    public static Clipped clipGradNorm(Object gradients, double maxNorm) {
        return new Clipped((List<?>) Exchange.perform(new Object[] {gradients}, Exchange.NOTHING, call -> call.clip_grad_norm(maxNorm)));
    }

    /** Each element bounded to [-bound, bound]. */
    public static Object clipGradValue(Object gradients, double bound) {
        return Exchange.perform(new Object[] {gradients}, Exchange.NOTHING, call -> call.clip_grad_value(bound));
    }

    public static void seed(long seed) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.seed(seed));
    }

    /** How tensors are printed from now on, as a name and a value in turn: precision, threshold, edgeitems, linewidth, profile,
     * sci_mode, as PyTorch has them. */
    public static void setPrintOptions(Object... options) {
        Exchange.perform(Exchange.NOTHING, options, call -> call.set_printoptions());
    }

    /** All kernels that the process has compiled or found on disk, and how many of what they are. */
    public static final class CacheArtifacts {
        public final Tensor artifacts; // u8, for another process
        public final Map<String, Object> info;

        @SuppressWarnings("unchecked")
        CacheArtifacts(List<?> results) {
            artifacts = (Tensor) results.get(0);
            info = (Map<String, Object>) results.get(1);
        }
    }

    public static CacheArtifacts saveCacheArtifacts() {
        return new CacheArtifacts((List<?>) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.save_cache_artifacts()));
    }

    /** Takes those kernels in place of compiling the same ones, and returns how many: they are machine code, which will run. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> loadCacheArtifacts(Tensor artifacts) {
        return (Map<String, Object>) Exchange.perform(
            Exchange.NOTHING, Exchange.NOTHING, call -> call.load_cache_artifacts(artifacts.core));
    }

    public static void loadPlugin(String path) {
        Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.load_plugin(path));
    }

    public static Tensor readCsv(String path) {
        return (Tensor) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.read_csv(path));
    }

    public static Tensor readNpy(String path) {
        return (Tensor) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.read_npy(path));
    }

    @SuppressWarnings("unchecked")
    public static Map<String, Object> readSafetensors(String path) {
        return (Map<String, Object>) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.read_safetensors(path));
    }

    public static void writeSafetensors(Map<String, Tensor> map, String path) {
        Exchange.perform(new Object[] {map}, Exchange.NOTHING, call -> call.write_safetensors(path));
    }

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

    /** The registry's rows of "ops", "modules", "optimizers", "schedules", "options", "executors". */
    @SuppressWarnings("unchecked")
    public static List<Map<String, Object>> describe(String what) {
        return (List<Map<String, Object>>) Exchange.perform(Exchange.NOTHING, Exchange.NOTHING, call -> call.describe(what));
    }

    /** What an op does. */
    public static String doc(String op) {
        for (Map<String, Object> row : describe("ops")) if (row.get("name").equals(op)) return (String) row.get("doc");
        throw new ThunderException("there is no op " + op, 5);
    }

    public static String version() {
        return ThunderCore.version();
    }
}

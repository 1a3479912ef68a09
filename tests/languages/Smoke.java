// The smoke program in Java: Smoke MODEL.safetensors DIGITS.csv
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import thunder.Batches;
import thunder.Compiled;
import thunder.Module;
import thunder.Ops;
import thunder.Optimizer;
import thunder.Tensor;
import thunder.Thunder;
import thunder.ThunderException;

public class Smoke {
    /** layerNorm -> layer_norm. */
    static String snake(String name) {
        return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase();
    }

    static class Mine extends Exception {
        final int number;

        Mine(String message, int number) {
            super(message);
            this.number = number;
        }
    }

    static void show(String label, Object... values) {
        StringBuilder line = new StringBuilder(label);
        for (Object value : values) {
            if (value instanceof float[]) for (float element : (float[]) value) line.append(String.format(" %.4f", element));
            else if (value instanceof long[]) for (long element : (long[]) value) line.append(" ").append(element);
            else line.append(value instanceof Float ? String.format(" %.4f", value) : " " + value);
        }
        System.out.println(line);
    }

    public static void main(String[] args) throws Exception {
        Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
        show("operators", x.mul(2).add(1).sub(x.div(2)).floats());
        show("negated", x.neg().floats());
        show("text", x.toString());
        try {
            Tensor.of(new int[][] {{1, 2}, {3}});
        } catch (ThunderException e) {
            if (!e.getMessage().equals("tensor: the lists are not those of one shape: a list of 1 stands where a list of 2 is expected")) throw e;
        }
        show("reversed", Ops.sub(2, x).floats());
        show("matmul", x.matmul(x).floats());
        show("named", x.sum(1).floats());
        show("ops", Thunder.describe("ops").stream().filter(row -> Arrays.stream(Ops.class.getMethods())
            .anyMatch(method -> snake(method.getName()).equals(((String) row.get("name")).replaceAll("_(?=[0-9])", "")))).count());
        show("integers", Tensor.of(new long[] {Long.MAX_VALUE, Long.MIN_VALUE, 9007199254740993L}).longs());

        Compiled f = Thunder.compile(a -> a.matmul(a).add(1).relu().sum());
        show("compiled", f.call(x).item(), f.call(x).item(), "misses", f.stats().get("misses"));
        show("gradient", ((Tensor) ((List<?>) f.valueAndGrad("").apply(x)).get(1)).floats());

        try {
            x.matmul(Tensor.of(new float[][] {{1, 2, 3}}));
        } catch (ThunderException e) {
            show("error", e.code(), e.getMessage());
        }
        try {
            Thunder.compile(a -> a.matmul(Ops.ones(3, 3))).call(x);
        } catch (ThunderException e) {
            show("traced error", e.code());
        }
        try {
            Thunder.compile((Tensor a) -> {
                throw new Mine("mine", 42);
            }).call(x);
        } catch (Exception e) { // the compiler does not know that a Mine may come
            show("raised", e.getMessage(), ((Mine) e).number);
        }

        Compiled row = Thunder.compile((a, n) -> a.mul(n).sum());
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<Object>> sums = new ArrayList<>();
        for (double n = 1; n <= 4; n++) {
            double times = n;
            sums.add(threads.submit(() -> row.call(x, times).item()));
        }
        show("threads", sums.get(0).get(), sums.get(1).get(), sums.get(2).get(), sums.get(3).get());
        threads.shutdown();

        // The gradient is twice what it should be, which shows whose it is.
        Thunder.addOp("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.",
            in -> ((Tensor) in[0]).mul(in[0]).add(in[1]),
            in -> new Tensor[] {((Tensor) ((List<?>) in[2]).get(0)).mul(((List<?>) in[0]).get(0)).mul(4)});
        Compiled own = Thunder.compile(a -> Thunder.op("square_plus", a).sum());
        show("own op", Thunder.op("square_plus", x).floats(), "gradient",
            ((Tensor) ((List<?>) own.valueAndGrad("").apply(x)).get(1)).floats());

        Tensor w = Tensor.of(new float[] {0, 0}), y = Tensor.of(new float[] {5, 11});
        Compiled miss = Thunder.compile(v -> v.sub(y).mul(v.sub(y)).mul(y).sum());
        Optimizer search = new Optimizer("LBFGS", Map.of("0", w), "line_search_fn", "strong_wolfe");
        show("lbfgs", search.stepClosure(miss.valueAndGrad(""), w).item(), w.floats());

        Thunder.seed(7);
        Tensor drawn = Ops.initOrthogonal_(Ops.zeros(3, 4)).add(Ops.initTruncNormal_(Ops.zeros(3, 4)));
        show("init", drawn.to("f64").mul(Math.pow(2, 40)).to("i64").sum().item());

        Thunder.CacheArtifacts saved = Thunder.saveCacheArtifacts();
        show("artifacts", (Long) saved.info.get("cpu_kernels") - (Long) Thunder.loadCacheArtifacts(saved.artifacts).get("cpu_kernels"));
        try {
            Thunder.loadCacheArtifacts(x);
        } catch (ThunderException e) {
            show("damaged", e.code());
        }

        Module net = new Module("Sequential").add("0", new Module("Linear", 64, 32)).add("1", new Module("ReLU"))
            .add("2", new Module("Linear", 32, 10)).load(args[0]);
        if (!net.toString().equals(net.text())) throw new AssertionError("a module is printed as it says");
        // Each loop is an epoch of its own.
        Batches batches = new Batches(List.of(Tensor.of(new long[] {0, 1, 2, 3})), 2);
        int count = 0;
        for (Tensor[] batch : batches) break;
        for (Tensor[] batch : batches) {
            if (!Arrays.equals(batch[0].longs(), new long[] {0, 1})) throw new AssertionError("a loop went on behind a break");
            break;
        }
        for (Tensor[] outer : batches)
            for (Tensor[] inner : batches) count++;
        if (count != 4) throw new AssertionError("nested loops read " + count + " batches");
        Tensor rows = Thunder.readCsv(args[1]);
        Tensor images = rows.slice(1, 0, 64).div(16);
        Tensor labels = rows.slice(1, 64, 65).squeeze(1).to("i64");
        Compiled predict = Thunder.compile(batch -> net.call(batch).argmax(-1));
        Tensor found = predict.call(images);
        show("digits", found.eq(labels).sum().item(), "of", images.size(0), "first", Arrays.copyOf(found.longs(), 10));
        Compiled loaded = Thunder.loadProgram(predict.exportOnnx(args[0] + ".java.onnx", "opset", 20) == predict ? args[0] + ".java.onnx" : "");
        if (!loaded.signature().contains("\"dims\":[1797,64]")) throw new AssertionError(loaded.signature());
        show("loaded", loaded.call(images).eq(labels).sum().item(), "parameters", loaded.programModule().parameters().size());
        show("relu", Thunder.doc("relu").split("\n")[1]);
    }
}

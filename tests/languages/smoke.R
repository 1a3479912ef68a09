# The smoke program in R: smoke.R MODEL.safetensors DIGITS.csv, with THUNDER_R naming the folder of thunder.R
source(file.path(Sys.getenv("THUNDER_R"), "thunder.R"), chdir = TRUE)
arguments <- commandArgs(trailingOnly = TRUE)

show <- function(label, ...) {
  words <- lapply(list(...), function(value) if (is.character(value)) value else format(value, nsmall = 4, trim = TRUE))
  cat(paste(c(label, unlist(words)), collapse = " "), "\n", sep = "")
}
whole <- function(value) format(value, digits = 22, scientific = FALSE, trim = TRUE)
flat <- function(x) sprintf("%.4f", x$flat())

x <- th$tensor(matrix(c(1, 3, 2, 4), 2))
show("operators", flat(x * 2 + 1 - x / 2))
show("negated", flat(-x))
show("text", format(x))
show("reversed", flat(2 - x))
i <- th$tensor(c(12L, 10L, -7L))
stopifnot(identical((i %% -4L)$flat(), c(0L, -2L, -3L)), identical((7L %/% i)$flat(), c(0L, 0L, -1L)),
  identical((!(i > 0L) | i > 11L)$flat(), c(TRUE, FALSE, TRUE)))
show("matmul", flat(x$matmul(x)))
show("named", flat(x$sum(dim = 1)))
show("ops", whole(sum(vapply(names(th$ops), function(op) is.function(th[[op]]) && nzchar(th$ops[[op]]$doc), TRUE))))
show("integers", whole(th$tensor(c(2^53, -2^53, 2^32 + 1), "i64")$flat()))

f <- th$compile(function(a) (a$matmul(a) + 1)$relu()$sum())
show("compiled", flat(f(x)), flat(f(x)), "misses", whole(th$stats(f)$misses))
show("gradient", flat(th$value_and_grad(f)(x)[[2]]))

tryCatch(x$matmul(th$tensor(matrix(c(1, 2, 3), 1))),
  thunder_error = function(e) show("error", whole(e$code), conditionMessage(e)))
tryCatch(th$compile(function(a) a$matmul(th$ones(c(3, 3))))(x), thunder_error = function(e) show("traced error", whole(e$code)))
mine <- structure(class = c("mine", "error", "condition"), list(message = "mine", call = NULL, number = 42))
tryCatch(th$compile(function(a) stop(mine))(x), mine = function(e) show("raised", conditionMessage(e), whole(e$number)))

# R has one thread.
row <- th$compile(function(a, n) (a * n)$sum())
show("threads", unlist(lapply(c(1, 2, 3, 4), function(n) flat(row(x, n)))))

# The gradient is twice what it should be, which shows whose it is.
th$add_op("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.", function(a, c) a * a + c,
  function(args, results, cotangents, wanted) list(cotangents[[1]] * args[[1]] * 4))
own <- th$compile(function(a) a$square_plus()$sum())
show("own op", flat(x$square_plus()), "gradient", flat(th$value_and_grad(own)(x)[[2]]))

w <- th$tensor(c(0, 0))
y <- th$tensor(c(5, 11))
miss <- th$compile(function(v) ((v - y) * (v - y) * y)$sum())
search <- th$optimizer("LBFGS", list(w), line_search_fn = "strong_wolfe")
show("lbfgs", flat(search$step_closure(th$value_and_grad(miss), w)), flat(w))

th$seed(7)
drawn <- th$op("init_orthogonal_", list(th$op("zeros", list(c(3L, 4L))))) + th$op("init_trunc_normal_", list(th$op("zeros", list(c(3L, 4L)))))
show("init", sprintf("%.0f", (drawn$to("f64") * 2^40)$to("i64")$sum()$item()))

saved <- th$save_cache_artifacts()
show("artifacts", whole(saved[[2]]$cpu_kernels - th$load_cache_artifacts(saved[[1]])$cpu_kernels))
tryCatch(th$load_cache_artifacts(x), thunder_error = function(e) show("damaged", whole(e$code)))

net <- th$module("Sequential", children = list("0" = th$module("Linear", 64, 32), "1" = th$module("ReLU"),
  "2" = th$module("Linear", 32, 10)))
invisible(th$load(net, arguments[1]))
# Each loop is an epoch of its own.
batches <- th$batches(list(th$tensor(c(0L, 1L, 2L, 3L))), size = 2)
seen <- 0
invisible(tryCatch(batches$each(function(part) stop("left")), error = function(e) NULL))
invisible(tryCatch(batches$each(function(part) { seen <<- part$flat(); stop("left") }), error = function(e) NULL))
stopifnot(identical(as.numeric(seen), c(0, 1)))
count <- 0
batches$each(function(part) batches$each(function(part) count <<- count + 1))
stopifnot(count == 4)
rows <- th$read_csv(arguments[2])
images <- rows$slice(dim = 1, start = 0, end = 64) / 16
labels <- rows$slice(dim = 1, start = 64, end = 65)$squeeze(1)$to("i64")
predict <- th$compile(function(batch) th$forward(net, batch)$argmax(-1))
found <- predict(images)
show("digits", whole(found$eq(labels)$sum()$item()), "of", whole(images$shape()[1]), "first", whole(found$flat()[1:10]))
model <- paste0(arguments[1], ".R.onnx")
th$export_onnx(predict, model, opset = 20)
loaded <- th$load_program(model)
stopifnot(grepl('"dims":[1797,64]', th$signature(loaded), fixed = TRUE))
show("loaded", whole(loaded(images)$eq(labels)$sum()$item()), "parameters", whole(length(th$program_module(loaded)$parameters())))
show("relu", strsplit(th$doc("relu"), "\n")[[1]][2])

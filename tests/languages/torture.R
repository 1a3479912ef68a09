# Makes and drops tensors, functions and compiled functions in random order, with the collector running in between.
source(file.path(Sys.getenv("THUNDER_R"), "thunder.R"), chdir = TRUE)
set.seed(1)
slots <- compiled <- list()
made <- collected <- 0
tensor <- function() if (length(slots)) slots[[sample(length(slots), 1)]] else th$tensor(matrix(c(1, 3, 2, 4), 2))
key <- function(n) as.character(sample(n, 1))
acts <- list(
  function() slots[[key(12)]] <<- th$tensor(matrix(runif(4), 2)),
  function() slots[[key(12)]] <<- tensor() * 0.5 + tensor()$tanh(),
  function() slots[[key(12)]] <<- NULL,
  function() compiled[[key(4)]] <<- NULL,
  function() {
    captured <- tensor()
    own <- NULL
    own <- th$compile(function(a) if (is.null(own)) a else a * captured, executors = "host") # holds itself
    reg.finalizer(attr(own, "holder"), function(h) collected <<- collected + 1)
    made <<- made + 1
    compiled[[key(4)]] <<- if (runif(1) < 0.5) own else th$value_and_grad(own)
  },
  function() if (length(compiled)) tryCatch(compiled[[1]](tensor()), thunder_error = identity),
  function() {
    no <- tryCatch(th$compile(function(a) stop("no"))(tensor()), error = conditionMessage)
    stopifnot(identical(no, "no"))
  },
  function() gc())
for (i in 1:800) acts[[sample(length(acts), 1)]]()
slots <- compiled <- list()
for (i in 1:3) gc()
stopifnot(made - collected < 3)

# Large tensors are small objects to the collector: it is told when to run.
x <- th$zeros(c(512, 512))
for (i in 1:2000) x <- x + 1
peak <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
stopifnot(as.numeric(gsub("[^0-9]", "", peak)) < 1200 * 1024)
cat("tortured\n")

# Thunder for R: tensors from arrays, ops as functions and after `$`, functions compiled. source("thunder.R", chdir = TRUE)
#
#   x <- th$tensor(matrix(c(1, 3, 2, 4), 2))
#   f <- th$compile(function(a) (a$matmul(a) + 1)$relu()$sum())
#   f(x)$item()
#
# R has no 64-bit integers: those of a tensor are read as doubles, which are exact up to 2^53.
th <- new.env()
th$core <- new.env()
dyn.load("thunder_core.so")
sys.source("thunder_core.R", th$core, toplevel.env = globalenv())
th$raised <- new.env()   # conditions on their way through the library, by ticket
th$closures <- new.env() # what owns a function, weakly, by ticket

# A condition of class thunder_error; `code` is the number of thunder.h. What a function stopped with comes back as itself.
th$refuse <- function(message, code = 0L, call = NULL)
  stop(structure(class = c("thunder_error", "error", "condition"), list(message = message, call = call, code = code)))

# ---- between R's values and what the core's calls carry ----

th$put <- function(call, value) {
  core <- th$core
  if (is.null(value)) core$Call_none(call)
  else if (inherits(value, "thunder_tensor")) core$Call_tensor(call, value[["core"]])
  else if (is.list(value) || length(value) != 1) th$put_many(call, value)
  else if (is.logical(value)) core$Call_flag(call, value)
  else if (is.integer(value)) core$Call_integer(call, value)
  else if (is.numeric(value)) core$Call_real(call, value)
  else if (is.character(value)) core$Call_text(call, value)
  else th$refuse(paste("a", class(value)[1], "cannot go into the library"), 3L)
  invisible()
}

th$put_many <- function(call, value) {
  if (is.list(value) && !is.null(names(value))) {
    th$core$Call_open_map(call)
    th$put_named(call, value)
  } else {
    th$core$Call_open_list(call)
    for (element in value) th$put(call, element)
  }
  th$core$Call_close(call)
}

th$put_named <- function(call, named) for (name in names(named)) {
  th$core$Call_key(call, name)
  th$put(call, named[[name]])
}

# The numbers of enum Kind.
th$kinds <- c("END", "NONE", "BOOLEAN", "INTEGER", "REAL", "TEXT", "TENSOR", "LIST", "MAP", "CLOSE")

th$take <- function(call, kind) switch(kind,
  BOOLEAN = th$core$Call_as_integer(call) != 0,
  INTEGER = th$core$Call_as_integer(call),
  REAL = th$core$Call_as_real(call),
  TEXT = th$core$Call_as_text(call),
  TENSOR = {
    if (th$core$should_collect()) gc()
    th$wrap(th$core$Call_as_tensor(call))
  },
  LIST = , MAP = th$take_until(call, "CLOSE"),
  NULL)

th$following <- function(call) th$kinds[th$core$Call__next(call) + 1]

th$take_until <- function(call, end) {
  found <- list()
  while ((kind <- th$following(call)) != end) {
    name <- th$core$Call_name(call)
    value <- th$take(call, kind)
    found[length(found) + 1] <- list(value)
    if (nzchar(name)) names(found)[length(found)] <- name
  }
  found
}

# What the call made: one value, or a list of several. Stops with what went wrong in it.
th$result <- function(call) {
  if (th$core$Call_failed(call)) {
    raised <- th$raised[[as.character(th$core$Call_ticket(call))]]
    if (!is.null(raised)) stop(raised)
    th$refuse(th$core$Call_message(call), th$core$Call_code(call))
  }
  values <- th$take_until(call, "END")
  if (length(values) > 1) values else if (length(values)) values[[1]]
}

th$perform <- function(action, own = list(), args = list(), named = list()) {
  call <- th$core$Call()
  for (value in args) th$put(call, value)
  th$put_named(call, named)
  made <- do.call(th$core[[paste0("Call_", action)]], c(list(call), own))
  values <- th$result(call)
  if (isVirtualClass(class(made)) || !isS4(made)) return(values)
  made
}

# An object of the core that goes when its holder is collected.
th$hold <- function(made, delete) {
  holder <- new.env()
  holder$core <- made
  reg.finalizer(holder, function(h) delete(h[["core"]]))
  holder
}

th$new_ticket <- function() {
  while ((dropped <- th$core$next_dropped()) != 0) {
    name <- as.character(dropped)
    for (table in list(th$raised, th$closures)) if (exists(name, table, inherits = FALSE)) rm(list = name, envir = table)
  }
  th$core$new_ticket()
}

# The core runs a function by this.
thunder_dispatch <- function(ticket) {
  call <- th$core$callback()
  fail <- function(condition) {
    raised <- th$new_ticket()
    th$raised[[as.character(raised)]] <- condition
    th$core$Call_fail(call, conditionMessage(condition), raised)
  }
  tryCatch({
    owner <- th$core$weak_get(th$closures[[as.character(ticket)]])
    if (is.null(owner)) th$refuse("the function was collected: keep what was compiled")
    value <- do.call(owner$closure, th$take_until(call, "END"))
    th$core$Call_reset(call)
    th$put(call, value)
  }, error = fail, interrupt = fail)
  NULL
}

# ---- tensors ----

th$wrap <- function(made) structure(th$hold(made, th$core$delete_Tensor), class = "thunder_tensor")

th$pack <- function(dtype, flat) switch(dtype,
  f32 = writeBin(as.double(flat), raw(), size = 4, endian = "little"),
  f64 = writeBin(as.double(flat), raw(), size = 8, endian = "little"),
  i32 = writeBin(as.integer(flat), raw(), size = 4, endian = "little"),
  i64 = {
    words <- vapply(0:3, function(k) floor(flat / 65536^k) %% 65536, double(length(flat)))
    writeBin(as.integer(t(matrix(words, ncol = 4))), raw(), size = 2, endian = "little")
  },
  u8 = , bool = as.raw(flat),
  th$refuse(paste("there is no dtype", dtype), 5L))

th$unpack <- function(dtype, data) switch(dtype,
  f32 = readBin(data, "double", length(data) / 4, 4, endian = "little"),
  f64 = readBin(data, "double", length(data) / 8, 8, endian = "little"),
  i32 = readBin(data, "integer", length(data) / 4, 4, endian = "little"),
  i64 = {
    words <- matrix(readBin(data, "integer", length(data) / 2, 2, signed = FALSE, endian = "little"), nrow = 4)
    words[4, ] <- words[4, ] - 65536 * (words[4, ] >= 32768)
    colSums(words * 65536^(0:3))
  },
  u8 = as.integer(data),
  bool = data != 0)

# The type through which R reads and writes elements that it has no numbers for.
th$through <- function(dtype) switch(dtype, bf16 = , f16 = "f32", i8 = , u16 = , i16 = , u32 = , u64 = "i64", dtype)

# A vector, matrix or array, whose first axis is the tensor's first: i32 of integers, bool of logicals, else f32.
th$tensor <- function(values, dtype = NULL, shape = NULL) {
  if (!is.null(dtype) && th$through(dtype) != dtype) return(th$tensor(values, th$through(dtype), shape)$to(dtype))
  if (is.null(dtype)) dtype <- if (is.logical(values)) "bool" else if (is.integer(values)) "i32" else "f32"
  if (is.null(shape)) shape <- if (is.null(dim(values))) length(values) else dim(values)
  flat <- if (length(dim(values)) > 1) aperm(values) else values # rows first
  th$perform("create", list(dtype, th$pack(dtype, as.vector(flat))), as.list(shape))
}

th$methods <- list(
  shape = function(x) vapply(seq_len(th$core$Tensor_rank(x[["core"]])) - 1L,
    function(axis) th$core$Tensor_size(x[["core"]], axis), double(1)),
  dtype = function(x) th$core$Tensor_dtype(x[["core"]]),
  # All elements in row-major order.
  flat = function(x) {
    if (th$through(x$dtype()) != x$dtype()) return(x$to(th$through(x$dtype()))$flat())
    call <- th$core$Call()
    th$core$Call_read(call, x[["core"]])
    th$result(call)
    th$unpack(x$dtype(), th$core$Call_data(call))
  },
  array = function(x) {
    shape <- x$shape()
    if (length(shape) < 2) x$flat() else aperm(array(x$flat(), rev(shape)))
  },
  item = function(x) {
    flat <- x$flat()
    if (length(flat) != 1) th$refuse("item: the tensor has not one element", 3L)
    flat
  })

`$.thunder_tensor` <- function(x, name) {
  method <- th$methods[[name]]
  if (is.null(method)) function(...) th$op(name, list(x, ...)) else function(...) method(x, ...)
}

Ops.thunder_tensor <- function(e1, e2) {
  if (missing(e2)) return(switch(.Generic, "-" = th$op("neg", list(e1)), "!" = th$op("logical_not", list(e1)), e1))
  op <- c("+" = "add", "-" = "sub", "*" = "mul", "/" = "div", "%%" = "remainder", "%/%" = "floor_divide", "^" = "pow",
    "&" = "logical_and", "|" = "logical_or", "<" = "lt", "<=" = "le", ">" = "gt", ">=" = "ge", "==" = "eq", "!=" = "ne")[[.Generic]]
  th$op(op, list(e1, e2))
}

# As PyTorch prints it.
format.thunder_tensor <- function(x, ...) th$perform("tensor_text", list(x[["core"]]))
print.thunder_tensor <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}
as.array.thunder_tensor <- function(x, ...) x$array()

# ---- functions ----

# `holder`: with what a trace needs until the end.
th$compiled_of <- function(core, holder = new.env()) {
  holder$compiled <- th$hold(core, th$core$delete_Compiled)
  structure(function(...) th$perform("call", list(holder$compiled$core), list(...)),
            class = c("thunder_compiled", "function"), holder = holder)
}

th$compile_core <- function(made, holder, options) {
  made <- th$hold(made, th$core$delete_Function)
  th$compiled_of(th$perform("compile", list(made$core), named = options), holder)
}

# A function of tensors, compiled: call it as it was.
th$compile <- function(closure, ...) {
  holder <- new.env()
  holder$closure <- closure
  ticket <- th$new_ticket()
  th$closures[[as.character(ticket)]] <- th$core$weak_make(holder)
  th$compile_core(th$perform("make_function", list("", ticket)), holder, list(...))
}

# The same function, returning its results and the gradients of the first. wrt: paths of arguments, such as "0,1.w".
th$value_and_grad <- function(f, wrt = "", ...) {
  holder <- new.env()
  holder$base <- f
  th$compile_core(th$perform("value_and_grad", list(th$core_of(f), wrt)), holder, list(...))
}

# What the core has of an object, or of a compiled function.
th$core_of <- function(x) if (is.function(x)) attr(x, "holder")$compiled$core else x[["core"]]

# @members Compiled@

# ---- modules, files, ops ----

# @functions@

# @classes@

# The same with children by name.
th$bare_module <- th$module
th$module <- function(kind, ..., children = list()) {
  self <- th$bare_module(kind, ...)
  for (name in names(children)) self$add(name, children[[name]])
  self$children <- children
  self
}
th$forward <- function(module, ...) module$call(...)
th$parameters <- function(module) module$parameters()
# Of a module, an optimiser or a schedule.
th$load <- function(what, path) invisible(what$load(path))
th$save <- function(what, path) invisible(what$save(path))

th$place <- function() {
  if (!th$core$is_tracing()) return("")
  for (call in rev(sys.calls())) {
    at <- attr(call, "srcref")
    if (!is.null(at)) return(paste0(basename(attr(at, "srcfile")$filename), ":", at[1]))
  }
  ""
}

# Arguments with names are named.
th$op <- function(name, args) {
  is_named <- if (is.null(names(args))) rep(FALSE, length(args)) else nzchar(names(args))
  th$perform("op", list(name, th$place()), unname(args[!is_named]), args[is_named])
}

th$kept <- list() # what owns a function of an op
th$keep <- function(closure) {
  holder <- new.env()
  holder$closure <- closure
  th$kept[[length(th$kept) + 1]] <- holder
  ticket <- th$new_ticket()
  th$closures[[as.character(ticket)]] <- th$core$weak_make(holder)
  ticket
}

# An op of your own, for ever: the function computes it from its arguments by other ops. vjp gets lists of the arguments, the
# results, their cotangents and which gradients are wanted, and returns a list of gradients; NULL: that of the function.
th$add_op <- function(schema, doc, closure, vjp = NULL) {
  th$perform("add_op", list(schema, doc, th$keep(closure), if (is.null(vjp)) 0 else th$keep(vjp)))
  invisible(sub("\\(.*", "", schema))
}

th$ops <- list()
for (row in th$describe("ops")) th$ops[[row$name]] <- row
for (name in names(th$ops)) if (!exists(name, th, inherits = FALSE))
  assign(name, local({ op <- name; function(...) th$op(op, list(...)) }), th)
rm(row, name)

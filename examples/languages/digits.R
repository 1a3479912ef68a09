# Trains an MLP on handwritten digits: digits.R DIGITS.csv, with THUNDER_R naming the folder of thunder.R
source(file.path(Sys.getenv("THUNDER_R"), "thunder.R"), chdir = TRUE)
epochs <- 5
say <- function(format, ...) cat(sprintf(format, ...), "\n", sep = "")

rows <- function(tensor, first, last) tensor$slice(dim = 0, start = first, end = last)
network <- function() th$module("Sequential", children = list("0" = th$module("Linear", 64, 128), "1" = th$module("ReLU"),
  "2" = th$module("Linear", 128, 10)))

table <- th$read_csv(commandArgs(trailingOnly = TRUE)[1])
images <- table$slice(dim = 1, start = 0, end = 64) / 16
labels <- table$slice(dim = 1, start = 64, end = 65)$squeeze(1)$to("i64")

th$seed(42)
net <- network()
params <- th$parameters(net)
opt <- th$optimizer("AdamW", params, lr = 4e-3)
batches <- th$batches(list(rows(images, 0, 1500), rows(labels, 0, 1500)), size = 32, shuffle = TRUE, drop_last = TRUE, seed = 2)
schedule <- th$schedule("CosineAnnealingLR", opt, T_max = as.integer(epochs * batches$size()))

step <- th$compile(function(x, y) { # forward, loss, gradients and update: one program
  loss <- th$forward(net, x)$cross_entropy(y)
  opt$step(th$clip_grad_norm(th$grad_of(loss, params), 1.0)[[1]])
  loss
})

for (epoch in seq_len(epochs)) {
  batches$each(function(x, y) {
    loss <<- step(x, y)
    schedule$step()
  })
  say("epoch %d: loss %.4f, lr %.6f", epoch, loss$item(), schedule$get_last_lr()[1])
}

model <- tempfile(fileext = ".safetensors")
state <- tempfile(fileext = ".safetensors")
th$save(net, model)
th$save(opt, state)
again <- network()
th$load(again, model)
resumed <- th$optimizer("AdamW", th$parameters(again), lr = 1.0)
th$load(resumed, state)
resumed$set_lr(1e-4) # compiles nothing
say("resumed at step %.0f, lr %.4f", resumed$get("step"), resumed$lr())

position <- batches$state() # and the order of the data
first <- batches$next_batch()[[2]]
batches$set_state(position)
say("the same batch again: %.0f of 32 labels", first$eq(batches$next_batch()[[2]])$sum()$item())
say("clipped to %.1f", th$clip_grad_value(list(images), 0.5)[[1]]$amax()$item())

predict <- th$compile(function(x) th$forward(again, x)$argmax(-1))
count <- images$shape()[1]
right <- predict(rows(images, 1500, count))$eq(rows(labels, 1500, count))$sum()$item()
say("%.0f of %.0f right, %.0f programs", right, count - 1500, th$stats(step)$misses)

module thunder

go 1.19

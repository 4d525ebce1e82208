module reasons

go 1.24

module github.com/touchline/touchline/clients/go

go 1.26.0

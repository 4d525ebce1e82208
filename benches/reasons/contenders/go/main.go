// A service that fetches an order, prices it and answers with an invoice. With EXTRA it does one
// thing more for each request.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

const (
	// The allocations that are made with EXTRA=allocations, and how many bytes each has.
	allocations     = 10
	allocationBytes = 1024
	// Connections to the backend that are kept: two would be, by default.
	idleConnections = 64
	// The tax that is in every price.
	taxPercent = 19
)

// The client and the settings that every request needs.
type shop struct {
	client   *http.Client
	orderURL string
	rounds   int
	extra    string
}

type order struct {
	ID       uint64   `json:"id"`
	Customer customer `json:"customer"`
	Items    []item   `json:"items"`
}

type customer struct {
	Name            string `json:"name"`
	Country         string `json:"country"`
	DiscountPercent uint64 `json:"discountPercent"`
}

type item struct {
	SKU         string `json:"sku"`
	Name        string `json:"name"`
	Quantity    uint64 `json:"quantity"`
	UnitCents   uint64 `json:"unitCents"`
	WeightGrams uint64 `json:"weightGrams"`
}

type invoice struct {
	Order      uint64 `json:"order"`
	Customer   string `json:"customer"`
	Country    string `json:"country"`
	Lines      []line `json:"lines"`
	TotalCents uint64 `json:"totalCents"`
	Forecast   uint64 `json:"forecast"`
}

type line struct {
	SKU       string `json:"sku"`
	Name      string `json:"name"`
	Quantity  uint64 `json:"quantity"`
	UnitCents uint64 `json:"unitCents"`
	Cents     uint64 `json:"cents"`
	TaxCents  uint64 `json:"taxCents"`
	UnitGrams uint64 `json:"unitGrams"`
	Grams     uint64 `json:"grams"`
}

func main() {
	rounds, err := strconv.Atoi(os.Getenv("ROUNDS"))
	if err != nil {
		log.Fatalf("ROUNDS is no number: %v", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idleConnections
	shop := &shop{
		client:   &http.Client{Transport: transport},
		orderURL: "http://" + os.Getenv("BACKEND") + "/orders/4711",
		rounds:   rounds,
		extra:    os.Getenv("EXTRA"),
	}
	http.HandleFunc("GET /work", shop.work)
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}

func (s *shop) work(w http.ResponseWriter, r *http.Request) {
	body, err := s.answer(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func (s *shop) answer(ctx context.Context) ([]byte, error) {
	if s.extra == "backend" {
		if _, err := s.order(ctx); err != nil {
			return nil, err
		}
	}
	order, err := s.order(ctx)
	if err != nil {
		return nil, err
	}
	invoice := invoiceOf(order, s.rounds)
	switch s.extra {
	case "log":
		log.Println("GET /work 200")
	case "calls":
		if err := readLoadOfHost(); err != nil {
			return nil, err
		}
	case "allocations":
		runtime.KeepAlive(buffers())
	case "json":
		if _, err := json.Marshal(invoice); err != nil {
			return nil, err
		}
	}
	return json.Marshal(invoice)
}

func (s *shop) order(ctx context.Context) (*order, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.orderURL, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the backend answered %s", response.Status)
	}
	var order order
	if err := json.NewDecoder(response.Body).Decode(&order); err != nil {
		return nil, err
	}
	return &order, nil
}

func invoiceOf(order *order, rounds int) invoice {
	invoice := invoice{
		Order:    order.ID,
		Customer: order.Customer.Name,
		Country:  order.Customer.Country,
		Lines:    make([]line, 0, len(order.Items)),
		Forecast: price(order.Items, rounds),
	}
	for _, item := range order.Items {
		line := lineOf(item)
		invoice.TotalCents += line.Cents
		invoice.Lines = append(invoice.Lines, line)
	}
	invoice.TotalCents = invoice.TotalCents * (100 - order.Customer.DiscountPercent) / 100
	return invoice
}

func lineOf(item item) line {
	cents := item.Quantity * item.UnitCents
	return line{
		SKU:       item.SKU,
		Name:      item.Name,
		Quantity:  item.Quantity,
		UnitCents: item.UnitCents,
		Cents:     cents,
		TaxCents:  cents * taxPercent / (100 + taxPercent),
		UnitGrams: item.WeightGrams,
		Grams:     item.Quantity * item.WeightGrams,
	}
}

// Each round needs the result of the one before, so none can be left out.
//
//go:noinline
func price(items []item, rounds int) uint64 {
	var price uint64
	for round := range rounds {
		item := &items[round%len(items)]
		price = (price*31 + item.Quantity*item.UnitCents) % 1_000_003
	}
	return price
}

// Opens, reads and closes a file, without the calls that os.Open makes besides.
func readLoadOfHost() error {
	file, err := syscall.Open("/proc/loadavg", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(file)
	_, err = syscall.Read(file, make([]byte, 64))
	return err
}

// Never inlined: buffers that do not leave the function would not be allocated.
//
//go:noinline
func buffers() [][]byte {
	var buffers [][]byte
	for range allocations {
		buffers = append(buffers, make([]byte, allocationBytes))
	}
	return buffers
}

package httpd

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kb/internal/access"
)

// Metrics count what a server does, for Prometheus. No label holds what a caller
// writes: their values are few.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	took     *prometheus.HistogramVec
	answers  *prometheus.CounterVec
}

// State is how things stand when somebody looks.
type State struct {
	Sessions  int
	Owner     bool // this process has the derived data open
	Known     bool // what follows could be found out
	Documents int
	Chunks    int
	Vectors   float64 // the part of the notes that has vectors
	DiskBytes int64
}

// NewMetrics makes metrics; state is asked whenever somebody looks.
func NewMetrics(version string, state func(context.Context) State) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kb_calls_total", Help: "Calls of tools, by outcome."}, []string{"tool", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "kb_call_seconds", Help: "How long calls of tools took.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}}, []string{"tool"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kb_http_answers_total", Help: "Answers to requests, by status."}, []string{"status"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "kb_build_info", Help: "Always 1.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.calls, m.took, m.answers, build, stateCollector{state},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Call counts a call of a tool; code is "" when it went well.
func (m *Metrics) Call(tool, code string, took time.Duration) {
	if code == "" {
		code = "ok"
	}
	m.calls.WithLabelValues(tool, code).Inc()
	m.took.WithLabelValues(tool).Observe(took.Seconds())
}

// counting counts the answers of a handler.
func (m *Metrics) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() { m.answers.WithLabelValues(strconv.Itoa(c.status)).Inc() }()
		next.ServeHTTP(c, r)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// metrics shows the metrics to this machine, and elsewhere to who has a token.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if !s.nearby(r) {
		if s.o.Access == nil {
			http.Error(w, "metrics are for this machine", http.StatusForbidden)
			return
		}
		known, ok := s.identify(w, r)
		if !ok {
			return
		}
		r = known
	}
	w.Header().Set("Cache-Control", "no-store")
	promhttp.HandlerFor(s.o.Metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// nearby reports whether a request comes from this machine, and not through a
// proxy that says so.
func (s *Server) nearby(r *http.Request) bool {
	for _, passed := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(passed) != "" {
			return false
		}
	}
	return IsLoopback(r.RemoteAddr) && isLoopback(hostname(r.Host)) && access.From(r.Context()) == nil
}

// stateCollector makes gauges of a State.
type stateCollector struct {
	state func(context.Context) State
}

var (
	sessionsGauge  = prometheus.NewDesc("kb_sessions", "Sessions that are open.", nil, nil)
	ownerGauge     = prometheus.NewDesc("kb_owner", "1 while this process has the derived data open.", nil, nil)
	documentsGauge = prometheus.NewDesc("kb_index_documents", "Notes of the default view.", nil, nil)
	chunksGauge    = prometheus.NewDesc("kb_index_chunks", "Chunks of these notes.", nil, nil)
	vectorsGauge   = prometheus.NewDesc("kb_index_vectors_ratio", "The part of the chunks that has vectors.", nil, nil)
	diskGauge      = prometheus.NewDesc("kb_derived_bytes", "What the derived data takes on disk.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sessionsGauge, ownerGauge, documentsGauge, chunksGauge, vectorsGauge, diskGauge} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s := c.state(ctx)
	send := func(d *prometheus.Desc, v float64) { out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	send(sessionsGauge, float64(s.Sessions))
	owner := 0.0
	if s.Owner {
		owner = 1
	}
	send(ownerGauge, owner)
	if !s.Known {
		return
	}
	send(documentsGauge, float64(s.Documents))
	send(chunksGauge, float64(s.Chunks))
	send(vectorsGauge, s.Vectors)
	send(diskGauge, float64(s.DiskBytes))
}

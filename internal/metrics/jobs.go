package metrics

// Job adds a background job, and returns a function that counts its runs.
func (m *Metrics) Job(name string) func(error) {
	ok, failed, last := m.jobs.WithLabelValues(name, "ok"), m.jobs.WithLabelValues(name, "failed"), m.jobLast.WithLabelValues(name)
	last.SetToCurrentTime() // a job that never succeeds gets old from the start on
	return func(err error) {
		if err != nil {
			failed.Inc()
			return
		}
		ok.Inc()
		last.SetToCurrentTime()
	}
}

package blob

import "time"

// SetStall sets how long the server of a bucket may send nothing during a download.
func SetStall(s Store, d time.Duration) { s.(*bucket).stall = d }

package proof

// EntryOf is entry.
func EntryOf(body []byte) []byte { return entry(body) }

// SignCheckpoint signs any checkpoint with the key of a log.
func SignCheckpoint(s *Service, c Checkpoint) ([]byte, error) {
	key, err := newSigner(signingKey(s.Secrets), c.Origin)
	if err != nil {
		return nil, err
	}
	return key.sign(c)
}

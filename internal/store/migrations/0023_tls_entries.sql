-- Certificates from an ACME service.

-- +goose Up

-- What all replicas share of TLS_AUTOCERT_DOMAINS: the key of the account, the certificates with
-- their keys, and the answers to challenges. sealed is NULL while a replica gets the entry;
-- another one may try after claim_ends_at.
CREATE TABLE tls_entries (
	name          TEXT   NOT NULL PRIMARY KEY,
	sealed        BYTEA,
	claim_ends_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE tls_entries;

-- A large file of players is read in steps, after the answer to its upload.

-- +goose Up

-- file_rows is the number of rows of the file, and file_sha256 identifies the file; NULL for imports of earlier
-- releases. Until reading_until a process reads the file; afterwards that process has ended before the last row.
-- NULL means that all rows are here.
ALTER TABLE imports ADD COLUMN file_rows BIGINT;
ALTER TABLE imports ADD COLUMN file_sha256 TEXT;
ALTER TABLE imports ADD COLUMN reading_until BIGINT;

-- +goose Down
ALTER TABLE imports DROP COLUMN reading_until;
ALTER TABLE imports DROP COLUMN file_sha256;
ALTER TABLE imports DROP COLUMN file_rows;

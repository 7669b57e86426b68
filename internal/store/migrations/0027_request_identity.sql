-- A request keeps the name and birth date of the student that it asked about, as players has
-- them. They are NULL in requests of earlier releases.

-- +goose Up

ALTER TABLE requests ADD COLUMN student_key TEXT;
ALTER TABLE requests ADD COLUMN date_of_birth TEXT;

-- +goose Down
ALTER TABLE requests DROP COLUMN date_of_birth;
ALTER TABLE requests DROP COLUMN student_key;

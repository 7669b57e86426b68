package config

// Validate returns every error of c as Errors, or nil, as Load does.
func (c *Config) Validate() error {
	if errs := c.validate(nil); len(errs) > 0 {
		return errs
	}
	return nil
}

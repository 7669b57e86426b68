package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/bench"
)

// Build builds the service as it is released, stripped and without cgo, into dir and returns the path of the program.
func Build(ctx context.Context, dir string) (string, error) {
	folder, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/touchline/touchline").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of the service: %w", err)
	}
	program, err := filepath.Abs(filepath.Join(dir, "touchline"))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(folder)), "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/touchline")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// Server is a built program with a separate database. It can be started several times.
type Server struct {
	database *Database
	program  string
	address  string
	env      []string
}

// NewServer prepares a server. sms is the setting SMS, and env holds further settings as TOUCHLINE_NAME=value. If program is
// empty, NewServer builds the service.
func NewServer(ctx context.Context, program, engine, sms string, env ...string) (*Server, error) {
	database, err := NewDatabase(engine)
	if err != nil {
		return nil, err
	}
	s := &Server{database: database, program: program}
	if program == "" {
		s.program, err = Build(ctx, database.Dir)
	}
	var settings []byte
	if err == nil {
		settings, err = exec.CommandContext(ctx, s.program, "config").Output()
	}
	if err == nil {
		s.address, err = bench.FreeAddress()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.env = append(Environment(database, sms, string(settings)), "TOUCHLINE_ADDR="+s.address)
	s.env = append(s.env, env...)
	return s, nil
}

// NewDefaultServer is NewServer with the default of every setting that is not in env, but for
// the address, the database and the folder of its data.
func NewDefaultServer(ctx context.Context, program, engine string, env ...string) (*Server, error) {
	database, err := NewDatabase(engine)
	if err != nil {
		return nil, err
	}
	s := &Server{database: database, program: program}
	if program == "" {
		s.program, err = Build(ctx, database.Dir)
	}
	if err == nil {
		s.address, err = bench.FreeAddress()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.env = append([]string{"TOUCHLINE_DATA_DIR=" + database.Dir, "TOUCHLINE_DATABASE_URL=" + database.URL, "TOUCHLINE_ADDR=" + s.address}, env...)
	return s, nil
}

// OperatorToken creates a token for the operators' listener.
func (s *Server) OperatorToken(ctx context.Context, scope string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program, "admin", "token", "create", "--name=bench", "--scopes="+scope)
	cmd.Env = append(os.Environ(), s.env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("create an operator's token: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// URL returns the root of the server's API.
func (s *Server) URL() string {
	if slices.ContainsFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "TOUCHLINE_TLS_CERT=") }) {
		return "https://" + s.address
	}
	return "http://" + s.address
}

// Address returns the host and the port of the server's API.
func (s *Server) Address() string { return s.address }

// Start starts the program and waits until it is ready.
func (s *Server) Start(ctx context.Context) (*bench.Process, error) {
	cmd := exec.Command(s.program, "serve")
	cmd.Env = append(os.Environ(), s.env...)
	return bench.Start(ctx, cmd, s.URL()+"/readyz")
}

// Close removes the database. Stop the process first.
func (s *Server) Close() { s.database.Close() }

// stop ends a process within 10 seconds and ignores the error.
func stop(p *bench.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p.Stop(ctx) //nolint:errcheck // the caller removes its data next
}

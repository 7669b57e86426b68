// Command follow prints each change of the feed and continues after a restart where it was. It keeps its place in a file.
//
//	OPERATORS_URL=http://127.0.0.1:8081 TOKEN=… go run ./examples/follow cursor.txt
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	touchline "github.com/touchline/touchline/clients/go"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: follow <file for the cursor>")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string) error {
	service := touchline.NewService(os.Getenv("OPERATORS_URL"), os.Getenv("TOKEN"), nil)
	empty := "" // the beginning of the feed
	feed := touchline.Feed{Cursor: &empty, Save: func(_ context.Context, cursor string) error { return save(file, cursor) }, Handle: show}
	if kept, err := os.ReadFile(file); err == nil {
		cursor := string(kept)
		feed.Cursor = &cursor
	}
	return service.Follow(ctx, feed)
}

func show(_ context.Context, changes []touchline.Change) error {
	for _, c := range changes {
		fmt.Println(c.PlayerID, c.Sequence, c.Type, c.GuardianStatus, c.StudentStatus)
	}
	return nil
}

// save replaces the file in one step, so that a crash leaves the old cursor or the new one.
func save(file, cursor string) error {
	next := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".next")
	if err := os.WriteFile(next, []byte(cursor), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

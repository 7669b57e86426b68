package touchline_test

import (
	"context"
	"fmt"
	"log"
	"os"

	touchline "github.com/touchline/touchline/clients/go"
)

// A coach signs in, and the program prints the players at each change.
func Example() {
	ctx := context.Background()
	c := touchline.New(touchline.Options{BaseURL: "http://127.0.0.1:8080"})
	const number = "98123 45678"
	if err := c.Session.RequestOTP(ctx, number, "coach", ""); err != nil {
		log.Fatal(err)
	}
	var otp string
	fmt.Fscan(os.Stdin, &otp)
	if _, err := c.Session.SignIn(ctx, number, "coach", otp); err != nil {
		log.Fatal(err)
	}

	type player struct {
		Student struct {
			FullName string `json:"full_name"`
		}
		GuardianStatus string `json:"guardian_status"`
	}
	for event, err := range c.Live(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Notification != nil {
			fmt.Println(event.Notification.Body)
		}
		for p, err := range touchline.All[player](ctx, c, "/api/players", nil) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(p.Student.FullName, p.GuardianStatus)
		}
	}
}

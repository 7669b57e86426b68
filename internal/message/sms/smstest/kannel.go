package smstest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// Kannel is a Kannel of Debian (packages kannel and kannel-extras) with a simulated SMS
// network, for tests.
type Kannel struct {
	// URL is the address of sendsms, User and Password belong to its sendsms-user.
	URL, User, Password string

	network *output
	replies int // the port to which a phone sends replies

	mu       sync.Mutex
	replyURL string
}

// UnroutablePrefix begins the numbers to which the Kannel of StartKannel has no route.
const UnroutablePrefix = "+9199000"

const kannelConfig = `
group = core
admin-port = %[1]d
admin-interface = 127.0.0.1
admin-password = admin
status-password = status
smsbox-port = %[2]d
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1

group = smsc
smsc = fake
smsc-id = network
port = %[3]d
connect-allow-ip = 127.0.0.1
denied-prefix = "` + UnroutablePrefix + `"

group = smsc
smsc = fake
smsc-id = replies
port = %[5]d
connect-allow-ip = 127.0.0.1
allowed-smsc-id = replies

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = %[2]d
sendsms-port = %[4]d
sendsms-interface = 127.0.0.1

group = sendsms-user
username = touchline
password = S3NT1NEL
default-sender = TLINE
max-messages = 10
concatenation = true

group = sms-service
keyword = default
catch-all = true
max-messages = 0
get-url = "%[6]s/?from=%%p&text=%%a&id=%%I&sent_at=%%T"
`

// StartKannel starts a Kannel in a temporary directory on free ports. Without its programs it
// skips tb.
func StartKannel(tb testing.TB) *Kannel {
	tb.Helper()
	bearerbox, smsbox, fakesmsc := programtest.Bearerbox.Need(tb), programtest.Smsbox.Need(tb), programtest.FakeSMSC.Need(tb)
	ports := freePorts(tb, 5)
	admin, network, sendsms := ports[0], ports[2], ports[3]
	k := &Kannel{URL: fmt.Sprintf("http://127.0.0.1:%d/cgi-bin/sendsms", sendsms), User: "touchline", Password: "S3NT1NEL", replies: ports[4]}
	forwarder := httptest.NewServer(http.HandlerFunc(k.forward))
	tb.Cleanup(forwarder.Close)
	file := filepath.Join(tb.TempDir(), "kannel.conf")
	config := fmt.Sprintf(kannelConfig, ports[0], ports[1], ports[2], ports[3], ports[4], forwarder.URL)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	status := func() string { return get(fmt.Sprintf("http://127.0.0.1:%d/status.txt?password=status", admin)) }
	await := func(what string, logs *output, ready func() bool) {
		tb.Helper()
		for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				tb.Fatalf("%s is not ready after a minute:\n%s", what, logs)
			}
		}
	}
	logs := run(tb, bearerbox, file)
	await("bearerbox", logs, func() bool { return strings.Contains(status(), "Kannel") })
	logs = run(tb, smsbox, file)
	await("smsbox", logs, func() bool {
		return strings.Contains(status(), "smsbox:") && get(fmt.Sprintf("http://127.0.0.1:%d/cgi-bin/sendsms", sendsms)) != ""
	})
	k.network = run(tb, fakesmsc, "-H", "127.0.0.1", "-r", fmt.Sprint(network), "-m", "0", "1 2 text none")
	await("the simulated network", k.network, func() bool { return strings.Contains(status(), "(online") })
	return k
}

// ForwardReplies sets the address to which Kannel reports replies, without a query.
func (k *Kannel) ForwardReplies(address string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.replyURL = address
}

// forward passes a call of Kannel on: the address of the service is known after Kannel's.
func (k *Kannel) forward(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	address := k.replyURL
	k.mu.Unlock()
	res, err := http.Get(address + "?" + r.URL.RawQuery)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

// Reply makes a phone send a text to the service.
func (k *Kannel) Reply(tb testing.TB, from, text string) {
	tb.Helper()
	phone := exec.CommandContext(tb.Context(), "/usr/lib/kannel/test/fakesmsc", "-H", "127.0.0.1", "-r", fmt.Sprint(k.replies), "-m", "1", from+" TLINE text "+text)
	if err := phone.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = phone.Process.Kill()
		_ = phone.Wait()
	})
}

// networkMessage is the form in which the simulated network prints a message or a part of one.
// A text that is not encoded may continue on further lines.
var networkMessage = regexp.MustCompile(`Got message \d+: <(.*)>`)

// Messages returns the messages that the simulated network got, in order, as "sender number
// type text". The parts of a long message in the GSM alphabet are joined.
func (k *Kannel) Messages() []string {
	var messages []string
	for _, match := range networkMessage.FindAllStringSubmatch(k.network.String(), -1) {
		fields := strings.SplitN(match[1], " ", 6)
		switch {
		case len(fields) >= 4 && fields[2] == "text":
			messages = append(messages, match[1])
		case len(fields) == 4 && fields[2] == "ucs-2":
			messages = append(messages, strings.Join(append(fields[:3], decodeUCS2(fields[3])), " "))
		case len(fields) == 6 && fields[2] == "udh": // sender number udh <header> data <text>
			part, _ := url.QueryUnescape(fields[5])
			if header, _ := url.QueryUnescape(fields[3]); len(header) > 0 && header[len(header)-1] > 1 && len(messages) > 0 {
				messages[len(messages)-1] += part
			} else {
				messages = append(messages, strings.Join(append(fields[:2], "long", part), " "))
			}
		case len(messages) > 0:
			messages[len(messages)-1] += "\n" + match[1]
		}
	}
	return messages
}

func decodeUCS2(encoded string) string {
	octets, err := url.QueryUnescape(encoded)
	if err != nil {
		return err.Error()
	}
	units := make([]uint16, len(octets)/2)
	for i := range units {
		units[i] = uint16(octets[2*i])<<8 | uint16(octets[2*i+1])
	}
	return string(utf16.Decode(units))
}

// freePorts returns n ports that were free a moment ago. They are below those that the system
// gives to connections and to listeners without a port (from 32768 on Linux): other tests use such
// a port before Kannel does.
func freePorts(tb testing.TB, n int) []int {
	tb.Helper()
	const first, end = 20_000, 30_000
	var ports []int
	for tries := 1; len(ports) < n; tries++ {
		port := first + rand.IntN(end-first)
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			defer l.Close() // after the last one, so that each port is another one
			ports = append(ports, port)
		} else if tries == 100 {
			tb.Fatalf("find free ports: %v", err)
		}
	}
	return ports
}

// run starts a program and kills it when tb ends.
func run(tb testing.TB, program string, args ...string) *output {
	tb.Helper()
	out := new(output)
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, tb.TempDir()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out
}

// get returns the body of a URL, or "" if it does not respond.
func get(address string) string {
	client := http.Client{Timeout: 2 * time.Second}
	res, err := client.Get(address)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return string(body)
}

// output collects what a program prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String returns all output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

package signin_test

import (
	"os"
	"testing"

	"github.com/touchline/touchline/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, 2)) }

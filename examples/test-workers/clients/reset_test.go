package orders

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"testing"
)

// In TestMain, a branch with the name of the package:
// exec.Command("tool", "branch", "create", "shop", "orders-test", "--reuse", "--env").Output()

// reset restores a branch, after `tool branch serve shop test --yes --json > .reset.json &`.
func reset(t *testing.T, worker string) {
	file, err := os.Open(".reset.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line, err := bufio.NewReader(file).ReadBytes('\n')
	var serving struct{ Socket string }
	if err != nil || json.Unmarshal(line, &serving) != nil {
		t.Fatal("tool branch serve is not running")
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", serving.Socket)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	answer, err := client.Post("http://localhost/reset/"+worker, "", nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal("the branch was not reset", err)
	}
	answer.Body.Close()
}

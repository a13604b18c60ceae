//go:build unix

package main

import (
	"fmt"
	"os"
	"regexp"
)

// session is where a text has the demo recorded.
var session = regexp.MustCompile("(?s)(<!-- demo -->\n+```console\n)(.*?)(```\n)")

// Of what is left out, only the demo itself needs to say how much there is.
var leftOut = regexp.MustCompile(`(?m)^    \(\d+ more lines\)\n`)

// record writes what the demo showed into a file that has it recorded.
func record(file, shown string) error {
	text, err := os.ReadFile(file) //nolint:gosec // the file that the user names
	if err != nil {
		return err
	}
	at := session.FindSubmatchIndex(text)
	if at == nil {
		return fmt.Errorf("%s has no demo to write over", file)
	}
	whole := string(text[:at[4]]) + "$ make demo\n" + leftOut.ReplaceAllString(shown, "") + string(text[at[5]:])
	return os.WriteFile(file, []byte(whole), 0o600) //nolint:gosec // the file that the user names; it keeps its mode
}

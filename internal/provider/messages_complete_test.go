package provider_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A text in the code that reads like words ends in a message, unless it is
// made here for something else.
var (
	notForMessages = []string{
		// Descriptions of the schema.
		"Schema", "IdentitySchema", "ListResourceConfigSchema", "orEnvironment", "sourceMeanings", "words",
		"WholeNumber", "WholeBetween", "NoNulls", "Named",
	}
	// What no service and no configuration brings about, or not within a test.
	notProvoked = map[string]string{
		"must be one of ":       "a description of the schema",
		"must not be empty":     "a description of the schema",
		"must be a UUID":        "a description of the schema",
		"must be a duration":    "a description of the schema",
		"must be a JSON object": "a description of the schema",

		"%s: the request cannot be written as JSON: %w": "a mistake in the provider",
		"not listed by the service":                     "told in words of its own wherever it comes up",

		"The deployment is unchanged, which is answered past the framework": "for the log alone",
		"Nothing is to be changed, which is planned past the framework":     "for the log alone",

		"the answer was cut short: %w": "told without what the library says of it",

		"list deployments failed: deployments went away faster than the list could be read; after %d attempts ": "takes a list that shrinks all the time",
		"to find what had moved up, what was read may not be all. Try again when fewer are being deleted":       "takes a list that shrinks all the time",
	}
)

// assertEveryTextIsTold holds that each text which the code has for messages
// is in one of those that were provoked, so that none is left out of the guide.
func assertEveryTextIsTold(t *testing.T, all []told) {
	t.Helper()
	var texts []string
	for _, m := range all {
		texts = append(texts, strings.ToLower(m.summary+"\n"+m.detail))
	}
	used := map[string]bool{}
	for _, folder := range []string{".", "../field", "../client"} {
		for at, text := range textsIn(t, folder) {
			if isTold(text, texts) {
				continue
			}
			if _, ok := notProvoked[text]; ok {
				used[text] = true
				continue
			}
			t.Errorf("%s: nothing in messages_provoked_test.go has the provider say %q", at, text)
		}
	}
	for text := range notProvoked {
		if !used[text] {
			t.Errorf("notProvoked has %q, which is provoked, or is no more", text)
		}
	}
}

// textsIn are the texts for messages in the code of a package, by their places.
// Of the client they are those of its errors.
func textsIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	positions := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(positions, name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ofTheClient := filepath.Base(folder) == "client"
		for _, declared := range file.Decls {
			f, isFunction := declared.(*ast.FuncDecl)
			if isFunction && slices.Contains(notForMessages, f.Name.Name) || !isFunction && !ofTheClient {
				continue
			}
			ast.Inspect(declared, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.CallExpr:
					if makesError(node) {
						if ofTheClient {
							note(found, positions, node)
						}
						return false
					}
				case *ast.Field, *ast.KeyValueExpr:
					return !ofTheClient
				case *ast.BasicLit:
					if !ofTheClient {
						note(found, positions, node)
					}
				}
				return true
			})
		}
	}
	return found
}

// makesError reports whether a call makes an error of its arguments. Outside
// the client such an error is a mistake in the provider, and what it says is
// not for users.
func makesError(call *ast.CallExpr) bool {
	if f, ok := call.Fun.(*ast.Ident); ok {
		return f.Name == "addMistake"
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && (of.Name == "errors" && f.Sel.Name == "New" || of.Name == "fmt" && f.Sel.Name == "Errorf")
}

var words = regexp.MustCompile(`[A-Za-z]{2,} [A-Za-z]+`)

// note takes the texts below a node.
func note(found map[string]string, positions *token.FileSet, node ast.Node) {
	ast.Inspect(node, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && words.MatchString(text) {
				found[positions.Position(literal.Pos()).String()] = text
			}
		}
		return true
	})
}

var verb = regexp.MustCompile(`%(?:\[\d+\])?[a-zA-Z]`)

// isTold reports whether one of the messages was made with a text: whether it
// has the parts between the values, in their order.
func isTold(text string, all []string) bool {
	parts := verb.Split(strings.ToLower(text), -1)
	return slices.ContainsFunc(all, func(message string) bool {
		for _, part := range parts {
			_, rest, found := strings.Cut(message, part)
			if !found {
				return false
			}
			message = rest
		}
		return true
	})
}

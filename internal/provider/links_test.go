package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const top = "../.."

// pages are the texts for users and contributors, by their path below the top
// folder.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	read := func(path string) {
		text, err := os.ReadFile(filepath.Join(top, path))
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	for _, path := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		read(path)
	}
	if err := fs.WalkDir(os.DirFS(top), "docs", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"`)
	code    = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	fences  = regexp.MustCompile("(?ms)^```.*?^```$")
	heading = regexp.MustCompile("(?m)^#+ (.*)$")
	named   = regexp.MustCompile(`<a id="([^"]+)">`)
	// What headings lose on their way into an address.
	notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

	inRepository = regexp.MustCompile(`^https://github\.com/graphdeploy/terraform-provider-graphdeploy/(?:raw|blob|` +
		`tree)/main/`)
	inRegistry = regexp.MustCompile(`^https://registry\.terraform\.io/providers/graphdeploy/graphdeploy/latest/docs/?`)
)

func TestLinks_targetsExist(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for path, text := range texts {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			target := match[1] + match[2]
			file, anchor, _ := strings.Cut(target, "#")
			switch {
			case inRepository.MatchString(file):
				file = inRepository.ReplaceAllString(file, "")
			case inRegistry.MatchString(file):
				file = filepath.Join("docs", inRegistry.ReplaceAllString(file, ""))
				if file == "docs" {
					file = "docs/index"
				}
				file += ".md"
			case strings.Contains(file, "://"):
				continue
			case file == "":
				file = path
			default:
				file = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join(top, file)); err != nil {
				t.Errorf("%s links to %s: %v", path, target, err)
			} else if page, known := texts[file]; anchor != "" && known && !anchors(page)[anchor] {
				t.Errorf("%s links to %s: there is no such heading", path, target)
			}
		}
	}
}

func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range named.FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	for _, match := range heading.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		name := notInAnchors.ReplaceAllString(strings.ToLower(match[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}

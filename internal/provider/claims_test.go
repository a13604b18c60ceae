package provider_test

import (
	"encoding/xml"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What the README and the docs promise, each with the test that holds it. These
// tests hold that there are such tests, and that links lead somewhere.

const top = "../.."

// pages are the texts for users and contributors: from path, below the top
// folder, to text.
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
	for _, path := range []string{"README.md", "CONTRIBUTING.md"} {
		read(path)
	}
	for _, path := range filesBelow(t, "docs", ".md") {
		read(path)
	}
	return texts
}

// filesBelow are the files of a folder whose names end so, below the top folder.
func filesBelow(t *testing.T, folder, end string) (found []string) {
	t.Helper()
	if err := fs.WalkDir(os.DirFS(top), folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, end) {
			found = append(found, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// testFiles are the files that have a test, from the test's name.
func testFiles(t *testing.T) map[string][]string {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	files := map[string][]string{}
	for _, path := range filesBelow(t, "internal", "_test.go") {
		text, err := os.ReadFile(filepath.Join(top, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range function.FindAllStringSubmatch(string(text), -1) {
			files[match[1]] = append(files[match[1]], path)
		}
	}
	return files
}

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"`)
)

// links are the targets of the links in a text.
func links(text string) (targets []string) {
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		targets = append(targets, match[1]+match[2])
	}
	return targets
}

func TestEveryTestThatIsNamedExists(t *testing.T) {
	t.Parallel()
	files := testFiles(t)
	for path, text := range pages(t) {
		for _, match := range namedTest.FindAllStringSubmatch(text, -1) {
			if files[match[1]] == nil && match[1] != "TestAcc" { // that is how the names of some begin
				t.Errorf("%s names %s, which is no test", path, match[1])
			}
		}
	}
}

// rows are the rows of the tables of a text, without the lines at their heads.
func rows(text string) (found []string) {
	var above string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|---") {
			found = slices.DeleteFunc(found, func(row string) bool { return row == above })
		} else if strings.HasPrefix(line, "|") {
			found = append(found, line)
		}
		above = line
	}
	return found
}

func TestEveryPromiseOfTheReadmeHasATest(t *testing.T) {
	t.Parallel()
	files := testFiles(t)
	_, section, found := strings.Cut(pages(t)["README.md"], "\n## What is promised")
	if section, _, _ = strings.Cut(section, "\n## "); !found || len(rows(section)) < 40 {
		t.Fatalf("the table of promises has %d rows", len(rows(section)))
	}
	for _, row := range rows(section) {
		tests := namedTest.FindAllStringSubmatch(row, -1)
		if len(tests) == 0 {
			t.Errorf("no test is named: %s", row)
		}
		for _, match := range tests {
			if !slices.ContainsFunc(files[match[1]], func(file string) bool { return slices.Contains(links(row), file) }) {
				t.Errorf("%s is not in the file that is linked, but in %v", match[1], files[match[1]])
			}
		}
	}
}

// Where its tests are, a guide says once for all.
var testOfARow = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`(?: \\(`(internal/[\\w/]+)`\\))?")

func TestEveryGapAndEveryFaultHasATest(t *testing.T) {
	t.Parallel()
	files := testFiles(t)
	for path, least := range map[string]int{"docs/guides/not-shown.md": 40, "docs/guides/guarantees.md": 45} {
		found := rows(pages(t)[path])
		if len(found) < least {
			t.Errorf("%s has %d rows, want %d", path, len(found), least)
		}
		for _, row := range found {
			tests := testOfARow.FindAllStringSubmatch(row, -1)
			if len(tests) == 0 && !strings.Contains(row, "errored.tfstate") { // which is Terraform's
				t.Errorf("no test is named: %s", row)
			}
			for _, match := range tests {
				folder := match[2]
				if folder == "" && strings.HasPrefix(match[1], "TestAcc") {
					folder = "internal/provider"
				} else if folder == "" {
					folder = "internal/client"
				}
				if !slices.ContainsFunc(files[match[1]], func(file string) bool { return filepath.Dir(file) == folder }) {
					t.Errorf("%s is not in %s, but in %v", match[1], folder, files[match[1]])
				}
			}
		}
	}
}

const repository = "https://github.com/graphdeploy/terraform-provider-graphdeploy/"

var inRepository = regexp.MustCompile(`^` + repository + `(?:raw|blob|tree)/main/`)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for path, text := range texts {
		for _, target := range links(withoutCode(text)) {
			file, anchor, _ := strings.Cut(target, "#")
			switch {
			case inRepository.MatchString(file):
				file = inRepository.ReplaceAllString(file, "")
			case strings.Contains(file, "://"):
				continue
			case file == "":
				file = path
			default:
				file = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join(top, file)); err != nil {
				t.Errorf("%s has a link to %s: %v", path, target, err)
			} else if page, known := texts[file]; anchor != "" && known && !anchors(page)[anchor] {
				t.Errorf("%s has a link to %s, and there is no such heading", path, target)
			}
		}
	}
}

func TestEveryPageIsListed(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for path := range texts {
		if strings.HasPrefix(path, "docs/") && !slices.Contains(links(texts["README.md"]), path) {
			t.Errorf("README.md has no link to %s", path)
		}
		if guide, is := strings.CutPrefix(path, "docs/"); is && strings.HasPrefix(guide, "guides/") && !slices.Contains(links(texts["docs/index.md"]), guide) {
			t.Errorf("docs/index.md has no link to %s", path)
		}
	}
}

var (
	code    = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	heading = regexp.MustCompile("(?m)^#+ (.*)$")
	// What headings lose on their way into an address.
	notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)
)

func withoutCode(text string) string { return code.ReplaceAllString(text, "") }

func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(`<a id="([^"]+)">`).FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	fences := regexp.MustCompile("(?ms)^```.*?^```$")
	for _, match := range heading.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		name := notInAnchors.ReplaceAllString(strings.ToLower(match[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}

// The picture can be read by all: there are words for it, and none leaves its box.
func TestPictureIsWhole(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(top, "docs/images/value.svg"))
	if err != nil {
		t.Fatal(err)
	}
	type box struct {
		X      float64 `xml:"x,attr"`
		Y      float64 `xml:"y,attr"`
		Width  float64 `xml:"width,attr"`
		Height float64 `xml:"height,attr"`
	}
	var picture struct {
		Title string `xml:"title"`
		Desc  string `xml:"desc"`
		Boxes []box  `xml:"rect"`
		Texts []struct {
			box
			Class string `xml:"class,attr"`
			Words string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(text, &picture); err != nil {
		t.Fatal(err)
	}
	if picture.Title == "" || picture.Desc == "" || len(picture.Boxes) < 13 || len(picture.Texts) < 40 {
		t.Errorf("the picture lacks words or boxes: %+v", picture)
	}
	// About how wide a letter is, by the size of its class.
	letter := map[string]float64{"code": 7.3, "note": 5.5}
	for _, words := range picture.Texts {
		for _, b := range picture.Boxes[1:] { // the first is the ground
			inside := words.X >= b.X && words.X < b.X+b.Width && words.Y > b.Y && words.Y < b.Y+b.Height
			if end := words.X + letter[words.Class]*float64(utf8.RuneCountInString(words.Words)); inside && end > b.X+b.Width {
				t.Errorf("%q ends at %.0f, its box at %.0f", words.Words, end, b.X+b.Width)
			}
		}
	}
}

package main

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// release is a small one: the archives hold a few bytes.
type release struct {
	t      *testing.T
	folder string
}

const aVersion = "1.2.3"

func (r release) path(name string) string { return filepath.Join(r.folder, name) }

func (r release) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r release) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// archive writes an archive that holds one file.
func (r release) archive(name, holds string, mode fs.FileMode) {
	r.t.Helper()
	var text strings.Builder
	archive := zip.NewWriter(&text)
	header := &zip.FileHeader{Name: holds, Method: zip.Deflate}
	header.SetMode(mode)
	file, err := archive.CreateHeader(header)
	if err == nil {
		_, err = file.Write([]byte("a binary for " + name))
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(name, text.String())
}

// sum writes the checksums of what is there now.
func (r release) sum() {
	r.t.Helper()
	files, err := os.ReadDir(r.folder)
	if err != nil {
		r.t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		if filepath.Ext(file.Name()) == ".zip" || filepath.Ext(file.Name()) == ".json" {
			fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256([]byte(r.read(file.Name()))), file.Name())
		}
	}
	r.write(project+"_1.2.3_SHA256SUMS", text.String())
}

func newRelease(t *testing.T) release {
	t.Helper()
	r := release{t, t.TempDir()}
	for _, platform := range platforms {
		binary := project + "_v1.2.3"
		if strings.HasPrefix(platform, "windows_") {
			binary += ".exe"
		}
		r.archive(project+"_1.2.3_"+platform+".zip", binary, 0o755)
	}
	manifest, err := os.ReadFile(filepath.Join("..", "..", "..", "terraform-registry-manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	r.write(project+"_1.2.3_manifest.json", string(manifest))
	r.sum()
	r.write(project+"_1.2.3_SHA256SUMS.sig", "\x89 a signature")
	return r
}

func TestReleaseThatIsWhole(t *testing.T) {
	t.Parallel()
	version, err := check(newRelease(t).folder, true)
	if err != nil || version != aVersion {
		t.Errorf("got version %q and the error %v", version, err)
	}
}

func TestReleaseThatTheRegistryRefuses(t *testing.T) {
	t.Parallel()
	const (
		linux    = project + "_1.2.3_linux_amd64.zip"
		windows  = project + "_1.2.3_windows_amd64.zip"
		manifest = project + "_1.2.3_manifest.json"
		sums     = project + "_1.2.3_SHA256SUMS"
		binary   = project + "_v1.2.3"
	)
	for name, test := range map[string]struct {
		breaks func(release)
		want   string
	}{
		"a renamed archive": {func(r release) {
			_ = os.Rename(r.path(linux), r.path(project+"_v1.2.3_linux_amd64.zip"))
		}, linux + " is missing"},
		"a renamed archive, and the checksums know": {func(r release) {
			_ = os.Rename(r.path(linux), r.path(project+"_v1.2.3_linux_amd64.zip"))
			r.sum()
		}, project + "_v1.2.3_linux_amd64.zip: no archive of this release"},
		"a changed byte": {func(r release) {
			data := []byte(r.read(linux))
			data[len(data)/2] ^= 1
			r.write(linux, string(data))
		}, linux + " has the checksum"},
		"a platform that is missing": {func(r release) {
			_ = os.Remove(r.path(linux))
			r.sum()
		}, linux + " is missing"},
		"an archive that has no checksum": {func(r release) {
			r.write(sums, strings.Join(strings.SplitAfter(r.read(sums), "\n")[1:], ""))
		}, "is not among the checksums"},
		"an archive that is listed twice": {func(r release) {
			r.write(sums, r.read(sums)+strings.SplitAfter(r.read(sums), "\n")[0])
		}, "twice"},
		"an SBOM among the checksums": {func(r release) {
			r.write(linux+".sbom.json", "{}")
			r.sum()
		}, linux + ".sbom.json: the checksums list it"},
		"checksums in another form": {func(r release) {
			r.write(sums, strings.ReplaceAll(r.read(sums), "  ", " *"))
		}, "is no checksum, two spaces, and a name"},
		"checksums without a version": {func(r release) {
			_ = os.Rename(r.path(sums), r.path(project+"_SHA256SUMS"))
		}, "with a version such as 1.2.3"},
		"no checksums": {func(r release) {
			_ = os.Remove(r.path(sums))
		}, "has 0 files that end in _SHA256SUMS"},
		"a binary with another name": {func(r release) {
			r.archive(linux, project, 0o755)
			r.sum()
		}, "the binary " + binary + " is not in there"},
		"a binary for Windows that lacks .exe": {func(r release) {
			r.archive(windows, binary, 0o755)
			r.sum()
		}, "the binary " + binary + ".exe is not in there"},
		"a binary that cannot be executed": {func(r release) {
			r.archive(linux, binary, 0o644)
			r.sum()
		}, "is no file that everybody may execute, but -rw-r--r--"},
		"an archive that is none": {func(r release) {
			r.write(linux, "not a zip")
			r.sum()
		}, linux + ": zip: not a valid zip file"},
		"no manifest": {func(r release) {
			_ = os.Remove(r.path(manifest))
			r.sum()
		}, manifest + " is missing"},
		"a manifest that is not JSON": {func(r release) {
			r.write(manifest, "version: 1")
			r.sum()
		}, manifest + ": invalid character"},
		"a manifest of another protocol": {func(r release) {
			r.write(manifest, strings.ReplaceAll(r.read(manifest), "6.0", "5.0"))
			r.sum()
		}, "want version 1 and the protocol 6.0 alone"},
		"no signature": {func(r release) {
			_ = os.Remove(r.path(sums + ".sig"))
		}, sums + ".sig is missing"},
		"a signature in letters": {func(r release) {
			r.write(sums+".sig", "-----BEGIN PGP SIGNATURE-----")
		}, "is no binary signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t)
			test.breaks(r)
			_, err := check(r.folder, true)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

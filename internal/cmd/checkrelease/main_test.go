package main

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// release is a folder with the files of a release, whose archives hold a few bytes.
type release struct {
	t      *testing.T
	folder string
}

// keys has one key of each kind, because generating them is slow.
var keys = sync.OnceValue(func() (k struct{ release, other, ed25519 *openpgp.Entity }) {
	k.release = newKey(packet.PubKeyAlgoRSA)
	k.other = newKey(packet.PubKeyAlgoRSA)
	k.ed25519 = newKey(packet.PubKeyAlgoEdDSA)
	return k
})

func newKey(algorithm packet.PublicKeyAlgorithm) *openpgp.Entity {
	key, err := openpgp.NewEntity("Release", "", "release@example.com",
		&packet.Config{Algorithm: algorithm, RSABits: 2048})
	if err != nil {
		panic(err)
	}
	return key
}

func fingerprint(key *openpgp.Entity) string {
	return fmt.Sprintf("%X", key.PrimaryKey.Fingerprint)
}

// sign writes the signature of the checksums.
func (r release) sign(key *openpgp.Entity) {
	r.t.Helper()
	var signature strings.Builder
	if err := openpgp.DetachSign(&signature, key, strings.NewReader(r.read(project+"_1.2.3_SHA256SUMS")),
		nil); err != nil {
		r.t.Fatal(err)
	}
	r.write(project+"_1.2.3_SHA256SUMS.sig", signature.String())
}

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

// archive writes an archive with one file.
func (r release) archive(name, content string, mode fs.FileMode) {
	r.t.Helper()
	var text strings.Builder
	archive := zip.NewWriter(&text)
	header := &zip.FileHeader{Name: content, Method: zip.Deflate}
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

// sum writes the checksums of the archives and JSON files in the folder.
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
	r.sign(keys().release)
	return r
}

func TestCheck_validRelease(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for _, key := range []string{fingerprint(keys().release), strings.ToLower(fingerprint(keys().release)), ""} {
		version, err := check(r.folder, key)
		if err != nil || version != "1.2.3" {
			t.Errorf("key %q: got version %q and the error %v", key, version, err)
		}
	}
}

func TestCheck_unsignedRelease(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	if err := os.Remove(r.path(project + "_1.2.3_SHA256SUMS.sig")); err != nil {
		t.Fatal(err)
	}
	if version, err := check(r.folder, ""); err != nil || version != "1.2.3" {
		t.Errorf("got version %q and the error %v", version, err)
	}
}

func TestCheck_rejectedRelease(t *testing.T) {
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
		"a renamed archive that has a checksum": {func(r release) {
			_ = os.Rename(r.path(linux), r.path(project+"_v1.2.3_linux_amd64.zip"))
			r.sum()
		}, project + "_v1.2.3_linux_amd64.zip: not the name of an archive of this release"},
		"a changed byte": {func(r release) {
			data := []byte(r.read(linux))
			data[len(data)/2] ^= 1
			r.write(linux, string(data))
		}, linux + " must have the checksum"},
		"a missing platform": {func(r release) {
			_ = os.Remove(r.path(linux))
			r.sum()
		}, linux + " is missing"},
		"an archive that has no checksum": {func(r release) {
			r.write(sums, strings.Join(strings.SplitAfter(r.read(sums), "\n")[1:], ""))
		}, "has no checksum"},
		"an archive that is listed twice": {func(r release) {
			r.write(sums, r.read(sums)+strings.SplitAfter(r.read(sums), "\n")[0])
		}, "twice"},
		"an SBOM among the checksums": {func(r release) {
			r.write(linux+".sbom.json", "{}")
			r.sum()
		}, linux + ".sbom.json: the registry does not accept this file"},
		"checksums in another form": {func(r release) {
			r.write(sums, strings.ReplaceAll(r.read(sums), "  ", " *"))
		}, "must be a checksum, two spaces, and a name"},
		"checksums without a version": {func(r release) {
			_ = os.Rename(r.path(sums), r.path(project+"_SHA256SUMS"))
		}, "must be named " + project + "_VERSION_SHA256SUMS"},
		"no checksums": {func(r release) {
			_ = os.Remove(r.path(sums))
		}, "must have one file that ends in _SHA256SUMS, got 0"},
		"a binary with another name": {func(r release) {
			r.archive(linux, project, 0o755)
			r.sum()
		}, "must contain the binary " + binary},
		"a binary for Windows without .exe": {func(r release) {
			r.archive(windows, binary, 0o755)
			r.sum()
		}, "must contain the binary " + binary + ".exe"},
		"a binary that cannot be executed": {func(r release) {
			r.archive(linux, binary, 0o644)
			r.sum()
		}, "must be a file that everybody may execute, got -rw-r--r--"},
		"an archive that is not a ZIP file": {func(r release) {
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
		}, "must have version 1 and the protocols [6.0], got version 1 and [5.0]"},
		"no signature": {func(r release) {
			_ = os.Remove(r.path(sums + ".sig"))
		}, sums + ".sig is missing"},
		"an armored signature": {func(r release) {
			r.write(sums+".sig", "-----BEGIN PGP SIGNATURE-----")
		}, sums + ".sig must be a binary OpenPGP signature"},
		"an empty signature": {func(r release) {
			r.write(sums+".sig", "")
		}, sums + ".sig must be a binary OpenPGP signature"},
		"a key instead of a signature": {func(r release) {
			var key strings.Builder
			_ = keys().release.Serialize(&key)
			r.write(sums+".sig", key.String())
		}, sums + ".sig must be a binary OpenPGP signature"},
		"a signature by an Ed25519 key": {func(r release) {
			r.sign(keys().ed25519)
		}, sums + ".sig must be a signature by an RSA key, got OpenPGP algorithm 22"},
		"a signature by another key": {func(r release) {
			r.sign(keys().other)
		}, sums + ".sig must be a signature by the key " + fingerprint(keys().release)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t)
			test.breaks(r)
			_, err := check(r.folder, fingerprint(keys().release))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

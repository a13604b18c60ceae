// Command checkrelease looks at the files of a release as the Terraform
// registry does before it takes them:
//
//	checkrelease [-signed] FOLDER
//
// It says all that is wrong, and fails if anything is.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	signed := flag.Bool("signed", false, "want a signature of the checksums, too")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: checkrelease [-signed] FOLDER")
		os.Exit(2)
	}
	version, err := check(flag.Arg(0), *signed)
	if err != nil {
		fmt.Fprintf(os.Stderr, "This is no release that the registry takes:\n%v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%s has all that the registry wants of version %s, for %d platforms.\n", flag.Arg(0), version, len(platforms))
}

const project = "terraform-provider-graphdeploy"

// platforms are what every release is for. They stand here besides
// .goreleaser.yml so that one that gets lost there is missed.
var platforms = []string{
	"darwin_amd64", "darwin_arm64",
	"freebsd_386", "freebsd_amd64", "freebsd_arm", "freebsd_arm64",
	"linux_386", "linux_amd64", "linux_arm", "linux_arm64",
	"windows_386", "windows_amd64", "windows_arm64",
}

// What the registry takes for a version: three numbers, and what makes it a
// version before those.
var versionPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// check returns the version of the release in a folder, and all that is wrong.
func check(folder string, signed bool) (version string, err error) {
	sums, err := filepath.Glob(filepath.Join(folder, "*_SHA256SUMS"))
	if err != nil {
		return "", err
	}
	if len(sums) != 1 {
		return "", fmt.Errorf("%s has %d files that end in _SHA256SUMS, want one", folder, len(sums))
	}
	name := filepath.Base(sums[0])
	version = strings.TrimSuffix(strings.TrimPrefix(name, project+"_"), "_SHA256SUMS")
	if name != project+"_"+version+"_SHA256SUMS" || !versionPattern.MatchString(version) {
		return "", fmt.Errorf("%s: want %s_VERSION_SHA256SUMS with a version such as 1.2.3", name, project)
	}
	listed, wrong := readSums(sums[0])

	manifest := project + "_" + version + "_manifest.json"
	wanted := []string{manifest}
	for _, platform := range platforms {
		wanted = append(wanted, project+"_"+version+"_"+platform+".zip")
	}
	for _, file := range wanted {
		if err := checkFile(filepath.Join(folder, file), listed[file]); err != nil {
			wrong = append(wrong, err)
			continue
		}
		switch {
		case file == manifest:
			wrong = append(wrong, checkManifest(filepath.Join(folder, file)))
		default:
			wrong = append(wrong, checkArchive(filepath.Join(folder, file), version))
		}
	}
	for file := range listed {
		if !slices.Contains(wanted, file) {
			wrong = append(wrong, fmt.Errorf("%s: the checksums list it, and the registry takes no such file", file))
		}
	}
	archives, _ := filepath.Glob(filepath.Join(folder, "*.zip"))
	for _, archive := range archives {
		if file := filepath.Base(archive); !slices.Contains(wanted, file) {
			wrong = append(wrong, fmt.Errorf("%s: no archive of this release has such a name", file))
		}
	}
	if signed {
		wrong = append(wrong, checkSignature(sums[0]+".sig"))
	}
	return version, errors.Join(wrong...)
}

var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  (\S+)$`)

// readSums reads a file of checksums: from the name of a file to its checksum.
func readSums(path string) (listed map[string]string, wrong []error) {
	listed = map[string]string{}
	text, err := os.ReadFile(path) //nolint:gosec // the folder to look at is what the command is told
	if err != nil {
		return nil, []error{err}
	}
	for line := range strings.Lines(string(text)) {
		parts := sumLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case parts == nil:
			wrong = append(wrong, fmt.Errorf("%s: %q is no checksum, two spaces, and a name", filepath.Base(path), line))
		case listed[parts[2]] != "":
			wrong = append(wrong, fmt.Errorf("%s lists %s twice", filepath.Base(path), parts[2]))
		default:
			listed[parts[2]] = parts[1]
		}
	}
	return listed, wrong
}

// checkFile looks whether a file is there and has its checksum.
func checkFile(path, sum string) error {
	name := filepath.Base(path)
	data, err := os.ReadFile(path) //nolint:gosec // the folder to look at is what the command is told
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is missing", name)
	case err != nil:
		return err
	case sum == "":
		return fmt.Errorf("%s is not among the checksums", name)
	}
	if is := sha256.Sum256(data); hex.EncodeToString(is[:]) != sum {
		return fmt.Errorf("%s has the checksum %x, and the list says %s", name, is, sum)
	}
	return nil
}

// checkArchive looks for the binary that Terraform starts.
func checkArchive(path, version string) error {
	name := filepath.Base(path)
	archive, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = archive.Close() }()

	binary := project + "_v" + version
	if strings.Contains(name, "_windows_") {
		binary += ".exe"
	}
	var wrong []error
	found := false
	for _, file := range archive.File {
		switch {
		case file.Name == binary:
			found = true
			if file.UncompressedSize64 == 0 {
				wrong = append(wrong, fmt.Errorf("%s: %s is empty", name, binary))
			}
			if mode := file.Mode(); !mode.IsRegular() || mode.Perm()&0o111 != 0o111 {
				wrong = append(wrong, fmt.Errorf("%s: %s is no file that everybody may execute, but %s", name, binary, mode))
			}
		case !strings.HasPrefix(file.Name, "LICENSE"):
			wrong = append(wrong, fmt.Errorf("%s: nobody expects %s in there", name, file.Name))
		}
	}
	if !found {
		wrong = append(wrong, fmt.Errorf("%s: the binary %s is not in there", name, binary))
	}
	return errors.Join(wrong...)
}

// checkManifest looks whether the manifest names the protocol that the
// provider speaks. Without it, the registry takes it for one of version 5.
func checkManifest(path string) error {
	name := filepath.Base(path)
	data, err := os.ReadFile(path) //nolint:gosec // the folder to look at is what the command is told
	if err != nil {
		return err
	}
	var manifest struct {
		Version  int `json:"version"`
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&manifest); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if manifest.Version != 1 || !slices.Equal(manifest.Metadata.ProtocolVersions, []string{"6.0"}) {
		return fmt.Errorf("%s: want version 1 and the protocol 6.0 alone, got version %d and %v", name, manifest.Version, manifest.Metadata.ProtocolVersions)
	}
	return nil
}

// checkSignature looks whether there is a signature in the form that the
// registry wants. Whose it is, gpg says.
func checkSignature(path string) error {
	name := filepath.Base(path)
	data, err := os.ReadFile(path) //nolint:gosec // the folder to look at is what the command is told
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is missing", name)
	case err != nil:
		return err
	case len(data) == 0 || data[0]&0x80 == 0: // every packet of OpenPGP begins with this bit
		return fmt.Errorf("%s is no binary signature", name)
	}
	return nil
}

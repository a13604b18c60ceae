// Command checkrelease checks the files of a release against the rules of the
// Terraform registry:
//
//	checkrelease [-key FINGERPRINT] FOLDER
//
// With -key, the checksums must have a signature by that key, which must be an
// RSA key: the registry rejects other ones, but only after the release is
// published. That the signature is valid is for gpg to verify. The command
// reports every problem, and fails if there is one.
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

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

func main() {
	key := flag.String("key", "", "the `fingerprint` of the key that must have signed the checksums")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: checkrelease [-key FINGERPRINT] FOLDER")
		os.Exit(2)
	}
	version, err := check(flag.Arg(0), *key)
	if err != nil {
		fmt.Fprintf(os.Stderr, "The registry would reject this release:\n%v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%s is a valid release of version %s, for %d platforms.\n", flag.Arg(0), version, len(platforms))
}

const project = "terraform-provider-graphdeploy"

// platforms lists the platforms of every release. It repeats .goreleaser.yml, so
// that a platform that is removed there by accident is missed here.
var platforms = []string{
	"darwin_amd64", "darwin_arm64",
	"freebsd_386", "freebsd_amd64", "freebsd_arm", "freebsd_arm64",
	"linux_386", "linux_amd64", "linux_arm", "linux_arm64",
	"windows_386", "windows_amd64", "windows_arm64",
}

// versionPattern matches the versions that the registry accepts: three numbers,
// and optionally a pre-release.
var versionPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// check returns the version of the release in a folder, and an error that joins
// every problem. An empty key accepts a release without a signature.
func check(folder, key string) (version string, err error) {
	sums, err := filepath.Glob(filepath.Join(folder, "*_SHA256SUMS"))
	if err != nil {
		return "", err
	}
	if len(sums) != 1 {
		return "", fmt.Errorf("%s must have one file that ends in _SHA256SUMS, got %d", folder, len(sums))
	}
	name := filepath.Base(sums[0])
	version = strings.TrimSuffix(strings.TrimPrefix(name, project+"_"), "_SHA256SUMS")
	if name != project+"_"+version+"_SHA256SUMS" || !versionPattern.MatchString(version) {
		return "", fmt.Errorf("%s: must be named %s_VERSION_SHA256SUMS, with a version such as 1.2.3", name, project)
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
			wrong = append(wrong, fmt.Errorf("%s: the registry does not accept this file, but the checksums list it", file))
		}
	}
	archives, _ := filepath.Glob(filepath.Join(folder, "*.zip"))
	for _, archive := range archives {
		if file := filepath.Base(archive); !slices.Contains(wanted, file) {
			wrong = append(wrong, fmt.Errorf("%s: not the name of an archive of this release", file))
		}
	}
	if key != "" {
		wrong = append(wrong, checkSignature(sums[0]+".sig", key))
	}
	return version, errors.Join(wrong...)
}

var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  (\S+)$`)

// readSums reads a file of checksums into a map of file names to checksums.
func readSums(path string) (listed map[string]string, wrong []error) {
	listed = map[string]string{}
	text, err := os.ReadFile(path) //nolint:gosec // the folder is an argument of the command
	if err != nil {
		return nil, []error{err}
	}
	for line := range strings.Lines(string(text)) {
		parts := sumLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case parts == nil:
			wrong = append(wrong, fmt.Errorf("%s: %q must be a checksum, two spaces, and a name", filepath.Base(path), line))
		case listed[parts[2]] != "":
			wrong = append(wrong, fmt.Errorf("%s lists %s twice", filepath.Base(path), parts[2]))
		default:
			listed[parts[2]] = parts[1]
		}
	}
	return listed, wrong
}

// checkFile verifies that a file exists and has the checksum.
func checkFile(path, sum string) error {
	name := filepath.Base(path)
	data, err := os.ReadFile(path) //nolint:gosec // the folder is an argument of the command
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is missing", name)
	case err != nil:
		return err
	case sum == "":
		return fmt.Errorf("%s has no checksum", name)
	}
	if is := sha256.Sum256(data); hex.EncodeToString(is[:]) != sum {
		return fmt.Errorf("%s must have the checksum %s, got %x", name, sum, is)
	}
	return nil
}

// checkArchive verifies that an archive contains the binary that Terraform starts.
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
				wrong = append(wrong, fmt.Errorf("%s: %s must be a file that everybody may execute, got %s", name, binary, mode))
			}
		case !strings.HasPrefix(file.Name, "LICENSE"):
			wrong = append(wrong, fmt.Errorf("%s: must not contain %s", name, file.Name))
		}
	}
	if !found {
		wrong = append(wrong, fmt.Errorf("%s: must contain the binary %s", name, binary))
	}
	return errors.Join(wrong...)
}

// checkManifest verifies that the manifest names the protocol of the provider.
// Without it, the registry assumes version 5.
func checkManifest(path string) error {
	name := filepath.Base(path)
	data, err := os.ReadFile(path) //nolint:gosec // the folder is an argument of the command
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
		return fmt.Errorf("%s: must have version 1 and the protocols [6.0], got version %d and %v",
			name, manifest.Version, manifest.Metadata.ProtocolVersions)
	}
	return nil
}

// checkSignature verifies that a file is a binary OpenPGP signature by the RSA
// key with the fingerprint.
func checkSignature(path, key string) error {
	name := filepath.Base(path)
	file, err := os.Open(path) //nolint:gosec // the folder is an argument of the command
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is missing", name)
	case err != nil:
		return err
	}
	defer func() { _ = file.Close() }()

	read, err := packet.Read(file)
	signature, ok := read.(*packet.Signature)
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("%s must be a binary OpenPGP signature", name), err)
	}
	var wrong []error
	if signature.PubKeyAlgo != packet.PubKeyAlgoRSA {
		wrong = append(wrong, fmt.Errorf("%s must be a signature by an RSA key, got OpenPGP algorithm %d", name,
			signature.PubKeyAlgo))
	}
	if signer := hex.EncodeToString(signature.IssuerFingerprint); !strings.EqualFold(signer, key) {
		wrong = append(wrong, fmt.Errorf("%s must be a signature by the key %s, got %q", name, key, signer))
	}
	return errors.Join(wrong...)
}

// The check of a release, in a module of its own, so that its crypto library is no dependency of the provider.
module github.com/graphdeploy/terraform-provider-graphdeploy/internal/cmd/checkrelease

go 1.26.0

toolchain go1.26.8

require github.com/ProtonMail/go-crypto v1.5.2

require (
	github.com/cloudflare/circl v1.6.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

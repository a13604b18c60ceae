package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// privateState is the part of the state that Terraform keeps for the provider
// and shows to nobody.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

const (
	privateOwned   = "owned"   // places for field.Fields.Refresh
	privateSecrets = "secrets" // a secretsMemory
)

func saveOwned(ctx context.Context, private privateState, places []string, diags *diag.Diagnostics) {
	savePrivate(ctx, private, privateOwned, places, diags)
}

// loadOwned is nil where nothing was applied yet, as after an import.
func loadOwned(ctx context.Context, private privateState, diags *diag.Diagnostics) (places []string) {
	loadPrivate(ctx, private, privateOwned, &places, diags)
	return places
}

func savePrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, err := json.Marshal(value)
	if err != nil {
		addMistake(diags, "What the provider remembers cannot be written", err)
		return
	}
	diags.Append(private.SetKey(ctx, key, text)...)
}

// loadPrivate reads a key into value. What an unknown version of the provider
// has left there counts as nothing: it is remembered anew.
func loadPrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(text) > 0 {
		_ = json.Unmarshal(text, value)
	}
}

package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// privateState is the part of the state that Terraform keeps for the provider and shows to nobody.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

const (
	privateRecord   = "applied"     // a field.Record; absent before the first apply
	privateSecrets  = "secrets"     // the sentSecrets; absent as long as no secrets are managed
	privateRevision = "revision"    // the revision of the last apply, as long as it does not run
	privateNewName  = "replacement" // the name of the replacement that is planned; "" if it is known only after apply
)

// loadRecord returns what the last apply recorded; nil if nothing was applied yet, as after an import.
func loadRecord(ctx context.Context, private privateState, diags *diag.Diagnostics) field.Record {
	return loadPrivate[field.Record](ctx, private, privateRecord, diags)
}

// loadPrivate returns the value of a key, and the zero value if it is absent. What another version of the provider
// wrote, and this one cannot read, counts as absent.
func loadPrivate[T any](ctx context.Context, private privateState, key string, diags *diag.Diagnostics) (value T) {
	text, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(text) > 0 {
		_ = json.Unmarshal(text, &value)
	}
	return value
}

func savePrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, err := json.Marshal(value)
	if err != nil {
		(*providerData)(nil).report(diags).bug("Private state cannot be written", err)
		return
	}
	diags.Append(private.SetKey(ctx, key, text)...)
}

// clearPrivate makes a key absent.
func clearPrivate(ctx context.Context, private privateState, key string, diags *diag.Diagnostics) {
	savePrivate(ctx, private, key, nil, diags)
}

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
	privateRecord      = "applied"     // a field.Record; absent before the first apply
	privateSecrets     = "secrets"     // the sentSecrets; absent as long as no secrets are managed
	privateRevision    = "revision"    // a pendingRevision; absent if the revision of the last apply runs
	privateReplacement = "replacement" // a replacement, on its way from a plan to its apply
)

// loadRecord is nil where nothing was applied yet, as after an import.
func loadRecord(ctx context.Context, private privateState, diags *diag.Diagnostics) (record field.Record) {
	loadPrivate(ctx, private, privateRecord, &record, diags)
	return record
}

func savePrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, err := json.Marshal(value)
	if err != nil {
		(*providerData)(nil).report(diags).bug("Private state cannot be written", err)
		return
	}
	diags.Append(private.SetKey(ctx, key, text)...)
}

// loadPrivate reads a key into value. What another version of the provider wrote, and this one cannot read, counts as
// absent.
func loadPrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(text) > 0 {
		_ = json.Unmarshal(text, value)
	}
}

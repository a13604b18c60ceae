package provider_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// walkAttributes calls visit for each attribute, by its path.
func walkAttributes(at string, attributes []*tfprotov6.SchemaAttribute,
	visit func(at string, a *tfprotov6.SchemaAttribute),
) {
	for _, a := range attributes {
		visit(at+a.Name, a)
		if a.NestedType != nil {
			walkAttributes(at+a.Name+".", a.NestedType.Attributes, visit)
		}
	}
}

// The descriptions are what editors show.
func TestSchema_everyAttributeHasADescriptionAndNoneIsDeprecated(t *testing.T) {
	t.Parallel()
	schema := unconfigured(t).schema
	blocks := map[string]*tfprotov6.Schema{"provider": schema.Provider}
	for kind, all := range map[string]map[string]*tfprotov6.Schema{"resource ": schema.ResourceSchemas,
		"data ": schema.DataSourceSchemas, "list ": schema.ListResourceSchemas} {
		for name, s := range all {
			blocks[kind+name] = s
		}
	}
	if len(blocks) != 8 {
		t.Errorf("%d schemas: %v", len(blocks), slices.Sorted(maps.Keys(blocks)))
	}
	for name, s := range blocks {
		if s.Block.Description == "" || s.Block.Deprecated || len(s.Block.BlockTypes) > 0 {
			t.Errorf("%s: description %q, deprecated %t, %d blocks", name, s.Block.Description, s.Block.Deprecated,
				len(s.Block.BlockTypes))
		}
		walkAttributes(name+".", s.Block.Attributes, func(at string, a *tfprotov6.SchemaAttribute) {
			if a.Description == "" || a.DescriptionKind != tfprotov6.StringKindMarkdown && a.Description == "" || a.Deprecated {
				t.Errorf("%s: description %q, deprecated %t", at, a.Description, a.Deprecated)
			}
		})
	}
	identities, err := unconfigured(t).server.GetResourceIdentitySchemas(t.Context(),
		&tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range identities.IdentitySchemas[typeName].IdentityAttributes {
		if a.Description == "" {
			t.Errorf("identity %s has no description", a.Name)
		}
	}
}

func TestSchema_sensitiveAndWriteOnlyAttributes(t *testing.T) {
	t.Parallel()
	schema := unconfigured(t).schema
	var sensitive, writeOnly []string
	for name, s := range map[string]*tfprotov6.Schema{"provider": schema.Provider,
		"resource": schema.ResourceSchemas[typeName], "data": schema.DataSourceSchemas[typeName],
		"list":  schema.DataSourceSchemas[deploymentsType],
		"repos": schema.DataSourceSchemas[reposType], "repo": schema.DataSourceSchemas[repoType],
		"oauth": schema.DataSourceSchemas[oauthProviders]} {
		walkAttributes(name+".", s.Block.Attributes, func(at string, a *tfprotov6.SchemaAttribute) {
			if a.Sensitive {
				sensitive = append(sensitive, at)
			}
			if a.WriteOnly {
				writeOnly = append(writeOnly, at)
			}
		})
	}
	slices.Sort(sensitive)
	// In the resource, the configuration decides what is sensitive; what another
	// deployment has in its environment is nobody's to show.
	want := []string{
		"data.source_config.resource_spec.init_containers.env.value", "data.source_config.resource_spec.sidecars.env.value",
		"list.deployments.source_config.resource_spec.init_containers.env.value",
		"list.deployments.source_config.resource_spec.sidecars.env.value",
		"provider.api_key", "provider.headers", "resource.secrets", "resource.secrets_wo",
	}
	if !slices.Equal(sensitive, want) {
		t.Errorf("sensitive: %v, want %v", sensitive, want)
	}
	if want := []string{"resource.secrets_wo"}; !slices.Equal(writeOnly, want) {
		t.Errorf("write-only: %v, want %v", writeOnly, want)
	}
	walkAttributes("", schema.ResourceSchemas[typeName].Block.Attributes, func(at string, a *tfprotov6.SchemaAttribute) {
		if at == "secrets_wo_version" && a.Type.String() != "tftypes.String" {
			t.Errorf("secrets_wo_version is a %s: versions of secret managers are UUIDs or timestamps", a.Type)
		}
	})
}

package provider_test

import (
	"regexp"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// everyArgument are patterns of the names of all attributes that a deployment
// can have, as a state spells them.
var everyArgument = provider.AttributePatterns(regexp.QuoteMeta)

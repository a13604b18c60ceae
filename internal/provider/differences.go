package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// describeDifferences lists what differs, one attribute a line.
func describeDifferences(differences []field.Difference) (lines []string) {
	for _, d := range differences {
		line := placeOf(d)
		if want, has, ok := d.Values(); ok {
			line += fmt.Sprintf(": %s in the service, %s in the configuration", has, want)
		}
		lines = append(lines, line)
	}
	return lines
}

// names lists where values differ, one attribute a line.
func names(differences []field.Difference) (lines []string) {
	for _, d := range differences {
		lines = append(lines, placeOf(d))
	}
	return lines
}

// placeOf names what differs: an attribute, or a property within additional_properties.
func placeOf(d field.Difference) string {
	if d.Undescribed() {
		return fmt.Sprintf("%s (%s)", additionalField.Name, d)
	}
	return d.String()
}

// attributeOf returns the attribute to which a message about a difference is attached.
func attributeOf(d field.Difference) path.Path {
	if d.Undescribed() {
		return path.Root(additionalField.Name)
	}
	return d.At
}

package provider

import "github.com/hashicorp/terraform-plugin-go/tftypes"

// hideSecrets has the client hide the secrets of a configuration, plan or
// state, as far as they are known: a service may repeat in an error what it was
// sent once, whatever it is asked for now.
func (p *providerData) hideSecrets(objects ...tftypes.Value) {
	for _, object := range objects {
		for _, name := range []string{"secrets", "secrets_wo"} {
			for _, value := range attributesOf(attributesOf(object)[name]) {
				var text string
				if value.IsKnown() && !value.IsNull() && value.As(&text) == nil {
					p.client.Hide(text)
				}
			}
		}
	}
}

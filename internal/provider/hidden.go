package provider

// hideSecrets has the client hide the secrets of a configuration, plan or
// state, as far as they are known: a service may repeat in an error what it was
// sent once, whatever it is asked for now.
func (p *providerData) hideSecrets(all ...attributes) {
	for _, a := range all {
		for _, argument := range []string{"secrets", "secrets_wo"} {
			secrets := attributesOf(a[argument])
			for name := range secrets {
				p.client.Hide(secrets.text(name))
			}
		}
	}
}

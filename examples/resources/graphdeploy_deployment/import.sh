# By name (case-sensitive)
terraform import graphdeploy_deployment.shop shop

# By ID
terraform import graphdeploy_deployment.shop 0b7d6a52-9f0e-4f7c-8d7e-6f1c2a3b4d5e

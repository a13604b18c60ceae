import {
  to = graphdeploy_deployment.shop
  identity = {
    id = "0b7d6a52-9f0e-4f7c-8d7e-6f1c2a3b4d5e"
  }
}

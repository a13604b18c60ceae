import {
  to = graphdeploy_deployment.shop
  id = "shop" # name or ID
}

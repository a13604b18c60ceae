import {
  to = graphdeploy_deployment.shop
  id = "shop" # the exact name, or the id
}

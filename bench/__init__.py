"""One file a bar of the product's table, each printing our figure beside its anchors."""

"""What makes and tries a release: the packages, the site, the picture of the README, a fresh machine."""

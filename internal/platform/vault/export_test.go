package vault

const RefreshBytes = refreshBytes

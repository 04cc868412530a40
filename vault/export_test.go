package vault

// CollectAtOnce makes garbage of facts however young they are, until end.
func CollectAtOnce() (end func()) {
	old := grace
	grace = -1
	return func() { grace = old }
}

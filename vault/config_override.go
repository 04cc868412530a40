package vault

import "strconv"

// Override sets a key of c that concerns searching, by its name in kb.yaml, to
// what a caller says for this time: model, language, search.vector_weight,
// search.diversity or vector.ann. A value that cannot be changes nothing.
func (c *Config) Override(key, value string) error {
	refused := errorf(Usage, "%s=%s", key, value)
	changed := *c
	switch key {
	case "model":
		return c.UseModel(value)
	case "language":
		changed.Language = value // the index knows which there are
	case "search.vector_weight":
		changed.Search.VectorWeight = value
	case "search.diversity":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return refused.hint("diversity is 0 to 1")
		}
		changed.Search.Diversity = n
	case "vector.ann":
		if value != "exact" && value != "hnsw" {
			return refused.hint("accepted: exact, hnsw")
		}
		changed.Vector.ANN = value
	default:
		return refused.hint("keys: model, language, search.vector_weight, search.diversity, vector.ann")
	}
	if err := changed.checkVectorSearch(); err != nil {
		return refused.hint("%s", AsError(err).Hint)
	}
	*c = changed
	return nil
}

package vector

// TinyFiles are the files of a small encoder; wrong makes its graph do more than
// its names say, which the native engine cannot see.
func TinyFiles(wrong bool) []any {
	b := newTinyBERT()
	if wrong {
		b.edit = func(w *onnxWriter, states string) string {
			w.initializer(onnxTensor("slope", []int{24}, b.weights["embeddings.LayerNorm.bias"]))
			return w.op("Add", states, "slope")
		}
	}
	return b.files("cls")
}

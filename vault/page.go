package vault

// pile is one of several lists of an answer that share its budget.
type pile struct {
	size int
	cost func(i int) int // of element i, in tokens
	keep func(from, to int)
}

func pileOf[T any](list *[]T, cost func(T) int) pile {
	return pile{
		size: len(*list),
		cost: func(i int) int { return cost((*list)[i]) },
		keep: func(from, to int) { *list = append([]T{}, (*list)[from:to]...) },
	}
}

// costs is a cost that is the same for all.
func costs[T any](tokens int) func(T) int { return func(T) int { return tokens } }

// page cuts the piles to one page of an answer: it deals from all of them in
// turn - the first of each, the second of each - passes over the first offset
// elements so dealt, and stops when the budget is spent. So every page shows
// something of each, and the pages together are the whole. It returns the offset
// at which the next page begins, 0 if there is none. A page has at least one
// element.
func page(piles []pile, offset, budget int) (next int) {
	d := dealer{piles: piles, skip: offset, budget: budget, spans: make([][2]int, len(piles))}
	full := !d.deal()
	for i, s := range d.spans {
		piles[i].keep(s[0], s[1])
	}
	if full {
		return d.passed + d.shown
	}
	return 0
}

type dealer struct {
	piles         []pile
	spans         [][2]int // what is shown of each pile
	skip, budget  int
	passed, shown int
}

// deal goes round the piles until they are empty, or until the page is full: then
// it returns false.
func (d *dealer) deal() bool {
	for round, more := 0, true; more; round++ {
		more = false
		for i, p := range d.piles {
			if round >= p.size {
				continue
			}
			more = true
			if !d.take(i) {
				return false
			}
		}
	}
	return true
}

// take deals one element of pile i.
func (d *dealer) take(i int) bool {
	s := &d.spans[i]
	if d.passed < d.skip {
		d.passed++
		s[0]++
		s[1]++
		return true
	}
	cost := d.piles[i].cost(s[1])
	if cost > d.budget && d.shown > 0 {
		return false
	}
	d.budget -= cost
	d.shown++
	s[1]++
	return true
}

package gitstore

import (
	"context"
	"runtime"
	"sync"
)

// group runs tasks, which may add tasks, on a few goroutines.
type group struct {
	ctx   context.Context
	limit int

	mu      sync.Mutex
	wake    *sync.Cond
	tasks   []func() error
	running int
	err     error
}

func newGroup(ctx context.Context) *group {
	g := &group{ctx: ctx, limit: min(runtime.GOMAXPROCS(0), 8)}
	g.wake = sync.NewCond(&g.mu)
	return g
}

// do adds a task.
func (g *group) do(task func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tasks = append(g.tasks, task)
	g.wake.Signal()
}

// wait runs all tasks and returns the first error, after which no further task
// is begun.
func (g *group) wait() error {
	var workers sync.WaitGroup
	for range g.limit {
		workers.Go(g.work)
	}
	workers.Wait()
	return g.err
}

func (g *group) work() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for len(g.tasks) == 0 && g.running > 0 && g.err == nil {
			g.wake.Wait()
		}
		if g.err == nil {
			g.err = g.ctx.Err()
		}
		if len(g.tasks) == 0 || g.err != nil {
			g.wake.Broadcast()
			return
		}
		task := g.tasks[len(g.tasks)-1]
		g.tasks = g.tasks[:len(g.tasks)-1]
		g.running++
		g.mu.Unlock()
		err := task()
		g.mu.Lock()
		g.running--
		if err != nil && g.err == nil {
			g.err = err
		}
	}
}

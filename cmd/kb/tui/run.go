package tui

import (
	"context"
	"errors"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Options say where the screen is.
type Options struct {
	In, Out *os.File // a terminal
	NoColor bool
}

// Run shows the screen until the person leaves it. It returns ctx's error when
// that ends it.
func Run(ctx context.Context, desk Desk, o Options) error {
	env := os.Environ()
	if o.NoColor {
		env = append(env, "NO_COLOR=1")
	}
	p := tea.NewProgram(newScreen(ctx, desk, time.Now),
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(env))
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return context.Canceled
	}
	return err
}

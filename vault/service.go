package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"kb/cas"
	"kb/gitstore"
	"kb/internal/owner"
)

// Service runs operations on a vault: in this process when it owns the derived
// store, else in the process that does. It is safe for concurrent use.
type Service struct {
	Clock func() time.Time // what time it is for callers; tests set it before the first call

	mu       sync.Mutex
	cfg      *Config
	load     func() (*Config, error) // nil: cfg stays
	audience Audience
	dir      string
	node     *owner.Node
	log      func(format string, args ...any)
	embeds   atomic.Bool // in the background, as the owner

	once  sync.Once // opens local
	local *host     // answers while derived data cannot be kept
}

// Progress is told how far long work is; total is 0 while it is not known.
type Progress func(done, total int, what string)

// NewService prepares to run operations on the vault of c for one audience. It
// opens nothing yet.
func NewService(c *Config, a Audience, log func(format string, args ...any)) (*Service, error) {
	id, err := c.ID()
	if err != nil {
		return nil, err
	}
	s := &Service{Clock: time.Now, cfg: c, audience: a, dir: filepath.Join(c.CacheDir, id), log: log}
	s.node = owner.New(owner.Config{
		Dir:     s.dir,
		ID:      id,
		Version: Version,
		Schema:  cas.Schema,
		Log:     log,
		Start: func(context.Context) (owner.Handler, io.Closer, error) {
			store, err := OpenStore(s.dir, log)
			if err != nil {
				return nil, nil, err
			}
			if s.embeds.Load() {
				store.EmbedInBackground()
			}
			h := &host{store: store, vaults: map[string]*Vault{}}
			return h.handle, h, nil
		},
	})
	return s, nil
}

// EmbedInBackground makes this process embed what views lack for as long as it
// owns the derived store. It is for processes that stay; it is called first.
func (s *Service) EmbedInBackground() { s.embeds.Store(true) }

// Own makes this process the owner of the derived store if nobody is, and
// reports whether it is.
func (s *Service) Own(ctx context.Context) (bool, error) {
	owns, err := s.node.Own(ctx)
	if err != nil {
		return false, s.callError(ctx, err)
	}
	return owns, nil
}

// Owns reports whether this process is the owner of the derived store.
func (s *Service) Owns() bool {
	info, ok := s.node.Owner()
	return ok && info.Self
}

// LogFile is where processes that stay log what they do.
func (s *Service) LogFile() string { return filepath.Join(s.dir, logName) }

// SyncFile is where `kb sync` remembers when it asked which source.
func (s *Service) SyncFile() string { return filepath.Join(s.dir, "sync.jsonl") }

// logName is the log's in the directory of derived data.
const logName = "kb.log"

// Follow makes every later call run on the configuration as it is then: load reads
// it. While it cannot be read no call is answered, since nobody knows what it hides.
// Derived data stay in the directory of the first. Follow is called first.
func (s *Service) Follow(load func() (*Config, error)) { s.load = load }

// Config returns the configuration that the service runs on: what was read last.
func (s *Service) Config() *Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg
}

// configNow is the configuration of a call that begins.
func (s *Service) configNow() (*Config, error) {
	if s.load == nil {
		return s.Config(), nil
	}
	c, err := s.load()
	if err != nil {
		return nil, AsError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.CacheDir = s.cfg.CacheDir
	s.cfg = c
	return c, nil
}

// request is an operation as it travels to the owner: with the whole
// configuration, so that the owner answers as the caller would.
type request struct {
	Config   *Config         `json:"config"`
	Audience Audience        `json:"audience"`
	Caller   Caller          `json:"caller"`
	Args     json.RawMessage `json:"args"`
}

// Do runs an operation for the person or agent that the service is for, who
// states no name; see [Service.DoAs].
func (s *Service) Do(ctx context.Context, o *Op, args json.RawMessage, report Progress) (any, error) {
	return s.DoAs(ctx, Caller{}, o, args, report)
}

// DoAs runs an operation for a caller and returns its result, a pointer to its
// result struct. Every error is an [*Error]. A reading operation survives the end
// of the owner.
func (s *Service) DoAs(ctx context.Context, who Caller, o *Op, args json.RawMessage, report Progress) (any, error) {
	p, err := o.Decode(args, s.audience)
	if err != nil {
		return nil, err // before anything is opened
	}
	if who.Now.IsZero() {
		who.Now = s.Clock()
	}
	cfg, err := s.configNow()
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(request{cfg, s.audience, who, args})
	if err != nil {
		return nil, AsError(err)
	}
	call := owner.Call{Method: o.Name, Params: params, Repeatable: !o.writesWith(p)}
	if report != nil {
		call.Progress = func(done, total int64, what string) { report(int(done), int(total), what) }
	}
	raw, err := s.node.Call(ctx, call)
	if unkept(err) {
		return s.doLocally(ctx, err, cfg, who, o, args, report)
	}
	if err != nil {
		return nil, s.callError(ctx, err)
	}
	return o.ParseResult(raw)
}

// callError makes one of ours of what the owner's package returned.
func (s *Service) callError(ctx context.Context, err error) error {
	var remote *owner.RemoteError
	var ours *Error
	switch {
	case ctx.Err() != nil:
		return AsError(ctx.Err())
	case errors.As(err, &remote):
		return &Error{Code: Code(remote.Code), Message: remote.Message, Hint: remote.Hint, cause: err}
	case errors.Is(err, owner.ErrBusy):
		return errorf(Busy, "%w", err).hint("end that process, or give this one another --cache-dir")
	case errors.Is(err, owner.ErrOutdated):
		return errorf(Busy, "%w", err)
	case errors.Is(err, owner.ErrTooLarge):
		return errorf(Usage, "the arguments are too long: more than %d MB", owner.MaxParams>>20)
	case errors.Is(err, owner.ErrLost):
		return errorf(Internal, "%w", err).hint("kb_drafts shows what is there; a call with a key may be repeated")
	case errors.As(err, &ours):
		return ours
	}
	return errorf(Internal, "open %s: %w", s.dir, err).hint("kb doctor looks for the cause; --cache-dir puts derived data elsewhere")
}

// unkept reports whether an error says that nobody owns the derived data, and that
// this process cannot because it cannot write there.
func unkept(err error) bool {
	return errors.Is(err, owner.ErrReadOnly) || errors.Is(err, cas.ErrReadOnly) || errors.Is(err, cas.ErrFull)
}

// doLocally answers without an owner and without keeping anything: the cache
// cannot be written, and why says the reason.
func (s *Service) doLocally(ctx context.Context, why error, cfg *Config, who Caller, o *Op, args json.RawMessage, report Progress) (any, error) {
	s.once.Do(func() {
		s.log("nothing derived is kept: %v", why)
		s.local = &host{store: ReadOnlyStore(s.dir, why, s.log), vaults: map[string]*Vault{}}
	})
	v, err := s.local.vault(cfg, s.audience)
	if err != nil {
		return nil, AsError(err)
	}
	r, err := o.runSteady(ctx, v.As(who).WithProgress(report), args)
	if err != nil {
		return nil, AsError(err)
	}
	return r, nil
}

// runSteady runs o, again when a note of the work tree changed between being
// listed and being read: the next listing sees it as it is.
func (o *Op) runSteady(ctx context.Context, v *Vault, args json.RawMessage) (r any, err error) {
	const tries = 5
	for range tries {
		if r, err = o.Run(ctx, v, args); !errors.Is(err, gitstore.ErrChanged) {
			break
		}
	}
	return r, err
}

// Close ends this process's part; another process may then own the store.
func (s *Service) Close() error {
	err := s.node.Close()
	if s.local != nil {
		err = errors.Join(err, s.local.Close())
	}
	return err
}

// host runs operations in the process that owns the store, on as many
// configurations as its callers have.
type host struct {
	store  *Store
	mu     sync.Mutex
	vaults map[string]*Vault
}

func (h *host) handle(ctx context.Context, method string, params json.RawMessage, progress owner.Progress) (json.RawMessage, error) {
	raw, err := h.run(ctx, method, params, progress)
	if err != nil {
		e := AsError(err)
		return nil, &owner.RemoteError{Code: string(e.Code), Message: e.Message, Hint: e.Hint}
	}
	return raw, nil
}

func (h *host) run(ctx context.Context, method string, params json.RawMessage, progress owner.Progress) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.store.log("panic in %s: %v\n%s", method, p, debug.Stack())
			err = errorf(Internal, "%s failed inside kb: a bug; please report it", method)
		}
	}()
	o, ok := FindOp(method)
	if !ok {
		return nil, errorf(Usage, "no operation %q", method)
	}
	var q request
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, errorf(Usage, "%s: %w", method, err)
	}
	v, err := h.vault(q.Config, q.Audience)
	if err != nil {
		return nil, err
	}
	report := func(done, total int, what string) { progress(int64(done), int64(total), what) }
	r, err := o.runSteady(ctx, v.As(q.Caller).WithProgress(report), q.Args)
	if err != nil {
		return nil, err
	}
	return MarshalResult(r)
}

// MarshalResult writes a result as its JSON, the same wherever it is asked for:
// compact, and without escaping <, > and &.
func MarshalResult(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, errorf(Internal, "write the answer: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

const openVaults = 16

// vault returns the opened vault of a configuration.
func (h *host) vault(c *Config, a Audience) (*Vault, error) {
	key := string(a) + c.hash()
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.vaults[key]; v != nil && !v.moved() {
		return v, nil
	}
	v, err := Open(c, h.store, a)
	if err != nil {
		return nil, err
	}
	if len(h.vaults) >= openVaults {
		clear(h.vaults) // callers that use one go on with it; its files are closed when it is collected
	}
	h.vaults[key] = v
	return v, nil
}

// Close closes the vaults and then the store.
func (h *host) Close() error {
	h.store.background.stop() // it reads the vaults
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for _, v := range h.vaults {
		err = errors.Join(err, v.Close())
	}
	return errors.Join(err, h.store.Close())
}

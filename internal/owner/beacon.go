package owner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files in the directory. The lock file is never removed: two processes could
// then hold locks on two files of that name.
const (
	lockName   = "owner.lock"
	beaconName = "owner.json"
	socketName = "owner.sock"
)

// beacon is what owner.json holds: who the owner is and how to reach it.
// While the owner starts it has no address. Its readers are the owner's user.
type beacon struct {
	Info
	Protocol int    `json:"protocol"`
	Network  string `json:"network,omitempty"` // unix or tcp
	Address  string `json:"address,omitempty"`
	Secret   string `json:"secret,omitempty"` // proves that a caller can read this file
}

func readBeacon(dir string) (beacon, error) {
	var b beacon
	data, err := os.ReadFile(filepath.Join(dir, beaconName))
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	b.Self = false
	return b, err
}

// write replaces owner.json. Only the holder of the lock does.
func (b beacon) write(dir string) error {
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, beaconName+".new")
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, beaconName))
}

// removeBeacon removes owner.json and the socket that it names, which a killed
// owner leaves behind; what is no socket stays. Only the holder of the lock does.
func removeBeacon(dir string) error {
	b, err := readBeacon(dir)
	if err == nil && b.Network == "unix" && isSocket(b.Address) {
		if err := removeFile(b.Address); err != nil {
			return err
		}
	}
	return removeFile(filepath.Join(dir, beaconName))
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// now is the time as the beacon gives it.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

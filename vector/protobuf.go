package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

var errProtobuf = errors.New("malformed protocol buffer: the file is truncated or no ONNX")

// eachField calls f for every field of a protocol buffer message: with the
// number of one that is stored as an integer, with the bytes of any other.
func eachField(msg []byte, f func(field int, number uint64, data []byte) error) error {
	for len(msg) > 0 {
		h, err := parseHead(msg)
		if err != nil {
			return err
		}
		msg = msg[h.length:]
		if h.size > uint64(len(msg)) {
			return errProtobuf
		}
		var data []byte
		if !h.integer {
			data = msg[:h.size:h.size]
		}
		if err := f(h.field, h.number, data); err != nil {
			return err
		}
		msg = msg[h.size:]
	}
	return nil
}

// fieldHead is what stands before the bytes of a field.
type fieldHead struct {
	field   int
	integer bool
	number  uint64 // of an integer
	size    uint64 // of what follows
	length  int    // of the head itself
}

const longestHead = 2 * binary.MaxVarintLen64

func parseHead(msg []byte) (h fieldHead, err error) {
	tag, n := binary.Uvarint(msg)
	if n <= 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
		return h, errProtobuf
	}
	h.field, h.length = int(tag>>3), n
	switch tag & 7 {
	case 0:
		h.integer = true
		h.number, n = binary.Uvarint(msg[h.length:])
	case 1:
		h.size = 8
		return h, nil
	case 2:
		h.size, n = binary.Uvarint(msg[h.length:])
	case 5:
		h.size = 4
		return h, nil
	default:
		return h, errProtobuf
	}
	if n <= 0 {
		return h, errProtobuf
	}
	h.length += n
	return h, nil
}

// A section is a part of a file that is read when it is needed.
type section struct {
	file      io.ReaderAt // nil for a field that is an integer
	off, size int64
}

// each is [eachField] of a message in a file.
func (s section) each(f func(field int, number uint64, data section) error) error {
	var window [longestHead]byte
	for at := int64(0); at < s.size; {
		head := section{s.file, s.off + at, min(longestHead, s.size-at)}
		if err := head.read(window[:head.size], 0); err != nil {
			return err
		}
		h, err := parseHead(window[:head.size])
		if err != nil {
			return err
		}
		at += int64(h.length)
		if h.size > uint64(s.size-at) {
			return errProtobuf
		}
		data := section{s.file, s.off + at, int64(h.size)}
		if h.integer {
			data = section{}
		}
		if err := f(h.field, h.number, data); err != nil {
			return err
		}
		at += int64(h.size)
	}
	return nil
}

// read fills b with what stands at off.
func (s section) read(b []byte, off int64) error {
	if n, err := s.file.ReadAt(b, s.off+off); n < len(b) {
		return fmt.Errorf("read model: %w", err)
	}
	return nil
}

// maxSmall is the size of a part of a model that is no numbers: a name, a shape.
const maxSmall = 1 << 16

// bytes returns what is in a small section.
func (s section) bytes() ([]byte, error) {
	if s.file == nil || s.size > maxSmall {
		return nil, errProtobuf
	}
	b := make([]byte, s.size)
	return b, s.read(b, 0)
}

package httpd

import (
	"crypto/tls"
	"os"
	"sync"
)

// TLSFiles serves with a certificate and its key, from files. They are read again
// when they change; one that cannot be read leaves the one before in use.
func TLSFiles(certFile, keyFile string) (*tls.Config, error) {
	p := &pair{certFile: certFile, keyFile: keyFile}
	if _, err := p.current(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current() },
	}, nil
}

type pair struct {
	certFile, keyFile string

	mu   sync.Mutex
	seen [2]os.FileInfo
	cert *tls.Certificate
}

func (p *pair) current() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now [2]os.FileInfo
	same := true
	for i, name := range []string{p.certFile, p.keyFile} {
		now[i], _ = os.Stat(name) // that it is missing is noticed when it is read
		same = same && now[i] != nil && p.seen[i] != nil && os.SameFile(now[i], p.seen[i]) && now[i].ModTime().Equal(p.seen[i].ModTime())
	}
	if same {
		return p.cert, nil
	}
	cert, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil && p.cert == nil {
		return nil, err
	}
	if err == nil {
		p.cert, p.seen = &cert, now
	}
	return p.cert, nil
}

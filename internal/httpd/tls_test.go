package httpd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certify puts a new certificate and its key in place of what is in dir.
func certify(t *testing.T, dir string, serial int64) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	put(t, filepath.Join(dir, "cert.pem"), cert)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// put replaces a file.
func put(t *testing.T, name string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(name+".new", raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

// A certificate that is renewed is served without a restart; one that is damaged
// changes nothing.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := TLSFiles(cert, key); err == nil {
		t.Error("no certificate was accepted")
	}
	first := certify(t, dir, 1)
	config, err := TLSFiles(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	address, _ := start(t, &counted{}, Options{TLS: config})
	trusts := func(pool *x509.CertPool, max uint16) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: max}}}
		defer client.CloseIdleConnections()
		resp, err := client.Post("https://"+address+"/mcp", "application/json", nil)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := trusts(first, 0); err != nil {
		t.Fatal(err)
	}
	second := certify(t, dir, 2)
	if err := trusts(second, 0); err != nil {
		t.Errorf("renewed: %v", err)
	}
	if trusts(first, 0) == nil {
		t.Error("the certificate before is still served")
	}
	put(t, cert, []byte("damaged"))
	if err := trusts(second, 0); err != nil {
		t.Errorf("damaged: %v", err)
	}
	if trusts(second, tls.VersionTLS11) == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

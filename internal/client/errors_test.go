package client

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

func TestErrorNamesOperationMethodPathStatusAndRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, respond(422, `{"detail":"no such integration"}`, "X-Request-Id", "req-7"))
	_, err := s.client(t).Repositories(t.Context(), idA, unchecked)
	equal(t, "text", err.Error(),
		"list repositories failed (GET /v1/integrations/forge/codehost/"+idA+"/repos): 422 Unprocessable Entity: no such "+
			"integration (request id req-7)")
	failed := asType[*Error](t, err)
	equal(t, "error", *failed, Error{Operation: "list repositories", Method: "GET",
		Path:   "/v1/integrations/forge/codehost/" + idA + "/repos",
		Status: 422, Message: "no such integration", RequestID: "req-7"})
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*Error{
		"try failed (GET /x)":                          {Operation: "try", Method: "GET", Path: "/x"},
		"try failed (GET /x): 503 Service Unavailable": {Operation: "try", Method: "GET", Path: "/x", Status: 503},
		"try failed (GET /x): 599":                     {Operation: "try", Method: "GET", Path: "/x", Status: 599},
		"try failed (GET /x): 599: why": {Operation: "try", Method: "GET", Path: "/x", Status: 599,
			Message: "why"},
		"try failed (GET /x): connection refused": {Operation: "try", Method: "GET", Path: "/x",
			Message: "connection refused"},
		"try failed (GET /x): 400 Bad Request (request id 7)": {Operation: "try", Method: "GET", Path: "/x", Status: 400,
			RequestID: "7"},
	} {
		equal(t, "text", e.Error(), want)
	}
}

// rejectionOf is the error of a response.
func rejectionOf(status int, contentType, body string, header http.Header, secret ...string) *Error {
	c := New(Config{BaseURL: &url.URL{}, Header: header})
	c.Hide(secret...)
	return c.rejection(request{operation: "try", method: "GET", path: "/x"},
		response{status, http.Header{"Content-Type": {contentType}}, []byte(body)})
}

func TestErrorBodiesOfCommonShapes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ body, want string }{
		"detail text":          {`{"detail":"not allowed"}`, "not allowed"},
		"detail object":        {`{"detail":{"message":"not allowed"}}`, "not allowed"},
		"detail list of texts": {`{"detail":["a","b"]}`, "a; b"},
		"detail list": {`{"detail":[{"loc":["body","name"],"msg":"too long","type":"x"},{"loc":["query",0],` +
			`"msg":"bad"}]}`, "body.name: too long; query.0: bad"},
		"detail without loc":   {`{"detail":[{"msg":"bad"}]}`, "bad"},
		"detail with loc null": {`{"detail":[{"loc":null,"msg":"bad"}]}`, "bad"},
		"loc as text":          {`{"detail":[{"loc":"name","msg":"bad"}]}`, "bad"},
		"problem+json": {`{"type":"about:blank","title":"Forbidden","status":403,"detail":"not yours",` +
			`"instance":"/x"}`, "Forbidden; not yours"},
		"problem with errors": {`{"title":"Invalid","errors":[{"pointer":"#/name","detail":"too long"}]}`,
			"Invalid; too long"},
		"error.message":        {`{"error":{"code":7,"message":"not allowed"}}`, "not allowed"},
		"error text":           {`{"error":"not allowed"}`, "not allowed"},
		"error and its text":   {`{"error":"forbidden","message":"not yours"}`, "forbidden; not yours"},
		"error.description":    {`{"error":{"description":"not allowed"}}`, "not allowed"},
		"message":              {`{"message":"not allowed"}`, "not allowed"},
		"message list":         {`{"statusCode":400,"message":["a","b"],"error":"Bad Request"}`, "Bad Request; a; b"},
		"a title that is none": {`{"title":7,"message":"not allowed"}`, "not allowed"},
		"errors of texts":      {`{"errors":["a","b"]}`, "a; b"},
		"errors with loc":      {`{"errors":[{"loc":["body","name"],"message":"too long"}]}`, "body.name: too long"},
		"errors with message":  {`{"errors":[{"message":"a"},{"code":1},{"msg":"b"}]}`, "a; b"},
		"an empty object":      {`{}`, ""},
		"null":                 {`null`, ""},
		"unknown members":      {` { "code" : "X" , "html": "<b>" } `, `{"code":"X","html":" "}`},
		"errors of members": {`{"title":"Invalid","errors":{"name":["must be unique"]}}`,
			`Invalid; {"name":["must be unique"]}`},
		"members":             {`{"name":["must be unique"]}`, `{"name":["must be unique"]}`},
		"nulls":               {`{"detail":null,"error":null}`, `{"detail":null,"error":null}`},
		"a JSON text":         {`"not allowed"`, `"not allowed"`},
		"a JSON list":         {`[1]`, "[1]"},
		"empty":               {"", ""},
		"plain text":          {"upstream\r\n\tis  down\n", "upstream is down"},
		"JSON with an end":    {`{"detail":"a"} trailing`, `{"detail":"a"} trailing`},
		"a page":              {"<html><head><title>x</title></head><body><!-- c --><h1>502</h1></body></html>", htmlPage},
		"a page without type": {"\n <!doctype  HTML><p>Sorry", htmlPage},
		"a script":            {`{"detail":"no <script>evil()</script>"}`, htmlPage},
		"controls": {"{\"detail\":\"a\\u0000b\\u001b[31mred\\u001b[0m\\rc\\u202ed\\u0085e\"}",
			`a\u0000b\u001b[31mred\u001b[0m c\u202ed e`},
		"markup in JSON":    {`{"detail":"<p class=\"x\">Bad <b>request</b><br/>again</p>"}`, "Bad request again"},
		"markup of a field": {`{"detail":[{"loc":["body","name"],"msg":"<p>too long</p>"}]}`, "body.name: too long"},
		"a page in JSON": {`{"message":"<!DOCTYPE html><html><head><title>x</title></head><body>Sorry</body></html>"}`,
			htmlPage},
		"names in brackets": {`{"detail":"write <owner>/<name>, 1 < 2, List<string>, a &amp; b"}`,
			"write <owner>/<name>, 1 < 2, List<string>, a &amp; b"},
		"terminal escapes":      {"a\x1b]0;title\x07b\u009bc\x9bd", `a\u001b]0;title\u0007b\u009bc\x9bd`},
		"broken characters":     {"a\xffb\xc3", `a\xffb\xc3`},
		"binary":                {"\x00\x01\xff\xfe\x00", "a response that is not text"},
		"a loc of other things": {`{"detail":[{"loc":["body",null,true,{"a":1},2],"msg":"bad"}]}`, "body.2: bad"},
		"a loc of many steps": {`{"detail":[{"loc":[` + strings.Repeat("1,", 100) + `1],"msg":"bad"}]}`,
			strings.TrimSuffix(strings.Repeat("1.", maxSteps), ".") + ": bad"},
		"an index of a fraction": {`{"detail":[{"loc":[1.5,1e300,-2],"msg":"bad"}]}`, "-2: bad"},
		"nested lists of errors": {`{"errors":[["a"],["b",["c",["d"]]]]}`, "a; b; c"},
		"five levels": {`{"error":{"detail":{"message":{"message":{"message":"x"}}}}}`,
			`{"detail":{"message":{"message":{"message":"x"}}}}`},
		"four levels": {`{"error":{"detail":{"message":"x"}}}`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			equal(t, "message", rejectionOf(400, "application/json", test.body, nil).Message, test.want)
		})
	}
}

func TestHTMLPage_contentIsNotShown(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{"text/html; charset=utf-8", "application/xhtml+xml"} {
		equal(t, "message", rejectionOf(502, contentType, "Bad Gateway", nil).Message, htmlPage)
	}
}

func TestFieldErrors(t *testing.T) {
	t.Parallel()
	e := rejectionOf(422, "application/json", `{"detail":[
		{"loc":["body","source_config","resource_spec","sidecars",1,"image"],"msg":"too\u001b long"},
		{"loc":["body","secrets",0,"hush\u0000-hush"],"msg":"hush-hush is bad"},
		{"msg":"as a whole"},
		{"loc":["body","name"]}]}`, nil, "hush-hush")
	equal(t, "fields", e.Fields, []FieldError{
		{[]any{"body", "source_config", "resource_spec", "sidecars", 1, "image"}, `too\u001b long`},
		{[]any{"body", "secrets", 0, `hush\u0000-hush`}, "(sensitive value) is bad"},
		{nil, "as a whole"},
	})
	equal(t, "place that is a secret", rejectionOf(422, "", `{"detail":[{"loc":["hush-hush"],"msg":"bad"}]}`, nil,
		"hush-hush").Fields,
		[]FieldError{{[]any{"(sensitive value)"}, "bad"}})
}

func TestLongErrorBodiesAreCut(t *testing.T) {
	t.Parallel()
	items := strings.Repeat(`{"loc":["body","name"],"msg":"`+strings.Repeat("x", 1000)+`"},`, 500)
	for name, body := range map[string]string{
		"detail":       `{"detail":"` + strings.Repeat("é", 1<<16) + `"}`,
		"plain text":   strings.Repeat("word ", 1<<15),
		"markup":       strings.Repeat("<p>word</p>", 1<<14),
		"open markup":  strings.Repeat("<", 1<<16),
		"many fields":  `{"detail":[` + strings.TrimSuffix(items, ",") + `]}`,
		"many errors":  `{"errors":[` + strings.Repeat(`"x",`, 1<<13) + `"x"]}`,
		"broken bytes": strings.Repeat("\xffx", 1<<15),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := rejectionOf(400, "", body, nil)
			if n := utf8.RuneCountInString(e.Message); n > maxMessage+4 || n < 10 || !utf8.ValidString(e.Message) {
				t.Errorf("%d characters: %.100q", n, e.Message)
			}
			if len(e.Fields) > maxFields {
				t.Errorf("%d fields", len(e.Fields))
			}
			for _, f := range e.Fields {
				if utf8.RuneCountInString(f.Message) > maxMessage+4 {
					t.Errorf("a field of %d characters", len(f.Message))
				}
			}
		})
	}
}

func TestRequestIDIsReadFromTheUsualHeaders(t *testing.T) {
	t.Parallel()
	requestID := func(header http.Header) string { return response{header: header}.requestID() }
	for _, name := range []string{"X-Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"} {
		equal(t, name, requestID(http.Header{name: {"id-1"}}), "id-1")
	}
	equal(t, "the first", requestID(http.Header{"Cf-Ray": {"ray"}, "X-Request-Id": {"req"}}), "req")
	equal(t, "a usable one", requestID(http.Header{"Cf-Ray": {"ray"}, "X-Request-Id": {"bad\x1b"}}), "ray")
	for _, bad := range []string{"", "a\x1b[1m", "a\nb", "é", strings.Repeat("x", 129)} {
		equal(t, bad, requestID(http.Header{"X-Request-Id": {bad}}), "")
	}
}

// secrets with all that is written differently somewhere.
var awkwardSecrets = []string{
	"hush-hush", `quo"ted\back/slash`, "a&b=c+d e%20f", "<tag>inside</tag>&amp;", "pässwörd-ünïcode",
	"two\nlines of\tit", "-----BEGIN KEY-----\nMIIabc+/=\n-----END KEY-----\n", "trailing quote\"", "'single'-quoted'",
	"tab\tand  two spaces", strings.Repeat("long-", 100) + "end", "smile-\U0001f600-face",
}

func TestSecretsThatAreEchoedAreNotShown(t *testing.T) {
	t.Parallel()
	encode := func(value any) string {
		text, _ := json.Marshal(value)
		return string(text)
	}
	ways := map[string]func(secret string) string{
		"raw":     func(s string) string { return s },
		"in JSON": func(s string) string { return encode(map[string]string{"value": s}) },
		"in JSON in JSON": func(s string) string {
			return encode(map[string]string{"detail": encode(map[string]string{"value": s})})
		},
		"as detail": func(s string) string { return encode(map[string]string{"detail": "bad value: " + s}) },
		"as msg": func(s string) string {
			return encode(map[string]any{"detail": []any{map[string]any{"loc": []any{"body", s}, "msg": s}}})
		},
		"in a URL":          func(s string) string { return "/x?y=" + url.QueryEscape(s) },
		"in a path":         func(s string) string { return "/x/" + url.PathEscape(s) },
		"in a URL with %20": func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
		"in HTML":           func(s string) string { return "<p>" + html.EscapeString(s) + "</p>" },
		"quoted":            func(s string) string { return fmt.Sprintf("%q", s) },
		"quoted as ASCII":   func(s string) string { return fmt.Sprintf("%+q", s) },
		"on one line":       func(s string) string { return strings.Join(strings.Fields(s), " ") },
		"wrapped":           func(s string) string { return strings.ReplaceAll(s, " ", "\r\n") },
		"at the cut":        func(s string) string { return strings.Repeat(" ", 8*maxMessage-len(s)/2) + s },
		"at the end":        func(s string) string { return strings.Repeat("x", maxMessage-utf8.RuneCountInString(s)/2) + s },
		"after much":        func(s string) string { return strings.Repeat("<i></i>", 8*maxMessage/7-1) + s },
	}
	for way, write := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			for _, secret := range awkwardSecrets {
				body := "before " + write(secret) + " after"
				if strings.HasPrefix(write(secret), "{") {
					body = write(secret)
				}
				e := rejectionOf(400, "", body, nil, secret)
				notShown(t, e, secret)
				// The same as the value of a header.
				notShown(t, rejectionOf(400, "", body, http.Header{"X-Tenant": {secret}}), secret)
			}
		})
	}
}

// notShown fails when a secret, or a fair part of it, is in an error.
func notShown(t *testing.T, e *Error, secret string) {
	t.Helper()
	text := fmt.Sprint(e.Error(), e.Fields, e.RequestID)
	for _, part := range append(strings.Fields(secret), secret) {
		if part = strings.Trim(part, `"'-<>&;`); len(part) > 4 && strings.Contains(text, part) {
			t.Errorf("%q is shown: %.300s", part, text)
		}
	}
}

func TestCredentialIsNotShown(t *testing.T) {
	t.Parallel()
	const token = `t0ken/"with"+all&of=it`
	for _, echo := range []string{
		"Bearer " + token, token, url.QueryEscape("Bearer " +
			token), url.QueryEscape(token), url.PathEscape(token), html.EscapeString(token),
		`{"detail":"Authorization: Bearer t0ken/\"with\"+all&of=it"}`,
		`{"detail":"{\"key\":\"t0ken/\\\"with\\\"+all&of=it\"}"}`,
		`{"message":"t0ken/\\\"with\\\"+all\\u0026of=it"}`,
	} {
		e := rejectionOf(401, "", "bad key "+echo, http.Header{"Authorization": {"Bearer " + token}})
		if strings.HasPrefix(echo, "{") {
			e = rejectionOf(401, "", echo, http.Header{"Authorization": {"Bearer " + token}})
		}
		if strings.Contains(e.Error(), "t0ken") || !strings.Contains(e.Error(), sensitive) && e.Message != sensitive {
			t.Errorf("%s: %s", echo, e)
		}
	}
}

func TestRequestThatIsEchoedWholeShowsNoSecret(t *testing.T) {
	t.Parallel()
	secrets := []Secret{}
	for i, value := range awkwardSecrets {
		secrets = append(secrets, Secret{fmt.Sprint("S", i), value})
	}
	for name, contentType := range map[string]string{"JSON": "application/json", "HTML": "text/html",
		"text": "text/plain"} {
		for _, status := range []int{200, 400, 422} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				t.Parallel()
				echo := func(w http.ResponseWriter, r *http.Request) {
					key := r.Header.Get("X-Api-Key")
					text := fmt.Sprintf("%v\n%s", r.Header, key)
					w.Header().Set("X-Request-Id", key)
					w.Header().Set("Content-Type", contentType)
					w.WriteHeader(status)
					if name == "JSON" {
						text = fmt.Sprintf(`{"detail":%q}`, text)
					}
					_, _ = io.WriteString(w, text)
				}
				s := serve(t, byMethod(respondJSON(pageJSON(0)), echo))
				_, _, err := s.client(t).CreateDeployment(t.Context(), Tree{"name": "n", "source": "s", "secrets": secrets},
					satisfiedByAll)
				if err == nil || strings.Contains(err.Error(), "k3y") {
					t.Errorf("shown: %v", err)
				}
			})
		}
	}
	t.Run("the body", func(t *testing.T) {
		t.Parallel()
		var s *service
		for _, status := range []int{200, 400} {
			s = serve(t, byMethod(respondJSON(pageJSON(0)), func(w http.ResponseWriter, r *http.Request) {
				respond(status, s.requests("POST")[0].body, "Content-Type", "text/plain")(w, r)
			}))
			_, _, err := s.client(t).CreateDeployment(t.Context(), Tree{"name": "n", "source": "s", "secrets": secrets},
				satisfiedByAll)
			var failed *Error
			if !errors.As(err, &failed) {
				t.Fatal(err)
			}
			for _, secret := range awkwardSecrets {
				notShown(t, failed, secret)
			}
		}
	})
}

func TestSecretInAResponseThatCannotBeUsedIsNotShown(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"as the id":   `{"id":"hush-hush-hush","name":"n","source":"s"}`,
		"as a number": `{"id":"` + idA + `","name":"n","source":"s","memory_mb":31415926.535}`,
	} {
		s := serve(t, byMethod(respondJSON(pageJSON(0)), respondJSON(body)))
		c := s.client(t, func(config *Config) {
			config.CheckDeployment = func(d Tree) error { return fmt.Errorf("memory_mb is %v", d["memory_mb"]) }
		})
		_, _, err := c.CreateDeployment(t.Context(), Tree{"name": "n", "source": "s", "secrets": []Secret{{"A",
			"hush-hush-hush"}, {"B", "31415926.535"}}}, satisfiedByAll)
		if err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "31415926") ||
			!strings.Contains(err.Error(), "(sensitive value)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShortSecretDoesNotHideTheMessage(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"1", "ab", "xyz", "true", "False", "8080", "-1.5e3", ""} {
		const message = "must be at least 1: True, False, 8080, -1.5e3, ab, xyz"
		equal(t, "message", rejectionOf(400, "application/json", `{"detail":"`+message+`"}`,
			http.Header{"X-Tenant": {secret}}, secret).Message, message)
	}
	equal(t, "of 8 digits", rejectionOf(400, "", "got 31415926", nil, "31415926").Message, "got (sensitive value)")
}

func TestTheLongerOfTwoSecretsLeavesNoRest(t *testing.T) {
	t.Parallel()
	e := rejectionOf(400, "", `{"detail":"got hush-hush-more and hush-hush"}`, nil, "hush-hush", "hush-hush-more")
	equal(t, "message", e.Message, "got (sensitive value) and (sensitive value)")
}

func TestErrorOfARequestWithoutResponse(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, test := range map[string]struct {
		err       error
		notSent   bool
		cause     Cause
		retryable bool
		outcome   Outcome
	}{
		"refused": {refused, true, CauseUnreachable, true, NotApplied},
		"refused on Windows": {os.NewSyscallError("connectex", syscall.Errno(10061)), true, CauseUnreachable, true,
			NotApplied},
		"refused by a proxy":    {&net.OpError{Op: "proxyconnect", Err: refused}, true, CauseUnreachable, true, NotApplied},
		"no such host":          {&net.DNSError{IsNotFound: true}, true, CauseUnreachable, true, NotApplied},
		"resolver without news": {&net.DNSError{IsTimeout: true}, true, CauseTimeout, true, NotApplied},
		"cut":                   {io.ErrUnexpectedEOF, false, CauseOther, true, Unknown},
		"timeout":               {context.DeadlineExceeded, false, CauseTimeout, true, Unknown},
		"another protocol":      {errSwitchedProtocols, false, CauseOther, true, Unknown},
		"redirect":              {errRedirect, false, CauseRedirect, false, Unknown},
		"too large":             {errBodyTooLarge, false, CauseMalformed, false, Unknown},
		"untrusted": {&tls.CertificateVerificationError{Err: errors.New("x")}, true, CauseUntrusted, false,
			Rejected},
		"a TLS alert": {&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}, false,
			CauseClientCertificate, false, Rejected},
		"http":    {http.ErrSchemeMismatch, true, CausePlainHTTP, false, Rejected},
		"not TLS": {tls.RecordHeaderError{}, true, CausePlainHTTP, false, Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := New(Config{BaseURL: &url.URL{}}).failure(request{}, &url.Error{Err: test.err})
			failed.notSent = test.notSent
			equal(t, "cause", failed.Cause, test.cause)
			equal(t, "retryable", Transient(failed), test.retryable)
			equal(t, "outcome", failed.Outcome(), test.outcome)
		})
	}
}

func TestErrorOfAStatus(t *testing.T) {
	t.Parallel()
	outcomes := map[Outcome][]int{
		Rejected:   {400, 401, 403, 404, 405, 409, 413, 422},
		NotApplied: {429},
		Unknown:    {408, 500, 501, 502, 503, 504},
	}
	for outcome, statuses := range outcomes {
		for _, status := range statuses {
			failed := rejectionOf(status, "", "", nil)
			equal(t, fmt.Sprint(status, " outcome"), failed.Outcome(), outcome)
			equal(t, fmt.Sprint(status, " retryable"), Transient(failed), outcome != Rejected && status != 501)
			equal(t, fmt.Sprint(status, " invalid"), failed.Invalid(), status == 400 || status == 422)
		}
	}
	resp := response{status: 503, header: http.Header{"Retry-After": {"1"}}}
	failed := New(Config{BaseURL: &url.URL{}}).rejection(request{}, resp)
	equal(t, "503 with Retry-After", failed.Outcome(), NotApplied)
	equal(t, "malformed", Transient(&Error{Cause: CauseMalformed}), false)
	equal(t, "another error", Transient(errors.New("x")), false)
}

// Whatever the shape of an error body, the cost is that of its 256 KiB.
func TestHostileErrorBody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ body, want string }{
		"lists 9,000 deep": {`{"detail":` + strings.Repeat("[", 9000) + `"x"` + strings.Repeat("]", 9000) + `}`,
			strings.Repeat("[", maxMessage) + " […]"},
		"objects 9,000 deep": {`{"detail":` + strings.Repeat(`{"message":`, 9000) + `"x"` + strings.Repeat("}", 9000) + `}`,
			strings.Repeat(`{"message":`, 55)[:maxMessage] + " […]"},
		"lists of lists": {`{"errors":[` + strings.Repeat(`[[[]]],`, 30000) + `[["x"]]]}`,
			("[" + strings.Repeat(`[[[]]],`, 90))[:maxMessage] + " […]"},
		"open lists":     {strings.Repeat("[", 200000), strings.Repeat("[", maxMessage) + " […]"},
		"backslashes":    {strings.Repeat(`\\`, 50000), strings.Repeat(`\`, maxMessage) + " […]"},
		"percent signs":  {strings.Repeat(`%25`, 50000), strings.Repeat(`%25`, maxMessage/3) + " […]"},
		"ampersands":     {strings.Repeat(`&`, 50000), strings.Repeat(`&`, maxMessage) + " […]"},
		"over the limit": {`{"detail":"` + strings.Repeat(" ", maxErrorBody) + `"}`, `{"detail":"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(400)
				zipped := gzip.NewWriter(w)
				_, _ = io.WriteString(zipped, test.body)
				_ = zipped.Close()
			})
			_, err := s.client(t).OAuthProviders(t.Context(), unchecked)
			equal(t, "message", asType[*Error](t, err).Message, test.want)
		})
	}
}

func TestErrorBodyThatNeverEndsIsCut(t *testing.T) {
	t.Parallel()
	body := &counting{Reader: endless{}}
	text, err := readBody(&http.Response{StatusCode: 400, Body: io.NopCloser(body)})
	equal(t, "error", err, nil)
	equal(t, "length", len(text), maxErrorBody)
	equal(t, "read", body.read <= 2*maxErrorBody, true)
}

type counting struct {
	io.Reader
	read int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		`plain "ünï" \u009b 日本 😀`:  `plain "ünï" \u009b 日本 😀`,
		"a\nb\r\tc":                `a\nb\r\tc`,
		"\x1b[31mred\x1b]0;t\x07":  `\u001b[31mred\u001b]0;t\u0007`,
		"\u009b31m":                `\u009b31m`,
		"\x9b31m\xff":              `\x9b31m\xff`,
		"\u202eevil\u2066\u200f":   `\u202eevil\u2066\u200f`,
		"\u2028\u2029\u0085\u00a0": `\u2028\u2029\u0085\u00a0`,
		"zero\u200bwidth\ufeff":    `zero\u200bwidth\ufeff`,
		"tag\U000e0041":            `tag\U000e0041`,
		"replacement \ufffd":       "replacement \ufffd",
		"\x00":                     `\u0000`,
		strings.Repeat("x", 1<<16): strings.Repeat("x", 1<<16),
	} {
		equal(t, fmt.Sprintf("%.40q", text), Sanitize(text), want)
	}
}

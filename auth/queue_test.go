package auth_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// gate verifies credentials when it is told to; a password is right that is the
// username.
type gate struct {
	goOn chan struct{}

	mu    sync.Mutex
	asked []string // usernames, in their order
}

func (g *gate) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	g.mu.Lock()
	g.asked = append(g.asked, c.Username)
	g.mu.Unlock()
	select {
	case <-g.goOn:
	case <-ctx.Done():
		return auth.User{}, ctx.Err()
	}
	if c.Password != c.Username {
		return auth.User{}, auth.ErrCredentials
	}
	return auth.User{ID: 1, Username: c.Username, Email: "someone@example.nl", Client: auth.Client{ID: 1, Name: "Garage"}}, nil
}

// next lets one more verification end, and tells who is verified then.
func (g *gate) next() string {
	before := len(g.asked)
	g.goOn <- struct{}{}
	synctest.Wait()
	if len(g.asked) == before {
		return ""
	}
	return g.asked[len(g.asked)-1]
}

// nexts are those of so many verifications, one after the other.
func (g *gate) nexts(n int) (usernames []string) {
	for range n {
		usernames = append(usernames, g.next())
	}
	return usernames
}

// queued is a Login before a gate, in a bubble of synctest.
type queued struct {
	t     *testing.T
	login *auth.Login
	queue *auth.LoginQueue
	open  *auth.Memory
	gate  *gate
	done  sync.WaitGroup
	ended [3]atomic.Int64 // logins that went well, were wrong, and were sent away
}

// inQueue runs a test with one login verified at once.
func inQueue(t *testing.T, test func(*testing.T, *queued)) {
	synctest.Test(t, func(t *testing.T) {
		q := &queued{t: t, gate: &gate{goOn: make(chan struct{})}, queue: auth.NewLoginQueue(1, time.Now)}
		q.open = auth.NewMemory(time.Now)
		var err error
		q.login, err = auth.NewLogin(auth.LoginConfig{
			Verifier: q.gate, Sessions: q.open, Queue: q.queue, TTL: time.Minute, Vendor: "Example", Clock: time.Now, Random: rand.Reader, Log: zap.NewNop(),
			Throttle: auth.NewThrottle(auth.NewMemoryGuessCounter(), time.Now, func(context.Context, time.Duration) error { return nil }),
		})
		require.NoError(t, err)
		test(t, q)
		close(q.gate.goOn)
		q.done.Wait()
		require.Zero(t, q.queue.Waiting())
		require.NoError(t, q.open.Close())
	})
}

// TestLoginWithoutAKeySpendsTheVerification, so that its time does not tell a wrong api_key from
// a wrong password.
func TestLoginWithoutAKeySpendsTheVerification(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		q.done.Go(func() {
			_, _, err := q.login.Authenticate(context.Background(), auth.Attempt{Username: "anna", Password: "anna", Address: "192.0.2.1"})
			require.True(t, mapping.Is(err, mapping.CredentialsInvalid), "%v", err)
		})
		q.gate.goOn <- struct{}{}
		require.Equal(t, []string{"anna"}, q.gate.asked)
	})
}

// TestLoginOvertakenByANewPasswordOpensNothing, and the cause is told.
func TestLoginOvertakenByANewPasswordOpensNothing(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		q.done.Go(func() {
			_, _, err := q.login.Authenticate(context.Background(), auth.Attempt{Key: &auth.Key{Name: "webshop"}, Username: "anna", Password: "anna", Address: "192.0.2.1"})
			var refused *auth.Refused
			require.ErrorAs(t, err, &refused)
			require.Equal(t, auth.Refused{Why: auth.CauseNewPassword, Client: auth.Client{ID: 1, Name: "Garage"}}, *refused)
		})
		synctest.Wait()
		time.Sleep(time.Millisecond)
		require.NoError(t, q.open.EndUser(t.Context(), "anna", auth.CauseNewPassword))
		q.gate.next()
	})
}

// start has somebody log in, and returns once that waits for something.
func (q *queued) start(username, password, address string) {
	q.t.Helper()
	key := &auth.Key{Name: "webshop"}
	q.done.Go(func() {
		_, _, err := q.login.Authenticate(context.Background(), auth.Attempt{Key: key, Username: username, Password: password, Address: address})
		switch {
		case err == nil:
			q.ended[0].Add(1)
		case mapping.Is(err, mapping.CredentialsInvalid):
			q.ended[1].Add(1)
		case mapping.Is(err, mapping.TooManyRequests) && reasonOf(err).RetryAfter > 0:
			q.ended[2].Add(1)
		default:
			q.t.Errorf("%s from %s: %v", username, address, err)
		}
	})
	synctest.Wait()
}

func reasonOf(err error) *mapping.Error {
	v, _ := mapping.AsViolations(err)
	return v[0]
}

// prove has somebody log in well while nobody else does.
func (q *queued) prove(username, address string) {
	q.t.Helper()
	before := q.ended[0].Load()
	q.start(username, username, address)
	q.gate.next()
	require.Equal(q.t, before+1, q.ended[0].Load())
}

// TestLoginQueueFlood: 1,500 wrong logins from as many blocks of addresses, and whoever
// logged in well from where he is goes next. What has no place is told so at once.
func TestLoginQueueFlood(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		q.prove("anna", "192.0.2.1")
		for n := range 1500 {
			q.start(fmt.Sprint("user", n), "wrong", fmt.Sprintf("10.%d.%d.1", n/256, n%256))
		}
		require.Equal(t, 128, q.queue.Waiting())
		require.EqualValues(t, 1500-1-128, q.ended[2].Load())

		q.start("anna", "anna", "192.0.2.1")
		q.start("bert", "bert", "192.0.2.1") // never seen there
		require.EqualValues(t, 1500-1-128+1, q.ended[2].Load(), "there is no place for others")
		require.Equal(t, "anna", q.gate.next())
		require.Equal(t, "user1", q.gate.next())
		require.EqualValues(t, 2, q.ended[0].Load())
		require.EqualValues(t, 1, q.ended[1].Load())

		time.Sleep(24 * time.Hour) // the flood has long been sent away
		require.EqualValues(t, 1500-2+1, q.ended[2].Load())
		for n := range 200 {
			q.start(fmt.Sprint("later", n), "wrong", fmt.Sprintf("10.%d.%d.1", n/256, n%256))
		}
		q.start("anna", "anna", "192.0.2.1")
		require.EqualValues(t, 1500-2+1+200-128+1, q.ended[2].Load(), "she was not there for a day")
	})
}

// TestLoginQueueShares: however many come from one block or for one username, somebody
// else's turn is after one of them.
func TestLoginQueueShares(t *testing.T) {
	for name, flood := range map[string]func(n int) (username, address string){
		"one /24":      func(n int) (string, string) { return fmt.Sprint("user", n), fmt.Sprintf("10.0.0.%d", n%250) },
		"one /48":      func(n int) (string, string) { return fmt.Sprint("user", n), fmt.Sprintf("2001:db8:1:%x::1", n) },
		"one username": func(n int) (string, string) { return "user", fmt.Sprintf("10.%d.%d.1", n/256, n%256) },
		"no address":   func(n int) (string, string) { return fmt.Sprint("user", n), "" },
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(t *testing.T, q *queued) {
				for n := range 90 {
					username, address := flood(n)
					q.start(username, "wrong", address)
				}
				require.Equal(t, 89, q.queue.Waiting())
				for n := range 90 {
					username, address := flood(90 + n)
					q.start(username, "wrong", address)
				}
				sent := q.ended[2].Load()
				q.start("anna", "anna", "192.0.2.1")
				q.start("bert", "bert", "2001:db8:2::1")
				require.Equal(t, sent+max(0, int64(q.queue.Waiting())-126), q.ended[2].Load(), "they take the places of the last")
				require.Subset(t, q.gate.nexts(3), []string{"anna", "bert"})
			})
		})
	}
}

// TestLoginQueueLocksNobodyOut: whoever guesses the password of somebody from a few blocks
// does not keep that one from logging in elsewhere, as the contract has it.
func TestLoginQueueLocksNobodyOut(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		for n := range 200 {
			q.start("anna", "wrong", fmt.Sprintf("10.0.%d.%d", n%13, n))
		}
		q.start("anna", "anna", "192.0.2.1")
		order := q.gate.nexts(1 + 13 + 1)
		require.EqualValues(t, 1, q.ended[0].Load(), "anna is in, of %v", order)
	})
}

// TestLoginQueueKnownOnes: somebody who logged in well from many addresses has one share of
// those who did, and no more.
func TestLoginQueueKnownOnes(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		address := func(n int) string { return fmt.Sprintf("2001:db8:1:%x::1", n) }
		for n := range 200 {
			q.prove("everywhere", address(n))
		}
		q.prove("anna", "192.0.2.1")
		q.start("under way", "wrong", "192.0.2.2")
		for n := range 200 {
			q.start("everywhere", "wrong", address(n))
		}
		q.start("anna", "anna", "192.0.2.1")
		require.Contains(t, q.gate.nexts(3), "anna")
	})
}

// TestLoginQueueLeavesOthersATurn: whoever is known goes first, but not always.
func TestLoginQueueLeavesOthersATurn(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		for n := range 8 {
			q.prove(fmt.Sprint("known", n), "192.0.2.1")
		}
		q.start("under way", "wrong", "192.0.2.2")
		for n := range 4 {
			q.start(fmt.Sprint("new", n), "wrong", fmt.Sprintf("10.0.%d.1", n))
		}
		for n := range 8 {
			q.start(fmt.Sprint("known", n), fmt.Sprint("known", n), "192.0.2.1")
		}
		require.Equal(t, []string{
			"known0", "known1", "known2", "new0", "known3", "known4", "known5", "new1", "known6", "known7", "new2", "new3",
		}, q.gate.nexts(12))
	})
}

// TestLoginQueueIsPatientSoLong: a login that waits for others is not judged as a
// failure of the administration, wherever it waits.
func TestLoginQueueIsPatientSoLong(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		for n := range 12 { // ten wait for their turn, then two for what becomes of them
			q.start("anna", "wrong", "192.0.2.1")
			require.LessOrEqual(t, q.queue.Waiting(), 9, n)
		}
		require.Zero(t, q.ended[2].Load())
		time.Sleep(2 * 5 * time.Second) // of whom waited in both places
		synctest.Wait()
		require.EqualValues(t, 11, q.ended[2].Load(), "all but the one that is verified")
	})
}

// TestLoginQueueLosesNoPlace: logins that are called, sent away and given up at the
// same time leave every place to others.
func TestLoginQueueLosesNoPlace(t *testing.T) {
	queue := auth.NewLoginQueue(3, time.Now)
	var all sync.WaitGroup
	for n := range 400 {
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			leave, err := auth.EnterQueue(ctx, queue, fmt.Sprint("user", n%7), fmt.Sprintf("10.0.%d.1", n%11))
			if err == nil {
				leave()
			}
		})
		all.Go(cancel)
	}
	all.Wait()
	require.Zero(t, queue.Waiting())
	for range 3 {
		must.Have(auth.EnterQueue(t.Context(), queue, "anna", "192.0.2.1"))(t)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, must.Fail(auth.EnterQueue(ended, queue, "anna", "192.0.2.1")), context.Canceled)
	require.Empty(t, auth.QueueShares(queue), "nothing is kept of those that are gone")
}

// TestLoginQueueCalledAsItGivesUp: a login that is called in the moment in which its
// client goes does not keep the place.
func TestLoginQueueCalledAsItGivesUp(t *testing.T) {
	queue := auth.NewLoginQueue(1, time.Now)
	for range 2000 {
		leave := must.Have(auth.EnterQueue(t.Context(), queue, "anna", "192.0.2.1"))(t)
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if leave, err := auth.EnterQueue(ctx, queue, "bert", "192.0.2.2"); err == nil {
				leave()
			}
		})
		for queue.Waiting() == 0 {
			runtime.Gosched()
		}
		cancel()
		leave()
		waiting.Wait()
	}
}

// TestLoginQueueForgetsOfTheSameUser: somebody who logs in from more addresses than there
// are places for pushes out his own oldest, and nobody else.
func TestLoginQueueForgetsOfTheSameUser(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queued) {
		q.prove("anna", "192.0.2.1")
		address := func(n int) string { return fmt.Sprintf("10.%d.%d.1", n>>8, n&255) }
		for n := range auth.ProvenKept {
			auth.ProveLogin(q.queue, "everywhere", address(n))
		}
		require.Equal(t, 1+auth.ProvenOfUser, auth.QueueProven(q.queue))
		oldest := auth.ProvenKept - auth.ProvenOfUser
		require.True(t, auth.QueueKnows(q.queue, "everywhere", address(oldest)))
		auth.ProveLogin(q.queue, "EVERYWHERE", address(oldest)) // which it is no longer
		auth.ProveLogin(q.queue, "everywhere", "192.0.2.3")
		require.True(t, auth.QueueKnows(q.queue, "everywhere", address(oldest)))
		require.False(t, auth.QueueKnows(q.queue, "everywhere", address(oldest+1)))

		q.start("under way", "wrong", "192.0.2.2")
		for n := range 200 {
			q.start(fmt.Sprint("user", n), "wrong", address(n))
		}
		q.start("anna", "anna", "192.0.2.1")
		require.Equal(t, "anna", q.gate.next())
	})
}

func TestLoginQueueMemoryIsBounded(t *testing.T) {
	queue := auth.NewLoginQueue(1, time.Now)
	for n := range auth.ProvenKept + 100 {
		auth.ProveLogin(queue, fmt.Sprint("user", n), "192.0.2.1")
	}
	auth.ProveLogin(queue, fmt.Sprint("USER", auth.ProvenKept), "192.0.2.1") // kept already, under a name of the same account
	require.Equal(t, auth.ProvenKept, auth.QueueProven(queue))
	require.False(t, auth.QueueKnows(queue, "user99", "192.0.2.1"))
	require.True(t, auth.QueueKnows(queue, "user100", "192.0.2.1"))
}

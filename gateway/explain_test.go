package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMethodsOfAPath(t *testing.T) {
	g := tableOnly(t)
	require.Equal(t, []string{"GET", "POST", "PUT", "DELETE"}, g.Methods("/order"))
	require.Equal(t, []string{"GET", "PUT", "DELETE"}, g.Methods("/order/5"))
	require.Equal(t, []string{"GET"}, g.Methods("/model/order"))
	require.Equal(t, []string{"PUT"}, g.Methods("/vehicle/publishstop"))
	require.Nil(t, g.Methods("/model"))
	require.Nil(t, g.Methods("/order/"))
}

package desk

// The api_keys of the demo, known to everybody and good for nothing else.
const (
	DemoFull      = "demo-full"
	DemoOrders    = "demo-orders"
	DemoFullKey   = "11111111-1111-4111-8111-111111111111"
	DemoOrdersKey = "22222222-2222-4222-8222-222222222222"
)

// DatabaseFile is the name of the administration in a data folder.
const DatabaseFile = "frontdesk.db"

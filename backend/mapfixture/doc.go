// Package mapfixture runs recorded requests against a gateway and compares its
// answers with the documented ones (frontdesk map test). A fixture is strict YAML:
//
//	login: {username: piet.dekker, password: "${PIET_PASSWORD}"}
//	cases:
//	  - name: a contact by its number
//	    request: {method: GET, path: /contact/1001}
//	    answer:
//	      status: 200
//	      body: |
//	        {"data": {"id": 1001, "name": "Veluwe Automaterialen B.V.", "modified_at": "<timestamp>"}}
//
// In an expected body the text <any> stands for any value at all, <id> for a whole
// number from 1 and <timestamp> for a point in time as the interface writes it. A
// case may keep values of its answer (keep: {order: data.id}) for the requests of
// later ones, which name them in braces: /order/{order}.
package mapfixture

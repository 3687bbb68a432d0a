package mapping

// contractRows returns the rows of our contract for errors that the interface's tables do not have.
func contractRows() []Entry {
	return []Entry{
		{Scope: General, Reason: BackendUnavailable, Status: 500, Message: "Internal server error", Help: Help{
			"The administration behind the interface cannot be reached, or failed so often just now that it is left alone for a while.",
			"Wait as long as the header Retry-After says (or some seconds where it is absent) and try again, with growing pauses.",
		}},
		{Scope: General, Reason: BackendTimeout, Status: 500, Message: "Internal server error", Help: Help{
			"The administration behind the interface did not answer in time. Whether a change was made is not known.",
			"Read the record before you repeat a change, or send POST with an Idempotency-Key. Ask for less at once: fewer fields, a smaller page_size.",
		}},
		{Scope: General, Reason: BackendChanged, Status: 500, Message: "Internal server error", Help: Help{
			"The system behind the interface has changed, and no longer has something that this request needs. Nothing was done. Other resources, and mostly reading this one, go on.",
			"Try again later: the operator is told, and it opens by itself once the system is as it was, or the operator has said how it is now.",
		}},
		{Scope: General, Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: General, Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate", Reason: CredentialsInvalid, Status: 401, Message: "Not authorized", Help: Help{
			"The api_key, the username or the password is wrong, or the key has expired. Which one is not told, so that nobody can guess them one by one.",
			"Check all three, and that special characters in the query are percent-encoded (& as %26, + as %2B). Do not retry the same ones: wrong passwords are counted.",
		}},
		{Scope: General, Reason: TooManyRequests, Status: 429, Message: "Too many requests", Help: Help{
			"The client sends more requests with this api_key than was agreed, or too many wrong passwords were tried for this username from this address, or 20 of its requests for changes wait already.",
			"Wait as long as the header Retry-After says. Spread work evenly, ask for larger pages instead of more of them, do not retry a wrong password, and wait for changes once for all that you follow: DELETE /changes?id= gives up a request that waits.",
		}},
		{Scope: General, Reason: RequestMalformed, Status: 400, Message: "Invalid request", Help: Help{
			"What arrived could not be read as an HTTP request, for instance because it gave the length of its body twice.",
			"Use a kept HTTP client and let it set Content-Length. If a proxy stands between, check what it makes of the request.",
		}},
		{Scope: General, Reason: HeaderTooLarge, Status: 431, Message: "Request header is too large", Help: Help{
			"Request line and headers together are over 16 KiB.",
			"Shorten the query, and leave out cookies and headers that this interface does not know.",
		}},
		{Scope: General, Reason: EncodingUnsupported, Status: 415, Message: "Content-Encoding: <x> not supported", Args: []Arg{{Example: "gzip"}}, Help: Help{
			"The header Content-Encoding says that the body is compressed.",
			"Send the body as it is, without Content-Encoding. Answers are compressed where the request has Accept-Encoding.",
		}},
		{Scope: General, Reason: BodyTooLarge, Status: 413, Message: "Body is too large", Help: Help{
			"The body is over the limit of this installation (16 MiB where nothing else was agreed), has more than 1,000 elements in an array or members in an object, or more than 500 records.",
			"Send less at once: split arrays over several requests, and large documents into their own records.",
		}},
		{Scope: "GET /webhook", Reason: ResultTooLarge, Status: 500, Message: "Internal server error", Help: Help{
			"The work was done, but its result took more room than there was for results of yours.",
			"Fetch the results that are there and wait an hour, ask for less at once, and then ask again. Of what changes records look first: it was done.",
		}},
		{Scope: General, Reason: Overloaded, Status: 503, Message: "Server is busy", Help: Help{
			"The service has as many connections, as much in large bodies and answers under way, or as many results of yours to be fetched, as it has room for, or cannot look up callbacks for now. Nothing of the request was done.",
			"Wait as long as the header Retry-After says, then send it again. Keep connections open and use them again, do not send or ask for much that is large at once, and fetch the results of callbacks.",
		}},
		{Scope: General, Reason: ParametersRequired, Status: 400, Message: "These parameter(s): <x> , <x> are required"},
		{Scope: OpList, Reason: PageSizeInvalid, Status: 400, Message: "Parameter invalid page_size value must be from 1 to <x>", Args: []Arg{{Example: "1000"}}, Help: Help{
			"page_size is not a whole number from 1 to 1000, or to 100 where fields names an array.",
			"Ask for 1 to 1000 records at once, 100 with arrays, or leave it out for 100.",
		}},
		{Scope: OpList, Reason: PageTooLarge, Status: 400, Message: "Page is too large, ask for fewer records or by after", Help: Help{
			"The records of the page have more in texts and contents than an answer may have: twice the largest body that can be sent.",
			"Ask for fewer records with page_size, or leave contents out of fields. Or read the list by after instead of page: its pages end where they are large enough.",
		}},
		{Scope: OpList, Reason: AfterCombined, Status: 400, Message: "Parameter after cannot be combined with <x>", Args: []Arg{{Example: "page"}}, Help: Help{
			"after continues a list in its default order, behind the record of an id. A page number, or another order, has no meaning beside it.",
			"Leave out page and sort, or page by them and leave out after. The address in next has the right parameters.",
		}},
		{Scope: General, Reason: PreconditionChanged, Status: 412, Message: "Record has been changed", By: ByEither, Help: Help{
			"The record is no longer what the header If-Match says: somebody changed it since you read it.",
			"Read the record again, apply your change to what it is now, and send it with the new ETag.",
		}},
		{Scope: General, Reason: CursorGone, Status: 410, Message: "Cursor is gone, read everything again", Help: Help{
			"The value of after is no cursor of this client, was cut off or changed on its way, or is older than changes are kept (90 days where nothing else was agreed).",
			"Ask for /changes without after, keep the cursor of the answer, read all records again with the lists, and go on from that cursor.",
		}},
		{Scope: General, Reason: IdempotencyInvalid, Status: 400, Message: "Idempotency-Key must be 1 to 255 visible ASCII characters", Help: Help{
			"The header Idempotency-Key is empty, longer than 255 characters, holds something else than visible ASCII, or was sent twice.",
			"Send one key per thing to be created. A UUID does well.",
		}},
		{Scope: General, Reason: IdempotencyReused, Status: 422, Message: "Idempotency-Key was used with another body", Help: Help{
			"This Idempotency-Key was used within the last 24 hours for a request with another body.",
			"Make a new key for every new thing to be created. Keep the key only to repeat the very same request.",
		}},
		{Scope: General, Reason: IdempotencyInUse, Status: 409, Message: "Idempotency-Key is in use", Help: Help{
			"A request with this Idempotency-Key is still being worked on.",
			"Wait a moment and send the same request with the same key again: it answers what the first one did.",
		}},
	}
}

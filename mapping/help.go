package mapping

// Help is what a person who meets an error wants to know beside its message.
type Help struct {
	Cause string // what happened, in a sentence or two
	Cure  string // what to do about it
}

// HelpFor explains a reason. Every reason has its help.
func HelpFor(r Reason) Help { return help[r] }

// help is data, written once and never changed.
var help = map[Reason]Help{
	// General.
	InternalError: {
		"Something failed on our side that the request is not to blame for. What it was is in our log under the request id of the answer; the answer itself never says.",
		"Try again later. A request that changes something may have been done before it failed: look first, or send POST with an Idempotency-Key and repeat it safely. If it stays, report the request_id.",
	},
	BackendUnavailable: {
		"The administration behind the interface cannot be reached, or failed so often just now that it is left alone for a while.",
		"Wait as long as the header Retry-After says (or some seconds where it is absent) and try again, with growing pauses.",
	},
	BackendTimeout: {
		"The administration behind the interface did not answer in time. Whether a change was made is not known.",
		"Read the record before you repeat a change, or send POST with an Idempotency-Key. Ask for less at once: fewer fields, a smaller page_size.",
	},
	QueryRepeated: {
		"The named query parameter stands in the address more than once. Which of its values is meant would be a guess.",
		"Send each parameter once. Several names in one parameter are separated by commas: fields=id,order_date.",
	},
	QueryUnsupported: {
		"This operation has no query parameter of that name. Names are case-sensitive, and nothing unknown is ignored, so that a mistyped filter cannot answer everything.",
		"Compare the name with the operation in the OpenAPI description. Leave organization_name at GET /authenticate empty.",
	},
	EndpointUnknown: {
		"There is no endpoint at this path, or the api_key may not use it: both are answered alike. Paths are exact: case, a slash at the end, doubled slashes and escapes such as %2F all count.",
		"Compare the path with the OpenAPI description of your api_key. Is the endpoint missing there, ask for it to be added to the allowlist of the key.",
	},
	MethodUnsupported: {
		"The path exists, but not with this HTTP method, or the api_key may not use that method here. HEAD, OPTIONS and PATCH are never supported.",
		"Use a method that the OpenAPI description of your api_key lists for the path. POST goes to /order, never to /order/5.",
	},
	RequestMalformed: {
		"What arrived could not be read as an HTTP request, for instance because it gave the length of its body twice.",
		"Use a kept HTTP client and let it set Content-Length. If a proxy stands between, check what it makes of the request.",
	},
	HeaderTooLarge: {
		"Request line and headers together are over 16 KiB.",
		"Shorten the query, and leave out cookies and headers that this interface does not know.",
	},
	BodyTooLarge: {
		"The body is over the limit of this installation (16 MiB where nothing else was agreed).",
		"Send less at once: split arrays over several requests, and large documents into their own records.",
	},
	Overloaded: {
		"The service has as many connections, as much in large bodies and answers under way, or as many results of yours to be fetched, as it has room for, or cannot look up callbacks for now. Nothing of the request was done.",
		"Wait as long as the header Retry-After says, then send it again. Keep connections open and use them again, do not send or ask for much that is large at once, and fetch the results of callbacks.",
	},
	ResultTooLarge: {
		"The work was done, but its result took more room than there was for results of yours.",
		"Fetch the results that are there and wait an hour, ask for less at once, and then ask again. Of what changes records look first: it was done.",
	},
	TooManyRequests: {
		"The api_key sends more requests than was agreed for it, or too many wrong passwords were tried for this username from this address.",
		"Wait as long as the header Retry-After says. Spread work evenly, ask for larger pages instead of more of them, and do not retry a wrong password.",
	},
	ParametersRequired: {
		"One or more query parameters that this operation needs were not sent, or were sent empty. The message names them all.",
		"Send the named parameters. Lines need their parent: GET /orderline takes order_id.",
	},
	PageInvalid: {
		"page is not a whole number of 1 or more. The first page is 1.",
		"Start at page=1, or leave page out, and follow the member next of each answer until it is null.",
	},
	PageSizeInvalid: {
		"page_size is not a whole number from 1 to 1000.",
		"Ask for 1 to 1000 records at once, or leave it out for 100.",
	},
	PageTooLarge: {
		"The records of the page have more in texts and contents than an answer may have: twice the largest body that can be sent.",
		"Ask for fewer records with page_size, or leave contents out of fields. Or read the list by after instead of page: its pages end where they are large enough.",
	},
	IdempotencyInvalid: {
		"The header Idempotency-Key is empty, longer than 255 characters, holds something else than visible ASCII, or was sent twice.",
		"Send one key per thing to be created. A UUID does well.",
	},
	IdempotencyReused: {
		"This Idempotency-Key was used within the last 24 hours for a request with another body.",
		"Make a new key for every new thing to be created. Keep the key only to repeat the very same request.",
	},
	IdempotencyInUse: {
		"A request with this Idempotency-Key is still being worked on.",
		"Wait a moment and send the same request with the same key again: it answers what the first one did.",
	},
	PreconditionChanged: {
		"The record is no longer what the header If-Match says: somebody changed it since you read it.",
		"Read the record again, apply your change to what it is now, and send it with the new ETag.",
	},

	// The body and the record alone.
	EmptyBody: {
		"The request has no body, or one of white space only, where a JSON object is needed.",
		"Send a JSON object. If you do, check that your client still sends the body after a redirect or through your proxy.",
	},
	BodyNotJSON: {
		"The body is not one JSON object. Doubled member names, text after the object, invalid UTF-8 and nesting deeper than 32 count too.",
		"Have the body written by a JSON library rather than put together from text, and send it as UTF-8. At GET /model the answer of the system behind was not JSON: report it.",
	},
	FieldNotInModel: {
		"The resource has no field of the given name. Names are case-sensitive.",
		"GET /model/<resource> lists all fields. The same names go into bodies, fields, sort and filters.",
	},
	FieldReadonly: {
		"The field is kept by the service and cannot be written, not even with the value that it has.",
		"Leave the field out. Send only what you want to change; a record that you read holds readonly fields too.",
	},
	FieldRequired: {
		"A required field has no value: it was not sent, and on PUT the record has none either. Some fields are required only because of what others say.",
		"Send the field with a value. GET /model/<resource> tells which are always required.",
	},
	FieldEmpty: {
		"A required field was sent as null or as an empty text.",
		"Send a value, or leave the field out of the PUT to keep what it has.",
	},
	PrimaryIDSupplied: {
		"A new record was sent with its primary ID. The service gives IDs itself.",
		"Leave id out of the body. The answer and its Location header tell the new one.",
	},
	PrimaryIDInvalid: {
		"The primary ID is not a whole number from 1 to 2147483647, or path, query and body name different ones.",
		"Send the id that the record was answered with, in one place: /order/5 or /order?id=5.",
	},
	PrimaryIDMissing: {
		"PUT and DELETE need to know which record is meant, and no primary ID was sent.",
		"Add it to the path (/order/5) or to the query (?id=5); PUT also takes it from the body.",
	},
	ArrayEmpty: {
		"An array field was sent without any element.",
		"Send at least one element, or leave the field out.",
	},
	VarcharTooLong: {
		"The text has more characters than the field takes. The message names both numbers.",
		"Shorten the value. GET /model/<resource> tells the length of each field; it counts characters, not bytes.",
	},
	TextTooLong: {
		"The long text has more characters than the field takes. The message names both numbers.",
		"Shorten the value, or keep the rest as a document.",
	},
	TimestampInvalid: {
		"The value is no ISO 8601 date, or date and time with a zone, or it names a day that does not exist.",
		"Send 2026-07-01T10:00:00Z, 2026-07-01T12:00:00+02:00 or 2026-07-01, as a JSON string.",
	},
	Float8Invalid: {
		"The value is not a finite JSON number. Numbers in quotation marks are text.",
		"Send 12.5, with a point and without quotation marks.",
	},
	Int4Invalid: {
		"The value is not a whole JSON number within 32 bits. 1.0 and \"1\" are not.",
		"Send 1, without quotation marks and without a fraction, from -2147483648 to 2147483647. Flags take 0 or 1.",
	},
	VarcharInvalid: {
		"The value of a text field is not a JSON string, or holds the character NUL.",
		"Put the value in quotation marks. An empty field is null.",
	},
	ByteaInvalid: {
		"The value is not base64 (RFC 4648, standard alphabet, padded).",
		"Encode the bytes as standard base64 without line breaks. The alphabet with - and _ is another one.",
	},
	ValidationFailed: {
		"The value has the right type, but breaks a rule of the field, which the message names after \"validation:\". Choices are written a|b|c; https and public address are rules for webhook_url.",
		"Send a value that the rule allows. GET /model/<resource> shows it as custom_validation.",
	},
	DateNotAfter: {
		"Two dates of the record are in the wrong order: the first named must be later than the second.",
		"Correct one of the two. On PUT the record's present value counts for the date that you do not send.",
	},

	// The record among others.
	RecordNotFound: {
		"There is no record with this value, or it belongs to another client; both are answered alike. Results of callbacks are kept for 7 days.",
		"Check the value, and whose login the token belongs to. The record may have been deleted since you listed it.",
	},
	RelatedIDNotFound: {
		"The field refers to another record, and there is none with this ID, or it belongs to another client.",
		"Create the related record first, or look its ID up. GET /model/<resource> names the resource under reference.",
	},
	DuplicateValue: {
		"The field is unique, and another record has this value already.",
		"Look the other record up by this value and update it, or choose another value. To repeat a POST safely, use an Idempotency-Key.",
	},
	SystemRecord: {
		"The record belongs to the system. It can be read, and neither changed nor deleted.",
		"Make a record of your own with the values you need.",
	},
	BlockedRecord: {
		"The record is blocked. Until that ends, is_blocked is the only field that can be changed.",
		"Send PUT with {\"is_blocked\": 0} alone, then your change. Ask yourself first why it was blocked.",
	},
	ArchivedRecord: {
		"The record is archived. Until that ends, is_archived is the only field that can be changed.",
		"Send PUT with {\"is_archived\": 0} alone, then your change.",
	},
	CannotUpdate: {
		"The field can be given when the record is made, but not changed this way later.",
		"Leave the field out of the PUT. Lines of a record have an endpoint of their own: change them there.",
	},
	InUse: {
		"Other records refer to this one, so it cannot be deleted. The message names the resource. Nothing is ever deleted along.",
		"Delete those records first, or archive this one with {\"is_archived\": 1}.",
	},

	// Sessions.
	NotLoggedIn: {
		"The request carries no header token.",
		"Call GET /authenticate first and send what it answers in the header token, on every request. Some proxies drop headers they do not know.",
	},
	TokenInvalid: {
		"The token is not, or no longer, valid: it is older than sessions live here (30 minutes at most), was logged out, or its api_key was withdrawn. At GET /authenticate/logout the status is 200, since the session is over in either case.",
		"Call GET /authenticate again and repeat the request once with the new token.",
	},
	CredentialsInvalid: {
		"The api_key, the username or the password is wrong, or the key has expired. Which one is not told, so that nobody can guess them one by one.",
		"Check all three, and that special characters in the query are percent-encoded (& as %26, + as %2B). Do not retry the same ones: wrong passwords are counted.",
	},
	ExternalUser: {
		"The login is right, but belongs to an external user, who may not log in here.",
		"Use the account of an internal user, or ask the service desk that the message names.",
	},
	EmailMissing: {
		"The login is right, but no e-mail address is known for the user. (\"Er is geen e-mailadres bekend voor gebruiker\": no e-mail address is known for user.)",
		"Have an e-mail address entered for the user in the administration.",
	},
	EmailInvalid: {
		"The login is right, but the e-mail address kept for the user is not one.",
		"Have the e-mail address of the user corrected in the administration.",
	},

	// Single endpoints.
	DocumentUnavailable: {
		"The document exists, but nothing external belongs to it.",
		"Read the document's own content with GET /document/<id>?fields=….",
	},
	StatusForbidsChange: {
		"The status of the order closes it: an invoiced or cancelled order, and its lines, can no longer be added, changed or deleted.",
		"Make a new order, or a credit, instead. No closed order opens again.",
	},
	AddressPartTooLong: {
		"Postcode, Huisnummer or toevoeging has more than 10 characters.",
		"Send the parts on their own: the house number without its addition, the postcode without the town.",
	},
	SecondOwner: {
		"The vehicle has an owner already, and can have only one.",
		"Change the role line of the present owner, or delete it, before you add another.",
	},
	PreferredEmailDuplicate: {
		"The contact has a preferred e-mail address already.",
		"Set is_prefered_email to 0 on that one first. The field is spelled as the interface spells it.",
	},
	PreferredEmailNotAllowed: {
		"is_prefered_email can be 1 only where the communication is of the type email.",
		"Leave is_prefered_email out, or at 0, for telephone numbers and the like.",
	},
	VehiclePublished: {
		"The vehicle is being advertised, and a published vehicle cannot be deleted.",
		"End that with PUT /vehicle/publishstop, then delete it.",
	},
	LicensePlateChange: {
		"A license plate is not changed by PUT /vehicle, because such a change has to be recorded.",
		"Use PUT /updatelicenseplate with id and license_plate, and leave the field out here.",
	},
	UsernameMissing: {
		"GET /empoyee/email was called without a username. The path is spelled as the interface spells it.",
		"Add ?username=… to the address.",
	},
	PublishFieldRequired: {
		"The vehicle lacks its tax_kind, without which it cannot be advertised.",
		"Set tax_kind with PUT /vehicle, then publish. GET /vehicle/publishstart judges without publishing.",
	},
	AdvertisementSiteRequired: {
		"The vehicle names no advertisement site to be published on.",
		"Fill in the advertisement site with PUT /vehicle, then publish. GET /vehicle/publishstart judges without publishing.",
	},

	// Flat rate lines.
	FlatrateTurnoverGroupRequired: {
		"The line has an article_id and a quantity, but no turnover_group_id to book it on.",
		"Send turnover_group_id along.",
	},
	FlatrateManualInputWithArticle: {
		"is_manual_input is 1 although the line has an article_id: a line is either typed in or taken from the article list.",
		"Leave is_manual_input out, or leave article_id out.",
	},
	FlatrateNoArticlePriceAlone: {
		"is_no_article_price is 1 on a line without an article_id, so there is no article price to pass over.",
		"Send article_id, or leave is_no_article_price out.",
	},
	FlatratePriceRequired: {
		"is_no_article_price is 1, so the line needs a price of its own, and that is missing or 0.",
		"Send a price other than 0, or leave is_no_article_price out to take the article's.",
	},
	FlatrateArticleRequired: {
		"The line has an article_number, but neither an article_id nor is_manual_input = 1, so it is not clear what the number stands for.",
		"Send the article_id that belongs to it, or is_manual_input = 1 for a number of your own.",
	},
	FlatrateManualInputWithArticleNo: {
		"The line has article_id and article_number, and is_manual_input is 1: a line is either typed in or taken from the article list.",
		"Leave is_manual_input out, or leave article_id out.",
	},
	FlatrateSortOrderInUse: {
		"Another line of the same flat rate has this sort_order.",
		"Choose a number that is free; GET /flatrateline lists those in use.",
	},
	FlatrateArticleNumberRequired: {
		"The line has an article_id, but not the article_number that goes with it.",
		"Send both. They are compared, so that a mistyped ID is noticed.",
	},
	FlatrateArticleNumberMismatch: {
		"The article with this article_id has another article_number.",
		"Look the article up, and send the two that belong together.",
	},
	FlatrateArticleKindRequired: {
		"The line has a unit_type, but no article_kind.",
		"Send both, or neither.",
	},
	FlatrateUnitTypeRequired: {
		"The line has an article_kind, but no unit_type.",
		"Send both, or neither.",
	},
}

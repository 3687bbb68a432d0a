package mapping

// interfaceRows returns the documented rows, with their spelling, in the order of the
// interface's tables.
func interfaceRows() []Entry {
	return []Entry{
		// General (all methods)
		{Scope: General, Reason: InternalError, Status: 500, Message: "Internal server error", Help: Help{
			"Something failed on our side that the request is not to blame for. What it was is in our log under the request id of the answer; the answer itself never says.",
			"Try again later. A request that changes something may have been done before it failed: look first, or send POST with an Idempotency-Key and repeat it safely. If it stays, report the request_id.",
		}},
		{Scope: General, Reason: QueryRepeated, Status: 400, Message: "Invalid request, query parameter is provided more than once: <x>", Args: []Arg{{Example: "colour"}}, Help: Help{
			"The named query parameter stands in the address more than once. Which of its values is meant would be a guess.",
			"Send each parameter once. Several names in one parameter are separated by commas: fields=id,order_date.",
		}},
		{Scope: General, Reason: QueryUnsupported, Status: 400, Message: "Invalid request, query parameter is not supported: <x>", Args: []Arg{{Example: "colour"}}, Help: Help{
			"This operation has no query parameter of that name. Names are case-sensitive, and nothing unknown is ignored, so that a mistyped filter cannot answer everything.",
			"Compare the name with the operation in the OpenAPI description.",
		}},
		{Scope: General, Reason: EndpointUnknown, Status: 400, Message: "Invalid endpoint: <x>", Args: []Arg{{Example: "/order/.."}}, Help: Help{
			"There is no endpoint at this path, or the api_key may not use it: both are answered alike.",
			"Compare the path with the OpenAPI description of your api_key. Paths are exact: case, a slash at the end, doubled slashes and escapes such as %2F all count. Is the endpoint missing there, ask for it to be added to the allowlist of the key.",
		}},
		{Scope: General, Reason: MethodUnsupported, Status: 400, Message: "Method: <x> not supported for endpoint: <x>", Args: []Arg{{Example: "PATCH"}, {Example: "/order"}}, Help: Help{
			"The path exists, but not with this HTTP method, or the api_key may not use that method here.",
			"Use a method that the OpenAPI description of your api_key lists for the path. POST goes to /order, never to /order/5; HEAD, OPTIONS and PATCH are never supported.",
		}},

		// POST (add one)
		{Scope: OpCreate, Reason: EmptyBody, Status: 400, Message: "Empty body", Help: Help{
			"The request has no body, or one of white space only, where a JSON object is needed.",
			"Send a JSON object. If you do, check that your client still sends the body after a redirect or through your proxy.",
		}},
		{Scope: OpCreate, Reason: BodyNotJSON, Status: 400, Message: "Body is not valid JSON", Help: Help{
			"The body is not one JSON object. Doubled member names, text after the object, invalid UTF-8 and nesting deeper than 32 count too.",
			"The member position of the answer says at which line and column reading ended. Have the body written by a JSON library rather than put together from text, not as a form, and send it as UTF-8; several records go to /bulk, not into an array. At GET /model the answer of the system behind was not JSON: report it.",
		}},
		{Scope: OpCreate, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model", Args: []Arg{{Example: "colour"}}, Help: Help{
			"The resource has no field of the given name. Names are case-sensitive.",
			"GET /model/<resource> lists all fields, with arrays only where the api_key may read their elements; to send them it has to be allowed to add such records, as POST /orderline. The same names go into bodies, fields and filters, as they are and not within another member such as data; sort takes no arrays and no binary data.",
		}},
		{Scope: OpCreate, Reason: FieldReadonly, Status: 403, Message: "Field: <x> is readonly do not supply in request", Args: []Arg{{ArgField, "created_at"}}, By: ByEither, Help: Help{
			"The field is kept by the service and cannot be written, not even with the value that it has.",
			"Leave the field out. Send only what you want to change; a record that you read holds readonly fields too.",
		}},
		{Scope: OpCreate, Reason: FieldRequired, Status: 403, Message: "Field: <x> is required and not supplied in request", Args: []Arg{{ArgField, "name"}}, By: ByAdministration, Help: Help{
			"A required field has no value: it was not sent, and on PUT the record has none either. Some fields are required only because of what others say.",
			"Send the field with a value. GET /model/<resource> tells which are always required.",
		}},
		{Scope: OpCreate, Reason: PrimaryIDSupplied, Status: 403, Message: "Field: <x> is primary ID do not supply in request", Args: []Arg{{Example: "id"}}, Help: Help{
			"A new record was sent with its primary ID. The service gives IDs itself.",
			"Leave id out of the body. The answer and its Location header tell the new one.",
		}},
		{Scope: OpCreate, Reason: RelatedIDNotFound, Status: 404, Message: "Field: <x> value: <x> ID not found", Args: []Arg{{ArgField, "contact_id"}, {ArgValue, "999999"}}, By: ByAdministration, Help: Help{
			"The field refers to another record, and there is none with this ID, or it belongs to another client.",
			"Create the related record first, or look its ID up. GET /model/<resource> names the resource under reference.",
		}},
		{Scope: OpCreate, Reason: ArrayEmpty, Status: 403, Message: "Field: <x> minimum 1 element is required in array", Args: []Arg{{ArgArray, "order_id"}}, By: ByEither, Help: Help{
			"An array field was sent without any element.",
			"Send at least one element, or leave the field out.",
		}},
		{Scope: OpCreate, Reason: VarcharTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for datatype: varchar: <x>", Args: []Arg{{ArgField, "name"}, {ArgLength, "101"}, {ArgMost, "100"}}, By: ByEither, Help: Help{
			"The text has more characters than the field takes. The message names both numbers.",
			"Shorten the value. GET /model/<resource> tells the length of each field; it counts characters, not bytes.",
		}},
		{Scope: OpCreate, Reason: TextTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for datatype: text: <x>", Args: []Arg{{ArgField, "description"}, {ArgLength, "65536"}, {ArgMost, "65535"}}, By: ByEither, Help: Help{
			"The long text has more characters than the field takes. The message names both numbers.",
			"Shorten the value, or keep the rest as a document.",
		}},
		{Scope: OpCreate, Reason: TimestampInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: timestamp(ISO 8601)", Args: []Arg{{ArgField, "order_date"}, {ArgValue, "yesterday"}}, By: ByEither, Help: Help{
			"The value is no ISO 8601 date, or date and time with a zone, or it names a day that does not exist.",
			"Send 2026-07-01T10:00:00Z, 2026-07-01T12:00:00+02:00 or 2026-07-01, with a zone where there is a time, as a JSON string. In a query the + is written %2B, since a + there is a blank: modified_since=2026-07-01T12:00:00%2B02:00.",
		}},
		{Scope: OpCreate, Reason: Float8Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: float8", Args: []Arg{{ArgField, "price"}, {ArgValue, "ten"}}, By: ByEither, Help: Help{
			"The value is not a finite JSON number. Numbers in quotation marks are text.",
			"Send 12.5 and not \"12.5\" or \"12,5\": with a point and without quotation marks, which the message does not show.",
		}},
		{Scope: OpCreate, Reason: Int4Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: int4", Args: []Arg{{ArgField, "mileage"}, {ArgValue, "1.5"}}, By: ByEither, Help: Help{
			"The value is not a whole JSON number within 32 bits. 1.0 and \"1\" are not.",
			"Send 1 and not \"1\": without quotation marks, which the message does not show, and without a fraction, from -2147483648 to 2147483647. Flags take 0 or 1, not true or false.",
		}},
		{Scope: OpCreate, Reason: VarcharInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: varchar", Args: []Arg{{ArgField, "name"}, {ArgValue, "[1,2]"}}, By: ByEither, Help: Help{
			"The value of a text field is not a JSON string, or holds the character NUL.",
			"Put the value in quotation marks. An empty field is null.",
		}},
		{Scope: OpCreate, Reason: ByteaInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: bytea", Args: []Arg{{ArgField, "content"}, {ArgValue, "!!"}}, By: ByEither, Help: Help{
			"The value is not base64 (RFC 4648, standard alphabet, padded).",
			"Encode the bytes as standard base64 without line breaks. The alphabet with - and _ is another one.",
		}},
		{Scope: OpCreate, Reason: DuplicateValue, Status: 409, Message: "Field: <x> value: <x> has a duplicate illegal value", Args: []Arg{{ArgField, "number"}, {ArgValue, "OF-1042"}}, By: ByAdministration, Help: Help{
			"The field is unique, and another record has this value already.",
			"Look the other record up by this value and update it, or choose another value. To repeat a POST safely, use an Idempotency-Key.",
		}},
		{Scope: OpCreate, Reason: ValidationFailed, Status: 403, Message: "Field: <x> has an invalid value: <x> for validation: <x>", Args: []Arg{{ArgField, "kind"}, {ArgValue, "robot"}, {ArgValidation, "person|company"}}, By: ByEither, Help: Help{
			"The value has the right type, but breaks a rule of the field, which the message names after \"validation:\". Choices are written a|b|c; https and public address are rules for webhook_url.",
			"Send a value that the rule allows: of a|b|c one of these. The header Link of the answer says what the rule asks for.",
		}},
		{Scope: OpCreate, Reason: DateNotAfter, Status: 403, Message: "Field: <x> value: <x> date must be after Field: <x> value: <x>", Args: []Arg{{ArgField, "delivery_date"}, {ArgValue, "2026-06-30"}, {ArgAfter, "order_date"}, {ArgAfterValue, "2026-07-01"}}, By: ByEither, Help: Help{
			"Two dates of the record are in the wrong order: the first named must be later than the second.",
			"Correct one of the two. On PUT the record's present value counts for the date that you do not send.",
		}},

		// GET (single record)
		{Scope: OpGet, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpGet, Reason: PrimaryIDInvalid, Status: 403, Message: "Primary ID is invalid", Help: Help{
			"The primary ID is none, or path, query and body name different ones.",
			"Send the id that the record was answered with, a whole number from 1 to 2147483647, in one place: /order/5 or /order?id=5.",
		}},
		{Scope: OpGet, Reason: RecordNotFound, Status: 404, Message: "Field: <x> value: <x> not found", Args: []Arg{{ArgID, "id"}, {ArgIDValue, "999999"}}, By: ByAdministration, Help: Help{
			"There is no record with this value, or it belongs to another client; both are answered alike. Results of callbacks are kept for 7 days.",
			"Check the value, and whose login the token belongs to. The record may have been deleted since you listed it.",
		}},
		{Scope: OpGet, Reason: ParametersRequired, Status: 400, Message: "These parameter(s): <x> , <x> are required", Args: []Arg{{Example: "id"}}, Help: Help{
			"One or more query parameters that this operation needs were not sent, or were sent empty. The message names them all.",
			"Send the named parameters. One that ends in _id is the id of the record that those asked for belong to.",
		}},

		// PUT (update one)
		{Scope: OpUpdate, Reason: EmptyBody, Status: 400, Message: "Empty body"},
		{Scope: OpUpdate, Reason: BodyNotJSON, Status: 400, Message: "Body is not valid JSON"},
		{Scope: OpUpdate, Reason: PrimaryIDInvalid, Status: 400, Message: "Primary ID is not an valid ID"},
		{Scope: OpUpdate, Reason: PrimaryIDMissing, Status: 403, Message: "No Primary ID provided", Help: Help{
			"PUT and DELETE need to know which record is meant, and no primary ID was sent.",
			"Add it to the path (/order/5) or to the query (?id=5); PUT also takes it from the body.",
		}},
		{Scope: OpUpdate, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpUpdate, Reason: FieldReadonly, Status: 403, Message: "Field: <x> is readonly do not supply in request"},
		{Scope: OpUpdate, Reason: FieldRequired, Status: 403, Message: "Field: <x> is required and not supplied in request"},
		{Scope: OpUpdate, Reason: FieldEmpty, Status: 403, Message: "Field: <x> is required and cannot be empty", Args: []Arg{{ArgField, "name"}}, By: ByEither, Help: Help{
			"A required field was sent as null or as an empty text.",
			"Send a value, or leave the field out of the PUT to keep what it has.",
		}},
		{Scope: OpUpdate, Reason: RelatedIDNotFound, Status: 404, Message: "Field: <x> value: <x> ID not found"},
		{Scope: OpUpdate, Reason: ArrayEmpty, Status: 403, Message: "Field: <x> minimum 1 element is required in array"},
		{Scope: OpUpdate, Reason: RecordNotFound, Status: 404, Message: "Field: <x> value: <x> not found"},
		{Scope: OpUpdate, Reason: VarcharTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for datatype: varchar: <x>"},
		{Scope: OpUpdate, Reason: TextTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for datatype: text: <x>"},
		{Scope: OpUpdate, Reason: TimestampInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: timestamp(ISO 8601)"},
		{Scope: OpUpdate, Reason: Float8Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: float8"},
		{Scope: OpUpdate, Reason: Int4Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: int4"},
		{Scope: OpUpdate, Reason: VarcharInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: varchar"},
		{Scope: OpUpdate, Reason: ValidationFailed, Status: 403, Message: "Field: <x> has an invalid value: <x> for validation: <x>"},
		{Scope: OpUpdate, Reason: DuplicateValue, Status: 409, Message: "Field: <x> Value: <x> has a duplicate illegal value"},
		{Scope: OpUpdate, Reason: SystemRecord, Status: 409, Message: "This is a system record, fields cannot be changed", By: ByAdministration, Help: Help{
			"The record belongs to the system. It can be read, and neither changed nor deleted.",
			"Make a record of your own with the values you need.",
		}},
		{Scope: OpUpdate, Reason: BlockedRecord, Status: 409, Message: "This is a blocked record, fields cannot be changed, only update: is_blocked", By: ByAdministration, Help: Help{
			"The record is blocked. Until that ends, is_blocked is the only field that can be changed.",
			"Send PUT with {\"is_blocked\": 0} alone, then your change. Ask yourself first why it was blocked.",
		}},
		{Scope: OpUpdate, Reason: ArchivedRecord, Status: 409, Message: "This is an archived record, fields cannot be changed, only update: is_archived", By: ByAdministration, Help: Help{
			"The record is archived. Until that ends, is_archived is the only field that can be changed.",
			"Send PUT with {\"is_archived\": 0} alone, then your change.",
		}},
		{Scope: OpUpdate, Reason: CannotUpdate, Status: 409, Message: "Cannot update <x>", Args: []Arg{{ArgArray, "order_id"}}, By: ByAdministration, Help: Help{
			"The field can be given when the record is made, but not changed this way later.",
			"Leave the field out of the PUT. Lines of a record have an endpoint of their own: change them there.",
		}},

		// GET (multiple records)
		{Scope: OpList, Reason: ParametersRequired, Status: 400, Message: "These parameter(s): <x> , <x> are required"},
		{Scope: OpList, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpList, Reason: QueryUnsupported, Status: 400, Message: "Invalid request, query parameter is not supported: <x>"},
		{Scope: OpList, Reason: PageInvalid, Status: 400, Message: "Parameter invalid page value must be greater than 0", Help: Help{
			"page is not a whole number of 1 or more. The first page is 1.",
			"Start at page=1, or leave page out, and follow the member next of each answer until it is null.",
		}},

		// DELETE
		{Scope: OpDelete, Reason: PrimaryIDInvalid, Status: 400, Message: "Primary ID is not an valid ID"},
		{Scope: OpDelete, Reason: PrimaryIDMissing, Status: 403, Message: "No Primary ID provided"},
		{Scope: OpDelete, Reason: RecordNotFound, Status: 404, Message: "Field: <x> value: <x> not found"},
		{Scope: OpDelete, Reason: InUse, Status: 406, Message: "Field: <x> in use at: <x>", Args: []Arg{{ArgID, "id"}, {ArgAt, "orderline"}}, By: ByAdministration, Help: Help{
			"Other records refer to this one, so it cannot be deleted. The message names the resource. Nothing is ever deleted along.",
			"Delete those records first, or archive this one with {\"is_archived\": 1}.",
		}},
		{Scope: OpDelete, Reason: SystemRecord, Status: 409, Message: "This is a system-record, record cannot be deleted"},

		// Endpoint-specific errors
		{Scope: "GET /authenticate", Reason: NotLoggedIn, Status: 401, Message: "Not authorized", Help: Help{
			"The request carries no header token.",
			"Call GET /authenticate first and send what it answers in the header token, on every request; a header Authorization is not read. Some proxies drop headers they do not know.",
		}},
		{Scope: "GET /authenticate", Reason: TokenInvalid, Status: 401, Message: "Not authorized", Help: Help{
			"The token is not, or no longer, valid: it is older than sessions live here (30 minutes at most), was logged out, or its api_key was withdrawn. At GET /authenticate/logout the status is 200, since the session is over in either case.",
			"Call GET /authenticate again and repeat the request once with the new token. The header takes what that answers, not the api_key.",
		}},
		{Scope: "GET /authenticate", Reason: ExternalUser, Status: 403, Message: "An external user cannot login, contact the <vendor> servicedesk", Args: []Arg{{Example: "<vendor>"}}, By: ByAccount, Help: Help{
			"The login is right, but belongs to an external user, who may not log in here.",
			"Use the account of an internal user, or ask the service desk that the message names.",
		}},
		{Scope: "GET /authenticate", Reason: EmailMissing, Status: 400, Message: "Er is geen e-mailadres bekend voor gebruiker: <x>", Args: []Arg{{Example: "noemail"}}, By: ByAccount, Help: Help{
			"The login is right, but no e-mail address is known for the user. (\"Er is geen e-mailadres bekend voor gebruiker\": no e-mail address is known for user.)",
			"Have an e-mail address entered for the user in the administration.",
		}},
		{Scope: "GET /authenticate", Reason: EmailInvalid, Status: 403, Message: "Field: emailaddress value: <x> not valid", Args: []Arg{{Example: "bademail at example"}}, By: ByAccount, Help: Help{
			"The login is right, but the e-mail address kept for the user is not one.",
			"Have the e-mail address of the user corrected in the administration.",
		}},
		{Scope: "GET /authenticate/acces", Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/acces", Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/component", Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/component", Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/logout", Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/logout", Reason: TokenInvalid, Status: 200, Message: "Not authorized"},
		{Scope: "GET /authenticate/modules", Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/modules", Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate/fingerprint", Reason: NotLoggedIn, Status: 401, Message: "Missing authorization"},
		{Scope: "GET /authenticate/fingerprint", Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "POST /authenticate/forgotpassword", Reason: NotLoggedIn, Status: 401, Message: "Token invalid"},
		{Scope: "POST /authenticate/forgotpassword", Reason: TokenInvalid, Status: 401, Message: "Token invalid"},
		{Scope: "GET /document/info", Reason: DocumentUnavailable, Status: 403, Message: "No external document found", Help: Help{
			"The document exists, but nothing external belongs to it.",
			"Read the document's own content with GET /document/<id>?fields=content.",
		}},
		{Scope: "/orderline", Reason: StatusForbidsChange, Status: 409, Message: "<x> is <x>, cannot add/update/delete", Args: []Arg{{ArgField, "order_status"}, {ArgValue, "invoiced"}}, By: ByAdministration, Help: Help{
			"The status of the order closes it: an invoiced or cancelled order, and its lines, can no longer be added, changed or deleted.",
			"Make a new order, or a credit, instead. No closed order opens again.",
		}},
		{Scope: "/order", Reason: StatusForbidsChange, Status: 409, Message: "<x> is <x>, cannot add/update/delete"},
		{Scope: "GET /contact/checkaddress", Reason: ValidationFailed, Status: 403, Message: "Field: <x> has an invalid value: <x> for validation: <x>"},
		{Scope: "GET /contact/checkaddress", Reason: FieldRequired, Status: 403, Message: "Field: <x> is required and not supplied in request"},
		{Scope: "GET /contact/checkaddress", Reason: Int4Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: int4"},
		{Scope: "GET /contact/checkaddress", Reason: AddressPartTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for type <x> (<x>)", Args: []Arg{{Example: "Huisnummer"}, {Example: "11"}, {Example: "varchar"}, {Example: "10"}}, Help: Help{
			"Postcode, Huisnummer or toevoeging has more than 10 characters.",
			"Send the parts on their own: the house number without its addition, the postcode without the town.",
		}},
		{Scope: "/vehicleroleline", Reason: SecondOwner, Status: 403, Message: "Vehicleroleline is invalid a Vehicle can only have one owner", By: ByAdministration, Help: Help{
			"The vehicle has an owner already, and can have only one.",
			"Change the role line of the present owner, or delete it, before you add another.",
		}},
		{Scope: "/contactcommunication", Reason: PreferredEmailDuplicate, Status: 409, Message: "Field: is_prefered_email value: 1 has a duplicate illegal value", By: ByAdministration, Help: Help{
			"The contact has a preferred e-mail address already.",
			"Set is_prefered_email to 0 on that one first. The field is spelled as the interface spells it.",
		}},
		{Scope: "/contactcommunication", Reason: PreferredEmailNotAllowed, Status: 409, Message: "Field: is_prefered_email value: 1 is not alowed", By: ByAdministration, Help: Help{
			"is_prefered_email can be 1 only where the communication is of the type email.",
			"Leave is_prefered_email out, or at 0, for telephone numbers and the like.",
		}},
		{Scope: "DELETE /vehicle", Reason: VehiclePublished, Status: 403, Message: "Vehicle with id: <x> has publish status: published delete not allowed", Args: []Arg{{ArgIDValue, "8"}}, By: ByAdministration, Help: Help{
			"The vehicle is being advertised, and a published vehicle cannot be deleted.",
			"End that with PUT /vehicle/publishstop, then delete it.",
		}},
		{Scope: "PUT /vehicle", Reason: LicensePlateChange, Status: 409, Message: "The change of the licenseplate is not allowed via put, use /updatelicenseplate.", By: ByAdministration, Help: Help{
			"A license plate is not changed by PUT /vehicle, because such a change has to be recorded.",
			"Use PUT /updatelicenseplate with id and license_plate, and leave the field out here.",
		}},
		{Scope: "GET /empoyee/email", Reason: UsernameMissing, Status: 406, Message: "Value username missing.", Help: Help{
			"GET /empoyee/email was called without a username. The path is spelled as the interface spells it.",
			"Add ?username=NAME to the address.",
		}},
		{Scope: "/vehicle/publishstart", Reason: PublishFieldRequired, Status: 403, Message: "Field: tax_kind value: null is required vehicle not published", By: ByEither, Help: Help{
			"The vehicle lacks its tax_kind, without which it cannot be advertised.",
			"Set tax_kind with PUT /vehicle, then publish. GET /vehicle/publishstart judges without publishing.",
		}},
		{Scope: "/vehicle/publishstart", Reason: AdvertisementSiteRequired, Status: 403, Message: "Vehicleadvertisementsite is required, vehicle not published", By: ByEither, Help: Help{
			"The vehicle names no advertisement site to be published on.",
			"Fill in the advertisement site with PUT /vehicle, then publish. GET /vehicle/publishstart judges without publishing.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateTurnoverGroupRequired, Status: 403, Message: "Field: turnover_group_id is required and not supplied in request", By: ByAdministration, Help: Help{
			"The line has an article_id and a quantity, but no turnover_group_id to book it on.",
			"Send turnover_group_id along.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateManualInputWithArticle, Status: 403, Message: "Field: is_manual_input has an invalid value 1", By: ByAdministration, Help: Help{
			"is_manual_input is 1 although the line has an article_id: a line is either typed in or taken from the article list.",
			"Leave is_manual_input out, or leave article_id out.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateNoArticlePriceAlone, Status: 403, Message: "Field: is_no_article_price has an invalid value 1", By: ByAdministration, Help: Help{
			"is_no_article_price is 1 on a line without an article_id, so there is no article price to pass over.",
			"Send article_id, or leave is_no_article_price out.",
		}},
		{Scope: "/flatrateline", Reason: FlatratePriceRequired, Status: 403, Message: "Field: price is required and not supplied in request", By: ByAdministration, Help: Help{
			"is_no_article_price is 1, so the line needs a price of its own, and that is missing or 0.",
			"Send a price other than 0, or leave is_no_article_price out to take the article's.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateArticleRequired, Status: 403, Message: "Field: article_id is required and not supplied in request", By: ByAdministration, Help: Help{
			"The line has an article_number, but neither an article_id nor is_manual_input = 1, so it is not clear what the number stands for.",
			"Send the article_id that belongs to it, or is_manual_input = 1 for a number of your own.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateManualInputWithArticleNo, Status: 403, Message: "Field: is_manual_input has an invalid value 1", By: ByAdministration, Help: Help{
			"The line has article_id and article_number, and is_manual_input is 1: a line is either typed in or taken from the article list.",
			"Leave is_manual_input out, or leave article_id out.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateSortOrderInUse, Status: 403, Message: "Field: sort_order has an invalid value <x>", Args: []Arg{{ArgOwnValue, "10"}}, By: ByAdministration, Help: Help{
			"Another line of the same flat rate has this sort_order.",
			"Choose a number that is free; GET /flatrateline lists those in use.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateArticleNumberRequired, Status: 403, Message: "Field: article_number is required and not supplied in request", By: ByAdministration, Help: Help{
			"The line has an article_id, but not the article_number that goes with it.",
			"Send both. They are compared, so that a mistyped ID is noticed.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateArticleNumberMismatch, Status: 403, Message: "Field: article_number has an invalid value <x>", Args: []Arg{{ArgOwnValue, "OF-1042"}}, By: ByAdministration, Help: Help{
			"The article with this article_id has another article_number.",
			"Look the article up, and send the two that belong together.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateArticleKindRequired, Status: 403, Message: "Field: article_kind is required and not supplied in request", By: ByAdministration, Help: Help{
			"The line has a unit_type, but no article_kind.",
			"Send both, or neither.",
		}},
		{Scope: "/flatrateline", Reason: FlatrateUnitTypeRequired, Status: 403, Message: "Field: unit_type is required and not supplied in request", By: ByAdministration, Help: Help{
			"The line has an article_kind, but no unit_type.",
			"Send both, or neither.",
		}},
		{Scope: "GET /model", Reason: BodyNotJSON, Status: 400, Message: "Body is not valid JSON"},
	}
}

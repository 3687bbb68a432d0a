package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// Scope says where a reason occurred: nowhere in particular (General), in one
// of the record operations, or at an endpoint ("GET /authenticate", or
// "/flatrateline" for every method of it).
type Scope string

// The scopes that are not endpoints.
const (
	General  Scope = ""
	OpCreate Scope = "create"
	OpGet    Scope = "get"
	OpUpdate Scope = "update"
	OpList   Scope = "list"
	OpDelete Scope = "delete"
)

// Entry is one row of the error tables: what a reason means in a scope.
type Entry struct {
	Scope   Scope
	Reason  Reason
	Status  int
	Message string // each <x> (or <vendor>) stands for the next argument of Fail

	order int    // position in the tables
	field string // the field the message names itself
	named bool   // the first argument is the field
}

// interfaceRows are the documented rows, spelling included, in the order of the
// interface's tables.
func interfaceRows() []Entry {
	return []Entry{
		// General (all methods)
		{Scope: General, Reason: InternalError, Status: 500, Message: "Internal server error"},
		{Scope: General, Reason: QueryRepeated, Status: 400, Message: "Invalid request, query parameter is provided more than once: <x>"},
		{Scope: General, Reason: QueryUnsupported, Status: 400, Message: "Invalid request, query parameter is not supported: <x>"},
		{Scope: General, Reason: EndpointUnknown, Status: 400, Message: "Invalid endpoint: <x>"},
		{Scope: General, Reason: MethodUnsupported, Status: 400, Message: "Method: <x> not supported for endpoint: <x>"},

		// POST (add one)
		{Scope: OpCreate, Reason: EmptyBody, Status: 400, Message: "Empty body"},
		{Scope: OpCreate, Reason: BodyNotJSON, Status: 400, Message: "Body is not valid JSON"},
		{Scope: OpCreate, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpCreate, Reason: FieldReadonly, Status: 403, Message: "Field: <x> is readonly do not supply in request"},
		{Scope: OpCreate, Reason: FieldRequired, Status: 403, Message: "Field: <x> is required and not supplied in request"},
		{Scope: OpCreate, Reason: PrimaryIDSupplied, Status: 403, Message: "Field: <x> is primary ID do not supply in request"},
		{Scope: OpCreate, Reason: RelatedIDNotFound, Status: 404, Message: "Field: <x> value: <x> ID not found"},
		{Scope: OpCreate, Reason: ArrayEmpty, Status: 403, Message: "Field: <x> minimum 1 element is required in array"},
		{Scope: OpCreate, Reason: VarcharTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for datatype: varchar: <x>"},
		{Scope: OpCreate, Reason: TextTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for datatype: text: <x>"},
		{Scope: OpCreate, Reason: TimestampInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: timestamp(ISO 8601)"},
		{Scope: OpCreate, Reason: Float8Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: float8"},
		{Scope: OpCreate, Reason: Int4Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: int4"},
		{Scope: OpCreate, Reason: VarcharInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: varchar"},
		{Scope: OpCreate, Reason: ByteaInvalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: bytea"},
		{Scope: OpCreate, Reason: DuplicateValue, Status: 409, Message: "Field: <x> value: <x> has a duplicate illegal value"},
		{Scope: OpCreate, Reason: ValidationFailed, Status: 403, Message: "Field: <x> has an invalid value: <x> for validation: <x>"},
		{Scope: OpCreate, Reason: DateNotAfter, Status: 403, Message: "Field: <x> value: <x> date must be after Field: <x> value: <x>"},

		// GET (single record)
		{Scope: OpGet, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpGet, Reason: PrimaryIDInvalid, Status: 403, Message: "Primary ID is invalid"},
		{Scope: OpGet, Reason: RecordNotFound, Status: 404, Message: "Field: <x> value: <x> not found"},
		{Scope: OpGet, Reason: ParametersRequired, Status: 400, Message: "These parameter(s): <x> , <x> are required"},

		// PUT (update one)
		{Scope: OpUpdate, Reason: EmptyBody, Status: 400, Message: "Empty body"},
		{Scope: OpUpdate, Reason: BodyNotJSON, Status: 400, Message: "Body is not valid JSON"},
		{Scope: OpUpdate, Reason: PrimaryIDInvalid, Status: 400, Message: "Primary ID is not an valid ID"},
		{Scope: OpUpdate, Reason: PrimaryIDMissing, Status: 403, Message: "No Primary ID provided"},
		{Scope: OpUpdate, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpUpdate, Reason: FieldReadonly, Status: 403, Message: "Field: <x> is readonly do not supply in request"},
		{Scope: OpUpdate, Reason: FieldRequired, Status: 403, Message: "Field: <x> is required and not supplied in request"},
		{Scope: OpUpdate, Reason: FieldEmpty, Status: 403, Message: "Field: <x> is required and cannot be empty"},
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
		{Scope: OpUpdate, Reason: SystemRecord, Status: 409, Message: "This is a system record, fields cannot be changed"},
		{Scope: OpUpdate, Reason: BlockedRecord, Status: 409, Message: "This is a blocked record, fields cannot be changed, only update: is_blocked"},
		{Scope: OpUpdate, Reason: ArchivedRecord, Status: 409, Message: "This is an archived record, fields cannot be changed, only update: is_archived"},
		{Scope: OpUpdate, Reason: CannotUpdate, Status: 409, Message: "Cannot update <x>"},

		// GET (multiple records)
		{Scope: OpList, Reason: ParametersRequired, Status: 400, Message: "These parameter(s): <x> , <x> are required"},
		{Scope: OpList, Reason: FieldNotInModel, Status: 403, Message: "Field: <x> not found in model"},
		{Scope: OpList, Reason: QueryUnsupported, Status: 400, Message: "Invalid request, query parameter is not supported: <x>"},
		{Scope: OpList, Reason: PageInvalid, Status: 400, Message: "Parameter invalid page value must be greater than 0"},

		// DELETE
		{Scope: OpDelete, Reason: PrimaryIDInvalid, Status: 400, Message: "Primary ID is not an valid ID"},
		{Scope: OpDelete, Reason: PrimaryIDMissing, Status: 403, Message: "No Primary ID provided"},
		{Scope: OpDelete, Reason: RecordNotFound, Status: 404, Message: "Field: <x> value: <x> not found"},
		{Scope: OpDelete, Reason: InUse, Status: 406, Message: "Field: <x> in use at: <x>"},
		{Scope: OpDelete, Reason: SystemRecord, Status: 409, Message: "This is a system-record, record cannot be deleted"},

		// Endpoint-specific errors
		{Scope: "GET /authenticate", Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate", Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate", Reason: ExternalUser, Status: 403, Message: "An external user cannot login, contact the <vendor> servicedesk"},
		{Scope: "GET /authenticate", Reason: EmailMissing, Status: 400, Message: "Er is geen e-mailadres bekend voor gebruiker: <x>"},
		{Scope: "GET /authenticate", Reason: EmailInvalid, Status: 403, Message: "Field: emailaddress value: <x> not valid"},
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
		{Scope: "GET /document/info", Reason: DocumentUnavailable, Status: 403, Message: "No external document found"},
		{Scope: "/orderline", Reason: StatusForbidsChange, Status: 409, Message: "<x> is <x>, cannot add/update/delete"},
		{Scope: "/order", Reason: StatusForbidsChange, Status: 409, Message: "<x> is <x>, cannot add/update/delete"},
		{Scope: "GET /contact/checkaddress", Reason: ValidationFailed, Status: 403, Message: "Field: <x> has an invalid value: <x> for validation: <x>"},
		{Scope: "GET /contact/checkaddress", Reason: FieldRequired, Status: 403, Message: "Field: <x> is required and not supplied in request"},
		{Scope: "GET /contact/checkaddress", Reason: Int4Invalid, Status: 403, Message: "Field: <x> has an invalid value: <x> for datatype: int4"},
		{Scope: "GET /contact/checkaddress", Reason: AddressPartTooLong, Status: 403, Message: "Field: <x> valuelength: <x> too long for type <x> (<x>)"},
		{Scope: "/vehicleroleline", Reason: SecondOwner, Status: 403, Message: "Vehicleroleline is invalid a Vehicle can only have one owner"},
		{Scope: "/contactcommunication", Reason: PreferredEmailDuplicate, Status: 409, Message: "Field: is_prefered_email value: 1 has a duplicate illegal value"},
		{Scope: "/contactcommunication", Reason: PreferredEmailNotAllowed, Status: 409, Message: "Field: is_prefered_email value: 1 is not alowed"},
		{Scope: "DELETE /vehicle", Reason: VehiclePublished, Status: 403, Message: "Vehicle with id: <x> has publish status: published delete not allowed"},
		{Scope: "PUT /vehicle", Reason: LicensePlateChange, Status: 409, Message: "The change of the licenseplate is not allowed via put, use /updatelicenseplate."},
		{Scope: "GET /empoyee/email", Reason: UsernameMissing, Status: 406, Message: "Value username missing."},
		{Scope: "/vehicle/publishstart", Reason: PublishFieldRequired, Status: 403, Message: "Field: tax_kind value: null is required vehicle not published"},
		{Scope: "/vehicle/publishstart", Reason: AdvertisementSiteRequired, Status: 403, Message: "Vehicleadvertisementsite is required, vehicle not published"},
		{Scope: "/flatrateline", Reason: FlatrateTurnoverGroupRequired, Status: 403, Message: "Field: turnover_group_id is required and not supplied in request"},
		{Scope: "/flatrateline", Reason: FlatrateManualInputWithArticle, Status: 403, Message: "Field: is_manual_input has an invalid value 1"},
		{Scope: "/flatrateline", Reason: FlatrateNoArticlePriceAlone, Status: 403, Message: "Field: is_no_article_price has an invalid value 1"},
		{Scope: "/flatrateline", Reason: FlatratePriceRequired, Status: 403, Message: "Field: price is required and not supplied in request"},
		{Scope: "/flatrateline", Reason: FlatrateArticleRequired, Status: 403, Message: "Field: article_id is required and not supplied in request"},
		{Scope: "/flatrateline", Reason: FlatrateManualInputWithArticleNo, Status: 403, Message: "Field: is_manual_input has an invalid value 1"},
		{Scope: "/flatrateline", Reason: FlatrateSortOrderInUse, Status: 403, Message: "Field: sort_order has an invalid value <x>"},
		{Scope: "/flatrateline", Reason: FlatrateArticleNumberRequired, Status: 403, Message: "Field: article_number is required and not supplied in request"},
		{Scope: "/flatrateline", Reason: FlatrateArticleNumberMismatch, Status: 403, Message: "Field: article_number has an invalid value <x>"},
		{Scope: "/flatrateline", Reason: FlatrateArticleKindRequired, Status: 403, Message: "Field: article_kind is required and not supplied in request"},
		{Scope: "/flatrateline", Reason: FlatrateUnitTypeRequired, Status: 403, Message: "Field: unit_type is required and not supplied in request"},
		{Scope: "GET /model", Reason: BodyNotJSON, Status: 400, Message: "Body is not valid JSON"},
	}
}

// contractRows word what the interface's tables leave silent.
func contractRows() []Entry {
	return []Entry{
		{Scope: General, Reason: BackendUnavailable, Status: 500, Message: "Internal server error"},
		{Scope: General, Reason: BackendTimeout, Status: 500, Message: "Internal server error"},
		{Scope: General, Reason: NotLoggedIn, Status: 401, Message: "Not authorized"},
		{Scope: General, Reason: TokenInvalid, Status: 401, Message: "Not authorized"},
		{Scope: "GET /authenticate", Reason: CredentialsInvalid, Status: 401, Message: "Not authorized"},
		{Scope: General, Reason: TooManyRequests, Status: 429, Message: "Too many requests"},
		{Scope: General, Reason: RequestMalformed, Status: 400, Message: "Invalid request"},
		{Scope: General, Reason: HeaderTooLarge, Status: 431, Message: "Request header is too large"},
		{Scope: General, Reason: BodyTooLarge, Status: 413, Message: "Body is too large"},
		{Scope: "GET /webhook", Reason: ResultTooLarge, Status: 500, Message: "Internal server error"},
		{Scope: General, Reason: Overloaded, Status: 503, Message: "Server is busy"},
		{Scope: General, Reason: ParametersRequired, Status: 400, Message: "These parameter(s): <x> , <x> are required"},
		{Scope: OpList, Reason: PageSizeInvalid, Status: 400, Message: "Parameter invalid page_size value must be from 1 to 1000"},
		{Scope: OpList, Reason: PageTooLarge, Status: 400, Message: "Page is too large, ask for fewer records or by after"},
		{Scope: General, Reason: PreconditionChanged, Status: 412, Message: "Record has been changed"},
		{Scope: General, Reason: IdempotencyInvalid, Status: 400, Message: "Idempotency-Key must be 1 to 255 visible ASCII characters"},
		{Scope: General, Reason: IdempotencyReused, Status: 422, Message: "Idempotency-Key was used with another body"},
		{Scope: General, Reason: IdempotencyInUse, Status: 409, Message: "Idempotency-Key is in use"},
	}
}

// Catalogue words reasons. It is immutable and safe for concurrent use.
type Catalogue struct {
	entries  []Entry
	byScope  map[Scope]map[Reason]*Entry
	anywhere map[Reason]*Entry // the first row of a reason, whatever its scope

	templates []template // aligned with entries
}

// NewCatalogue returns the catalogue of the whole interface.
func NewCatalogue() *Catalogue {
	entries := append(interfaceRows(), contractRows()...)
	c := &Catalogue{entries: entries, byScope: map[Scope]map[Reason]*Entry{}, anywhere: map[Reason]*Entry{}}
	for i := range entries {
		e := &c.entries[i]
		e.order = i
		if rest, ok := strings.CutPrefix(e.Message, "Field: "); ok {
			e.field, _, _ = strings.Cut(rest, " ")
		}
		e.named = e.field == "<x>" || e.Reason == CannotUpdate
		if c.byScope[e.Scope] == nil {
			c.byScope[e.Scope] = map[Reason]*Entry{}
		}
		c.byScope[e.Scope][e.Reason] = e
		if c.anywhere[e.Reason] == nil {
			c.anywhere[e.Reason] = e
		}
		c.templates = append(c.templates, newTemplate(e))
	}
	return c
}

// Entries returns every row, the interface's first, in table order.
func (c *Catalogue) Entries() []Entry { return slices.Clone(c.entries) }

// Documented tells whether an entry is a row of the interface (and not of the
// contract that fills its silences).
func (c *Catalogue) Documented(e Entry) bool { return e.order < len(interfaceRows()) }

// Lookup finds the row of a reason: in the first of the scopes that words it,
// else in the general table, else the first row of that reason anywhere (a row
// listed for one operation only holds in the others too, in the same words).
func (c *Catalogue) Lookup(r Reason, scopes ...Scope) *Entry {
	for _, s := range scopes {
		if e := c.byScope[s][r]; e != nil {
			return e
		}
	}
	if e := c.byScope[General][r]; e != nil {
		return e
	}
	if e := c.anywhere[r]; e != nil {
		return e
	}
	return c.byScope[General][InternalError]
}

// Sort puts violations into the row order of the scopes' tables, those of rows
// borrowed from other tables last; those of one row keep their order.
func (c *Catalogue) Sort(v Violations, scopes ...Scope) {
	rank := func(e *Error) int {
		row := c.Lookup(e.Reason, scopes...)
		if slices.Contains(scopes, row.Scope) {
			return row.order
		}
		return len(c.entries) + row.order
	}
	slices.SortStableFunc(v, func(a, b *Error) int { return cmp.Compare(rank(a), rank(b)) })
}

// Word returns the documented text of an error in this row: each placeholder
// takes one argument, and a list ("<x> , <x>") takes all.
func (e *Entry) Word(args []string) string {
	if before, after, list := strings.Cut(e.Message, "<x> , <x>"); list {
		return before + strings.Join(args, " , ") + after
	}
	var b strings.Builder
	rest := e.Message
	for _, a := range args {
		before, placeholder, found := strings.Cut(rest, "<")
		if !found {
			break
		}
		_, after, _ := strings.Cut(placeholder, ">")
		b.WriteString(before)
		b.WriteString(a)
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

// Text returns the documented text of an error in this row.
func (e *Entry) Text(err *Error) string {
	text := e.Word(err.Args)
	if err.Path == "" || e.named || e.field == "" {
		return text
	}
	return strings.Replace(text, "Field: "+e.field, "Field: "+err.Path+"."+e.field, 1)
}

// FieldOf returns the name of the field that an error is about, with the array
// element that it is of; "" where none is meant.
func (e *Entry) FieldOf(err *Error) string {
	field := e.Field(err.Args)
	if err.Path == "" || e.named || field == "" {
		return field
	}
	return err.Path + "." + field
}

// Field returns the name of the field that an error of this row is about, or
// "" where none is meant.
func (e *Entry) Field(args []string) string {
	if e.named && len(args) > 0 {
		return args[0]
	}
	if e.named {
		return ""
	}
	return e.field
}

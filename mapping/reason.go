package mapping

// Reason says what went wrong, independent of where. Its text is the stable
// code in the member "reason" of every error answer; status and message depend
// on the scope and come from the Catalogue.
type Reason string

// The reasons, grouped as the interface groups its rows.
const (
	// General.
	InternalError       Reason = "internal_error"
	BackendUnavailable  Reason = "backend_unavailable"
	BackendTimeout      Reason = "backend_timeout"
	BackendChanged      Reason = "backend_changed"
	QueryRepeated       Reason = "query_parameter_repeated"
	QueryUnsupported    Reason = "query_parameter_unsupported"
	EndpointUnknown     Reason = "endpoint_unknown"
	MethodUnsupported   Reason = "method_unsupported"
	RequestMalformed    Reason = "request_malformed"
	HeaderTooLarge      Reason = "header_too_large"
	EncodingUnsupported Reason = "content_encoding_unsupported"
	BodyTooLarge        Reason = "body_too_large"
	ResultTooLarge      Reason = "result_too_large"
	Overloaded          Reason = "overloaded"
	TooManyRequests     Reason = "too_many_requests"
	ParametersRequired  Reason = "parameters_required"
	PageInvalid         Reason = "page_invalid"
	PageSizeInvalid     Reason = "page_size_invalid"
	PageTooLarge        Reason = "page_too_large"
	AfterCombined       Reason = "after_combined"
	IdempotencyInvalid  Reason = "idempotency_key_invalid"
	IdempotencyReused   Reason = "idempotency_key_reused"
	IdempotencyInUse    Reason = "idempotency_key_in_use"
	PreconditionChanged Reason = "record_changed"
	CursorGone          Reason = "cursor_gone"

	// The body and the record alone.
	EmptyBody         Reason = "empty_body"
	BodyNotJSON       Reason = "body_not_json"
	FieldNotInModel   Reason = "field_not_in_model"
	FieldReadonly     Reason = "field_readonly"
	FieldRequired     Reason = "field_required"
	FieldEmpty        Reason = "field_empty"
	PrimaryIDSupplied Reason = "primary_id_supplied"
	PrimaryIDInvalid  Reason = "primary_id_invalid"
	PrimaryIDMissing  Reason = "primary_id_missing"
	ArrayEmpty        Reason = "array_needs_element"
	VarcharTooLong    Reason = "varchar_too_long"
	TextTooLong       Reason = "text_too_long"
	TimestampInvalid  Reason = "timestamp_invalid"
	Float8Invalid     Reason = "float8_invalid"
	Int4Invalid       Reason = "int4_invalid"
	VarcharInvalid    Reason = "varchar_invalid"
	ByteaInvalid      Reason = "bytea_invalid"
	ValidationFailed  Reason = "custom_validation_failed"
	DateNotAfter      Reason = "date_not_after"

	// The record among others.
	RecordNotFound    Reason = "record_not_found"
	RelatedIDNotFound Reason = "related_id_not_found"
	DuplicateValue    Reason = "duplicate_value"
	SystemRecord      Reason = "system_record"
	BlockedRecord     Reason = "blocked_record"
	ArchivedRecord    Reason = "archived_record"
	CannotUpdate      Reason = "cannot_update"
	InUse             Reason = "in_use"

	// Sessions.
	NotLoggedIn        Reason = "not_logged_in"
	TokenInvalid       Reason = "token_invalid"
	CredentialsInvalid Reason = "credentials_invalid"
	ExternalUser       Reason = "external_user"
	EmailMissing       Reason = "email_missing"
	EmailInvalid       Reason = "email_invalid"

	// Single endpoints.
	DocumentUnavailable       Reason = "document_not_available"
	StatusForbidsChange       Reason = "status_forbids_change"
	AddressPartTooLong        Reason = "address_part_too_long"
	SecondOwner               Reason = "second_owner"
	PreferredEmailDuplicate   Reason = "preferred_email_duplicate"
	PreferredEmailNotAllowed  Reason = "preferred_email_not_allowed"
	VehiclePublished          Reason = "vehicle_published"
	LicensePlateChange        Reason = "license_plate_change"
	UsernameMissing           Reason = "username_missing"
	PublishFieldRequired      Reason = "publish_field_required"
	AdvertisementSiteRequired Reason = "advertisementsite_required"

	// Flat rate lines: which combination of fields is wrong.
	FlatrateTurnoverGroupRequired    Reason = "flatrate_turnover_group_required"
	FlatrateManualInputWithArticle   Reason = "flatrate_manual_input_with_article"
	FlatrateNoArticlePriceAlone      Reason = "flatrate_no_article_price_without_article"
	FlatratePriceRequired            Reason = "flatrate_price_required"
	FlatrateArticleRequired          Reason = "flatrate_article_required"
	FlatrateManualInputWithArticleNo Reason = "flatrate_manual_input_with_article_number"
	FlatrateSortOrderInUse           Reason = "flatrate_sort_order_in_use"
	FlatrateArticleNumberRequired    Reason = "flatrate_article_number_required"
	FlatrateArticleNumberMismatch    Reason = "flatrate_article_number_mismatch"
	FlatrateArticleKindRequired      Reason = "flatrate_article_kind_required"
	FlatrateUnitTypeRequired         Reason = "flatrate_unit_type_required"
)

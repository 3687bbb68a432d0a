-- SQL-Ledger keeps no ids from standing twice. map check asks for these.
CREATE UNIQUE INDEX frontdesk_partsgroup ON partsgroup (id);
CREATE UNIQUE INDEX frontdesk_parts ON parts (id);
CREATE UNIQUE INDEX frontdesk_oe ON oe (id);
CREATE UNIQUE INDEX frontdesk_orderitems ON orderitems (id);

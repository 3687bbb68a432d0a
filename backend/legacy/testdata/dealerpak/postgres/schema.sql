-- DEALERPAK 4.2 -- BESTANDSBESCHRIJVING (PostgreSQL)
-- An invented administration of car dealers, in the habits of the 1990s: it is
-- what frontdesk's driver for existing databases is tested on.
--
-- Order of loading: this file, ../data.sql, programs.sql.
--
-- CONVENTIES
--   BEDRNR    administration (branch); part of nearly every key. RELNR, ORDNR and
--             MDWNR count per administration, so they recur in another one.
--   J/N       yes and no, CHAR(1).
--   *DAT      date as CHAR(8) jjjjmmdd; '00000000' is "no date".
--   *TIJD     time of day as CHAR(6) uummss, beside its date; Dutch wall clock.
--   DATE and TIMESTAMP columns came with release 3; "no date" is '0001-01-01'.
--   money     INTEGER, in cents, excluding VAT unless the name says otherwise.
--   KORT,PERC INTEGER, in tenths of a percent: 125 is 12,5 %.
--   AANT      quantity, DECIMAL(9,3).
--   CHAR      is padded with blanks; an empty CHAR is "not filled in".
--   MUTNR     counts the changes of a row; a trigger adds one. Read it before an
--             update and name it in the WHERE: that is how two users are kept apart.
--   VERVALLEN 'J', or WISDAT other than '00000000': deleted. Rows are never removed
--             from REL, VTG, ART and OMZGRP, and keep their place in a unique key.
--   NUMMERS   last number given out, per administration and kind. Add one with the
--             row locked, or call SP_NIEUWE_ORDER for an order.
--   Faults of the programs (triggers, procedures): SQLSTATE DL and the last three
--   digits of a message that begins with DLR- and four digits.
--   Names are kept in capitals, so they have to stand in double quotes.

-- Administraties
CREATE TABLE "BEDR" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "NAAM"      VARCHAR(40) NOT NULL,
  "PLAATS"    VARCHAR(30) NOT NULL,
  "DLRNR"     CHAR(6)     NOT NULL,               -- importer's dealer number, leading zeros
  "BTWNR"     CHAR(14)    NOT NULL DEFAULT '',
  PRIMARY KEY ("BEDRNR"),
  CONSTRAINT "UQ_BEDR_DLRNR" UNIQUE ("DLRNR")
);

-- Landen: one list for all administrations, maintained by the supplier
CREATE TABLE "LAND" (
  "LANDNR"    SMALLINT    NOT NULL,               -- ISO 3166-1 numeric
  "LANDKD"    CHAR(3)     NOT NULL,               -- sign on cars: NL, D, B
  "ISO2"      CHAR(2)     NOT NULL,
  "NAAM"      VARCHAR(35) NOT NULL,
  "NETNR"     CHAR(5)     NOT NULL DEFAULT '',    -- 0031
  "EU"        CHAR(1)     NOT NULL DEFAULT 'N',
  PRIMARY KEY ("LANDNR"),
  CONSTRAINT "UQ_LAND_ISO2" UNIQUE ("ISO2")
);

-- BTW-tarieven: H hoog, L laag, N nul, M marge, V vrijgesteld
CREATE TABLE "BTWTRF" (
  "BTWKD"     CHAR(1)     NOT NULL,
  "OMS"       VARCHAR(30) NOT NULL,
  "PERC"      SMALLINT    NOT NULL,               -- 210 = 21,0 %
  PRIMARY KEY ("BTWKD")
);

-- Omzetgroepen
CREATE TABLE "OMZGRP" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "OGRP"      CHAR(4)     NOT NULL,               -- 0100, leading zeros
  "OMS"       VARCHAR(30) NOT NULL,
  "BTWKD"     CHAR(1)     NOT NULL,
  "GBREK"     CHAR(8)     NOT NULL,
  "GBREKEU"   CHAR(8)         NULL,
  "GBREKEX"   CHAR(8)         NULL,
  "VERVALLEN" CHAR(1)     NOT NULL DEFAULT 'N',
  PRIMARY KEY ("BEDRNR", "OGRP"),
  CONSTRAINT "FK_OMZGRP_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR"),
  CONSTRAINT "FK_OMZGRP_BTW" FOREIGN KEY ("BTWKD") REFERENCES "BTWTRF" ("BTWKD")
);

-- Medewerkers
CREATE TABLE "MDW" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "MDWNR"     SMALLINT    NOT NULL,
  "CODE"      CHAR(5)         NULL,               -- initials on the job card
  "VNAAM"     VARCHAR(20)     NULL,
  "NAAM"      VARCHAR(40) NOT NULL,
  "LOGIN"     VARCHAR(20)     NULL,               -- not for those who never sign in
  "EMAIL"     VARCHAR(60)     NULL,
  "FUNCTIE"   VARCHAR(30)     NULL,
  "EXTERN"    CHAR(1)     NOT NULL DEFAULT 'N',
  "UURTRF"    INTEGER         NULL,
  "UITDAT"    CHAR(8)     NOT NULL DEFAULT '00000000', -- left the firm
  PRIMARY KEY ("BEDRNR", "MDWNR"),
  CONSTRAINT "UQ_MDW_CODE" UNIQUE ("BEDRNR", "CODE"),
  CONSTRAINT "UQ_MDW_LOGIN" UNIQUE ("LOGIN"),
  CONSTRAINT "FK_MDW_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR")
);

-- Relaties. SRT: P particulier, B bedrijf. STATUS: A actief, B geblokkeerd, H historie.
-- TAAL: N, D, E, F. AAN* and WIJ*: when added and changed, filled by the program
-- that writes, not by a trigger. TELNR: since release 4 in RELCOM, kept for old reports.
CREATE TABLE "REL" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "RELNR"     INTEGER     NOT NULL,               -- NUMMERS 'REL'
  "SRT"       CHAR(1)     NOT NULL DEFAULT 'P',
  "NAAM"      VARCHAR(40) NOT NULL,
  "VNAAM"     VARCHAR(30)     NULL,
  "TUSV"      VARCHAR(10)     NULL,
  "VRLT"      CHAR(10)    NOT NULL DEFAULT '',
  "KVKNR"     CHAR(8)     NOT NULL DEFAULT '',    -- leading zeros
  "BTWNR"     CHAR(14)    NOT NULL DEFAULT '',
  "TAAL"      CHAR(1)     NOT NULL DEFAULT 'N',
  "GEBDAT"    CHAR(8)     NOT NULL DEFAULT '00000000',
  "BETTRM"    SMALLINT    NOT NULL DEFAULT 14,
  "KLANT"     CHAR(1)     NOT NULL DEFAULT 'J',
  "LEVER"     CHAR(1)     NOT NULL DEFAULT 'N',
  "TELNR"     CHAR(15)    NOT NULL DEFAULT '',
  "MEMO"      TEXT            NULL,
  "STATUS"    CHAR(1)     NOT NULL DEFAULT 'A',
  "VERVALLEN" CHAR(1)     NOT NULL DEFAULT 'N',
  "AANDAT"    CHAR(8)     NOT NULL DEFAULT '00000000',
  "AANTIJD"   CHAR(6)     NOT NULL DEFAULT '000000',
  "WIJDAT"    CHAR(8)     NOT NULL DEFAULT '00000000',
  "WIJTIJD"   CHAR(6)     NOT NULL DEFAULT '000000',
  "MUTNR"     INTEGER     NOT NULL DEFAULT 1,
  PRIMARY KEY ("BEDRNR", "RELNR"),
  CONSTRAINT "FK_REL_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR")
);
CREATE INDEX "IX_REL_NAAM" ON "REL" ("BEDRNR", "NAAM");

-- The programs read relations through this view and write them in REL.
CREATE VIEW "V_RELATIE_ACTIEF" AS
  SELECT "BEDRNR", "RELNR", "SRT", "NAAM", "VNAAM", "TUSV", "VRLT", "KVKNR", "BTWNR", "TAAL", "GEBDAT", "BETTRM",
         "KLANT", "LEVER", "TELNR", "MEMO", "STATUS", "AANDAT", "AANTIJD", "WIJDAT", "WIJTIJD", "MUTNR",
         CONCAT_WS(' ', NULLIF(TRIM("VRLT"), ''), "TUSV", "NAAM") AS "VOLNAAM"
    FROM "REL" WHERE "VERVALLEN" <> 'J';

-- Communicatie. SRT: TL telefoon, MB mobiel, FX fax, EM e-mail, WW website, WA berichten.
CREATE TABLE "RELCOM" (
  "COMNR"     INTEGER GENERATED BY DEFAULT AS IDENTITY,
  "BEDRNR"    SMALLINT    NOT NULL,
  "RELNR"     INTEGER     NOT NULL,
  "SRT"       CHAR(2)     NOT NULL,
  "WAARDE"    VARCHAR(80) NOT NULL,
  "OMS"       VARCHAR(30)     NULL,
  "VOORK"     CHAR(1)     NOT NULL DEFAULT 'N',   -- preferred e-mail address
  PRIMARY KEY ("COMNR"),
  CONSTRAINT "FK_RELCOM_REL" FOREIGN KEY ("BEDRNR", "RELNR") REFERENCES "REL" ("BEDRNR", "RELNR")
);

-- Adressen. SRT: B bezoek, P post, F factuur, A aflever.
CREATE TABLE "RELADR" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "RELNR"     INTEGER     NOT NULL,
  "VOLGNR"    SMALLINT    NOT NULL,               -- counts per relation
  "SRT"       CHAR(1)     NOT NULL,
  "STRAAT"    VARCHAR(30) NOT NULL,
  "HUISNR"    INTEGER         NULL,               -- old imports have it in STRAAT
  "TOEV"      CHAR(6)     NOT NULL DEFAULT '',
  "PCODE"     CHAR(8)     NOT NULL DEFAULT '',
  "PLAATS"    VARCHAR(30) NOT NULL,
  "LANDNR"    SMALLINT    NOT NULL DEFAULT 528,
  PRIMARY KEY ("BEDRNR", "RELNR", "VOLGNR"),
  CONSTRAINT "FK_RELADR_REL" FOREIGN KEY ("BEDRNR", "RELNR") REFERENCES "REL" ("BEDRNR", "RELNR"),
  CONSTRAINT "FK_RELADR_LAND" FOREIGN KEY ("LANDNR") REFERENCES "LAND" ("LANDNR")
);

-- Artikelen. SRT: O onderdeel, A arbeid, E extern, T tekst.
-- EENH: ST stuk, UUR, LTR, KG, MTR, SET.
CREATE TABLE "ART" (
  "ARTID"     INTEGER GENERATED BY DEFAULT AS IDENTITY,
  "BEDRNR"    SMALLINT    NOT NULL,
  "ARTNR"     CHAR(20)    NOT NULL,               -- leading zeros count
  "OMS"       VARCHAR(60) NOT NULL,
  "SRT"       CHAR(1)     NOT NULL DEFAULT 'O',
  "EENH"      CHAR(3)     NOT NULL DEFAULT 'ST',
  "OGRP"      CHAR(4)     NOT NULL,
  "INKPR"     INTEGER         NULL,
  "VKPR"      INTEGER     NOT NULL DEFAULT 0,
  "LEVNR"     INTEGER         NULL,               -- RELNR of the supplier
  "EAN"       CHAR(13)    NOT NULL DEFAULT '',
  "VOORR"     DECIMAL(9,3) NOT NULL DEFAULT 0,
  "VERVALLEN" CHAR(1)     NOT NULL DEFAULT 'N',
  "MUTNR"     INTEGER     NOT NULL DEFAULT 1,
  PRIMARY KEY ("ARTID"),
  CONSTRAINT "UQ_ART_NR" UNIQUE ("BEDRNR", "ARTNR"),
  CONSTRAINT "FK_ART_OGRP" FOREIGN KEY ("BEDRNR", "OGRP") REFERENCES "OMZGRP" ("BEDRNR", "OGRP"),
  CONSTRAINT "FK_ART_LEV" FOREIGN KEY ("BEDRNR", "LEVNR") REFERENCES "REL" ("BEDRNR", "RELNR")
);

-- Voertuigen. KENT without dashes. BRST: B benzine, D diesel, L lpg, E elektro, H hybride.
-- TRANS: H hand, A automaat. BTWSRT: B btw, M marge, V vrij, blank unknown.
-- MERK and TYPE come from the importer's tape, some padded with blanks.
CREATE TABLE "VTG" (
  "VTGID"     INTEGER GENERATED BY DEFAULT AS IDENTITY,
  "BEDRNR"    SMALLINT    NOT NULL,
  "KENT"      CHAR(10)    NOT NULL,
  "LANDNR"    SMALLINT        NULL,
  "CHAS"      CHAR(17)        NULL,
  "MERK"      VARCHAR(20) NOT NULL,
  "TYPE"      VARCHAR(30)     NULL,
  "UITV"      VARCHAR(40)     NULL,
  "CARR"      CHAR(3)     NOT NULL DEFAULT '',    -- HB, SED, STA, MPV, CAB
  "BRST"      CHAR(1)     NOT NULL DEFAULT '',
  "TRANS"     CHAR(1)     NOT NULL DEFAULT '',
  "KLEUR"     VARCHAR(20)     NULL,
  "DAT1"      CHAR(8)     NOT NULL DEFAULT '00000000', -- first admission
  "APKDAT"    DATE        NOT NULL DEFAULT '0001-01-01',
  "KMST"      INTEGER         NULL,
  "VERMKW"    SMALLINT        NULL,
  "BTWSRT"    CHAR(1)     NOT NULL DEFAULT '',
  "BPM"       INTEGER         NULL,
  "INKPR"     INTEGER         NULL,
  "VKPR"      INTEGER         NULL,
  "INTERNET"  CHAR(1)     NOT NULL DEFAULT 'N',   -- on the web site
  "INTDAT"    TIMESTAMP   NOT NULL DEFAULT '0001-01-01 00:00:00',
  "OPM"       TEXT            NULL,
  "GEBLOK"    CHAR(1)     NOT NULL DEFAULT 'N',
  "WISDAT"    CHAR(8)     NOT NULL DEFAULT '00000000', -- deleted on
  "MUTNR"     INTEGER     NOT NULL DEFAULT 1,
  "MUTTS"     TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("VTGID"),
  CONSTRAINT "UQ_VTG_KENT" UNIQUE ("BEDRNR", "KENT"),
  CONSTRAINT "UQ_VTG_CHAS" UNIQUE ("BEDRNR", "CHAS"),
  CONSTRAINT "FK_VTG_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR"),
  CONSTRAINT "FK_VTG_LAND" FOREIGN KEY ("LANDNR") REFERENCES "LAND" ("LANDNR")
);

-- Rollen bij een voertuig. ROL: E eigenaar, B bestuurder, L leasemaatschappij,
-- W wagenparkbeheerder, D debiteur, V vorige eigenaar, A assuradeur.
CREATE TABLE "VTGREL" (
  "VTGID"     INTEGER     NOT NULL,
  "VOLGNR"    SMALLINT    NOT NULL,               -- counts per vehicle
  "BEDRNR"    SMALLINT    NOT NULL,
  "RELNR"     INTEGER     NOT NULL,
  "ROL"       CHAR(1)     NOT NULL,
  "VANDAT"    CHAR(8)     NOT NULL DEFAULT '00000000',
  "TOTDAT"    CHAR(8)     NOT NULL DEFAULT '00000000',
  PRIMARY KEY ("VTGID", "VOLGNR"),
  CONSTRAINT "FK_VTGREL_VTG" FOREIGN KEY ("VTGID") REFERENCES "VTG" ("VTGID"),
  CONSTRAINT "FK_VTGREL_REL" FOREIGN KEY ("BEDRNR", "RELNR") REFERENCES "REL" ("BEDRNR", "RELNR")
);

-- Orders. SRT: W werkplaats, V verkoop, O onderdelen, L lease.
-- STAT: C concept, O open, B bezig, G gereed, F gefactureerd, X vervallen.
-- TOTEX, TOTIN, MUTNR, MUTTS and FACTNR are kept by triggers.
CREATE TABLE "ORDKOP" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "ORDNR"     INTEGER     NOT NULL,               -- SP_NIEUWE_ORDER
  "SRT"       CHAR(1)     NOT NULL,
  "STAT"      CHAR(1)     NOT NULL DEFAULT 'C',
  "RELNR"     INTEGER     NOT NULL,
  "VTGID"     INTEGER         NULL,
  "MDWNR"     SMALLINT        NULL,
  "DATUM"     CHAR(8)     NOT NULL,
  "TIJD"      CHAR(6)     NOT NULL DEFAULT '000000',
  "AFLDAT"    CHAR(8)     NOT NULL DEFAULT '00000000',
  "AFLTIJD"   CHAR(6)     NOT NULL DEFAULT '000000',
  "KMST"      INTEGER         NULL,
  "REF"       VARCHAR(25)     NULL,
  "OMS"       TEXT            NULL,
  "FACTNR"    INTEGER     NOT NULL DEFAULT 0,     -- 0: not invoiced
  "TOTEX"     INTEGER     NOT NULL DEFAULT 0,
  "TOTIN"     INTEGER     NOT NULL DEFAULT 0,
  "AANTS"     TIMESTAMP   NOT NULL DEFAULT '0001-01-01 00:00:00',
  "MUTTS"     TIMESTAMP   NOT NULL DEFAULT '0001-01-01 00:00:00',
  "MUTNR"     INTEGER     NOT NULL DEFAULT 1,
  PRIMARY KEY ("BEDRNR", "ORDNR"),
  CONSTRAINT "FK_ORDKOP_REL" FOREIGN KEY ("BEDRNR", "RELNR") REFERENCES "REL" ("BEDRNR", "RELNR"),
  CONSTRAINT "FK_ORDKOP_VTG" FOREIGN KEY ("VTGID") REFERENCES "VTG" ("VTGID"),
  CONSTRAINT "FK_ORDKOP_MDW" FOREIGN KEY ("BEDRNR", "MDWNR") REFERENCES "MDW" ("BEDRNR", "MDWNR")
);

-- Orderregels. BEDRAG is kept by a trigger: AANT x PRIJS less KORT.
CREATE TABLE "ORDRGL" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "ORDNR"     INTEGER     NOT NULL,
  "RGLNR"     SMALLINT    NOT NULL,               -- counts per order
  "VOLG"      SMALLINT        NULL,               -- place on the invoice
  "ARTID"     INTEGER         NULL,
  "ARTNR"     CHAR(20)    NOT NULL DEFAULT '',
  "OMS"       VARCHAR(60)     NULL,
  "AANT"      DECIMAL(9,3) NOT NULL DEFAULT 1,
  "EENH"      CHAR(3)     NOT NULL DEFAULT '',
  "PRIJS"     INTEGER     NOT NULL DEFAULT 0,
  "KORT"      SMALLINT    NOT NULL DEFAULT 0,
  "OGRP"      CHAR(4)     NOT NULL,
  "MDWNR"     SMALLINT        NULL,
  "BEDRAG"    INTEGER     NOT NULL DEFAULT 0,
  PRIMARY KEY ("BEDRNR", "ORDNR", "RGLNR"),
  CONSTRAINT "FK_ORDRGL_ORDKOP" FOREIGN KEY ("BEDRNR", "ORDNR") REFERENCES "ORDKOP" ("BEDRNR", "ORDNR"),
  CONSTRAINT "FK_ORDRGL_ART" FOREIGN KEY ("ARTID") REFERENCES "ART" ("ARTID"),
  CONSTRAINT "FK_ORDRGL_OGRP" FOREIGN KEY ("BEDRNR", "OGRP") REFERENCES "OMZGRP" ("BEDRNR", "OGRP"),
  CONSTRAINT "FK_ORDRGL_MDW" FOREIGN KEY ("BEDRNR", "MDWNR") REFERENCES "MDW" ("BEDRNR", "MDWNR")
);

-- Documenten. SRT: FA factuur, OF offerte, FO foto, CO contract, OV overig.
-- ENTSRT and ENTNR: what it belongs to, ORD/REL/VTG and its number.
CREATE TABLE "DOKMT" (
  "DOKID"     CHAR(36)    NOT NULL,               -- GUID, made by who adds the row
  "BEDRNR"    SMALLINT    NOT NULL,
  "NAAM"      VARCHAR(120) NOT NULL,
  "SRT"       CHAR(2)     NOT NULL DEFAULT 'OV',
  "MIME"      VARCHAR(60)     NULL,
  "LENGTE"    INTEGER     NOT NULL DEFAULT 0,
  "INHOUD"    BYTEA           NULL,
  "ENTSRT"    CHAR(3)     NOT NULL,
  "ENTNR"     INTEGER     NOT NULL,
  "URL"       VARCHAR(200)    NULL,
  "AANTS"     TIMESTAMP   NOT NULL DEFAULT '0001-01-01 00:00:00',
  PRIMARY KEY ("DOKID"),
  CONSTRAINT "FK_DOKMT_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR")
);
CREATE INDEX "IX_DOKMT_ENT" ON "DOKMT" ("BEDRNR", "ENTSRT", "ENTNR");

-- Gebruikers. WWSRT: 1 is SHA-1 of ZOUT and password, in hexadecimal capitals;
-- 2 is bcrypt. GEBLOK is set after five wrong passwords.
CREATE TABLE "GEBRUIKER" (
  "LOGIN"     VARCHAR(20) NOT NULL,
  "BEDRNR"    SMALLINT    NOT NULL,
  "DLRNR"     CHAR(6)     NOT NULL,
  "NAAM"      VARCHAR(40) NOT NULL,
  "EMAIL"     VARCHAR(60)     NULL,
  "WWSRT"     CHAR(1)     NOT NULL DEFAULT '1',
  "WW"        VARCHAR(120) NOT NULL,
  "ZOUT"      CHAR(8)     NOT NULL DEFAULT '',
  "EXTERN"    CHAR(1)     NOT NULL DEFAULT 'N',
  "GEBLOK"    CHAR(1)     NOT NULL DEFAULT 'N',
  "POGING"    SMALLINT    NOT NULL DEFAULT 0,
  PRIMARY KEY ("LOGIN"),
  CONSTRAINT "FK_GEBRUIKER_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR")
);

-- Nummeruitgifte. SRT: REL, ORD, FAC.
CREATE TABLE "NUMMERS" (
  "BEDRNR"    SMALLINT    NOT NULL,
  "SRT"       CHAR(3)     NOT NULL,
  "LAATST"    INTEGER     NOT NULL,
  PRIMARY KEY ("BEDRNR", "SRT"),
  CONSTRAINT "FK_NUMMERS_BEDR" FOREIGN KEY ("BEDRNR") REFERENCES "BEDR" ("BEDRNR")
);

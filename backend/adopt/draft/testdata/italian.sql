-- Un'officina: nomi italiani, senza chiavi esterne.
CREATE TABLE aziende (idazienda INTEGER PRIMARY KEY, ragione_sociale VARCHAR(60) NOT NULL);
CREATE TABLE utenti (id INTEGER PRIMARY KEY, idazienda INTEGER NOT NULL, utente VARCHAR(40) NOT NULL, password VARCHAR(100), email VARCHAR(80));
CREATE TABLE anagrafica_clienti (
  idcliente INTEGER PRIMARY KEY, idazienda INTEGER NOT NULL, codice VARCHAR(20) NOT NULL, tipo CHAR(1) NOT NULL, cognome VARCHAR(60) NOT NULL, nome VARCHAR(40), partita_iva VARCHAR(20), lingua CHAR(2),
  data_nascita DATE, fornitore CHAR(1) NOT NULL DEFAULT 'N', note TEXT, bloccato CHAR(1) NOT NULL DEFAULT 'N', data_creazione DATETIME, data_modifica DATETIME);
CREATE TABLE articoli (
  idarticolo INTEGER PRIMARY KEY, idazienda INTEGER NOT NULL, codice VARCHAR(20) NOT NULL, descrizione VARCHAR(120) NOT NULL, um VARCHAR(4), prezzo_vendita DECIMAL(10,2) NOT NULL, prezzo_acquisto DECIMAL(10,2), codice_barre VARCHAR(14), giacenza DOUBLE);
CREATE TABLE veicoli (
  idveicolo INTEGER PRIMARY KEY, idazienda INTEGER NOT NULL, targa VARCHAR(12) NOT NULL, telaio CHAR(17), marca VARCHAR(30) NOT NULL, modello VARCHAR(30) NOT NULL, colore VARCHAR(20), alimentazione CHAR(1), chilometraggio INTEGER);
CREATE TABLE ordini (
  idordine INTEGER PRIMARY KEY, idazienda INTEGER NOT NULL, numero VARCHAR(20) NOT NULL, idcliente INTEGER NOT NULL, idveicolo INTEGER, stato CHAR(1) NOT NULL, data_ordine DATETIME NOT NULL, data_consegna DATETIME, imponibile DECIMAL(10,2), totale DECIMAL(10,2), numero_fattura VARCHAR(20));
CREATE TABLE righe_ordine (
  idriga INTEGER PRIMARY KEY, idordine INTEGER NOT NULL, posizione INTEGER, codice_articolo VARCHAR(20), descrizione VARCHAR(120) NOT NULL, "quantità" DECIMAL(9,3) NOT NULL, prezzo DECIMAL(10,2) NOT NULL, sconto DECIMAL(5,2), importo DECIMAL(10,2));
INSERT INTO aziende VALUES (1, 'Officina Nord'), (2, 'Officina Sud');
INSERT INTO utenti VALUES (1, 1, 'mrossi', '5f4dcc3b5aa765d61d8327deb882cf99', 'm.rossi@example.com');
INSERT INTO anagrafica_clienti VALUES (1, 1, 'C1', 'P', 'Rossi', 'Mario', NULL, 'it', '1970-01-02', 'N', NULL, 'N', '2024-01-01 10:00:00', NULL), (2, 2, 'C2', 'A', 'Ricambi SRL', NULL, 'IT1', 'it', NULL, 'S', NULL, 'N', '2024-01-01 10:00:00', NULL);
INSERT INTO veicoli VALUES (1, 1, 'AB123CD', NULL, 'Fiat', 'Panda', 'grigio', 'B', 1000), (2, 1, 'AB124CD', NULL, 'Fiat', 'Punto', 'grigio', 'D', 1000);
INSERT INTO ordini VALUES (1, 1, 'O1', 1, 1, 'B', '2024-01-01 09:00:00', NULL, 10, 12, NULL), (2, 1, 'O2', 2, NULL, 'F', '2024-01-01 09:00:00', NULL, 10, 12, 'F1');
INSERT INTO righe_ordine VALUES (1, 1, 1, 'A1', 'Olio', 1.5, 10, NULL, 15);

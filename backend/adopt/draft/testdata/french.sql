-- Un garage : des noms français, avec et sans accents, une société par dossier.
CREATE TABLE societes (id_societe INTEGER PRIMARY KEY, raison_sociale VARCHAR(60) NOT NULL);
CREATE TABLE pays (code_iso CHAR(2) PRIMARY KEY, nom VARCHAR(60) NOT NULL, indicatif VARCHAR(5));
CREATE TABLE utilisateurs (id INTEGER PRIMARY KEY, id_societe INTEGER NOT NULL REFERENCES societes (id_societe), identifiant VARCHAR(40) NOT NULL, mot_de_passe VARCHAR(100), courriel VARCHAR(80));
CREATE TABLE clients (
  num_client INTEGER PRIMARY KEY, id_societe INTEGER NOT NULL REFERENCES societes (id_societe), genre CHAR(1) NOT NULL, nom VARCHAR(60) NOT NULL, "prénom" VARCHAR(40), no_tva VARCHAR(20),
  langue CHAR(2), date_naissance DATE, delai_paiement INTEGER, fournisseur CHAR(1) NOT NULL DEFAULT 'N', remarques TEXT, "bloqué" CHAR(1) NOT NULL DEFAULT 'N', date_creation DATETIME, date_modif DATETIME);
CREATE TABLE adresses_clients (
  id INTEGER PRIMARY KEY, num_client INTEGER NOT NULL REFERENCES clients (num_client), rue VARCHAR(80) NOT NULL, code_postal VARCHAR(10) NOT NULL, ville VARCHAR(60) NOT NULL, code_pays CHAR(2) NOT NULL REFERENCES pays (code_iso));
CREATE TABLE articles (
  id INTEGER PRIMARY KEY, id_societe INTEGER NOT NULL REFERENCES societes (id_societe), "référence" VARCHAR(30) NOT NULL, "désignation" VARCHAR(120) NOT NULL, prix_vente_ht DECIMAL(10,2) NOT NULL, prix_achat DECIMAL(10,2),
  code_barres VARCHAR(14), stock DOUBLE, UNIQUE (id_societe, "référence"));
CREATE TABLE "véhicules" (
  id INTEGER PRIMARY KEY, id_societe INTEGER NOT NULL REFERENCES societes (id_societe), immatriculation VARCHAR(12) NOT NULL, marque VARCHAR(30) NOT NULL, "modèle" VARCHAR(30) NOT NULL, couleur VARCHAR(20), carburant CHAR(1), "kilométrage" INTEGER);
CREATE TABLE commandes (
  num_commande INTEGER PRIMARY KEY, id_societe INTEGER NOT NULL REFERENCES societes (id_societe), num_client INTEGER NOT NULL REFERENCES clients (num_client), id_vehicule INTEGER REFERENCES "véhicules" (id),
  statut CHAR(1) NOT NULL, date_commande DATETIME NOT NULL, date_livraison DATETIME, total_ht DECIMAL(10,2) NOT NULL DEFAULT 0, total_ttc DECIMAL(10,2) NOT NULL DEFAULT 0, no_facture VARCHAR(20), description TEXT);
CREATE TABLE lignes_commande (
  id INTEGER PRIMARY KEY, num_commande INTEGER NOT NULL REFERENCES commandes (num_commande), rang INTEGER, ref_article VARCHAR(30), "libellé" VARCHAR(120) NOT NULL, "quantité" DECIMAL(9,3) NOT NULL, prix_unitaire DECIMAL(10,2) NOT NULL, remise DECIMAL(5,2), montant DECIMAL(10,2));
INSERT INTO societes VALUES (1, 'Garage du Nord'), (2, 'Garage du Sud');
INSERT INTO pays VALUES ('FR', 'France', '+33'), ('BE', 'Belgique', '+32');
INSERT INTO utilisateurs VALUES (1, 1, 'jdupont', '$2y$10$abcdefghijklmnopqrstuvabcdefghijklmnopqrstuvwxyzabcde', 'j.dupont@example.com');
INSERT INTO clients VALUES (1, 1, 'P', 'Dupont', 'Jean', NULL, 'fr', '1970-01-02', 30, 'N', NULL, 'N', '2024-01-01 10:00:00', NULL), (2, 2, 'E', 'Pièces SA', NULL, 'FR1', 'fr', NULL, 60, 'O', NULL, 'N', '2024-01-01 10:00:00', NULL);
INSERT INTO "véhicules" VALUES (1, 1, 'AB-123-CD', 'Renault', 'Clio', 'gris', 'E', 1000), (2, 1, 'AB-124-CD', 'Peugeot', '208', 'gris', 'D', 1000);
INSERT INTO commandes VALUES (1, 1, 1, 1, 'B', '2024-01-01 09:00:00', NULL, 10, 12, NULL, NULL), (2, 1, 1, NULL, 'F', '2024-01-01 09:00:00', NULL, 10, 12, 'F1', NULL);
INSERT INTO lignes_commande VALUES (1, 1, 1, 'A1', 'Huile', 1.5, 10, NULL, 15);

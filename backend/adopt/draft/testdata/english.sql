-- A workshop's administration in English, lower case, without foreign keys.
CREATE TABLE companies (company_id INTEGER PRIMARY KEY, name VARCHAR(60) NOT NULL);
CREATE TABLE tbl_customers (
  customer_id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, customer_type CHAR(1) NOT NULL, last_name VARCHAR(80) NOT NULL, first_name VARCHAR(40),
  vat_no VARCHAR(20), lang CHAR(2), date_of_birth DATE, is_supplier CHAR(1) NOT NULL DEFAULT 'N', remarks TEXT, blocked CHAR(1) NOT NULL DEFAULT 'N',
  deleted CHAR(1) NOT NULL DEFAULT 'N', created_on DATETIME, updated_on DATETIME, row_version INTEGER NOT NULL DEFAULT 1);
CREATE TABLE tbl_vehicles (
  vehicle_id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, reg_no VARCHAR(15) NOT NULL, vin CHAR(17), make VARCHAR(30) NOT NULL, model VARCHAR(30) NOT NULL,
  colour VARCHAR(20), fuel_type CHAR(1), odometer INTEGER, sales_price DECIMAL(10,2), purchase_price DECIMAL(10,2), notes TEXT, create_uid INTEGER, UNIQUE (company_id, reg_no));
CREATE TABLE tbl_orders (
  order_id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, customer_id INTEGER NOT NULL, vehicle_id INTEGER, order_type CHAR(1) NOT NULL, status CHAR(1) NOT NULL,
  order_date DATETIME NOT NULL, mileage INTEGER, description TEXT, invoice_no VARCHAR(20), total_net DECIMAL(10,2) NOT NULL DEFAULT 0, total_gross DECIMAL(10,2) NOT NULL DEFAULT 0);
CREATE TABLE tbl_order_lines (
  order_line_id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, seq INTEGER, item_code VARCHAR(30), description VARCHAR(100) NOT NULL,
  qty DECIMAL(9,2) NOT NULL, unit_price DECIMAL(10,2) NOT NULL, discount_pct DECIMAL(5,2), line_total DECIMAL(10,2));
INSERT INTO companies VALUES (1, 'North Garage'), (2, 'South Garage');
INSERT INTO tbl_customers VALUES
 (1, 1, 'P', 'Smith', 'Ann', NULL, 'en', '1970-01-02', 'N', NULL, 'N', 'N', '2020-01-01 10:00:00', NULL, 1),
 (2, 1, 'C', 'Parts Ltd', NULL, 'GB1', 'en', NULL, 'Y', NULL, 'N', 'N', '2020-01-01 10:00:00', NULL, 1);
INSERT INTO tbl_vehicles VALUES (1, 1, 'AB12 CDE', 'WVWZZZ1KZAW000001', 'VW', 'Golf', 'grey', 'P', 1000, 100.50, NULL, NULL, 1), (2, 2, 'XY12 CDE', NULL, 'VW', 'Up', 'red', 'D', 1000, 100.50, NULL, NULL, 1);
INSERT INTO tbl_orders VALUES (1, 1, 1, 1, 'W', 'O', '2024-01-01 09:00:00', 1200, NULL, NULL, 10, 12), (2, 1, 2, NULL, 'S', 'I', '2024-01-01 09:00:00', NULL, NULL, 'F1', 10, 12);
INSERT INTO tbl_order_lines VALUES (1, 1, 1, 'A1', 'Oil', 1, 10, NULL, 10);

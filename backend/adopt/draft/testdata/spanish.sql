-- Un taller: nombres españoles, una empresa por clave.
CREATE TABLE empresas (idempresa INTEGER PRIMARY KEY, nombre VARCHAR(60) NOT NULL);
CREATE TABLE usuarios (id INTEGER PRIMARY KEY, idempresa INTEGER NOT NULL REFERENCES empresas (idempresa), usuario VARCHAR(40) NOT NULL, "contraseña" VARCHAR(100), correo VARCHAR(80));
CREATE TABLE clientes (
  idempresa INTEGER NOT NULL REFERENCES empresas (idempresa), codcliente INTEGER NOT NULL, tipo CHAR(1) NOT NULL, apellidos VARCHAR(60) NOT NULL, nombre VARCHAR(40), cif VARCHAR(20), idioma CHAR(2),
  fecha_nacimiento DATE, dias_pago INTEGER, proveedor CHAR(1) NOT NULL DEFAULT 'N', observaciones TEXT, bloqueado CHAR(1) NOT NULL DEFAULT 'N', fecha_alta DATETIME, PRIMARY KEY (idempresa, codcliente));
CREATE TABLE articulos (
  idempresa INTEGER NOT NULL REFERENCES empresas (idempresa), codarticulo VARCHAR(20) NOT NULL, "descripción" VARCHAR(120) NOT NULL, precio_venta DECIMAL(10,2) NOT NULL, precio_compra DECIMAL(10,2), codigo_barras VARCHAR(14), existencias DOUBLE,
  PRIMARY KEY (idempresa, codarticulo));
CREATE TABLE "vehículos" (
  idvehiculo INTEGER PRIMARY KEY, idempresa INTEGER NOT NULL REFERENCES empresas (idempresa), "matrícula" VARCHAR(12) NOT NULL, bastidor CHAR(17), marca VARCHAR(30) NOT NULL, modelo VARCHAR(30) NOT NULL, color VARCHAR(20), combustible CHAR(1), kilometros INTEGER);
CREATE TABLE pedidos (
  idempresa INTEGER NOT NULL, numpedido INTEGER NOT NULL, codcliente INTEGER NOT NULL, idvehiculo INTEGER REFERENCES "vehículos" (idvehiculo), estado CHAR(1) NOT NULL, fecha_pedido DATE NOT NULL, fecha_entrega DATE,
  neto DECIMAL(10,2), total DECIMAL(10,2), num_factura VARCHAR(20), PRIMARY KEY (idempresa, numpedido), FOREIGN KEY (idempresa, codcliente) REFERENCES clientes (idempresa, codcliente));
CREATE TABLE "líneas_pedido" (
  idempresa INTEGER NOT NULL, numpedido INTEGER NOT NULL, "línea" INTEGER NOT NULL, referencia VARCHAR(20), descripcion VARCHAR(120) NOT NULL, cantidad DECIMAL(9,3) NOT NULL, precio_unitario DECIMAL(10,2) NOT NULL, dto DECIMAL(5,2), importe DECIMAL(10,2),
  PRIMARY KEY (idempresa, numpedido, "línea"), FOREIGN KEY (idempresa, numpedido) REFERENCES pedidos (idempresa, numpedido));
INSERT INTO empresas VALUES (1, 'Taller Norte'), (2, 'Taller Sur');
INSERT INTO usuarios VALUES (1, 1, 'ana', '$2y$10$abcdefghijklmnopqrstuvabcdefghijklmnopqrstuvwxyzabcde', 'ana@example.com');
INSERT INTO clientes VALUES (1, 1, 'P', 'Ruiz', 'Ana', NULL, 'es', '1970-01-02', 30, 'N', NULL, 'N', '2024-01-01 10:00:00'), (1, 2, 'E', 'Recambios SA', NULL, 'B1', 'es', NULL, 60, 'S', NULL, 'N', '2024-01-01 10:00:00');
INSERT INTO "vehículos" VALUES (1, 1, '1234 ABC', NULL, 'Seat', 'Ibiza', 'gris', 'G', 1000), (2, 1, '1235 ABC', NULL, 'Seat', 'Leon', 'gris', 'D', 1000);
INSERT INTO pedidos VALUES (1, 1, 1, 1, 'B', '2024-01-01', NULL, 10, 12, NULL), (1, 2, 2, NULL, 'F', '2024-01-01', NULL, 10, 12, 'F1');
INSERT INTO "líneas_pedido" VALUES (1, 1, 1, 'A1', 'Aceite', 1.5, 10, NULL, 15);

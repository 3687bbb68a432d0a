-- Run by the image of PostgreSQL when it makes a new cluster: a user that owns frontdesk's
-- database and is nothing more.
\getenv password FRONTDESK_PASSWORD
CREATE ROLE frontdesk LOGIN PASSWORD :'password';
CREATE DATABASE frontdesk OWNER frontdesk;

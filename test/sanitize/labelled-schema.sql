-- Some 200 columns as they are met in the field, in several languages and habits of naming. The comment at the end of a
-- line says what the column holds: `-- personal: KIND`; a column without one holds nothing personal. The labels were
-- written before the detector, and are what its recall and precision are measured against. All values are invented.

CREATE SCHEMA make;

CREATE FUNCTION make.number(i bigint, purpose text, below bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN (('x' || substr(md5(i || purpose), 1, 15))::bit(60)::bigint) % below;
CREATE FUNCTION make.digits(i bigint, purpose text, length int) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN lpad(make.number(i, purpose, (10 ^ least(length, 15))::bigint)::text, length, '7');
CREATE FUNCTION make.pick(i bigint, purpose text, choices text[]) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN choices[1 + make.number(i, purpose, cardinality(choices))];
CREATE FUNCTION make.first(i bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN make.pick(i, 'first', ARRAY['Anna', 'Paul', 'Sofia', 'Jan', 'Marie', 'Luca', 'Emma', 'Pedro', 'Katarzyna', 'Thomas', 'Julia', 'Hiroshi']);
CREATE FUNCTION make.last(i bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN make.pick(i, 'last', ARRAY['Schmidt', 'Martin', 'Rossi', 'Nowak', 'de Vries', 'Silva', 'Fernández', 'Sato', 'Jones', 'Virtanen']);
CREATE FUNCTION make.iban(i bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN (WITH account AS (SELECT '20041010' || make.digits(i, 'iban', 10) AS bban)
    SELECT 'DE' || lpad((98 - (bban || '131400')::numeric % 97)::text, 2, '0') || bban FROM account);
CREATE FUNCTION make.card(i bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN (WITH digits AS (SELECT '5' || (1 + i % 5) || make.digits(i, 'card', 13) AS known),
    sums AS (SELECT known, sum(CASE WHEN p % 2 = 0 THEN d WHEN d > 4 THEN d * 2 - 9 ELSE d * 2 END) AS total
      FROM digits, LATERAL (SELECT p, substr(known, p, 1)::int AS d FROM generate_series(1, 15) p) x GROUP BY known)
    SELECT known || (10 - total % 10) % 10 FROM sums);
CREATE FUNCTION make.words(i bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN make.pick(i, 'w1', ARRAY['Please', 'We', 'The box', 'It']) || ' ' || make.pick(i, 'w2', ARRAY['arrived', 'works', 'broke', 'fits']) || ' ' || make.pick(i, 'w3', ARRAY['well', 'late', 'today', 'again']);

-- An application in English, as frameworks write it.
CREATE TABLE users (
  id bigint PRIMARY KEY,
  uuid uuid NOT NULL,
  username text NOT NULL UNIQUE, -- personal: login
  email varchar(120) NOT NULL UNIQUE, -- personal: email
  email_verified_at timestamptz,
  encrypted_password text NOT NULL, -- personal: secret
  reset_password_token text, -- personal: secret
  given_name text, -- personal: name
  family_name text, -- personal: name
  display_name text, -- personal: name
  mobile text, -- personal: phone
  dob date, -- personal: birth_date
  gender text, -- personal: sensitive
  locale text NOT NULL,
  timezone text NOT NULL,
  avatar_url text, -- personal: photo
  sign_in_count integer NOT NULL,
  current_sign_in_ip inet, -- personal: ip_address
  last_sign_in_ip text, -- personal: ip_address
  role text NOT NULL,
  status text NOT NULL,
  plan text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
INSERT INTO users SELECT i, md5('u' || i)::uuid, lower(make.first(i)) || i, lower(make.first(i)) || i || '@example.com', now(),
  '$2b$12$' || md5('p' || i) || substr(md5('q' || i), 1, 21), md5('reset' || i), make.first(i), make.last(i),
  make.first(i) || ' ' || make.last(i), '+44 7700 9' || make.digits(i, 'm', 5), date '1960-01-01' + i * 97,
  make.pick(i, 'g', ARRAY['f', 'm', 'x']), make.pick(i, 'loc', ARRAY['en-GB', 'de-DE', 'fr-FR']), make.pick(i, 'tz', ARRAY['Europe/Berlin', 'America/New_York']),
  'https://cdn.example.com/avatars/' || i || '.jpg', i, ('198.51.100.' || i)::inet, '203.0.113.' || i, make.pick(i, 'r', ARRAY['admin', 'member']),
  make.pick(i, 's', ARRAY['active', 'locked']), make.pick(i, 'pl', ARRAY['free', 'pro']), now(), now() FROM generate_series(1, 80) i;

CREATE TABLE user_identities (
  id bigint PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users,
  provider text NOT NULL,
  provider_uid text NOT NULL, -- personal: login
  access_token text, -- personal: secret
  refresh_token text, -- personal: secret
  token_type text,
  scopes text[],
  expires_at timestamptz
);
INSERT INTO user_identities SELECT i, i, make.pick(i, 'prov', ARRAY['google', 'github']), make.digits(i, 'uid', 21), 'ya29.' || md5('a' || i), '1//' || md5('r' || i),
  'Bearer', ARRAY['openid', 'profile'], now() FROM generate_series(1, 80) i;

CREATE TABLE sessions (
  session_key text PRIMARY KEY, -- personal: secret
  payload jsonb NOT NULL, -- personal: email
  remote_addr text, -- personal: ip_address
  useragent text, -- personal: device
  last_activity integer
);
INSERT INTO sessions SELECT md5('s' || i), jsonb_build_object('user', lower(make.first(i)) || i || '@example.com', 'theme', 'dark'), '192.0.2.' || i,
  'Mozilla/5.0 (X11; Linux x86_64) ' || i, i FROM generate_series(1, 80) i;

CREATE TABLE credit_cards (
  id integer PRIMARY KEY,
  cardholder text NOT NULL, -- personal: name
  pan text NOT NULL, -- personal: card
  last4 char(4) NOT NULL, -- personal: card
  brand text NOT NULL,
  exp_month smallint NOT NULL, -- personal: card
  exp_year smallint NOT NULL, -- personal: card
  cvv text -- personal: card
);
INSERT INTO credit_cards SELECT i, upper(make.first(i) || ' ' || make.last(i)), make.card(i), right(make.card(i), 4), 'mastercard', 1 + i % 12, 2027 + i % 5, make.digits(i, 'cvv', 3)
FROM generate_series(1, 80) i;

CREATE TABLE products (
  id integer PRIMARY KEY,
  name text NOT NULL,
  title text NOT NULL,
  slug text NOT NULL,
  description text,
  ean text NOT NULL,
  isbn text,
  sku varchar(20) NOT NULL,
  price numeric(10, 2),
  currency char(3),
  weight numeric,
  color text,
  stock integer,
  image_url text,
  version text,
  released date,
  manufacturer text,
  part_number text NOT NULL,
  hs_code text,
  checksum text
);
INSERT INTO products SELECT i, 'Lamp ' || i, 'A lamp ' || i, 'lamp-' || i, make.words(i), '40' || make.digits(i, 'ean', 11), '978' || make.digits(i, 'isbn', 10), 'L-' || i, i, 'EUR', i / 10.0,
  make.pick(i, 'c', ARRAY['red', 'green']), i, 'https://cdn.example.com/p/' || i || '.png', '1.' || i || '.0.' || i % 7, date '2020-01-01' + i, make.pick(i, 'man', ARRAY['Acme', 'Globex']),
  make.digits(i, 'part', 9), make.digits(i, 'hs', 8), md5('c' || i) FROM generate_series(1, 80) i;

CREATE TABLE purchase_orders (
  id integer PRIMARY KEY,
  number text NOT NULL,
  order_date date NOT NULL,
  total numeric(12, 2),
  tax numeric(12, 2),
  currency char(3),
  ship_to_name text, -- personal: name
  ship_to_address1 text, -- personal: address
  ship_to_zip text, -- personal: address
  ship_to_city text, -- personal: address
  ship_to_country char(2),
  customer_note text, -- personal: free_text
  tracking_number text,
  invoice_number bigint
);
INSERT INTO purchase_orders SELECT i, 'PO-' || i, date '2024-01-01' + i, i, i * 0.2, 'EUR', make.first(i) || ' ' || make.last(i), i || ' Station Road', make.digits(i, 'z', 5),
  make.pick(i, 'city', ARRAY['Leeds', 'York']), 'GB', 'Call ' || make.first(i) || ' on +44 7700 9' || make.digits(i, 'n', 5) || ' please', '1Z' || md5('t' || i), 500000 + i FROM generate_series(1, 80) i;

CREATE TABLE audit_events (
  id bigint PRIMARY KEY,
  occurred_at timestamptz,
  event_name text,
  actor_email text, -- personal: email
  table_name text,
  column_name text,
  old_value text, -- personal: email
  request_id uuid,
  host_name text,
  file_name text,
  line_number integer,
  duration_ms integer,
  source_ip text -- personal: ip_address
);
INSERT INTO audit_events SELECT i, now(), make.pick(i, 'e', ARRAY['login', 'logout']), lower(make.first(i)) || i || '@example.org', 'users', 'email', 'old' || i || '@example.org', md5('x' || i)::uuid,
  'web-' || i % 3, 'app/models/user.rb', i, i, '2001:db8::' || i FROM generate_series(1, 80) i;

CREATE TABLE app_settings (key text PRIMARY KEY, value text, description text,
  smtp_password text, -- personal: secret
  stripe_secret_key text, -- personal: secret
  webhook_url text,
  private_key text, -- personal: secret
  max_retries integer
);
INSERT INTO app_settings SELECT 'setting.' || i, make.pick(i, 'v', ARRAY['on', 'off', '42']), make.words(i), md5('pw' || i), 'sk_live_' || md5('k' || i), 'https://hooks.example.com/' || i,
  E'-----BEGIN PRIVATE KEY-----\nMIIE' || md5('pk' || i) || E'\n-----END PRIVATE KEY-----', 3 FROM generate_series(1, 40) i;

-- An insurer, in German.
CREATE SCHEMA versicherung;
CREATE TABLE versicherung.kunde (
  kundennummer integer PRIMARY KEY,
  anrede text, -- personal: sensitive
  vorname text NOT NULL, -- personal: name
  nachname text NOT NULL, -- personal: name
  geburtsdatum date, -- personal: birth_date
  geburtsort text, -- personal: address
  strasse text, -- personal: address
  hausnummer text, -- personal: address
  plz char(5), -- personal: address
  ort text, -- personal: address
  telefon text, -- personal: phone
  handynummer text, -- personal: phone
  steuer_id text, -- personal: national_id
  staatsangehoerigkeit text, -- personal: sensitive
  religion text, -- personal: sensitive
  kundentyp text,
  angelegt_am timestamptz,
  aktiv boolean
);
INSERT INTO versicherung.kunde SELECT i, make.pick(i, 'a', ARRAY['Herr', 'Frau']), make.first(i), make.last(i), date '1950-05-05' + i * 111, make.pick(i, 'o', ARRAY['Köln', 'Ulm']),
  make.pick(i, 'str', ARRAY['Hauptstraße', 'Am Markt']), (1 + i % 90)::text, make.digits(i, 'plz', 5), make.pick(i, 'ort', ARRAY['Köln', 'Ulm']), '0221 ' || make.digits(i, 'tel', 7),
  '0171' || make.digits(i, 'handy', 7), make.digits(i, 'steuer', 11), 'deutsch', make.pick(i, 'rel', ARRAY['ev', 'rk', '-']), make.pick(i, 'kt', ARRAY['privat', 'firma']), now(), true FROM generate_series(1, 80) i;

CREATE TABLE versicherung.vertrag (
  vertragsnummer text PRIMARY KEY,
  kundennummer integer REFERENCES versicherung.kunde,
  produkt text,
  bezeichnung text,
  beginn date,
  ablaufdatum date,
  beitrag numeric(10, 2),
  kontoinhaber text, -- personal: name
  kontonummer text, -- personal: iban
  zahlungsweise text,
  sachbearbeiter text, -- personal: name
  bemerkung text, -- personal: free_text
  status_code integer
);
INSERT INTO versicherung.vertrag SELECT 'V' || i, i, 'Hausrat', 'Hausratversicherung Plus', date '2020-01-01' + i, date '2030-01-01' + i, i, make.first(i) || ' ' || make.last(i), make.iban(i),
  make.pick(i, 'zw', ARRAY['monatlich', 'jährlich']), make.first(i + 9) || ' ' || make.last(i + 9), 'Rückruf unter ' || lower(make.last(i)) || i || '@example.de', i % 4 FROM generate_series(1, 80) i;

CREATE TABLE versicherung.schaden (
  id integer PRIMARY KEY, vertragsnummer text, schadentag date, schadenort text, hoehe numeric,
  diagnose text, -- personal: sensitive
  kennzeichen text, -- personal: vehicle
  fahrgestellnummer text, -- personal: vehicle
  gutachten bytea
);
INSERT INTO versicherung.schaden SELECT i, 'V' || i, date '2024-01-01' + i, 'Parkplatz', i * 10, make.pick(i, 'd', ARRAY['S52.5', 'M54.4']), 'K-AB ' || make.digits(i, 'kz', 3), 'WVWZZZ1JZXW' || make.digits(i, 'fin', 6), decode(md5(i::text), 'hex')
FROM generate_series(1, 80) i;

-- A clinic, in French; a school, in Spanish and Portuguese; payroll, in Polish, Dutch and Italian.
CREATE SCHEMA clinique;
CREATE TABLE clinique.patient (
  id integer PRIMARY KEY,
  prenom text, -- personal: name
  nom text, -- personal: name
  nom_jeune_fille text, -- personal: name
  date_naissance date, -- personal: birth_date
  lieu_naissance text, -- personal: address
  sexe char(1), -- personal: sensitive
  courriel text, -- personal: email
  tel_portable text, -- personal: phone
  adresse text, -- personal: address
  code_postal text, -- personal: address
  ville text, -- personal: address
  numero_securite_sociale text, -- personal: national_id
  groupe_sanguin text, -- personal: sensitive
  medecin_traitant text, -- personal: name
  cree_le timestamptz,
  chambre text,
  lit integer
);
INSERT INTO clinique.patient SELECT i, make.first(i), make.last(i), make.last(i + 3), date '1940-02-02' + i * 123, make.pick(i, 'l', ARRAY['Nantes', 'Dijon']), make.pick(i, 'sx', ARRAY['F', 'M']),
  lower(make.last(i)) || i || '@example.fr', '06 ' || make.digits(i, 'p1', 2) || ' ' || make.digits(i, 'p2', 2) || ' ' || make.digits(i, 'p3', 2) || ' ' || make.digits(i, 'p4', 2), i || ' rue des Lilas',
  make.digits(i, 'cp', 5), make.pick(i, 'v', ARRAY['Nantes', 'Dijon']), '1' || make.digits(i, 'nss', 14), make.pick(i, 'gs', ARRAY['A+', 'O-']), 'Dr ' || make.last(i), now(), 'B' || i % 20, i % 4 FROM generate_series(1, 80) i;

CREATE TABLE clinique.examen (id integer PRIMARY KEY, patient_id integer REFERENCES clinique.patient, nom_examen text, code_acte text, libelle text, prix numeric, date_examen date, appareil text,
  resultat text -- personal: sensitive
);
INSERT INTO clinique.examen SELECT i, i, make.pick(i, 'ex', ARRAY['Radio', 'IRM']), 'ZZQ' || i, make.words(i), i, date '2025-01-01' + i, 'Siemens ' || i % 4, make.words(i) FROM generate_series(1, 80) i;

CREATE SCHEMA escuela;
CREATE TABLE escuela.alumno (
  matricula integer PRIMARY KEY,
  nombre text, -- personal: name
  apellidos text, -- personal: name
  correo_electronico text, -- personal: email
  fecha_nacimiento date, -- personal: birth_date
  telefono text, -- personal: phone
  direccion text, -- personal: address
  dni text, -- personal: national_id
  curso text,
  nota_media numeric(4, 2),
  grupo text
);
INSERT INTO escuela.alumno SELECT i, make.first(i), make.last(i), 'alumno' || i || '@example.es', date '2008-01-01' + i * 7, '6' || make.digits(i, 'tf', 8), 'Calle Mayor ' || i,
  make.digits(i, 'dni', 8) || substr('TRWAGMYFPDXBNJZSQVHLCKE', 1 + (make.digits(i, 'dni', 8)::int % 23), 1), make.pick(i, 'cu', ARRAY['1A', '2B']), i % 10, 'G' || i % 3 FROM generate_series(1, 80) i;

CREATE TABLE escuela.professor (
  id integer PRIMARY KEY,
  nome_completo text, -- personal: name
  cpf text, -- personal: national_id
  data_nascimento date, -- personal: birth_date
  endereco text, -- personal: address
  cep text, -- personal: address
  celular text, -- personal: phone
  disciplina text,
  salario numeric(10, 2) -- personal: finance
);
INSERT INTO escuela.professor SELECT i, make.first(i) || ' ' || make.last(i), make.digits(i, 'cpf', 11), date '1970-01-01' + i * 31, 'Rua Direita ' || i, make.digits(i, 'cep', 8), '9' || make.digits(i, 'cel', 8),
  make.pick(i, 'di', ARRAY['História', 'Física']), 3000 + i FROM generate_series(1, 80) i;

CREATE SCHEMA payroll;
CREATE TABLE payroll.pracownik (
  id integer PRIMARY KEY,
  imie text, -- personal: name
  nazwisko text, -- personal: name
  pesel text, -- personal: national_id
  adres_zamieszkania text, -- personal: address
  kod_pocztowy text, -- personal: address
  miejscowosc text, -- personal: address
  nr_telefonu text, -- personal: phone
  wynagrodzenie numeric(10, 2), -- personal: finance
  rachunek_bankowy text, -- personal: iban
  stanowisko text,
  dzial text
);
INSERT INTO payroll.pracownik SELECT i, make.first(i), make.last(i), make.digits(i, 'pesel', 11), 'ul. Długa ' || i, '00-' || make.digits(i, 'kp', 3), make.pick(i, 'mi', ARRAY['Gdańsk', 'Łódź']), '+48 600 ' || make.digits(i, 'nt', 6),
  5000 + i, make.iban(i + 500), make.pick(i, 'st', ARRAY['księgowy', 'kierowca']), 'IT' FROM generate_series(1, 80) i;

CREATE TABLE payroll.werknemer (
  personeelsnummer integer PRIMARY KEY,
  voornaam text, -- personal: name
  achternaam text, -- personal: name
  geboortedatum date, -- personal: birth_date
  bsn text, -- personal: national_id
  straatnaam text, -- personal: address
  woonplaats text, -- personal: address
  functie text,
  uurloon numeric(8, 2), -- personal: finance
  in_dienst date
);
INSERT INTO payroll.werknemer SELECT i, make.first(i), make.last(i), date '1980-01-01' + i * 17, make.digits(i, 'bsn', 9), 'Dorpsstraat', make.pick(i, 'wp', ARRAY['Utrecht', 'Delft']), make.pick(i, 'fu', ARRAY['chauffeur', 'monteur']), 20 + i, date '2015-01-01' + i
FROM generate_series(1, 80) i;

CREATE TABLE payroll.dipendente (
  id integer PRIMARY KEY,
  cognome text, -- personal: name
  codice_fiscale text, -- personal: national_id
  indirizzo text, -- personal: address
  cap char(5), -- personal: address
  comune text, -- personal: address
  stipendio numeric(10, 2), -- personal: finance
  reparto text,
  livello integer
);
INSERT INTO payroll.dipendente SELECT i, make.last(i), 'RSSMRA' || make.digits(i, 'cf1', 2) || 'A' || make.digits(i, 'cf2', 2) || 'H501' || 'X', 'Via Roma ' || i, make.digits(i, 'cap', 5), make.pick(i, 'co', ARRAY['Lucca', 'Bari']), 2000 + i,
  make.pick(i, 're', ARRAY['vendite', 'acquisti']), i % 5 FROM generate_series(1, 80) i;

-- Nothing about people here, whatever the names sound like.
CREATE TABLE devices (id integer PRIMARY KEY, device_name text, model text, firmware_version text, battery_level integer, last_seen timestamptz,
  mac_address macaddr, -- personal: device
  imei text, -- personal: device
  latitude numeric(9, 6), -- personal: location
  longitude numeric(9, 6) -- personal: location
);
INSERT INTO devices SELECT i, 'Sensor ' || i, 'X' || i % 4, '10.' || i % 9 || '.3.1', i % 100, now(), ('08:00:2b:01:02:' || lpad(to_hex(i), 2, '0'))::macaddr,
  (WITH k AS (SELECT '35' || make.digits(i, 'imei', 12) AS known), s AS (SELECT known, sum(CASE WHEN p % 2 = 1 THEN d WHEN d > 4 THEN d * 2 - 9 ELSE d * 2 END) AS total
    FROM k, LATERAL (SELECT p, substr(known, p, 1)::int AS d FROM generate_series(1, 14) p) x GROUP BY known) SELECT known || (10 - total % 10) % 10 FROM s),
  48 + i / 100.0, 9 + i / 100.0 FROM generate_series(1, 80) i;

CREATE TABLE countries (iso2 char(2) PRIMARY KEY, name text, capital text, phone_code text, currency_name text, population bigint);
INSERT INTO countries SELECT chr(65 + i / 26) || chr(65 + i % 26), 'Country ' || i, 'Capital ' || i, '+' || i, 'Crown', i * 100000 FROM generate_series(1, 80) i;

CREATE TABLE branches (id integer PRIMARY KEY, branch_name text, city text, opened date, opening_hours text, region text, surface_m2 numeric);
INSERT INTO branches SELECT i, 'Branch ' || i, make.pick(i, 'bc', ARRAY['Oslo', 'Bergen']), date '2000-01-01' + i, '9-17', 'North', i FROM generate_series(1, 40) i;

CREATE TABLE jobs (id bigint PRIMARY KEY, queue_name text, class_name text, arguments jsonb, attempts integer, run_at timestamptz, last_error text, locked_by text);
INSERT INTO jobs SELECT i, 'default', 'ExportJob', jsonb_build_object('page', i), i % 3, now(), CASE WHEN i % 3 = 0 THEN 'timeout after ' || i END, 'worker-' || i % 4 FROM generate_series(1, 80) i;

CREATE TABLE translations (id integer PRIMARY KEY, language text, message_key text, content text, plural_form text);
INSERT INTO translations SELECT i, make.pick(i, 'la', ARRAY['de', 'fr']), 'label.' || i, make.words(i), 'other' FROM generate_series(1, 80) i;

DROP SCHEMA make CASCADE;

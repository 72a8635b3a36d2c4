-- A small shop, for `tool demo`: two schemas, some 25 tables and 200,000 rows, the same ones each time.
--
-- Every value is made from its row's number by a hash, so nothing depends on the day, the machine or the time zone.
-- All of it is invented.

SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET search_path = public;

-- ---------------------------------------------------------------- helpers, dropped at the end

CREATE SCHEMA make;

-- Bodies are texts: PostgreSQL 13 knows no others.

-- A number from 0 to `below - 1` that depends on the row and the purpose only.
CREATE FUNCTION make.number(row_number bigint, purpose text, below bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT (('x' || substr(md5(row_number || purpose), 1, 15))::bit(60)::bigint) % below $$;

CREATE FUNCTION make.pick(row_number bigint, purpose text, choices text[]) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT choices[1 + make.number(row_number, purpose, cardinality(choices))] $$;

CREATE FUNCTION make.first_name(row_number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT make.pick(row_number, 'first name', ARRAY['Ada', 'Zoë', 'Jürgen', 'Łukasz', 'María', 'Ngọc', 'Øyvind', 'Chloé',
    'Ahmed', 'Yuki', 'Иван', 'Ελένη', 'José', 'Aoife', 'Sven', 'Fatima', 'Lars', 'Priya', 'Tomás', 'Ingrid']) $$;

CREATE FUNCTION make.last_name(row_number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT make.pick(row_number, 'last name', ARRAY['Lovelace', 'Müller', 'O''Brien', 'Kowalski', 'García', 'Nguyễn', 'Hansen',
    'Dubois', 'Hassan', 'Tanaka', 'Петров', 'Παππάς', 'da Silva', 'van Dijk', 'Lindqvist', 'Rossi', 'Sharma', 'Novák']) $$;

-- The last digit of a card number, by Luhn.
CREATE FUNCTION make.card_number(row_number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT (WITH digits AS (
      SELECT '4' || lpad(make.number(row_number, 'card', 100000000000000)::text, 14, '0') AS known
    ), sums AS (
      SELECT known, sum(CASE WHEN position % 2 = 0 THEN digit
        WHEN digit > 4 THEN digit * 2 - 9 ELSE digit * 2 END) AS total
      FROM digits, LATERAL (SELECT p AS position, substr(known, p, 1)::int AS digit FROM generate_series(1, 15) p) d GROUP BY known
    ) SELECT known || (10 - total % 10) % 10 FROM sums) $$;

-- A German IBAN with its check digits (98 minus the number modulo 97; D is 13, E is 14).
CREATE FUNCTION make.iban(row_number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT (WITH account AS (SELECT '50010517' || lpad(make.number(row_number, 'iban', 10000000000)::text, 10, '0') AS bban)
    SELECT 'DE' || lpad((98 - (bban || '131400')::numeric % 97)::text, 2, '0') || bban FROM account) $$;

-- ---------------------------------------------------------------- types

CREATE EXTENSION citext WITH SCHEMA public;

CREATE TYPE order_status AS ENUM ('placed', 'paid', 'sent', 'returned', 'cancelled');
CREATE DOMAIN postcode AS text CHECK (length(VALUE) BETWEEN 3 AND 10);
CREATE TYPE dimensions AS (width numeric, height numeric, depth numeric);

-- ---------------------------------------------------------------- people

CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL, flag text NOT NULL);
INSERT INTO country VALUES ('DE', 'Deutschland', '🇩🇪'), ('FR', 'France', '🇫🇷'), ('PL', 'Polska', '🇵🇱'), ('JP', '日本', '🇯🇵'),
  ('GB', 'United Kingdom', '🇬🇧'), ('ES', 'España', '🇪🇸'), ('GR', 'Ελλάδα', '🇬🇷'), ('US', 'United States', '🇺🇸');

CREATE TABLE customer (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  first_name text NOT NULL,
  last_name text NOT NULL,
  full_name text GENERATED ALWAYS AS (first_name || ' ' || last_name) STORED,
  email citext NOT NULL UNIQUE,
  phone text,
  birth_date date,
  national_id text,
  country char(2) NOT NULL REFERENCES country,
  referred_by integer REFERENCES customer,
  preferences jsonb NOT NULL DEFAULT '{}',
  registered timestamptz NOT NULL
);
INSERT INTO customer (first_name, last_name, email, phone, birth_date, national_id, country, referred_by, preferences, registered)
SELECT make.first_name(i), make.last_name(i), 'customer' || i || '@' || make.pick(i, 'host', ARRAY['example.com', 'example.org', 'mail.test']),
  '+49 30 ' || lpad(make.number(i, 'phone', 10000000)::text, 7, '0'),
  date '1950-01-01' + make.number(i, 'birth', 20000)::int,
  CASE WHEN i % 3 = 0 THEN lpad(make.number(i, 'national', 10000000000)::text, 11, '0') END,
  make.pick(i, 'country', ARRAY['DE', 'DE', 'DE', 'FR', 'PL', 'JP', 'GB', 'ES', 'GR', 'US']),
  CASE WHEN i % 5 = 0 THEN i / 5 END,
  jsonb_build_object('newsletter', i % 2 = 0, 'theme', make.pick(i, 'theme', ARRAY['light', 'dark'])),
  timestamptz '2023-01-01' + i * interval '97 minutes'
FROM generate_series(1, 12000) i;
COMMENT ON COLUMN customer.referred_by IS 'Who brought them; the first of a family was brought by nobody';

CREATE TABLE customer_address (
  customer_id integer NOT NULL REFERENCES customer ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('billing', 'delivery')),
  street text NOT NULL,
  postcode postcode NOT NULL,
  city text NOT NULL,
  PRIMARY KEY (customer_id, kind)
);
INSERT INTO customer_address
SELECT id, kind, make.pick(id, 'street' || kind, ARRAY['Hauptstraße', 'Rue de la Paix', 'ul. Długa', 'High Street', 'Calle Mayor']) || ' ' || 1 + make.number(id, 'house' || kind, 140),
  lpad(make.number(id, 'postcode' || kind, 99999)::text, 5, '0'),
  make.pick(id, 'city' || kind, ARRAY['Berlin', 'Lyon', 'Gdańsk', 'Leeds', 'Sevilla', '大阪', 'Πάτρα'])
FROM customer, unnest(ARRAY['billing', 'delivery']) kind WHERE kind = 'billing' OR id % 2 = 0;

CREATE TABLE newsletter_subscriber (email citext PRIMARY KEY, confirmed boolean NOT NULL, ip inet);
INSERT INTO newsletter_subscriber
SELECT 'reader' || i || '@example.net', i % 7 <> 0, ('203.0.113.' || i % 254 + 1)::inet FROM generate_series(1, 4000) i;

-- A circle: a department is led by an employee, an employee belongs to a department.
CREATE TABLE department (id integer PRIMARY KEY, name text NOT NULL UNIQUE, lead_id integer);
CREATE TABLE employee (
  id integer PRIMARY KEY,
  department_id integer NOT NULL REFERENCES department,
  name text NOT NULL,
  work_email citext NOT NULL UNIQUE,
  salary numeric(10, 2) NOT NULL,
  iban text NOT NULL
);
INSERT INTO department SELECT i, name FROM unnest(ARRAY['Sales', 'Purchasing', 'Warehouse', 'Accounting', 'IT']) WITH ORDINALITY d (name, i);
INSERT INTO employee
SELECT i, 1 + i % 5, make.first_name(i + 700000) || ' ' || make.last_name(i + 700000), 'staff' || i || '@shop.example',
  2800 + make.number(i, 'salary', 4000), make.iban(i + 700000) FROM generate_series(1, 120) i;
UPDATE department SET lead_id = (SELECT min(e.id) FROM employee e WHERE e.department_id = department.id);
ALTER TABLE department ADD FOREIGN KEY (lead_id) REFERENCES employee DEFERRABLE INITIALLY DEFERRED;

-- ---------------------------------------------------------------- goods

CREATE TABLE category (id integer PRIMARY KEY, parent_id integer REFERENCES category, name text NOT NULL);
INSERT INTO category SELECT i, nullif(i / 4, 0), make.pick(i, 'category', ARRAY['Shoes', 'Lamps', 'Books', 'Garden', 'Kitchen', 'Toys', 'Tea']) || ' ' || i
FROM generate_series(1, 80) i;

CREATE TABLE supplier (id integer PRIMARY KEY, company text NOT NULL, contact_name text NOT NULL, contact_phone text NOT NULL, website text);
INSERT INTO supplier
SELECT i, make.last_name(i) || ' & Co. ' || i, make.first_name(i + 800000) || ' ' || make.last_name(i + 800000),
  '+33 1 ' || lpad(make.number(i, 'supplier phone', 100000000)::text, 8, '0'), 'https://supplier' || i || '.example'
FROM generate_series(1, 150) i;

CREATE TABLE product (
  id integer PRIMARY KEY,
  category_id integer NOT NULL REFERENCES category,
  sku text NOT NULL UNIQUE,
  name text NOT NULL,
  tags text[] NOT NULL,
  size dimensions,
  on_sale daterange,
  thumbnail bytea
);
INSERT INTO product
SELECT i, 1 + make.number(i, 'category', 80)::int, 'SKU-' || lpad(i::text, 6, '0'),
  make.pick(i, 'adjective', ARRAY['Green', 'Small', 'Quiet', 'Clever', 'Old']) || ' ' || make.pick(i, 'noun', ARRAY['teapot', 'lamp', 'boot', 'atlas', 'kite', 'ladder']) || ' ' || i,
  ARRAY[make.pick(i, 'tag', ARRAY['new', 'sale', 'eco']), make.pick(i, 'tag 2', ARRAY['gift', 'home'])],
  ROW(1 + i % 50, 2 + i % 40, 3 + i % 30)::dimensions, daterange('2026-01-01', date '2026-01-01' + (i % 300)), decode(md5(i::text), 'hex')
FROM generate_series(1, 3000) i;

CREATE TABLE product_price (
  product_id integer NOT NULL REFERENCES product,
  valid_from date NOT NULL,
  price numeric(10, 2) NOT NULL CHECK (price > 0),
  PRIMARY KEY (product_id, valid_from)
);
INSERT INTO product_price SELECT i, date '2024-01-01' + 90 * n, 1 + make.number(i * 10 + n, 'price', 20000) / 100.0
FROM generate_series(1, 3000) i, generate_series(0, 3) n;

CREATE TABLE product_supplier (product_id integer REFERENCES product, supplier_id integer REFERENCES supplier, PRIMARY KEY (product_id, supplier_id));
INSERT INTO product_supplier SELECT i, 1 + (i + n * 37) % 150 FROM generate_series(1, 3000) i, generate_series(0, 1) n;

CREATE TABLE warehouse (id integer PRIMARY KEY, city text NOT NULL, manager_id integer REFERENCES employee);
INSERT INTO warehouse SELECT i, make.pick(i, 'warehouse', ARRAY['Hamburg', 'Marseille', 'Kraków']) || ' ' || i, 3 + i FROM generate_series(1, 6) i;

CREATE TABLE stock (
  warehouse_id integer REFERENCES warehouse,
  product_id integer REFERENCES product,
  quantity integer NOT NULL CHECK (quantity >= 0),
  PRIMARY KEY (warehouse_id, product_id)
);
INSERT INTO stock SELECT w, p, make.number(w * 100000 + p, 'stock', 500) FROM generate_series(1, 6) w, generate_series(1, 3000) p WHERE (w + p) % 2 = 0;

-- ---------------------------------------------------------------- orders, in partitions by half year

CREATE SEQUENCE order_number START 100000;

CREATE TABLE orders (
  id bigint NOT NULL,
  placed timestamptz NOT NULL,
  customer_id integer NOT NULL REFERENCES customer,
  status order_status NOT NULL DEFAULT 'placed',
  client_ip inet,
  PRIMARY KEY (id, placed)
) PARTITION BY RANGE (placed);
CREATE TABLE orders_2025_1 PARTITION OF orders FOR VALUES FROM ('2025-01-01 UTC') TO ('2025-07-01 UTC');
CREATE TABLE orders_2025_2 PARTITION OF orders FOR VALUES FROM ('2025-07-01 UTC') TO ('2026-01-01 UTC');
CREATE TABLE orders_2026_1 PARTITION OF orders FOR VALUES FROM ('2026-01-01 UTC') TO ('2026-07-01 UTC');
INSERT INTO orders
SELECT i, timestamptz '2025-01-01' + i * interval '25 minutes', 1 + make.number(i, 'customer', 12000)::int,
  make.pick(i, 'status', ARRAY['placed', 'paid', 'sent', 'sent', 'sent', 'returned', 'cancelled'])::order_status,
  ('198.51.100.' || make.number(i, 'ip', 254) + 1)::inet
FROM generate_series(1, 30000) i;
CREATE INDEX ON orders (customer_id);

CREATE TABLE order_item (
  order_id bigint NOT NULL,
  order_placed timestamptz NOT NULL,
  line smallint NOT NULL,
  product_id integer NOT NULL REFERENCES product,
  quantity integer NOT NULL,
  price numeric(10, 2) NOT NULL,
  PRIMARY KEY (order_id, line),
  FOREIGN KEY (order_id, order_placed) REFERENCES orders
);
INSERT INTO order_item
SELECT o.id, o.placed, n, 1 + make.number(o.id * 10 + n, 'item', 3000)::int, 1 + make.number(o.id * 10 + n, 'quantity', 4),
  1 + make.number(o.id * 10 + n, 'item price', 20000) / 100.0
FROM orders o, generate_series(1, 2) n;
CREATE INDEX ON order_item (product_id);

SELECT setval('order_number', 130000);

CREATE TABLE review (
  id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  product_id integer NOT NULL REFERENCES product,
  customer_id integer REFERENCES customer ON DELETE SET NULL,
  stars smallint NOT NULL CHECK (stars BETWEEN 1 AND 5),
  words text NOT NULL
);
INSERT INTO review (product_id, customer_id, stars, words)
SELECT 1 + make.number(i, 'reviewed', 3000)::int, CASE WHEN i % 9 <> 0 THEN 1 + make.number(i, 'reviewer', 12000)::int END,
  1 + make.number(i, 'stars', 5), make.pick(i, 'words', ARRAY['Très bien!', 'Broke on day two.', 'Würde ich wieder kaufen 👍', 'とても良い', E'Line one\nline two\ttab']) || ' #' || i
FROM generate_series(1, 8000) i;

CREATE TABLE cart (id uuid PRIMARY KEY, customer_id integer REFERENCES customer, token text NOT NULL);
INSERT INTO cart SELECT md5('cart' || i)::uuid, CASE WHEN i % 2 = 0 THEN i END,
  'eyJhbGciOiJIUzI1NiJ9.' || encode(convert_to('{"sub":"' || i || '"}', 'UTF8'), 'base64') || '.' || md5('signature' || i)
FROM generate_series(1, 2000) i;

CREATE TABLE "Gift Cards" ("Card No" text PRIMARY KEY, "given to" citext, amount numeric(8, 2) NOT NULL);
INSERT INTO "Gift Cards" SELECT 'GC-' || upper(substr(md5(i::text), 1, 10)), 'friend' || i || '@example.com', 5 * (1 + i % 20) FROM generate_series(1, 500) i;

-- No primary key: a log.
CREATE TABLE page_view (at timestamptz NOT NULL, path text NOT NULL, visitor_ip inet NOT NULL, user_agent text NOT NULL);
INSERT INTO page_view
SELECT timestamptz '2026-03-01' + i * interval '3 seconds', '/product/' || make.number(i, 'viewed', 3000),
  ('192.0.2.' || make.number(i, 'visitor', 254) + 1)::inet, make.pick(i, 'agent', ARRAY['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0 (Macintosh)', 'curl/8.5'])
FROM generate_series(1, 22000) i;

CREATE TABLE feature_flag (name text PRIMARY KEY, enabled boolean NOT NULL DEFAULT false);  -- empty on purpose

-- ---------------------------------------------------------------- billing, which refers to the shop and never the other way

CREATE SCHEMA billing;
COMMENT ON SCHEMA billing IS 'The books: readable by accounting only';

CREATE TABLE billing.tax_rate (country char(2) PRIMARY KEY REFERENCES public.country, rate numeric(4, 3) NOT NULL);
INSERT INTO billing.tax_rate SELECT code, 0.05 + make.number(ascii(code), 'tax', 18) / 100.0 FROM public.country;

CREATE TABLE billing.bank_account (customer_id integer PRIMARY KEY REFERENCES public.customer, iban text NOT NULL, holder text NOT NULL);
INSERT INTO billing.bank_account SELECT id, make.iban(id), full_name FROM public.customer WHERE id % 4 = 0;

CREATE TABLE billing.card (customer_id integer REFERENCES public.customer, number text NOT NULL, expires date NOT NULL, PRIMARY KEY (customer_id, number));
INSERT INTO billing.card SELECT id, make.card_number(id), date '2027-01-31' + (id % 36) * 30 FROM public.customer WHERE id % 4 = 1;

CREATE TABLE billing.invoice (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL,
  order_placed timestamptz NOT NULL,
  total numeric(12, 2) NOT NULL,
  tax numeric(12, 2) GENERATED ALWAYS AS (round(total * 0.19, 2)) STORED,
  FOREIGN KEY (order_id, order_placed) REFERENCES public.orders
);
INSERT INTO billing.invoice (order_id, order_placed, total)
SELECT order_id, order_placed, sum(quantity * price) FROM public.order_item GROUP BY order_id, order_placed HAVING order_id % 3 <> 0 ORDER BY order_id;

CREATE TABLE billing.payment (id bigserial PRIMARY KEY, invoice_id bigint NOT NULL REFERENCES billing.invoice, paid timestamptz NOT NULL, reference text NOT NULL);
INSERT INTO billing.payment (invoice_id, paid, reference)
SELECT id, order_placed + interval '3 days', 'Order ' || order_id FROM billing.invoice WHERE id % 5 <> 0 ORDER BY id;

CREATE TABLE billing.api_key (name text PRIMARY KEY, secret text NOT NULL);
INSERT INTO billing.api_key SELECT 'service ' || i, 'sk_test_' || md5('key' || i) FROM generate_series(1, 12) i;

-- ---------------------------------------------------------------- what works on the tables

CREATE VIEW current_price AS
  SELECT DISTINCT ON (product_id) product_id, price FROM product_price ORDER BY product_id, valid_from DESC;

CREATE MATERIALIZED VIEW best_seller AS
  SELECT product_id, sum(quantity) AS sold FROM order_item GROUP BY product_id ORDER BY sold DESC, product_id LIMIT 100;
CREATE UNIQUE INDEX ON best_seller (product_id);

CREATE FUNCTION forbid_negative_stock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.quantity < 0 THEN RAISE EXCEPTION 'no stock left of product %', NEW.product_id; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER stock_is_never_negative BEFORE UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION forbid_negative_stock();

ALTER TABLE billing.bank_account ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_account ON billing.bank_account USING (holder = current_user);

SELECT lo_from_bytea(4711, convert_to('A drawing of the shop, as a large object.', 'UTF8'));

DROP SCHEMA make CASCADE;
ANALYZE;

CREATE TABLE orders (id serial PRIMARY KEY, item text NOT NULL)

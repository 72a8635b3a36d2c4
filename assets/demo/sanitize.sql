-- What makes the demo's shop safe to share: nobody in it can be told from anybody else. See docs/sanitize.md.
-- keep: public.page_view.user_agent three programs, none of them one person's

UPDATE customer SET
  first_name = 'Customer',
  last_name = 'No. ' || id,
  email = 'customer-' || id || '@shop.invalid',
  phone = NULL,
  birth_date = make_date(extract(year FROM birth_date)::int, 7, 1),
  national_id = NULL;
UPDATE customer_address SET street = 'Street ' || customer_id, postcode = '00000', city = 'Town';
TRUNCATE newsletter_subscriber;
UPDATE employee SET
  name = 'Employee ' || id,
  work_email = 'staff-' || id || '@shop.invalid',
  salary = 3000,
  iban = 'DE00' || lpad(id::text, 18, '0');
UPDATE supplier SET contact_name = 'Contact ' || id, contact_phone = '+00 ' || id;
UPDATE orders SET client_ip = NULL;
UPDATE cart SET token = md5(id::text);
UPDATE "Gift Cards" SET "given to" = 'friend-' || left(md5("Card No"), 8) || '@shop.invalid';
UPDATE page_view SET visitor_ip = '192.0.2.0';

UPDATE billing.bank_account SET iban = 'DE00' || lpad(customer_id::text, 18, '0'), holder = 'Customer ' || customer_id;
UPDATE billing.card SET number = '4000' || lpad(customer_id::text, 12, '0'), expires = '2030-01-31';
UPDATE billing.api_key SET secret = 'none-' || md5(name);

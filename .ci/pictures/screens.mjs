/**
 * Every picture of a screen: the keys that lead to it from the one before, what is on it then, and its file. A step
 * without `picture` only leads on; `screen` is the folder in `screens/`, where the picture is not called like it.
 * Dates are those of the clock that the program reads; `sql` is run in the database `shop`, or in `database`.
 */
export const SCENES = [
  {
    folder: 'shop',
    words: [],
    steps: [
      { shows: (screen) => screen.includes('✗ unreachable') && screen.split('✓ up').length === 3 },
      { keys: ['b'], shows: 'Sanitized snapshot 0 of shop' },
      { keys: ['esc'], shows: '3 targets' },
      {
        clock: '2026-11-20T08:30:00Z',
        sql: `DELETE FROM review WHERE customer_id % 40 = 1;
          INSERT INTO country VALUES ('xx', 'Atlantis', '-');
          UPDATE product SET name = name || ' (new)' WHERE id <= 12;
          ALTER TABLE supplier ADD COLUMN country char(2) REFERENCES country, ALTER COLUMN website TYPE varchar(200);
          CREATE INDEX supplier_company ON supplier (company)`,
        keys: ['b'],
        shows: '❯ Cancel',
      },
      { picture: 'run-sanitized', screen: 'run', keys: ['down', 'enter'], shows: 'Sanitized snapshot' },
      { picture: 'coverage', title: 'Coverage of a sanitization', keys: ['enter'], shows: 'public.customer' },
      { keys: ['J'], shows: '❯ Cancel' },
      { picture: 'ledger', title: 'Open columns of the ledger', keys: ['down', 'enter'], shows: /of \d+ open/ },
      { keys: ['esc'], shows: 'coverage' },
      { picture: 'suggestion', title: 'Suggested replacements', keys: ['f'], shows: 'columns replaced' },
      { keys: ['V'], shows: (screen) => !screen.includes('Trying') },
      { picture: 'save-query', title: 'Changes of the sanitization query', keys: ['w'], shows: 'Enter' },
      { keys: ['esc'], shows: 'V try' },
      { keys: ['esc'], shows: 'coverage' },
      { keys: ['esc'], shows: /Sanitize/ },
      { keys: ['esc'], shows: '3 targets' },
      { clock: '2026-11-20T17:05:00Z', keys: ['l'], shows: '❯ Cancel' },
      { keys: ['down', 'enter'], shows: /shop_dev (created|replaced)/ },
      { picture: 'run-log', screen: 'run', title: 'The log of a run', keys: ['L'], shows: 'pg_restore' },
      { keys: ['L', 'esc'], shows: '3 targets' },
      { clock: '2026-11-21T09:00:00Z', keys: ['l'], shows: '❯ Cancel' },
      { picture: 'confirm', title: 'The plan of a load', keys: [], shows: 'will be replaced' },
      {
        picture: 'confirm-replace',
        screen: 'confirm',
        title: 'The answer that replaces a database',
        keys: ['down'],
        shows: /❯ Replace/,
      },
      { picture: 'run', title: 'A finished load', keys: ['enter'], shows: 'shop_dev replaced' },
      { keys: ['esc'], shows: '3 targets' },
      {
        database: 'shop_dev',
        sql: `UPDATE product SET name = 'New ' || lower(name), sku = sku || '-B' WHERE id % 400 = 3;
          DELETE FROM review WHERE id % 50 = 1;
          INSERT INTO country VALUES ('xy', 'Lyonesse', '-');
          UPDATE customer SET email = 'x' || email WHERE id <= 3;
          CREATE INDEX product_name ON product (name)`,
        keys: ['g', 'D'],
        shows: /changed, \d+ unchanged/,
      },
      { picture: 'changes', title: 'Changes since the last load', keys: [], shows: 'public.review' },
      { keys: ['/', 'product', 'enter'], shows: /❯ public.product / },
      {
        picture: 'changed-rows',
        screen: 'table-diff',
        title: 'Changed rows of a table',
        keys: ['enter'],
        shows: 'sku',
      },
      { keys: ['esc'], shows: 'Since the last load' },
      { keys: ['esc', 'esc'], shows: '3 targets' },
      { keys: ['enter'], shows: '4 snapshots' },
      {
        picture: 'note',
        screen: 'field',
        title: 'A note on a snapshot',
        keys: ['e', 'before the new tax rates'],
        shows: 'before the new tax rates',
      },
      { keys: ['enter'], shows: /Note +before the new/ },
      { keys: ['G', '*'], shows: /pinned/i },
      { picture: 'snapshots', title: 'Snapshots of a target', keys: ['g'], shows: '4 snapshots' },
      { picture: 'choice', title: 'What to copy', keys: ['y'], shows: '❯' },
      { keys: ['esc'], shows: '4 snapshots' },
      { picture: 'export', screen: 'field', title: 'Export to a file', keys: ['X'], shows: 'Enter' },
      { keys: ['esc'], shows: '4 snapshots' },
      { picture: 'prune', screen: 'choice', title: 'Rules of a prune', keys: ['K'], shows: '❯' },
      { keys: ['esc'], shows: '4 snapshots' },
      { picture: 'tables', title: 'Tables of a snapshot', keys: ['enter'], shows: 'public.customer' },
      { keys: ['/', 'customer', 'enter'], shows: /❯.*customer/ },
      { picture: 'rows', title: 'Rows of a table', keys: ['enter'], shows: 'first_name' },
      { keys: ['esc'], shows: 'customer_address' },
      { keys: ['esc'], shows: 'public.cart' },
      { keys: ['esc'], shows: '4 snapshots' },
      { keys: ['g', 'm', 'j', 'j', 'm'], shows: '2 marked' },
      { picture: 'diff', title: 'Differences between snapshots', keys: ['C'], shows: 'supplier' },
      { keys: ['G'], shows: /❯ public.supplier/ },
      { picture: 'table-diff', title: 'Differences of a table', keys: ['enter'], shows: 'country' },
      { keys: ['esc'], shows: 'supplier' },
      { keys: ['esc'], shows: '4 snapshots' },
      { keys: ['B'], shows: 'No branches yet' },
      { picture: 'branch-name', title: 'New branch', keys: ['n', 'taxes'], shows: 'taxes' },
      { keys: ['enter'], shows: '❯ Cancel' },
      { keys: ['down', 'enter'], shows: 'taxes created' },
      { picture: 'branches', title: 'Branches', keys: ['esc'], shows: '1 branch ─' },
      {
        picture: 'rehearsal-command',
        screen: 'field',
        title: 'A migration to rehearse',
        keys: ['V', 'migrate.sql'],
        shows: 'migrate.sql',
      },
      { picture: 'rehearsal', title: 'Report of a rehearsal', keys: ['enter'], shows: 'shop ❯ rehearsal ─' },
      { keys: ['esc'], shows: /shop ❯ branches ─/ },
      { keys: ['esc'], shows: '4 snapshots' },
      { keys: ['n'], shows: '❯ Cancel' },
      { keys: ['down', 'enter'], shows: 'server for shop started' },
      { picture: 'servers', title: 'Servers', keys: ['enter'], shows: '1 server ─' },
      { keys: ['esc'], shows: 'server for shop started' },
      { keys: ['esc'], shows: '4 snapshots' },
      { picture: 'points', title: 'Points to return to', keys: ['U'], shows: 'previous' },
      { picture: 'save-name', screen: 'field', title: 'New save', keys: ['s', 'before-taxes'], shows: 'before-taxes' },
      { keys: ['esc'], shows: 'previous' },
      { keys: ['esc'], shows: '4 snapshots' },
      { picture: 'help', title: 'Help', keys: ['?'], shows: 'snapshots ❯ help' },
      { keys: ['esc'], shows: '4 snapshots' },
      { keys: ['esc'], shows: '3 targets' },
      { picture: 'targets', title: 'Targets', keys: [], shows: '3 targets' },
      { picture: 'palette', title: 'Commands', keys: [':', 'l', 'o', 'a'], shows: ': loa' },
      { keys: ['esc'], shows: '3 targets' },
      {
        picture: 'subset',
        title: 'Plan of a subset',
        keys: ['x'],
        shows: (screen) => screen.includes('public.customer') && !screen.includes('counting'),
      },
      { picture: 'subset-graph', title: 'A table and its neighbours', keys: ['O'], shows: 'customer' },
      { keys: ['esc'], shows: 'Enter' },
      { keys: ['esc'], shows: '3 targets' },
      { picture: 'check', title: 'Configuration check', keys: ['Y'], shows: /❯ ✓ +configuration/ },
      { keys: ['esc'], shows: '3 targets' },
      { keys: ['G', 'b'], shows: /✗/ },
      { picture: 'run-failed', screen: 'run', title: 'A failed run', keys: [], shows: '✗' },
      { keys: ['esc'], shows: '3 targets' },
      { picture: 'activity', title: 'Activity', keys: ['t'], shows: 'activity' },
      { keys: ['esc'], shows: '3 targets' },
      // A build waits for a lock, so that there is a run in progress.
      { clock: '2026-11-21T09:30:00Z', hold: 'LOCK TABLE billing.invoice', keys: ['g', 'l'], shows: '❯ Cancel' },
      { keys: ['esc'], shows: '3 targets' },
      { keys: ['down', 'b'], shows: /shop-public ❯ build/ },
      { picture: 'run-progress', screen: 'run', title: 'A run in progress', shows: 'running' },
      { picture: 'cancel', screen: 'choice', title: 'Cancelling a run', keys: ['c'], shows: '❯' },
      { keys: ['esc'], shows: 'running' },
      { keys: ['esc'], shows: '3 targets' },
      { picture: 'quit', title: 'Quitting while a run is in progress', keys: ['q'], shows: '❯ Stay' },
      { keys: ['esc'], shows: '3 targets' },
      { keys: ['g'], free: true, shows: 'Built snapshot 0 of shop-public' },
      {
        sql: `CREATE FUNCTION at_home() RETURNS integer LANGUAGE plpgsql AS
            $$ BEGIN IF current_database() <> 'shop' THEN RAISE 'works in database shop only'; END IF; RETURN 1; END $$;
          CREATE MATERIALIZED VIEW revenue AS SELECT public.at_home() AS total`,
        clock: '2026-11-21T10:00:00Z',
        keys: ['G', 'up', 'b'],
        shows: 'Not in snapshot 0: billing',
      },
      { keys: ['esc'], shows: '3 targets' },
      { keys: ['l'], shows: '❯ Cancel' },
      {
        picture: 'run-load-failed',
        screen: 'run',
        title: 'A load that failed',
        keys: ['down', 'enter'],
        shows: 'failed after',
      },
      { keys: ['esc'], shows: '3 targets' },
      { keys: ['e'], shows: '❯ general' },
      { keys: ['G', 'up', 'up', ' '], shows: '- shop' },
      { keys: Array(11).fill('down'), shows: /❯ +copy_tables/ },
      { keys: ['n', 'p', 'u', 'b'], shows: /names: ↓ to choose/ },
      { picture: 'editor', title: 'Editing the configuration', keys: ['down', 'down'], shows: /❯ public\.\w+ / },
      { keys: ['enter'], shows: 'not saved' },
      { picture: 'editor-diff', title: 'Changes of the configuration file', keys: ['w'], shows: '+ ' },
      { keys: ['esc'], shows: 'not saved' },
    ],
  },
  {
    folder: 'mistakes',
    words: [],
    steps: [
      { shows: 'targets' },
      { keys: ['Y'], shows: '❯' },
      { picture: 'check-problems', screen: 'check', title: 'Problems of a configuration', keys: [], shows: '✗' },
      { picture: 'fix', title: 'Fix of a problem', keys: ['f'], shows: /\+ +snapshot/ },
      { keys: ['esc'], shows: '2 errors' },
      { keys: ['esc'], shows: 'tool ❯ targets' },
      { keys: ['e'], shows: '❯ general' },
      { picture: 'editor-problems', title: 'Problems of the edited configuration', keys: ['Y'], shows: '❯ !' },
    ],
  },
  {
    folder: 'cloned',
    words: [],
    environment: { TOOL_TRUST: '' },
    steps: [{ picture: 'trust', title: 'Trust in a configuration', shows: 'You have not trusted' }],
  },
  {
    folder: 'new',
    words: ['config', 'init'],
    steps: [
      { picture: 'setup', title: 'A first configuration', shows: '❯ ./tool.yml' },
      { keys: ['enter'], shows: 'URL:' },
      {
        keys: ['{server}/shop'],
        picture: 'setup-source',
        screen: 'setup',
        title: 'The source',
        shows: /Database: +shop/,
      },
      { keys: ['enter'], shows: 'Name: shop' },
      { keys: ['enter'], shows: '❯ Continue with all schemas' },
      { keys: ['enter'], shows: /Destination: .*shop_dev/ },
      { picture: 'setup-destination', screen: 'setup', title: 'A proposed destination', shows: 'Destination:' },
      { keys: ['enter'], shows: '❯ Encrypted in the file' },
      { keys: ['enter'], shows: '❯ On this machine only' },
      {
        picture: 'setup-file',
        screen: 'setup',
        title: 'The file before it is written',
        keys: ['enter'],
        shows: 'to be written with Enter',
      },
    ],
  },
  {
    folder: 'hub',
    words: [],
    steps: [
      { clock: '2026-11-21T10:30:00Z', shows: 'not checked at' },
      { picture: 'cloud-targets', screen: 'targets', title: 'Targets of a hub', shows: '4 targets' },
      { picture: 'sign-in', title: 'Signing in', keys: ['I'], shows: 'sign in' },
    ],
  },
];

const TARGETS = `secret_key: 00e7c1f4a9b23d5800e7c1f4a9b23d58
working_directory: ./.tool
targets:
  shop:
    name: The whole shop
    cpus: 2
    snapshot:
      src_url: {server}/shop
      dst_url: {server}/shop_dev
      schema_config:
        use_default_schema: false
    sanitize:
      dst_url: {server}/shop_sanitized
      query_file: sanitize.sql
    subset:
      src_url: {server}/shop
      dst_url: {server}/shop_small
      subset_tables:
        - table: public.customer
          percent: 1
      copy_tables: [public.feature_flag, "public.Gift Cards"]
      excluded_tables: [public.page_view]
  shop-public:
    name: Without the schema of the billing department
    snapshot:
      src_url: {server}/shop
      dst_url: {server}/shop_public_dev
      schema_config:
        include_schemas: [public]
  offline:
    name: A server that does not answer
    snapshot:
      src_url: postgres://nobody@127.0.0.1:1/somewhere
`;

/** Leaves some columns as they are, so that there is something to suggest. */
const SANITIZE = `-- keep: public.page_view.user_agent three programs, none of them one person's
UPDATE customer SET
  first_name = 'Customer',
  last_name = 'No. ' || id,
  email = 'customer-' || id || '@shop.invalid';
UPDATE employee SET name = 'Employee ' || id, work_email = 'staff-' || id || '@shop.invalid';
TRUNCATE newsletter_subscriber;
`;

/** Rewrites a table, and validates a constraint under an exclusive lock. */
const MIGRATION = `ALTER TABLE product ALTER COLUMN id TYPE bigint;
ALTER TABLE review ADD CONSTRAINT review_words CHECK (words <> '');
CREATE INDEX review_customer ON review (customer_id);
UPDATE product SET name = trim(name);
`;

/** The files of the folder in which a scene plays; `{server}` is the server of the demo. */
export const FILES = {
  shop: { 'tool.yml': TARGETS, 'sanitize.sql': SANITIZE, 'migrate.sql': MIGRATION },
  mistakes: {
    'tool.yml': `secret_key: 00e7c1f4a9b23d5800e7c1f4a9b23d58
targets:
  shop: # the web shop
    snapshoot:
      src_url: {server}/shop
  stock:
    snapshot:
      src_url: not a url
`,
  },
  hub: {
    'tool.yml': `secret_key: 00e7c1f4a9b23d5800e7c1f4a9b23d58
working_directory: ./.tool
env: development
dev_api_url: {hub}
authtoken: {token}
`,
  },
  cloned: {
    'tool.yml': `secret_key: 00e7c1f4a9b23d5800e7c1f4a9b23d58
targets:
  shop:
    snapshot:
      src_url: "postgres://app:{{env \\"SHOP_PASSWORD\\"}}@db.example.com/shop"
      dst_url: postgres://app@127.0.0.1/shop_dev
    sanitize:
      override_query: DELETE FROM customer
`,
  },
};

/** The pictures that the documentation shows, at 80×24 on a dark background; all others are drawn on demand. */
export const DOCUMENTED = [
  'targets',
  'snapshots',
  'confirm',
  'run',
  'coverage',
  'suggestion',
  'branches',
  'changes',
  'diff',
  'setup',
  'editor',
  'subset-graph',
  'palette',
];

/** Each picture with the folder of its screen in `screens/`, `null` for one of the command line. */
export const PICTURES = SCENES.flatMap(({ steps }) =>
  steps.flatMap(({ picture, screen = picture, title }) => (picture ? [{ picture, screen, title }] : [])),
);
